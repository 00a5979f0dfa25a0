"""The bank bench: sliders for padding and tile; in one view the source with its wavefronts, the banks, the machine code, the time."""

import html
from collections.abc import Mapping, Sequence

import ipywidgets

from course_lib import data, kernels
from course_lib.arch import BANKS
from course_lib.errors import CourseError
from course_lib.lessons.bank_conflicts.bank_view import (
    ROOFLINE,
    TIMED_N,
    bank_view,
    bars_html,
    bars_table,
    code_html,
    measured_bar,
    recorded_bars,
    shared_code,
)
from course_lib.model.old_banks import OLD_BANKS
from course_lib.plots import render
from course_lib.run import choose_backend, offer
from course_lib.widgets.compute import alert
from course_lib.widgets.engine import Engine, Position
from course_lib.widgets.static import StaticBox

LOOK = "<style>.wbw-banks th{padding:1px 10px}</style>"


class BankBench(StaticBox):
    """Sliders and four panes; made by `bank_bench`."""

    def __init__(self, names: tuple[str, ...], pads: tuple[int, ...], tiles: tuple[int, ...], start: Mapping[str, int], N: int,
                 sizes: tuple[int, ...]) -> None:
        self.pad = _slider("PAD", pads, start["PAD"], "PAD: words added to each row of the tile")
        self.tile = _slider("TILE", tiles, start["TILE"], "TILE: rows and columns of the tile")
        self.size = _slider("N", sizes, N, "N: rows and columns of the matrices")
        self.kernel = _buttons([(name, name) for name in names], [kernels.get(name).idea for name in names])
        self.load = _buttons([("loads from the tile", True), ("stores to the tile", False)])
        self.banks = _buttons([("32 banks", BANKS), ("16 banks, modelled", OLD_BANKS), ("roofline", ROOFLINE)],
                              ["since Fermi, 2010", "CC 1.x: a half-warp at a time", "where a product lies under the roofs"])
        self.status, self.listing, self.image, self.code, self.times = (ipywidgets.HTML() for _ in range(5))
        self.listing.add_class("wbw-banks")
        self.engine = Engine(self._compute, self._deliver, neighbours=self._neighbours, ahead_below_s=0.8)
        self.drawings = Engine(self._draw, self._deliver_drawing, neighbours=self._next_drawings, ahead_below_s=1.5)
        self.machine = Engine(self._assemble, self._deliver_code, neighbours=self._next_code, ahead_below_s=3.0)
        self._offer = offer(names, {"PAD": tuple(pads), "TILE": tuple(tiles)}, start)
        for control in (self.pad, self.tile, self.size, self.kernel, self.load, self.banks):
            control.observe(self._moved, "value")
        self._enable()
        self._deliver(self.engine.now(self.position()), later=False)
        self._deliver_drawing(self.drawings.now((self.position(), self.banks.value)))
        self._deliver_code(self.machine.now(self._code_position()))
        wrap = {"flex_flow": "row wrap"}
        right = ipywidgets.VBox([self.code, self.times], layout={"min_width": "330px", "flex": "1 1 330px"})
        super().__init__([ipywidgets.HBox([self.pad, self.tile, self.size], layout=wrap),
                          ipywidgets.HBox([self.kernel, self.load, self.banks], layout=wrap),
                          self.status, self.listing, ipywidgets.HBox([self.image, right], layout=wrap | {"min_height": "300px"})])
        self._watch_views()

    def position(self) -> Position:
        """Return (kernel, N, TILE, PAD or None, loads or stores): what is asked for now."""
        pad = self.pad.value if self._padded(self.kernel.value) else None
        return self.kernel.value, self.size.value, self.tile.value, pad, self.load.value

    def _padded(self, name):
        return any(p.name == "PAD" for p in kernels.get(name).parameters)

    def _code_position(self):
        name, _, tile, pad, load = self.position()
        return name, tile, pad, load

    def _enable(self):
        self.pad.disabled = not self._padded(self.kernel.value)

    def _moved(self, change):
        self._enable()
        if change["owner"] is self.banks:
            self.drawings.request((self.position(), self.banks.value))
            return
        if not self.engine.known(self.position()):
            self.status.value = _status(f"compiling and running {self.describe(self.position())} …")
        self.engine.request(self.position())

    def describe(self, position: Position) -> str:
        """Say a position in words: "transpose, N = 128, TILE = 32, PAD = 1"."""
        name, N, tile, pad, _ = position
        return f"{name}, N = {N}, TILE = {tile}" + (f", PAD = {pad}" if pad is not None else "")

    def _compute(self, position):
        name, N, tile, pad, load = position
        which = {} if self._padded(name) else {"warp": 1, "number": 2}      # XOR with column 0 would change nothing
        return bank_view(name, N, _parameters(tile, pad), load, **which)

    def _draw(self, asked):
        position, banks = asked
        outcome = self.engine.now(position)
        if outcome.error is not None:
            raise outcome.error
        return render(*outcome.value.picture(banks), small=False)

    def _assemble(self, position):
        """Return (HTML of the machine code, HTML of the times, their text)."""
        name, tile, pad, load = position
        parameters = kernels.get(name).check(**_parameters(tile, pad))
        view = self.engine.now((name, self.size.value, tile, pad, load))
        if view.error is not None:
            raise view.error
        line = view.value.record.line
        caption, bars = self._bars(name, parameters)
        times, text = (bars_html(bars, caption), repr(bars_table(bars, caption))) if bars else (f"<p>{caption}</p>", caption)
        return code_html(shared_code(name, parameters, line, load), line), times, text

    def _bars(self, name, parameters):
        """Return the caption of the times and the bars."""
        bars, mine = recorded_bars(name, parameters), measured_bar(name, parameters)
        label = data.load("padding").label if "padding" in data.names() else ""
        told = f"{name}, TILE = {parameters['TILE']}, N = {TIMED_N:,}"
        if not bars and mine is None:
            return f"No recorded time of {told}.", ()
        bars += (mine,) if mine else ()
        where = label or (mine.label if mine else "")
        missing = "" if any(bar.now for bar in bars) else f"; PAD = {parameters.get('PAD')} is not recorded"
        return f"{told}, {where}{missing}", bars

    def _neighbours(self, position):
        """Return what to compute ahead: every padding, the nearest first; then one move of tile, loads or stores, kernel."""
        name, N, tile, pad, load = position
        near = [(name, N, tile, p, load) for p in self._pads(pad)]
        near += [(name, N, t, pad, load) for t in _beside(self.tile.options, tile)] + [(name, N, tile, pad, not load)]
        others = [other for _, other in self.kernel.options if other != name]
        return near + [(other, N, tile, self.pad.value if self._padded(other) else None, load) for other in others]

    def _next_drawings(self, asked):
        return [(position, asked[1]) for position in self._neighbours(asked[0])]

    def _next_code(self, position):
        """Return what to prepare ahead: nothing on a GPU, where a position is measured, and would keep it from the reader's next move."""
        name, tile, pad, load = position
        if choose_backend() == "gpu":
            return []
        return [(name, tile, p, load) for p in self._pads(pad)]

    def _pads(self, pad):
        """Return the other paddings, the nearest first; none for a kernel without padding."""
        return [] if pad is None else sorted((p for p in self.pad.options if p != pad), key=lambda p: (abs(p - pad), p < pad))

    def _deliver(self, outcome, later=True):
        words = self.describe(outcome.position)
        if outcome.error is not None:
            self.status.value = _status(f"{words} cannot run:") + alert(str(outcome.error))
            self.listing.value = self.image.value = self.code.value = self.times.value = ""
            return
        self.status.value = _status(f"{words}. {outcome.value.says()}", large=True)
        self.listing.value = LOOK + outcome.value.listing()._repr_html_()
        if later:                                   # the numbers first; picture and machine code follow
            self.drawings.request((outcome.position, self.banks.value))
            self.machine.request(self._code_position())

    def _deliver_drawing(self, outcome):
        if outcome.position == (self.position(), self.banks.value):
            self.image.value = f'<p role="alert">{html.escape(str(outcome.error))}</p>' if outcome.error else outcome.value._repr_html_()

    def _deliver_code(self, outcome):
        if outcome.position != self._code_position():
            return
        if outcome.error is not None:
            self.code.value, self.times.value, self._times = f'<p role="alert">{html.escape(str(outcome.error))}</p>', "", ""
            return
        self.code.value, self.times.value, self._times = outcome.value

    def close(self) -> None:
        """Close the widget and stop its threads."""
        for engine in (self.engine, self.drawings, self.machine):
            engine.close()
        super().close()

    def static_html(self) -> str:
        return "".join(part.value for part in (self.status, self.listing, self.code, self.times)).replace(LOOK, "")

    def static_text(self) -> str:
        view = self.engine.now(self.position())
        if view.error is not None:
            return str(view.error)
        return "\n".join([f"{self.describe(self.position())} (run this cell to move the sliders). {view.value.says()}",
                          repr(view.value.listing()), self._times])


