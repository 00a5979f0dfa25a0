"""The race: the course's fastest kernels and NVIDIA's library, in turn, in one process, on one GPU.

`heats()` lists the products, `run_heat` measures one of them, `race` all of them; `table` says who won. The time of a heat is that of the
fastest contestant; library and kernel are then measured in turn, so that a warmer or a busier GPU slows both.
"""

import ctypes
import datetime
import math
import statistics
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench.compiling import compile_texts
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.bench.on_gpu import inputs
from course_lib.bench.tuned import TUNED_SIZES
from course_lib.data.readings import Readings
from course_lib.gpu.library import bind_product, library_version
from course_lib.gpu.timing import call_once, time_call
from course_lib.kernels import get
from course_lib.model.stream_k import block_counts
from course_lib.run.accuracy import tolerance
from course_lib.run.choice import choose

TURNS = 7             # how often library and kernel are measured in turn
TRIAL_S = 0.01        # seconds for each contestant before that
SHAPES = (            # rows of C, its columns, K: tall, wide, deep, shallow, narrow; none is a size that a tile was chosen for
    (8192, 512, 1024), (512, 8192, 1024), (700, 900, 20000), (10000, 128, 128), (4096, 4096, 64), (3001, 1003, 997), (64, 8000, 4096))
FIELDS = ("BM", "BN", "BK", "WM", "WN", "TM", "TN", "STAGES", "RESIDENT")
DOUBLE_FIELDS = ("BM", "BN", "BK", "WM", "WN", "SLICES", "STAGES", "RESIDENT")


def _single(*values):
    return dict(zip(FIELDS, values, strict=True))


def _double(*values):
    return dict(zip(DOUBLE_FIELDS, values, strict=True))


CONTESTANTS: dict[str, tuple[str, int, tuple[dict[str, int], ...]]] = {       # element type: kernel, elements of a wide copy, tiles
    "float32": ("sgemm_stream_k", 4, (
        _single(256, 128, 16, 64, 64, 16, 8, 3, 1), _single(128, 128, 8, 64, 64, 16, 8, 4, 2), _single(128, 128, 16, 64, 32, 8, 8, 3, 2),
        _single(64, 128, 16, 32, 64, 8, 8, 4, 3), _single(128, 64, 16, 64, 32, 8, 8, 4, 3), _single(64, 64, 16, 32, 32, 8, 4, 4, 4),
        _single(64, 64, 32, 32, 32, 8, 4, 3, 4), _single(32, 32, 16, 16, 32, 4, 4, 4, 4), _single(32, 32, 32, 16, 32, 4, 4, 3, 4))),
    "float64": ("dgemm_stream_k", 2, (
        _double(128, 128, 16, 64, 32, 1, 4, 1), _double(128, 64, 16, 64, 32, 1, 3, 2), _double(64, 64, 16, 32, 32, 1, 4, 2),
        _double(64, 64, 16, 32, 32, 1, 2, 4), _double(64, 64, 32, 32, 32, 2, 3, 1), _double(64, 32, 32, 32, 32, 2, 3, 2),
        _double(64, 32, 16, 32, 16, 1, 4, 2), _double(32, 64, 32, 32, 32, 2, 3, 2), _double(32, 32, 32, 32, 16, 2, 4, 2))),
}


@dataclass(frozen=True)
class Heat:
    """One product of the race: C = op(A) op(B) + beta C, with op(A) M × K and op(B) K × N."""

    dtype: str
    M: int
    N: int
    K: int
    TRANSA: int = 0
    TRANSB: int = 0
    beta: int = 0


