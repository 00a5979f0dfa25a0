"""Write every page of this group but hostile's.

Hostile submissions are left out: to grade them takes minutes.
"""

import importlib
import sys
from pathlib import Path

import click

from tools.pages import CHECK, write


@click.command()
@CHECK
def command(check: bool) -> None:
    """Take the modules beside this one that have a `page`."""
    modules = [importlib.import_module(f"tools.page.{path.stem}") for path in sorted(Path(__file__).parent.glob("[a-z]*.py"))]
    sys.exit(max(write(module.PAGE, module.page, check) for module in modules if hasattr(module, "page")))
