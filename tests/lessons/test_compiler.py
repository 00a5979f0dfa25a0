"""Lesson 21: what Triton wrote is right and free of hazards, and every number that the lesson's prose says."""

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from course_lib import simt, toolchain
from course_lib.arch import device
from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.explorables.triton import STAGES, events, on_their_way
from course_lib.kernels import get
from course_lib.kernels.triton import FOLDER, PROGRAM, SETTINGS, digest_of, program_of
from course_lib.lessons import compiler
from course_lib.lessons.compiler import barriers, machine, times
from course_lib.lessons.compiler import order as orders
from course_lib.lessons.compiler.barriers import SIZES, without
from course_lib.lessons.compiler.counts import (
    CONFLICTS,
    COPIES,
    COPY_WAVEFRONTS,
    EXECUTED,
    LDMATRIX,
    MULTIPLIED,
    SECTORS,
    TILE,
    WAVEFRONTS,
    our_step,
    step_of,
)
from course_lib.lessons.compiler.tables import SHARED_LOADS
from course_lib.lessons.stages.flight import during_products
from course_lib.magic import from_cell
from course_lib.plots.ptx_loop import loop_lines, name_of
from course_lib.run import matches, stages_in_flight
from course_lib.widgets.compute import inputs
from tools import my_course
from tools.record.short import ROUNDS

Setting = compiler.Setting
ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "21_compiler.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
PLACE = "return 4 * row + (piece ^ row / 2 % 4);"
ORDERED = {"wait": "cp.async.wait_group 2", "barrier": "bar.sync", "load": "ldmatrix", "multiply": "mma.sync", "copies of": "cp.async.cg"}
LOAD_WAVEFRONTS = WAVEFRONTS[0]
MASKED = [setting for setting in SETTINGS if setting.masked]
NEVER_IN_PTX = {"cp.async.bulk", "tensormap", "mapa"}            # of other lessons


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def says(*words):
    """Hold words to the lesson's prose."""
    assert not [text for text in words if text not in PROSE]


@pytest.mark.slow
@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("setting", MASKED, ids=lambda setting: setting.name)
def test_each_text_is_right_on_ragged_sizes_and_has_no_hazard(setting):
    M, N, K = (77, 83, 45) if setting.any_size else (77, 96, 112)
    A, B, _ = inputs(M, N, K)
    product = compiler.multiply(A, B, setting, racecheck=True)
    assert product.hazards == 0
    assert not product.report.async_findings
    assert not product.report.stray_shuffles
    A, B = (matrix if setting.floats else matrix.astype(np.float16) for matrix in (A, B))
    assert matches(product.C, A, B, inputs="bf16" if setting.floats else "")
    assert not NEVER_IN_PTX & {word for word in NEVER_IN_PTX if word in product.written.ptx}


@pytest.mark.parametrize("setting", [Setting(2), Setting(3), Setting(1, floats=True)], ids=lambda setting: setting.name)
def test_both_code_generators_agree(setting):
    A, B, _ = inputs(70, 80, 48)
    one, other = compiler.multiply(A, B, setting), compiler.multiply(A, B, setting, trace=[(0, 0)])
    assert one.C.tobytes() == other.C.tobytes()
    assert one.report.counters == other.report.counters


def test_the_kept_texts_are_those_of_the_settings():
    assert {path.stem for path in FOLDER.glob("*.ptx")} == {setting.name for setting in SETTINGS}
    for setting in SETTINGS:
        made = compiler.written(setting)
        assert setting.as_dict().items() <= made.facts.items()
        assert f".target {setting.arch}\n" in made.ptx
        assert made.facts["local"] == 0
        assert made.facts["program"] == digest_of(setting), "older than the program: python -m tools record triton"
        assert not re.search(r"/(?:home|Users|root|work|tmp)/", made.ptx)
    assert {compiler.written(setting).facts["triton"] for setting in SETTINGS} == {"3.9.0"}
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "\ntriton==3.9.0\n" in pinned
    says("one version of the compiler (3.9.0)")


def test_what_is_not_kept_is_named():
    with pytest.raises(CourseError, match="of this setting no PTX is kept"):
        compiler.written(Setting(stages=7))
    with pytest.raises(CourseError, match="compiled for multiples of 16"):
        compiler.multiply(*inputs(64, 60, 64)[:2])


def test_the_programs_of_the_settings_differ_in_the_line_that_the_lesson_names():
    plain = PROGRAM.read_text(encoding="utf-8").splitlines()
    for setting, line in ((Setting(masked=False), 19), (Setting(3, floats=True), 21)):
        changed = program_of(setting).splitlines()
        assert [n for n, (old, new) in enumerate(zip(plain, changed, strict=True), 1) if old != new] == [line]
        assert changed[line - 1].split(" = ", 1)[1] in PROSE
    assert plain[18].strip().startswith("a = tl.load")
    assert plain[20].strip() == "sums = tl.dot(a, b, sums)"


