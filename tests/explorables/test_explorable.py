"""What all explorables share: one module out of two, a page without a kernel, something to see where no widget runs."""

import json
import re

import pytest

from course_lib.explorables import banks, explorable


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def test_one_module_holds_the_shared_part_and_imports_nothing():
    text = explorable.module_text("banks")
    assert not re.findall(r"^import .*$", text, re.MULTILINE)
    assert text.count("export default") == 1
    assert text.index("class Stage") < text.index("export default")


@pytest.mark.parametrize("lines", ['import { ease } from "./other.js";', 'import { ease } from "./stage.js";\nimport d3 from "d3";', ""])
def test_a_module_that_imports_something_else_is_refused(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(explorable, "HERE", tmp_path)
    (tmp_path / "stage.js").write_text("export const ease = 1;\n")
    (tmp_path / "wrong.js").write_text(lines + "\nexport default { ease };\n")
    with pytest.raises(ValueError, match="must have one line that imports"):
        explorable.module_text("wrong")


def test_a_page_without_a_kernel_has_its_states_beside_it(tmp_path):
    shown = banks("sgemm_padded", tile=16, pad=2)
    page = shown.write_page(tmp_path / "site")
    assert sorted(path.name for path in page.parent.iterdir()) == ["banks.html", "banks.js", "banks.json", "stage.css", "stage.js"]
    data = json.loads((page.parent / "banks.json").read_text())
    assert data["values"] == {"kernel": "sgemm_padded", "tile": 16, "pad": 2, "access": "load"}
    assert data["states"].keys() == shown.states.keys()


def test_without_a_widget_a_picture_is_seen_that_gives_no_answer_away():
    bundle = banks()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert re.search(r'<img alt="A tile of 32 × 32 words[^"]*" width="\d+" src="data:image/png;base64,', data["text/html"])
    assert "Run this cell" in data["text/plain"]
    assert not re.search(r"tick|wavefront|conflict", data["text/plain"] + re.sub(r'src="[^"]*"', "", data["text/html"]))
    assert "application/vnd.jupyter.widget-view+json" in data
