"""Lesson 06: what it promises, and every number that its prose says."""

import json
import os
import re
from math import gcd
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from course_lib import data
from course_lib.arch import DEFAULT_DEVICE
from course_lib.check import check
from course_lib.explorables.banks import key_of, states
from course_lib.kernels import get
from course_lib.lessons import bank_conflicts
from course_lib.lessons.bank_conflicts import counts, in_memory, times
from course_lib.lessons.bank_conflicts.in_the_l1 import step
from course_lib.lessons.first_kernel.times import cycles_per_step
from course_lib.magic import from_cell
from course_lib.model import bank_table
from course_lib.model.banks import conflicts, shared_wavefronts
from course_lib.run import counter_name, footprint
from course_lib.toolchain import compile_cuda
from course_lib.toolchain.sass import sass
from course_lib.unwritten import NotWritten
from course_lib.widgets.compute import evaluate
from tools import my_course

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "06_bank_conflicts.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary\.md[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
LANES = np.arange(32)


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


def microseconds(kernel, N, **parameters):
    return 1e6 * data.load("padding").find(kernel, N, parameters=parameters)[0].median_s


def test_the_worked_kernel_is_right_and_only_its_column_read_looks_bad(mine):
    report = check(mine)
    assert (report.right, len(report.inputs)) == (True, 11), "eleven matrices"
    finding, = report.findings
    assert finding.kind == "bank conflicts"
    assert "32.0 times" in finding.message
    assert "= tile[lane][i]" in finding.source_line
    assert not check(mine, PAD=1).findings


def test_padding_wrongly_is_right_and_slow_and_an_index_by_hand_is_wrong(mine):
    rows, hand = check(bank_conflicts.more_rows(mine), PAD=1), check(bank_conflicts.by_hand(mine), PAD=1)
    assert rows.right
    assert "32.0 times" in rows.findings[0].message, "as without padding"
    assert not hand.right
    assert "tile[0][32] is read before anybody wrote it" in str(hand), "word 32, in rows of 33 words"
    assert "a word of the padding at the end of a row, which no element is stored in: is the index right?" in str(hand)
    for change in (bank_conflicts.more_rows, bank_conflicts.by_hand):
        with pytest.raises(NotWritten, match="I cannot find .* in your own cell"):      # a notebook shows it and goes on
            change('extern "C" __global__ void f() {}')


def test_the_index_by_hand_that_knows_of_the_padding_is_right(mine):
    assert "`lane * (TILE + PAD) + i`" in PROSE
    theirs = type(mine)(mine.replace("tile[lane][i]", "(&tile[0][0])[lane * (TILE + PAD) + i]"))
    for PAD in (0, 1, 2):
        assert check(theirs, PAD=PAD).right


@pytest.mark.parametrize(("old", "new"), [
    ("[lane]", "[threadIdx.x]"), ("[lane]", "[ lane ]"), ("tile[lane][i]", "tile[lane + 0][0 + i]"), ("tile", "t"),
    ("TILE + PAD", "PAD+TILE"), ("[TILE + PAD];", "[TILE + PAD];  // not tile[TILE][TILE]")])
def test_the_mistakes_are_made_in_any_right_kernel(mine, old, new):
    theirs = type(mine)(mine.replace(old, new))
    assert theirs != mine
    assert check(theirs, PAD=1).right
    rows, hand = check(bank_conflicts.more_rows(theirs), PAD=1), check(bank_conflicts.by_hand(theirs), PAD=1)
    assert rows.right
    assert "32.0 times" in rows.findings[0].message
    assert not hand.right
    assert "is read before anybody wrote it" in str(hand)


def test_a_kernel_that_transposes_while_it_stores_is_changed_where_it_reads(mine):
    theirs = mine.replace("tile[i][lane] =", "tile[threadIdx.x][i] =").replace("= tile[lane][i]", "= tile[i][threadIdx.x]")
    changed = bank_conflicts.by_hand(theirs)
    assert "tile[threadIdx.x][i] =" in changed
    assert "= (&tile[0][0])[i * TILE + threadIdx.x]" in changed


