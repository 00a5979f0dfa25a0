"""What Lee's slides measured on a CPU, beside what was recorded on ours."""

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.plots import Table

COLUMNS = {"gemm_pthreads": "ours, 16 POSIX threads", "gemm_vectors": "vectors, 1 thread", "gemm_openmp": "OpenMP, 16 threads"}


def slides() -> Table:
    """Return how many times as fast as the plain loop each program is, on the slides and as recorded here."""
    recording = data.load("lee_cpu")
    ours = {name: {r.N: r for r in recording.find(name)} for name in ("gemm_ijk", *COLUMNS)}
    plain = {N: r.seconds for N, r in ours["gemm_ijk"].items()}
    theirs = [LEE_CPU.column(name) for name in ("CPU", "pthread", "AVX", "OpenMP")]
    rows = []
    for N in theirs[0]:
        printed = [f"{theirs[0][N] / column[N]:.1f}" for column in theirs[1:]]
        found = [ours[name][N] for name in COLUMNS if N in plain]
        recorded = [f"{plain[N] / r.high_s:.3g} to {plain[N] / r.low_s:.3g}" for r in found if r.high_s and r.low_s] or [""] * len(COLUMNS)
        rows.append((N, *printed, *recorded))
    header = ("N", "slides: pthread", "AVX", "OpenMP", *COLUMNS.values())
    return Table(header, rows, f"Times as fast as the loops ijk. Ours: the middle half of the times, {recording.label}")