def test_what_the_lines_cost():
    found, step = step_of(Setting(3)).lines, step_of(Setting(3))
    assert step.counters[EXECUTED] == 504
    assert found[19][EXECUTED] + found[20][EXECUTED] == 300
    assert (found[21][EXECUTED], found[21][MULTIPLIED]) == (128, 64)
    assert {line.text.split()[0] for line in loop_lines(compiler.written(Setting(3))) if line.line == 21} == {
        "mov.b32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
    assert (step.counters[SECTORS], step.counters[COPIES], step.counters[LDMATRIX], step.sum(CONFLICTS)) == (256, 16, 32, 0)
    assert 32 * step.counters[SECTORS] == 16 * 32 * step.counters[COPIES] == 8192
    assert {line.line for line in loop_lines(compiler.written(Setting(3))) if name_of(line.text) == "bar.sync"} == {19}
    assert compiler.multiplying() == 12.7
    machine = compiler.written(Setting(3)).facts["loop"]
    assert (machine["HMMA"], machine["instructions"], f"{16 / 96:.0%}") == (16, 96, "17%")
    says("16 of the 96 instructions of a warp multiply, or 17 %",
         "Line 19 costs the most, 160 of 504", "each of the four warps executes three `bar.sync` per step",
         "Line 21 has, besides the 64 `mma`, 64 that only move registers")
    rows = compiler.by_line().rows
    assert max(rows, key=lambda row: row[1])[0][:2] == "19"
    assert [row[1:] for row in rows if row[0][:2] in ("19", "21")] == [(160, 0, 4 * 3), (128, 64, 0)]
    assert [sum(row[column] for row in rows) for column in (1, 2, 3)] == [504, 64, 12]


def test_the_ptx_that_the_reader_reads():
    """The 18 instructions around the copies of line 19: 16 bytes each, and a mask that says how many of them are read."""
    whole, shown = compiler.code(19).rows, compiler.code(19, first=44, last=61).rows
    assert (len(whole), len(shown), 4 * len(whole)) == (40, 18, step_of(Setting(3)).lines[19][EXECUTED])
    assert shown == [row for row in whole if 44 <= row[0] <= 61]
    texts = {place: " ".join(text.split()) for place, text in shown}
    assert texts[56] == "cp.async.cg.shared.global [ %r126 + 0 ], [ %rd16 + 0 ], 0x10, %r127;"
    assert texts[60].startswith("cp.async.cg.shared.global")
    assert sum("cp.async.cg" in text for _, text in whole) * 16 * 128 == 2 * 64 * 32, "the tile of A"
    assert [texts[place] for place in (45, 53, 54, 55)] == [
        "setp.lt.s32 %p16, %r156, %r44;", "selp.b32 %r161, 16, 0, %p16;", "selp.b32 %r162, %r161, 0, %p1;",
        "selp.b32 %r127, %r162, 0, %p13;"]
    ptx = " ".join(compiler.written(Setting(3)).ptx.split())
    before = ptx.partition("Inner Loop")[0]
    assert "ld.param.b32 %r42, [product_param_3];" in before, "M"
    assert "ld.param.b32 %r44, [product_param_5];" in before, "K"
    assert re.search(r"setp\.lt\.s32 %p1, %r\d+, %r42;", before)
    assert "add.s32 %r37, %r44, -64;" in before
    assert "add.s32 %r150, %r274, -64; setp.lt.s32 %p13, %r150, %r37;" in ptx, "the step that is copied begins before K"
    says("Each warp executes 40 instructions, and the cell shows the 18", "`cp.async` copies, at positions 56 and 60, and `0x10` is 16",
         "A's tile has 4,096 bytes, so each of the 128 threads copies twice", "The mask is the last operand, `%r127`",
         "They ask `%p16`, which is `a_col < K`, then `%p1`, which is `row < M`, and then `%p13`",
         "one comparison with K was enough for the eight float16 of a copy")


def test_a_masked_copy_reads_nothing_and_writes_zeros():
    """As the self-check says, with 10 rows of A: nothing else of it is read, and yet the whole tile in shared memory is written."""
    A, B, _ = inputs(10, 64, 32)
    trace = compiler.multiply(A, B, Setting(3), trace=[(0, warp) for warp in range(4)]).report.trace
    copies = [r for r in trace if r.line == 19 and r.operation.startswith("cp.async.c") and r.width]
    read, written_to = ({int(address) for r in copies if r.space == space for address in np.asarray(r.addresses) if address >= 0}
                        for space in ("global", "shared"))
    assert 16 * len(read) == 10 * 32 * 2
    assert 16 * len(written_to & set(range(4096))) == 4096


def test_the_ptx_of_the_readers_own_kernel():
    found = compiler.ptx_of(worked(), "= tile[place(row, warp)]")
    names = [text.split()[0] for text, in found.rows]
    assert (names.count("ld.shared.v4.u32"), names.count("st.global.v4.u32")) == (1, 1)
    assert "compiler.ptx_of(pieces, \"= tile[place(row, warp)]\")" in CELLS["own-ptx"]
    blank, _ = my_course.blank_cell(CELLS["pieces"])
    assert len(compiler.ptx_of(from_cell(blank)[1], "= tile[place(row, warp)]").rows) > 1
    with pytest.raises(CourseError, match="no line of the kernel holds"):
        compiler.ptx_of(worked(), "nowhere")
    with pytest.raises(CourseError, match="holds no kernel"):
        compiler.ptx_of("__device__ int one() { return 1; }\n", "one")


def test_every_count_is_a_straight_line_in_k():
    """What a step costs is the difference of two launches; a third lies on the same line."""
    less, more, most = (compiler.multiply(*inputs(64, 64, K)[:2]).report.counters for K in (256, 512, 768))
    assert all(most[name] - more[name] == more[name] - less[name] for name in less)


def test_one_of_three_barriers_orders_nothing():
    rows = {row[0].partition(",")[0]: row[1:] for row in compiler.without_barriers(3).rows}
    assert rows["none"] == rows["number 1"] == ("none", "right")
    assert (rows["number 2"], rows["number 3"]) == (("RAW, WAR", "right"), ("RAW", "wrong"))
    made, A, B = compiler.written(Setting(3)), *inputs(*SIZES)[:2]
    for how in ("reverse", "interleaved", 5):
        product = compiler.multiply(A, B, Setting(3), without(made, 1), racecheck=True, warp_order=how)
        assert product.hazards == 0
        assert matches(product.C, A, B, inputs="tf32")
    names = [name_of(line.text) for line in loop_lines(made)]
    first, *_, last = (place for place, name in enumerate(names) if name == "bar.sync")
    assert {name for name in (*names[last + 1:], *names[:first]) if name} == {"ldmatrix", "mma.sync", "bra", "cp.async.wait_group"}
    assert made.facts["loop"]["BAR"] == 3
    says("the machine code above has three `BAR`", "the simulator found no hazard without the first barrier")
    turn = re.search(r"```text\n(wait for copies.*?)```", CELLS["barriers"], re.S)[1]
    told = re.findall(r"wait|barrier|load|multiply|copies of", turn)
    assert told == ["wait", "barrier", "load", "multiply", "barrier", "copies of", "wait", "barrier", "load", "multiply"]
    assert order(Setting(3), "cp.async.commit_group")[:-1] == [ORDERED[word] for word in told]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(64, 64, 128), (200, 144, 256)], ids=str)
