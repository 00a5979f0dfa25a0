"""The whole program around a kernel, for any machine with an NVIDIA GPU, Python and CuPy: nothing of the course is in it."""

import keyword
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib import simt
from course_lib.cp.arguments import device_arguments, is_array, name
from course_lib.cp.raw_kernel import RawKernel, size
from course_lib.errors import CourseError
from course_lib.kernels.complete import complete
from course_lib.kernels.user import kernels_in, outputs_of, parameters_of
from course_lib.unwritten import Unwritten, missing

PROGRAM = '''\
# {file}: needs an NVIDIA GPU and `pip install cupy-cuda13x numpy`; run it with `python {file}`
import cupy as cp
import numpy as np

source = r"""
{source}
"""

rng = np.random.default_rng(0)
{arrays}

{kernel} = cp.RawKernel(source, "{kernel}"{options})
grid, block = {grid}, {block}
args = ({args})
{kernel}(grid, block, args{shared})
{check}
begin, end = cp.cuda.Event(), cp.cuda.Event()
begin.record()
for _ in range(10):
    {kernel}(grid, block, args{shared})
end.record()
end.synchronize()
print(f"{{cp.cuda.get_elapsed_time(begin, end) / 10:.3f}} ms per launch")
'''
CHECK = '''
expected = {expected}
error = np.abs({output}.get() - expected).max()
print("largest error", error)
assert error <= 1e-5 * np.abs(expected).max(), "the result is wrong"
'''

# Comments by which a lesson marks what its reader writes, and the lines behind STARTER with which the reader begins.
LESSON_MARKS = re.compile(r"(?m)^[ \t]*// STARTER[ \t]*\n(?:[ \t]*//.*\n)*?(?=[ \t]*// END SOLUTION)"
                          r"|^[ \t]*// (?:BEGIN SOLUTION|END SOLUTION|write it here|up to here)[ \t]*(?:\n|\Z)")


