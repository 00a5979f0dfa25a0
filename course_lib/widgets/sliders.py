"""Sliders on a live kernel: each move compiles and runs the real kernel and shows what changed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import ipywidgets

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.plots.picture import Drawn
from course_lib.run import offer, translate_ahead
from course_lib.widgets.compute import PADDING, evaluate
from course_lib.widgets.engine import Engine, Position
from course_lib.widgets.facts import USUAL, check_rows, facts, facts_table
from course_lib.widgets.waiting import BESIDE, BUTTONS, SLOW_S, WRAPPED, WaitingBox

AHEAD_BELOW_S = 0.8             # neighbours of a position that took longer are not computed ahead
SIZE = {"gather": "N: floats that are copied", "transpose": "N: rows and columns of the matrix", "vectors": "S: vectors"}
SIZE_NAME = {"vectors": "S"}        # of a kernel whose own parameters have an N


class Live(WaitingBox):
    """Sliders, a line that says what is going on, a table, a picture. Made by `live`."""

    def __init__(self, labels: Mapping[str, str], choices: Mapping[str, tuple[int, ...]], start: Mapping[str, int], N: int,
                 sizes: tuple[int, ...], tie: Iterable[str], pictures: Mapping[str, Callable[[Any], Drawn]], rows: Sequence[str],
                 unsaid: Iterable[str] = ()) -> None:
        self._unsaid = frozenset(unsaid)
        self._fixed = {name: value for name, value in start.items() if name not in choices}
        self._labels, self._tie, self._pictures, self._rows, self._moving = labels, tuple(tie), pictures, rows, False
        self._doing, self._refused, self._illustrated = "compiling and running", "cannot run", bool(pictures)
        self._prepare_parts("running")
        self._controls(choices, start, N, sizes)
        compiled = {name: values for name, values in choices.items() if name not in PADDING}
        self._offer = offer(tuple(labels), compiled, {name: value for name, value in start.items() if name not in PADDING})
        self.engine = Engine(self._compute, self._deliver, neighbours=self._neighbours, ahead_below_s=AHEAD_BELOW_S,
                             prepare=self._translate)
        self.drawings = Engine(self._draw, self._deliver_drawing, ahead_below_s=SLOW_S, prepare=self._compute_first,
                               neighbours=self._next_drawings if pictures else None)
        self.shown = None
        if len(pictures) > 1:
            self.shown = ipywidgets.ToggleButtons(options=list(pictures), description="picture", tooltips=list(pictures),
                                                  tooltip="Which picture", layout=BUTTONS, style={"button_width": "auto"})
            self.shown.observe(self._choose, "value")
        for control in self._all():
            control.observe(self._moved, "value")
        self._deliver(self.engine.now(self.position()))
        if pictures and self._failed is None:
            self._deliver_drawing(self.drawings.now(self._drawing()))
        size = self.size if len(sizes) > 1 else None          # of one size there is nothing to choose
        rows = [ipywidgets.HBox(list(self.sliders.values()), layout=WRAPPED),
                ipywidgets.HBox([w for w in (self.choice, self.tied, size, self.progress) if w is not None], layout=WRAPPED)]
        drawn = ipywidgets.VBox([*([self.shown] if self.shown else []), self.image])
        super().__init__([*rows, self.status, ipywidgets.HBox([self.table, drawn], layout=BESIDE)])
        self._watch_views()

    def _controls(self, choices, start, N, sizes):
        names = tuple(self._labels)
        kernel = kernels.get(names[0])
        meanings = PADDING | {p.name: p.meaning for p in kernel.parameters}
        self.sliders = {name: _slider(name, values, start[name], f"{name}: {meanings[name]}")
                        for name, values in choices.items()}
        self._size_name = SIZE_NAME.get(kernel.kind, "N")
        self.size = _slider(self._size_name, sizes, N, SIZE.get(kernel.kind, "N: rows and columns of A, B and C"))
        self._name, self.choice, self.tied = names[0], None, None
        if len(names) > 1:
            options = [(said, name) for name, said in self._labels.items()]
            self.choice = ipywidgets.ToggleButtons(options=options, value=names[0], description="kernel", tooltip="Which kernel",
                                                   tooltips=[kernels.get(n).idea for n in names], layout=BUTTONS,
                                                   style={"button_width": "auto"})
        if self._tie:
            self.tied = ipywidgets.Checkbox(value=True, description=f"keep {' = '.join(self._tie)}", indent=False,
                                            tooltip="Move these sliders together")

    def _all(self):
        return [w for w in (*self.sliders.values(), self.size, self.choice, self.tied) if w is not None]

    def position(self) -> Position:
        """Return (kernel, N, value of each slider): what is asked for now."""
        name = self.choice.value if self.choice else self._name
        return (name, self.size.value, *(s.value for s in self.sliders.values()))

    def _moved(self, change):
        if self._moving:
            return
        self._moving = True                     # tied sliders follow without asking for runs of their own
        try:
            if self.tied and self.tied.value and change["owner"] is not self.size:
                self._follow(change["owner"])
        finally:
            self._moving = False
        self._ask()

    def _choose(self, change):
        if self._failed is None:
            self._fade()
            self.drawings.request(self._drawing())

    def _follow(self, owner):
        tied = [self.sliders[name] for name in self._tie]
        leader = owner if owner in tied else tied[0]
        for slider in tied:
            if leader.value in slider.options:
                slider.value = leader.value

    def describe(self, position: Position) -> str:
        """Say a position in words: "sgemm_tiled, N = 256, BM = 16, …"."""
        name, N, *values = position
        told = {k: v for k, v in self._fixed.items() if k not in self._unsaid}
        asked = told | dict(zip(self.sliders, values, strict=True))
        said = [f"{k} = N + {v}" if k in PADDING else f"{k} = {v}" for k, v in asked.items()]
        return ", ".join([self._labels[name], f"{self._size_name} = {N}", *said])

    def _compute(self, position):
        """Return the result and its facts: some are of the machine code, which takes time, too."""
        name, N, *values = position
        result = evaluate(name, N, self._fixed | dict(zip(self.sliders, values, strict=True)))
        return result, facts(result, self._rows)

    def _translate(self, position, given_up):
        """Have the kernel of a position compiled where it is in nobody's way; as long as nobody sees the sliders, nobody will move them."""
        if not self._view_count:
            return False
        name, _, *values = position
        asked = self._fixed | dict(zip(self.sliders, values, strict=True))
        return translate_ahead(name, {k: v for k, v in asked.items() if k not in PADDING}, given_up)

    def _compute_first(self, asked, given_up):
        """Leave the drawing of a position until its numbers have been computed ahead."""
        return self.engine.wait_for(asked[1], given_up)

    def _drawing(self):
        """Return (name of the chosen picture, position): what is to be drawn now."""
        return self.shown.value if self.shown else next(iter(self._pictures)), self.position()

    def _draw(self, asked):
        chosen, position = asked
        return self._draw_at(position, lambda value: self._pictures[chosen](value[0]))

    def _next_drawings(self, asked):
        return [(asked[0], position) for position in self._neighbours(asked[1])]

    def _neighbours(self, position):
        """Return the positions one move away: the sliders first (all tied ones at once), then the other kernels."""
        name, N, *values = position
        near, options = [], [list(s.options) for s in self.sliders.values()]
        tied = [i for i, k in enumerate(self.sliders) if self.tied and self.tied.value and k in self._tie]
        groups = ([tied] if tied else []) + [[i] for i in range(len(values)) if i not in tied]
        for group in groups:
            choices = options[group[0]]
            at = choices.index(values[group[0]])
            for step in (at + 1, at - 1):
                if 0 <= step < len(choices):
                    near.append((name, N, *(choices[step] if i in group else v for i, v in enumerate(values))))
        others = [o for o in self._labels if o != name]
        return near + [(other, N, *values) for other in others]

    def _facts_of(self, value):
        return value[1]

    def _took(self, outcome):
        took = "known already" if outcome.cached else f"compiled, run and counted in {outcome.seconds:.2f} s"
        return f"{took}; counters {outcome.value[0].counters_label}"

    def static_html(self) -> str:
        caption = f"{self.describe(self.position())} (run this cell to move the sliders)"
        return facts_table(self._now or {}, caption=caption)._repr_html_() if self._failed is None else self.status.value

    def static_text(self) -> str:
        caption = f"{self.describe(self.position())} (run this cell to move the sliders)"
        return repr(facts_table(self._now or {}, caption=caption)) if self._failed is None else caption


