"""Write docs/time-bound.md: the model's lower bounds.

The modelled lower bound of every recorded product beside its recorded time.

Only the tables are written; the rest of the page stays as it is.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from course_lib.arch import device
from course_lib.data import load, readings
from course_lib.kernels import KERNELS, get, ladder
from course_lib.model.bound import MEANING, Bound, Work, l1_wavefronts, lower_bound, product_sectors
from course_lib.run import kernel_reads, run
from course_lib.run.shared_steps import shared_work
from course_lib.toolchain import shortest_path
from tools import ROOT
from tools.pages import Part, page_command

PAGE = ROOT / "docs" / "time-bound.md"
TABLES = Part("<!-- written by python -m tools page time-bound -->", "<!-- end of tables -->")
DEPTHS = (64, 128)                 # two values of K: every count is a straight line in K
SIZES = (256, 512, 768, 640, 1280, 1536, 2048)     # of C; the first that a kernel covers with whole blocks is simulated
LADDER = tuple(kernel.name for kernel in ladder.kernels())
FILES = ("ladder", "wang", "wong", "chien", "orders")

Row = tuple[str, float, Bound]     # kernel, recorded seconds, bound


@cache
def counted(name: str, parameters: tuple[tuple[str, Any], ...] = (), shift: int = 0) -> tuple[dict[str, float], dict[str, float], Any]:
    """Return (counters per block at K = 0, counters per block and unit of K, result) from two simulated launches.

    The rows of A and B begin `shift` elements behind a multiple of 32: only that decides on sectors and on banks.
    """
    kernel, values = get(name), dict(parameters)
    p = kernel.check(**values)
    tile = (p["THREADS"] * p["VECTORS"] * p["GAP"], p["COLS"]) if kernel.layout == "column" else (1, 1)
    S = next(S for S in SIZES if kernel.sizes_of(S, S, DEPTHS[0], p) is None and S % tile[0] == S % tile[1] == 0)
    found = []
    for K in DEPTHS:
        A, B = np.ones((S, K + shift), kernel.dtype)[:, :K], np.ones((K, S + shift), kernel.dtype)[:, :S]
        warps = -(-math.prod(kernel.block(**values)) // 32)
        result = run(kernel, A, B, backend="sim", trace=[(0, warp) for warp in range(warps)], **values)
        blocks = math.prod(result.grid)
        found.append({n: c / blocks for n, c in result.counters.items()} | {"l1_wavefronts": traced_wavefronts(result)})
    slope = {n: (found[1][n] - found[0][n]) / (DEPTHS[1] - DEPTHS[0]) for n in found[0]}
    return {n: found[0][n] - slope[n] * DEPTHS[0] for n in slope}, slope, result


def traced_wavefronts(result: Any) -> int:
    """Return the wavefronts of the traced block's global requests in the L1."""
    return sum(l1_wavefronts(record.addresses[record.addresses >= 0], record.width)
               for record in result.trace if record.space == "global" and record.width)


