"""Several threads: what they gain, what Amdahl's law says of it, and additions that a race loses."""

from course_lib import data
from course_lib.lessons.cpu import thread_scaling
from course_lib.model import serial_share
from course_lib.plots import Table, render
from course_lib.plots.picture import Picture
from course_lib.run import run_cpu
from course_lib.toolchain import no_compiler
from course_lib.widgets.compute import inputs
from course_lib.widgets.explore import Explore

NAMES = {"gemm_pthreads": "POSIX threads, ikj", "gemm_openmp": "OpenMP, ikj", "gemm_packed": "POSIX threads, copied blocks",
         "blas": "NumPy's library"}


def gains() -> Picture:
    """Draw how many times as fast 2 to 16 threads were as one, recorded."""
    return render(*thread_scaling.gains_picture(data.load("threads")))


def serial_shares() -> Table:
    """Return a table of the recorded gains, and of the share s that Amdahl's law would need for each."""
    recording = data.load("threads")
    found = thread_scaling.recorded_gains(recording)
    counts = [count for count in next(iter(found.values())) if count > 1]
    rows = []
    for name, gain in found.items():
        shares = {count: serial_share(gain[count], count) for count in counts}
        rows.append((NAMES[name], *(f"{gain[count]:.2f}, s = {share:.3f}" for count, share in shares.items())))
    header = ("program", *(f"{count} threads" for count in counts))
    return Table(header, rows, f"Times as fast as one thread, and the share s: N = 1024, {recording.label}")


def thread_sliders() -> Explore | None:
    """Put controls on the program, the number of threads and N; each move is measured on this machine."""
    if missing := no_compiler():
        print(f"Skipped, because this measures C programs: {missing}.")
        return None
    return thread_scaling.thread_sliders("gemm_pthreads", threads=1, N=256)


def lost_additions(program: str, threads: int, runs: int = 8) -> list[int]:
    """Return how many of 4096 elements of C are wrong, in each of several runs with so many threads.

    A and B hold whole numbers, so that no sum is rounded.
    """
    A, B = (X.round() for X in inputs(64, 64, 20_000)[:2])
    exact = A.astype(float) @ B
    found = [run_cpu(program, A, B, threads=threads, timed=False).C for _ in range(runs)]
    return [int((exact != C).sum()) for C in found]
