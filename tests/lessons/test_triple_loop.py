"""Lesson 01: what it promises, and every number that its prose says."""

import itertools
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
from course_lib.explorables.orders import N, counted
from course_lib.kernels.cpu import ORDERS
from course_lib.lessons import triple_loop
from course_lib.lessons.triple_loop import times, turns
from course_lib.magic import from_cell
from course_lib.model.cache_lines import CacheShape, count_steps, loop_steps
from course_lib.toolchain.host_compiler import AS_WRITTEN
from course_lib.unwritten import NotWritten, Unwritten
from tools import my_course

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
    assert "| `ijk` | a column of B, 32 lines | a row of A, 2 lines, and 1 line of C | 35 |" in PROSE


def test_how_many_lines_the_worst_orders_need_and_which():
    assert [total("kji", lines) > 2000 for lines in (96, 98, 99, 104)] == [True, True, False, False]
    assert [total("jki", lines) > 1000 for lines in (112, 120, 127, 128)] == [True, True, True, False]
    assert "| `kji` | all of C, 64 lines | a column of A, 32 lines, and 3 lines of B | 99 |" in PROSE
    assert "| `jki` | all of A, 64 lines | a column of B and a column of C, 32 lines each | 128 |" in PROSE
    assert counted("kji", 96)[2] == 32 * 64, "all of C, once for each turn of the outermost loop"
    assert counted("jki", 112)[0] == 32 * 64, "all of A"
    A, B, _ = counted("jki", 120)
    assert A < 2 * 64
    assert B == 32 * 32, "a line for each element: none is there for the next column"
    assert "`kji` with 104 lines, and `jki` only with 128" in PROSE
    assert f"`kji` fetches {total('kji', 104)} lines and `jki` {total('jki', 128)}" in PROSE
    assert f"16 lines makes them fetch {total('kji', 16):,} and {total('jki', 16):,}" in PROSE
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
    assert "on the same CPU, an Intel Xeon." in PROSE
    assert "Xeon" in data.load("cpu_steps").device
    assert f"One takes {slow:.2f} seconds, and the other {fast:.3f}. Where does a factor of {slow / fast:.0f} come from?" in PROSE
    lines, first, speeds, plain, padded = triple_loop.scoreboard().rows
    assert first[1:] == ("1,024", f"{slow:.3f}", f"{fast:.3f}", f"{slow / fast:.1f}")
    assert speeds[2:4] == tuple(f"{data.load('cpu_steps').find(f'gemm_{order}', 1024)[0].gflops:.2f}" for order in ("ijk", "ikj"))
    assert plain[0] == padded[0] == f"seconds, {data.readings('cpu_orders').device}"
    assert [row[1] for row in (lines, plain, padded)] == ["1,024", "1,024", "1,040"]
    assert all(name in triple_loop.scoreboard().caption for name in (data.load("cpu_steps").device, data.readings("cpu_orders").device))


def test_the_lines_of_the_scoreboard_are_worked_out_and_simulated():
    lines = triple_loop.scoreboard().rows[0]
    assert f"1 + 1/16 + 1/16,384 = {lines[2]}" in PROSE
    assert f"1/16 + 2/16,384 = {lines[3]}" in PROSE
    assert f"That is a factor of {lines[4]}." in PROSE
    assert 16 * times.COUNTED == 16384
    N, cache = 96, CacheShape(64 * 64)                           # as 1,024 into 512 lines: a column does not fit in
    for order in ("ijk", "ikj"):
        for ldb in (N, N + 16):
            counts = count_steps(loop_steps(order, N, N, N), [(N, N, N), (N, N, ldb), (N, N, N)], 4, cache)
            assert sum(counts) / N**3 == pytest.approx(times.worked_out(order, N), rel=1e-3)


def speed(order, size):
    """Return what the recording says of an order."""
    return times.speed(order, size)


