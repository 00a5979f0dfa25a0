"""Lesson 01: what it promises, and every number that its prose says."""

import json
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.errors import CourseError
from course_lib.explorables.orders import FLOAT, LINE_BYTES, N, counted
from course_lib.kernels.cpu import ORDERS
from course_lib.kernels.cpu_user import own_program
from course_lib.lessons import triple_loop
from course_lib.lessons.triple_loop import pictures, sizes, times
from course_lib.magic import from_cell
from course_lib.model.cache_lines import CacheShape, count_steps, loop_steps
from course_lib.plots import style, themes
from course_lib.plots.picture import FIGURES
from course_lib.run.cpu import build_cpu
from course_lib.run.turns import in_turns
from course_lib.toolchain import CompileError
from course_lib.toolchain.host_compiler import AS_WRITTEN
from course_lib.unwritten import NotWritten, Unwritten
from tools import my_course

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "01_triple_loop.ipynb"
CELLS = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
FOUND = next("".join(cell["source"]) for cell in CELLS if cell["id"] == "found")
PROSE = " ".join(" ".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown").split())
QUESTIONS = Path(triple_loop.__file__).with_name("questions_01.toml").read_text(encoding="utf-8")
NOTES = (LESSON.parents[1] / "docs" / "lecturing" / "01_triple_loop.md").read_text(encoding="utf-8")
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
    assert repr(triple_loop.check(mine)) == "mine: right on all 9 inputs. The innermost loop walks down no column."
    found = triple_loop.count(mine, N=64)
    assert found.fetched == {"A": 4096, "B": 256, "C": 16384}
    assert "C has 64 · 4 = 256 lines" in PROSE
    assert f"64 · 256 = {found.fetched['C']:,} lines, one for every 16 multiply-adds" in PROSE
    assert f"a line for each element of A, {found.fetched['A']:,}" in PROSE
    table = triple_loop.fetched(found, N=64)
    assert table.header[1:] == ("ijk", "ikj", "your loops")
    A, B, C = (int(row[1].replace(",", "")) for row in table.rows[:3])
    assert count_steps(loop_steps("ijk", 64, 64, 64), [(64, 64, 64)] * 3, 4, CacheShape(1024)) == [A, B, C]
    assert B == 64**3
    assert f"64³ = {B:,}" in PROSE
    assert f"every line of A is fetched 64 times, once for each j: 64 · 256 = {A:,}" in PROSE
    assert A == 64 * 256
    assert [row[2] for row in table.rows[:3]] == ["256", "16,384", "256"]


@pytest.mark.slow
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("order", "says"), [
    ("ijk", "they fetch 1.00 lines of B (32 × 32 matrices, 16 lines of cache): the innermost loop walks down a column of B. Choose"),
    ("jki", "fetch 1.00 lines of A and 1.00 lines of C (32 × 32 matrices, 16 lines of cache)"),
    ("kji", "the innermost loop walks down a column of A and a column of C"),
    ("ikj", "But this is ikj, the order of the picture"), ("kij", "The innermost loop walks down no column.")])
def test_right_loops_hear_whether_the_innermost_one_walks_down_a_column(order, says):
    found = triple_loop.check(loops(order))
    assert found.right == 9
    assert says in repr(found)
    assert says in found._repr_html_()
    kept = triple_loop.check(loops(order, "{ float a = A(i, k); C(i, j) += a * B(k, j); }"))
    assert kept.note == found.note, "who keeps A in a variable hears the same"


def test_a_missing_last_semicolon_is_on_a_line_of_the_cell():
    """The compiler complains of what follows the reader's loops, two lines below the last one."""
    with pytest.raises(CompileError, match=r"line 6: error: expected ';' at the end of this line\nC\(i, j\)"):
        build_cpu(own_program(loops("kij").replace("// %%c mine\n", "// %%c mine\n// BEGIN\n").rstrip(";") + "\n"))


@pytest.mark.parametrize("order", ORDERS)
def test_loops_of_a_cell_fetch_as_those_of_the_catalog(order):
    assert list(triple_loop.count(loops(order), N=32).fetched.values()) == counted(order, 16)


