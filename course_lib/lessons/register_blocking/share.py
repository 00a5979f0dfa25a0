"""What one thread of the blocked kernel computes and reads, drawn from the trace of the running kernel."""

from course_lib.plots import describe_share, render, thread_share_picture
from course_lib.plots.picture import Picture
from course_lib.widgets.pictures import one_thread


def thread_share(TM: int = 4, TN: int = 4) -> Picture:
    """Draw a block's tile of C with the outputs of one thread, and the words of A and B that it reads for one k."""
    share = one_thread("sgemm_2d_tile", BM=16 * TM, BN=16 * TN, BK=16, TM=TM, TN=TN)
    return render(thread_share_picture(share, title="One thread of the block, at one k"), describe_share(share))
