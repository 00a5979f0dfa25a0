"""Carry out many tasks: one after another or on any executor, with a progress bar, stopped and taken up again at will."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from course_lib.bench.journal import Journal
from course_lib.bench.measure import attempt, here, sentence
from course_lib.bench.tasks import Identity, Task
from course_lib.data import Record
from course_lib.errors import CourseError


class Pruner(Protocol):
    """Says which tasks need no measurement any more, after what was measured."""

    at_once: int
    """How many tasks an executor gets at a time: those that it has cannot be pruned."""

    def learn(self, record: Record) -> None:
        """Take notice of a record."""

    def reason(self, task: Task) -> str:
        """Return a sentence on why a task cannot win any more, or nothing."""


@dataclass(frozen=True)
class Sweep:
    """What a sweep gave.

    Attributes
    ----------
    records
        In the order of the tasks; when it was stopped, those that were ready.
    planned
        Tasks.
    reused
        Records that an earlier call had measured.
    """

    records: tuple[Record, ...]
    planned: int
    reused: int
    interrupted: bool

    @property
    def failed(self) -> tuple[Record, ...]:
        """Return the records of what went wrong, each with its sentence."""
        return tuple(r for r in self.records if r.state == "failed")

    @property
    def skipped(self) -> tuple[Record, ...]:
        """Return the records of parameters that cannot run, each with its sentence."""
        return tuple(r for r in self.records if r.state == "skipped")

    @property
    def pruned(self) -> tuple[Record, ...]:
        """Return the records of what was not measured because it could not win, each with its sentence."""
        return tuple(r for r in self.records if r.state == "pruned")

    @property
    def done(self) -> tuple[Record, ...]:
        """Return the records that hold a result."""
        return tuple(r for r in self.records if r.state == "done")


def sweep(tasks: Iterable[Task], *, out: Path | str | None = None, resume: bool = False, executor: Executor | None = None,
          progress: bool = True, pruner: Pruner | None = None) -> Sweep:
    """Carry out tasks and return their records.

    Parameters
    ----------
    tasks
        Of `course_lib.bench.plans`, or made with `task`.
    out
        A JSON-lines file that gets each record as soon as it is there.
    resume
        Go on with that file: what it holds is not measured again, unless it failed, the kernel's text has changed, or (without
        an executor) it was measured on another device.
    executor
        Runs the tasks; `client.get_executor()` of Dask spreads them over machines. Default: one after another, here. It is
        not shut down. Tasks that run at the same time on one GPU or one CPU disturb each other's times: give each its own.
    progress
        Show a bar.
    pruner
        Asked before each task is carried out; what it says becomes the record of a task that was pruned.

    Returns
    -------
    Sweep
        A task that fails costs its own record alone. Ctrl-C ends the sweep and keeps what is ready.

    Raises
    ------
    CourseError
        When `out` is there and `resume` was not said, or two tasks are the same.
    """
    tasks = list(tasks)
    order = [t.identity for t in tasks]
    if len(set(order)) < len(order):
        twice = next(t for i, t in enumerate(tasks) if order[i] in order[:i])
        raise CourseError(f"the sweep measures {twice.kernel} at N = {twice.N} with {twice.parameters} twice", kernel=twice.kernel)
    journal = Journal(out, resume)
    found: dict[Identity, Record] = {}
    for backend in {t.backend for t in tasks} if journal.records else ():
        some = [t for t in tasks if t.backend == backend]
        found |= journal.done(some, None if executor else _device(backend))
    journal.start(tasks, found)
    left, reused, interrupted = [t for t in tasks if t.identity not in found], len(found), False
    try:
        with _bar(len(tasks), progress) as bar:
            bar.update(reused)
            for record in _records(left, executor, _told(pruner, found.values())):
                found[record.identity] = record
                journal.add(record)
                bar.set_postfix_str(f"{record.kernel} N = {record.N}", refresh=False)
                bar.update()
    except KeyboardInterrupt:
        interrupted = True
    else:
        journal.finish(order)
    return Sweep(tuple(found[i] for i in order if i in found), len(tasks), reused, interrupted)


def _device(backend: str) -> str:
    """Return the device's name here, or one that no record has when there is none."""
    try:
        return here(backend)["device"]
    except CourseError:
        return "no device"


def _told(pruner: Pruner | None, records: Iterable[Record]) -> Pruner | None:
    """Tell the pruner what is there already."""
    for record in records:
        _learned(pruner, record)
    return pruner


def _records(tasks: Sequence[Task], executor: Executor | None, pruner: Pruner | None) -> Iterator[Record]:
    """Yield records as they become ready."""
    if executor is None:
        for task in tasks:
            yield _learned(pruner, _pruned(task, pruner) or attempt(task))
        return
    ahead, waiting = iter(tasks), dict[Future[Record], Task]()
    try:
        while True:
            yield from _submit(ahead, executor, pruner, waiting, (pruner.at_once if pruner else len(tasks)) - len(waiting))
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                task, died = waiting.pop(future), future.exception()    # a worker that died, a task that could not be sent
                yield _learned(pruner, future.result() if died is None else task.record(state="failed", problem=sentence(died)))
    finally:
        for future in waiting:
            future.cancel()


def _submit(tasks: Iterator[Task], executor: Executor, pruner: Pruner | None, waiting: dict[Future[Record], Task],
            room: int) -> Iterator[Record]:
    """Hand so many tasks to the executor; yield the records of those that it does not get."""
    while room > 0 and (task := next(tasks, None)):
        if pruned := _pruned(task, pruner):
            yield pruned
            continue
        try:
            waiting[executor.submit(attempt, task)] = task
            room -= 1
        except Exception as error:          # the executor itself is broken
            yield task.record(state="failed", problem=sentence(error))


def _pruned(task: Task, pruner: Pruner | None) -> Record | None:
    """Return the record of a task that need not be carried out, or None."""
    why = pruner.reason(task) if pruner and not task.problem else ""
    return task.record(state="pruned", problem=why, device=_device(task.backend)) if why else None


def _learned(pruner: Pruner | None, record: Record) -> Record:
    if pruner:
        pruner.learn(record)
    return record


def _bar(total: int, progress: bool) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, unit=" kernel", disable=not progress)