def test_it_orders_nothing_with_other_sizes(sizes, monkeypatch):
    monkeypatch.setattr(barriers, "SIZES", sizes)
    product, right = barriers.launched(1, 3)
    assert (product.hazards, right) == (0, True)


def test_what_wgmma_lacks_is_found():
    """Nothing found in Triton's own text means something: without its fence the simulator says so."""
    made, A, B = compiler.written(Setting(3, "sm_90a")), *inputs(64, 64, 256)[:2]
    broken = made.ptx.replace("fence.proxy.async.shared::cta;", "")
    assert broken != made.ptx
    assert compiler.multiply(A, B, made.setting, broken, racecheck=True).hazards > 0


@pytest.mark.parametrize(("arch", "places", "size"), [("sm_80", (1, 1, 2, 3), (8192, 8192, 16384, 24576)),
                                                      ("sm_90a", (1, 2, 3, 4), (16384, 16384, 24576, 32768))])
def test_what_stages_take(arch, places, size):
    rows = compiler.stages_compared(arch).rows
    assert [(row[1], row[3]) for row in rows] == list(zip(places, map("{:,}".format, size)))
    assert [row[2] for row in rows] == [0, 0, 1, 2]
    if arch == "sm_80":
        assert (rows[0][5], rows[2][5]) == (71, 126), "what the lecture says"
    assert [row[4] for row in rows] == ([2, 3, 3, 3] if arch == "sm_80" else [2, 2, 2, 2])


def test_what_the_lesson_says_of_stages():
    two, three, four = (row[5:7] for row in compiler.stages_compared().rows[1:])
    assert (three[0] - two[0], three[1] - two[1], four) == (27, 15, three)
    says("the tiles of one step take 8,192 bytes together", "There are two buffers, not three",
         "With three stages there are three buffers",
         "by 27 instructions in PTX, and by 15 in machine code",
         "`num_stages` = S has S − 1 buffers in shared memory, for S = 2, 3 and 4",
         "From two stages on there are as many buffers as stages", "16,384 is for C")
    stored = [r for r in compiler.multiply(*inputs(64, 64, 64)[:2], Setting(1, "sm_90a"), trace=[(0, w) for w in range(4)]).report.trace
              if r.space == "shared" and r.line == 22 and r.operation.startswith("st.")]
    assert len({int(address) for r in stored for address in r.addresses}) * 16 == 16384 == 4 * 64 * 64


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_what_is_on_its_way_is_what_was_traced(stages):
    """Each product stands behind loads from shared memory, with no copy between: what is on its way there is on its way at the product."""
    traced = compiler.multiply(*inputs(64, 64, 512)[:2], Setting(stages), trace=[(0, 0)]).report
    waits = [wait.bytes_left for wait in stages_in_flight(traced)]
    assert max(waits) == on_their_way(Setting(stages)) * 8192 // 4


def test_lesson_17s_pipeline_has_one_step_more_on_its_way():
    assert (during_products(STAGES=3), on_their_way(Setting(3))) == (2, 1)
    says("In lesson 17 three stages had three buffers, and two steps on their way", "In lesson 17, three stages had three buffers")


def order(setting, *ignored):
    """Return the named instructions of a loop in their order, neighbours of one name together."""
    named = [(name_of(line.text), line.text.split()[-1].strip(";")) for line in loop_lines(compiler.written(setting)) if name_of(line.text)]
    names = [f"{name} {last}" if name.endswith("wait_group") else name for name, last in named]
    return [name for name, _ in itertools.groupby(name for name in names if name not in ignored)]


