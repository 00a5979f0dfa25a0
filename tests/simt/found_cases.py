"""The kernels of docs/found/: how each is launched, what the simulator must find, how it is mended, what is then right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import simt

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "found"
ORDERS = ("forward", "reverse", "interleaved")
Launch = tuple[Any, Any, list[Any]]     # grid, block, arguments; the answer is the last argument


@dataclass(frozen=True)
class Case:
    """A kernel with a fault.

    Attributes
    ----------
    name : str
        Of the kernel and its file.
    launch : callable() -> (grid, block, arguments)
        The same at each call; the answer is the last argument.
    answer : callable(arguments) -> array
        What the last argument must be after the launch, in double precision.
    mend : sequence of (text, text)
        What to replace in the source, and by what.
    finds : set of (kind, set of lines), or (kind of error, line)
        What the simulator must say, no more and no less.
    """

    name: str
    launch: Callable[[], Launch]
    answer: Callable[[list[Any]], Any]
    mend: Sequence[tuple[str, str]]
    finds: Any

    @property
    def source(self) -> str:
        """The text of the kernel."""
        return (FOLDER / f"{self.name}.cu").read_text(encoding="utf-8")

    @property
    def mended(self) -> str:
        """The text of the mended kernel."""
        text = self.source
        for old, new in self.mend:
            assert text.count(old) == 1, (self.name, old)
            text = text.replace(old, new)
        return text


@dataclass(frozen=True)
class Outcome:
    """What a launch came to: hazards, or an error and no answer; `right` and `error` compare the answer with NumPy's."""

    hazards: tuple[Any, ...]
    fault: simt.SimtError | None
    right: bool
    error: float

    @property
    def found(self) -> Any:
        """What was found, in the shape of `Case.finds`."""
        if self.fault is not None:
            return type(self.fault).__name__, self.fault.line
        return {(h.kind, frozenset((h.first_line, h.second_line))) for h in self.hazards}


def run(case: Case, source: str, order: str = "forward", **how: Any) -> Outcome:
    """Launch a source with a case's arguments."""
    grid, block, args = case.launch()
    wanted = np.asarray(case.answer([a.copy() if isinstance(a, np.ndarray) else a for a in args]), np.float64)
    try:
        report = simt.launch(source, case.name, grid, block, args, **{"racecheck": True, "warp_order": order, "workers": 1, **how})
    except simt.SimtError as fault:
        return Outcome((), fault, False, np.inf)
    error = np.abs(args[-1] - wanted).max()      # NaN when the answer has one
    return Outcome(report.all_hazards, None, bool(error <= 1e-5 * np.abs(wanted).max()), float(error))


def numbers(*shape: int) -> Any:
    """Return random float32 numbers, the same at each call."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def zeros(*shape: int) -> Any:
    """Return an array for an answer, full of NaN: what is not written does not count as right."""
    return np.full(shape, np.nan, np.float32)


def softmax_of(args: list[Any]) -> Any:
    """Return the softmax of each row."""
    e = np.exp(args[1].astype(np.float64) - args[1].max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def neighbours(args: list[Any]) -> Any:
    """Return the mean of each element's neighbours above and below."""
    padded = np.pad(args[2].astype(np.float64), ((1, 1), (0, 0)))
    return (padded[:-2] + padded[2:]) / 2


def lines(*pair: int) -> frozenset[int]:
    """Return two lines, in whatever order."""
    return frozenset(pair)


