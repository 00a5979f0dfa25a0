"""Names of kernels as their source writes them, and as PTX writes them: `sgemm<64, 8>`, `_Z5sgemmILi64ELi8EEvPf`."""

import re

from course_lib.simt.errors import LaunchError

ENTRY = re.compile(r"^[^/\n]*\.entry\s+([\w$]+)", re.MULTILINE)


def path(symbol: str) -> tuple[str, ...]:
    """Return the namespaces and the name that a symbol begins with, without the arguments of a template and of the function.

    Source: Itanium C++ ABI, "Mangling": each name stands there with its length before it.

    >>> path("_Z5sgemmILi64ELi8EEvPf"), path("_ZN2ns5innerEPf"), path("_ZL6staticPf"), path("plain")
    (('sgemm',), ('ns', 'inner'), ('static',), ('plain',))
    """
    found = re.match(r"_Z(?:NK?|L)?(?=\d)", symbol)
    at, names = found.end() if found else len(symbol), []
    while length := re.match(r"\d+", symbol[at:]):
        at += length.end()
        names.append(symbol[at:at + int(length[0])])
        at += int(length[0])
    return tuple(names) or (symbol,)


def bare(name: str) -> str:
    """Return what a kernel is called in its definition: `tile<8>` of `ns::tile<8>` is `tile`.

    >>> bare("ns::tile<ns::Shape<8>, 4>"), bare("sgemm")
    ('tile', 'sgemm')
    """
    return name.partition("<")[0].strip().rpartition("::")[2]


def symbol_of(ptx: str, entry: str) -> str:
    """Return the symbol of the kernel that a reader calls `entry`; of a template that is enough when the text has one instance of it.

    Raises
    ------
    LaunchError
        When there is none, or more than one.
    """
    kernels = list(dict.fromkeys(ENTRY.findall(ptx)))
    if entry in kernels:
        return entry
    found = [k for k in kernels if "::".join(path(k)) == entry or path(k)[-1] == entry]
    if len(found) == 1:
        return found[0]
    if found:
        raise LaunchError(f"{entry!r} names {len(found)} kernels of this source ({', '.join(found)}). Write the arguments of the template, "
                          f'such as entry="{entry}<…>", or the name in PTX.', entry=entry)
    known = ", ".join("::".join(path(k)) for k in kernels) or "none"
    raise LaunchError(f"No kernel named {entry!r} in this source (kernels: {known}). Declare it __global__; of a template write the "
                      f'arguments, such as entry="{entry}<…>".', entry=entry)