def test_the_order_in_the_loop():
    """Three stages: second half loaded, first half multiplied, then copies into the place just read, then the next first half."""
    assert order(Setting(3), "cp.async.commit_group") == [
        "cp.async.wait_group 2", "bar.sync", "ldmatrix", "mma.sync", "bar.sync", "cp.async.cg",
        "cp.async.wait_group 2", "bar.sync", "ldmatrix", "mma.sync", "bra"]
    multiplied = [line for line in loop_lines(compiler.written(Setting(3))) if name_of(line.text) == "mma.sync"]
    assert len(multiplied) == 16
    ordered = next(event for event in events(Setting(3)) if event["says"].endswith("step 2 are ordered into buffer 0."))
    assert (ordered["buffers"], ordered["registers"]) == ([[2, "way"], [1, "way"]], [[0, 1]])
    says("the copies of two have been ordered, and half of one is in registers",
         "The second half of the old step, 16 of the 32 columns of A, is in registers and waits to be multiplied")


def test_copies_go_to_the_buffer_that_was_read_last():
    for stages in (2, 3, 4):
        trace = compiler.multiply(*inputs(64, 64, 512)[:2], Setting(stages), trace=[(0, 0)]).report.trace
        places, read = [], None
        for record in (r for r in trace if r.line == 19 and r.space == "shared" and r.addresses[0] >= 0):
            place = int(record.addresses[0]) // 4096
            if record.operation.startswith("ldmatrix"):
                read = place
            elif read is not None:
                places.append((read, place))
        assert len(places) > 20
        assert all(read == place for read, place in places)


def test_two_stages_overlap_nothing_in_ptx():
    names = order(Setting(2), "cp.async.commit_group")
    assert names == ["cp.async.wait_group 0", "bar.sync", "ldmatrix", "mma.sync", "bar.sync", "cp.async.cg", "cp.async.wait_group 0",
                     "bar.sync", "ldmatrix", "mma.sync", "bra"]
    machine = [part.split() for part in compiler.written(Setting(2)).facts["order"].split(", ")]
    flat = [name for count, name in machine for _ in range(int(count))]
    first = flat.index("LDGSTS")
    wait = flat.index("DEPBAR", first)
    assert flat[first:wait].count("HMMA") == 8
    assert (flat.count("HMMA"), flat.count("LDGSTS")) == (16, 4)
    says("Eight `HMMA`. In PTX all eight products of the first half come before the copies",
         "in PTX no load and no product stands between them")


def test_one_stage_has_no_asynchronous_copies():
    assert "cp.async" not in compiler.written(Setting(1)).ptx
    assert {"ld.global", "st.shared"} <= set(order(Setting(1)))


def worked():
    return from_cell(CELLS["pieces"])[1]


def checked(line):
    """Return what the check says of the reader's kernel with another line in `place`: stores, loads, rows and what arrives."""
    text = worked()
    assert text.count(PLACE) == 1
    return [row[1] for row in compiler.check_pieces(text.replace(PLACE, line)).rows]


def test_the_order_of_the_pieces():
    assert checked(PLACE) == checked("return 4 * row + (piece + row / 2) % 4;") == [32, 32, "yes", "right"]
    assert checked("return 4 * row + piece;") == [32, 128, "yes", "right"]
    assert checked("return 64 * piece + row;") == [128, 32, "no: piece 1 of row 0 lies in row 16", "right"]
    assert checked("return 4 * row;")[3] == "wrong"
    blank, _ = my_course.blank_cell(CELLS["pieces"])
    assert [row[1] for row in compiler.check_pieces(from_cell(blank)[1]).rows] == [32, 128, "yes", "right"]
    says("With the pieces in order, the stores take 32 and the loads 128")


