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
from course_lib.plots.choice import chosen_speeds, describe_choice
from course_lib.plots.cpu_table import cpu_table
from course_lib.plots.device import device_report, homework_report
from course_lib.plots.errors import describe_errors, draw_errors, draw_spread, errors_by_depth, relative_errors
from course_lib.plots.fragments import describe_lane, draw_lane, lane_share
from course_lib.plots.gantt import clocks, describe_clocks, describe_gantt, gantt
from course_lib.plots.highlight import highlighted
from course_lib.plots.kernel_table import kernel_resources
from course_lib.plots.latency import describe_rings, describe_sweeps, ring_sizes, thread_sweeps
from course_lib.plots.levels import describe_levels, describe_time_by_sectors, l2_write_rates, level_bars, level_table, time_by_sectors
from course_lib.plots.limits import describe_limits, draw_limits
from course_lib.plots.linked_code import LinkedCode, linked_code
from course_lib.plots.machine_code import describe_steps, inner_loops, step_bars
from course_lib.plots.number_bits import describe_bits, draw_bits, kept
from course_lib.plots.overlap import describe_overlap, overlap, overlap_rows
from course_lib.plots.picture import Picture, render, show
from course_lib.plots.rank_one import describe_rank, rank_frames, rank_step
from course_lib.plots.registers import (
    describe_share,
    thread_share,
    thread_share_picture,
    words_read,
)
from course_lib.plots.roofline import describe_roofline, roofline
from course_lib.plots.search import describe_search, search_step
from course_lib.plots.speeds import describe_speeds, draw_curves, live_points, speeds, speeds_table
from course_lib.plots.tensor_costs import costs_of, costs_table
from course_lib.plots.threads import thread_grid
from course_lib.plots.training import (
    describe_iterations,
    describe_losses,
    iterations,
    iterations_table,
    losses,
    step_table,
)
from course_lib.plots.transfers import describe_transfers, moved_boxes, transfers
from course_lib.plots.vectors import (
    counted_table,
    describe_shares,
    describe_warp_bars,
    launch_table,
    p_mode_table,
    recorded_rates,
    resource_table,
    share_bars,
    shares,
    star_table,
    warp_bars,
)
from course_lib.plots.warp_tile import describe_warp_tiles, warp_tile, warp_tiles
from course_lib.run.listing import busiest_line, source_listing
from course_lib.run.table import Table
from course_lib.run.traces import every_warp, owners, requests, touched_sectors

__all__ = [
    "LinkedCode", "Picture", "Table", "Window", "bank_counts", "bank_grid", "bank_map", "bars", "busiest_line", "cache_lines",
    "chosen_speeds", "clocks", "costs_of", "costs_table", "counted_table", "cpu_table", "describe_banks", "describe_beside",
    "describe_bits", "describe_choice", "describe_clocks", "describe_errors", "describe_gantt", "describe_iterations", "describe_lane",
    "describe_levels", "describe_limits", "describe_lines", "describe_losses", "describe_overlap", "describe_rank", "describe_rings",
    "describe_roofline", "describe_search", "describe_sectors", "describe_share", "describe_shares", "describe_speeds",
    "describe_steps", "describe_sweeps", "describe_time_by_sectors", "describe_transfers", "describe_warp_bars", "describe_warp_tiles",
    "device_report", "draw_bits", "draw_curves", "draw_errors", "draw_lane", "draw_limits", "draw_spread", "errors_by_depth",
    "every_warp", "gantt", "highlighted", "homework_report", "inner_loops", "iterations", "iterations_table", "kept",
    "kernel_resources", "l2_write_rates", "lane_sectors", "lane_share", "launch_table", "level_bars", "level_table", "line_window",
    "lines", "linked_code", "live_points", "losses", "moved_boxes", "overlap", "overlap_rows", "owners", "p_mode_table", "rank_frames",
    "rank_step", "recorded_rates", "relative_errors", "render", "requests", "requests_beside", "resource_table", "ring_sizes",
    "roofline", "search_step", "share_bars", "shares", "show", "source_listing", "speeds", "speeds_table", "star_table", "step_bars",
    "step_table", "thread_grid", "thread_share", "thread_share_picture", "thread_sweeps", "time_by_sectors", "touched_sectors",
    "transfers", "used_bytes", "warp_bars", "warp_tile", "warp_tiles", "words_a_bank", "words_read",
]
