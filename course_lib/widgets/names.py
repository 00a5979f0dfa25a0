"""Names and values that a screen reader announces for ipywidgets' sliders, groups of buttons and fields."""

from pathlib import Path

import anywidget


class Names(anywidget.AnyWidget):
    """Unseen in a box with the class `wbw-box`: looks after the controls beside it; names.js says how."""

    _esm = Path(__file__).with_name("names.js").read_text(encoding="utf-8")

    def __init__(self) -> None:
        super().__init__(layout={"display": "none"})
