"""The commands of `python -m course_lib.bench` that sweep: their arguments, and what they print."""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from course_lib.bench import pipeline, plans, race, recording, shapes, sharing, stages, training, tried, tune, warpgroups
from course_lib.bench.sweep import Sweep, sweep
from course_lib.bench.tasks import L2_STATES, Task
from course_lib.bench.tuned import TUNED_SIZES
from course_lib.data import Record
from course_lib.data.readings import dumps
from course_lib.errors import CourseError
from course_lib.gpu.timing import seconds
from course_lib.run.launch import choose_backend

MOST_ROWS = 40
say = partial(print, flush=True)
STOPPED = 130       # exit status after Ctrl-C
EXECUTED = "smsp__inst_executed.sum"
PLANS = {
    "ladder": "every rung of the ladder, at N = 256 … 8192",
    "sizes": "kernels at many sizes; default Wang and Jin's kernels at their twenty sizes",
    "tiles": "every combination of a kernel's tile and block sizes; those that break a rule are skipped",
    "warps": "the homework's kernels of many vectors with 4 to 32 warps a block",
    "active": "Chien's kernels with 192 to 1024 threads at a time on an SM; blocks are given shared memory to keep others off",
    "threads": "programs for the CPU with 1, 2, 4, … threads",
}


def add_parsers(benchmarks: Any) -> None:
    """Add a subcommand for each sweep, and those that record."""
    for name, what in PLANS.items():
        command = benchmarks.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".",
                                        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        command.add_argument("--kernels", type=_names, metavar="A,B", help="names of the catalog instead of the usual ones")
        command.add_argument("--sizes", type=_numbers, metavar="N,N", help="sizes of the matrices, or numbers of vectors")
        command.add_argument("--backend", choices=("gpu", "sim", "cpu"),
                             help="gpu: times; sim: counters without times; cpu: programs for the CPU. None: a GPU when one works")
        command.add_argument("--l2", choices=L2_STATES, default="warm", help="what the L2 holds before a sample, on a GPU")
        command.add_argument("--budget", type=float, default=1.0, metavar="S", help="seconds to measure each kernel")
        command.add_argument("--out", type=Path, metavar="FILE", help="keep each record there at once, a line of JSON each")
        command.add_argument("--resume", action="store_true", help="go on with FILE: what it holds is not measured again")
        if name == "tiles":
            command.add_argument("--choose", type=_choice, action="append", default=[], metavar="BM=64,128",
                                 help="values of a parameter instead of those of its slider; may be repeated")
        if name in ("warps", "active", "threads"):
            command.add_argument("--counts", type=_numbers, metavar="4,8", help=f"numbers of {name}")
    _add_recording(benchmarks)
    training.add_parser(benchmarks)
    fastest = benchmarks.add_parser("race", help="the course's fastest kernels against cuBLAS, in turn, on this machine's GPU")
    fastest.add_argument("--sizes", type=_numbers, metavar="N,N", help="square matrices of these sizes and nothing else")
    fastest.add_argument("--dtypes", type=_names, default=tuple(race.CONTESTANTS), metavar="A,B", help="element types")
    fastest.add_argument("--chosen", action="store_true", help="run what course_lib.run.choose chooses instead of trying every tile")
    fastest.add_argument("--held-out", type=int, metavar="SEED", help="products that a seed draws and the table of choices does not have: "
                         "what is chosen against the fastest of all, and against cuBLAS")
    fastest.add_argument("--count", type=int, default=shapes.HELD_OUT, help="how many of those, for each element type")
    fastest.add_argument("--warpgroups", action="store_true", help="bfloat16, FP8, and float32 as three bfloat16; three times")
    fastest.add_argument("--out", type=Path, metavar="FILE", help="write the readings there")
    shared = benchmarks.add_parser("sharing", help="one kernel, its work shared out in tiles, split along K, and evenly; and its mistakes")
    shared.add_argument("--out", type=Path, metavar="FILE", help="write the readings there")
    ahead = benchmarks.add_parser("stages", help="lesson 17's kernels with more and more stages, and cuBLAS, on this machine's GPU")
    ahead.add_argument("--sizes", type=_numbers, metavar="N,N", help="square matrices of these sizes")
    ahead.add_argument("--out", type=Path, metavar="FILE", help="write the readings there")
    taken = benchmarks.add_parser("pipeline", help="a step of lesson 17's kernel in cycles: copies alone, products alone, both")
    taken.add_argument("--reader", type=Path, metavar="FILE", help="the kernel of the lesson's cell, which is measured, too")
    taken.add_argument("--out", type=Path, metavar="FILE", help="write the readings there")
    _add_tune(benchmarks)
    many = benchmarks.add_parser("shapes", help="every tile for products of many shapes, which a seed draws, on this machine's GPU")
    many.add_argument("--seed", type=int, help="that draws the products which the dispatcher's table is not made from")
    many.add_argument("--held-out", type=int, metavar="COUNT", help="of them, for each element type")
    many.add_argument("--dtypes", type=_names, default=tuple(race.CONTESTANTS), metavar="A,B", help="element types")
    many.add_argument("--out", type=Path, required=True, metavar="FILE", help="write the readings there")


