"""Move every slider and menu of lessons, and time it.

They are moved by keyboard and by mouse; a table tells what each move did and how long it took.

`tests/browser/test_lessons.py` is built on this.
"""
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click
from playwright.sync_api import TimeoutError as TooLong

from tools import ROOT
from tools.browser import MOVES, Lesson, open_lesson, require_chromium

WIDTHS = (1280, 1920)
REST_S = 0.6               # without a change: the picture has followed the numbers
OUTPUT = "xpath=ancestor::*[contains(@class, 'jp-OutputArea-output')][1]"
# What a move must change: numbers, pictures, reasons, panes of code, or for which values they were counted (counts per multiply-add do not
# depend on N, and a lesson may want that to be seen). The line that says what is going on does not count.
EFFECT = """control => [...control.closest('.jp-OutputArea-output').querySelectorAll('table, img, [role=alert], [role=region]')]
    .map(e => e.tagName === 'IMG' ? `${e.alt} ${e.src.length} ${e.src.slice(-200)}` : e.innerText)
    .concat(/^.* = .*(?=: (?:compiled, run|known already))/m.exec(control.closest('.jp-OutputArea-output').innerText) ?? []).join('\\n')"""
CHANGED = f"([control, before]) => ({EFFECT})(control) !== before"
BUSY = """control => control.closest('.jp-OutputArea-output').innerText.split('\\n').some(line => line.trimEnd().endsWith('…'))"""


@dataclass(frozen=True)
class Move:
    """What one move of one control did.

    Attributes
    ----------
    control : str
        Its name on the page.
    how : "keyboard" or "mouse"
    start, end : str
        Its values.
    seconds : float or None
        Until the first number, picture or reason changed; None when nothing did.
    """

    control: str
    how: str
    start: str
    end: str
    seconds: float | None

    def __str__(self) -> str:
        took = "changed nothing" if self.seconds is None else f"{1e3 * self.seconds:.0f} ms"
        return f"{self.control:24} {self.how:9} {self.start:>12} -> {self.end:12} {took}"


def watched(lesson: Lesson, control: Any, act: Callable[[], None]) -> float | None:
    """Wait until a control's output rests, do something to the control; return the seconds until its output changed, or None.

    The wait comes first as well as last: what an earlier control asked for may still be on its way, and would be taken for this one's
    effect.
    """
    element = control.element_handle()
    rest(lesson, element)
    before, begun = element.evaluate(EFFECT), time.perf_counter()
    act()
    try:
        lesson.page.wait_for_function(CHANGED, arg=[element, before], polling="raf", timeout=MOVES * 1000)
        seconds = time.perf_counter() - begun
    except TooLong:
        return None
    rest(lesson, element)
    return seconds


def rest(lesson: Lesson, element: Any) -> None:
    """Wait until the output that an element stands in changes no more, and says of nothing that it is going on ("counting …")."""
    text, until = None, time.monotonic() + MOVES
    while time.monotonic() < until and ((now := element.evaluate(EFFECT)) != text or element.evaluate(BUSY)):
        text = now
        lesson.page.wait_for_timeout(REST_S * 1000)


def label_of(control: Any) -> str:
    """Return the words beside a control."""
    return control.evaluate("""element => {
        for (let e = element; e; e = e.parentElement) {
            const label = e.querySelector(':scope > label');
            if (label) return label.innerText;
        }
        return 'list';
    }""").strip() or "list"


def value_of(slider: Any) -> str:
    """Return the value that a slider shows."""
    return slider.evaluate("""element => {
        for (let e = element; e && !e.matches('.jp-OutputArea-output'); e = e.parentElement) {
            const read = e.querySelector('.widget-readout');
            if (read) return read.innerText;
        }
        return element.getAttribute('aria-valuetext');
    }""").strip()


def slider_moves(lesson: Lesson, slider: Any) -> list[Move]:
    """Move a slider one step by an arrow key, and one step back by mouse; return both Moves."""
    name = label_of(slider)
    slider.scroll_into_view_if_needed()
    at, most = (float(slider.get_attribute(f"aria-value{which}")) for which in ("now", "max"))
    up = at < most
    moves = []
    acts = {"keyboard": lambda: slider.press("ArrowRight" if up else "ArrowLeft"), "mouse": lambda: drag(lesson, slider, not up)}
    for how, act in acts.items():
        start = value_of(slider)
        seconds = watched(lesson, slider, act)
        moves.append(Move(name, how, start, value_of(slider), seconds))
    return moves


