"""Choose an access of a running kernel and see its 32 lanes: over sectors when it is global memory, over banks when shared."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import ipywidgets
from matplotlib.axes import Axes

from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.plots import bank_grid, describe_banks, describe_sectors, every_warp, lane_sectors, render, style
from course_lib.run import LaunchResult
from course_lib.run.traces import is_load, is_store, name_of, touched_sectors
from course_lib.simt.report import TraceRecord
from course_lib.widgets.compute import evaluate
from course_lib.widgets.engine import Engine, Position
from course_lib.widgets.static import StaticBox

MOST_BLOCKS = 4            # of a launch are traced: a trace of all would be long


@dataclass(frozen=True, order=True)
class AccessSite:
    """One access in the source: its line, whether it loads, the array it touches, the memory and the bytes a lane."""

    line: int
    store: bool
    array: str
    space: str
    width: int

    def __str__(self) -> str:
        verb = "store to" if self.store else "load of"
        return f"{verb} {self.array or self.space + ' memory'} ({self.space}, {8 * self.width} bits a lane)"


Sites = dict[AccessSite, dict[tuple[tuple[int, ...], int], list[TraceRecord]]]       # by block and warp, in the order of the trace


def traced(kernel: str | Kernel, N: int, parameters: Mapping[str, int]) -> LaunchResult:
    """Run a kernel on the simulator with the first blocks of its grid traced.

    Parameters
    ----------
    kernel, N
        As for `compute.evaluate`.
    """
    plan = evaluate(kernel, N, parameters, backend="sim")
    blocks = {(x, y, 0) for x in range(min(2, plan.grid[0])) for y in range(min(MOST_BLOCKS // 2, plan.grid[1]))}
    warps = every_warp((1, 1), plan.block)
    return evaluate(kernel, N, parameters, backend="sim", trace=tuple((block, warp) for block in sorted(blocks) for _, warp in warps))


def access_sites(result: LaunchResult) -> Sites:
    """Return what can be chosen: {AccessSite: {(block, warp): records}}, in the order of the source.

    Raises
    ------
    CourseError
        When the run was not traced, or accesses no memory.
    """
    found: Sites = {}
    for record in result.trace:
        if record.space not in ("global", "shared") or not record.mask or not (is_load(record) or is_store(record)):
            continue
        site = AccessSite(record.line, is_store(record), name_of(result, record), record.space, record.width)
        found.setdefault(site, {}).setdefault((tuple(record.block), record.warp), []).append(record)
    if not found:
        raise CourseError("this run holds no traced access: run the kernel with trace=[((0, 0, 0), 0)], or give accesses() its name")
    return dict(sorted(found.items()))


def draw(record: TraceRecord, banks: int = 32, base: int | None = None, small: bool = False) -> tuple[Axes, str]:
    """Return (Axes, alternative text) of one access, as fits its memory.

    Parameters
    ----------
    banks
        32 or 16.
    base
        Address that counts as zero in global memory: the array's first byte.
    small
        As wide as fits beside a table.
    """
    if record.space == "global":
        ax = style.axes(width=5.9, height=4.4) if small else None
        n = len(touched_sectors(record))
        title = f"line {record.line}: one request, {n} sector{'s' * (n != 1)}" if small else None
        return lane_sectors(record, ax, base=base, title=title), describe_sectors(record)
    ax = style.axes(width=6.4, height=5.4) if small else None
    return bank_grid(record, ax, banks=banks), describe_banks(record, banks)


class Accesses(StaticBox):
    """The chooser; made by `accesses`."""

    def __init__(self, found: Sites, source: Sequence[str], first: AccessSite, banks: Sequence[int], bases: Mapping[str, int]) -> None:
        self._sites, self._source, self._bases, self._moving = found, source, bases, False
        wide = {"width": "auto", "min_width": "420px"}
        self.line = ipywidgets.Dropdown(options=self._lines(), value=first.line, description="line", layout=wide,
                                        tooltip="The source line that accesses memory")
        self.access = ipywidgets.Dropdown(options=self._of_line(first.line), value=first, description="access", layout=wide,
                                          tooltip="Which access of that line")
        self.block = ipywidgets.Dropdown(options=[(0, 0, 0)], description="block", layout={"width": "190px"}, tooltip="blockIdx: x, y, z")
        self.warp = ipywidgets.Dropdown(options=[0], description="warp", layout={"width": "160px"}, tooltip="The warp in its block")
        self.index = ipywidgets.IntSlider(min=1, max=2, value=1, description="request", layout={"width": "380px"},
                                          tooltip="Which time this warp came by that line")
        self.banks = None
        if len(banks) > 1:
            self.banks = ipywidgets.ToggleButtons(options=[(f"{n} banks", n) for n in banks], layout={"width": "auto"})
        self._only = banks[0]
        self.status, self.image = ipywidgets.HTML(), ipywidgets.HTML()
        self._offer_choices()
        self.engine = Engine(self._picture, self._show, idle_s=0.02, neighbours=self._neighbours)
        for control in self._all():
            control.observe(self._moved, "value")
        self._show(self.engine.now(self.position()))
        lower = [self.block, self.warp, self.index, *([self.banks] if self.banks else [])]
        super().__init__([ipywidgets.HBox([self.line, self.access], layout={"flex_flow": "row wrap"}),
                          ipywidgets.HBox(lower, layout={"flex_flow": "row wrap"}), self.status, self.image])
        self._watch_views()

    def _all(self):
        return [c for c in (self.line, self.access, self.block, self.warp, self.index, self.banks) if c is not None]

    def _lines(self):
        numbers = dict.fromkeys(site.line for site in self._sites)
        return [(f"{n}  {self._source[n - 1].strip() if 0 < n <= len(self._source) else ''}"[:90], n) for n in numbers]

    def _of_line(self, line):
        return [(str(site), site) for site in self._sites if site.line == line]

    def _offer_choices(self):
        """Offer the blocks, warps and requests that there are for the chosen access, keeping what still fits."""
        who = self._sites[self.access.value]
        _options(self.block, list(dict.fromkeys(block for block, _ in who)))
        _options(self.warp, [warp for block, warp in who if block == self.block.value])
        most = len(who[self.block.value, self.warp.value])
        self.index.value = min(self.index.value, most)
        self.index.max = max(most, 2)                             # a slider needs two ends
        self.index.layout.visibility = "visible" if most > 1 else "hidden"

    def position(self) -> Position:
        """Return (site, block, warp, number of the request from 1, banks): what is asked for now."""
        banks = self.banks.value if self.banks and self.access.value.space == "shared" and self.access.value.width == 4 else self._only
        site, block, warp = self.access.value, self.block.value, self.warp.value
        return site, block, warp, min(self.index.value, len(self._sites[site][block, warp])), banks

    def record(self, position: Position | None = None) -> TraceRecord:
        """Return the record of the trace that a position stands for; default the present one."""
        site, block, warp, number, _ = position or self.position()
        return self._sites[site][block, warp][number - 1]

    def _moved(self, change):
        if self._moving:
            return
        self._moving = True                 # what follows from a choice asks for no picture of its own
        try:
            if change["owner"] is self.line:
                _options(self.access, self._of_line(self.line.value))
            self._offer_choices()
        finally:
            self._moving = False
        self.engine.request(self.position())

    def _neighbours(self, position):
        site, block, warp, number, banks = position
        most = len(self._sites[site][block, warp])
        return [(site, block, warp, n, banks) for n in (number + 1, number - 1) if 1 <= n <= most]

    def _picture(self, position):
        record = self.record(position)
        return render(*draw(record, position[-1], self._bases.get(position[0].array)), small=False)

    def _show(self, outcome):
        site, block, warp, number, _ = outcome.position
        if outcome.error is not None:
            self.status.value, self.image.value = f'<p role="alert">{html.escape(str(outcome.error))}</p>', ""
            return
        most = len(self._sites[site][block, warp])
        words = f"{site}, line {site.line}, block {block}, warp {warp}, request {number} of {most}. {outcome.value.alt}"
        self.status.value = f'<div role="region" aria-label="choice" aria-live="polite" style="max-width:1000px">{html.escape(words)}</div>'
        self.image.value = outcome.value._repr_html_()

    def close(self) -> None:
        """Close the widget and stop its threads."""
        self.engine.close()
        super().close()

    def static_html(self) -> str:
        return self.image.value

    def static_text(self) -> str:
        return f"Accesses of a kernel, to choose from (run this cell to choose). First: {self.access.value}, line {self.line.value}"


def _options(dropdown, options):
    """Offer other options, keeping the value where it is one of them."""
    values = [o[1] if isinstance(o, tuple) and len(o) == 2 and isinstance(o[0], str) else o for o in options]
    keep = dropdown.value if dropdown.value in values else values[0]
    dropdown.options = [o if isinstance(o, tuple) and isinstance(o[0], str) else (str(o), o) for o in options]
    dropdown.value = keep


def accesses(what: LaunchResult | str | Kernel, *, N: int = 64, banks: Iterable[int] = (32,), line: int | None = None,
             array: str | None = None, **parameters: int) -> Accesses:
    """Choose source line, access, block, warp and request; see the lanes over sectors or banks.

    Parameters
    ----------
    what
        A traced result; or a kernel, which is then run with N × N matrices and the first blocks traced.
    banks
        32, 16 or both. With both, a pair of buttons shows an access of 32 bits as a GPU before Fermi serves it.
    line, array
        Where to begin: default the first access in the source.
    **parameters
        Of the kernel.

    Raises
    ------
    CourseError
        When nothing was traced, no access fits `line` and `array`, or the kernel cannot run so.
    """
    result = what if isinstance(what, LaunchResult) else traced(what, N, parameters)
    found = access_sites(result)
    return Accesses(found, result.kernel.source.splitlines(), _first(found, line, array), tuple(banks),
                    {a.name: a.address for a in result.arrays})


def _first(found, line, array):
    """Return the access to begin with: of that line and array when they are named."""
    for site in found:
        if line in (None, site.line) and array in (None, site.array):
            return site
    there = "; ".join(f"line {p.line}: {p}" for p in found)
    raise CourseError(f"no traced access fits line = {line}, array = {array!r}; there are {there}")
