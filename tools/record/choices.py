"""Make the table that `course_lib.run.choose` asks.

FILE is what `python -m course_lib.bench shapes --out FILE` measured on a GPU; tried.json and choices.json are written. Without FILE the
table is made from race.json, which kept the fastest candidate of each product alone. Nothing is measured.
"""

from pathlib import Path

import click

from course_lib import data
from course_lib.bench.choices import choices_of, raced
from course_lib.data.readings import dumps, loads
from tools import ROOT


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), default=ROOT / "course_lib" / "data",
              help="Folder of both files.")
def command(file: Path | None, into: Path) -> None:
    """Write the files."""
    tried = loads(file.read_text(encoding="utf-8")) if file else raced(data.readings("race"))
    for name, readings in (("tried", tried), ("choices", choices_of(tried)))[0 if file else 1:]:
        (into / f"{name}.json").write_text(dumps(readings), encoding="utf-8")
        print(f"{name}.json: {len(readings.rows)} rows")