@pytest.mark.parametrize("words", [*range(32, 49), 31, 64])
def test_a_column_takes_the_greatest_common_divisor(words):
    assert shared_wavefronts(4 * (words * LANES + 5)) == gcd(words, 32)


@pytest.mark.parametrize("PAD", counts.PADS)
def test_the_table_of_paddings_is_the_simulators_and_its_middle_columns_make_32(PAD):
    row = next(row for row in bank_conflicts.by_padding().rows if row[0] == PAD)
    assert float(row[3]) == gcd(32 + PAD, 32) == 32 / row[2]
    words = 4 * ((32 + PAD) * LANES + 5)
    assert len(np.unique(words // 4 % 32)) == row[2]
    assert row[4] == f"{4 * 32 * (32 + PAD):,}"


def test_the_predictions_are_what_is_counted():
    none, one, two = (counts.transposed(32, PAD).count("wavefronts") for PAD in (0, 1, 2))
    assert (none, one, two) == (65_536, 2_048, 4_096)
    assert counts.transposed(32, 0).count("wavefronts", "store") == 2_048, "one wavefront each, which is 2,048 more"
    assert "2,048 · 32 = 65,536" in PROSE
    assert "32 times fewer, for 128 bytes of memory per block" in PROSE


def test_steps_of_n_words_visit_banks_as_the_text_says():
    for n in range(1, 65):
        visited = n * LANES % 32
        assert len(set(visited)) == 32 // gcd(n, 32) == 32 / np.bincount(visited).max()
    assert "the steps of n words visit 32 / gcd(n, 32) banks" in PROSE


def test_narrow_tiles_need_another_padding_and_then_their_stores_have_conflicts():
    loads = {PAD: counts.each(counts.transposed(16, PAD)) for PAD in range(9)}
    assert [PAD for PAD, fronts in loads.items() if fronts == 1] == [2, 6], "6 does as well"
    assert counts.least_padding(16) == 2
    assert counts.least_padding(32) == 1, "1 is the answer for 32 × 32"
    assert loads[1] == 2
    assert [counts.each(counts.transposed(16, PAD), "store") for PAD in (0, 2)] == [1, 2]
    lane_rows, lane_columns = LANES % 16, LANES // 16                      # a warp goes down two columns
    banks = {pitch: (pitch * lane_rows + lane_columns) % 32 for pitch in (17, 18)}
    assert len(set(banks[17][:16]) & set(banks[17][16:])) == 1, "a word of the one shares its bank with a word of the other"
    assert [set(half % 2) for half in (banks[18][:16], banks[18][16:])] == [{0}, {1}], "the even banks and the odd banks"
    stored = (18 * lane_columns + lane_rows) % 32
    assert set(stored[30:]) == set(stored[:2]), "its last two words lie in the banks of the first two of the first row"


def test_the_sliders_picture_says_what_the_table_counts():
    narrow = counts.transposed(16, 2)
    for picture, kind in ((bank_conflicts.loads, "load"), (bank_conflicts.stores, "store")):
        ax, said = picture(narrow)
        fronts = counts.each(narrow, kind)
        assert f"{kind} of 4 bytes" in said
        assert f"at most {fronts:g} in one bank: {fronts:g} wavefront" in said
        assert ax.patches


def test_a_swizzle_is_free_of_conflicts_for_every_access():
    for TILE in (8, 16, 32):
        result = counts.transposed(TILE, None)
        assert counts.each(result) == counts.each(result, "store") == 1
    sizes = {row[0]: row[3] for row in bank_conflicts.padded_or_swizzled().rows}
    assert sizes["32 × 32, swizzled"] == sizes["32 × 32, PAD = 0"] == "4,096"
    for i in range(32):
        assert len(set(LANES ^ i)) == 32
    assert max(j ^ i for i in range(24) for j in range(24)) >= 24, "a tile that is no power of two"


def test_recorded_and_modelled_time_of_the_product_differ_by_nearly_a_constant():
    rows = bank_conflicts.product_times().rows
    rest = [float(row[6]) for row in rows]
    assert f"is {min(rest)} to {max(rest)} ms in all five bars" in PROSE
    assert f"the orange {min(rest)} to {max(rest)} ms, we do not know" in PROSE
    drawn = repr(bank_conflicts.product_bars())
    for PAD, _, _, _, least, taken, more in rows:
        assert f"PAD = {PAD}: {taken}, {least} and {more}" in drawn
    fronts = {row[0]: float(row[3]) for row in rows}
    assert fronts[0] / fronts[4] == pytest.approx(3, abs=0.01), "three times fewer"
    assert max(fronts[PAD] for PAD in (1, 2, 4)) / min(fronts[PAD] for PAD in (1, 2, 4)) < 1.05, "almost the same number"
    for PAD, (*_, least, taken, _) in zip(times.PADS, rows, strict=True):
        assert float(taken) == round(1e3 * times.recorded_product(PAD)["median_s"], 1) > float(least)
        assert 1e3 * times.recorded_product(PAD)["median_s"] == pytest.approx(
            microseconds("sgemm_padded", 4096, TILE=16, PAD=PAD) / 1e3, rel=0.01), "recorded twice"
    assert rows[0][3:6] == ("5.06", "41.6", "46.0")
    assert rows[-1][4:6] == ("13.9", "18.3")
    assert "alone would need 13.9 of the 18.3 ms" in PROSE
    assert len({row[1] for row in rows[:3]}) == 1, "PAD = 0, 8 and 4 have the same number of loads"
    assert "the recorded time follows them: 46.0, 27.3 and 17.9 ms" in PROSE
    assert [row[5] for row in rows[:3]] == ["46.0", "27.3", "17.9"]
    assert counts.multiplied(16, 1).count("conflicts") == 0, "no load has a conflict any more"


def test_with_larger_tiles_the_rest_is_no_constant():
    rest = {}
    for PAD in times.PADS:
        padded = microseconds("sgemm_padded", 4096, TILE=32, PAD=PAD) / 1e3
        fronts = sum(counts.per_multiply_add(counts.multiplied(32, PAD), kind=kind) for kind in ("load", "store"))
        rest[PAD] = padded - 1e3 * times.one_per_cycle(fronts * 4096**3 / 32)
    assert f"leave {min(rest.values()):.1f} to {max(rest.values()):.1f} ms" in PROSE
    assert rest[0] == min(rest.values()), "the least where there are most wavefronts"


def test_the_hardware_counts_nearly_what_the_simulator_does_and_no_broadcast_across_groups():
    rows = bank_conflicts.product_counted().rows
    more = [float(row[at + 1]) / float(row[at]) for row in rows for at in (1, 3)]
    found = data.readings("coalescing")
    exact = []
    for variant, PAD in (("along, transposed", 0), ("along, transposed, padded", 1)):
        row, = found.find(what="count", variant=variant, TILE=16, N=1024)
        exact += [row[f"shared_{kind}_wavefronts"] * 32 / 1024**3 / counts.per_multiply_add(counts.multiplied(16, PAD), kind=kind)
                  for kind in ("load", "store")]
    assert (round(100 * (min(exact) - 1)), round(100 * (max(exact) - 1))) == (1, 4), "1 to 4 % more"
    assert all(1 <= ratio < 1.04 for ratio in more)
    alone = float(rows[1][2]) - 1                                      # with PAD = 1 a load of Bs takes one wavefront
    assert abs(alone - 0.5) < 0.05 < abs(alone - 1)
    assert f"So of the {rows[1][2]} that the hardware counts for both tiles, about half a wavefront is left for `As`" in PROSE
    across = 8 / 4 + 2 / 4
    assert f"would say about {across} and not {rows[0][2]}" in PROSE


def test_the_wavefronts_per_multiply_add_can_be_computed_by_hand():
    tx, ty = LANES % 16, LANES // 16
    of_b, of_a = shared_wavefronts(64 * tx, 16), shared_wavefronts(64 * ty, 16)
    stored = [shared_wavefronts(4 * (16 * row + col), kind="store") for row, col in ((ty, tx), (tx, ty))]
    assert (of_b, of_a, stored) == (16, 2, [1, 8])
    each = of_b / 4 + of_a / 4 + sum(stored) / 16
    assert each == times.product_fronts(0) == 5.0625
    assert "`Bs`: 16 wavefronts for a load of four words, which serves four multiply-adds: 4." in PROSE
    assert "takes only 2 wavefronts, so 0.5." in PROSE
    rows = json.loads((ROOT / "tests" / "data" / "wavefronts.json").read_text())["rows"]
    alone = [row for row in rows if (row["width"], row["mask"]) == (16, "all") and row["index"][0] != row["index"][31]
             and row["index"] == 16 * [row["index"][0]] + 16 * [row["index"][31]]]
    assert [row["index"][31] - row["index"][0] for row in alone] == [1, 32], "the next four words, and four of the same banks"
    assert {row["ld_wavefronts"] for row in alone} == {of_a} == {2}
    assert "Together these are 9 / 16 = 0.56." in PROSE
    work = 4096**3 / 32
    assert f"{work / 1e9:.2f} billion multiply-adds of a warp, which makes {work * each / 1e9:.1f} billion wavefronts" in PROSE
    assert f"this takes {1e3 * work * each / (132 * 1.98e9):.1f} ms" in PROSE


def test_the_taught_rule_counts_more_than_the_product_takes_and_the_text_says_so():
    column, words_of_a = shared_wavefronts(64 * (LANES % 16)), shared_wavefronts(64 * (LANES // 16))
    assert (column, words_of_a) == (8, 1)
    assert len(np.unique(16 * (LANES % 16) % 32)) == 2, "8 different words of each of two banks"
    assert "want 8 different words of each of two banks of `Bs`, which makes 8, and their words of `As` take one more" in PROSE
    assert column + words_of_a > times.product_fronts(0)
    assert "multiply-add" not in CELLS["scoreboard"]
    assert "*multiply-add of a warp*, which is one that all 32 lanes do" in CELLS["numbers-told"]
    assert list(CELLS).index("scoreboard") == list(CELLS).index("scores") - 1


def test_the_second_mistake_is_optional_and_its_word_comes_after_it():
    order = list(CELLS)
    assert order.index("by-hand") > order.index("key-points")
    assert "uninitialised" not in " ".join(CELLS[cell] for cell in order[:order.index("by-hand")])
    assert "uninitialised" in CELLS["repair"]


def test_the_riddles_load_wants_64_words_of_8_banks_and_each_twice():
    words = (64 * (LANES % 16))[:, None] // 4 + np.arange(4)
    assert len(np.unique(words)) == 64
    assert np.bincount(np.unique(words) % 32).max() == 8, "8 words in each"
    assert len(np.unique(words % 32)) == 8
    groups = words.reshape(4, -1)
    assert [np.bincount(np.unique(group) % 32).max() for group in groups] == [4, 4, 4, 4]
    assert set(groups[0]) | set(groups[1]) == set(groups[2]) | set(groups[3]), "lanes 16 to 31 want the same words again"
    assert shared_wavefronts(64 * (LANES % 16), 16) == 16 == 4 * 4


def test_the_transposition_stops_gaining_at_four_words():
    rows = {row[0]: row[1:] for row in bank_conflicts.transposition_times().rows}
    taken = {name: float(row[2]) for name, row in rows.items()}
    assert [taken[f"PAD = {PAD}"] for PAD in (0, 16, 8, 4)] == sorted((taken[f"PAD = {PAD}"] for PAD in (0, 16, 8, 4)), reverse=True)
    last = [taken[f"PAD = {PAD}"] for PAD in (4, 2, 1)]
    assert max(last) / min(last) < 1.015, "1 %"
    assert float(rows["PAD = 4"][0]) / float(rows["PAD = 1"][0]) == 2.5
    assert all(float(row[1]) < float(row[2]) for row in rows.values() if row[1]), "no modelled time above a recording"
    rest = [float(rows[f"PAD = {PAD}"][3]) for PAD in (0, 16, 8, 4, 2, 1)]
    assert rest == sorted(rest)
    assert f"the rest grows on the way, from {rest[0]} to {rest[-1]} µs" in PROSE
    wide, narrow = (microseconds("transpose_plain", 4096, TILE=side, ROWS=8) for side in (32, 16))
    assert f"a matrix of 4096 × 4096 takes {wide:.0f} µs on an H200" in PROSE
    assert [taken[f"no tile, blocks of {side}\u00a0×\u00a08"] for side in (32, 16)] == [round(wide, 1), round(narrow, 1)]
    assert f"{wide / taken['PAD = 0']:.1f} times as fast: {taken['PAD = 0']} instead of {wide:.1f} µs" in PROSE
    assert f"narrower blocks are faster, {narrow:.1f} µs" in PROSE
    assert f"another {taken['PAD = 0'] / taken['PAD = 1']:.1f} times as fast" in PROSE
    smaller, = data.load("copy").find("copy", 2048)
    moved = 8 * 2048**2 / smaller.seconds / 1e12
    assert f"moves {moved:.1f} TB/s through the L2, more than the {DEFAULT_DEVICE.bandwidth_gb_s / 1e3:.1f} TB/s" in PROSE
    alike = [footprint("transpose", TILE=32, PAD=PAD).occupancy.warps for PAD in (0, 16, 8, 4, 2, 1)]
    assert alike == [64] * 6, "nothing but the padding differs"
    kernel, code = get("transpose"), set()
    for PAD in (0, 16, 8, 4, 2, 1):
        text = sass(compile_cuda(kernel.source, name=kernel.file_name, defines={"TILE": 32, "ROWS": 8, "PAD": PAD}))
        code.add((len(text), *sorted((i.base, i.bits) for i in text if i.base in ("LDG", "STG", "LDS", "STS"))))
    assert len(code) == 1, "the same loads and stores, one word per lane, and as many instructions"
    assert {bits for _, bits in next(iter(code))[1:]} == {32}
    assert "the machine code has the same loads and stores in all of them" in PROSE
    assert "the wavefronts still fall from 5 to 2, but the time changes by 1 % only" in PROSE
    assert (rows["PAD = 4"][0], rows["PAD = 1"][0]) == ("5", "2")
    assert "would need 66.2 of the 89.6 µs" in PROSE
    assert (rows["PAD = 0"][1], rows["PAD = 0"][2]) == ("66.2", "89.6")
    copy = taken["a plain copy, no tile"]
    assert f"needs {copy} µs, which is {100 * copy / taken['PAD = 1']:.0f} % of {taken['PAD = 1']} µs" in PROSE
    assert f"the other {taken['PAD = 1'] - copy:.0f} µs" in PROSE


def test_the_time_of_a_tile_of_sixteen_depends_on_sixteen_wavefronts_and_hardly_on_eight():
    rows = {row[0]: row for row in bank_conflicts.padded_or_swizzled().rows}
    fronts, more = {}, {}
    for PAD in (0, 16):
        fronts[PAD] = rows[f"16 × 16, PAD = {PAD}"][1]
        padded = microseconds("transpose", 4096, TILE=16, ROWS=8, PAD=PAD)
        swizzled = microseconds("transpose_swizzled", 4096, TILE=16, ROWS=8)
        more[PAD] = 100 * (padded / swizzled - 1)
    assert fronts == {0: "8", 16: "16"}
    assert f"eight wavefronts per load cost only {more[0]:.0f} %, and sixteen cost {more[16]:.0f} %" in PROSE


def test_the_main_path_has_one_topic():
    main, order = PROSE.split("## Key points")[0], list(CELLS)
    for second in ("LDS", "float4", "64-bit", "128-bit", "groups", "swizzle", "first optional section"):
        assert second not in main, second
    assert order.index("optional-swizzle") == order.index("key-points") + 1
    for cell in ("swizzle-picture", "product-picture", "product-bars", "product-counted"):
        assert order.index(cell) > order.index("key-points"), cell


def test_the_prose_says_what_was_recorded():
    narrow = {PAD: 1e3 * times.recorded_product(PAD)["median_s"] for PAD in (0, 1, 4)}
    plain, padded = (microseconds("transpose", 4096, TILE=32, ROWS=8, PAD=PAD) for PAD in (0, 1))
    tiled = 1e3 * data.in_turns("sgemm_tiled", BM=16, BN=16, BK=16)["median_s"]
    for said in (f"it takes {plain:.1f} µs", f"The same kernel needs {padded:.1f} µs", f"that takes {narrow[0]:.0f} ms",
                 f"the same loads as PAD = 0, only the words lie elsewhere, and it takes {narrow[4]:.1f} ms. So the gain",
                 f"{narrow[0] / narrow[1]:.1f} times faster", f"It takes {tiled:.1f} ms, nearly the same"):
        assert said in PROSE, said
    coalesced, padded = (data.load("lee").find(name, 4096)[0].median_s for name in ("sgemm_coalesced", "sgemm_padded"))
    unpadded = data.load("lee").find("sgemm_tiled", 4096)[0].median_s
    assert f"(Lessons 04 and 05 said {1e3 * unpadded:.1f} ms, from another recording." in PROSE
    assert f"on the H200 a factor of {coalesced / padded:.2f}" in PROSE
    scores = bank_conflicts.product_scoreboard().rows
    assert [row[2] for row in scores] == ["5.9%", "15.0%", "14.7%", "15.3%", "100.0%"]
    assert [row[1] for row in scores[:4]] == [f"{1e3 * data.in_turns(name, **p)['median_s']:.1f}" for name, p in (
        *(("sgemm_padded", {"TILE": 16, "PAD": PAD}) for PAD in (0, 4, 1)), ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16}))]
    told = CELLS["scoreboard-told"].replace("17.6 ms, from another recording", "").replace("13.9 of the", "")
    assert all(number in {cell for row in scores for cell in row} for number in re.findall(r"\d+\.\d(?= ms| of the)", told))


def test_with_pad_0_the_padded_kernel_counts_what_the_coalesced_one_does():
    ours, theirs = counts.multiplied(16, 0), evaluate("sgemm_coalesced", 128, {"TILE": 16}, backend="sim")
    for kind in ("load", "store"):
        for what in ("wavefronts", "shared instructions"):
            assert ours.count(what, kind) == theirs.count(what, kind)


def test_with_tiles_of_sixteen_the_picture_of_the_product_takes_sixteen_ticks_for_four_words_and_one_for_one():
    for PAD, width, ticks in ((0, 16, 16), (1, 4, 1)):
        access = states()[key_of("sgemm_padded", 16, PAD)]["accesses"]["load"]
        assert (access["width"], max(word[3] for word in access["words"])) == (width, ticks)
    assert "and there are four groups: 16 ticks" in PROSE
    assert "They bring the words for four steps of the loop along k, so they are **4 ticks per step**" in PROSE
    assert "each load brings one word per lane, for one step, and takes **1 tick per step**" in PROSE
    widths = [states()[key_of("sgemm_padded", 16, PAD)]["accesses"]["load"]["width"] for PAD in (0, 4)]
    assert widths == [16, 16], "PAD = 4 has the same loads as PAD = 0"


def test_the_pictures_are_set_to_what_the_text_speaks_of():
    assert CELLS["product-picture"] == 'bank_conflicts.banks("sgemm_padded", tile=16, pad=0)'
    assert bank_conflicts.banks("sgemm_padded", tile=16).values["access"] == "load"
    assert "swizzled" in bank_conflicts.banks("transpose_swizzled").static_text()
    assert "picture at the top" not in PROSE.partition("## Does it save time?")[2], "it stands where it is spoken of"


def test_no_recorded_size_of_the_naive_kernel_is_faster_than_banks_in_the_l1_allow():
    recorded = data.load("wang").find("sgemm_thread")
    assert len(recorded) == 22
    for record in recorded:
        assert cycles_per_step(record.median_s, record.N) >= sum(step(record.N)) == (2 if record.N % 32 else 3), record.N
    assert (sum(step(2048, k=7)), sum(step(2047, k=7))) == (3, 2), "whatever k is"


def test_the_clock_of_the_padded_products_was_near_the_highest():
    clocks = [times.recorded_product(PAD)["mhz"] for PAD in times.PADS]
    assert 0.002 < 1 - min(clocks) / 1980 <= 0.0031
    assert max(clocks) <= 1980
    assert "computed for 1,980 MHz, the highest clock" in PROSE
    assert "never more than 0.3 % below that" in PROSE


def test_longer_rows_save_what_the_rule_says_at_1024_and_nothing_at_4096():
    rows = {(row[0], *(cell.replace("\u00a0", " ") for cell in row[1:3])): (row[3], float(row[5]))
            for row in bank_conflicts.l1_banks().rows}
    saved = {(N, block): (rows[N, block, "N + 0"][0] - rows[N, block, "N + 8"][0], rows[N, block, "N + 0"][1] - rows[N, block, "N + 8"][1])
             for N in ("1,024", "4,096") for block in ("16 × 16", "32 × 32")}
    assert [rule for rule, _ in saved.values()] == [1, 0, 1, 0]
    assert saved["1,024", "16 × 16"][1] == pytest.approx(0.70, abs=0.011)
    assert all(-0.1 < saved[key][1] < 0 for key in saved if key != ("1,024", "16 × 16")), "saves none"
    assert all(cycles > rule for rule, cycles in rows.values())


def test_the_fewest_loads_are_not_the_fastest():
    rows = {row[0]: tuple(map(float, (row[1], row[2], row[5]))) for row in bank_conflicts.product_times().rows}
    assert min(rows.values())[0] == rows[0][0] < max(rows.values())[0] == rows[1][0]
    assert max(rows, key=lambda PAD: rows[PAD][2]) == 0
    assert f"is {rows[0][2] / rows[1][2]:.1f} times faster" in PROSE
    assert rows[1][0] / rows[4][0] == 2.5
    assert rows[1][1] == rows[2][1] == rows[4][1] == 1.5
    assert 100 * (rows[1][2] / rows[2][2] - 1) == pytest.approx(4, abs=0.5)
    assert (rows[2][0], rows[4][0]) == (1 / 2 + 1 / 4, 1 / 4 + 1 / 4), "two reads of Bs are joined, or four; of As always four"


def test_the_slides_column_is_sixteen_way_eight_way_and_four():
    assert [row[2] for row in bank_conflicts.sixteen_banks().rows] == ["16 + 16", "4", "8"]
    last = bank_conflicts.slides().rows[-1]
    assert (last[0], last[3], last[6]) == (4096, "1.09", "2.52")
    assert [list(bank_table(banks)[1, :3]) for banks in (16, 32)] == [[4, 68, 132], [4, 132, 260]]
    assert "from address 4, 68, 132 and so on; bank 1 of 32 those from 4, 132, 260" in PROSE


def test_the_picture_of_the_rows_has_words_and_they_are_true():
    assert [in_memory.element_at(word, 33) for word in (5, 38, 71, 104)] == [(row, 5) for row in range(4)]
    assert [word % 32 for word in (5, 38, 71, 104)] == [5, 6, 7, 8]
    assert "lie in banks 5, 6, 7 and 8" in repr(bank_conflicts.rows_in_banks())
    assert conflicts(4 * (33 * LANES + 5)) == 0


def test_the_sliders_kernel_counts_what_the_readers_does(mine):
    ours = evaluate("transpose", 64, {"TILE": 32, "PAD": 0}, backend="sim")
    checked = sum(counters.get(counter_name("wavefronts", "load"), 0) for counters in check(mine).lines.values())
    assert ours.count("wavefronts") == checked == 65_536 / 16
    assert "Its table counts wavefronts, too, but for a smaller matrix of 64 × 64" in PROSE
    assert "fewer wavefronts" not in PROSE.partition("guess.reveal")[0], "that would tell the answer"


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/06_bank_conflicts.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "launched", "reveal", "padded", "more-rows", "by-hand", "home"):
        assert "my_transpose is not written yet" in said[cell], cell
    assert "65536" not in said["reveal"]
    assert "wavefronts per load" in said["by-padding"]