def _add_tune(benchmarks: Any) -> None:
    best = benchmarks.add_parser("tune", help="the fastest parameters of a kernel for each of some products; what cannot win is pruned",
                                 formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    best.add_argument("--kernel", default="sgemm_stream_k", help="a name of the catalog")
    best.add_argument("--sizes", type=_products, default=((1024,) * 3,), metavar="512,100x200x300", help="N of squares, or M×N×K with an x")
    best.add_argument("--transa", action="store_true", help="A is stored transposed")
    best.add_argument("--transb", action="store_true", help="B is stored transposed")
    best.add_argument("--backend", choices=("gpu", "sim"), help="gpu: times; sim: counters and modelled times. None: a GPU when one works")
    best.add_argument("--budget", type=float, default=tune.BUDGET_S, metavar="S", help="seconds to measure each combination")
    best.add_argument("--workers", type=int, default=1, metavar="P", help="processes; more than one GPU is for Dask, see docs/sweeps.md")
    best.add_argument("--all", action="store_true", help="prune nothing")
    best.add_argument("--out", type=Path, metavar="FILE", help="keep each result there at once, a line of JSON each")
    best.add_argument("--resume", action="store_true", help="go on with FILE: what it holds is not measured again")
    best.add_argument("--chart", type=Path, metavar="FILE.svg", help="draw the best of each product")


def _add_recording(benchmarks: Any) -> None:
    command = benchmarks.add_parser("record", help="everything that course_lib/data/ shows, on this machine's GPU")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="the records, a line of JSON each")
    command.add_argument("--resume", action="store_true", help="go on with FILE")
    command.add_argument("--budget", type=float, default=0.15, metavar="S", help="seconds to measure each kernel")
    command.add_argument("--deadline", type=float, metavar="S", help="stop after so many seconds; --resume goes on")
    keep = benchmarks.add_parser("keep", help="sort what `record` wrote into course_lib/data/")
    keep.add_argument("file", type=Path)
    for one in (command, keep):
        one.add_argument("--only", type=_names, default=(), metavar="NAME,NAME", help="these files of course_lib/data/ and no other")


def run(wanted: argparse.Namespace) -> int:
    """Carry out one of these commands; return its exit status."""
    own = {"train": training.main, "race": _race, "tune": _tune, "shapes": _shapes, "sharing": _sharing, "stages": _stages,
           "pipeline": _pipeline}
    if wanted.benchmark in own:
        return own[wanted.benchmark](wanted)
    if wanted.benchmark == "record":
        print(recording.conditions(), flush=True)
        left = recording.record(wanted.out, resume=wanted.resume, budget_s=wanted.budget, deadline_s=wanted.deadline,
                                say=say, groups=recording.chosen(wanted.only, wanted.budget))
        print(f"{left} measurements are left: --resume goes on" if left else "all is recorded")
        return 0
    if wanted.benchmark == "keep":
        stored = recording.keep(wanted.file, groups=recording.chosen(wanted.only))
        print(", ".join(f"{name}.json {count}" for name, count in stored.items()))
        return 0
    found = sweep(tasks(wanted), out=wanted.out, resume=wanted.resume)
    print(text(found, wanted.out))
    return STOPPED if found.interrupted else 1 if found.failed else 0


