"""Record on a GPU what course_lib/data/ shows to readers without one, and sort such a record into its files."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from course_lib import data, gpu
from course_lib.bench import journal, plans
from course_lib.bench.sweep import sweep
from course_lib.bench.tasks import Task
from course_lib.data import Record
from course_lib.data.records import Recording, dumps, loads
from course_lib.errors import CourseError

Groups: TypeAlias = Mapping[str, Sequence[Task]]         # by the name of a file in course_lib/data
CHUNK = 16      # tasks between two looks at the clock


def record(out: Path | str, *, resume: bool = False, budget_s: float = 0.15, deadline_s: float | None = None,
           say: Callable[[str], object] = print, groups: Groups | None = None) -> int:
    """Measure everything, the most wanted first; a task that several files want is measured once.

    Parameters
    ----------
    out
        A JSON-lines file.
    resume
        Go on with it.
    budget_s
        About how long to measure each kernel.
    deadline_s
        Seconds after which to stop; `resume` goes on from there.
    say
        Gets a line now and then.
    groups
        Tasks by name. Default `plans.everything`.

    Returns
    -------
    int
        Tasks that are left.
    """
    started, left = time.monotonic(), 0
    groups = groups or plans.everything(budget_s)
    for name, tasks in groups.items():
        for first in range(0, len(tasks), CHUNK):
            chunk = tasks[first:first + CHUNK]
            if deadline_s is not None and time.monotonic() - started > deadline_s:
                left += len(chunk)
                continue
            found = sweep(chunk, out=out, resume=resume, progress=False)
            resume = True
            for wrong in found.failed:
                say(f"FAILED {wrong.kernel} N = {wrong.N} {wrong.parameters}: {wrong.problem}")
            last = found.records[-1]
            said = f"{last.gflops:.0f} GFLOP/s" if last.gflops else last.problem or f"{last.gb_s or 0:.0f} GB/s"
            say(f"{time.monotonic() - started:6.1f} s  {name} {first + len(chunk)}/{len(tasks)}  {last.kernel} N = {last.N}: {said}")
            if found.interrupted:
                raise KeyboardInterrupt
    return left


def keep(path: Path | str, folder: Path | str | None = None, groups: Groups | None = None) -> dict[str, int]:
    """Write the records of a file to course_lib/data/NAME.json, each group to its own; return {name: how many}.

    What a file has already of the same kernel's text, and the new records do not replace, stays in it when the plan still has it.

    Raises
    ------
    CourseError
        When a file would hold records of several GPUs or drivers.
    """
    folder, groups = Path(folder or data.FOLDER), groups or plans.everything()
    records = {r.identity: r for r in journal.read(path) if r.state == "done"}
    written = {}
    for name, tasks in groups.items():
        found = [records[t.identity] for t in tasks if t.identity in records]
        if found:
            found = _with_stored(folder / f"{name}.json", tasks, found)
        where = {(r.device, r.driver) for r in found}
        if len(where) > 1:
            raise CourseError(f"{path} and {name}.json hold records of {len(where)} machines: {sorted(where)}", where=where)
        if found:
            (device, driver), = where
            recording = Recording(device, driver, max(r.date for r in found), tuple(found))
            (folder / f"{name}.json").write_text(dumps(recording, made_by="python -m course_lib.bench record"), encoding="utf-8")
            written[name] = len(found)
    return written


def chosen(names: Iterable[str], budget_s: float = 0.15) -> Groups | None:
    """Return some groups of `plans.everything`, or None, which stands for all, when none is named.

    >>> {name: len(tasks) for name, tasks in chosen(["padding"]).items()}
    {'padding': 56}
    """
    if not names:
        return None
    groups = plans.everything(budget_s)
    if unknown := [name for name in names if name not in groups]:
        raise CourseError(f"there is no recording {unknown[0]!r}: they are {', '.join(groups)}", names=unknown)
    return {name: groups[name] for name in names}


def _with_stored(path: Path, tasks: Iterable[Task], found: Iterable[Record]) -> list[Record]:
    """Return the records in the order of the tasks; where `found` has none, the one that the file has of the same kernel's text."""
    there = {r.identity: r for r in loads(path.read_text(encoding="utf-8")).records} if path.exists() else {}
    there = {t.identity: there[t.identity] for t in tasks if t.identity in there and there[t.identity].source == t.source}
    there |= {r.identity: r for r in found}
    return [there[t.identity] for t in tasks if t.identity in there]


def conditions() -> str:
    """Return a line on the machine: GPU, driver, versions."""
    status = gpu.probe()
    if not status.usable:
        raise CourseError(f"there is no GPU to record on: {status.reason}", reason=status.reason)
    return f"{status.name}, driver {status.driver}, CUDA {status.cuda}, cuBLAS {gpu.library_version()}"
