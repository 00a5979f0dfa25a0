"""What is chosen by shape, held to what was recorded."""

import json
from pathlib import Path

from course_lib import data
from course_lib.bench.choices import judge
from course_lib.lessons.busy.choice import chosen_for_others
from course_lib.run import choose

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "19_busy.ipynb"
CELLS = {cell["id"]: " ".join("".join(cell["source"]).split()) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}


def test_the_choice_and_what_the_lesson_says_of_it():
    assert choose(1025).kernel == "sgemm_stream_k"
    held = [row for row in judge(data.readings("tried"), data.readings("choices")) if row["dtype"] == "float32"]
    rows = chosen_for_others().rows
    assert len(rows) == len(held) == 12
    assert "For twelve products whose times took no part in the fit" in CELLS["choose"]
    for (size, factors, micros, of_best, of_library), row in zip(rows, held, strict=True):
        assert size == f"{row['M']} × {row['N']} × {row['K']}"
        assert ("Aᵀ" in factors, "Bᵀ" in factors) == (row["TRANSA"] == 1, row["TRANSB"] == 1)
        chosen = row["chosen"][2]
        assert (float(micros), of_best) == (round(1e6 * chosen, 1), f"{row['best'][2] / chosen:.0%}")
        assert of_library == f"{row['to_library']:.0%}"
    assert int(100 * min(row["ratio"] for row in held)) == 91
    later = "The choice reached 0.917 of the best known in float32 and 0.967 in float64. The worst, 0.574 and 0.734, is 3487 × 4033 × 25"
    assert later in " ".join((ROOT / "docs" / "race.md").read_text(encoding="utf-8").split())
    for words in ("at least 91 % of the speed of the best that was tried", "92 % in the geometric mean, and 57 % at worst, with K = 25"):
        assert words in CELLS["dispatcher-told"]
