"""What is chosen by size, beside what the race found."""

import json
import re
from pathlib import Path

from course_lib import data
from course_lib.bench.choices import judge
from course_lib.bench.race import choice, heats
from course_lib.lessons.busy.choice import choice_by_size, chosen_speeds, describe_choice
from course_lib.run import choose

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "19_busy.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
TOLD = " ".join(CELLS["dispatcher-told"].split())
SIZES = tuple(map(int, re.search(r"sizes = \((.*)\)", CELLS["dispatcher"]).group(1).split(",")))
PLAIN = data.readings("race").find(dtype="float32", beta=0, TRANSA=0, TRANSB=0)
RACED = {row["N"]: row for row in PLAIN if row["M"] == row["N"] == row["K"]}


def test_sizes_stand_side_by_side_and_the_chosen_line_is_on_top():
    ax = chosen_speeds({64: 3.0, 65: 2.0, 4096: 9.0}, {"cuBLAS": {65: 5.0, 128: 1.0}})
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1], [0, 1, 2]]
    assert ax.lines[-1].get_ydata().tolist() == [3.0, 2.0, 9.0]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["cuBLAS", "chosen, by its estimate"]
    assert "65" in describe_choice({64: 3.0, 65: 2.0}, {})


def test_the_picture_has_what_is_chosen_and_what_was_recorded():
    alt = choice_by_size((513, 4096)).alt
    chosen, best, library = (f"{2e-9 * 4096**3 / seconds:,.0f} at 4096" for seconds in (
        choose(4096).seconds, RACED[4096]["ours"], RACED[4096]["library"]))
    assert re.search(f"Chosen, by its estimate: .*{chosen}.*race: .*{best}.*cuBLAS: .*{library}", alt)


def test_the_choice_is_this_lessons_kernel_and_what_the_lesson_says_of_it():
    assert {choose(N).kernel for N in SIZES} == {"sgemm_stream_k"}
    same = [N for N in SIZES if choice(next(heat for heat in heats((N,), ("float32",), others=False))) == RACED[N]["parameters"]]
    assert (len(same), len(SIZES), {256, 512, 1536} & set(same)) == (6, 9, set())
    held = [row["ratio"] for row in judge(data.readings("tried"), data.readings("choices")) if row["dtype"] == "float32"]
    assert (len(held), int(100 * min(held))) == (12, 91)
    later = "The choice reached 0.917 of the best known in float32 and 0.967 in float64. The worst, 0.574 and 0.734, is 3487 × 4033 × 25"
    assert later in " ".join((ROOT / "docs" / "race.md").read_text(encoding="utf-8").split())
    for words in ("six of these nine sizes", "twelve other float32 products", "91 %",
                  "92 % in the geometric mean, and 57 % at worst, with K = 25"):
        assert words in TOLD