def work(name: str, N: int, parameters: tuple[tuple[str, Any], ...] = ()) -> Work:
    """Return the Work of a product of N × N matrices, beta 0."""
    kernel, values = get(name), dict(parameters)
    base, slope, result = counted(name, parameters, N % 32 if kernel.layout == "row" else 0)
    grid, threads = kernel.grid(N, N, **values), math.prod(kernel.block(**values))
    blocks, warps = math.prod(grid), -(-threads // 32)

    def total(what: str, kinds: tuple[str, ...] = ("ld", "st")) -> float:
        names = [what.format(kind) for kind in kinds]
        return blocks * sum(base[n] + slope[n] * N for n in names)

    op = "dfma" if kernel.dtype == "float64" else "ffma"
    fmas = total("smsp__sass_thread_inst_executed_op_" + op + "_pred_on.sum", ("",)) / 32
    requests = total("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", ("ld",))
    way = shortest_path(kernel, requests / fmas, **values)
    elements = N * N / blocks
    across = N / grid[0] if kernel.layout == "row" else N / grid[1]      # the side of a block's tile; its area is all that is left
    size = 8 if op == "dfma" else 4
    block_sectors, launch_sectors = product_sectors(elements / across, across, N, N, N, size)
    return Work(blocks, fmas, fmas * way.per_multiply_add, total("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"),
                total("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"), total("l1_wavefronts", ("",)), block_sectors, launch_sectors,
                requests / blocks / warps / way.loads if way.loads else 0.0, result.occupancy.blocks, op == "dfma",
                operand_cycles=1.0 if op == "dfma" else kernel_reads(kernel, **values).step.per_multiply_add)


def latency() -> float:
    """Return the fewest recorded cycles of a load that the L2 answers."""
    return min(row["low"] for row in readings("micro").find(kernel="micro_global", footprint=2**20))


def recorded(N: int) -> dict[str, Any]:
    """Return the records of all products of N × N matrices, defaults of their parameters, one for each kernel."""
    found = {}
    for name in FILES:
        for r in load(name).find(N=N, kind="product"):
            if r.kernel in KERNELS and r.state == "done" and r.parameters == get(r.kernel).check() and r.M == r.K == N:
                found.setdefault(r.kernel, r)
    return found


def comparison(N: int) -> list[Row]:
    """Return rows (kernel, recorded seconds, Bound), fastest first."""
    on = device("H200")
    rows = [(name, r.median_s, lower_bound(work(name, N), on, latency())) for name, r in recorded(N).items()]
    return sorted(rows, key=lambda row: row[1])


def unrolling(N: int) -> list[Row]:
    """Return such rows for every recorded UNROLL and tile."""
    on, rows = device("H200"), []
    for r in load("unrolling").find(N=N, kind="product"):
        bound = lower_bound(work(r.kernel, N, tuple(r.parameters.items())), on, latency())
        rows.append((f"{r.kernel}: " + ", ".join(f"{name} = {value}" for name, value in r.parameters.items()), r.median_s, bound))
    return sorted(rows, key=lambda row: row[1])


def time_table(rows: list[Row]) -> str:
    """Return the table of such rows: recorded, bound, ratio, what binds, every term; below it, how many pairs are ranked as recorded."""
    order = {name: i + 1 for i, (name, _, _) in enumerate(sorted(rows, key=lambda row: row[2].seconds))}
    terms = [term for term in MEANING if any(term in bound.terms for *_, bound in rows)]
    lines = [f"| kernel | recorded ms | bound ms | bound / recorded | binds | rank recorded | rank bound | {' | '.join(terms)} |",
             "|---|--:|--:|--:|---|--:|--:|" + "--:|" * len(terms)]
    for place, (name, seconds, bound) in enumerate(rows, 1):
        cells = (f"{bound.terms[t] * 1e3:.3f}" if t in bound.terms else "" for t in terms)
        lines.append(f"| `{name}` | {seconds * 1e3:.3f} | {bound.seconds * 1e3:.3f} | {bound.seconds / seconds:.2f} | {bound.binds} | "
                     f"{place} | {order[name]} | " + " | ".join(cells) + " |")
    rungs = [row for row in rows if row[0] in LADDER]
    return "\n".join(lines) + f"\n\nAll rows: {agreement(rows)}" + (f" The ladder alone: {agreement(rungs)}" if rungs else "")


def agreement(rows: list[Row]) -> str:
    """Return a sentence on how well the bound ranks: pairs in the recorded order, of those that differ by more than 5 %."""
    pairs = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1:] if b[1] > 1.05 * a[1]]
    right = sum(b[2].seconds > a[2].seconds for a, b in pairs)
    return f"of {len(pairs)} pairs whose recorded times differ by more than 5 %, the bound puts {right} in the recorded order."


def race() -> list[tuple[dict[str, Any], Bound]]:
    """Return every recorded product of the kernels that share out steps, each with its Bound."""
    rows = []
    for row in readings("race").rows:
        M, N, K = (row[name] for name in "MNK")
        lda, ldb = (M if row["TRANSA"] else K), (K if row["TRANSB"] else N)
        done = shared_work(get(row["kernel"]), M, N, K, row["parameters"], lda=lda, ldb=ldb, beta=bool(row["beta"]))
        rows.append((row, lower_bound(done, device("H200"), latency())))
    return rows


