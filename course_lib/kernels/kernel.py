"""What the catalog says about one kernel: its file, its idea, what the reader may choose, and how it is launched."""

import difflib
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from course_lib.errors import CourseError
from course_lib.kernels.complete import complete, source_line
from course_lib.kernels.parameters import Parameter, Rule, check_grid

FOLDER = Path(__file__).parent
Named = TypeVar("Named")
REALS = {"float32": "float", "float64": "double"}
STORED = {"bf16": 2, "bf16x3": 6, "e4m3": 1}         # bytes of an element, by `Kernel.stored` or `Kernel.result`
FORMATS = {"": "float32", "tf32": "TF32", "e4m3": "E4M3", **dict.fromkeys(("bf16", "bf16x3", "bf16x3 by 64"), "bfloat16")}     # by `inputs`


def ceil_div(a: int, b: int) -> int:
    """Divide and round up.

    >>> ceil_div(33, 32)
    2
    """
    return -(-a // b)


def _nothing(p):
    return 0


class Configurable:
    """What kernels for the GPU and programs for the CPU share: parameters that a reader sets, and rules that they obey."""

    name: str
    parameters: tuple[Parameter, ...]
    rules: tuple[Rule, ...]

    def problems(self, **parameters: int) -> tuple[str, ...]:
        """Return every reason why these parameters cannot run, as sentences; empty when they can.

        Parameters that are not named keep their defaults.

        >>> from course_lib.kernels import get
        >>> for line in get("sgemm_tiled").problems(BM=64, BN=64, BK=128): print(line)
        BN × BM = 64 × 64 = 4096 threads a block, but at most 1024 are allowed: with BM = 64, BN can be up to 16
        tiles of 64 × 128 and 128 × 64 floats take 65536 bytes, but at most 49152 (48 KiB) of shared memory \
are allowed: with BM = 64 and BN = 64, BK can be up to 96
        """
        known = {p.name: p for p in self.parameters}
        wrong = [self._unknown(name) for name in parameters if name not in known]
        values = {name: parameters.get(name, p.default) for name, p in known.items()}
        ranges = [s for name, p in known.items() if (s := p.problem(values[name]))]
        if wrong or ranges:
            return tuple(wrong + ranges)       # a rule needs sensible numbers before it can be asked
        values = {name: int(value) for name, value in values.items()}
        return tuple(s for rule in self.rules if (s := rule.problem(values)))

    def check(self, **parameters: int) -> dict[str, int]:
        """Return all parameters, defaults filled in, as plain ints.

        Raises
        ------
        CourseError
            Names each value that is wrong and what would be right.
        """
        wrong = self.problems(**parameters)
        if wrong:
            raise CourseError("\n".join([f"{self.name}: {wrong[0]}", *wrong[1:]]),
                              kernel=self.name, parameters=parameters, problems=wrong)
        return {p.name: int(parameters.get(p.name, p.default)) for p in self.parameters}

    def flops(self, M: int, N: int, K: int) -> int:
        """Return the floating-point operations of the product: a multiplication and an addition, MNK times."""
        return 2 * M * N * K

    def _unknown(self, name):
        names = [p.name for p in self.parameters]
        close = close_names(name, names)
        return f"{name} is no parameter of {self.name}{close or ': it has ' + ', '.join(names)}"


@dataclass(frozen=True)
class Kernel(Configurable):
    """One kernel of the course, and all that is needed to launch it.

    Attributes
    ----------
    name, entry
        What the reader calls it; the name of the function in the file.
    path
        The `.cu` file.
    idea, lesson
        One line; the name of the notebook that teaches it, empty as long as none does.
    passes
        Parameters that reach the compiler with -D; the others only shape the block.
    dtype
        Element type of A, B and C.
    stored
        The format in which A and B are stored, where it is another: "bf16". NumPy holds them as bits, bfloat16 as uint16
        (`to_bf16` makes them), and the kernel gets `const unsigned short*`. "bf16x3": three matrices of bfloat16, one behind the other,
        whose sum is the matrix, scaled (`scaled_parts`), and the matrix, too. "e4m3": FP8, as uint8 (`to_e4m3`), and B by columns.
    result
        The format in which C is stored, where it is another: "bf16". Such a kernel computes alpha A B alone, and gets a tensor map of C.
    boxes
        Where a kernel fetches A and B by tensor maps, with which it gets neither pointers nor lda and ldb: rows and columns of the boxes
        of A, of B, and of C where it has a map. Rows of a box have 128 bytes, which are swizzled.
    kind
        What it computes: "product" (C = alpha A B + beta C), "multiply" (A B), "transpose", "sum" (alpha P + beta C),
        "vectors" (one matrix times many vectors), "gather" (a strided copy), "split" (float32 into three bfloat16), or "micro" (a
        microbenchmark: readings of the clock).
    layout
        "row": elements of a row are neighbours; "column": elements of a column are.
    sizes_of
        (M, N, K, parameters) -> a sentence on why the kernel cannot do these sizes, or None.
    strides_of
        (lda, ldb, ldc, parameters) -> the same for leading dimensions.
    takes_real
        The file is for any element type, which it gets as REAL.
    passes_as
        Macros that are not called like their parameter (bx: BX).
    inputs
        To what A and B are rounded before they are multiplied: "" (not at all), "tf32", "bf16", "e4m3", or "bf16x3" (split into three),
        "bf16x3 by 64" where a tensor core adds up 64 terms, and not 16. The sums are a tensor core's; see `course_lib.run.accuracy`.
    needs
        The first compute capability that can run it.
    dynamic_of
        parameters -> bytes of shared memory that a block asks for at launch, beside the `__shared__` arrays of fixed size.
    workspace_of
        parameters -> (element type, elements) of each array that the kernel gets behind C and ldc. They hold zeros before the first
        launch, and what the kernel leaves there before the next.
    outputs_of
        parameters -> elements of C that a thread computes, where grid and block do not tell.
    """

    name: str
    path: Path = field(repr=False)
    entry: str
    idea: str
    lesson: str
    parameters: tuple[Parameter, ...] = field(repr=False)
    rules: tuple[Rule, ...] = field(repr=False)
    passes: tuple[str, ...] = field(repr=False)
    block_of: Callable[[Mapping[str, int]], tuple[int, int, int]] = field(repr=False)
    grid_of: Callable[..., tuple[int, int, int]] = field(repr=False)
    shared_of: Callable[[Mapping[str, int]], int] = field(repr=False, default=_nothing)
    dtype: str = "float32"
    stored: str = ""
    result: str = ""
    boxes: tuple[tuple[int, int], ...] | None = None
    kind: str = "product"
    layout: str = "row"
    sizes_of: Callable[..., str | None] = field(repr=False, default=lambda M, N, K, p: None)
    strides_of: Callable[..., str | None] = field(repr=False, default=lambda lda, ldb, ldc, p: None)
    takes_real: bool = field(repr=False, default=False)
    passes_as: Mapping[str, str] = field(repr=False, default_factory=dict)
    inputs: str = field(repr=False, default="")
    needs: tuple[int, int] = field(repr=False, default=(0, 0))
    dynamic_of: Callable[[Mapping[str, int]], int] = field(repr=False, default=_nothing)
    workspace_of: Callable[[Mapping[str, int]], tuple[tuple[str, int], ...]] = field(repr=False, default=lambda p: ())
    outputs_of: Callable[[Mapping[str, int]], int] | None = field(repr=False, default=None)

    @property
    def source(self) -> str:
        """Return the CUDA C text, with the headers of `kernels/` in it: lines of traces and messages are lines of this text."""
        return complete(self.path.read_text(encoding="utf-8"))

    def source_line(self, line: int) -> tuple[str, int]:
        """Return the file, and the line in it, from which a line of `source` comes: a helper's code comes from a header.

        >>> from course_lib.kernels import get
        >>> get("sgemm_mma").source_line(1), get("sgemm_mma").source_line(33)
        (('sgemm_mma.cu', 1), ('load4.cuh', 6))
        """
        return source_line(self.file_name, self.path.read_text(encoding="utf-8"), line)

    @property
    def file_name(self) -> str:
        """Return the name that the compiler's messages and line tables give the text."""
        return self.path.name if self.path else f"{self.name}.cu"

    @property
    def factor_bytes(self) -> int:
        """Return the bytes of an element of A or B.

        >>> from course_lib.kernels import get
        >>> [get(name).factor_bytes for name in ("sgemm_bf16", "sbgemm_mma", "sgemm_parts")]
        [4, 2, 6]
        """
        return STORED.get(self.stored) or (8 if self.dtype == "float64" else 4)

    @property
    def tensor_cores(self) -> bool:
        """Return whether tensor cores do the products: what is rounded for them, or the text says so.

        >>> from course_lib.kernels import get
        >>> [get(name).tensor_cores for name in ("sgemm_wmma", "dgemm_mma", "sgemm_stream_k")]
        [True, True, False]
        """
        return bool(self.inputs) or "mma.sync" in self.source

    def block(self, **parameters: int) -> tuple[int, int, int]:
        """Return the threads of a block along x, y, z."""
        return self.block_of(self.check(**parameters))

    def grid(self, *sizes: int, **parameters: int) -> tuple[int, int, int]:
        """Return the blocks of the grid along x, y, z that cover the result.

        `sizes`: rows and columns of the result (M, N); for kernels of many vectors their number.

        >>> from course_lib.kernels import get
        >>> get("sgemm_tiled").grid(100, 33, BM=32, BN=16)
        (3, 4, 1)
        """
        grid = self.grid_of(*sizes, self.check(**parameters))
        check_grid(self.name, grid)
        return grid

    def shared_bytes(self, **parameters: int) -> int:
        """Return the bytes of static shared memory that a block declares."""
        return self.shared_of(self.check(**parameters))

    def dynamic_bytes(self, **parameters: int) -> int:
        """Return the bytes of shared memory that a block asks for at launch.

        >>> from course_lib.kernels import get
        >>> get("sgemm_tiled").dynamic_bytes(), get("sgemm_stream_k").dynamic_bytes()
        (0, 75264)
        """
        return self.dynamic_of(self.check(**parameters))

    def workspace(self, **parameters: int) -> tuple[tuple[str, int], ...]:
        """Return element type and number of elements of each array of zeros that the kernel gets behind C and ldc.

        >>> from course_lib.kernels import get
        >>> get("sgemm_stream_k").workspace(blocks=2)
        (('float32', 65536), ('int32', 2))
        """
        return self.workspace_of(self.check(**parameters))

    def defines(self, **parameters: int) -> dict[str, int | str]:
        """Return what the compiler gets with -D.

        >>> from course_lib.kernels import get
        >>> get("sgemm_ilp").defines()
        {'REAL': 'float', 'TILE': 32, 'OUT': 4}
        """
        values = self.check(**parameters)
        real = {"REAL": REALS[self.dtype]} if self.takes_real else {}
        return real | {self.passes_as.get(name, name): values[name] for name in self.passes}

    def positions(self) -> tuple[dict[str, int], ...]:
        """Return the parameters of all positions of the sliders that can run; of those that compile to the same, the first.

        >>> from course_lib.kernels import get
        >>> get("sgemm_naive").positions()
        ({'bx': 16, 'by': 16},)
        >>> [p["TILE"] for p in get("sgemm_coalesced").positions()]
        [4, 8, 16, 32]
        """
        passed = [p for p in self.parameters if p.name in self.passes]
        # The default comes first, so that a parameter which only shapes the launch keeps it wherever it can.
        others = [[p.default, *(c for c in p.choices if c != p.default)] for p in self.parameters if p not in passed]
        names = [p.name for p in passed] + [p.name for p in self.parameters if p not in passed]
        found: list[dict[str, int]] = []
        for values in itertools.product(*(p.choices for p in passed)):
            tried = (dict(zip(names, (*values, *rest), strict=True)) for rest in itertools.product(*others))
            found += itertools.islice((p for p in tried if not self.problems(**p)), 1)
        return tuple(found)

    def runs_on(self, cc: tuple[int, int]) -> bool:
        """Return whether a device of this compute capability can run the kernel; the products of warpgroups are those of 9.0 alone."""
        return tuple(cc) == self.needs if self.boxes else tuple(cc) >= self.needs

    def refuse(self, cc: tuple[int, int], name: str = "") -> None:
        """Raise a `CourseError` when a device of this compute capability, or of that `name`, cannot run the kernel."""
        if self.runs_on(cc):
            return
        wanted, where, choose = "asynchronous copies", f"from compute capability {self.needs[0]}.{self.needs[1]} on", "a newer"
        if self.boxes:
            wanted, where, choose = "the products of warpgroups", "which compute capability 9.0 alone has", "such a"
        elif self.tensor_cores:
            wanted = f"tensor cores that take {FORMATS[self.inputs] if self.inputs else self.dtype}"
        raise CourseError(f"{self.name} needs {wanted}, {where}, but {name or 'this device'} has {cc[0]}.{cc[1]}: choose {choose} device, "
                          f"or a kernel without {wanted}", kernel=self.name, needs=self.needs, cc=tuple(cc))


def find_named(name: Any, catalog: Mapping[str, Named]) -> Named | None:
    """Return what a catalog has under a name, or None, whatever a reader gave as the name."""
    return catalog.get(name) if isinstance(name, str) else None


def close_names(name: str, names: Iterable[str]) -> str:
    by_lower = {n.lower(): n for n in names}
    if str(name).lower() in by_lower:
        return f": did you mean {by_lower[name.lower()]}?"
    found = difflib.get_close_matches(str(name).lower(), by_lower, n=3, cutoff=0.6)
    return f": did you mean {' or '.join(by_lower[n] for n in found)}?" if found else ""
