"""What every explorable is made of: an ES module that draws, states that the simulator found, and something to see without a kernel."""

import html
import json
from pathlib import Path
from typing import Any

import anywidget
import traitlets

HERE = Path(__file__).parent
SHARED = "stage"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><meta name="color-scheme" content="light dark"><title>{title}</title>
<style>body {{ margin: 8px; background: Canvas; color: CanvasText }}
{style}</style></head>
<body><main><h1 style="font: 600 20px system-ui, sans-serif; margin: 4px">{title}</h1><div id="explorable"></div></main>
<script type="application/json" id="data">{data}</script>
<script type="module">
{module}
mount(explorable(picture), JSON.parse(document.getElementById("data").textContent), document.getElementById("explorable"));
</script></body></html>
"""


def module_text(name: str) -> str:
    """Return one ES module: the shared one, and behind it the explorable's own without its line that imports the shared one.

    Raises
    ------
    ValueError
        When the module does not import `./stage.js` in exactly one line, or imports anything else.
    """
    lines = (HERE / f"{name}.js").read_text(encoding="utf-8").splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    if len(imports) != 1 or not imports[0].endswith(f'from "./{SHARED}.js";'):
        raise ValueError(f'{name}.js must have one line that imports, and it must end with: from "./{SHARED}.js"; it has {imports}')
    own = "\n".join(line for line in lines if line not in imports)
    return (HERE / f"{SHARED}.js").read_text(encoding="utf-8") + own + "\n"


def style_text() -> str:
    """Return the style sheet that all explorables share."""
    return (HERE / f"{SHARED}.css").read_text(encoding="utf-8")


class Explorable(anywidget.AnyWidget):
    """An animated picture. A subclass names its module (`_esm = module_text("banks")`) and says what is seen without a kernel.

    Attributes
    ----------
    name, title
        Of the module's file; of the picture.
    states
        What the simulator found, one entry for each position of the controls: JSON.
    values
        Where the controls stand. The browser changes it, and Python may.
    """

    name = ""
    title = ""
    _css = style_text()
    states = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)

    def static_text(self) -> str:
        """Return what a reader without a browser gets. It must not give the lesson's answer away."""
        return f"{self.title}. Run this cell to play with it."

    def static_html(self) -> str:
        """Return what a front end without widgets shows: on GitHub, or before the cell was run."""
        return f"<p>{html.escape(self.static_text())}</p>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data: Any = bundle[0] if isinstance(bundle, tuple) else bundle
        data |= {"text/plain": self.static_text(), "text/html": self.static_html()}
        return bundle

    def write_page(self, folder: str | Path) -> Path:
        """Write a page that needs neither a kernel nor a web server, one file, and return its path."""
        page = Path(folder) / f"{self.name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps({"states": self.states, "values": self.values}, separators=(",", ":")).replace("<", "\\u003c")
        module = module_text(self.name).replace("</script", "<\\/script")
        page.write_text(_PAGE.format(title=html.escape(self.title), style=style_text(), data=data, module=module), encoding="utf-8")
        return page