class TakeHomeProgram:
    """A program as text. Jupyter shows it with colours; `print(program)` gives it plain, `save(path)` writes it."""

    def __init__(self, text: str, file: str):
        self.text, self.file = text, file

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}```"

    def save(self, path: str = "") -> None:
        """Write the program to a file, as mine.py for a kernel called mine; an existing file stays as it is."""
        try:
            with open(path or self.file, "x", encoding="utf-8") as file:
                file.write(self.text)
        except FileExistsError:
            raise CourseError(f"there is a file {path or self.file} already: give another name, save(\"another.py\")") from None


def take_home(kernel: str | RawKernel | Unwritten, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, right: str = "",
              shared_mem: int = 0) -> TakeHomeProgram:
    """Write the complete program that launches a kernel of the reader's, checks its result and measures its time with CuPy alone.

    Parameters
    ----------
    kernel
        CUDA text with one kernel, or a `RawKernel`.
    grid, block, args, shared_mem
        As the kernel is launched. Arrays that it only reads are random in the program, those that it writes begin as zeros.
    right
        What the first array that it writes should hold, in NumPy, by the names of the kernel's parameters: "A @ B". For a kernel with
        parameters A, B and C that is the default. Without any the program checks nothing.

    Raises
    ------
    CourseError
        When the launch itself would be refused.
    """
    kernel, code = _raw_kernel(kernel)
    given = device_arguments(code, kernel.name, args)
    declared = parameters_of(code, kernel.name)
    if any(isinstance(value, simt.Texture | simt.Surface) for value in given):
        raise CourseError(f"take_home writes no programs with textures or surfaces, which {kernel.name} takes")
    if declared is None:
        raise CourseError(f"take_home cannot find the parameters of {kernel.name} in its text: write them without macros and templates")
    outputs = [name(declared[i]) for i in sorted(outputs_of(code, kernel.name)) if is_array(given[i])]
    called = [name(parameter) for parameter in declared]
    for word in filter(keyword.iskeyword, called):                  # `in` is a fine name in C
        right, called, outputs = (_without(word, old) for old in (right, called, outputs))
    text = PROGRAM.format(
        file=f"{kernel.name}.py", source=LESSON_MARKS.sub("", re.sub(r"\A// %%cuda .*\n", "", complete(code))).strip("\n"),
        kernel=kernel.name,
        arrays="\n".join(_made(called[i], value, called[i] in outputs) for i, value in enumerate(given) if is_array(value)),
        options=f", options={kernel.options!r}" if kernel.options else "", grid=_sizes(grid, "grid"), block=_sizes(block, "block"),
        args=", ".join(called[i] if is_array(value) else _number(value) for i, value in enumerate(given)) + "," * (len(given) == 1),
        shared=f", shared_mem={shared_mem}" if shared_mem else "", check=_check(right or _product(called), outputs, called, given))
    return TakeHomeProgram(text, f"{kernel.name}.py")


def _raw_kernel(kernel: Any) -> tuple[RawKernel, str]:
    """Return a `RawKernel` that is written, and its text."""
    code = kernel.code if isinstance(kernel, RawKernel) else kernel
    if isinstance(code, Unwritten):
        raise missing(code)
    if isinstance(kernel, RawKernel):
        return kernel, code
    names = kernels_in(kernel) if isinstance(kernel, str) else ()
    if len(names) != 1:
        raise CourseError("take_home needs the text of one kernel, or cp.RawKernel(text, name) where a text has several")
    return RawKernel(kernel, names[0]), kernel


def _without(word, names):
    """Return a text, or a list of names, in which a word that Python keeps for itself has an underscore behind it.

    >>> _without("in", "in.T + inner"), _without("in", ["in", "out"])
    ('in_.T + inner', ['in_', 'out'])
    """
    return re.sub(rf"\b{word}\b", f"{word}_", names) if isinstance(names, str) else [_without(word, name) for name in names]


def _sizes(given: Sequence[int], what: str) -> str:
    size(given, what)
    return repr(tuple(int(n) for n in given))


def _made(called: str, value: Any, written: bool) -> str:
    """Return the line that makes an array."""
    shape, dtype = tuple(int(n) for n in value.shape), value.dtype
    if written:
        return f"{called} = cp.zeros({shape}, dtype=np.{dtype})"
    if dtype.kind == "f":
        return f"{called} = cp.asarray(rng.standard_normal({shape}).astype(np.{dtype}))"
    return f"{called} = cp.asarray(rng.integers(0, 100, {shape}).astype(np.{dtype}))"


def _number(value: np.generic) -> str:
    """Return a NumPy scalar as its source text.

    >>> import numpy as np
    >>> _number(np.float32(1.5)), _number(np.int32(3))
    ('np.float32(1.5)', 'np.int32(3)')
    """
    plain = value.item()
    return f"np.{value.dtype}({plain!r})" if not isinstance(plain, float) or math.isfinite(plain) else f"np.{value.dtype}({str(plain)!r})"


def _product(called: Sequence[str]) -> str:
    """Return what a kernel with the parameters of a matrix product should compute, "" for another."""
    if not {"A", "B", "C"} <= set(called):
        return ""
    return "alpha * (A @ B)" if "alpha" in called else "A @ B"


def _check(right: str, outputs: Sequence[str], called: Sequence[str], given: Sequence[Any]) -> str:
    """Return the lines that compare the result with NumPy's, in float64."""
    if not right or not outputs:
        return ""
    values = dict(zip(called, given, strict=True))
    used = [c for c in called if re.search(rf"\b{c}\b", right)]
    lines = {c: f"{c}.get().astype(np.float64)" if is_array(values[c]) else repr(values[c].item()) for c in used}
    expected = re.sub("|".join(rf"\b{c}\b" for c in used), lambda m: lines[m.group()], right) if used else right
    return CHECK.format(expected=expected, output=outputs[0])