def _beside(options, value):
    at = options.index(value)
    return [options[i] for i in (at + 1, at - 1) if 0 <= i < len(options)]


def _parameters(tile, pad):
    return {"TILE": tile} | ({} if pad is None else {"PAD": pad})


def _slider(name, options, value, words):
    return ipywidgets.SelectionSlider(options=tuple(options), value=value, description=name, tooltip=words, layout={"width": "300px"})


def _buttons(options, tooltips=()):
    return ipywidgets.ToggleButtons(options=options, tooltips=list(tooltips) or [text for text, _ in options],
                                    layout={"width": "auto", "margin": "0 18px 0 0"}, style={"button_width": "auto"})


def _status(text, large=False):
    size = "font-size:16px;line-height:1.3;padding:2px 0" if large else ""
    return f'<div role="status" aria-live="polite" style="{size}">{html.escape(text)}</div>'


def bank_bench(*names: str, pads: Sequence[int] = range(9), tiles: Sequence[int] = (8, 16, 32), start: Mapping[str, int] | None = None,
               N: int = 128, sizes: Sequence[int] = (64, 128, 256, 512)) -> BankBench:
    """Put sliders for padding and tile on kernels that transpose a tile in shared memory.

    Parameters
    ----------
    *names
        Of the catalog, to choose between; with a parameter TILE, and PAD or not.
    pads, tiles, sizes
        What the sliders offer.
    start
        Where TILE and PAD begin; default 32 and 0.

    Raises
    ------
    CourseError
        For an unknown kernel, one without TILE, or a start that no slider has.
    """
    start = {"TILE": 32, "PAD": 0} | dict(start or {})
    for name in names or ("",):
        if not any(p.name == "TILE" for p in kernels.get(name).parameters):
            raise CourseError(f"{name} has no parameter TILE, so that there is no tile to look at", kernel=name)
    for name, offered in (("PAD", pads), ("TILE", tiles)):
        if start[name] not in offered:
            raise CourseError(f"{name} begins at {start[name]}, but its slider has {', '.join(map(str, offered))}")
    return BankBench(names, tuple(pads), tuple(tiles), start, N, tuple(sizes))
