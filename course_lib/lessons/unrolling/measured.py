"""What the documents measured: Lee's last step on a GTX 690, and Koppelman's instructions per multiply-add."""

from course_lib import data
from course_lib.data import documents
from course_lib.plots import Table

USE_ALL = ("mxv_sh", "mxv_sh_ochunk", "mxv_vls")         # kernels that use every byte they load


def slides() -> Table:
    """Return Lee's last two columns and their ratio, beside the ratio of our two kernels on the H200."""
    lee, ours = documents.LEE_GPU, data.load("lee")
    before, after = lee.column("Bank Conflict"), lee.column("Loop Unrolling")
    seconds = {(r.kernel, r.N): r.median_s for r in ours.records}
    rows = [(N, f"{before[N]:.2f}", f"{after[N]:.2f}", f"{before[N] / after[N]:.2f}",
             f"{seconds['sgemm_padded', N] / seconds['sgemm_unrolled', N]:.2f}") for N in before]
    header = ("N", "slides: Bank Conflict", "slides: Loop Unrolling", "slides: faster", "H200: sgemm_unrolled over sgemm_padded")
    return Table(header, rows, f"Slides: GTX 690, no unit printed. H200: {ours.label}")


def homework() -> Table:
    """Return Koppelman's instructions per multiply-add and times, of the kernels that use all they load."""
    launches, needs = documents.KOPPELMAN_LAUNCH, documents.KOPPELMAN_RESOURCES.column("shared")
    rows = [(name, launches.column("I/F")[name], f"{launches.column('us')[name]:,}", f"{needs[name]:,}") for name in USE_ALL]
    return Table(("kernel", "I/F", "µs", "shared bytes per block"), rows, f"Homework: {launches.device}")
