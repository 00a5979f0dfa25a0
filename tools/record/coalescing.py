"""Record the copies and products of lesson 05.

They answer on a real GPU what the lesson leaves open, and differ in one thing each; Nsight Compute counts.

Writes coalescing.json into the output folder. Questions and rows:

\b
- does the time of a copy follow sectors, at every stride from 1 to 32, and at which distance does it leave them? `copy`, `count`
- do wider loads win by fewer requests, fewer threads, or more bytes under way? `loads`: VEC, LOADS at once, LOADS one after another
- is a fifth sector free because the L1 holds it? `loads` of copy_past_l1 with offsets, and the L2's sectors in `count`
- are the pieces of 64 bytes the L2's? `limit`: cudaLimitMaxL2FetchGranularity 32, 64, 128; bytes from DRAM in `count`
- is it the reach of the copy and not the distance? `footprint`: fewer floats at the same stride
- what does line 29 alone cost, and what do padded rows? `product`: variants of sgemm_uncoalesced; the two naive kernels and
  sgemm_tiled with padded rows
"""

import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import toolchain
from course_lib.kernels import get
from course_lib.run.copies import needed
from tools import ROOT, ToolError, again
from tools.nsight import number
from tools.nsight import watched as watched_by_ncu
from tools.options import out_option
from tools.recordings import write_recording

MANY, FEWER = 2**26, (2**22, 2**24)      # floats that are copied; for `footprint`, and the larger for `count`
MOST_STRIDE, THREADS = 32, 256
FETCH_LIMIT = 5                          # cudaLimitMaxL2FetchGranularity
LIMITS = (32, 64, 128)                   # bytes
METRICS = {
    "gpu__time_duration.sum": "nanoseconds", "smsp__inst_executed.sum": "instructions",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "load_requests", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "load_sectors",
    "lts__t_sectors_srcunit_tex_op_read.sum": "l2_sectors_read", "dram__bytes_read.sum": "dram_bytes_read",
    "dram__bytes_write.sum": "dram_bytes_written", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
}
OWN = Path(__file__).with_name("coalescing.cu")
DOWN = "Bs[tx][ty] = k0 + tx < K && b_col < N ? B[(k0 + tx) * ldb + b_col] : 0.0f;"
ALONG = "Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * ldb + col] : 0.0f;"
Row = dict[str, Any]
Dim = tuple[int, int, int]


# ---- the plan: rows that say what to launch --------------------------------------------------------------------------------------

def copy(n: int = MANY, stride: int = 1, offset: int = 0, VEC: int = 1, what: str = "copy") -> Row:
    """Return the row of a launch of copy_strided."""
    return {"what": what, "kernel": "copy_strided", "n": n, "stride": stride, "offset": offset, "VEC": VEC}


def loads(kernel: str = "copy_loads", n: int = MANY, **macros: int) -> Row:
    """Return the row of a launch of a kernel of coalescing.cu; macros: VEC, LOADS, TOGETHER, OFFSET."""
    return {"what": "loads", "kernel": kernel, "n": n, "VEC": 1, "LOADS": 1, "TOGETHER": 1, "OFFSET": 0} | macros


def copies() -> list[Row]:
    """Return the rows of copies that are timed, all in turn."""
    rows = [copy(stride=stride) for stride in range(1, MOST_STRIDE + 1)]
    rows += [copy(stride=stride, VEC=VEC) for VEC in (2, 4) for stride in (*range(1, 9), 12, 16, 24, 32)]
    rows += [copy(offset=offset) for offset in (*range(1, 9), 12, 16, 20, 24, 28, 32)]
    rows += [copy(offset=offset, VEC=4) for offset in (4, 8, 16, 32)]
    rows += [loads(VEC=VEC, LOADS=many) for VEC, many in itertools.product((1, 2, 4), (1, 2, 4))] + [loads(LOADS=8)]
    rows += [loads(LOADS=many, TOGETHER=0) for many in (2, 4, 8)] + [loads("copy_quads", VEC=4)]
    rows += [loads("copy_past_l1", OFFSET=offset) for offset in (0, 1, 4, 8, 32)]
    return rows + [copy(n, stride, what="footprint") for n in (*FEWER, MANY) for stride in (8, 16, 32)]


def products(N: int) -> list[Row]:
    """Return the rows of products that are timed."""
    variants = ("naive", "swapped", "down", "down, unpadded", "along", "along, transposed", "along, transposed, padded", "tiled")
    return [{"what": "product", "N": N, "variant": variant, "TILE": TILE, "padding": pad}
            for TILE in (16, 32) for variant in variants for pad in ((0, 1, 4, 8) if variant in ("naive", "swapped", "tiled") else (0,))]