def _slider(name, options, value, words):
    label = f"{name} − N" if name in PADDING else name
    return ipywidgets.SelectionSlider(options=options, value=value, description=label, tooltip=words,
                                      continuous_update=True, layout={"width": "300px"})


def live(kernel: str | Iterable[str] | Mapping[str, str], *, sliders: Mapping[str, Iterable[int]] | None = None,
         start: Mapping[str, int] | None = None, N: int = 256, sizes: Iterable[int] = (64, 128, 256, 512), tie: Iterable[str] = (),
         picture: Callable[[Any], Drawn] | Mapping[str, Callable[[Any], Drawn]] | None = None, rows: Iterable[str] = USUAL,
         constants: Mapping[str, int] | None = None) -> Live:
    """Put sliders on a kernel of the catalog.

    Parameters
    ----------
    kernel
        One kernel, or several with the same parameters to choose between, by their names or with a label for each; one that multiplies,
        transposes or copies, or that multiplies many vectors by one matrix.
    sliders
        Which parameters can be moved, and where; default all, with the catalog's choices. Values that break a rule
        are welcome: the widget says which rule, and why there is one. "lda", "ldb" and "ldc" add floats to each row.
    start
        Where sliders begin; default the catalog's. What has no slider keeps this value.
    N
        Rows and columns of the square matrices at the start; `sizes` are the choices, and a single one has no slider. For a copy
        the number of floats; of many vectors their number, and the slider is called S.
    tie
        Sliders that move together as long as a box is ticked.
    picture
        Of a result; of several, by their names, buttons choose one.
    rows
        The facts to show, names of `facts.ROWS`.
    constants
        Parameters without a slider that are not worth a word: the line above the sliders leaves them out.

    Raises
    ------
    CourseError
        For an unknown kernel, slider or row, or a start that no slider can have.
    """
    several = (kernel,) if isinstance(kernel, str) else kernel
    labels = dict(several) if isinstance(several, Mapping) else {name: name for name in several}
    names = tuple(labels)
    defaults = {p.name: p.default for p in kernels.get(names[0]).parameters}
    offered = sliders or {p.name: p.choices for p in kernels.get(names[0]).parameters if len(p.choices) > 1}
    known = defaults | dict.fromkeys(PADDING, 0)
    constants = dict(constants or {})
    for name in (*offered, *(start or {}), *constants):
        if name not in known:
            raise CourseError(f"{name} is no parameter of {names[0]}: there are {', '.join(known)}", kernel=names[0])
    choices = {name: tuple(values) for name, values in offered.items()}
    begin = {name: known[name] for name in choices} | dict(start or {}) | constants
    size = SIZE_NAME.get(kernels.get(names[0]).kind, "N")
    for name, value, values in (*((name, value, choices.get(name, (value,))) for name, value in begin.items()), (size, N, tuple(sizes))):
        if value not in values:
            raise CourseError(f"{name} begins at {value}, but its slider has {', '.join(map(str, values))}: add it, or name a start")
    pictures = dict(picture) if isinstance(picture, Mapping) else {"": picture} if picture else {}
    return Live(labels, choices, begin, N, tuple(sizes), tie, pictures, check_rows(rows), constants)