def _race(wanted: argparse.Namespace) -> int:
    """Run the race, print its table, keep its readings; the status is 1 when an answer was wrong."""
    choose_backend("gpu")
    judged = wanted.held_out is not None
    if wanted.warpgroups:
        found = warpgroups.race(wanted.sizes or warpgroups.SIZES, say)
    else:
        wanted_heats = (shapes.held_out(wanted.held_out, wanted.count, wanted.dtypes) if judged
                        else race.heats(wanted.sizes or TUNED_SIZES, wanted.dtypes, others=not wanted.sizes))
        found = race.race(wanted_heats, say=say, chosen=wanted.chosen, judged=judged)
    if wanted.out:
        wanted.out.write_text(dumps(found), encoding="utf-8")
    rows = [row | {"dtype": row["kernel"]} for row in found.rows] if wanted.warpgroups else found.rows     # two kernels can be of one type
    print(f"{race.table(rows)}\n{found.device}, driver {found.driver}, {found.date}; {found.made_by}")
    return int(any(row["wrong"] for row in found.rows))


def _tune(wanted: argparse.Namespace) -> int:
    """Tune a kernel, print its table and draw its chart."""
    options = {"backend": wanted.backend, "out": wanted.out, "resume": wanted.resume, "budget_s": wanted.budget, "prune": not wanted.all}
    with ProcessPoolExecutor(wanted.workers) if wanted.workers > 1 else nullcontext() as executor:
        found = tune.tune(wanted.kernel, wanted.sizes, (wanted.transa, wanted.transb), executor=executor, at_once=wanted.workers, **options)
    print(tune.table(found))
    if wanted.chart and found.best:
        tune.chart(found, wanted.chart)
    return STOPPED if found.found.interrupted else int(bool(found.found.failed))


def _shapes(wanted: argparse.Namespace) -> int:
    """Try all tiles for many shapes and keep the readings; the status is 1 when an answer was wrong."""
    choose_backend("gpu")
    found = tried.try_all(tried.wanted(wanted.seed, wanted.held_out, wanted.dtypes), say=say)
    wanted.out.write_text(dumps(found), encoding="utf-8")
    return int(any(row.get("wrong") for row in found.rows))


def _sharing(wanted: argparse.Namespace) -> int:
    """Measure how the work can be shared out, keep the readings; the status is 1 when a right kernel's answer was wrong."""
    choose_backend("gpu")
    found = sharing.record(say=say)
    if wanted.out:
        wanted.out.write_text(dumps(found), encoding="utf-8")
    return int(any(row["wrong"] for row in found.rows if row["kind"] == "time"))


def _stages(wanted: argparse.Namespace) -> int:
    """Measure lesson 17's kernels and keep the readings; the status is 1 when an answer was wrong."""
    choose_backend("gpu")
    found = stages.record(say=say, sizes=wanted.sizes or stages.SIZES)
    if wanted.out:
        wanted.out.write_text(dumps(found), encoding="utf-8")
    print(f"{found.device}, driver {found.driver}, {found.date}; {found.made_by}")
    return int(any(row["wrong"] for row in found.rows))


def _pipeline(wanted: argparse.Namespace) -> int:
    """Measure what a step of lesson 17's kernel waits for and keep the readings; the status is 1 when an answer was wrong."""
    choose_backend("gpu")
    reader = wanted.reader.read_text(encoding="utf-8") if wanted.reader else ""
    found = pipeline.record(say=say, reader=reader)
    if wanted.out:
        wanted.out.write_text(dumps(found), encoding="utf-8")
    return int(any(row["wrong"] for row in found.rows))