def heats(sizes: Sequence[int] = TUNED_SIZES, dtypes: Sequence[str] = tuple(CONTESTANTS), others: bool = True) -> tuple[Heat, ...]:
    """Return the products: squares of all `sizes`, and with `others` some with beta = 1, transposed operands, and other shapes.

    >>> len(heats()), heats((256,), ("float64",), others=False)
    (78, (Heat(dtype='float64', M=256, N=256, K=256, TRANSA=0, TRANSB=0, beta=0),))
    """
    found = [Heat(dtype, N, N, N) for dtype in dtypes for N in sizes]
    if others:
        for dtype in dtypes:
            found += [Heat(dtype, N, N, N, beta=1) for N in (512, 1025, 2048, 4096)]
            found += [Heat(dtype, N, N, N, *op) for N in (1000, 2047) for op in ((0, 1), (1, 0), (1, 1))]
            found += [Heat(dtype, *shape) for shape in SHAPES]
    return tuple(found)


def candidates(heat: Heat, multiprocessors: int) -> Iterator[dict[str, int]]:
    """Yield the parameters that are tried for a product: every tile, with a block for each tile of C, or with fewer or more blocks.

    >>> found = list(candidates(Heat("float64", 256, 256, 256), 132))
    >>> len(found), found[0]["blocks"], {p["WIDE"] for p in found}
    (41, 4, {2})
    """
    _, wide, tiles = CONTESTANTS[heat.dtype]
    rows = {heat.M if heat.TRANSA else heat.K, heat.K if heat.TRANSB else heat.N, heat.N}
    fixed = {"WIDE": 1 if any(length % wide for length in rows) else wide, "TRANSA": heat.TRANSA, "TRANSB": heat.TRANSB}
    for tile in tiles:
        counts = block_counts(heat.M, heat.N, heat.K, (tile["BM"], tile["BN"], tile["BK"]), tile["RESIDENT"], multiprocessors)
        yield from ({**tile, **fixed, "blocks": count} for count in counts if not get(CONTESTANTS[heat.dtype][0]).problems(
            **tile, **fixed, blocks=count))


class Arrays:
    """The matrices of a heat on the GPU, and calls that make its product."""

    def __init__(self, heat: Heat) -> None:
        self.heat, self.there = heat, inputs(heat.M, heat.N, heat.K, heat.dtype)
        self.A = self.there.A.T.copy() if heat.TRANSA else self.there.A
        self.B = self.there.B.T.copy() if heat.TRANSB else self.there.B
        self.start = gpu.to_device(np.random.default_rng(heat.M).standard_normal((heat.M, heat.N)).astype(heat.dtype))
        self.C = self.start.copy()

    def library(self) -> Callable[[Any], object]:
        """Return the call of cuBLAS."""
        def call(stream):
            bind_product(self.A, self.B, self.C, 1.0, self.heat.beta, (bool(self.heat.TRANSA), bool(self.heat.TRANSB)),
                         ctypes.c_void_p(stream.ptr))()
        return call

    def ours(self, parameters: dict[str, int], least_shared: int = 0) -> Callable[[Any], object]:
        """Return the call of the course's kernel, whose blocks ask for at least so many bytes of dynamic shared memory."""
        from course_lib.gpu.launch import prepare_function

        kernel, real = get(CONTESTANTS[self.heat.dtype][0]), np.dtype(self.heat.dtype).type
        compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=gpu.probe().arch, defines=kernel.defines(**parameters))
        shared = max(kernel.dynamic_bytes(**parameters), least_shared)
        function = prepare_function(compiled, kernel.entry, shared)
        M, N, K = (np.int32(n) for n in (self.heat.M, self.heat.N, self.heat.K))
        lda, ldb, ldc = (np.int32(x.shape[1]) for x in (self.A, self.B, self.C))
        workspace = [gpu.to_device(np.zeros(count, dtype)) for dtype, count in kernel.workspace(**parameters)]
        arguments = (M, N, K, real(1), self.A, lda, self.B, ldb, real(self.heat.beta), self.C, ldc, *workspace)
        grid, block = kernel.grid(self.heat.M, self.heat.N, **parameters), kernel.block(**parameters)
        return lambda stream: function(grid, block, arguments, shared_mem=shared)

    def wrong(self, call: Callable[[Any], object]) -> int:
        """Return how many elements a call gets wrong; with beta = 0 C is NaN before."""
        self.C[...] = self.start if self.heat.beta else np.nan
        call_once(call)
        product, size = self.there.exact()
        right = product + self.heat.beta * self.start
        allowed = (tolerance(self.heat.K, self.heat.dtype) + tolerance(self.heat.K, np.float64)) * (size + abs(self.start))
        return int((~(abs(self.C - right) <= allowed)).sum())                # NaN is wrong


