"""Record a training run on a GPU: losses and iterations a second of separate and fused kernels and of the library."""

import datetime
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from course_lib import gpu
from course_lib.bench.measure import sentence
from course_lib.data.readings import Readings, dumps
from course_lib.errors import CourseError
from course_lib.toolchain import cpu_count, cpu_name
from course_lib.training import CLOSE, KINDS, STEP_CLOSE, Setting, Speed, Training, digits, loss_distance, speed, step_error, train
from course_lib.training.digits import Digits

Variant: TypeAlias = tuple[str, str, str, Setting, bool]         # what, products, backend, setting, graph
STEPS = 300
SETTINGS = (Setting(), Setting(hidden=512, batch=256), Setting(hidden=4096, batch=1024))     # in the last, products take most of the time
MADE_BY = "python -m course_lib.bench train"


def variants(settings: Sequence[Setting] = SETTINGS, kinds: Sequence[str] = KINDS) -> list[Variant]:
    """List (what, products, backend, setting, graph) of all rows: losses with the first setting, then speeds; "exact" is float64."""
    losses = [("losses", "library", "cpu", settings[0], False)]
    losses += [("losses", products, "gpu", settings[0], graph) for products in kinds for graph in (False, True)]
    speeds = [("speed", products, "gpu", setting, graph) for setting in settings for graph in (True, False) for products in kinds]
    return losses + speeds + [("speed", "library", "cpu", setting, False) for setting in settings]


def record(*, deadline_s: float | None = None, budget_s: float = 0.5, steps: int = STEPS, settings: Sequence[Setting] = SETTINGS,
           digits_file: Path | None = None, progress: bool = True, say: Callable[[str], object] = print,
           clock: Callable[[], float] = time.monotonic) -> tuple[Readings, int, int]:
    """Measure everything and return it, as far as it is done before the deadline or Ctrl-C.

    Parameters
    ----------
    deadline_s
        Seconds after which nothing new is begun.
    budget_s
        About how long to measure each speed.
    steps
        Of each run whose losses are recorded.
    digits_file
        See `digits`.
    say
        Gets a line for each row.
    clock
        Seconds.

    Returns
    -------
    The readings
        And how many rows failed, which is said, and how many are left. A run whose loss or weights are off has failed.

    Raises
    ------
    CourseError
        Without a GPU.
    """
    status = gpu.probe()
    if not status.usable:
        raise CourseError(f"there is no GPU to record on: {status.reason}", reason=status.reason)
    from tqdm.auto import tqdm

    started, wanted, failed, data = clock(), variants(settings), 0, digits(path=digits_file)
    exact = train("library", backend="cpu", dtype="float64", setting=settings[0], steps=steps, data=data)
    rows = [_losses(exact, False, 0.0) | {"dtype": "float64"}]
    try:
        for variant in tqdm(wanted, disable=not progress, leave=False):
            if deadline_s is not None and clock() - started > deadline_s:
                break
            try:
                rows.append(_measured(variant, exact, data, budget_s))
                say(line(rows[-1]))
            except Exception as error:                  # a variant that fails costs its own row; Ctrl-C is no Exception
                failed += 1
                say(f"FAILED {variant[0]} of {variant[1]} on {variant[2]}{', graph' * variant[4]}: {sentence(error)}")
    except KeyboardInterrupt:
        say("stopped")
    made = Readings(status.name, status.driver, datetime.date.today().isoformat(), MADE_BY, tuple(rows))
    return made, failed, len(wanted) + 1 - len(rows) - failed


def _measured(variant: Variant, exact: Training, data: Digits, budget_s: float) -> dict[str, Any]:
    """Return the row of one of `variants`."""
    what, products, backend, setting, graph = variant
    how: dict[str, Any] = {"backend": backend, "setting": setting, "data": data, "graph": graph}
    if what == "losses":
        run = train(products, steps=len(exact.losses), **how)
        return _held(_losses(run, graph, loss_distance(run, exact)), "loss_distance", CLOSE)
    error = step_error(products, **how)
    return _held(_speed(speed(products, budget_s=budget_s, **how), error), "step_error", STEP_CLOSE)


def _held(row: dict[str, Any], name: str, allowed: float) -> dict[str, Any]:
    """Return a row whose error is within its bound."""
    if not row[name] <= allowed:
        raise CourseError(f"{row['what']} of {row['products']} on {row['backend']}, hidden {row['hidden']}, batch {row['batch']}: "
                          f"{name.replace('_', ' ')} {row[name]:.1e}, but rounding explains {allowed:.0e}", row=row)
    return row


def _head(what: str, run: Training | Speed, graph: bool) -> dict[str, Any]:
    more = {"cpu": cpu_name(), "threads": cpu_count()} if run.backend == "cpu" else {}
    return {"what": what, "products": run.products, "backend": run.backend, "graph": graph} | asdict(run.setting) | more


def _losses(run: Training, graph: bool, distance: float) -> dict[str, Any]:
    if run.interrupted:
        raise KeyboardInterrupt
    return _head("losses", run, graph) | {"accuracy": round(run.accuracy, 4), "loss_distance": float(f"{distance:.2g}"),
                                          "losses": [float(f"{x:.6g}") for x in run.losses]}


def _speed(found: Speed, error: float) -> dict[str, Any]:
    numbers = {name: float(f"{getattr(found, name):.5g}") for name in ("per_s", "low", "high")}
    return _head("speed", found, found.graph) | numbers | {"repeats": found.repeats, "step_error": float(f"{error:.2g}")}


def line(row: Mapping[str, Any]) -> str:
    """Return one line on a row."""
    name = f"{row['products']} on {row['backend']}{', graph' * row['graph']}, batch {row['batch']}, hidden {row['hidden']}"
    if row["what"] == "speed":
        return f"{name}: {row['per_s']:,.0f} iterations/s ({row['low']:,.0f} … {row['high']:,.0f})"
    return (f"{name}: loss {row['losses'][0]:.4f} → {np.mean(row['losses'][-10:]):.4f}, {row['accuracy']:.1%} right, "
            f"{row['loss_distance']:.1e} off float64")


def add_parser(benchmarks: Any) -> None:
    """Add `train` to the commands."""
    command = benchmarks.add_parser("train", help="record a training run: losses and iterations a second of our kernels and the library")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="for course_lib/data/: training.json")
    command.add_argument("--deadline", type=float, metavar="S", help="begin nothing new after so many seconds")
    command.add_argument("--budget", type=float, default=0.5, metavar="S", help="seconds to measure each speed")
    command.add_argument("--digits", type=Path, metavar="FILE", help="scikit-learn's digits.csv.gz, where scikit-learn is not installed")


def main(wanted: Namespace) -> int:
    """Carry out `train`; return the exit status: 1 when a variant failed, and the others are written nevertheless."""
    wanted.out.parent.mkdir(parents=True, exist_ok=True)
    found, failed, left = record(deadline_s=wanted.deadline, budget_s=wanted.budget, digits_file=wanted.digits,
                         say=lambda text: print(text, flush=True))
    wanted.out.write_text(dumps(found), encoding="utf-8")
    rest = f", {failed} failed" * bool(failed) + f", {left} are left" * bool(left)
    print(f"{found.label}, driver {found.driver}: {len(found.rows)} rows in {wanted.out}{rest}")
    return 1 if failed else 0
