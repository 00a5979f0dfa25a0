"""What boxes of controls share: how they are set, a progress bar while an answer takes long, and an end to their threads."""

import threading
import time

import ipywidgets

from course_lib.widgets.static import StaticBox

SLOW_S, TICK_S = 0.25, 0.1      # an answer that takes longer than SLOW_S gets a progress bar, moved every TICK_S
WRAPPED = {"flex_flow": "row wrap"}
BUTTONS = WRAPPED | {"display": "flex", "align_items": "baseline", "grid_gap": "8px", "width": "auto"}      # words, then buttons
BESIDE = WRAPPED | {"min_height": "300px", "grid_gap": "12px"}                                              # a table and a picture


def progress_bar(words):
    """Return a bar that is not seen yet; it stands beside the last control, where an empty place is no gap.

    >>> progress_bar("running").layout.visibility
    'hidden'
    """
    return ipywidgets.FloatProgress(min=0, max=1, bar_style="info", description=words, layout={"visibility": "hidden", "width": "300px"})


class WaitingBox(StaticBox):
    """A box with `engine`, `drawings` and `progress`; `_asked_at` is when the reader asked, `_seconds` how long it took last time."""

    def close(self):
        """Close the widget and stop its threads."""
        self.engine.close()
        self.drawings.close()
        super().close()

    def _later(self, seconds):
        timer = threading.Timer(seconds, self._tick)
        timer.daemon = True
        timer.start()

    def _tick(self):
        if not self.engine.busy():               # answered while this was on its way
            self.progress.layout.visibility = "hidden"
            return
        elapsed = time.perf_counter() - self._asked_at
        self.progress.value = elapsed / (elapsed + self._seconds)
        self.progress.layout.visibility = "visible"
        self._later(TICK_S)
