"""The cell magics `%%cuda NAME` and `%%c NAME`: a cell of CUDA C, or of C for the CPU, becomes a text called NAME.

    %load_ext course_lib.magic

Line numbers in messages, hazards and counters are those of the cell: its first line is the magic, and a comment stands
in its place in the text.
"""

import keyword

from course_lib.errors import CourseError
from course_lib.kernels import own_program
from course_lib.run import build_cpu
from course_lib.toolchain import compile_cuda, no_compiler, resources


def load_ipython_extension(shell):
    """Register `%%cuda` and `%%c`; IPython calls this."""
    shell.register_magic_function(lambda line, cell: c(line, cell, shell.user_ns), "cell", "c")
    shell.register_magic_function(lambda line, cell: cuda(line, cell, shell.user_ns), "cell", "cuda")


def cuda(line, cell, namespace):
    """Keep a cell's CUDA C under a name, compile it, and print a line for each kernel in it.

    The name is bound even when the text does not compile, so that a check sees this text and no older one.

    Raises
    ------
    CourseError
        When the name is none, or with the compiler's messages and the cell's own line numbers.

    >>> names = {}
    >>> cuda("one", 'extern "C" __global__ void one(float* x) { *x = 1.0f; }', names)
    one: compiled, 8 registers a thread, no shared memory
    >>> names["one"].splitlines()[0]
    '// %%cuda one'
    """
    name = _name(line)
    namespace[name] = _text(name, cell)
    compiled = compile_cuda(namespace[name], name=name)
    found = resources(compiled)
    if not found:
        raise CourseError(f'{name} holds no kernel: write one as extern "C" __global__ void {name}(…) {{ … }}')
    for entry, used in found.items():
        label = entry if entry == name else f"{name}, kernel {entry}"
        print(f"{label}: compiled, {used.registers} registers a thread, {_shared(used.static_shared_bytes)}")


def c(line, cell, namespace):
    """Keep a cell's C under a name, compile it as a program for the CPU, and print a line.

    The cell holds a whole function, or only loops with A(i, k), B(k, j), C(i, j): `course_lib.kernels.own_program` says
    which arguments and names there are. The name is bound even when the text does not compile; without a C compiler the text
    is kept, and a line says why it is not compiled.

    Raises
    ------
    CourseError
        When the name is none, or with the compiler's messages and the cell's own line numbers.
    """
    name = _name(line, "c")
    namespace[name] = _text(name, cell, "c")
    if missing := no_compiler():
        print(f"{name}: kept, not compiled: {missing}")
        return
    built = build_cpu(own_program(namespace[name]))
    print(f"{name}: compiled")
    for warning in built.warnings:
        print(warning.show(name))


def from_cell(source):
    """Return the name and the kernel text of a whole cell, as the magic makes them, without running anything.

    Raises
    ------
    CourseError
        When the cell does not begin with `%%cuda NAME` or `%%c NAME`.

    >>> from_cell("%%cuda one\\nint x;")
    ('one', '// %%cuda one\\nint x;')
    """
    first, _, rest = source.partition("\n")
    magic = (first.split() or [""])[0][2:]
    if first.split()[:1] not in (["%%cuda"], ["%%c"]):
        raise CourseError(f"a kernel's cell begins with %%cuda NAME, or %%c NAME for the CPU, this one with {first[:40]!r}")
    name = _name(first.split(None, 1)[1] if len(first.split()) > 1 else "", magic)
    return name, _text(name, rest, magic)


def _text(name, cell, magic="cuda"):
    """Put a comment in the place of the magic, so that lines keep the numbers they have in the cell."""
    return f"// %%{magic} {name}\n{cell}"


def _name(line, magic="cuda"):
    name = line.strip()
    if not name:
        raise CourseError(f"%%{magic} needs a name for the text: %%{magic} my_kernel")
    if not name.isidentifier() or keyword.iskeyword(name):
        raise CourseError(f"%%{magic} takes one name, letters, digits and _: {name!r} is none. Options go into the text, "
                          "as #define")
    return name


def _shared(size):
    return f"{size} bytes of shared memory a block" if size else "no shared memory"
