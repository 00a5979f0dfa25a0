"""Source, PTX and SASS side by side: choose a line of the source, see what became of it."""

import html

import ipywidgets

from course_lib.plots import compare_code, linked_code
from course_lib.plots.code_panes import pane, region, static_panes
from course_lib.widgets.static import StaticBox

LOOK = ("<style>.wbw-source select{font-family:monospace;font-size:12.5px;line-height:1.4;white-space:pre;overflow-x:auto}"
        ".wbw-source select option{white-space:pre;min-height:1.2em}</style>")


class SideBySide(StaticBox):
    """The panes; made by `side_by_side`."""

    def __init__(self, codes, line=None):
        self.codes = tuple(codes)
        code = self.codes[0]
        first, last = region(code)
        self.line = ipywidgets.Select(
            options=[(self._option(n), n) for n in range(first, last + 1)], value=line or code.busiest, tooltip="Choose a source line",
            layout={"width": "auto", "height": "465px", "flex": "1 1 430px", "min_width": "400px"})
        self.line.add_class("wbw-source")
        self.slider = ipywidgets.SelectionSlider(      # the list is for the mouse: JupyterLab keeps the up and down keys for itself
            options=[(str(n), n) for n in range(first, last + 1)], value=self.line.value, description="line", layout={"width": "420px"},
            tooltip="Choose a source line: drag, or use the left and right keys")
        ipywidgets.link((self.slider, "value"), (self.line, "value"))
        self.kind = ipywidgets.ToggleButtons(options=["SASS", "PTX"], tooltips=["Machine code", "The portable assembly"])
        self.panes = [ipywidgets.HTML(layout={"flex": "1 1 300px", "min_width": "280px", "max_width": "560px"}) for _ in range(2)]
        self.status = ipywidgets.HTML()
        for control in (self.line, self.kind):
            control.observe(lambda change: self._show(), "value")
        self._show()
        heading = ipywidgets.HTML(f"{LOOK}<b>{html.escape(code.name)}</b>: line, SASS instructions made of it, source")
        told = ipywidgets.HTML(compare_code(*self.codes)._repr_html_() if len(self.codes) > 1 else html.escape(code.says()))
        top = [heading] if len(self.codes) == 1 else [heading, self.kind]
        super().__init__([ipywidgets.HBox([*top, self.slider], layout={"flex_flow": "row wrap"}),
                          ipywidgets.HBox([self.line, *self.panes], layout={"flex_flow": "row wrap"}), self.status, told])

    def _option(self, n):
        """Return the text of a source line: number, machine instructions of each compilation, the line with its indent."""
        counts = " ".join(f"{code.sass_per_line.get(n, ''):>3}" for code in self.codes)
        return f"{n:>3} {counts}  {self.codes[0].source[n - 1]}".replace(" ", "\u00a0")

    def _show(self):
        line = self.line.value
        if len(self.codes) == 1:
            code, = self.codes
            shown = [pane(code.ptx, line, "PTX"), pane(code.sass, line, f"SASS, {code.arch}")]
        else:
            shown = [pane(getattr(code, self.kind.value.lower()), line, f"{self.kind.value}, {heading}")
                     for code, heading in zip(self.codes, compare_code(*self.codes).header[1:], strict=True)]
        for widget, value in zip(self.panes, shown, strict=True):
            widget.value = value
        self.status.value = f'<div role="status" aria-live="polite">{html.escape(self.says(line))}</div>'

    def says(self, line):
        """Say how many instructions a source line became."""
        each = [f"{sum(c.line == line for c in code.ptx)} of PTX and {code.sass_per_line.get(line, 0)} of SASS" for code in self.codes]
        return f"Line {line}: instructions {' beside '.join(each)}."

    def static_html(self):
        return static_panes(self.codes, self.line.value)

    def static_text(self):
        return "\n".join([f"Source, PTX and SASS of {self.codes[0].name} side by side (run this cell to choose a line).",
                          *(f"{code.words}. {code.says()}" for code in self.codes)])


def side_by_side(kernel, *, compare=None, line=None, arch="sm_90", **parameters):
    """Show source, PTX and SASS of a kernel; choosing a source line marks what became of it.

    Parameters
    ----------
    kernel : str, Kernel or Path
        As for `run`.
    compare : mapping of parameters, optional
        A second compilation of the kernel, to stand beside the first: `{"UNROLL": 16}`. Then the two panes show SASS, or PTX, of
        each, and a table counts the instructions of both inner loops.
    line : int, optional
        The source line chosen first; default the one with most multiply-adds.
    arch : str
    **parameters
        Of the kernel.

    Returns
    -------
    SideBySide

    Raises
    ------
    CourseError
        As `linked_code`.
    """
    codes = [linked_code(kernel, arch=arch, **parameters)]
    if compare is not None:
        codes.append(linked_code(kernel, arch=arch, **(parameters | dict(compare))))
    return SideBySide(codes, line)
