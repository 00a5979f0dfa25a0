"""Lesson 05's picture beside the sliders: the first request for B, small enough to stand beside the table."""

from course_lib.arch import SECTOR_BYTES
from course_lib.plots import describe_sectors, lane_sectors, requests, style, touched_sectors
from course_lib.run import RunResult
from course_lib.widgets.live_pictures import retraced


@style.styled
def first_request_for_b(result: RunResult):
    """Draw the first load request for B, one row per lane.

    Returns
    -------
    (Axes, str)
        As a picture of `live` does: the drawing, and what it shows in words.
    """
    traced = retraced(result)
    record = requests(traced, array="B", load=True)[0]
    n = len(touched_sectors(record))
    base = next(array.address for array in traced.arrays if array.name == "B")
    ax = lane_sectors(record, style.axes(width=4.9, height=3.9), base=base, title=f"line {record.line}: one request, {n} sectors")
    ax.set_xlabel(f"first byte of each sector\nblue: wanted; light blue: fetched, too\n{n} × 32 = {n * SECTOR_BYTES} bytes fetched",
                  fontsize=12)
    ax.tick_params(labelsize=11)
    return ax, describe_sectors(record)
