"""The cell magics `%%cuda NAME` and `%%c NAME`: a cell of CUDA C, or of C for the CPU, becomes a text called NAME.

    %load_ext course_lib.magic

A cell that is still blank says so, and so does what the lesson then does with its name (`course_lib.blank`).
Line numbers in messages, hazards and counters are those of the cell: its first line is the magic, and a comment stands
in its place in the text.
"""

import itertools
import keyword
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from IPython.display import display

from course_lib.blank import Shell, bind, bind_written, install, is_blank, unwritten
from course_lib.errors import CourseError
from course_lib.kernels import own_program
from course_lib.kernels.own_lines import with_own_lines
from course_lib.run import build_cpu, resolve, run
from course_lib.toolchain import CompileError, compile_cuda, no_compiler, resources
from course_lib.toolchain.source_text import check_text
from course_lib.unwritten import DOES_NOT_COMPILE

MOST_TEXT = 100_000          # characters of a cell; the longest kernel of the course has 8,000
MOST_NAME = 60


def load_ipython_extension(shell: Shell) -> None:
    """Register `%%cuda` and `%%c`, and what a blank cell needs; IPython calls this."""
    install(shell)
    shell.register_magic_function(lambda line, cell: c(line, cell, shell.user_ns), "cell", "c")
    shell.register_magic_function(lambda line, cell: cuda(line, cell, shell.user_ns), "cell", "cuda")


def cuda(line: str, cell: str, namespace: dict[str, Any]) -> None:
    """Bind a cell's CUDA C to a name, compile it, and print a line for each kernel in it.

    When the cell is blank or its text does not compile, the name is bound to an `Unwritten`, so that later cells say so and none uses an
    older text. What the line says besides the name is done then: `--list` shows the text with colours and line numbers; `--run A B`, or
    A B C, runs it on these matrices, on the backend that `run` chooses; `--check` checks it; `BM=16` is passed to both.

    Raises
    ------
    CourseError
        When the line cannot be understood, or with the compiler's messages and the cell's own line numbers.

    >>> names = {}
    >>> cuda("one", 'extern "C" __global__ void one(float* x) { *x = 1.0f; }', names)
    one: compiled, 8 registers a thread, no shared memory
    >>> names["one"].splitlines()[0]
    '// %%cuda one'
    """
    wanted = _read(line)
    name, text = wanted.name, _readable(_text(wanted.name, cell))
    if is_blank(text):
        display(unwritten(namespace, name, text))
        return
    with _bound(namespace, name, text):
        if wanted.list:                          # before the errors, which speak of its lines
            from course_lib.plots import highlighted  # here and below: matplotlib only for those who ask
            display(highlighted(text, caption=name))
        compiled = compile_cuda(text, name=name, arch="sm_90", defines=_needed(text, wanted))
    found = resources(compiled)
    if not found:
        raise CourseError(f'{name} holds no kernel: write one as extern "C" __global__ void {name}(…) {{ … }}')
    for entry, used in found.items():
        label = entry if entry == name else f"{name}, kernel {entry}"
        print(f"{label}: compiled, {used.registers} registers a thread, {_shared(used.static_shared_bytes)}")
    if wanted.matrices:
        display(run(text, *(_matrix(n, namespace) for n in wanted.matrices), **wanted.parameters))
    if wanted.check:
        from course_lib.check import check
        display(check(text, **wanted.parameters))


def c(line: str, cell: str, namespace: dict[str, Any]) -> None:
    """Bind a cell's C to a name, compile it as a program for the CPU, and print a line.

    The cell holds a whole function, or only loops with A(i, k), B(k, j), C(i, j): `course_lib.kernels.own_program` says
    which arguments and names there are. A blank cell, and a text that does not compile, bind the name as in `%%cuda`; without a C compiler
    the text is bound all the same, and a line says why it is not compiled.

    Raises
    ------
    CourseError
        When the name is none, or with the compiler's messages and the cell's own line numbers.
    """
    name = _name(line, "c")
    text = _readable(_text(name, cell, "c"))
    if not cell.strip():
        raise CourseError(f"{name} holds no loops: write them with A(i, k), B(k, j) and C(i, j)")
    if is_blank(text):
        display(unwritten(namespace, name, text))
        return
    with _bound(namespace, name, text):
        missing = no_compiler()
        warnings = () if missing else build_cpu(own_program(text)).warnings
    if missing:
        print(f"{name}: kept, not compiled: {missing}")
        return
    print(f"{name}: compiled")
    for warning in warnings:
        print(warning.show(name))


