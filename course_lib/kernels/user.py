"""A kernel that the reader wrote: CUDA text or a path, launched like the catalog kernel that it resembles."""

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.kernels.catalog import get
from course_lib.kernels.kernel import Kernel
from course_lib.kernels.rules import threads_rule

SGEMM = ("int M", "int N", "int K", "float alpha", "const float* A", "int lda",
         "const float* B", "int ldb", "float beta", "float* C", "int ldc")
SIGNATURE = ", ".join(SGEMM)
DGEMM = tuple(argument.replace("float", "double") for argument in SGEMM)
SBGEMM = tuple(argument.replace("const float", "const unsigned short") for argument in SGEMM)      # A and B bfloat16
MAPPED = ("int M", "int N", "int K", "float alpha", "const __grid_constant__ TensorMap A", "const __grid_constant__ TensorMap B",
          "float beta", "float* C", "int ldc")
PARTED = (*(f"{argument}_parts" if "TensorMap" in argument else argument for argument in MAPPED),
          "const int* A_shifts", "const int* B_shifts", *SGEMM[4:8])
ALL_MAPPED = (*MAPPED[:-3], "const __grid_constant__ TensorMap C")
MOVES = ("int rows", "int cols", "const float* in", "int ld_in", "float* out", "int ld_out")       # of one like transpose
VECTORS = ("int S", "const float* in", "float* out")         # of a kernel like the mxv kernels

_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_ENTRY = re.compile(r"__global__\b[^;{}]*?\b(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>[^()]*)\)\s*\{")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\d{1,18})[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True)
class UserKernel(Kernel):
    """A `Kernel` whose source is text. `from_source` makes one.

    Attributes
    ----------
    text
        The CUDA C text.
    like
        The catalog kernel from which parameters, rules, block and grid are taken.
    """

    text: str = field(default="", repr=False)
    like: str = ""

    @property
    def source(self) -> str:
        """Return the CUDA C text as the reader wrote it; what it includes is found by the compiler."""
        return self.text

    def source_line(self, line: int) -> tuple[str, int]:
        """Return the file and the line, which are those of the text."""
        return self.file_name, line

    def defines(self, **parameters: int) -> dict[str, int | str]:
        """Return what the compiler gets with -D: nothing when the text itself sets all these values."""
        wanted = super().defines(**parameters)
        written = written_values(self.text)
        return {} if all(written.get(name) == value for name, value in wanted.items()) else wanted

    @classmethod
    def from_source(cls, source: str | Path, *, entry: str | None = None, like: str | None = None,
                    takes: tuple[str, ...] | None = None) -> "UserKernel":
        """Make a kernel from CUDA text or from a path to it.

        Parameters
        ----------
        source
            Text that holds `__global__`, or the path of a file that does.
        entry
            The function to launch; needed only when the text has several `__global__` functions.
        like
            The catalog kernel that is launched the same way. Default: sgemm_tiled when the text speaks of
            BM and BN, sgemm_1d_tile with TM too, sgemm_2d_tile with TM and TN, dgemm_mma with WM, WN and
            doubles, sbgemm_tma of a TensorMap; else sgemm_naive (one thread per element, blocks of bx × by). A tiled text that sets BX and
            BY too gets blocks of BX × BY threads.
            Like an mxv kernel it takes `int S, const float* in, float* out`, has a `__constant__ float matrix[M][N]`,
            and `run_vectors` runs it.
        takes
            The parameters that it must have. Default: those of the kernel that it is like.

        Raises
        ------
        CourseError
            When there is no such file or function, or the function does not take the arguments of what it is launched like.
        """
        text, path = _read(source)
        bare = _COMMENT.sub(_blank, text)
        base = get(like or _resembles(bare))
        takes = takes or {"vectors": VECTORS, "transpose": MOVES}.get(base.kind, _product_of(base))
        name, parameters = _find_entry(bare, entry, takes)
        _check_signature(name, parameters, takes)
        written = written_values(text)
        fitted = tuple(dataclasses.replace(p, default=written.get(p.name, p.default)) for p in base.parameters)
        facts = {f.name: getattr(base, f.name) for f in dataclasses.fields(base)}
        facts |= _own_block(base, written) | _own_grid(base, written)
        facts |= {"name": name, "entry": name, "path": path, "parameters": fitted, "idea": "your own kernel"}
        return cls(**facts, text=text, like=base.name)


def _product_of(base):
    """Return the parameters of a product that is launched like a kernel of the catalog."""
    if base.boxes:
        return ALL_MAPPED if base.result else PARTED if base.stored == "bf16x3" else MAPPED
    return SBGEMM if base.stored else DGEMM if base.dtype == "float64" else SGEMM


def _own_block(base, written):
    """Return what differs in a tiled kernel that sets its threads by BX and BY: its block, and the rule on its threads."""
    if base.name != "sgemm_tiled" or not {"BX", "BY"} <= written.keys():
        return {}
    block, limit, per_output = {"BX": written["BX"], "BY": written["BY"]}, threads_rule("BX", "BY"), threads_rule("BN", "BM")
    own = dataclasses.replace(limit, holds=lambda p: limit.holds(block), says=lambda p: limit.says(block))
    rules = tuple(own if rule.text == per_output.text else rule for rule in base.rules)
    return {"block_of": lambda p: (block["BX"], block["BY"], 1), "rules": rules}


def _own_grid(base, written):
    """Return what differs in a tiled kernel that sets BLOCKS: a grid of as many blocks along x, which share out the tiles themselves."""
    blocks = written.get("BLOCKS", 0)
    return {"grid_of": lambda M, N, p: (blocks, 1, 1)} if base.name == "sgemm_tiled" and blocks else {}


