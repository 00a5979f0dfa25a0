"""Write a picture's last moment as a small PNG.

README.md shows the race so.
"""
import io
import tempfile
from pathlib import Path

import click
from PIL import Image

from course_lib import explorables
from tools.browser import FLAGS, playwright, require_chromium

COLOURS = 64


@click.command()
@click.argument("name", type=click.Choice(explorables.__all__))
@click.argument("output", type=click.Path(path_type=Path))
@click.option("--width", default=1000)
def command(name: str, output: Path, width: int) -> None:
    """Play to the end in Chromium, and keep the words and the picture, without the controls."""
    chromium = require_chromium()
    with tempfile.TemporaryDirectory() as folder, playwright() as started:
        page = getattr(explorables, name)().write_page(folder)
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page(viewport={"width": width, "height": 800})
        tab.goto(page.as_uri())
        tab.locator(".wbw canvas").press("End")
        tab.wait_for_timeout(2000)                      # until what moves has arrived
        tab.mouse.click(1, 1)                           # and the ring of the focus is gone
        shot = tab.locator(".wbw-picture").screenshot()
        browser.close()
    output.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(output, optimize=True)
    print(f"{output}  {output.stat().st_size / 1000:.0f} kB")
