"""Step through drawings: play, pause, one step back or on, or drag; the next drawings are made ahead."""

import html
from collections.abc import Callable

import ipywidgets
from matplotlib.axes import Axes

from course_lib.plots import render
from course_lib.widgets.engine import Engine
from course_lib.widgets.static import StaticBox

PAUSE_MS = 700


class Player(StaticBox):
    """Plays `count` drawings; made by `player`."""

    def __init__(self, count: int, draw: Callable[[int], Axes], describe: Callable[[int], str], *, start: int = 0,
                 pause_ms: int = PAUSE_MS) -> None:
        self._draw, self._describe, self._count = draw, describe, count
        self.engine = Engine(self._picture, self._show, capacity=max(64, count), idle_s=0.02,
                             neighbours=lambda p: [(i,) for i in (p[0] + 1, p[0] + 2, p[0] - 1) if 0 <= i < count])
        self.play = ipywidgets.Play(min=0, max=count - 1, value=start, interval=pause_ms, tooltip="Play or pause",
                                    description="Play the steps")
        self.step = ipywidgets.IntSlider(min=0, max=count - 1, value=start, description="step", readout=False,
                                         tooltip="Drag, or use the arrow keys", layout={"width": "420px"})
        self.back = ipywidgets.Button(description="◀ back", tooltip="One step back", layout={"width": "90px"})
        self.on = ipywidgets.Button(description="next ▶", tooltip="One step on", layout={"width": "90px"})
        self.image = ipywidgets.HTML()
        ipywidgets.jslink((self.play, "value"), (self.step, "value"))
        self.back.on_click(lambda _: self._move(-1))
        self.on.on_click(lambda _: self._move(+1))
        self.step.observe(lambda change: self.engine.request((change["new"],)), "value")
        self._show(self.engine.now((start,)))
        super().__init__([ipywidgets.HBox([self.play, self.back, self.step, self.on]), self.image])
        self._watch_views()

    def position(self) -> tuple[int]:
        """Return what `engine` is asked for now."""
        return (self.step.value,)

    def close(self) -> None:
        """Close the widget and stop its threads."""
        self.engine.close()
        super().close()

    def _move(self, by):
        self.step.value = min(max(self.step.value + by, 0), self._count - 1)

    def _picture(self, position):
        return render(self._draw(position[0]), self._describe(position[0]), small=False)

    def _show(self, outcome):
        if outcome.error:
            self.image.value = f'<p role="alert">{html.escape(str(outcome.error))}</p>'
        else:
            self.image.value = outcome.value._repr_html_()

    def static_text(self) -> str:
        return f"A player of {self._count} steps (run this cell to play). First: {self._describe(0)}"


def player(count: int, draw: Callable[[int], Axes], describe: Callable[[int], str], *, start: int = 0) -> Player:
    """Make a player of drawings.

    Parameters
    ----------
    count
        Number of steps.
    draw, describe
        Of a step's index: its drawing, and the alternative text.
    start
        The step shown first.
    """
    return Player(count, draw, describe, start=start)