def test_there_are_two_orders_that_walk_down_no_column_and_the_picture_shows_one():
    assert [order for order in ORDERS if sum(counted(order, 16)) < N**3 / 8] == ["ikj", "kij"]
    assert triple_loop.two_orders().values["right"] == "ikj"
    assert "there is exactly one more whose innermost loop walks down no column" in PROSE


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
    for letter, about in (("j", 0.1), ("k", 1), ("i", 2)):
        assert all(per[order] == pytest.approx(about, abs=0.1) for order in ORDERS if order[-1] == letter)
        row = next(line for line in FOUND.splitlines() if line.strip().startswith(f"| {letter} |"))
        assert row.endswith(f"| {about} |")
    worst = sorted(ORDERS, key=lambda order: -sum(counted(order, 16)))[:2]
    assert sorted(worst) == ["jki", "kji"]
    assert sum(counted("ijk", 32)) > 10 * sum(counted("ikj", 32))
    assert counted("ijk", 40) == counted("ikj", 40)
    exact = [lines for lines in (34, 35) if total("ijk", lines) == total("ikj", lines)]
    assert exact == [35]
    assert "Between 32 and 40 lines. The 32 lines of one column of B" in PROSE
    assert "So 35 lines are enough." in PROSE
    assert f"32 lines to 40: {total('ijk', 32):,} lines become {total('ijk', 40):,}, as on the right" in NOTES
    assert total("ijk", 40) == total("ikj", 40)


def total(order, lines):
    """Return the lines that an order fetches in the picture's matrices."""
    return sum(count_steps(loop_steps(order, N, N, N), [(N, N, N)] * 3, 4, CacheShape(64 * lines)))


def test_two_tests_see_the_swapped_index_and_two_do_not(mine):
    swapped = from_cell(CODE["swapped"])[1]
    rows = triple_loop.tried(swapped).rows
    assert triple_loop.failed(triple_loop.tried(swapped)) == 2
    assert triple_loop.failed(triple_loop.tried(mine)) == 0
    assert [row[2] for row in rows[:2]] == ["right", "right"]
    assert rows[2][2] == "576 of 576 elements of C are wrong"
    assert rows[3][2].startswith("line 5: B(0, 16) does not exist")
    assert [row[2] for row in triple_loop.tried(mine).rows] == ["right"] * 4
    assert [row[2] for row in triple_loop.tried(swapped.replace("B(j, k)", "B(k, j)")).rows] == ["right"] * 4


def test_the_prose_says_what_was_recorded():
    padded, plain = sizes.TIMED
    slow, fast = (times.row(order, plain)["best_s"] for order in ("ijk", "ikj"))
    assert f"called `ijk` takes {slow:.2f} seconds, and the one called `ikj` takes {fast:.3f}: a factor of {slow / fast:.0f}." in PROSE
    assert plain.flops == 2 * 1024**3
    assert f"2 · 1024³ operations, or {plain.flops / 1e9:.1f} billion. In {slow:.2f} seconds that is {speed('ijk', plain):.2f} GFLOP/s, " \
        f"and in {fast:.3f} seconds it is {speed('ikj', plain):.0f}." in PROSE
    assert "Xeon" in data.load("cpu_steps").device


def test_the_factor_is_taken_apart_as_recorded():
    padded, plain = sizes.TIMED
    slow, less, fast = times.row("ijk", plain)["best_s"], times.row("ijk", padded)["best_s"], times.row("ikj", plain)["best_s"]
    padded_fast = times.row("ikj", padded)["best_s"]
    order, rows = f"{less / padded_fast:.1f}", f"{slow / less:.1f}"
    assert [seconds for _, seconds, _ in times.steps()] == [fast, padded_fast, less, slow]
    assert (padded.ldb, plain.ldb) == (1040, 1024), "16 floats that nobody uses"
    shown = triple_loop.scoreboard().alt
    assert f"ikj: {fast:.3f} s; × {padded_fast / fast:.2f} (padding); ikj, padding: {padded_fast:.3f} s; × {order} (order); " \
        f"ijk, padding: {less:.3f} s; × {rows} (no padding); ijk: {slow:.3f} s. From the first to the last " \
        f"× {slow / fast:.0f}. recorded" in shown
    assert times.recorded_cpu() in shown
    assert "The time of `ikj` hardly changes." in PROSE
    assert all(padded_fast / fast < row["worst_s"] / row["best_s"] for row in (times.row("ikj", size) for size in sizes.TIMED))
    assert f"**The order costs × {order}, and missing padding another × {rows}.**" in PROSE
    assert f"**The × {rows}** is where the lines of B lie" in PROSE
    assert f"**The × {order}** is the order. What is in it we measured only on another EPYC" in PROSE
    assert f"make `ijk` {rows} times as fast at N = 1024" in QUESTIONS
    assert f"With padding, `ijk` still takes {order} times as long as `ikj`. What does it wait for?" in PROSE
    assert f"padding, then the order, {order} times, then no padding, {rows} times" in NOTES
    assert f"Of the {order} that are left" in NOTES


