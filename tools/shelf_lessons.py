"""What the committed notebooks ask of the compiler: run them once, note it, and know when to run them again."""

import hashlib
import itertools
import json
import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from course_lib import kernels
from course_lib.grading.preprocessors import ClearCudaSolutions, DropInstructorCells, DropOtherVariants
from course_lib.grading.variants import FIRST, variants_of
from course_lib.toolchain.nvrtc import define_options
from course_lib.toolchain.shelf import NAME, Request

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("notebooks", "solutions", "exercises")
VARIANT = "exercises/variant-"      # what students of another class get: no file, but made from solutions/
TIMEOUT_S = 600         # a cell
MOST = 1000             # positions that the sliders of one cell may have


def notebooks():
    """Return the committed notebooks, relative to the repository, and the exercises of other variants than the committed."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.ipynb"))
    names = sorted(p.relative_to(ROOT).as_posix() for p in found if ".ipynb_checkpoints" not in p.parts)
    solutions = [name for name in names if name.startswith("solutions/")]
    return names + [f"{VARIANT}{variant}/{Path(name).name}" for name in solutions
                    for variant in variants_of(_book(name).cells) if variant != FIRST]


def _book(notebook):
    """Return a notebook; an exercise of another variant as students start from it."""
    if not notebook.startswith(VARIANT):
        return nbformat.read(ROOT / notebook, as_version=4)
    path = Path(notebook)
    book = nbformat.read(ROOT / "solutions" / path.stem / path.name, as_version=4)
    for step in (DropInstructorCells(), DropOtherVariants(variant=path.parent.name.removeprefix("variant-")), ClearCudaSolutions()):
        book, _ = step.preprocess(book, {"language": "python"})
    return book


def stamp(notebook, files):
    """Return a hash of a notebook's code and of the kernel files that it reads; other requests need another hash."""
    cells = _book(notebook).cells
    code = "\0".join(cell.source for cell in cells if cell.cell_type == "code")
    texts = [(kernels.kernel.FOLDER / name).read_text(encoding="utf-8") for name in files if (kernels.kernel.FOLDER / name).is_file()]
    return hashlib.sha256("\0".join([code, *files, *texts]).encode()).hexdigest()[:16]


def is_current(notebook, noted):
    """Tell whether a notebook is as it was when its requests were noted."""
    return noted is not None and noted["stamp"] == stamp(notebook, noted["files"])


def run(notebook):
    """Run a notebook and return what it asks for.

    Returns
    -------
    dict
        "stamp", "files" (kernel files that it reads) and "requests" (each once, sorted by key).
    """
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.jsonl")
        notes.touch()
        _execute(notebook, notes, Path(folder, "home"))
        lines = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
    files = sorted({line["file"] for line in lines if "file" in line})
    asked = [Request(line["source"], line["name"], line["arch"], tuple(line["options"])) for line in lines if "source" in line]
    asked += itertools.chain.from_iterable(_slider_positions(line) for line in lines if "choices" in line)
    requests = {request.key: request for request in asked}
    return {"stamp": stamp(notebook, files), "files": files, "requests": [requests[key] for key in sorted(requests)]}


def _execute(notebook, notes, home):
    book = _book(notebook)
    book.cells.insert(0, nbformat.v4.new_code_cell(f"import shelf_recorder\nshelf_recorder.start({str(notes)!r})"))
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:       # an exercise may write beside itself
        client = NotebookClient(book, timeout=TIMEOUT_S, kernel_name="python3", allow_errors=True,
                                resources={"metadata": {"path": folder}})
        client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(home), "PYTHONPATH": paths})
    if any(output.output_type == "error" for output in book.cells[0].outputs):
        raise RuntimeError(f"{notebook}: what it asks for cannot be noted: {book.cells[0].outputs[-1].evalue}")


def _slider_positions(line):
    """Yield the requests of every position of a live widget."""
    for name in line["kernels"]:
        kernel, choices = kernels.get(name), line["choices"]
        combinations = list(itertools.product(*choices.values()))
        if len(combinations) > MOST:
            raise RuntimeError(f"sliders of {name} with {len(combinations)} positions: at most {MOST} can be shipped, offer fewer values")
        for values in combinations:
            chosen = dict(zip(choices, values, strict=True))
            if not kernel.problems(**chosen):
                yield Request(kernel.source, NAME, "sm_90", tuple(define_options(kernel.defines(**chosen))))
