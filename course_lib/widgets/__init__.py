"""Thin ipywidgets for the lessons: a pure function computes, the widget shows.

For any kernel: `live` puts sliders on it, `accesses` shows the lanes of an access, `player` steps through drawings. `bank_bench` shows a
padded tile from source to time. For one model or pattern each: `cost_sliders`, `occupancy_sliders`, `interval_sliders`, `warp_sliders`
(a timeline), `search_player`; for tensor cores `lane_sliders` (who holds which element), `bit_sliders` (what formats keep of a number),
`error_sliders` (how far C is off). `predict` asks for a number beforehand, `quiz` asks five questions at the end.
"""

from course_lib.errors import require

require("course_lib.widgets", "anywidget", "ipywidgets", "matplotlib")

from course_lib.widgets.accesses import accesses
from course_lib.widgets.bank_bench import bank_bench
from course_lib.widgets.calculator import occupancy_sliders
from course_lib.widgets.cost_model import cost_sliders
from course_lib.widgets.intervals import interval_sliders
from course_lib.widgets.prediction import predict
from course_lib.widgets.self_check import quiz
from course_lib.widgets.sliders import live
from course_lib.widgets.steps import player, rank_player, search_player
from course_lib.widgets.tensor import bit_sliders, error_sliders, lane_sliders
from course_lib.widgets.warp_clock import warp_sliders

__all__ = [
    "accesses", "bank_bench", "bit_sliders", "cost_sliders", "error_sliders", "interval_sliders", "lane_sliders", "live",
    "occupancy_sliders", "player", "predict", "quiz", "rank_player", "search_player", "warp_sliders",
]
