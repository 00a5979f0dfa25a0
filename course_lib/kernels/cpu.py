"""The catalog of the programs for the CPU: the files in `host/`, a library's product, and plain Python for scale.

>>> cpu_kernel("gemm_ikj").order
'ikj'
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.kernels.kernel import Configurable, close_names, find_named
from course_lib.kernels.parameters import Parameter, Rule

FOLDER = Path(__file__).parent / "host"
ORDERS = tuple("".join(order) for order in itertools.permutations("ijk"))
ARGUMENTS = ("int M", "int N", "int K", "REAL alpha", "const REAL* A", "int lda",
             "const REAL* B", "int ldb", "REAL beta", "REAL* C", "int ldc")


@dataclass(frozen=True)
class CpuKernel(Configurable):
    """One program for the CPU, and all that is needed to build and call it.

    Attributes
    ----------
    name, entry
        What the reader calls it; the name of the function.
    path
        Its file; None for the library's product.
    idea, lesson
        One line; the name of the notebook that teaches it.
    kind
        "c", "python" or "library".
    parameters, rules
        As of a kernel for the GPU. A parameter named `threads` is the function's last argument, the others are macros.
    order
        Of the loops, from the outermost to the innermost; "" when there is more to it.
    counted
        Whether it reaches A, B and C through the macros A(i, k), B(k, j), C(i, j) alone, so that cache lines can be counted.
    openmp, as_written, returns_status
        Needs OpenMP; loops must keep their order; returns 1 when memory ran out.
    text
        The program when it is the reader's own.
    texts
        What a message may be about: name of a text to the text.
    """

    name: str
    entry: str
    path: Path | None = field(repr=False)
    idea: str
    lesson: str
    kind: str = "c"
    parameters: tuple[Parameter, ...] = field(default=(), repr=False)
    rules: tuple[Rule, ...] = field(default=(), repr=False)
    order: str = ""
    counted: bool = field(default=False, repr=False)
    openmp: bool = field(default=False, repr=False)
    as_written: bool = field(default=False, repr=False)
    returns_status: bool = field(default=False, repr=False)
    text: str | None = field(default=None, repr=False)
    texts: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)

    @property
    def source(self) -> str:
        """Return the program's text; empty for the library's product."""
        if self.text is not None:
            return self.text
        return self.path.read_text(encoding="utf-8") if self.path else ""

    @property
    def first_line(self) -> int:
        """Return the number of the source line at which its function begins.

        >>> cpu_kernel("python_ijk").source.splitlines()[cpu_kernel("python_ijk").first_line - 1][:15]
        'def python_ijk('
        """
        starts = ("void", "int", "def")
        return next(number for number, line in enumerate(self.source.splitlines(), 1)
                    if line.startswith(starts) and f" {self.entry}(" in line)

    @property
    def threaded(self) -> bool:
        """Return whether the reader sets a number of threads."""
        return any(p.name == "threads" for p in self.parameters)

    def defines(self, dtype: str = "float32", **parameters: int) -> dict[str, int | str]:
        """Return what the compiler gets with -D.

        >>> cpu_kernel("gemm_blocked").defines("float64", BI=32)
        {'REAL': 'double', 'BI': 32, 'BJ': 256, 'BK': 16}
        """
        values = {name: value for name, value in self.check(**parameters).items() if name != "threads"}
        return {"REAL": {"float32": "float", "float64": "double"}[dtype], **values}


def _power_of_two(name):
    return Rule(f"{name} is a power of two", "vector registers hold a power of two of bytes",
                lambda p: p[name] & (p[name] - 1) == 0,
                lambda p: f"{name} = {p[name]} is no power of two: 16, 32 or 64 are")


def _multiple(name, unit, of):
    """Return the rule that a block is made of whole strips; `unit`: parameters -> elements, `of`: what they are."""
    def says(p):
        return f"{name} = {p[name]} is no multiple of {of} = {unit(p)}: {max(1, p[name] // unit(p)) * unit(p)} is"
    return Rule(f"{name} is a multiple of {of}", "a packed block is made of whole strips", lambda p: p[name] % unit(p) == 0, says)


THREADS = Parameter("threads", "threads that share the rows of C", 1, choices=(1, 2, 4, 8, 16, 32))
BLOCKS = (
    Parameter("BI", "rows of C in a block", 64, high=2**20, choices=(8, 16, 32, 48, 64, 128)),
    Parameter("BJ", "columns of C in a block", 256, high=2**20, choices=(16, 32, 48, 64, 128, 256, 512)),
    Parameter("BK", "terms of the sums in a block", 16, high=2**20, choices=(8, 16, 32, 48, 64, 128)),
)
STRIPS = (
    Parameter("MR", "rows of C in registers", 6, high=32, choices=(1, 2, 4, 6, 8, 12)),
    Parameter("NV", "vectors of C's columns in registers", 2, high=8, choices=(1, 2, 3, 4)),
    Parameter("VB", "bytes of a vector", 32, low=16, high=64, choices=(16, 32, 64)),
)
PACKED = (
    Parameter("KC", "columns of A, and rows of B, in a packed block", 256, high=4096, choices=(64, 128, 256, 512)),
    Parameter("MC", "rows of A in a packed block", 144, high=4096, choices=(48, 96, 144, 192, 288)),
    Parameter("NC", "columns of B in a packed block", 1024, high=16384, choices=(128, 256, 512, 1024, 2048)),
)
LOOPS = {
    "ijk": "a row of A times a column of B for each element of C",
    "ikj": "a row of B added to a row of C for each element of A",
    "jik": "a row of A times a column of B, C column by column",
    "jki": "a column of A added to a column of C for each element of B",
    "kij": "column k of A times row k of B, row by row, for each k",
    "kji": "column k of A times row k of B, column by column, for each k",
}


def _kernels():
    first, second = "01_triple_loop", "02_cpu"
    yield CpuKernel("python_ijk", "python_ijk", Path(__file__).with_name("python_ijk.py"),
                    "the triple loop in plain Python, for scale", first, kind="python", order="ijk")
    for order in ORDERS:
        yield CpuKernel(f"gemm_{order}", f"gemm_{order}", FOLDER / f"gemm_{order}.c", LOOPS[order], first,
                        order=order, counted=True, as_written=True)
    yield CpuKernel("gemm_blocked", "gemm_blocked", FOLDER / "gemm_blocked.c", "blocks that stay in the cache", second,
                    parameters=BLOCKS, counted=True, as_written=True)
    yield CpuKernel("gemm_pthreads", "gemm_pthreads", FOLDER / "gemm_pthreads.c", "rows shared out to POSIX threads", second,
                    parameters=(THREADS,))
    yield CpuKernel("gemm_openmp", "gemm_openmp", FOLDER / "gemm_openmp.c", "rows shared out by one line of OpenMP", second,
                    parameters=(THREADS,), openmp=True)
    yield CpuKernel("gemm_vectors", "gemm_vectors", FOLDER / "gemm_vectors.c", "rows times vectors of columns, in registers",
                    second, parameters=STRIPS, rules=(_power_of_two("VB"),))
    yield CpuKernel("gemm_packed", "gemm_packed", FOLDER / "gemm_packed.c",
                    "vectors, registers, caches and threads together, from packed blocks", second,
                    parameters=(*STRIPS, *PACKED, THREADS), returns_status=True,
                    rules=(_power_of_two("VB"), _multiple("MC", lambda p: p["MR"], "MR"),
                           _multiple("NC", lambda p: p["NV"] * p["VB"] // 4, "NV × VB / 4")))
    yield CpuKernel("blas", "blas", None, "the library's product, np.matmul", second, kind="library", parameters=(THREADS,))


CPU_KERNELS = {kernel.name: kernel for kernel in _kernels()}


def cpu_kernel(name: str) -> CpuKernel:
    """Return the CPU program of that name.

    Raises
    ------
    CourseError
        Names those that come close, or all of them.
    """
    if found := find_named(name, CPU_KERNELS):
        return found
    close = close_names(name, list(CPU_KERNELS)) or f": the programs are {', '.join(CPU_KERNELS)}"
    raise CourseError(f"there is no CPU program {name!r}{close}", kernel=name)