def test_what_ijk_waits_for_is_as_recorded():
    found = {(row["kernel"], row["ldb"]): row["best_s"] for row in data.readings("cpu_apart").find(what="program")}
    table = triple_loop.waits()
    assert table.header[1:] == ("ijk", "four steps, one sum", "four steps, four sums")
    assert [row[0] for row in table.rows] == ["1,024 floats apart", "1,040 floats apart", "all in the same 64 lines"]
    for cells, ldb in zip(table.rows, (1024, 1040, 0), strict=True):
        assert cells[1:] == tuple(f"{found[name, ldb]:.2f}" for name in ("ijk", "one sum", "four sums"))
    assert "family 25" in table.caption
    assert "on another AMD EPYC, of family 25 and not 26" in PROSE
    assert "family 26" in times.recorded_cpu(), "of the bars"
    options = [data.readings(name).find(what="conditions")[0]["options"] for name in ("cpu_apart", "cpu_orders")]
    assert options[0] == options[1]
    none, padded, plain = (found["ijk", ldb] for ldb in (0, 1040, 1024))
    assert f"`ijk` takes {none:.2f} seconds. With padding, the fetching of B adds {padded - none:.1f} seconds. " \
        f"Without padding it adds {plain - none:.1f} seconds, {100 * (1 - none / plain):.0f} % of the time." in PROSE
    fast, scalar, slow = (found[name, 1040] for name in ("ikj", "ikj, no vectors", "ijk, no vectors"))
    assert f"factors of the scoreboard are {padded / fast:.1f} and {plain / padded:.1f}, together {plain / fast:.0f}." in PROSE
    waiting, lines = found["one sum", 0] / found["four sums", 0], padded / none
    assert scalar / fast > 2 * waiting > 4 * lines, "mostly vectors, then additions that wait for one another, and least of all lines"
    assert "then additions of `ijk` that wait for one another, and least of all lines (second optional section)." in PROSE
    assert f"only on another EPYC, where it is {padded / fast:.1f}: mostly" in PROSE
    shown = [row for row in data.readings("cpu_apart").find(what="program") if row["kernel"] in ("ijk", "one sum", "four sums")]
    differ = max(row["worst_s"] / row["best_s"] for row in shown) - 1
    assert f"differ by up to {100 * differ:.0f} %" in table.caption, "those of the table"
    assert f"So the {plain / padded:.1f} comes from fetching B" in PROSE
    assert padded < 1.15 * none, "nearly as fast"
    assert f"Without vectors, only {slow / scalar:.1f} of the {padded / fast:.1f} is left." in PROSE
    assert f"What is behind the {slow / scalar:.1f} and the {plain / padded:.1f}?" in PROSE
    assert found["ijk, no vectors", 0] / found["ikj, no vectors", 0] == pytest.approx(slow / scalar, rel=0.05), "there, too"
    assert slow < 1.05 * padded
    assert f"`ikj` without vectors takes {found['ikj, no vectors', 0]:.2f} seconds in this layout (" in PROSE
    worst = next(row["worst_s"] for row in data.readings("cpu_apart").find(what="program", kernel="ikj, no vectors", ldb=0))
    assert f"({worst:.2f} in its slowest round), about as long as four sums" in PROSE
    assert found["ikj, no vectors", 0] == pytest.approx(found["four sums", 0], rel=0.05)
    chain = f"{found['one sum', 0] / found['four sums', 0]:.1f}"
    assert f"With four sums they are {chain} times as fast" in PROSE
    assert found["one sum", 0] == pytest.approx(none, rel=0.1), "four steps with one sum take about as long"
    padded_sums, sums = found["four sums", 1040], found["four sums", 0]
    assert f"{padded_sums:.2f} seconds with it, and {sums:.2f} where hardly anything has to be fetched" in PROSE
    assert found["four sums", 1040] > 2 * found["four sums", 0], "more than double"
    code = "".join(sizes.four_steps(4).split()).replace("k+0", "k")
    shown = next("".join(cell["source"]) for cell in CELLS if cell["id"] == "split-after").split("```c")[1].split("```")[0]
    assert "".join(shown.split()) in code, "the lesson shows what was timed"