INT = np.int32
IMAGE, BATCH, BYTES = (9, 37), (3, 1, 7), 1000
CASES = (
    Case("softmax", lambda: (3, 128, [INT(300), numbers(3, 300), zeros(3, 300)]), softmax_of,
         [("    if (lane == 0)\n        part[warp] = sum;",
           "    __syncthreads();                             // everybody has read the maxima\n"
           "    if (lane == 0)\n        part[warp] = sum;")],
         {("RAW", lines(20, 28)), ("WAR", lines(20, 28))}),
    Case("pipeline", lambda: (1, 128, [INT(9), numbers(9, 128), zeros(128)]),
         lambda args: (args[1].astype(np.float64) * args[1][:, ::-1]).sum(axis=0),
         [("#define AHEAD 4", "#define AHEAD 3")], {("RAW", lines(10, 25)), ("WAR", lines(10, 25))}),
    Case("permute", lambda: (2, 64, [INT(70), INT(np.random.default_rng(1).permutation(64)), numbers(70, 64)]),
         lambda args: args[2][:, args[1]],
         [("        for (int k = 0; k < 16; ++k)\n            copy",
           "        for (int k = 0; k < 16 && round > 0; ++k)\n            copy")],
         ("OutOfBounds", 14)),
    Case("stencil", lambda: ((2, 3), (32, 4), [INT(9), INT(37), numbers(*IMAGE), zeros(*IMAGE)]), neighbours,
         [("above = x[(row - 1) * columns + col];", "above = row > 0 ? x[(row - 1) * columns + col] : 0.0f;")], ("OutOfBounds", 10)),
    Case("batched", lambda: ((1, 1, 3), 32, [INT(1), INT(7), numbers(*BATCH), zeros(*BATCH[:2])]),
         lambda args: args[2].astype(np.float64).sum(axis=2), [("z * (M + N)", "z * (M * N)")], ("OutOfBounds", 12)),
    Case("flip", lambda: (1, 256, [INT(3), numbers(3, 4096), zeros(4096)]), lambda args: args[1][:, ::-1].astype(np.float64).sum(axis=0),
         [("int i = k * 256 + threadIdx.x;\n            const unsigned at = (now + 4 * i) ^",
           "int i = k * 256 + threadIdx.x;\n            const unsigned at = (now + 4 * i) +"),
          ("threadIdx.x;\n            const unsigned at = (now + 4 * i) ^ (step % 2 * 16384);\n            float",
           "threadIdx.x;\n            const unsigned at = (now + 4 * i) + (step % 2 * 16384);\n            float")],
         ("OutOfBounds", 13)),
    Case("last_warp", lambda: (3, 128, [numbers(3, 128), zeros(3)]), lambda args: args[0].astype(np.float64).sum(axis=1),
         [("thread + d];\n", "thread + d];\n        __syncwarp();                            // everybody has read\n"),
          ("+ other;\n", "+ other;\n        __syncwarp();                            // everybody has written\n")],
         {("RAW", lines(16, 17)), ("WAR", lines(16, 17))}),
    Case("histogram", lambda: (3, 128, [INT(BYTES), np.random.default_rng(1).integers(0, 64, BYTES).astype(np.uint8),
                                        np.zeros(64, np.uint32)]),
         lambda args: np.bincount(args[1], minlength=64),
         [("    for (int i =", "    if (threadIdx.x < 64)\n        here[threadIdx.x] = 0;\n"
           "    __syncthreads();                             // all counts are 0\n    for (int i =")],
         {("uninitialised", lines(8)), ("uninitialised", lines(11))}),
    Case("shuffle", lambda: (256, 256, [INT(65521), numbers(65521), zeros(65521)]),
         lambda args: args[1][np.arange(65521) * 40503 % 65521], [("i * 40503 % n", "i * 40503ll % n")], ("OutOfBounds", 8)),
    Case("epilogue", lambda: (2, 128, [INT(9), numbers(9, 128), zeros(9, 128)]), lambda args: args[1][:, ::-1],
         [("        out[i] = value;\n",
           "        __syncthreads();                                     // and everybody knows that\n"
           "        out[i] = value;\n"
           '        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");             // bulk copies see it\n')],
         {("WAR", lines(13, 16)), ("unfenced", lines(13, 16))}),
)
NAMED = {case.name: case for case in CASES}
