"""Thin ipywidgets for the lessons: a pure function computes, the widget shows.

`live` puts sliders on a kernel, `player` steps through drawings, `predict` asks for a number beforehand, `quiz` asks five
questions at the end.
"""

from course_lib.widgets.prediction import predict
from course_lib.widgets.self_check import quiz
from course_lib.widgets.sliders import live
from course_lib.widgets.steps import film_player, player

__all__ = ["film_player", "live", "player", "predict", "quiz"]
