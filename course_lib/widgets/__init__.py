"""Thin ipywidgets for the lessons: a pure function computes, the widget shows.

`live` puts sliders on a kernel, `bank_bench` shows a padded tile from source to time, `cost_sliders` moves the inputs of a
cost model, `warp_sliders` the warps of a timeline, `player` steps through drawings, `accesses` shows the lanes of an access,
`side_by_side` a kernel's source, PTX and SASS, `predict` asks for a number beforehand, `quiz` asks five questions at the end. For tensor
cores `lane_sliders` show who holds which element, `bit_sliders` what formats keep of a number, `error_sliders` how far C is off.
"""

from course_lib.widgets.accesses import accesses
from course_lib.widgets.bank_bench import bank_bench
from course_lib.widgets.code import side_by_side
from course_lib.widgets.cost_model import cost_sliders
from course_lib.widgets.prediction import predict
from course_lib.widgets.self_check import quiz
from course_lib.widgets.sliders import live
from course_lib.widgets.steps import film_player, player, rank_player, search_player
from course_lib.widgets.tensor import bit_sliders, error_sliders, lane_sliders
from course_lib.widgets.warp_clock import warp_sliders

__all__ = [
    "accesses", "bank_bench", "bit_sliders", "cost_sliders", "error_sliders", "film_player", "lane_sliders", "live", "player", "predict",
    "quiz", "rank_player", "search_player", "side_by_side", "warp_sliders",
]