def test_triton_and_sgemm_bf16_have_the_same_order():
    found = orders.traced_order()
    assert all(found[4 * row + (piece ^ row // 2 % 4)] == (row, piece) for row in range(64) for piece in range(4))
    assert "row / (8 / PIECES) % PIECES" in get("sgemm_bf16").source
    says("Row r holds piece p at position p ^ (r / 2 mod 4)", "the order of the solution and of `sgemm_bf16` of lesson 16")


def test_the_picture_of_both_orders():
    """A column is four banks: in order a piece has two columns, by Triton's copies it lies once in each."""
    drawn = orders.draw_orders()
    columns = [{piece: sorted(int(text.get_position()[0]) for text in ax.texts if text.get_text() == f"piece {piece}")
                for piece in range(4)} for ax in drawn]
    assert columns[0] == {piece: [piece] * 4 + [piece + 4] * 4 for piece in range(4)}
    assert columns[1] == {piece: list(range(8)) for piece in range(4)}
    assert all(len({bar.get_facecolor() for bar in ax.patches}) == 4 for ax in drawn)
    assert "rows 6 and 7: 3 2 1 0 3 2 1 0" in compiler.pieces().alt
    says("In order, a colour lies in two columns only. With Triton's order it lies once in each")


def test_what_the_reader_finds_in_the_ptx():
    per_line = {stages: {line: [name_of(code.text) for code in loop_lines(compiler.written(Setting(stages))) if code.line == line]
                         for line in (16, 19, 21)} for stages in STAGES}
    assert all(found[21].count("mma.sync") == 16 for found in per_line.values())
    assert [len(found[21]) for found in per_line.values()] == [16, 32, 32, 32]
    assert {"ld.global", "st.shared"} <= set(per_line[1][19])
    assert {"cp.async.cg", "cp.async.commit_group", "cp.async.wait_group"} <= set(per_line[2][19])
    texts = {stages: " ".join(code.text for code in loop_lines(compiler.written(Setting(stages))) if code.line == 16) for stages in (2, 3)}
    assert "selp" in texts[3]
    assert "selp" not in texts[2]


def test_the_missing_mask():
    unmasked = Setting(masked=False)
    A, B, _ = inputs(128, 128, 128)
    assert matches(compiler.multiply(A, B, unmasked).C, A, B, inputs="tf32")
    for M, K in ((100, 128), (64, 48)):
        with pytest.raises(simt.OutOfBounds, match=r"line 19: .*product_param_0\["):
            compiler.multiply(*inputs(M, 128, K)[:2], unmasked)
    assert [compiler.written(setting).facts["loop"]["instructions"] for setting in (Setting(3), unmasked)] == [96, 88]
    named = [dict(compiler.written(setting).facts["loop"]) for setting in (Setting(3), unmasked)]
    assert [loop.pop("instructions") for loop in named] == [96, 88]
    assert named[0] == named[1]
    masked, without_mask = (Counter(line.text.split()[0] for line in loop_lines(compiler.written(setting))
                                    if line.line == 19 and "bra" not in line.text) for setting in (Setting(3), unmasked))
    assert masked - without_mask == {"selp.b32": 4, "setp.lt.s32": 1}
    says("With it the loop has 96 machine instructions per step", "In the machine code for `sm_80` it costs 8 of 96",
         "line 19 loses four `selp` and one compare")


@pytest.mark.parametrize(("mask", "said"), [
    ("row < M", "wrong: M = 100, K = 208, and for row = 0, a_col = 208 the mask is True, though A has no such element"),
    ("a_col < K", "wrong: M = 100, K = 208, and for row = 100, a_col = 0 the mask is True, though A has no such element"),
    ("(row < M) & (a_col < K - 1)", "wrong: M = 100, K = 208, and for row = 0, a_col = 207 the mask is False, though A has this element"),
    ("(row <= M) & (a_col < K)", "wrong: M = 100, K = 208, and for row = 100, a_col = 0 the mask is True, though A has no such element"),
    ("(a_col < K) & (row < M)", "right: true for all 100 × 208 elements of A, and false beside them")])
def test_the_readers_mask(mask, said):
    assert compiler.check_mask(mask) == said


def test_what_is_no_mask_is_refused():
    for text in ("row < M and a_col < K", "rows < M", "row <"):
        with pytest.raises(CourseError, match="Write it with row, a_col, M and K"):
            compiler.check_mask(text)


def test_beside_ours():
    half, floats, one, ours = (step_of(Setting(3)), step_of(Setting(3, floats=True)), step_of(Setting(1, floats=True)), our_step())
    assert {step.counters[MULTIPLIED] for step in (half, floats, one, ours)} == {64}
    assert [row[1:] for row in compiler.beside_ours().rows] == [
        ("256", "512", "512", "512"), ("32", "192", "192", "32"), ("192", "512", "512", "192"), ("64", "128", "0", "0"),
        ("0", "128", "128", "0"), ("3", "3", "4", "2"), ("16,384", "32,768", "8,192", "8,192")]
    assert (f"{512 / 192:.1f}", (512 - 128) / 192) == ("2.7", 2)
    assert [compiler.wavefronts(setting) for setting in (Setting(3), Setting(3, floats=True), Setting(1, floats=True))] == [192, 512, 512]
    loaded = half.counters[LOAD_WAVEFRONTS]
    assert (half.counters[COPY_WAVEFRONTS], loaded, 128 * half.counters[COPY_WAVEFRONTS], 128 * loaded) == (64, 128, 8192, 2 * 8192)
    assert 3 * 128 == 384
    says("Triton's *first* program needs 192 wavefronts of shared memory per step. The 8,192 bytes that copies write take 64",
         "Loading each tile twice, because two warps need each part of it, takes 128", "Triton keeps floats all the same",
         "Twice the bytes take twice the wavefronts, 384. The other 128 are bank conflicts: a third more than the width alone explains",
         "a step takes 512 wavefronts of shared memory instead of 192: 384 for their width, and 128 for conflicts",
         "Shared memory alone says 512 / 192 = 2.7", "with the same tiles and warps")


def test_the_conflicts_are_those_of_the_loads_of_b():
    """Given floats, with three stages: A's loads take as many wavefronts as the bytes ask for, B's twice as many."""
    found = step_of(Setting(3, floats=True)).lines
    assert [found[line][LOAD_WAVEFRONTS] for line in (19, 20)] == [128, 256]
    assert [sum(found[line].get(name, 0) for name in CONFLICTS) for line in (19, 20)] == [0, 128]
    trace = compiler.multiply(*inputs(64, 64, 256)[:2], Setting(3, floats=True), trace=[(0, 0)]).report.trace
    places = {line: {operation: {int(r.addresses[0]) // 16384 for r in trace
                                 if r.line == line and r.space == "shared" and r.operation.startswith(operation) and r.addresses[0] >= 0}
                     for operation in ("cp.async", "ld.")} for line in (19, 20)}
    assert places == {19: {"cp.async": {0}, "ld.": {0}}, 20: {"cp.async": {1}, "ld.": {1}}}, "two tiles of A, then two of B"
    says("With three stages all of them come from the loads of B's tile")


def test_the_machine_code_has_as_many_loads_as_were_counted():
    """The bound is of the PTX's wavefronts: the assembler for `sm_80` has put no loads together."""
    for stages in (1, 3):
        setting = Setting(stages, floats=True)
        assert setting.warps * compiler.written(setting).facts["loop"]["LDS"] == step_of(setting).sum(SHARED_LOADS)


def test_given_float16_one_stage_takes_the_same_wavefronts():
    """The first column of `beside_ours` has three stages; with one there are as many loads, wavefronts and conflicts."""
    assert [(step.sum(SHARED_LOADS), step.sum(WAVEFRONTS), step.sum(CONFLICTS)) for step in map(step_of, (Setting(1), Setting(3)))] == [
        (32, 192, 0)] * 2


def test_given_floats_no_text_loads_matrices_and_one_stage_copies_nothing():
    assert not [stages for stages in (1, 3) if "ldmatrix" in compiler.written(Setting(stages, floats=True)).ptx]
    assert "cp.async" not in compiler.written(Setting(1, floats=True)).ptx
    bf16 = get("sgemm_bf16")
    ours = toolchain.compile_cuda(bf16.source, name=bf16.file_name, arch="sm_80", defines=bf16.defines(**bf16.check(**TILE))).ptx
    assert "cp.async" not in ours
    texts = [compiler.written(Setting(stages, floats=True)).ptx for stages in (1, 3)]
    assert {name for text in (ours, *texts) for name in re.findall(r"mma\.sync\S+", text)} == {
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}


def test_with_one_stage_both_tiles_of_floats_go_through_the_same_bytes():
    made, (A, B, _) = compiler.written(Setting(1, floats=True)), inputs(64, 64, 32)
    kinds = re.findall(r"st\.shared\.v4\.b32|ld\.shared|bar\.sync", " ".join(line.text for line in loop_lines(made)))
    through = ["bar.sync", "st.shared.v4.b32", "bar.sync", "ld.shared"]
    assert [kind for kind, _ in itertools.groupby(kinds)] == 2 * through
    trace = compiler.multiply(A, B, made.setting, trace=[(0, warp) for warp in range(4)]).report.trace
    stores = [[r for r in trace if r.space == "shared" and r.operation.startswith("st.") and r.line != 22 and r.warp == warp]
              for warp in range(4)]
    tiles = [{int(address) for found in stores for r in found[half] for address in r.addresses} for half in (slice(4), slice(4, None))]
    assert tiles[0] == tiles[1] == set(range(0, 8192, 16))


def test_the_same_program_for_an_h200():
    made = compiler.written(Setting(3, "sm_90a"))
    names = [name_of(line.text) for line in loop_lines(made)]
    assert (names.count("wgmma.mma_async"), names.count("ldmatrix"), names.count("mma.sync")) == (2, 0, 0)
    assert "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in made.ptx
    waits = {stages: [line.text.split()[-1] for line in loop_lines(compiler.written(Setting(stages, "sm_90a")))
                      if name_of(line.text) == "wgmma.wait_group"] for stages in STAGES}
    assert waits == {1: ["0;"], 2: ["1;"], 3: ["1;"], 4: ["1;"]}
    says("Two `wgmma` of four warps do what sixteen `mma` of each warp did")


def test_any_size():
    promised, any_size = step_of(Setting(3)), step_of(Setting(3, any_size=True))
    rows = {row[0]: row[1:] for row in compiler.any_size().rows}
    assert rows["requests of global memory"] == ("16", "128")
    assert rows["asynchronous copies to shared memory"] == ("16", "0")
    assert any_size.counters[SECTORS] == promised.counters[SECTORS]
    assert "cp.async" not in compiler.written(Setting(3, any_size=True)).ptx
    assert order(Setting(3, any_size=True)) == order(Setting(1))
    says("eight times as many requests", "one step after the other, as with one stage")


def test_the_lesson_shows_the_program():
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    shown = re.search(r"```text\n(.*?)```", CELLS["program"], re.S)[1].splitlines()
    assert shown == [f"{number}  {lines[number - 1]}" for number in range(12, len(lines) + 1)]


def test_the_lecture_says_what_the_lesson_says():
    notes = (ROOT / "docs" / "lecturing" / "21_compiler.md").read_text(encoding="utf-8")
    speed = {kernel: times.recorded(f"Triton sm_80_{kernel}")["tflops"] for kernel in ("1", "3")}
    ninth = events(Setting(3))[8]
    assert ninth["says"] == "The copies of step 2 are ordered into buffer 0."
    assert [0, 1] in ninth["registers"]
    for words in ("*First refill* (event 9), where step 2 is copied into the buffer of step 0", f"| {compiler.multiplying()}. Line 19",
                  "128 wavefronts, then 32", "512 against 192", f"It is {compiler.times_as_fast():.2f}. |",
                  f"Nsight Compute counted {compiler.whole_pipe()}, and the time says {compiler.times_as_fast():.2f}",
                  f"{times.recorded(THREE)['mhz']:,} MHz for Triton's with three stages and {times.recorded(OURS)['mhz']:,} MHz",
                  f"takes {times.cycles_times_ours(THREE):.2f} times as many", f"busy in {percent(times.busy(THREE))} of the cycles",
                  f"no more than {times.allowed(THREE):.0f} TFLOP/s", "2.01 foretold, 1.82 recorded",
                  "126 instructions of a warp instead of 71",
                  f"{speed['3']} against {speed['1']} TFLOP/s"):
        assert words in notes


def test_the_recorded_times():
    ours, triton, one_stage = (times.recorded(kernel) for kernel in times.GIVEN_FLOATS.values())
    ratio, one_ratio = ours["tflops"] / triton["tflops"], ours["tflops"] / one_stage["tflops"]
    assert compiler.times_as_fast() == round(ratio, 2)
    low, high = triton["low_s"] / ours["high_s"], triton["high_s"] / ours["low_s"]
    says(f"Ours was {ours['tflops']} / {triton['tflops']} = {ratio:.2f} times as fast (between quartiles, {low:.2f} to {high:.2f})",
         f"and the time is {one_ratio:.2f}",
         f"Shared memory alone said {512 / 192:.1f}, the whole data pipe 1.24, and the time {ratio:.2f}")
    float16 = {target: [times.recorded(f"Triton {target}_{stages}")["tflops"] for stages in STAGES] for target in ("sm_80", "sm_90a")}
    clocks = {target: [times.recorded(f"Triton {target}_{stages}")["mhz"] for stages in STAGES] for target in float16}
    faster = [hopper / ampere - 1 for ampere, hopper in zip(*float16.values(), strict=True)]
    apart = max(max(pair) / min(pair) - 1 for pair in zip(*clocks.values(), strict=True))
    assert min(faster) > apart, "yes, with every number of stages"
    several, their_clocks = float16["sm_90a"][1:], clocks["sm_90a"][1:]
    says(f"by {100 * min(faster):.0f} to {100 * max(faster):.0f} %, while the clocks that were read differ by at most {100 * apart:.0f} %",
         f"it reaches up to {max(several)} TFLOP/s",
         f"two, three and four stages differ by up to {100 * (max(several) / min(several) - 1):.0f} %",
         f"but their clocks by up to {100 * (max(their_clocks) / min(their_clocks) - 1):.0f} %",
         f"cuBLAS does {times.recorded('cuBLAS')['tflops']}",
         f"an H200 reached {float16['sm_80'][1]} TFLOP/s with two stages and {float16['sm_80'][0]} with one")
    shown = [row[1:] for row in compiler.given_float16().rows]
    assert shown == list(zip(*float16.values(), strict=True))
    kernels = [*times.GIVEN_FLOATS.values(), *(f"Triton {target}_{stages}" for target in float16 for stages in STAGES)]
    assert not any(times.recorded(kernel)["wrong"] for kernel in kernels)
    assert times.ROUNDS == ROUNDS


OURS, THREE, ONE = times.GIVEN_FLOATS.values()


def percent(part):
    return f"{part:.0%}".replace("%", " %")


def test_the_whole_pipe_foretells_the_time():
    """By hand, then as Nsight Compute counted it; within 5 % of the time with three stages, and within 11 % with one."""
    three, ours = step_of(Setting(3, floats=True)), our_step()
    copies, registers = three.counters[COPY_WAVEFRONTS], 32 * ours.counters[SECTORS] // 128
    assert (three.sum(WAVEFRONTS) - copies, ours.sum(WAVEFRONTS) + registers) == (384, 320)
    assert 32 * step_of(Setting(1, floats=True)).counters[SECTORS] // 128 == registers == copies == 128
    counted, whole = [times.per_step(kernel) for kernel in (OURS, THREE, ONE)], times.times_ours()
    assert counted == [337, 418, 677]
    loads = [times.per_step(kernel, times.SHARED_LOADS) for kernel in (THREE, OURS)]
    assert [found / simulated.counters[LOAD_WAVEFRONTS] for found, simulated in zip(loads, (three, ours), strict=True)] == pytest.approx(
        [1, 1], abs=0.01)
    shared, pipe, time = whole.values()
    assert pipe[1] / time[1] == pytest.approx(1, abs=0.05)
    assert pipe[2] / time[2] == pytest.approx(1, abs=0.11)
    assert shared[1] == shared[2] == pytest.approx(512 / 192)
    assert time[2] < pipe[2]
    says("the whole pipe has 512 − 128 = 384 for Triton's and 192 + 512 / 4 = 320 for ours: 1.20 times as many",
         f"Nsight Compute counted {counted[1]} and {counted[0]}",
         f"{compiler.whole_pipe()} times as many. (Of these, {loads[0]} and {loads[1]} are shared loads, "
         "nearly the simulator's 384 and 128.)",
         f"it foretells {pipe[2]:.2f}, and the time is {time[2]:.2f}: {percent(1 - time[2] / pipe[2])} less",
         f"{times.cycles_times_ours(THREE):.2f} and {times.cycles_times_ours(ONE):.2f} times ours")


def test_how_busy_the_pipe_is():
    parts = [times.busy(kernel) for kernel in (OURS, THREE, ONE)]
    assert parts == sorted(parts)
    tf32 = times.per_step("sgemm_mma")
    assert tf32 < times.per_step(OURS)
    says(f"finds it busy in {times.busy('warp_mma'):.1%} of all cycles".replace("%", " %"),
         f"here in {100 * parts[0]:.0f} to {percent(parts[-1])}",
         f"`sgemm_mma` of lesson 16 needs {tf32} wavefronts for the same work, fewer than ours, and yet "
         f"{times.cycles_times_ours('sgemm_mma'):.2f} times as many cycles. There the pipe is busy in {percent(times.busy('sgemm_mma'))}")
    assert all(times.busy(row["kernel"]) < 1 for row in readings("cycles").rows), "a wavefront per cycle, and no more"


def test_what_the_wavefronts_allow():
    """A recorded speed stays below what the counted wavefronts allow."""
    allowed = [times.allowed(kernel) for kernel in (OURS, THREE, ONE)]
    h200, work = device("H200"), 2 * 64 * 64 * 32
    assert (h200.sms, h200.clock_mhz, work) == (132, 1980, 262144)
    assert allowed == pytest.approx([132 * 1.98e9 / count * work / 1e12 for count in (337, 418, 677)])
    assert all(times.recorded(kernel)["tflops"] < bound for kernel, bound in zip((OURS, THREE, ONE), allowed, strict=True))
    says(f"132 · 1.98 · 10⁹ / 418 · 262,144 = **{allowed[1]:.0f} TFLOP/s**", f"337 allow {allowed[0]:.0f}, and 677 allow {allowed[2]:.0f}")


def test_the_table_of_the_pipe():
    rows = {row[0]: row[1:] for row in compiler.pipe().rows}
    assert rows["wavefronts of the data pipe per step"] == ("337", "418", "677")
    parts = [list(map(int, row)) for name, row in rows.items() if name.startswith("of these, ")]
    assert [sum(column) for column in zip(*parts, strict=True)] == pytest.approx([337, 418, 677], abs=1)
    assert parts[2][1] == 30 < 128 / 4, "what is left for asynchronous copies"
    assert all(128 <= parts[2][column] < 1.1 * 128 for column in (0, 2)), "global loads of 128 bytes per wavefront, and the stores of C"
    assert rows["million cycles of the busiest multiprocessor"] == ("1.72", "2.02", "3.03")
    assert "524,288" in compiler.pipe().note
    assert times.STEPS == 524288
    assert our_step().counters[MULTIPLIED] == times.MMA_OF_A_STEP


def test_the_pages_say_what_the_pipe_counts():
    bound, beside = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("time-bound", "simulator-hardware"))
    rest = round((times.counted(THREE)[times.PIPE] - sum(times.counted(THREE)[name] for name in (times.SHARED_LOADS, times.SHARED_STORES)))
                 / times.STEPS)
    assert f"at most {rest} of {times.per_step(THREE)} wavefronts" in " ".join(bound.split())
    assert f"at most {rest} of {times.per_step(THREE)} wavefronts" in " ".join(beside.split())
    for kernel in (OURS, ONE):
        assert f"{times.per_step(kernel)}" in bound
        assert f"{times.busy(kernel):.0%}".replace("%", " %") in bound
    assert f"{times.busy('warp_mma'):.1%}".replace("%", " %") in bound


def test_what_is_said_of_fairness():
    assert "alpha * " in get(times.OURS).source
    assert "aligned16(A, lda)" in get(times.OURS).source
    says("Triton was promised that N and K are multiples of 16, while ours tests how its rows are aligned, and has α and β")


def test_the_h200_ran_what_three_stages_became_faster_than_two():
    """As the self-check says; by more than the clocks that were read differ."""
    two, three = (times.recorded(f"Triton sm_80_{stages}") for stages in (2, 3))
    assert three["tflops"] / two["tflops"] > 1.2 * three["mhz"] / two["mhz"]


def test_the_bars_are_the_recording():
    ax, = times.draw_speeds().figure.axes
    found = times.times_ours()
    assert [bar.get_width() for bar in ax.patches] == [value for values in found.values() for value in values[1:]]
    assert found["time, recorded"][1:] == pytest.approx([times.recorded(OURS)["tflops"] / times.recorded(kernel)["tflops"]
                                                         for kernel in (THREE, ONE)], rel=2e-3)
    assert [text.get_text() for text in ax.texts] == [f"{value:.2f}" for values in found.values() for value in values[1:]]
    assert [name.get_text() for name in ax.get_yticklabels()] == [
        f"{name}\n{times.recorded(kernel)['tflops']} TFLOP/s" for name, kernel in list(times.GIVEN_FLOATS.items())[1:]]
    assert "of the whole data pipe, counted 1.24, time, recorded 1.20" in compiler.speeds().alt
    assert readings("short").label in ax.get_xlabel()


def test_the_machine_code_is_what_the_assembler_wrote():
    for setting in (Setting(2), Setting(3), Setting(masked=False)):
        facts = compiler.written(setting).facts
        rows = {name: count for name, count, _ in compiler.machine_code(setting).rows}
        assert rows.pop("all") == facts["loop"]["instructions"]
        assert rows == {name: count for name, count in facts["loop"].items() if name != "instructions"}
        named = machine.machine_order(setting)
        assert Counter(named) == rows
        drawn = machine.draw_machine_order(setting)
        assert [text.get_text() for text in drawn.texts] == named
        assert ", ".join(named) in compiler.machine_loop(setting).alt
        assert [name for name, _ in itertools.groupby(named)] == [name for name, _ in itertools.groupby(
            part.split()[1] for part in facts["order"].split(", "))]