def trials(arrays: Arrays, multiprocessors: int) -> list[tuple[dict[str, int], float]]:
    """Return what was tried for a product: parameters and seconds."""
    return [(parameters, trial(arrays.ours(parameters))) for parameters in candidates(arrays.heat, multiprocessors)]


def trial(call: Callable[[Any], object]) -> float:
    """Return about how many seconds a call takes: a few samples."""
    return time_call(call, repeats=5, warmup=2, budget_s=TRIAL_S).median_s


def run_heat(heat: Heat, multiprocessors: int, chosen: bool = False, judged: bool = False) -> dict[str, Any]:
    """Measure one product: choose the parameters, check the answer, then let library and kernel take turns.

    Parameters
    ----------
    chosen
        Take what `run.choose` chooses, instead of the fastest of all candidates.
    judged
        Take what `run.choose` chooses, and let the fastest of all candidates take turns with it.

    Returns
    -------
    dict
        "kernel", the heat's fields, "parameters", seconds "ours" and "library" (medians of the turns), "ratio" (the median of
        library / ours in each turn), its quartiles "low" and "high", and "wrong", the number of wrong elements. When judged also "best",
        the parameters of the fastest candidate, and "to_best", the median of its time over ours in each turn: 1 when nothing was faster.
    """
    arrays = Arrays(heat)
    tried = [] if chosen and not judged else trials(arrays, multiprocessors)
    best = min(tried, key=itemgetter(1))[0] if tried else {}
    parameters = choice(heat) if chosen or judged else best
    call = arrays.ours(parameters)
    wrong = arrays.wrong(call)
    turns = take_turns([arrays.library(), call, *([arrays.ours(best)] if judged else [])])
    low, ratio, high = statistics.quantiles([times[0] / times[1] for times in turns], n=4)
    row = {"kernel": CONTESTANTS[heat.dtype][0], **asdict(heat), "parameters": parameters,
           "library": statistics.median(times[0] for times in turns),
           "ours": statistics.median(times[1] for times in turns), "ratio": ratio, "low": low, "high": high, "wrong": wrong}
    return row | ({"best": best, "to_best": statistics.median(times[2] / times[1] for times in turns)} if judged else {})


def choice(heat: Heat) -> dict[str, int]:
    """Return the parameters that `run.choose` chooses for a product.

    >>> choice(Heat("float64", 100, 37, 64))["WIDE"]
    1
    """
    return choose(heat.M, heat.N, heat.K, heat.dtype, bool(heat.TRANSA), bool(heat.TRANSB)).parameters


def take_turns(calls: Sequence[Callable[[Any], object]]) -> list[tuple[float, ...]]:
    """Return the seconds of each call in each turn."""
    return [tuple(time_call(call, repeats=5, warmup=2, budget_s=2 * TRIAL_S).median_s for call in calls) for _ in range(TURNS)]


def race(wanted: Iterable[Heat], say: Callable[[str], object] = print, chosen: bool = False, judged: bool = False) -> Readings:
    """Run all heats on the GPU; say a line for each. `chosen`, `judged`: as for `run_heat`."""
    from tqdm import tqdm

    status = gpu.probe()
    multiprocessors = gpu.live_device().sms
    rows, all_heats = [], tuple(wanted)
    compile_texts(((CONTESTANTS[heat.dtype][0], parameters) for heat in all_heats for parameters in (
        [choice(heat)] if chosen and not judged else candidates(heat, multiprocessors))), str(status.arch))
    for heat in tqdm(all_heats, unit=" products", leave=False):
        rows.append(run_heat(heat, multiprocessors, chosen, judged))
        say(line(rows[-1]))
    return made(rows, "--held-out" if judged else "--chosen" if chosen else "")