@contextmanager
def _bound(namespace, name, text):
    """Bind a name to its text once it compiles, or to an `Unwritten` that says that it does not."""
    try:
        yield
    except CompileError as error:
        bind(namespace, name, DOES_NOT_COMPILE, text)
        error.facts["in_its_cell"] = True           # the message is here; the cells below can run, and say so
        raise
    except BaseException:
        bind_written(namespace, name, text)
        raise
    bind_written(namespace, name, text)


def from_cell(source: str) -> tuple[str, str]:
    """Return the name and the kernel text of a whole cell, as the magic makes them, without running anything.

    What the line of a `%%cuda` cell says besides the name is done in a notebook alone, and not looked at here.

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
    line = first.partition(f"%%{magic}")[2]
    name = _name(line.split(maxsplit=1)[0] if magic == "cuda" and line.strip() else line, magic)
    return name, _text(name, rest, magic)


@dataclass(frozen=True)
class _Wanted:
    """What the line of a `%%cuda` cell asks for."""

    name: str
    list: bool = False
    check: bool = False
    matrices: tuple[str, ...] = ()
    parameters: dict[str, int] = field(default_factory=dict)


def _read(line):
    """Read the line of a `%%cuda` cell.

    >>> _read("mine --list --run A B BM=16")
    _Wanted(name='mine', list=True, check=False, matrices=('A', 'B'), parameters={'BM': 16})
    """
    words = line.split()
    name = _name(words[0] if words else "")
    matrices: tuple[str, ...] = ()
    given: list[str] = []
    parameters: dict[str, int] = {}
    while words := words[1:]:
        word = words[0]
        if word == "--run":
            matrices = tuple(itertools.takewhile(str.isidentifier, words[1:]))
            if len(matrices) not in (2, 3):
                raise CourseError("--run needs the names of two matrices, or of three: --run A B")
            words = words[len(matrices):]
        elif word not in ("--list", "--check"):
            word, parameters[word] = _parameter(word)
        if word in given:
            raise CourseError(f"{_short(word)} is given twice on the line of %%cuda: give it once")
        given.append(word)
    if parameters and not (matrices or "--check" in given):
        raise CourseError(f"{' and '.join(parameters)} would be used by --run or --check, and neither is asked for")
    return _Wanted(name, "--list" in given, "--check" in given, matrices, parameters)


def _parameter(word):
    """Read NAME=NUMBER."""
    name, equals, number = word.partition("=")
    if not (equals and name.isidentifier()):
        raise CourseError(f"%%cuda takes one name, then --list, --check, --run A B or a number like BM=16: {_short(word)} is none of them")
    if not re.fullmatch("[0-9]{1,9}", number):
        raise CourseError(f"{_short(word)} is none of the numbers that %%cuda takes: write a whole one with the digits 0 to 9, like "
                          f"{_short(name)[1:-1]}=16")
    return name, int(number)


def _short(word):
    """Quote a word, cut where it would fill more than a line.

    >>> _short("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    return repr(word if len(word) <= 40 else f"{word[:40]}…")


def _needed(text, wanted):
    """Return what the compiler gets with -D: what the line sets, when the text is a kernel that takes it."""
    if not wanted.parameters:
        return {}
    kernel = resolve(text)
    return kernel.defines(**wanted.parameters)


def _matrix(name, namespace):
    if name not in namespace:
        raise CourseError(f"there is no {name} to run with: make it in a cell before this one")
    return namespace[name]


def _text(name, cell, magic="cuda"):
    """Put a comment where the magic stood, and where CUDA C counts its lines anew: lines keep the numbers they have in the cell."""
    return f"// %%{magic} {name}\n{with_own_lines(cell) if magic == 'cuda' else cell}"


def _readable(text):
    """Return a text that can be compiled.

    Raises
    ------
    CourseError
        When it is too long, or holds what is no character.
    """
    if len(text) > MOST_TEXT:
        raise CourseError(f"this cell has {len(text):,} characters, and at most {MOST_TEXT:,} are read: is it the text that you meant?")
    check_text(text, "this cell", "C")
    return text


def _name(line, magic="cuda"):
    name = line.strip()
    if not name:
        raise CourseError(f"%%{magic} needs a name for the text: %%{magic} my_kernel")
    if not name.isidentifier() or keyword.iskeyword(name) or len(name) > MOST_NAME:
        raise CourseError(f"%%{magic} takes one name of at most {MOST_NAME} letters, digits and _: {_short(name)} is none. "
                          "Options go into the text, as #define")
    return name


def _shared(size):
    return f"{size} bytes of shared memory a block" if size else "no shared memory"