def is_source(kernel: Any) -> bool:
    """Tell CUDA text or a path from the name of a kernel."""
    if isinstance(kernel, Path):
        return True
    return isinstance(kernel, str) and (_is_text(kernel) or kernel.endswith((".cu", ".cuh")))


def parameters_of(text: str, entry: str) -> tuple[str, ...] | None:
    """Return how a kernel in CUDA text declares its parameters; None when the text shows no such kernel, as with macros or templates.

    >>> parameters_of("__global__ void f(const float* A, int n) {}", "f"), parameters_of("FUNCTION(f) {}", "f")
    (('const float* A', 'int n'), None)
    """
    found = [m["parameters"] for m in _ENTRY.finditer(_COMMENT.sub(_blank, text)) if m["name"] == entry]
    return tuple(" ".join(p.split()) for p in found[0].split(",") if p.strip()) if found else None


def kernels_in(text: str) -> tuple[str, ...]:
    """Return the names of the kernels in CUDA text."""
    return tuple(m["name"] for m in _ENTRY.finditer(_COMMENT.sub(_blank, text)))


def outputs_of(text: str, entry: str) -> set[int]:
    """Return which parameters of a kernel it may write: pointers without const.

    >>> sorted(outputs_of("__global__ void f(const float* A, int n, float* C) {}", "f"))
    [2]
    """
    declared = parameters_of(text, entry) or ()
    return {i for i, parameter in enumerate(declared) if "*" in parameter and not re.search(r"\bconst\b[^*]*\*", parameter)}


def _is_text(source):
    return isinstance(source, str) and ("__global__" in source or any(mark in source for mark in "\n;{"))


def written_values(text: str) -> dict[str, int]:
    """Return the whole numbers that a text sets with `#define NAME number`.

    >>> written_values("#define BM 16  // rows")
    {'BM': 16}
    """
    found: dict[str, int] = {}
    for name, value in _DEFINE.findall(_COMMENT.sub(_blank, text)):
        found.setdefault(name, int(value))
    return found


def _blank(match):
    """Replace a comment by spaces, keep a string and every line break."""
    text = match.group()
    return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)


def _read(source):
    if _is_text(source):
        return source, None
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), path
    except (OSError, ValueError) as error:          # of the path, or of what it names
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise CourseError(f"the kernel file {str(path)!r:.200} cannot be read: {reason}", path=path) from None


def _find_entry(bare, entry, takes):
    found = {m["name"]: m for m in _ENTRY.finditer(bare)}
    names = ", ".join(found)
    if not found:
        raise CourseError("the text holds no kernel: write one as "
                          f'extern "C" __global__ void {"my_sgemm" if takes == SGEMM else "mine"}({", ".join(takes)}) {{ … }}')
    if entry is None and len(found) > 1:
        raise CourseError(f"the text holds {len(found)} kernels ({names}): name the one to launch with entry=",
                          names=names)
    name = entry or next(iter(found))
    if name not in found:
        raise CourseError(f"the text holds no kernel {entry!r}, only {names}", entry=entry)
    match = found[name]
    if not _is_extern_c(bare, match.start()):
        raise CourseError(f'{name} needs extern "C" before __global__: without it the compiler writes '
                          "the types of the arguments into the name, and the launcher cannot find it", entry=name)
    return name, match["parameters"]


def _is_extern_c(bare, start):
    before = bare[:start].rstrip()
    blocks = [before[m.end():] for m in re.finditer(r'extern\s+"C"\s*\{', before)]
    return before.endswith('extern "C"') or any(b.count("{") >= b.count("}") for b in blocks)


def _check_signature(name, text, takes):
    given = [" ".join(p.split()) for p in text.split(",") if p.strip()]
    right = f"it is launched as {name}({', '.join(takes)})"
    if len(given) != len(takes):
        raise CourseError(f"{name} takes {len(given)} arguments, not {len(takes)}: {right}", entry=name)
    for number, (mine, theirs) in enumerate(zip(given, takes, strict=True), start=1):
        kind, wanted = kind_of(mine), kind_of(theirs)
        if kind and kind != wanted:
            raise CourseError(f"argument {number} of {name} is `{mine}`, not `{theirs}`: {right}", entry=name)


def kind_of(parameter: str) -> str | None:
    """Return "int", "float", "float*" and so on, or None for a type that only the compiler knows.

    >>> kind_of("const float* __restrict__ A"), kind_of("unsigned int n"), kind_of("mine::type x")
    ('float*', 'unsigned int', None)
    """
    words = re.findall(r"\w+|\*|&", re.sub(r"\bconst\b|\b__restrict__\b|\bstruct\b", " ", parameter))
    stars = words.count("*") + words.count("&")
    names = [w for w in words if w not in "*&"]
    plain = {"int", "float", "double", "unsigned", "long", "short", "char", "size_t", "half", "bool"}
    kind = [w for w in names if w in plain]
    return " ".join(kind) + "*" * stars if kind else None


def _resembles(bare):
    words = set(re.findall(r"\w+", bare))
    if "TensorMap" in words:
        return "sbgemm_tma"
    if {"ld_in", "ld_out"} <= words:
        return "transpose" if "PAD" in words else "transpose_plain"
    if {"BM", "BN", "WM", "WN", "double"} <= words:
        return "dgemm_mma"
    if {"BM", "BN", "TM"} <= words:
        return "sgemm_2d_tile" if "TN" in words else "sgemm_1d_tile"
    return "sgemm_tiled" if {"BM", "BN"} <= words else "sgemm_naive"
