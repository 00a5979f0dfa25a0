"""What boxes of controls share: a progress bar while an answer takes long, and an end to their threads."""

import threading
import time

from course_lib.widgets.static import StaticBox

SLOW_S, TICK_S = 0.25, 0.1      # an answer that takes longer than SLOW_S gets a progress bar, moved every TICK_S


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
