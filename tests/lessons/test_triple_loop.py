"""Lesson 01: what it promises, and every number that its prose says."""

import json
import os
import re
from pathlib import Path

import my_course
import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.errors import CourseError
from course_lib.explorables.orders import N, counted
from course_lib.kernels.cpu import ORDERS
from course_lib.lessons import triple_loop
from course_lib.lessons.triple_loop import times
from course_lib.magic import from_cell
from course_lib.model.cache_lines import CacheShape, count_steps, loop_steps
from course_lib.unwritten import NotWritten, Unwritten

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "01_triple_loop.ipynb"
CELLS = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
PROSE = " ".join(" ".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown").split())
CODE = {cell["id"]: "".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"}


@pytest.fixture
def mine():
    """The loops that the reader writes."""
    return from_cell(CODE["mine"])[1]


def loops(order, body="C(i, j) += A(i, k) * B(k, j);"):
    """Return loops of an order as a cell has them."""
    last = {"i": "M", "j": "N", "k": "K"}
    return "\n".join(["// %%c mine", *(f"for (int {x} = 0; {x} < {last[x]}; ++{x})" for x in order), body])


def test_the_readers_loops_are_right_and_fetch_what_the_prose_says(mine):
    assert repr(triple_loop.check(mine)) == "mine: right on all 9 inputs"
    found = triple_loop.count(mine, N=64)
    assert found.fetched == {"A": 256, "B": 16384, "C": 256}
    assert "B has 64 · 4 = 256 lines" in PROSE
    assert f"64 · 256 = {found.fetched['B']:,} lines, one for every 16 multiply-adds" in PROSE
    table = triple_loop.fetched(found, N=64)
    A, B, C = (int(row[1].replace(",", "")) for row in table.rows[:3])
    assert count_steps(loop_steps("ijk", 64, 64, 64), [(64, 64, 64)] * 3, 4, CacheShape(1024)) == [A, B, C]
    assert B == 64**3
    assert f"64³ = {B:,}" in PROSE
    assert A == 64 * 256, "A is fetched 64 times, too"


@pytest.mark.parametrize("order", ORDERS)
def test_loops_of_a_cell_fetch_as_those_of_the_catalog(order):
    assert list(triple_loop.count(loops(order), N=32).fetched.values()) == counted(order, 16)


def test_there_are_two_orders_that_walk_down_no_column_and_one_begins_with_i():
    assert [order for order in ORDERS if sum(counted(order, 16)) < N**3 / 8] == ["ikj", "kij"]
    assert "There are two such orders. Take the one that begins with i." in PROSE


@pytest.mark.parametrize(("change", "says"), [
    (("+=", "="), "Only the last product of each sum is left"), (("k < K", "k < K - 1"), "The sums end at k = 31"),
    (("B(k, j)", "B(j, k)"), "The indices of B are exchanged"), (("j < N", "j <= N"), "B(0, 32) does not exist"),
    (("B(k, j);", "B(k, j)"), "did not run")])
def test_wrong_loops_are_told_what_is_wrong(mine, change, says):
    found = triple_loop.check(mine.replace(*change))
    assert says in repr(found)
    assert says in found._repr_html_()
    assert found.right < 9


def test_what_cannot_be_counted_is_said(mine):
    with pytest.raises(CourseError, match="take 1 to 64"):
        triple_loop.count(mine, N=65)
    with pytest.raises(CourseError, match="no loops"):
        triple_loop.count("// nothing", N=32)
    for use in (triple_loop.check, triple_loop.measured, triple_loop.tried, lambda text: triple_loop.count(text, N=32)):
        with pytest.raises(NotWritten, match="mine is not written yet"):
            use(Unwritten("mine"))


def test_what_there_was_to_find_in_the_picture():
    per = {order: round(sum(counted(order, 16)) / N**3, 2) for order in ORDERS}
    for letter in "jki":
        low, high = sorted(per[order] for order in ORDERS if order[-1] == letter)
        row = next(line for line in "".join(CELLS[15]["source"]).splitlines() if line.strip().startswith(f"| {letter} |"))
        assert f"{low:.2f} to {high:.2f}" in row
    worst = sorted(ORDERS, key=lambda order: -sum(counted(order, 16)))[:2]
    assert sorted(worst) == ["jki", "kji"]
    assert sum(counted("ijk", 32)) > 10 * sum(counted("ikj", 32))
    assert counted("ijk", 40) == counted("ikj", 40)
    exact = [lines for lines in (34, 35) if total("ijk", lines) == total("ikj", lines)]
    assert exact == [35]
    assert "C: 35 lines" in PROSE


def test_how_many_lines_the_worst_orders_need_and_which():
    assert [total("kji", lines) > 2000 for lines in (96, 98, 99, 104)] == [True, True, False, False]
    assert [total("jki", lines) > 1000 for lines in (112, 120, 127, 128)] == [True, True, True, False]
    assert "the 64 lines of C have to stay, beside the 32 lines of a column of A, and between two uses come three" in PROSE
    assert "three lines of B: 99 lines" in PROSE
    assert "all of A, 64 lines, and through one column of B and one of C, 32 lines each: together 128" in PROSE
    assert counted("kji", 96)[2] == 32 * 64, "all of C, once for each turn of the outermost loop"
    assert counted("jki", 112)[0] == 32 * 64, "all of A"
    A, B, _ = counted("jki", 120)
    assert A < 2 * 64
    assert B == 32 * 32, "a line for each element: none is there for the next column"
    assert f"(With 120 lines A stays, but the lines of B go before the next column needs them, which makes {total('jki', 120):,}.)" in PROSE
    assert "`kji` with 104 lines, and `jki` only with 128" in PROSE
    assert f"`kji` fetches {total('kji', 104)} lines and `jki` {total('jki', 128)}" in PROSE
    assert f"16 lines has {total('kji', 16):,} and {total('jki', 16):,}" in PROSE
    assert "The least possible is 192" in PROSE
    assert 3 * N * N // 16 == 192


def total(order, lines):
    """Return the lines that an order fetches in the picture's matrices."""
    return sum(count_steps(loop_steps(order, N, N, N), [(N, N, N)] * 3, 4, CacheShape(64 * lines)))


def test_two_tests_see_the_swapped_index_and_two_do_not(mine):
    swapped = from_cell(CODE["swapped"])[1]
    rows = triple_loop.tried(swapped).rows
    assert [row[2] for row in rows[:2]] == ["right", "right"]
    assert rows[2][2] == "576 of 576 elements of C are wrong"
    assert rows[3][2].startswith("line 5: B(0, 16) does not exist")
    assert [row[2] for row in triple_loop.tried(mine).rows] == ["right"] * 4
    assert [row[2] for row in triple_loop.tried(swapped.replace("B(j, k)", "B(k, j)")).rows] == ["right"] * 4


def test_the_prose_says_what_was_recorded():
    slow, fast = (times.recorded(f"gemm_{order}", 1024, "cpu_steps") for order in ("ijk", "ikj"))
    assert f"One takes {slow:.2f} seconds, and the other {fast:.3f}. Where does a factor of {slow / fast:.0f} come from?" in PROSE
    rows = triple_loop.scoreboard().rows
    assert [row[2] for row in rows] == [f"{slow:.3f}", f"{fast:.3f}"]
    assert f"the two factors, {float(rows[0][1]) / float(rows[1][1]):.0f} and {slow / fast:.0f}" in PROSE
    assert rows[1][3] == f"{data.load('cpu_steps').find('gemm_ikj', 1024)[0].gflops:.2f}"


def test_at_48_both_orders_fetch_every_line_once_into_32_kib():
    lines = {order: count_steps(loop_steps(order, 48, 48, 48), [(48, 48, 48)] * 3, 4, CacheShape()) for order in ("ijk", "ikj")}
    assert lines["ijk"] == lines["ikj"] == [48 * 48 // 16] * 3
    assert "have 27 KiB" in PROSE
    assert 3 * 48 * 48 * 4 == 27 * 1024
    assert 3 * 512 * 512 * 4 > 1024 * 1024


def test_what_is_measured_is_labelled_and_a_missing_compiler_is_said(mine, monkeypatch):
    monkeypatch.setattr(times, "MEASURED", (8, 16))
    monkeypatch.setattr(times, "BUDGET_S", 0.01)
    monkeypatch.setattr(times, "SMALL", 8)
    if times.no_compiler() is None:
        assert triple_loop.measured(mine).caption.startswith("measured on ")
        assert len(triple_loop.six().rows) == 7
    monkeypatch.setattr(times, "no_compiler", lambda: "there is no C compiler")
    assert "there is no C compiler" in triple_loop.measured(mine).caption
    assert len(triple_loop.six().rows) == 1


def test_powers_of_two_are_the_worst_sizes():
    (_, _, fits, few), (_, _, _, same), (n, bytes_, half, many) = triple_loop.columns().rows
    assert (fits, n, bytes_, half) == (120, 128, 512, 64)
    assert few == same
    assert round(float(many) / float(same)) == 16
    assert "about 16 times fewer lines" in PROSE


def test_the_slides_and_our_times_grow_as_the_prose_says():
    slides, ours = LEE_CPU.column("CPU"), {n: times.recorded("gemm_ijk", n) for n in (512, 1024)}
    assert f"grows {slides[2048] / slides[1024]:.1f} times from 1024 to 2048" in PROSE
    assert f"{ours[1024] / ours[512]:.0f} times from 512 to 1024" in PROSE
    fits = {row[0]: row[5:] for row in triple_loop.slides().rows}
    assert fits[512][0] == "512"
    assert fits[1024] == ("512", "1,024")
    assert int(fits[2048][1].replace(",", "")) < 2048


def test_the_layout_has_words():
    assert re.search(r"A column of B is four numbers, each of them on another line", repr(triple_loop.layout()))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [True, False])
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path, compiler):
    made, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/01_triple_loop.ipynb")
    copy = nbformat.reads(made.decode(), as_version=4)
    answer = next(cell for cell in copy.cells if cell.id.startswith("answer"))
    assert "Show a program that works" in answer.source
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"WARP_BY_WARP_HOME": str(tmp_path)} | ({} if compiler else {"CC": "no-such-compiler"}))
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "count", "fetched", "times"):
        assert "mine is not written yet" in said[cell], cell
    assert "16384" not in said["count"]
    for cell in ("tried", "scoreboard", "columns", "slides", "six"):
        assert any(word in said[cell] for word in ("matrices", "lines", "GFLOP/s")), cell