def test_the_bars_of_the_other_cpu_change_one_thing_each():
    found = {(row["kernel"], row["ldb"]): row["best_s"] for row in data.readings("cpu_apart").find(what="program")}
    fast, scalar, slow, vectors = (found[name, 1040] for name in ("ikj", "ikj, no vectors", "ijk, no vectors", "ijk"))
    said = triple_loop.split().alt
    for part in (f"ikj, padding: {fast:.3f} s; × {scalar / fast:.1f} (no vectors); ikj, padding, no vectors: {scalar:.3f} s",
                 f"× {slow / scalar:.1f} (order); ijk, padding, no vectors: {slow:.3f} s; × {vectors / slow:.2f} (vectors)",
                 f"ijk, padding: {vectors:.3f} s; × {found['ijk', 1024] / vectors:.1f} (no padding); ijk: {found['ijk', 1024]:.3f} s."):
        assert part in said
    assert times.recorded_cpu("cpu_apart") in said
    assert f"Vectors make `ikj` {scalar / fast:.1f} times as fast, and `ijk` hardly faster." in PROSE
    assert 1 < slow / vectors < 1.05


@pytest.mark.parametrize("sums", [1, 4])
def test_four_steps_are_right_and_fetch_the_lines_of_ijk(sums):
    text = "// %%c steps\n" + sizes.four_steps(sums)
    assert triple_loop.failed(triple_loop.tried(text)) == 0
    found, plain = (triple_loop.count(program, N=32).fetched for program in (text, loops("ijk")))
    assert [found[name] for name in "AB"] == [plain[name] for name in "AB"]


def test_the_sets_are_those_of_the_recorded_cpu():
    first, = data.readings("cpu_orders").find(what="cache", level=1)
    assert (1024 * first["kib"], first["ways"]) == (64 * pictures.SETS * pictures.WAYS, pictures.WAYS)
    assert f"This one has {pictures.SETS} of them, numbered from 0 to {pictures.SETS - 1}." in PROSE
    assert "Each set holds 12 lines." in PROSE


def speed(order, size):
    """Return what the recording says of an order."""
    return times.speed(order, size)


def test_the_recorded_bars_bear_out_the_prose():
    small, padded, plain = sizes.SIZES
    assert (small.ldb, padded.ldb, plain.ldb) == (48, 528, 512)
    assert (small, plain) == sizes.SHOWN
    factors = [f"{speed('ikj', size) / speed('ijk', size):.2g}" for size in sizes.SHOWN]
    assert f"`ikj` is {factors[0]} times as fast, although both orders fetch hardly any line" in PROSE
    assert f"Now `ikj` is {factors[1]} times as fast." in PROSE
    assert f"the {factors[1]} does not tell us what the lines cost" in PROSE
    assert speed("ijk", small) > 2 * speed("ijk", plain)
    assert speed("ikj", plain) > 2 * speed("ikj", small), "`ikj` itself has become faster per multiply-add"
    wider = [speed("ijk", padded) / speed("ijk", plain), speed("ijk", sizes.TIMED[0]) / speed("ijk", sizes.TIMED[1])]
    assert f"For N = 512, `ijk` takes {wider[0]:.1f} times as long without it, and for N = 1024 it takes {wider[1]:.1f} times" in PROSE
    assert 4 * (padded.ldb - plain.ldb) == 64
    assert "It makes the rows of B 64 bytes longer" in PROSE
    assert 3 * 512 * 512 * 4 == 3 * 2**20, "The matrices have 3 MiB"
    panel = times.of_recording()
    assert panel.title.endswith("AMD EPYC (family 26, model 2)")
    assert [[f"{time:.3g}" for time in panel.bars[order]] for order in ("ijk", "ikj")] == [
        [f"{2 / speed(order, size):.3g}" for size in sizes.SHOWN] for order in ("ijk", "ikj")]


