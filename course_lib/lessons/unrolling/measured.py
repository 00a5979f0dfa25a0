"""What a document measured: Lee's last step on a GTX 690."""

from course_lib import data
from course_lib.data import documents
from course_lib.plots import Table


def slides() -> Table:
    """Return Lee's last two columns and their ratio, beside the ratio of our two kernels on the H200."""
    lee, ours = documents.LEE_GPU, data.load("lee")
    before, after = lee.column("Bank Conflict"), lee.column("Loop Unrolling")
    seconds = {(r.kernel, r.N): r.seconds for r in ours.records}
    rows = [(N, f"{before[N]:.2f}", f"{after[N]:.2f}", f"{before[N] / after[N]:.2f}",
             f"{seconds['sgemm_padded', N] / seconds['sgemm_unrolled', N]:.2f}") for N in before]
    header = ("N", "slides: Bank Conflict", "slides: Loop Unrolling", "slides: faster", "H200: faster")
    return Table(header, rows, f"Slides: GTX 690, no unit printed. H200: sgemm_padded with PAD = 1 and sgemm_unrolled with "
                               f"UNROLL = 16, {ours.label}")
