"""Controls on any function of a few choices: a status line, a table now and before, a picture; the latest move wins.

`live` is for kernels on the GPU; this is for what the lessons on the CPU move.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import ipywidgets

from course_lib.plots import render
from course_lib.plots.picture import Drawn
from course_lib.widgets.engine import Engine, Position
from course_lib.widgets.facts import Facts, facts_table
from course_lib.widgets.waiting import BESIDE, BUTTONS, WRAPPED, WaitingBox

MOST_BUTTONS = 10               # of one choice; more words become a list
KNOWN_S = 0.0005                # what takes less was not computed: the function remembered it


@dataclass(frozen=True)
class Control:
    """One choice: numbers become a slider, words become buttons, many words a list.

    Attributes
    ----------
    name, meaning
        Beside the control; in its tooltip.
    options
        Values, or (label, value) pairs.
    start
        The value at the beginning.

    >>> Control("N", "rows", (64, ("many", 128)), 64).words(128)
    'N = many'
    """

    name: str
    meaning: str
    options: tuple[Any, ...]
    start: Any

    @property
    def pairs(self) -> tuple[tuple[str, Any], ...]:
        """Return (label, value) of each choice."""
        return tuple(o if isinstance(o, tuple) else (str(o), o) for o in self.options)

    @property
    def values(self) -> tuple[Any, ...]:
        """Return what can be chosen."""
        return tuple(value for _, value in self.pairs)

    def words(self, value: Any) -> str:
        """Say a choice."""
        return f"{self.name} = {next(label for label, known in self.pairs if known == value)}"

    def widget(self) -> ipywidgets.DOMWidget:
        """Return an ipywidget."""
        tooltip = f"{self.name}: {self.meaning}"
        if all(isinstance(value, str) for value in self.values) and len(self.values) > MOST_BUTTONS:
            return ipywidgets.Dropdown(options=self.pairs, value=self.start, description=self.name, tooltip=tooltip,
                                       layout={"width": "300px"})
        if all(isinstance(value, str) for value in self.values):
            return ipywidgets.ToggleButtons(options=self.pairs, value=self.start, description=self.name, tooltip=tooltip,
                                            layout=BUTTONS, style={"button_width": "auto"})
        return ipywidgets.SelectionSlider(options=self.pairs, value=self.start, description=self.name, tooltip=tooltip,
                                          continuous_update=True, layout={"width": "300px"})


class Explore(WaitingBox):
    """Controls, a status line, a table, a picture.

    Parameters
    ----------
    controls
        Their values, in order, are the arguments of `compute`.
    compute
        A CourseError is shown to the reader; it may be a rule that the choice breaks.
    facts
        Of a result, the table's rows by their labels.
    picture
        Of a result.
    doing, done
        What the status line says while it computes ("counting"), and afterwards ("counted in a model of a cache").
    ahead
        Whether positions one move away are computed when nothing else is to do; not for what is measured.
    """

    def __init__(self, controls: Iterable[Control], compute: Callable[..., Any], *, facts: Callable[[Any], Facts] | None = None,
                 picture: Callable[[Any], Drawn] | None = None, doing: str = "computing", done: str = "computed",
                 ahead: bool = True) -> None:
        self.controls, self._function, self._facts, self._picture = tuple(controls), compute, facts, picture
        self._doing, self._done = doing, done
        self._refused, self._illustrated = "cannot be", bool(picture)
        self._prepare_parts(doing)
        near = self._neighbours if ahead else None
        self.engine = Engine(lambda position: self._function(*position), self._deliver, neighbours=near)
        self.drawings = Engine(self._draw, self._deliver_drawing, neighbours=near)
        self.boxes = {control.name: control.widget() for control in self.controls}
        for box in self.boxes.values():
            box.observe(lambda _change: self._ask(), "value")
        self._deliver(self.engine.now(self.position()))
        if picture and self._failed is None:        # small: it is committed with the notebook
            self.image.value = render(*picture(self.engine.now(self.position()).value))._repr_html_()
        boxes = list(self.boxes.values())
        buttons = [box for box in boxes if isinstance(box, ipywidgets.ToggleButtons)]
        sliders = ipywidgets.HBox([*(box for box in boxes if box not in buttons), self.progress], layout=WRAPPED)
        super().__init__([*buttons, sliders, self.status, ipywidgets.HBox([self.table, self.image], layout=BESIDE)])
        self._watch_views()

    def position(self) -> Position:
        """Return the value of each control: what is asked for now."""
        return tuple(box.value for box in self.boxes.values())

    def describe(self, position: Position) -> str:
        """Say a position in words: "order = ijk, N = 128"."""
        return ", ".join(control.words(value) for control, value in zip(self.controls, position, strict=True))

    _drawing = position

    def _draw(self, position):
        return self._draw_at(position, self._picture)

    def _neighbours(self, position):
        near = []
        for at, control in enumerate(self.controls):
            place = control.values.index(position[at])
            for step in (place + 1, place - 1):
                if 0 <= step < len(control.values):
                    near.append((*position[:at], control.values[step], *position[at + 1:]))
        return near

    def _facts_of(self, value):
        return self._facts(value) if self._facts else None

    def _took(self, outcome):
        return "known already" if outcome.cached or outcome.seconds < KNOWN_S else f"{self._done} in {outcome.seconds:.2f} s"

    def _caption(self):
        return f"{self.describe(self.position())} (run this cell to move the controls)"

    def static_html(self) -> str:
        if self._failed is not None:
            return self.status.value
        parts = [facts_table(self._now, caption=self._caption())._repr_html_()] if self._now else [f"<p>{self._caption()}</p>"]
        return "\n".join([*parts, self.image.value])

    def static_text(self) -> str:
        return repr(facts_table(self._now, caption=self._caption())) if self._now else self._caption()