def test_any_768_lines_would_let_a_column_of_512_stay():
    first, = data.readings("cpu_orders").find(what="cache", level=1)
    assert f"the first-level cache of the recorded CPU, the AMD EPYC, holds {1024 * first['kib'] // LINE_BYTES}" in PROSE
    fetched = {(order, lines): sum(count_steps(loop_steps(order, 2, 512, 512), [(2, 512, 512), (512, 512, 512), (2, 512, 512)], 4,
                                               CacheShape(64 * lines))) for order in ("ijk", "ikj") for lines in (544, 545)}
    assert fetched["ijk", 544] > 10 * fetched["ikj", 544]
    assert fetched["ijk", 545] == fetched["ikj", 545]
    assert "512 + 32 + 1 = 545 lines" in PROSE
    padded, plain = sizes.SIZES[1:]
    assert f"where it makes `ijk` {speed('ijk', padded) / speed('ijk', plain):.1f} times as fast" in PROSE


def test_without_vectors_the_order_matters_little_where_hardly_a_line_is_fetched():
    us = {(row["kernel"], row["vectors"]): row["median_s"] for row in data.readings("cpu_roof").find(what="vectors", N=48)}
    ratio = us["gemm_ijk", False] / us["gemm_ikj", False]
    assert f"For 48 × 48 on the CPU of the other bars it is {ratio:.1f}: lesson 02, first optional section." in PROSE
    roof, orders = (data.readings(name).find(what="conditions")[0] for name in ("cpu_roof", "cpu_orders"))
    assert [roof[name] for name in ("family", "model", "options")] == [orders[name] for name in ("family", "model", "options")]


def test_a_picture_says_how_many_times_as_fast_and_why_nothing_is_measured():
    panels = [pictures.Panel("one", {"ijk": (1.0,), "ikj": (0.05,)}), pictures.Panel("two", {}, "Nothing is timed here.")]
    shown = pictures.times_picture(panels, ["48"])
    assert "48: ijk 1.00 ns, ikj 0.050 ns: 20 times as fast" in shown.alt
    assert "two. Nothing is timed here." in shown.alt


