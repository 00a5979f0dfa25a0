"""Thin ipywidgets for the lessons: a pure function computes, the widget shows.

`live` puts sliders on a kernel, `bank_bench` shows a padded tile from source to time, `player` steps through drawings, `accesses`
shows the lanes of an access, `side_by_side` a kernel's source, PTX and SASS, `predict` asks for a number beforehand, `quiz` asks
five questions at the end.
"""

from course_lib.widgets.accesses import accesses
from course_lib.widgets.bank_bench import bank_bench
from course_lib.widgets.code import side_by_side
from course_lib.widgets.prediction import predict
from course_lib.widgets.self_check import quiz
from course_lib.widgets.sliders import live
from course_lib.widgets.steps import film_player, player

__all__ = ["accesses", "bank_bench", "film_player", "live", "player", "predict", "quiz", "side_by_side"]
