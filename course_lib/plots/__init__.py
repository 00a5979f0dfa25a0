"""Pictures of results: each takes data and `ax=None`, returns Axes, and computes nothing heavy.

`show(ax, alt)` puts a figure into a notebook with alternative text.
"""

from course_lib.errors import require

require("course_lib.plots", "matplotlib")

from course_lib.plots.accesses import describe_beside, describe_sectors, lane_sectors, requests_beside, used_bytes
from course_lib.plots.bank_map import bank_map, words_a_bank
from course_lib.plots.banks import bank_counts, bank_grid, describe_banks
from course_lib.plots.cache import Window, cache_lines, describe_lines, line_window
from course_lib.plots.charts import bars, lines
from course_lib.plots.device import device_report
from course_lib.plots.highlight import highlighted
from course_lib.plots.latency import describe_rings, describe_sweeps, ring_sizes, thread_sweeps
from course_lib.plots.linked_code import LinkedCode, linked_code
from course_lib.plots.machine_code import describe_steps, inner_loops, step_bars
from course_lib.plots.picture import Picture, render, show
from course_lib.plots.registers import describe_share, thread_share, words_read
from course_lib.plots.roofline import describe_roofline, roofline
from course_lib.plots.speeds import describe_speeds, draw_curves, live_points, speeds, speeds_table
from course_lib.plots.threads import thread_grid
from course_lib.run.listing import busiest_line, source_listing
from course_lib.run.table import Table
from course_lib.run.traces import every_warp, owners, requests, touched_sectors

__all__ = [
    "LinkedCode", "Picture", "Table", "Window", "bank_counts", "bank_grid", "bank_map", "bars", "busiest_line", "cache_lines",
    "describe_banks", "describe_beside", "describe_lines", "describe_rings", "describe_roofline", "describe_sectors",
    "describe_share", "describe_speeds", "describe_steps", "describe_sweeps", "device_report", "draw_curves", "every_warp", "highlighted",
    "inner_loops", "lane_sectors", "line_window", "lines", "linked_code", "live_points", "owners", "render", "requests",
    "requests_beside", "ring_sizes", "roofline", "show", "source_listing", "speeds", "speeds_table", "step_bars", "thread_grid",
    "thread_share", "thread_sweeps", "touched_sectors", "used_bytes", "words_a_bank", "words_read",
]
