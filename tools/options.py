"""What options of several tools have in common."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tools import ROOT

NOTEBOOKS = click.argument("notebooks", nargs=-1, type=click.Path(exists=True, path_type=Path))
FOLDER = click.Path(path_type=Path, resolve_path=True, file_okay=False)


class Names(click.ParamType):
    """Names with commas between them, of which some may be the only ones allowed."""

    name = "NAME,NAME"

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the names."""
        names = tuple(filter(None, value.split(","))) if isinstance(value, str) else value
        if self.allowed and (others := [name for name in names if name not in self.allowed]):
            self.fail(f"there is no {' and no '.join(others)}; there are {', '.join(self.allowed)}", param, ctx)
        return names


def only_option(*names: str) -> Callable[[Any], Any]:
    """Return the option `--only`, which picks some of these parts."""
    return click.option("--only", type=Names(*names), default=",".join(names), show_default=True)


def out_option(name: str) -> Callable[[Any], Any]:
    """Return the option `--out`: the output folder, $OUT, or one in build/."""
    return click.option("--out", type=FOLDER, envvar="OUT", default=ROOT / "build" / name,
                        help=f"The output folder: $OUT, or build/{name}.")
