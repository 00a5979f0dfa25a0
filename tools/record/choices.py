"""Make the table that `course_lib.run.choose` asks.

FILE is what `python -m course_lib.bench shapes --out FILE` measured on a GPU; tried.json and choices.json are written. Nothing is measured.
"""

from pathlib import Path

import click

from course_lib.bench.choices import choices_of
from course_lib.data.readings import dumps, loads
from tools import ROOT


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), default=ROOT / "course_lib" / "data",
              help="Folder of both files.")
def command(file: Path, into: Path) -> None:
    """Write the files."""
    tried = loads(file.read_text(encoding="utf-8"))
    for name, readings in (("tried", tried), ("choices", choices_of(tried))):
        (into / f"{name}.json").write_text(dumps(readings), encoding="utf-8")
        print(f"{name}.json: {len(readings.rows)} rows")