def watched(limit: int) -> list[Row]:
    """Return the rows that Nsight Compute counts; with a limit only the copies that it should change, and one that it should not."""
    n = FEWER[-1]
    if limit:
        return [copy(n, stride) for stride in (1, 8, 16, 32)]
    rows = [copy(n, stride) for stride in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)] + [copy(n, offset=offset) for offset in (1, 2, 4, 8, 16)]
    rows += [copy(n, stride, VEC=VEC) for VEC in (2, 4) for stride in (1, 2, 4, 8)]
    rows += [loads("copy_quads", n, VEC=4)] + [loads("copy_past_l1", n, OFFSET=offset) for offset in (0, 1, 8)]
    return rows + products(1024)


def source(row: Row) -> tuple[str, str, dict[str, int]]:
    """Return (text, entry, macros) of the kernel of a row.

    "down" reads B down its columns; "along" differs from it in that line alone, and the others are the catalog's.
    """
    if row["what"] == "loads":
        return OWN.read_text(), row["kernel"], {name: row[name] for name in ("VEC", "LOADS", "TOGETHER", "OFFSET")}
    if "variant" not in row:
        kernel = get("copy_strided")
        return kernel.source, kernel.entry, {"VEC": row["VEC"], "THREADS": THREADS}
    down, TILE = get("sgemm_uncoalesced").source, row["TILE"]
    catalog = {"naive": ("sgemm_naive", {}), "swapped": ("sgemm_swapped", {}),
               "tiled": ("sgemm_tiled", {"BM": TILE, "BN": TILE, "BK": TILE}),
               "along, transposed": ("sgemm_coalesced", {"TILE": TILE}),
               "along, transposed, padded": ("sgemm_padded", {"TILE": TILE, "PAD": 1})}
    if row["variant"] in catalog:
        name, macros = catalog[row["variant"]]
        return get(name).source, name, macros
    edits = {"down": ("", ""), "down, unpadded": ("[TILE + 1]", "[TILE]"), "along": (DOWN, ALONG)}
    old, new = edits[row["variant"]]
    if old not in down:
        raise ToolError(f"sgemm_uncoalesced.cu has changed: it no longer has {old!r}")
    return down.replace(old, new) if old else down, "sgemm_uncoalesced", {"TILE": TILE}


