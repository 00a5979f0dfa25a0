"""Run a lesson in JupyterLab and take pictures of it.

It is what a student sees. The pictures go to build/screenshots/.
"""
import sys
from pathlib import Path

import click

from tools import ROOT
from tools.browser import open_lesson, require_chromium


@click.command()
@click.argument("notebook", type=click.Path(exists=True, path_type=Path))
@click.option("--moves", default=0, help="How often to move a slider, with a picture after each.")
@click.option("--slider", default=0, help="Which slider of the page, from 0.")
@click.option("--key", default="ArrowRight", help="The key that moves it.")
@click.option("--width", default=1280)
@click.option("--output", type=click.Path(path_type=Path), default=ROOT / "build" / "screenshots")
def command(notebook: Path, moves: int, slider: int, key: str, width: int, output: Path) -> None:
    """Run the lesson, take its pictures, move a slider, take them again; fail when a cell did."""
    require_chromium()
    name = notebook.stem
    with open_lesson(notebook, width=width) as lesson:
        failed = lesson.run_all()
        paths = lesson.shots(output, name)
        for move in range(1, moves + 1):
            lesson.move(lesson.sliders().nth(slider), key)
            paths += lesson.shots(output, f"{name}-move{move}", whole=False)
    print("\n".join(map(str, paths)))
    sys.exit("\n".join(f"cell {number}: {text}" for number, text in failed) or None)