def race_table() -> str:
    """Return the table of such products: size, operands, recorded, bound, ratio, what binds, and every term over the recorded time."""
    found = race()
    terms = [term for term in MEANING if any(bound.terms.get(term) for _, bound in found)]
    heads = ("kernel", "M × N × K", "operands", "tile", "blocks", "recorded µs", "bound µs", "bound / recorded", "binds", *terms)
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---|--:|--:|--:|--:|---|" + "--:|" * len(terms)]
    for row, bound in found:
        p, ours, least = row["parameters"], row["ours"], bound.seconds
        sizes, tile = (" × ".join(str(source[name]) for name in names) for source, names in ((row, "MNK"), (p, ("BM", "BN", "BK"))))
        operands = "".join("T" if row[name] else "N" for name in ("TRANSA", "TRANSB")) + (" + C" if row["beta"] else "")
        cells = (f"{bound.terms[t] / ours:.2f}" if bound.terms.get(t) else "" for t in terms)
        lines.append(f"| `{row['kernel']}` | {sizes} | {operands} | {tile} | {p['blocks']} | {ours * 1e6:.1f} | {least * 1e6:.1f} | "
                     f"{least / ours:.2f} | {bound.binds} | {' | '.join(cells)} |")
    return "\n".join(lines)


def reads_table() -> str:
    """Return the table of operand reads: every float32 kernel, its least cycles per multiply-add, and the speed that they allow."""
    lines = ["| kernel | FFMA, inner loop | cycles per FFMA, inner loop | whole step along K | allows, TFLOP/s |", "|---|--:|--:|--:|--:|"]
    for name, kernel in KERNELS.items():
        if kernel.dtype == "float32" and not kernel.inputs:
            reads = kernel_reads(kernel)
            lines.append(f"| `{name}` | {reads.inner.multiply_adds} | {reads.inner.per_multiply_add:.3f} | "
                         f"{reads.step.per_multiply_add:.3f} | {reads.step.tflops():.1f} |")
    return "\n".join(lines)


def traffic_table() -> str:
    """Return the table of the model's sectors and bytes beside Nsight Compute's."""
    lines = ["| kernel | N | L1 sectors read, simulator / ncu | instructions, shortest way / ncu | L2 sectors read, model / ncu | "
             "written, model / ncu | DRAM bytes read, model / ncu | DRAM bytes written, ncu |", "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for row in readings("traffic").rows:
        name, N = row["kernel"], row["N"]
        ours, size = work(name, N), 8 if get(name).dtype == "float64" else 4
        base, slope, _ = counted(name)
        read, stored = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", N * N * size / 32
        lines.append(f"| `{name}` | {N} | {ours.blocks * (base[read] + slope[read] * N) / row['l1_sectors_read']:.4f} | "
                     f"{ours.instructions / row['instructions']:.3f} | {(ours.block_sectors - stored) / row['l2_sectors_read']:.3f} | "
                     f"{stored / row['l2_sectors_written']:.3f} | {2 * N * N * size / row['dram_bytes_read']:.4f} | "
                     f"{row['dram_bytes_written']} |")
    return "\n".join(lines)


def body() -> str:
    """Return everything between the marks."""
    parts = [f"Device: H200 at {device('H200').clock_mhz:.0f} MHz; {load('ladder').label}; a load from L2 takes {latency():.0f} cycles."]
    for N in (4096, 1024):
        parts += [f"### N = {N}", time_table(comparison(N))]
    parts += ["### Unrolling, N = 4096", time_table(unrolling(4096))]
    parts += ["### The two kernels that copy ahead", f"{readings('race').label}, with the parameters that won there. N: as it is, "
              "T: transposed; each term is given over the recorded time.", race_table()]
    parts += ["### The traffic beside Nsight Compute", f"{readings('traffic').label}, caches empty at the start.", traffic_table()]
    parts += ["### Operand reads, estimated from the machine code that the compiler here makes", reads_table()]
    return "\n\n".join(parts)


def page(text: str) -> str:
    """Return the page's text with the tables written anew."""
    return TABLES.renewed(text, body())


command = page_command(PAGE, page)
