"""Carry out many tasks: one after another or on any executor, with a progress bar, stopped and taken up again at will."""

from concurrent.futures import as_completed
from dataclasses import dataclass

from course_lib.bench.journal import Journal
from course_lib.bench.measure import attempt, here, sentence
from course_lib.errors import CourseError


@dataclass(frozen=True)
class Sweep:
    """What a sweep gave.

    Attributes
    ----------
    records : tuple of Record
        In the order of the tasks; when it was stopped, those that were ready.
    planned : int
        Tasks.
    reused : int
        Records that an earlier call had measured.
    interrupted : bool
    """

    records: tuple
    planned: int
    reused: int
    interrupted: bool

    @property
    def failed(self):
        """Return the records of what went wrong, each with its sentence."""
        return tuple(r for r in self.records if r.state == "failed")

    @property
    def skipped(self):
        """Return the records of parameters that cannot run, each with its sentence."""
        return tuple(r for r in self.records if r.state == "skipped")

    @property
    def done(self):
        """Return the records that hold a result."""
        return tuple(r for r in self.records if r.state == "done")


def sweep(tasks, *, out=None, resume=False, executor=None, progress=True):
    """Carry out tasks and return their records.

    Parameters
    ----------
    tasks : sequence of Task
        Of `course_lib.bench.plans`, or made with `task`.
    out : path, optional
        A JSON-lines file that gets each record as soon as it is there.
    resume : bool
        Go on with that file: what it holds is not measured again, unless it failed, the kernel's text has changed, or (without
        an executor) it was measured on another device.
    executor : concurrent.futures.Executor, optional
        Runs the tasks; `client.get_executor()` of Dask spreads them over machines. Default: one after another, here. It is
        not shut down. Tasks that run at the same time on one GPU or one CPU disturb each other's times: give each its own.
    progress : bool
        Show a bar.

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
    found = {}
    for backend in {t.backend for t in tasks} if journal.records else ():
        some = [t for t in tasks if t.backend == backend]
        found |= journal.done(some, None if executor else _device(backend))
    journal.start(tasks, found)
    left, reused, interrupted = [t for t in tasks if t.identity not in found], len(found), False
    try:
        with _bar(len(tasks), progress) as bar:
            bar.update(reused)
            for record in _records(left, executor):
                found[record.identity] = record
                journal.add(record)
                bar.set_postfix_str(f"{record.kernel} N = {record.N}", refresh=False)
                bar.update()
    except KeyboardInterrupt:
        interrupted = True
    else:
        journal.finish(order)
    return Sweep(tuple(found[i] for i in order if i in found), len(tasks), reused, interrupted)


def _device(backend):
    """Return the device's name here, or one that no record has when there is none."""
    try:
        return here(backend)["device"]
    except CourseError:
        return "no device"


def _records(tasks, executor):
    """Yield records as they become ready."""
    if executor is None:
        yield from map(attempt, tasks)
        return
    waiting = {}
    try:
        for task in tasks:
            try:
                waiting[executor.submit(attempt, task)] = task
            except Exception as error:      # the executor itself is broken
                yield task.record(state="failed", problem=sentence(error))
        for future in as_completed(waiting):
            error = future.exception()      # a worker that died, a task that could not be sent: not this process's fault
            yield future.result() if error is None else waiting[future].record(state="failed", problem=sentence(error))
    finally:
        for future in waiting:
            future.cancel()


def _bar(total, progress):
    from tqdm.auto import tqdm

    return tqdm(total=total, unit=" kernel", disable=not progress)
