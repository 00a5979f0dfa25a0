"""A progress bar for the runs that take a while."""

from contextlib import contextmanager

PATIENCE = 1.0      # seconds without a bar; most runs are over by then


@contextmanager
def shown(progress):
    """Yield what the simulator calls with (blocks done, blocks in all), or None.

    Parameters
    ----------
    progress : callable, bool or None
        A callable is passed on; True draws a bar when the run lasts longer than `PATIENCE`.
    """
    if progress is not True:
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(total=1, unit=" blocks", delay=PATIENCE, leave=False) as bar:
        def report(done, total):
            bar.total = total
            bar.update(done - bar.n)
        yield report
