"""Look at a lesson as a student sees it: run it in JupyterLab and write pictures of it to build/screenshots/.

    .venv/bin/python tools/screenshot.py notebooks/04_tiling.ipynb --moves 2
"""
import argparse
import sys
from pathlib import Path

from lab_browser import ROOT, find_chromium, open_lesson


def main():
    """Run the lesson, take its pictures, move a slider, take them again; fail when a cell did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--moves", type=int, default=0, help="how often to move a slider, with a picture after each")
    parser.add_argument("--slider", type=int, default=0, help="which slider of the page, from 0")
    parser.add_argument("--key", default="ArrowRight", help="the key that moves it")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "screenshots")
    options = parser.parse_args()
    if find_chromium() is None:
        sys.exit("This needs Chromium: `apt install chromium`, or set CHROMIUM to a browser's path.")
    name = options.notebook.stem
    with open_lesson(options.notebook, width=options.width) as lesson:
        failed = lesson.run_all()
        paths = lesson.shots(options.output, name)
        for move in range(1, options.moves + 1):
            lesson.move(lesson.sliders().nth(options.slider), options.key)
            paths += lesson.shots(options.output, f"{name}-move{move}", whole=False)
    print("\n".join(map(str, paths)))
    sys.exit("\n".join(f"cell {number}: {text}" for number, text in failed) or None)


if __name__ == "__main__":
    main()