def test_a_column_falls_into_few_sets_or_into_all():
    assert sorted(pictures.in_sets(512, 2048))[-3:] == [0, 256, 256]
    assert pictures.in_sets(512, 2112).tolist() == [8] * 64
    steps = {distance: [number * distance // 64 % 64 for number in range(4)] for distance in (2048, 2112)}
    assert steps == {2048: [0, 32, 0, 32], 2112: [0, 33, 2, 35]}
    assert "32 + 32 = 64, and the remainder is 0: that is set 0 again" in PROSE
    assert "each step goes 33 sets further: 0, 33, then 66 − 64 = 2, 35, and so on" in PROSE
    assert "the whole column falls into two sets. In each of these, 256 lines compete, and only 12 of them fit" in PROSE
    cache = CacheShape(48 * 1024, ways=pictures.WAYS)
    for distance in (2048, 2112, 4096, 4160):
        fit = sum(min(lines, pictures.WAYS) for lines in pictures.in_sets(1024, distance))
        assert fit == min(1024, cache.column(distance))
    assert "24 lines fit" in triple_loop.sets().alt
    assert "512 lines fit" in triple_loop.sets().alt


def test_where_more_lines_compete_for_a_set_ijk_is_slower():
    table = triple_loop.fits()
    rows = [[float(cell.replace(",", "")) for cell in row] for row in table.rows]
    assert table.header[2:4] == ("lines per set, first-level cache (12 fit)", "lines per set, second-level cache (16 fit)")
    assert [row[1] for row in rows] == [2112, 2048, 4160, 4096]
    assert [row[2:4] for row in rows] == [[8, 1], [256, 16], [16, 1], [1024, 64]]
    assert [row[2] for row in rows] == [max(pictures.in_sets(int(row[0]), int(row[1]))) for row in rows]
    assert all(slow[4] > fast[4] for fast, slow in (rows[:2], rows[2:]))
    assert "in each pair, `ijk` is slower where more lines compete for a set" in PROSE
    assert "In the third row, 16 lines compete for a set of 12. If the line" in PROSE
    assert f"Yet `ijk` takes only {rows[2][4] / rows[0][4]:.1f} times as long as in the first row" in PROSE


def test_the_six_orders_in_pairs_and_from_120_to_128():
    for size in sizes.SMALL:
        for one, other in (("ijk", "jik"), ("ikj", "kij")):
            assert 2 / 3 < speed(one, size) / speed(other, size) < 3 / 2, "pairs are close together"
        assert min(speed("ikj", size), speed("kij", size)) > 2 * max(speed(order, size) for order in ORDERS if order[-1] != "j")
    assert min(128, CacheShape(48 * 1024, ways=12).column(512)) == 96
    assert "of its 128 lines only 96 fit into the first-level cache of the recorded EPYC" in PROSE


def test_no_line_of_prose_becomes_a_bullet_by_accident():
    lines = [line for cell in CELLS if cell["cell_type"] == "markdown" for line in "".join(cell["source"]).splitlines()]
    assert [line for line in lines if re.match(r"\s*\+ ", line)] == []


def test_a_recording_says_with_what_it_was_made():
    found, = data.readings("cpu_orders").find(what="conditions")
    assert {"cpu", "family", "model", "compiler", "options", "clock", "load"} <= set(found)
    for option in ("-O3", "-march=native", "-fno-loop-interchange", "-fno-loop-unroll-and-jam"):
        assert option in found["options"], option
    assert "`-O3 -march=native`" in PROSE
    assert AS_WRITTEN == (("-fno-loop-interchange",), ("-fno-loop-unroll-and-jam",))
    for row in data.readings("cpu_orders").find(what="program"):
        assert row["best_s"] <= row["median_s"] <= row["worst_s"], row


@pytest.mark.parametrize(("N", "fits"), [(120, 240), (128, 192)])
def test_two_columns_of_120_fit_into_48_kib_and_of_128_do_not(N, fits):
    assert min(2 * N, 2 * CacheShape(48 * 1024, ways=12).column(4 * N)) == fits
    assert "two columns are only 240 lines" in PROSE


def test_at_48_both_orders_fetch_every_line_once_into_32_kib():
    lines = {order: count_steps(loop_steps(order, 48, 48, 48), [(48, 48, 48)] * 3, 4, CacheShape()) for order in ("ijk", "ikj")}
    assert lines["ijk"] == lines["ikj"] == [48 * 48 // 16] * 3
    assert 3 * 48 * 48 * 4 == 27 * 1024


@pytest.mark.slow
def test_what_is_measured_is_labelled_and_a_missing_compiler_is_said(mine, monkeypatch):
    monkeypatch.setattr(times, "SHOWN", (sizes.Size.square(8), sizes.Size(2, 3, 5, 7)))
    monkeypatch.setattr(times, "of_recording", lambda: pictures.Panel("recorded", {"ijk": (1.0, 1.0), "ikj": (0.1, 0.1)}))
    monkeypatch.setattr(times, "SMALL", (sizes.Size.square(7), sizes.Size.square(8)))
    monkeypatch.setattr(times, "BUDGET_S", 0.001)
    monkeypatch.setattr(times, "ROUNDS", 2)
    if not times.no_compiler():
        told = triple_loop.measured(mine).alt
        assert re.search(r"measured on this computer .* your loops .* times as fast\. the fastest of 2 rounds, which differ by", told)
        assert "do not compute the product" in triple_loop.measured(mine.replace("k < K", "k < K - 1")).alt
        printing = mine.replace("for (", 'int printf(const char*, ...);\nprintf("x");\nfor (', 1)
        assert "take the printing out" in triple_loop.measured(printing).alt
        assert len(triple_loop.six().rows) == 7
    monkeypatch.setattr(times, "no_compiler", lambda: "there is no C compiler")
    assert "there is no C compiler" in triple_loop.measured(mine).alt
    assert len(triple_loop.six().rows) == 1


def test_programs_take_turns_and_a_disturbed_round_is_seen():
    """Two calls of 2 and 3 ms on a clock of their own; in the second round something else takes 50 % more."""
    now, order = [0.0], []

    def call(name, seconds):
        def run():
            order.append(name)
            now[0] += seconds * (1.5 if 6 < len(order) <= 8 else 1)
        return run

    a, b = in_turns([call("a", 0.002), call("b", 0.003)], rounds=3, budget_s=0.001, clock=lambda: now[0])
    assert "".join(order) == "aabb" + "ab" * 3
    assert (a.best, b.best) == (pytest.approx(0.002), pytest.approx(0.003))
    assert (a.percent, b.percent) == ("50 %", "50 %")
    assert a.median == pytest.approx(0.002)
    assert a.worst == pytest.approx(0.003)


@pytest.mark.parametrize("size", [sizes.Size.square(8), sizes.Size(3, 5, 7, 21)])
def test_matrices_begin_with_a_line_and_rows_of_b_lie_apart(size):
    A, B, C = size.matrices()
    assert [X.shape for X in (A, B, C)] == [(size.M, size.K), (size.K, size.N), (size.M, size.N)]
    assert [X.ctypes.data % 64 for X in (A, B, C)] == [0, 0, 0]
    assert B.strides[0] == 4 * size.ldb
    assert size.flops == 2 * size.M * size.N * size.K


def test_the_slides_and_our_times_grow_as_the_prose_says():
    slides, ours = LEE_CPU.column("CPU"), {n: data.load("lee_cpu").find("gemm_ijk", n)[0].seconds for n in (512, 1024)}
    assert f"grows {slides[2048] / slides[1024]:.1f} times from 1024 to 2048" in PROSE
    assert f"{ours[1024] / ours[512]:.0f} times from 512 to 1024" in PROSE
    sweeps = (LESSON.parents[1] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert "second 2 MiB in 16" in sweeps, "our Xeon's second cache"
    fits = {row[0]: row[5:] for row in triple_loop.slides().rows}
    assert fits[512][0] == "512"
    assert fits[1024] == ("512", "1,024")
    assert int(fits[2048][1].replace(",", "")) < 2048


def test_the_notes_say_how_many_columns_share_a_line_and_what_the_speeds_are():
    plain = sizes.TIMED[1]
    assert '"16 columns share each line on the left.' in NOTES
    assert LINE_BYTES // FLOAT == 16
    slow, fast = (speed(order, plain) for order in ("ijk", "ikj"))
    assert f"2 · 1,024³: {plain.flops / 1e9:.1f} · 10⁹ operations. In 3.91 s" in NOTES
    assert f"and in 0.041 s that is {slow:.2f} and {fast:.0f} GFLOP/s" in NOTES


def test_empty_sets_have_an_outline_and_full_ones_a_colour_of_both_themes(monkeypatch):
    monkeypatch.delenv(FIGURES, raising=False)
    assert triple_loop.sets().data.decode().count(f"stroke: var(--c{style.GREY[1:].lower()})") == 2 * pictures.SETS
    assert not any(themes.flips(colour) for colour in (pictures.CROWDED, pictures.FITTING))


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
    assert "16,384" not in said["count"]
    for cell in ("tried", "sets", "scoreboard", "fits", "slides", "six"):
        assert any(word in said[cell] for word in ("matrices", "lines", "GFLOP/s")), cell


def test_an_error_that_no_line_made_is_told_without_one(monkeypatch):
    def fail(*given):
        raise CourseError("the launch was stopped")

    monkeypatch.setattr(triple_loop.loops, "run_loops", fail)
    told = {what for *_, what in triple_loop.tried(loops("ijk", "C(i, j) += A(i, k) * B(k, j);")).rows}
    assert told == {"the launch was stopped"}
