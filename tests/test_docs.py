"""What the pages in docs/ say happens, happens."""

import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import simt

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]


def test_the_worked_example_of_the_simulator_page():
    page = (DOCS / "simulator.md").read_text(encoding="utf-8")
    source = re.search(r"```cuda\n(.*?)```", page, re.DOTALL).group(1)
    x, y = np.arange(40, dtype=np.float32), np.zeros(80, np.float32)
    report = simt.launch(source, "scale", grid=1, block=64, args=[np.int32(40), np.float32(3), x, y])
    assert (y[::2] == 3 * x).all()
    names = {"load requests": "requests_pipe_lsu_mem_global_op_ld", "load sectors": "sectors_pipe_lsu_mem_global_op_ld",
             "store requests": "requests_pipe_lsu_mem_global_op_st", "store sectors": "sectors_pipe_lsu_mem_global_op_st"}
    for words, counter in names.items():
        first, second, total = map(int, re.search(rf"\| {words} \| (\d+) \| (\d+) \| (\d+) \|", page).groups())
        assert first + second == total == report.counters[f"l1tex__t_{counter}.sum"]
    assert report.counters["smsp__sass_branch_targets_threads_divergent.sum"] == 1
    instructions = re.findall(r"^(\w+(?:\.\w+)+) +%|^(st\.global\.f32)", page, re.MULTILINE)
    assert all((a or b) in report.ptx for a, b in instructions)
    assert len(instructions) == 8


def test_the_map_names_every_package():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    library = Path(simt.__file__).parents[1]
    packages = [p.name for p in library.iterdir() if not p.name.startswith("_") and p.suffix in ("", ".py")]
    missing = [name for name in packages + [p.name for p in (library / "simt").iterdir() if p.is_dir() and p.name[0] != "_"]
               if name not in page]
    assert not missing


def test_files_that_the_map_names_exist():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    library = Path(simt.__file__).parents[1]
    named = {name for name in re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|cuh|md))`", page) if "NN" not in name}
    roots = (library, library / "simt", library.parent)
    assert len(named) > 20
    assert not [name for name in named if not any((root / name).exists() for root in roots)]


def anchors(page):
    """Return what a page's headings are called in links."""
    titles = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_and_headings_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, heading = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), target
        assert not heading or heading in anchors(path), target


def test_the_examples_of_the_page_on_other_compilers_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "other-compilers.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    for block in blocks:
        exec(compile(block, "other-compilers.md", "exec"), names)
    assert len(blocks) == 3
    assert names["report"].counters