def made(rows: Sequence[dict[str, Any]], options: str) -> Readings:
    """Return the readings of a race that has just ended; `options`: those of its command."""
    status, nvrtc = gpu.probe(), ".".join(map(str, toolchain.nvrtc_version()))
    command = f"python -m course_lib.bench race {options}".strip()
    made_by = f"{command}; cuBLAS {library_version()}, NVRTC {nvrtc}; {clocks()}"
    sources = {row["kernel"]: fingerprint_of(get(row["kernel"])) for row in rows}
    return Readings(str(status.name), str(status.driver), datetime.date.today().isoformat(), made_by, tuple(rows), sources)


def clocks() -> str:
    """Return what nvidia-smi says of clock and power just now; the last product has just ended."""
    asked = ["nvidia-smi", "--query-gpu=clocks.sm,clocks.max.sm,power.draw,power.limit", "--format=csv,noheader"]
    try:
        return "clock, its limit, power, its limit at the end: " + subprocess.run(
            asked, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "clock and power unknown"


def line(row: dict[str, Any]) -> str:
    """Write a heat on one line."""
    operation = "".join("T" if row[name] else "N" for name in ("TRANSA", "TRANSB")) + (" + C" if row["beta"] else "")
    flops = 2 * row["M"] * row["N"] * row["K"]
    tile = " ".join(f"{name}={value}" for name, value in row["parameters"].items() if name not in ("TRANSA", "TRANSB"))
    wrong = f"  WRONG: {row['wrong']} elements" if row["wrong"] else ""
    wrong += f"  {row['to_best']:.3f} of the best known" if "to_best" in row else ""
    sizes = " × ".join(f"{row[name]:5}" for name in ("M", "N", "K"))
    return (f"{row['dtype']} {sizes} {operation:6} {row['ratio']:.3f} ({row['low']:.3f} … {row['high']:.3f})  "
            f"{flops / row['ours'] / 1e12:5.1f} of {flops / row['library'] / 1e12:5.1f} TFLOP/s  {tile}{wrong}")


def groups(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Sort rows by element type and kind of product, for instance "float32 squares"."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        square = row["M"] == row["N"] == row["K"]
        kind = ("squares, beta = 1" if row["beta"] else "squares, transposed" if row["TRANSA"] or row["TRANSB"] else
                "squares" if square else "other shapes")
        found.setdefault(f"{row['dtype']} {kind}", []).append(row)
    return found


def mean(rows: Iterable[dict[str, Any]]) -> float:
    """Return the geometric mean of the ratios.

    >>> mean([{"ratio": 0.5}, {"ratio": 2.0}])
    1.0
    """
    return math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))


def judgement(rows: Sequence[dict[str, Any]]) -> str:
    """Return how the chosen parameters compare with the best known, or nothing where nobody asked.

    >>> judgement([{"to_best": 0.5}, {"to_best": 0.9}])
    '; chosen 0.671 of the best known, least 0.500'
    """
    ratios = [row["to_best"] for row in rows if "to_best" in row]
    return f"; chosen {statistics.geometric_mean(ratios):.3f} of the best known, least {min(ratios):.3f}" if ratios else ""


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the geometric means of the ratios and the worst of them, by element type and kind of product."""
    lines = []
    for name, members in groups(rows).items():
        worst = min(members, key=lambda row: row["ratio"])
        lines.append(f"{name:32} {mean(members):.3f} of cuBLAS's speed over {len(members)}; least {worst['ratio']:.3f} at "
                     f"{worst['M']} × {worst['N']} × {worst['K']}; wrong {sum(row['wrong'] > 0 for row in members)}{judgement(members)}")
    return "\n".join(lines)
