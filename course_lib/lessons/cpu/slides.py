"""What Lee's slides measured on a CPU."""

from course_lib.data.documents import LEE_CPU
from course_lib.plots import Table

NAMES = {"pthread": "POSIX threads", "AVX": "vectors (AVX)", "OpenMP": "OpenMP"}


def slides() -> Table:
    """Return how many times as fast as the plain loop each program is on the slides."""
    plain, theirs = LEE_CPU.column("CPU"), [LEE_CPU.column(name) for name in NAMES]
    rows = [(N, *(f"{taken / column[N]:.1f}" for column in theirs)) for N, taken in plain.items()]
    return Table(("N", *NAMES.values()), rows, "Times as fast as the loops ijk, on the slides' CPU")
