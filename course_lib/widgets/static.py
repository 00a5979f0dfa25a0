"""A box of widgets that still says something where no kernel runs: on GitHub, in nbviewer, in a fresh checkout."""

import html
from collections.abc import Iterable
from typing import Any

import ipywidgets

from course_lib.run import Offer, compile_ahead
from course_lib.widgets.names import Names


class StaticBox(ipywidgets.VBox):
    """A VBox whose notebook output also carries HTML and plain text.

    A front end with the live widget shows that, and `Names` tells screen readers what its controls are; any other shows what `static_html`
    returns. A box with an `engine` and a `position()` may have it compute ahead from when it is seen; one with an `_offer` then has the
    positions of its sliders compiled.
    """

    _offer: Offer | None = None

    def __init__(self, children: Iterable[ipywidgets.Widget]) -> None:
        super().__init__([*children, Names()])
        self.add_class("wbw-box")

    def static_html(self) -> str:
        """Return HTML for a front end without widgets."""
        return f"<p>{html.escape(self.static_text())}</p>"

    def static_text(self) -> str:
        """Return plain text for a front end without widgets or HTML."""
        return "Run this cell to use the controls."

    def _watch_views(self):
        """Compute ahead from the moment that a reader sees the controls, not where a notebook runs unseen."""
        self._view_count = 0                  # the front end counts from now on
        self.observe(lambda change: change["new"] and self._came_into_view(), "_view_count")

    def _came_into_view(self):
        self.engine.look_around(self.position())
        if self._offer:
            compile_ahead(self._offer)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        data["text/plain"] = self.static_text()
        data["text/html"] = self.static_html()
        return bundle
