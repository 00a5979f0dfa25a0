"""What boxes of controls share: how they are set, how a move gets its answer, a progress bar while that takes long."""

import html
import threading
import time

import ipywidgets

from course_lib.plots import render
from course_lib.widgets.compute import alert
from course_lib.widgets.engine import Engine
from course_lib.widgets.facts import Facts, facts_table
from course_lib.widgets.static import StaticBox

SLOW_S, TICK_S = 0.25, 0.1      # an answer that takes longer than SLOW_S gets a progress bar, moved every TICK_S
WRAPPED = {"flex_flow": "row wrap"}
BUTTONS = WRAPPED | {"display": "flex", "align_items": "baseline", "grid_gap": "8px", "width": "auto"}      # words, then buttons
# Around a table whose numbers are of the move before: the column that will be replaced is grey.
STALE_NOW = ("<style>.wbw-stale th:nth-child(2),.wbw-stale td:nth-child(2){opacity:0.25}</style>"
             '<div class="wbw-stale" aria-busy="true">')
STALE = '<div aria-hidden="true" inert style="opacity:0.25">'                       # around a picture of the move before
BESIDE = WRAPPED | {"min_height": "300px", "grid_gap": "12px"}                                              # a table and a picture


def progress_bar(words: str) -> ipywidgets.FloatProgress:
    """Return a bar that is not seen yet; it stands beside the last control, where empty space is no gap.

    >>> progress_bar("running").layout.visibility
    'hidden'
    """
    return ipywidgets.FloatProgress(min=0, max=1, bar_style="info", description=words, layout={"visibility": "hidden", "width": "300px"})


def status(text: str) -> str:
    """Return a line as HTML that a screen reader announces.

    >>> status("1 < 2")
    '<div role="status" aria-live="polite">1 &lt; 2</div>'
    """
    return f'<div role="status" aria-live="polite">{html.escape(text)}</div>'


class WaitingBox(StaticBox):
    """A box whose controls ask `engine`: a status line, a table now and before, a picture from `drawings`, a progress bar.

    A subclass makes both engines, on `_deliver` and `_deliver_drawing`, and says:

    - `position()`, `describe(position)`: what is asked for now, and in words;
    - `_drawing()`: what `drawings` is asked for now, and `_illustrated`: whether there are pictures;
    - `_facts_of(value)`: the table's rows, or None; `_took(outcome)`: how the answer came about;
    - `_doing`, `_refused`: words before and after a position ("counting", "cannot be").
    """

    engine: Engine
    drawings: Engine

    def _prepare_parts(self, words):
        self.status, self.table, self.image = ipywidgets.HTML(), ipywidgets.HTML(), ipywidgets.HTML()
        self.progress = progress_bar(words)
        self._before: Facts | None = None             # the table's facts
        self._now: Facts | None = None
        self._failed: Exception | None = None         # why there are none
        self._asked_at, self._seconds = 0.0, 0.5                      # when the reader asked; how long it took last time

    def close(self) -> None:
        """Close the widget and stop its threads."""
        self.engine.close()
        self.drawings.close()
        super().close()

    def _ask(self):
        self._asked_at, position = time.perf_counter(), self.position()
        if not self.engine.known(position):           # said before the request: its answer may come at once
            self.status.value = status(f"{self._doing} {self.describe(position)} …")
        self._fade()
        if not self.engine.request(position):
            self._later(SLOW_S)

    def _fade(self):
        """Grey out the numbers and the picture that are of another position than the controls, until theirs are there."""
        numbers = self.table.value
        if numbers and not self.engine.known(self.position()) and not numbers.startswith(STALE_NOW):
            self.table.value = f"{STALE_NOW}{numbers}</div>"
        shown = self.image.value
        if self._illustrated and shown and not self.drawings.known(self._drawing()) and not shown.startswith(STALE):
            self.image.value = f"{STALE}{shown}</div>"

    def _deliver(self, outcome):
        self.progress.layout.visibility = "hidden"
        words, self._failed = self.describe(outcome.position), outcome.error
        if outcome.error is not None:
            self.status.value = status(f"{words} {self._refused}:") + alert(str(outcome.error))
            self.table.value = self.image.value = ""
            return
        self._seconds = max(outcome.seconds, 0.1)
        self.status.value = status(f"{words}: {self._took(outcome)}")
        found = self._facts_of(outcome.value)
        if found is not None:
            self._before, self._now = self._now, found
            self.table.value = facts_table(found, self._before)._repr_html_()
        if self._illustrated and self._asked_at:      # the numbers first; the picture follows
            self.drawings.request(self._drawing())

    def _draw_at(self, position, picture):
        """Return the picture of a position, computed where it is not known."""
        outcome = self.engine.now(position)
        if outcome.error is not None:
            raise outcome.error
        return render(*picture(outcome.value), small=False)

    def _deliver_drawing(self, outcome):
        if outcome.position == self._drawing():
            self.image.value = "" if outcome.error is not None else outcome.value._repr_html_()

    def _later(self, seconds):
        timer = threading.Timer(seconds, self._tick)
        timer.daemon = True
        timer.start()

    def _tick(self):
        if not self.engine.busy():                    # answered while this was on its way
            self.progress.layout.visibility = "hidden"
            return
        elapsed = time.perf_counter() - self._asked_at
        self.progress.value = elapsed / (elapsed + self._seconds)
        self.progress.layout.visibility = "visible"
        self._later(TICK_S)