def test_padding_changes_ijk_much_and_ikj_little_where_both_were_recorded():
    """With wide margins: a new recording on another CPU must not make the prose wrong unnoticed."""
    padded, plain = turns.TIMED
    gain = {order: speed(order, padded) / speed(order, plain) for order in ("ijk", "ikj")}
    assert gain["ijk"] > 6
    assert round(100 * abs(1 / gain["ikj"] - 1)) == 2
    assert "`ijk` takes less than a sixth of the time, while that of `ikj` changes by 2 %" in PROSE
    assert speed("ikj", padded) > 3 * speed("ijk", padded)
    assert "AMD" in data.readings("cpu_orders").device, "On the AMD CPU of the scoreboard"
    second, = data.readings("cpu_orders").find(what="cache", level=2)
    assert 1024 * second["kib"] > 4 * 64 * times.LINES, "a second cache that holds far more lines"
    assert "far more than 768 lines" in PROSE
    first, = data.readings("cpu_orders").find(what="cache", level=1)
    assert (1024 * first["kib"], first["ways"]) == (64 * times.LINES, 12)
    assert "The cache holds 768 lines, or 48 KiB, as the first cache of both CPUs does" in PROSE
    assert "64 sets of 12 places, as in the first caches of our two CPUs" in PROSE
    sweeps = (LESSON.parents[1] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert "first cache 48 KiB in 12 ways" in sweeps, "our Xeon's"
    assert 4 * padded.ldb >= 4 * plain.ldb >= 4096, "from N = 1024 on, each element of a column lies on a page of its own"


def test_what_the_xeon_lets_us_infer():
    first, middle, last = (data.load("lee_cpu").find("gemm_ijk", N)[0].gflops for N in (256, 512, 1024))
    assert first > 1.5
    assert f"`ijk` made {middle:.2f} GFLOP/s for N = 512, and {last:.2f} for N = 1024" in PROSE
    fast = data.load("cpu_steps").find("gemm_ikj", 1024)[0].gflops
    assert f"a factor of about {fast / middle:.0f} is left of the 31" in PROSE


def test_the_recorded_rows_change_one_thing_at_a_time():
    first, longer, padded, plain = turns.SIZES
    rows = triple_loop.one_at_a_time().rows
    assert [row[1] for row in rows[:2]] == ["27", "24"]
    assert "have 27 KiB" in PROSE
    assert (first.K, longer.K, longer.N, longer.ldb) == (48, 512, 6, 6), "longer sums, six turns, rows of B even closer together"
    assert padded.K == plain.K == longer.K
    assert 4 * (padded.ldb - plain.ldb) == 64
    assert "by 64 bytes: 2,048 bytes are a power of two" in PROSE
    assert rows[3][3] == "2,048"
    caches = {row["level"]: row["kib"] for row in data.readings("cpu_orders").find(what="cache")}
    assert 27 < caches[1] < 3072, "the first two rows fit into the first cache of the recorded CPU, the others do not"
    assert [row[6] for row in rows] == ["", *(f"{speed('ijk', a) / speed('ijk', b):.1f}" for a, b in itertools.pairwise(turns.SIZES))]


def test_the_recorded_speeds_bear_out_the_prose():
    first, longer, _, plain = turns.SIZES
    steps = [row[6] for row in triple_loop.one_at_a_time().rows[1:]]
    assert steps == ["1.8", "0.9", "2.7"]
    for sentence in ("`ijk` is 1.8 times slower", "That costs nothing here.", "This step costs most, a factor of 2.7."):
        assert sentence in PROSE
    assert speed("ijk", first) > 1.5 * speed("ijk", plain)
    assert speed("ikj", first) > 2 * speed("ijk", first), "hardly a line is fetched, and still the reader's loops are faster"
    for size in turns.SMALL:
        for one, other in (("ijk", "jik"), ("ikj", "kij")):
            assert 2 / 3 < speed(one, size) / speed(other, size) < 3 / 2, "pairs are close together"
        assert min(speed("ikj", size), speed("kij", size)) > 2 * max(speed(order, size) for order in ORDERS if order[-1] != "j")


def test_a_recording_says_with_what_it_was_made():
    found, = data.readings("cpu_orders").find(what="conditions")
    assert {"cpu", "family", "model", "compiler", "options", "clock", "load"} <= set(found)
    for option in ("-O3", "-march=native", "-fno-loop-interchange", "-fno-loop-unroll-and-jam"):
        assert option in found["options"], option
        assert option in PROSE, option
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


def test_a_swapped_index_stays_inside_an_oblong_b():
    M, N, K = triple_loop.loops.OBLONG
    last = (N - 1) * N + K - 1
    assert f"{N - 1} · {N} + {K - 1} = {last}, and B has {K * N} elements" in PROSE
    assert last < K * N
    assert M == 24


def test_what_is_measured_is_labelled_and_a_missing_compiler_is_said(mine, monkeypatch):
    monkeypatch.setattr(times, "SIZES", (turns.Size.square(8), turns.Size(2, 3, 5, 7)))
    monkeypatch.setattr(times, "SMALL", (turns.Size.square(7), turns.Size.square(8)))
    monkeypatch.setattr(times, "BUDGET_S", 0.001)
    monkeypatch.setattr(times, "ROUNDS", 2)
    if not times.no_compiler():
        table = triple_loop.measured(mine)
        assert table.caption.startswith("the fastest of 2 rounds, measured on ")
        assert [row[0] for row in table.rows] == ["all 8 × 8", "A 2 × 5, B 5 × 3, B padded"]
        assert all(re.fullmatch(r"\d+ %", row[-1]) for row in table.rows)
        assert "do not compute the product" in triple_loop.measured(mine.replace("k < K", "k < K - 1")).caption
        printing = mine.replace("for (", 'int printf(const char*, ...);\nprintf("x");\nfor (', 1)
        assert "take the printing out" in triple_loop.measured(printing).caption
        assert len(triple_loop.six().rows) == 7
    monkeypatch.setattr(times, "no_compiler", lambda: "there is no C compiler")
    assert "there is no C compiler" in triple_loop.measured(mine).caption
    assert len(triple_loop.six().rows) == 1


def test_programs_take_turns_and_a_disturbed_round_is_seen():
    """Two calls of 2 and 3 ms on a clock of their own; in the second round something else takes 50 % more."""
    now, order = [0.0], []

    def call(name, seconds):
        def run():
            order.append(name)
            now[0] += seconds * (1.5 if 6 < len(order) <= 8 else 1)
        return run

    a, b = turns.in_turns([call("a", 0.002), call("b", 0.003)], rounds=3, budget_s=0.001, clock=lambda: now[0])
    assert "".join(order) == "aabb" + "ab" * 3
    assert (a.best, b.best) == (pytest.approx(0.002), pytest.approx(0.003))
    assert (a.percent, b.percent) == ("50 %", "50 %")
    assert a.median == pytest.approx(0.002)
    assert a.worst == pytest.approx(0.003)


@pytest.mark.parametrize("size", [turns.Size.square(8), turns.Size(3, 5, 7, 21)])
def test_matrices_begin_with_a_line_and_rows_of_b_lie_apart(size):
    A, B, C = size.matrices()
    assert [X.shape for X in (A, B, C)] == [(size.M, size.K), (size.K, size.N), (size.M, size.N)]
    assert [X.ctypes.data % 64 for X in (A, B, C)] == [0, 0, 0]
    assert B.strides[0] == 4 * size.ldb
    assert size.flops == 2 * size.M * size.N * size.K


def test_sizes_that_a_large_power_of_two_divides_are_the_worst():
    (_, _, _, fits, few), (_, _, _, _, same), (n, _, bytes_, half, many), (one, ldb, _, all_, padded) = triple_loop.columns().rows
    assert (fits, n, bytes_, half, one, ldb, all_) == (120, 128, 512, 96, 128, 129, 128)
    assert few == same
    assert [round(float(many) / float(less)) for less in (same, padded)] == [16, 16]
    assert "about 16 times fewer, as with 127" in PROSE
    cache = CacheShape(48 * 1024, ways=12)
    assert [cache.column(4 * N) for N in (128, 384, 640, 768, 256)] == [96, 96, 96, 48, 48]
    assert "only 96 of 128 lines can stay" in PROSE
    assert "the columns of 384 and 640 also keep only 96 lines, and those of 768 keep 48, as those of 256 do" in PROSE


def test_the_slides_and_our_times_grow_as_the_prose_says():
    slides, ours = LEE_CPU.column("CPU"), {n: times.recorded("gemm_ijk", n) for n in (512, 1024)}
    assert f"grows {slides[2048] / slides[1024]:.1f} times from 1024 to 2048" in PROSE
    assert f"{ours[1024] / ours[512]:.0f} times from 512 to 1024" in PROSE
    small = f"{slides[512] / slides[256]:.1f} and {slides[1024] / slides[512]:.1f} times"
    assert f"the smaller steps of the slides, {small}, we have no explanation" in PROSE
    sweeps = (LESSON.parents[1] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    assert "second 2 MiB in 16" in sweeps, "our Xeon's second cache"
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
    assert "16,384" not in said["count"]
    for cell in ("tried", "one", "scoreboard", "columns", "slides", "six"):
        assert any(word in said[cell] for word in ("matrices", "lines", "GFLOP/s")), cell