def shape(row: Row) -> tuple[Dim, Dim]:
    """Return (grid, block) of a row."""
    if "variant" in row:
        blocks = row["N"] // row["TILE"]
        return (blocks, blocks, 1), (row["TILE"], row["TILE"], 1)
    each = row["VEC"] * row.get("LOADS", 1)
    return (row["n"] // each // THREADS, 1, 1), (THREADS, 1, 1)


# ---- on the GPU --------------------------------------------------------------------------------------------------------------------

class Store:
    """Arrays on the GPU: numbered floats to copy, and matrices of one size with padded rows."""

    def __init__(self, rows: list[Row]) -> None:
        import cupy
        reach = [needed(r["n"], r.get("stride", 1), r.get("offset", r.get("OFFSET", 0)), r["VEC"]) for r in rows if "n" in r]
        self.numbers = cupy.arange(max(reach, default=0) + 64, dtype=cupy.uint32)
        self.out = cupy.empty(max((r["n"] for r in rows if "n" in r), default=0), cupy.uint32)
        self.matrices: dict[int, Any] = {}

    def product(self, N: int, padding: int) -> tuple[Any, ...]:
        """Return (A, B with padded rows, C, A B in float64)."""
        import cupy
        rng = np.random.default_rng(N)
        if N not in self.matrices:
            A, B = (cupy.asarray(rng.standard_normal((N, N), np.float32)) for _ in range(2))
            self.matrices = {N: (A, B, cupy.empty((N, N), cupy.float32), A.astype(float) @ B.astype(float), {})}
        A, B, C, exact, padded = self.matrices[N]
        if padding not in padded:
            padded[padding] = [cupy.pad(x, ((0, 0), (0, padding))) for x in (A, B)]
        return *padded[padding], C, exact


def prepared(row: Row, store: Store) -> tuple[Callable[[], None], Callable[[], bool]]:
    """Return (launch, check) of a row."""
    import cupy

    from course_lib import gpu
    from course_lib.gpu.launch import prepare_function
    text, entry, macros = source(row)
    function = prepare_function(toolchain.compile_cuda(text, name=f"{entry}.cu", arch=gpu.probe().arch, defines=macros), entry, 0, None)
    grid, block = shape(row)
    if "variant" in row:
        A, B, C, exact = store.product(row["N"], row["padding"])
        ld, N = np.int32(A.shape[1]), np.int32(row["N"])
        args = (N, N, N, np.float32(1), A, ld, B, ld, np.float32(0), C, N)
        return lambda: function(grid, block, args), lambda: bool((abs(C - exact) < 1e-6 * row["N"]).all())
    n, stride, VEC = row["n"], row.get("stride", 1), row["VEC"]
    offset = row.get("offset", row.get("OFFSET", 0))
    args = (np.int32(n), store.numbers, np.int32(offset), np.int32(stride), store.out) if row["kernel"] == "copy_strided" else (
        store.numbers, store.out)

    def check() -> bool:
        j = cupy.arange(n, dtype=cupy.int64)
        return bool((store.out[:n] == offset + VEC * stride * (j // VEC) + j % VEC).all())
    return lambda: function(grid, block, args), check


def timed(rows: list[Row], rounds: int, launches: int) -> list[Row]:
    """Return the rows with times: all in turn, `rounds` times, so that whatever drifts meets them all alike."""
    import cupy
    store = Store(rows)
    cases, samples, right = [prepared(row, store) for row in rows], [[] for _ in rows], []
    for launch, check in cases:
        launch()
        right.append(check())
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    for _ in range(rounds):
        for (launch, _), found in zip(cases, samples, strict=True):
            start.record()
            for _ in range(launches):
                launch()
            stop.record()
            stop.synchronize()
            found.append(cupy.cuda.get_elapsed_time(start, stop) / 1e3 / launches)
    quartiles = [[float(f"{s:.5g}") for s in np.percentile(found, [25, 50, 75])] for found in samples]
    return [row | {"median_s": median, "low_s": low, "high_s": high, "repeats": rounds, "correct": good}
            for row, (low, median, high), good in zip(rows, quartiles, right, strict=True)]


def child(what: str, limit: int) -> None:
    """Set the limit in this process, which does nothing else, then launch what is watched, or time copies and print their rows."""
    import cupy
    cupy.zeros(1)
    if limit:
        cupy.cuda.runtime.deviceSetLimit(FETCH_LIMIT, limit)
    if what == "watched":
        store = Store(watched(limit))
        for row in watched(limit):
            prepared(row, store)[0]()
        cupy.cuda.get_current_stream().synchronize()
        return
    rows = timed([copy(stride=stride, what="limit") for stride in (1, 2, 4, 8, 16, 32)], 11, 3)
    print(json.dumps([row | {"limit": limit, "limit_now": cupy.cuda.runtime.deviceGetLimit(FETCH_LIMIT)} for row in rows]))


def child_words(what: str, limit: int) -> list[object]:
    """Return what comes after `python -m tools` to run this tool for one limit, in a process of its own."""
    return ["record", "coalescing", "--child", what, "--limit", limit]


def limited(limit: int) -> list[Row]:
    """Return the rows of copies that are timed with a limit."""
    answer = subprocess.run(again(*child_words("limit", limit)), cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(answer.stdout.strip().splitlines()[-1])


def counted(limit: int, out: Path) -> list[Row]:
    """Return the rows with what Nsight Compute counts."""
    rows = watched(limit)
    found = watched_by_ncu(child_words("watched", limit), METRICS, [source(row)[1] for row in rows], out / f"ncu_{limit}.csv",
                           "^(copy_(strided|loads|quads|past_l1)|sgemm_)", patience=120)
    return [row | {"of": row["what"], "what": "count", "limit": limit}
            | {ours: number(there[metric]) for metric, ours in METRICS.items() if metric in there}
            for row, there in zip(rows, found, strict=True)]


@click.command()
@out_option("coalescing")
@click.option("--child", "what", type=click.Choice(["limit", "watched"]), hidden=True)
@click.option("--limit", default=0, hidden=True)
def command(out: Path, what: str | None, limit: int) -> None:
    """Record, or be the process that has a limit."""
    if what:
        child(what, limit)
    else:
        record(out)


def record(out: Path) -> None:
    """Record everything; what fails is printed, and the rest is written."""
    from course_lib import gpu
    from course_lib.bench.fingerprint import fingerprint_of
    out.mkdir(parents=True, exist_ok=True)
    parts = [lambda: timed(copies(), 21, 3), lambda: timed(products(1024), 15, 5), lambda: timed(products(4096), 5, 1)]
    parts += [lambda limit=limit: limited(limit) for limit in LIMITS]
    parts += [lambda limit=limit: counted(limit, out) for limit in (0, *LIMITS)]
    rows, failed = [], []
    for part in parts:
        try:
            rows += part()
        except Exception as error:
            failed.append(f"{type(error).__name__}: {error} {getattr(error, 'stderr', '')}"[:1500])
    names = ("copy_strided", "sgemm_naive", "sgemm_uncoalesced", "sgemm_coalesced", "sgemm_padded", "sgemm_tiled")
    status, sources = gpu.probe(), {name: fingerprint_of(get(name)) for name in names}
    write_recording(out, "coalescing", rows, sources, "record coalescing", status.name, status.driver)
    print(f"{len(rows)} rows", *failed, sep="\n")
    sys.exit(bool(failed) or not all(row.get("correct", True) for row in rows))
