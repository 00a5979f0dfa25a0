"""Which text a measurement is of: a hash of a kernel's code, and the recordings whose kernels have changed since."""

import hashlib
import re

from course_lib import data
from course_lib.errors import CourseError
from course_lib.kernels import ALL, CPU_KERNELS, CpuKernel, Kernel

# A string or a character constant, or a comment; only the latter is taken out.
_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|//(?:\\\n|[^\n])*|/\*.*?\*/""", re.DOTALL)


def code_only(text: str) -> str:
    """Return the text of a C program without comments, indentation, blank lines.

    >>> code_only('// says\\nint a;  /* more\\n */ int b;\\n\\n  f("//");\\n')
    'int a;    int b;\\nf("//");'
    """
    bare = _COMMENT.sub(lambda found: found[1] or " ", text)
    return "\n".join(line.strip() for line in bare.splitlines() if line.strip())


def fingerprint(text: str, python: bool = False) -> str:
    """Return a short hash of a kernel's code; a record whose hash is another one belongs to another kernel.

    Comments and blank lines do not count, except in Python.

    >>> fingerprint("int a;"), fingerprint("int a;  // a number") == fingerprint("int a;"), fingerprint("int b;") == fingerprint("int a;")
    ('68ee7ca0e099b2c4', True, False)
    """
    return hashlib.sha256((text if python else code_only(text)).encode()).hexdigest()[:16]


def fingerprint_of(kernel: Kernel | CpuKernel) -> str:
    """Return the hash of a described kernel, of the catalog or of the programs for the CPU."""
    return fingerprint(kernel.source, getattr(kernel.path, "suffix", "") == ".py")


def stale(name: str) -> tuple[str, ...]:
    """Return a sentence for each kernel whose code is no longer what the recording `name` measured; none when all is well.

    Parameters
    ----------
    name
        A file of course_lib/data, of records or of readings.

    >>> stale("ladder")
    ()
    """
    wrong = []
    for kernel, source in sorted(_measured(name)):
        now = described(kernel)
        if now is None:
            wrong.append(f"{kernel} is not in the catalog any more: leave it out of {name}.json")
        elif fingerprint_of(now) != source:
            file = now.path.name if now.path else kernel
            wrong.append(f"the code of {kernel} ({file}) is not what {name}.json measured: record {name} anew with {_command(name)}, "
                         "or take the change back")
    return tuple(wrong)


def described(kernel: str) -> Kernel | CpuKernel | None:
    """Return the description of a kernel by its name, or None."""
    return ALL.get(kernel) or CPU_KERNELS.get(kernel)


def _measured(name: str) -> set[tuple[str, str]]:
    """Return the pairs (kernel, hash) of a file; a library has no text of ours."""
    if name not in data.READINGS:
        return {(r.kernel, r.source) for r in data.load(name).records if r.source or described(r.kernel)}
    found = data.readings(name)
    rows = {row["kernel"] for row in found.rows if described(row.get("kernel", ""))}
    if missing := sorted(rows - set(found.sources)):
        raise CourseError(f"{name}.json does not say which text of {', '.join(missing)} it measured: its sources are {found.sources}")
    return {(kernel, found.sources[kernel]) for kernel in rows}


def _command(name: str) -> str:
    return data.readings(name).made_by if name in data.READINGS else "python -m course_lib.bench record"
