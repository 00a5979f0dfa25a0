"""Lesson 15's table of operand reads, and the numbers of its prose."""

import json
from pathlib import Path

import pytest

from course_lib.arch import device
from course_lib.lessons.closing_in import operand_rows, operand_table, outer_products
from course_lib.model import peak
from course_lib.model.operands import MEASURED, WITHIN

LESSON = Path(__file__).parents[2] / "notebooks" / "15_closing_in.ipynb"


def prose():
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    return " ".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown").replace("\n", " ")


def test_no_recorded_speed_is_above_what_the_reads_allow():
    rows = operand_rows()
    assert len(rows) == 4
    for name, cycles, allows, recorded in rows:
        assert 1 < cycles < 1.25, name
        assert recorded < allows == pytest.approx(peak(device("H200")) / cycles)
    by_name = {row[0]: row for row in rows}
    assert by_name["sgemm_warp_tile"][2] < by_name["sgemm_vectorized"][2], "yet the warp tile is faster: other parts limit the other"
    assert [cell for row in operand_table().rows for cell in row][:2] == ["sgemm_2d_tile", f"{rows[0][1]:.2f}"]


def test_the_lessons_prose_says_what_was_estimated_and_measured():
    _, cycles, allows, _ = next(row for row in operand_rows() if row[0] == "sgemm_warp_tile")
    allowed = f"which allows {allows / 1e3:.0f} of {peak(device('H200')) / 1e3:.0f} TFLOP/s"
    assert f"the warp tile needs at least {cycles:.2f} cycles per multiply-add, {allowed}" in prose()
    assert f"within {WITHIN:.0%} of measured loops".replace("%", " %") in prose()
    assert f"{MEASURED[8, 8, False]} TFLOP/s row by row, {MEASURED[8, 8, True]} in serpentine order" in outer_products()