def drag(lesson: Lesson, slider: Any, up: bool) -> None:
    """Drag a slider's handle by one step."""
    low, most = (float(slider.get_attribute(f"aria-value{which}")) for which in ("min", "max"))
    track = slider.locator("xpath=ancestor::*[contains(@class, 'noUi-base')][1]").bounding_box()
    handle = slider.bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    step = max(track["width"] / (most - low), 4) * (1.0 if up else -1.0)
    mouse = lesson.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + step / 2, y)
    mouse.move(x + step, y, steps=3)
    mouse.up()


def choice_moves(lesson: Lesson, select: Any) -> list[Move]:
    """Choose the next entry of a menu by keyboard (space, arrow, enter), and the one before as a mouse would.

    JupyterLab keeps the arrows of lists that are always open for itself; those are only for the mouse.
    """
    select.scroll_into_view_if_needed()
    names = select.locator("option").all_inner_texts()
    name = label_of(select)
    at = select.evaluate("element => element.selectedIndex")
    if len(names) < 2:
        return []
    up = at < len(names) - 1
    moves = []
    after = at + (1 if up else -1)

    def by_keys() -> None:
        select.focus()
        for key in ("Space", "ArrowDown" if up else "ArrowUp", "Enter"):
            lesson.page.keyboard.press(key)

    menu = select.evaluate("element => element.size < 2")
    acts = [("keyboard", by_keys) if menu else ("mouse", lambda: select.select_option(index=after)),
            ("mouse", lambda: select.select_option(index=at))]
    for how, act in acts:
        start = names[select.evaluate("element => element.selectedIndex")].strip()[:12]
        seconds = watched(lesson, select, act)
        moves.append(Move(name, how, start, names[select.evaluate("element => element.selectedIndex")].strip()[:12], seconds))
    return moves


def move_everything(lesson: Lesson) -> list[Move]:
    """Move every visible slider and list of a lesson that has been run; return the Moves."""
    moves = []
    for control, act in ((lesson.sliders(), slider_moves), (lesson.page.locator(".jp-OutputArea select"), choice_moves)):
        for i in range(control.count()):
            if control.nth(i).is_visible():
                moves += act(lesson, control.nth(i))
    return moves


def main_widget_shots(lesson: Lesson, folder: Path, name: str) -> list[Path]:
    """Write pictures of the output with most sliders, at both widths; return their paths."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sliders = lesson.sliders()
    outputs = [sliders.nth(i).locator(OUTPUT) for i in range(sliders.count()) if sliders.nth(i).is_visible()]
    if not outputs:
        return []
    main = max(outputs, key=lambda output: output.locator(".noUi-handle[role=slider]").count())
    paths = []
    for width in WIDTHS:
        lesson.page.set_viewport_size({"width": width, "height": 1080 if width > WIDTHS[0] else 900})
        main.scroll_into_view_if_needed()
        lesson.page.wait_for_timeout(400)
        paths.append(folder / f"{name}-widget-{width}.png")
        main.screenshot(path=paths[-1])
    lesson.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    return paths


@dataclass(frozen=True)
class Visit:
    """What happened in a lesson: cells that failed, moves, errors in the browser's console, pictures."""

    failed: list
    moves: list
    errors: list
    shots: list

    def table(self) -> str:
        """Return the moves as text, with their median."""
        times = [m.seconds for m in self.moves if m.seconds is not None]
        return "\n".join([*map(str, self.moves), f"median {1e3 * median(times):.0f} ms of {len(times)} moves" if times else "no moves"])


def visit(notebook: Path, folder: Path = ROOT / "build" / "screenshots", look_s: float = 0.0) -> Visit:
    """Open a lesson in JupyterLab, run it, move everything, take pictures of its main widget.

    Parameters
    ----------
    notebook : path
    folder : path
        For pictures, and a text file with the table of moves.
    look_s : float
        How long the lesson is left alone before the first move: neighbouring positions are computed meanwhile.

    Returns
    -------
    Visit
    """
    name = Path(notebook).stem
    with open_lesson(notebook) as lesson:
        failed = lesson.run_all()
        shots = main_widget_shots(lesson, folder, name)
        lesson.page.wait_for_timeout(1e3 * look_s)
        moves = move_everything(lesson)
        done = Visit(failed, moves, list(lesson.errors), shots)
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, f"{name}-moves.txt").write_text(done.table() + "\n", encoding="utf-8")
    return done


@click.command()
@click.argument("notebooks", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--look", default=0.0, help="Seconds that a reader looks before the first move.")
def command(notebooks: tuple[Path, ...], look: float) -> None:
    """Print the table of each lesson's moves."""
    require_chromium()
    for notebook in notebooks:
        done = visit(notebook, look_s=look)
        print(notebook, done.table(), *map(str, done.shots), *done.errors, *(f"cell {n}: {text}" for n, text in done.failed), sep="\n")
