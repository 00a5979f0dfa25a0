"""A progress bar for the runs that take a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from course_lib.run.types import Progress

PATIENCE = 1.0      # seconds without a bar; most runs are over by then


@contextmanager
def shown(progress: Progress) -> Iterator[Callable[[int, int], object] | None]:
    """Yield what the simulator calls with (blocks done, blocks in all), or None.

    Parameters
    ----------
    progress
        A callable is passed on; True draws a bar when the run lasts longer than `PATIENCE`.
    """
    if progress is not True:
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1, unit=" blocks", delay=PATIENCE, leave=False) as bar:
        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)
        yield report
