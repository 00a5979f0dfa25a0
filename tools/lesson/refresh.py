"""Run notebooks and store their outputs.

The notebooks that are named, or all lessons, run on the simulator and are written as they are committed.

What changes from run to run is left out: times of execution, and the ids of live widgets (a widget's table or text
stays, and is what a reader without a kernel sees). Cells are never changed.
"""

import os
import tempfile
from pathlib import Path

import click
import nbformat
from nbclient import NotebookClient

from tools.options import NOTEBOOKS

WIDGET = "application/vnd.jupyter.widget-view+json"


def refresh(path: Path, timeout_s: float = 300) -> None:
    """Execute one notebook in its own folder and write it back; a cell that fails unasked stops it."""
    notebook = nbformat.read(path, as_version=4)
    kernel = os.environ | {"COURSE_BACKEND": "sim", "COURSE_FIGURES": "png"}
    with tempfile.TemporaryDirectory() as empty:      # a reader's own predictions do not belong into outputs
        client = NotebookClient(notebook, timeout=timeout_s, kernel_name="python3", store_widget_state=False, coalesce_streams=True,
                                resources={"metadata": {"path": str(path.parent)}})
        client.execute(env=kernel | {"WARP_BY_WARP_HOME": empty})
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


@click.command()
@NOTEBOOKS
def command(notebooks: tuple[Path, ...]) -> None:
    """Refresh the notebooks that are named, or all lessons."""
    for path in notebooks or sorted(Path("notebooks").glob("*.ipynb")):
        refresh(path)
        print(f"{path}  {path.stat().st_size / 1000:.0f} KB")
