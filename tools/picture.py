"""Write a picture's last moment as a small PNG, as README.md shows the race.

    .venv/bin/python tools/picture.py race docs/img/race.png
"""
import argparse
import io
import sys
import tempfile
from pathlib import Path

from lab_browser import FLAGS, find_chromium, playwright
from PIL import Image

from course_lib import explorables

COLOURS = 64


def main():
    """Play to the end in Chromium, and keep the words and the picture, without the controls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=explorables.__all__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--width", type=int, default=1000)
    options = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        sys.exit("This needs Chromium: `apt install chromium`, or set CHROMIUM to a browser's path.")
    with tempfile.TemporaryDirectory() as folder, playwright() as started:
        page = getattr(explorables, options.name)().write_page(folder)
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        tab = browser.new_page(viewport={"width": options.width, "height": 800})
        tab.goto(page.as_uri())
        tab.locator(".wbw canvas").press("End")
        tab.wait_for_timeout(2000)                      # until what moves has arrived
        tab.mouse.click(1, 1)                           # and the ring of the focus is gone
        shot = tab.locator(".wbw-picture").screenshot()
        browser.close()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS).save(options.output, optimize=True)
    print(f"{options.output}  {options.output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
