"""What all explorables share: one module out of two, a page without a kernel, something to see where no widget runs."""

import json
import re
from pathlib import Path

import pytest
from javascript import evaluate

from course_lib.errors import CourseError
from course_lib.explorables import banks, explorable
from course_lib.widgets.numbers import parse_number

PICTURE = banks


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", [str, Path])
def test_a_page_without_a_kernel_is_one_file(tmp_path, kind):
    shown = banks("sgemm_padded", tile=16, pad=2)
    page = shown.write_page(kind(tmp_path / "site"))
    assert list((tmp_path / "site").iterdir()) == [page]
    text = page.read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])
    assert data["values"] == {"kernel": "sgemm_padded", "tile": 16, "pad": 2, "access": "load"}
    assert data["states"].keys() == shown.states.keys()
    assert not re.search(r'(src|href)="(?!data:)|fetch\(|^import ', text, re.MULTILINE), "it asks for nothing else"
    assert text.count("</script>") == 2


NUMBERS = ["8.5", "8,5", "17/2", "1e3", "1,000", "1,234.5", "-2", "0,0117", ".5", "0,125", "1,024", "12,345,678", "1.048.576", "1.234,5",
           "1234,567", "1.024", "262 144", "2'097'152", "2,5e3", "1,024 / 4", "", "two", "1/", "1/2/3", "8.5 sectors", "1.2.3", "3 4", "-"]


def test_the_field_of_a_prediction_reads_numbers_as_the_lessons_do(page):
    def ours(text):
        try:
            return parse_number(text)
        except CourseError:
            return None

    texts = [text for text in NUMBERS if text != "1/2/3"]          # a formula: only the lessons' fields compute one
    assert evaluate(page, "(m, texts) => texts.map(m.numberOf)", texts) == [ours(text) for text in texts]
    assert evaluate(page, "(m, texts) => texts.map(m.numberOf)", ["1/2/3", "1/0", "Infinity"]) == [None, None, None]


@pytest.mark.parametrize(("text", "says"), [
    ("8", "You said 8: right."), ("8,00", "You said 8,00, understood as 8: right."), ("16", "You said 16; it is 8."),
    ("7", "You said 7: nearly, it is 8."),
    ("1,024", "You said 1,024, understood as 1024; it is 8."), ("24/3", "You said 24/3, understood as 8: right."),
    ("8.01", "You said 8.01: nearly, it is 8."),
    ("eight", 'You wrote "eight", which is not a number: write something like 8.5 or 17/2.')])
def test_a_prediction_is_judged_and_said_as_it_was_understood(page, text, says):
    assert evaluate(page, "(m, text) => m.judged(text, 8)", text) == says


def test_a_count_is_right_when_it_is_exact_and_any_other_number_may_be_rounded(page):
    said = evaluate(page, "(m, pairs) => pairs.map(([text, answer]) => m.judged(text, answer))",
                    [["1,020", 1024], ["1024", 1024], ["5.67", 17 / 3], ["5.7", 17 / 3]])
    assert said == ["You said 1,020, understood as 1020: nearly, it is 1,024.", "You said 1024: right.", "You said 5.67: right.",
                    "You said 5.7: nearly, it is 5.67."]


def test_without_a_widget_a_picture_is_seen_that_gives_no_answer_away():
    bundle = banks()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert re.search(r'<img alt="A tile of 32 × 32 words[^"]*" class="wbw-figure" [^>]*src="data:image/svg\+xml;base64,', data["text/html"])
    assert "Run this cell" in data["text/plain"]
    assert not re.search(r"tick|wavefront|conflict", data["text/plain"] + re.sub(r'src="[^"]*"', "", data["text/html"]))
    assert "application/vnd.jupyter.widget-view+json" in data
