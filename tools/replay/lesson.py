"""Run a lesson to its end and move its sliders, in the environment of this Python: `binder` and `colab` call it.

    python tools/replay/lesson.py notebooks/04_tiling.ipynb [FILE]      FILE holds a cell to run before the lesson's own

Prints a line of JSON. Needs only nbclient, so that it runs with the Jupyter packages of other people's environments.
"""
import json
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

WIDGET = "application/vnd.jupyter.widget-view+json"
# What a page would do: say that the controls are seen, and move the first one of each box by a step.
MOVES = """
import json, ipywidgets
from ipywidgets.widgets import widget as _widget
_all = getattr(_widget, "_instances", None) or ipywidgets.Widget.widgets
def _controls(box):
    for child in getattr(box, "children", ()):
        if isinstance(child, (ipywidgets.SelectionSlider, ipywidgets.ToggleButtons)) and len(child.options) > 1:
            yield child
        elif isinstance(child, ipywidgets.IntSlider) and child.max > child.min:
            yield child
        yield from _controls(child)
_moved = []
for _box in [box for box in list(_all.values()) if hasattr(box, "engine") and hasattr(box, "position")]:
    _box.set_trait("_view_count", 1)
    for _control in list(_controls(_box))[:1]:
        _before = _box.position()
        if isinstance(_control, ipywidgets.IntSlider):
            _control.value += 1 if _control.value < _control.max else -1
        else:
            _control.index += 1 if _control.index + 1 < len(_control.options) else -1
        _moved.append([type(_box).__name__, _box.position() != _before and _box.engine.settle(120) and _box.engine.known(_box.position())])
print(json.dumps(_moved))
"""


def run(lesson: str, before: str = "") -> dict:
    """Run a lesson in the current folder.

    Returns
    -------
    dict
        "lesson", "seconds"; "failed": (cell, what it said) of each cell that failed unasked; "widgets": how many were shown; "moved":
        (kind, whether a move was answered) of each box of controls.
    """
    notebook = nbformat.read(lesson, as_version=4)
    if before:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(before))
    notebook.cells.append(nbformat.v4.new_code_cell(MOVES))
    begun = time.perf_counter()
    NotebookClient(notebook, timeout=600, kernel_name="python3", allow_errors=True,
                   resources={"metadata": {"path": str(Path.cwd())}}).execute()
    outputs = [(number, cell, output) for number, cell in enumerate(notebook.cells) for output in cell.get("outputs") or ()]
    failed = [(number, f"{output.ename}: {output.evalue}"[:300]) for number, cell, output in outputs
              if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", ())]
    said = "".join(output.text for number, _, output in outputs if number == len(notebook.cells) - 1 and output.output_type == "stream")
    return {"lesson": Path(lesson).name, "seconds": round(time.perf_counter() - begun, 1), "failed": failed,
            "widgets": sum(WIDGET in output.get("data", {}) for *_, output in outputs),
            "moved": json.loads(said.strip().rpartition("\n")[2] or "[]")}


def index_variables() -> dict[str, str]:
    """Return those of this process's variables that say how pip reaches its index; the rest stays out of a replay."""
    return {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_")) or "proxy" in name.lower()}


def told(result: dict) -> str:
    """Put a result into a sentence.

    >>> told({"lesson": "a.ipynb", "seconds": 2.0, "failed": [], "widgets": 2, "moved": [["Live", True]]})
    'a.ipynb: 2.0 s, every cell ran, 2 widgets shown, 1 of 1 moved and answered'
    """
    cells = "; ".join(f"cell {number} failed: {why}" for number, why in result["failed"]) or "every cell ran"
    answered = sum(right for _, right in result["moved"])
    return (f"{result['lesson']}: {result['seconds']} s, {cells}, {result['widgets']} widgets shown, "
            f"{answered} of {len(result['moved'])} moved and answered")


def right(result: dict) -> bool:
    """Tell whether every cell ran, there are widgets, and each move was answered."""
    return bool(not result["failed"] and result["widgets"] and all(answered for _, answered in result["moved"]))


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], Path(sys.argv[2]).read_text(encoding="utf-8") if len(sys.argv) > 2 else "")))
