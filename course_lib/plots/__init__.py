"""Pictures of results: each takes data and `ax=None`, returns Axes, and computes nothing heavy.

`show(ax, alt)` puts a figure into a notebook with alternative text.
"""

from course_lib.plots.charts import bars, lines
from course_lib.plots.counters import NAMES, count, load_sectors_per_multiply_add, sectors_per_request
from course_lib.plots.listing import busiest_line, hazard_sentences, source_listing
from course_lib.plots.picture import Picture, render, show
from course_lib.plots.table import Table
from course_lib.plots.threads import lane_sectors, thread_grid
from course_lib.plots.tiling import frames, tiling_step
from course_lib.plots.traces import every_warp, owners, requests, touched_sectors

__all__ = [
    "NAMES", "Picture", "Table", "bars", "busiest_line", "count", "every_warp", "frames", "hazard_sentences",
    "lane_sectors", "lines", "load_sectors_per_multiply_add", "owners", "render", "requests", "sectors_per_request",
    "show", "source_listing", "thread_grid", "tiling_step", "touched_sectors",
]