def tasks(wanted: argparse.Namespace) -> list[Task]:
    """Return the tasks that the arguments ask for."""
    name, kernels, sizes = wanted.benchmark, wanted.kernels, wanted.sizes
    how = {"backend": wanted.backend, "l2": wanted.l2, "budget_s": wanted.budget}
    given = {key: value for key, value in (("kernels", kernels), ("sizes", sizes)) if value}
    if name == "ladder":
        if kernels:
            return plans.over_sizes(kernels, sizes or plans.POWERS, **how)
        return plans.ladder(**given, **how)
    if name == "sizes":
        return plans.over_sizes(kernels, sizes or plans.WANG_SIZES, **how) if kernels else plans.wang(**given, **how)
    if name == "tiles":
        return [t for kernel in kernels or ("sgemm_tiled",) for size in sizes or (1024,)
                for t in plans.tiles(kernel, size, dict(wanted.choose), **how)]
    counts = {"counts": wanted.counts} if wanted.counts else {}
    if name == "warps":
        return [t for size in sizes or (plans.VECTORS,) for t in plans.warps(kernels or plans.MXV, size, **counts, **how)]
    if name == "active":
        return plans.active(**given, **counts, **how | {"backend": wanted.backend or "gpu"})
    return plans.threads(**given, **counts, **how)


def text(found: Sweep, out: Path | None = None) -> str:
    """Return a short table of a sweep: all its records, or the fastest of each kernel and size when they are many."""
    rows = list(found.done)
    note = ""
    if len(rows) > MOST_ROWS:
        fastest: dict[tuple[str, int, int, int, str], Record] = {}
        for r in rows:
            best = fastest.setdefault((r.kernel, r.M, r.N, r.K, r.dtype), r)
            if (r.median_s or 0) < (best.median_s or 0):
                fastest[r.kernel, r.M, r.N, r.K, r.dtype] = r
        rows, note = list(fastest.values()), f"the fastest of each kernel and size; {len(found.done)} records in all"
    lines = _table(rows)
    lines += [f"{r.kernel} N = {r.N} {_values(r)}: {r.state}, {r.problem}" for r in (found.failed + found.skipped)[:MOST_ROWS // 4]]
    many = {"failed": len(found.failed), "skipped": len(found.skipped), "not measured again": found.reused,
            "left when it was stopped": found.planned - len(found.records)}
    end = [f"{len(found.done)} done", *(f"{count} {what}" for what, count in many.items() if count)]
    where = {f"{r.device}, driver {r.driver}, {r.date}, L2 {r.l2}" if r.driver else f"{r.device}, {r.date}" for r in found.done}
    lines += [note] * bool(note) + sorted(where) + [", ".join(end) + (f"; {out}" if out else "")]
    return "\n".join(lines)


def _table(rows: Sequence[Record]) -> list[str]:
    header = ("kernel", "N", "parameters", "median", "quartiles", "GFLOP/s", "GB/s")
    cells = [header] + [(r.kernel, str(r.N), _values(r), *_times(r), _number(r.gflops), _number(r.gb_s)) for r in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    return ["  ".join(cell.ljust(w) if i in (0, 2) else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip()
            for row in cells]


def _times(r: Record) -> tuple[str, str]:
    if r.median_s is None or r.low_s is None or r.high_s is None:
        return "no time", f"{r.counters[EXECUTED]:,} instructions" if EXECUTED in r.counters else ""
    return seconds(r.median_s), f"{seconds(r.low_s)} … {seconds(r.high_s)}"


def _values(r: Record) -> str:
    return ", ".join(f"{name}={value}" for name, value in r.parameters.items()) or (r.dtype if r.kernel == "cuBLAS" else "")


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:,.1f}" if x < 100 else f"{x:,.0f}"


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers such as 256,512") from None


def _products(text: str) -> tuple[tuple[int, int, int], ...]:
    found = []
    for word in text.replace("×", "x").split(","):
        numbers = word.split("x")
        if len(numbers) not in (1, 3) or not all(n.isdecimal() and int(n) for n in numbers):
            raise argparse.ArgumentTypeError(f"{word!r} is no product: write 512 for a square, or 100x200x300 for M × N × K")
        M, N, K = (int(n) for n in (numbers * 3)[:3])
        found.append((M, N, K))
    return tuple(found)


def _choice(text: str) -> tuple[str, tuple[int, ...]]:
    name, equals, values = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is no choice such as BM=64,128")
    return name, _numbers(values)


def main(wanted: argparse.Namespace) -> int:
    """Run a command and turn errors into a sentence and an exit status."""
    try:
        return run(wanted)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped" if wanted.benchmark == "train" else "stopped; --resume goes on", file=sys.stderr)
        return STOPPED
