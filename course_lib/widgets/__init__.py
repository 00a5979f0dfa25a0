"""Thin ipywidgets that several lessons share: a pure function computes, the widget shows.

`live` puts sliders on any kernel, `accesses` shows the lanes of an access, `player` steps through drawings, `predict` asks for a number
beforehand, `quiz` asks five questions at the end. What belongs to one lesson alone is in its package of `course_lib.lessons`.
"""

from course_lib.errors import require

require("course_lib.widgets", "anywidget", "ipywidgets", "matplotlib")

from course_lib.widgets.accesses import accesses
from course_lib.widgets.prediction import predict
from course_lib.widgets.self_check import quiz
from course_lib.widgets.sliders import live
from course_lib.widgets.steps import player

__all__ = ["accesses", "live", "player", "predict", "quiz"]
