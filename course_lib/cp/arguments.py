"""The arguments of a launch, held to the kernel's own parameters. CuPy passes on whatever it gets, and the kernel reads garbage."""

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib import gpu, simt
from course_lib.cp.arrays import ndarray
from course_lib.errors import CourseError
from course_lib.kernels.user import kind_of, outputs_of, parameters_of
from course_lib.run import choose_backend
from course_lib.unwritten import Unwritten, is_unwritten, missing, text_of

# C's names of number types, and the NumPy type of the same size and kind. "long" is left out: it differs between systems.
TYPES = {"bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16",
         "int": "int32", "unsigned int": "uint32", "unsigned": "uint32", "long long": "int64", "long long int": "int64",
         "unsigned long long": "uint64", "half": "float16", "float": "float32", "double": "float64", "size_t": "uint64"}
PASSED_AS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}        # Python's own numbers, by CuPy


def is_array(value: Any) -> bool:
    """Tell an array in the GPU's memory, CuPy's or its stand-in, from everything else."""
    return isinstance(value, ndarray) or gpu.is_cupy(value) and hasattr(value, "strides")


def device_arguments(code: str, entry: str, args: Sequence[Any]) -> list[Any]:
    """Return the arguments as NumPy scalars and arrays on the GPU.

    Raises
    ------
    CourseError
        In one sentence, for one that is missing, too many, or not what the kernel's parameter takes.
    """
    if not isinstance(args, tuple | list):
        shown = "args is one array" if is_array(args) else f"args is {reprlib.repr(args)}"
        raise CourseError(f"{shown}; CuPy takes a tuple, also of one: write (x,) with its comma")
    declared = parameters_of(code, entry)
    if declared is not None and len(declared) != len(args):
        raise CourseError(f"{entry} takes {len(declared)} arguments ({', '.join(declared)}), and {len(args)} were given", entry=entry)
    return [one(value, f"argument {i + 1} of {entry}", declared[i] if declared else "") for i, value in enumerate(args)]


def one(value: Any, where: str, declared: str) -> Any:
    """Return one argument as it is passed on, held to the declaration of its parameter ("" when that is not known)."""
    if is_unwritten(value):
        raise missing(value)
    if is_array(value):
        return array(value, where, declared)
    if isinstance(value, simt.Texture | simt.Surface):
        return image(value, where, declared)
    if isinstance(value, np.ndarray):
        fix = f"copy it to the GPU first, with cp.asarray({name(declared) or 'x'})" if value.ndim else "write np.float32(x) or np.int32(n)"
        raise CourseError(f"{where}{spoken(declared)} is a NumPy array, which the GPU cannot read: {fix}")
    if isinstance(value, np.generic):
        return scalar(value, where, declared, f"{value.dtype}", value.item())
    if type(value) in PASSED_AS:
        return python_number(value, where, declared)
    raise CourseError(f"{where}{spoken(declared)} is {reprlib.repr(value)}, a {type(value).__name__}; a kernel takes arrays made with "
                      "cp.asarray or cp.zeros, and numbers such as np.int32(5)")


def image(value: simt.Texture | simt.Surface, where: str, declared: str) -> simt.Texture | simt.Surface:
    """Return a texture or surface for the simulator; a GPU takes CuPy's own."""
    if choose_backend() == "gpu":
        raise CourseError(f"{where}{spoken(declared)} is a {type(value).__name__} of the simulator, and this kernel runs on a GPU: make a "
                          "cupy.cuda.texture.TextureObject there, and launch it with CuPy's own RawKernel")
    return value


def array(value: Any, where: str, declared: str) -> Any:
    """Return an array, or refuse one that the kernel would read wrongly: of another type, or not lying by rows without gaps."""
    wanted = kind_of(declared) if declared else None
    if wanted and "*" not in wanted:
        raise CourseError(f"{where}{spoken(declared)} is an array, and the kernel takes one number there: write "
                          f"np.{TYPES.get(wanted, 'int32')}(…)")
    expected = TYPES.get(wanted.rstrip("*")) if wanted and wanted.count("*") == 1 else None
    if expected and value.dtype != expected:
        raise CourseError(f"{where}{spoken(declared)} holds {value.dtype}, and the kernel reads {expected}: make it with "
                          f"dtype=np.{expected} (CuPy would not notice)", wanted=expected)
    if not value.flags.c_contiguous:
        raise CourseError(f"{where}{spoken(declared)} does not lie row by row without gaps (a slice or a transposed array), and a kernel "
                          "gets only its address: pass a copy, cp.asarray(np.ascontiguousarray(x))")
    return value


def scalar(value: np.generic, where: str, declared: str, passed: str, plain: Any) -> np.generic:
    """Return a NumPy scalar, or refuse one of another size or kind than the parameter; `passed` says as what it is passed."""
    wanted = kind_of(declared) if declared else None
    if wanted and "*" in wanted:
        raise CourseError(f"{where}{spoken(declared)} is {plain!r}, and the kernel takes an array there: make one with cp.asarray")
    expected = TYPES.get(wanted or "")
    if expected and not fits(value.dtype, np.dtype(expected)):
        plain = int(plain) if isinstance(plain, float) and plain.is_integer() and "int" in expected else plain
        raise CourseError(f"{where}{spoken(declared)} is {passed}, and the kernel reads {expected} there: write np.{expected}({plain!r})",
                          wanted=expected)
    return value


def python_number(value: Any, where: str, declared: str) -> np.generic:
    """Return a number of Python's as CuPy passes it, as long as the kernel's parameter is as wide."""
    passed = np.dtype(PASSED_AS[type(value)]).type(value) if abs(value) < 2**63 else None
    if passed is None:
        raise CourseError(f"{where}{spoken(declared)} is {value!r}, which is too large for 64 bits")
    if not declared or kind_of(declared) is None:
        right = "np.float32" if isinstance(value, float) else "np.int32"
        raise CourseError(f"{where}{spoken(declared)} is a Python {type(value).__name__}, which CuPy passes as {passed.dtype}: write "
                          f"{right}({value!r}), or whatever type the kernel's parameter has")
    return scalar(passed, where, declared, f"a Python {type(value).__name__}, which CuPy passes as {passed.dtype}", value)


def fits(given: np.dtype, wanted: np.dtype) -> bool:
    """Tell whether a scalar of one type is read rightly as another: as wide, and both with or both without a fraction.

    >>> fits(np.dtype("uint32"), np.dtype("int32")), fits(np.dtype("int32"), np.dtype("float32"))
    (True, False)
    """
    return given.itemsize == wanted.itemsize and (given.kind in "fc") == (wanted.kind in "fc")


def name(declared: str) -> str:
    """Return what a parameter is called.

    >>> name("const float* A")
    'A'
    """
    return declared.replace("*", " ").split()[-1] if declared else ""


def spoken(declared: str) -> str:
    """Return a parameter's declaration as it stands in a sentence."""
    return f" ({declared})" if declared else ""


def to_fill(kernel: Unwritten, entry: str, args: Any) -> list[Any]:
    """Return the arrays among a launch's arguments that a missing kernel would have written: those that it does not take as const."""
    given = [(i, arg) for i, arg in enumerate(args if isinstance(args, tuple | list) else ()) if is_array(arg)]
    outputs = outputs_of(text_of(kernel), entry)
    return [arg for i, arg in given if i in outputs] or [arg for _, arg in given[-1:]]
