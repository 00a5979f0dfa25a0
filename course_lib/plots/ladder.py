"""The ladder of kernels as bars: recorded on a real GPU where there is a recording, else a simulated counter."""

import json
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.plots.charts import bars
from course_lib.plots.table import Table

RECORDING = Path(__file__).parents[1] / "data" / "ladder.json"


def recorded_ladder(path=RECORDING):
    """Read the recorded ladder.

    Returns
    -------
    dict or None
        None when nothing was recorded. Else device, driver, date, N, and `kernels`: dicts with name, parameters, and
        median_ms, low_ms, high_ms of repeated launches.

    Raises
    ------
    CourseError
        When the file is there and does not say where and when it was recorded.
    """
    if not Path(path).exists():
        return None
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    missing = [key for key in ("device", "driver", "date", "N", "kernels") if key not in record]
    if missing:
        raise CourseError(f"the recording {Path(path).name} does not give its {', '.join(missing)}", missing=missing)
    return record


def _label(record):
    return f"recorded on {record['device']}, {record['date']}"


def _gflops(record):
    return {k["name"]: 2 * record["N"] ** 3 / k["median_ms"] / 1e6 for k in record["kernels"]}


def _sectors(results):
    return {r.kernel.name: r.count("sectors") / (r.M * r.N * r.K) for r in results}


def ladder(results, record=None, ax=None):
    """Draw a bar per kernel, from the first rung down.

    Parameters
    ----------
    results : sequence of RunResult
        Their load sectors per multiply-add are drawn when there is no recording.
    record : dict, optional
        From `recorded_ladder`: GFLOP/s are drawn.
    ax : Axes, optional
    """
    if record:
        return bars(_gflops(record), ax, unit=f"GFLOP/s, {_label(record)}", title=f"The ladder, N = {record['N']}")
    counted = results[0].counters_label
    return bars(_sectors(results), ax, unit=f"load sectors per multiply-add, {counted} (fewer is better)",
                title=f"The ladder, N = {results[0].N}")


def ladder_table(results, record=None):
    """Return the numbers of `ladder` with their label."""
    if record:
        caption = f"{_label(record)}, driver {record['driver']}, N = {record['N']}"
        rows = [(k["name"], f"{k['median_ms']:.3f}", f"{k['low_ms']:.3f}", f"{k['high_ms']:.3f}", f"{gflops:,.0f}")
                for k, gflops in zip(record["kernels"], _gflops(record).values())]
        return Table(("kernel", "median, ms", "lowest", "highest", "GFLOP/s"), rows, caption)
    rows = [(name, f"{value:.4f}") for name, value in _sectors(results).items()]
    return Table(("kernel", "load sectors per multiply-add"), rows, f"{results[0].counters_label}, N = {results[0].N}")


def describe_ladder(results, record=None):
    """Return the alternative text of `ladder`."""
    values, what = (_gflops(record), f"GFLOP/s, {_label(record)}") if record else (
        _sectors(results), f"load sectors per multiply-add, {results[0].counters_label}")
    return f"Bars: {what}. " + ", ".join(f"{name} {value:,.4g}" for name, value in values.items()) + "."
