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
from course_lib.check import check
from course_lib.data.documents import LEE_GPU
from course_lib.explorables.banks import key_of, states, tile_by_bank
from course_lib.kernels import get
from course_lib.lessons import bank_conflicts
from course_lib.lessons.bank_conflicts import counts, in_memory, pictures, times
from course_lib.magic import from_cell
from course_lib.model import bank_table
from course_lib.model.banks import conflicts, shared_wavefronts
from course_lib.plots import requests
from course_lib.run import counter_name, footprint, run_transpose
from course_lib.toolchain import compile_cuda
from course_lib.toolchain.sass import sass
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


def test_padding_wrongly_is_right_and_slow(mine):
    assert "so that the tile is `tile[TILE + PAD][TILE]`" in PROSE
    assert "tile[TILE][TILE + PAD]" in mine, "which is the repair"
    rows = check(mine.replace("tile[TILE][TILE + PAD]", "tile[TILE + PAD][TILE]"), PAD=1)
    assert (rows.right, len(rows.findings)) == (True, 1), "and nothing else looks bad"
    said = "32.0 times the wavefronts that a load without bank conflicts takes"
    assert said in rows.findings[0].message, "as without padding"
    assert f"*{said}*" in PROSE


@pytest.mark.parametrize("words", [*range(32, 49), 31, 64])
def test_a_column_takes_the_greatest_common_divisor(words):
    assert shared_wavefronts(4 * (words * LANES + 5)) == gcd(words, 32)


@pytest.mark.parametrize("PAD", counts.PADS)
def test_the_table_of_paddings_is_the_simulators_and_its_last_columns_make_32(PAD):
    row = next(row for row in bank_conflicts.by_padding().rows if row[0] == PAD)
    assert float(row[3]) == gcd(32 + PAD, 32) == 32 / row[2]
    words = 4 * ((32 + PAD) * LANES + 5)
    assert len(np.unique(words // 4 % 32)) == row[2]


def test_the_predictions_are_what_is_counted():
    none, one, two = (counts.transposed(32, PAD).count("wavefronts") for PAD in (0, 1, 2))
    assert (none, one, two) == (65_536, 2_048, 4_096)
    assert counts.transposed(32, 0).count("wavefronts", "store") == 2_048, "one wavefront each"
    assert "2,048 · 32 = 65,536" in PROSE
    assert "32 times fewer, for 128 more bytes of shared memory per block" in PROSE


def test_steps_of_n_words_visit_banks_as_the_text_says():
    for n in range(1, 65):
        visited = n * LANES % 32
        assert len(set(visited)) == 32 // gcd(n, 32) == 32 / np.bincount(visited).max()
    assert "the steps of n words visit 32 / gcd(n, 32) banks" in PROSE


@pytest.mark.slow
def test_narrow_tiles_need_another_padding_and_then_their_stores_have_conflicts():
    loads = {PAD: counts.each(counts.transposed(16, PAD)) for PAD in range(9)}
    assert [PAD for PAD, fronts in loads.items() if fronts == 1] == [2, 6], "2, and 6, too"
    assert counts.least_padding(16) == 2
    assert [counts.least_padding(TILE) for TILE in (8, 16, 32)] == [4, 2, 1], "32 / TILE"
    for TILE in (8, 16, 32):
        begins = sorted((TILE + 32 // TILE) * row % 32 for row in range(TILE))
        assert begins == list(range(0, 32, 32 // TILE)), "each row in another bank: the multiples of 32 / TILE"
    assert loads[1] == 2
    assert [counts.each(counts.transposed(16, PAD), "store") for PAD in (0, 2)] == [1, 2]
    lane_rows, lane_columns = LANES % 16, LANES // 16                      # a warp goes down two columns
    banks = {pitch: (pitch * lane_rows + lane_columns) % 32 for pitch in (17, 18)}
    assert set(banks[17][:16]) & set(banks[17][16:]) == {0}, "a word of the one shares its bank with a word of the other"
    assert [list(banks[17]).index(0), 31 - list(banks[17][::-1]).index(0)] == [0, 31], "lanes 0 and 31 meet"
    assert [set(half % 2) for half in (banks[18][:16], banks[18][16:])] == [{0}, {1}], "the even banks and the odd banks"
    taken = [microseconds("transpose", 4096, TILE=16, ROWS=8, PAD=PAD) for PAD in (0, 1, 2)]
    best = microseconds("transpose", 4096, TILE=32, ROWS=8, PAD=1)
    assert [f"{us:.1f}" for us in (*taken, best)] == ["62.0", "60.7", "60.7", "39.5"]
    assert [round(100 * (1 - us / taken[0])) for us in taken[1:]] == [2, 2]
    fronts = [sum(counts.each(counts.transposed(16, PAD), kind) for kind in ("load", "store")) for PAD in (0, 1, 2)]
    assert "go from {:g} wavefronts to {:g} and to {:g}, and that saves 2 %".format(*fronts) in PROSE
    assert "takes 62.0 µs with PAD = 0, and 60.7 µs with PAD = 1 and with PAD = 2" in PROSE
    stored = (18 * lane_columns + lane_rows) % 32
    assert set(stored[30:]) == set(stored[:2]), "its last two words lie in the banks of the first two of the first row"


def test_the_sliders_picture_says_what_the_table_counts():
    narrow = counts.transposed(16, 2)
    for picture, kind in ((bank_conflicts.loads, "load"), (bank_conflicts.stores, "store")):
        ax, said = picture(narrow)
        fronts = counts.each(narrow, kind)
        assert f"{kind} of 4 bytes" in said
        assert f"at most {fronts:g} in one bank: {fronts:g} wavefront" in said
        title = {"load": "load tile[tx][i]", "store": "store tile[i][tx]"}[kind]
        assert ax.texts[-1].get_text().startswith(f"{title} (number = lane): {fronts:g} wavefront")
        assert sorted(int(t.get_text()) for t in ax.texts if t.get_fontsize() == 9) == list(range(32)), "every lane has its word"
        assert len(ax.patches) == 16 * 18 + 32, "all words of the tile, and below them those that are wanted"


def test_a_swizzle_is_free_of_conflicts_for_every_access():
    for TILE in (8, 16, 32):
        result = counts.transposed(TILE, None)
        assert counts.each(result) == counts.each(result, "store") == 1
    rows = {row[0]: row[1:] for row in bank_conflicts.padded_or_swizzled().rows}
    assert rows["swizzled"][2] == rows["PAD = 0"][2] == "4,096"
    assert rows["swizzled"][:2] == rows["PAD = 1"][:2] == ("1", "1")
    assert float(rows["swizzled"][3]) == pytest.approx(float(rows["PAD = 1"][3]), rel=0.005), "and take the same time"
    for i in range(32):
        assert len(set(LANES ^ i)) == 32
    assert max(j ^ i for i in range(24) for j in range(24)) >= 24, "a tile that is no power of two"


def test_the_products_load_wants_64_words_of_8_banks_and_each_twice():
    words = (64 * (LANES % 16))[:, None] // 4 + np.arange(4)
    assert len(np.unique(words)) == 64
    assert np.bincount(np.unique(words) % 32).max() == 8, "8 words in each"
    assert len(np.unique(words % 32)) == 8
    groups = words.reshape(4, -1)
    assert [np.bincount(np.unique(group) % 32).max() for group in groups] == [4, 4, 4, 4]
    assert set(groups[0]) | set(groups[1]) == set(groups[2]) | set(groups[3]), "lanes 16 to 31 want the same words again"
    assert shared_wavefronts(64 * (LANES % 16), 16) == 16 == 4 * 4


@pytest.mark.slow
def test_the_transposition_stops_gaining_at_four_words():
    found, picture = times.transpositions(), repr(bank_conflicts.transposition_times())
    fronts, taken = zip(*found.values(), strict=True)
    assert list(fronts) == sorted(fronts, reverse=True), "the bars are sorted by wavefronts"
    assert list(found) == [0, 16, 8, 4, 2, 1]
    assert list(taken[:4]) == sorted(taken[:4], reverse=True), "from PAD = 0 to 16, 8 and 4, fewer wavefronts take less time"
    assert max(taken[3:]) / min(taken[3:]) < 1.013, "within 1.3 %"
    assert fronts[3:] == (4, 2, 1)
    assert f"takes {found[0][1]} µs with PAD = 0, where a load from the tile takes 32 wavefronts, and {found[1][1]} µs with" in PROSE
    assert f"{found[4][1]}" not in PROSE.partition("time.reveal")[0], "the prediction"
    for PAD, (each, us) in found.items():
        assert f"PAD = {PAD}: {each:g} wavefront" in picture
        assert f", {us:.1f} µs" in picture
        assert counts.each(counts.transposed(32, PAD), "store") == 1, "a store always takes one"
    copy = 1e6 * data.load("copy").find("copy", 4096)[0].seconds
    assert [round(found[PAD][1] - copy) for PAD in (8, 4, 2, 1)] == [11, 7, 6, 6]
    assert "within 1.3 % of each other, 6 to 7 µs above the copy" in PROSE
    alike = [footprint("transpose", TILE=32, PAD=PAD).occupancy.warps for PAD in (0, 16, 8, 4, 2, 1)]
    assert alike == [64] * 6, "nothing but the padding differs"
    kernel, code = get("transpose"), set()
    for PAD in (0, 16, 8, 4, 2, 1):
        text = sass(compile_cuda(kernel.source, name=kernel.file_name, defines={"TILE": 32, "ROWS": 8, "PAD": PAD}))
        code.add((len(text), *sorted((i.base, i.bits) for i in text if i.base in ("LDG", "STG", "LDS", "STS"))))
    assert len(code) == 1, "the same loads and stores, one word per lane, and as many instructions"
    assert {bits for _, bits in next(iter(code))[1:]} == {32}
    for said in ("the machine code has the same loads and stores for every PAD",
                 "still fall, but the times lie within 1.3 % of each other", f"it takes {found[0][1]:.1f} µs on an H200",
                 f"takes about {microseconds('transpose_plain', 4096, TILE=32, ROWS=8):.0f} µs",
                 f"takes {found[0][1]:.1f} µs without padding",
                 f"The same kernel needs {found[1][1]:.1f} µs", f"{found[0][1]:.1f} µs became {found[1][1]:.1f}."):
        assert said in PROSE, said


def test_no_bar_is_shorter_than_its_wavefronts_take_and_only_those_of_0_and_16_need_longer_than_a_copy():
    found, copy = times.transpositions(), 1e6 * data.load("copy").find("copy", 4096)[0].seconds
    least = {PAD: counts.least_us(PAD) for PAD in found}
    assert [f"{us:.1f}" for us in least.values()] == ["66.2", "34.1", "18.1", "10.0", "6.0", "4.0"]
    assert least[0] == pytest.approx(4096**2 / 32 * (32 + 1) / 132 / 1980), "by hand: 32 wavefronts of a load and one of a store"
    for PAD, (_, us) in found.items():
        assert least[PAD] < us
        assert f"{us} µs, its wavefronts at least {least[PAD]:.1f}" in repr(bank_conflicts.transposition_times())
    assert [PAD for PAD in found if least[PAD] > copy] == [0, 16]
    assert "With PAD = 0 and 16 the wavefronts alone need longer than the copy." in PROSE
    assert "PAD = 8 lies between: its wavefronts need less time than the copy, but going on to PAD = 4 still saves 4.7 µs" in PROSE
    assert round(found[8][1] - found[4][1], 1) == 4.7
    assert "each of the 132 multiprocessors serves one per clock cycle, at 1,980 MHz" in PROSE


def test_the_products_time_follows_the_wavefronts_and_not_the_loads():
    rows = {row[0]: tuple(map(float, row[1:])) for row in bank_conflicts.product_times().rows}
    assert len({rows[PAD][0] for PAD in (0, 8, 4)}) == 1, "the same loads"
    for kind in ("load", "store"):
        assert len({counts.per_multiply_add(counts.multiplied(16, PAD), "shared instructions", kind) for PAD in (0, 8, 4)}) == 1
    assert rows[0][1] > rows[8][1] > rows[4][1] == rows[1][1], "the time falls with the wavefronts"
    assert "with the wavefronts: {}, {} and {} ms".format(*(rows[PAD][2] for PAD in (0, 8, 4))) in PROSE
    last = [rows[PAD][2] for PAD in (4, 2, 1)]
    assert 0.03 < max(last) / min(last) - 1 < 0.04
    assert "The last three times differ by less than 4 %" in PROSE
    assert len({rows[PAD][0] for PAD in (4, 2, 1)}) == 3, "their loads differ"
    assert counts.multiplied(16, 1).count("conflicts", "load") == 0, "PAD = 1 is enough for the loads"
    stored = states()[key_of("sgemm_padded", 16, 1)]["accesses"]["store"]["words"]
    assert max(word[3] for word in stored) == 2, "a store still takes two"
    words = [word for word in states()[key_of("sgemm_padded", 16, 1)]["accesses"]["load"]["words"] if word[4]]
    assert sorted(word[4] for word in words) == [(lane, lane + 16) for lane in range(16)], "lanes 16 to 31 want the same words"
    assert len({word[2] for word in words}) == 1, "one column of 16 words is all that a load wants"
    widths = [states()[key_of("sgemm_padded", 16, PAD)]["accesses"]["load"]["width"] for PAD in (0, 4, 2, 1)]
    assert widths == [16, 16, 8, 4], "four words, four, two, one"


def test_the_counters_of_an_h200_agree_with_the_rule_in_as_many_accesses_as_the_text_says():
    """tests/model/test_banks.py compares each of them."""
    rows = json.loads((ROOT / "tests/data/wavefronts.json").read_text(encoding="utf-8"))["rows"]
    assert [sum(row["width"] == width for row in rows) for width in (4, 16)] == [81, 81]
    assert "We tried it on 81 different accesses" in PROSE
    assert "for all 81 accesses of this kind" in PROSE


def test_the_prose_says_what_was_recorded():
    scores = bank_conflicts.product_scoreboard().rows
    assert [row[3] for row in scores] == ["5.9%", "15.0%", "15.3%", "100.0%"]
    assert [row[1] for row in scores] == ["5.0625", "1.6875", "1.625", ""]
    assert 5.0625 / 1.6875 == 3, "three times fewer"
    assert "three times fewer wavefronts serve them" in PROSE
    plain, four, tiled = (float(row[2]) for row in scores[:3])
    for said in (f"takes {plain} ms. Why?", f"With PAD = 4 the product is {plain / four:.1f} times as fast",
                 f"the time falls from {plain} to {four} ms", f"need no padding, and take {tiled} ms",
                 f"our {plain / four:.1f} are not the same experiment",
                 "Even with padding the kernel has only 15.0 % of the library's speed"):
        assert said in PROSE, said


def test_the_main_path_has_one_topic():
    main, order = PROSE.split("## Key points")[0], list(CELLS)
    for second in ("LDS", "float4", "64-bit", "128-bit", "groups", "swizzle", "first optional section"):
        assert second not in main, second
    assert order.index("optional-swizzle") == order.index("key-points") + 1
    for cell in ("swizzle-picture", "sliders", "product-picture", "product-times"):
        assert order.index(cell) > order.index("key-points"), cell


def test_with_pad_0_the_padded_kernel_counts_what_the_coalesced_one_does():
    ours, theirs = counts.multiplied(16, 0), evaluate("sgemm_coalesced", 128, {"TILE": 16}, backend="sim")
    for kind in ("load", "store"):
        for what in ("wavefronts", "shared instructions"):
            assert ours.count(what, kind) == theirs.count(what, kind)


def test_the_product_with_pad_0_and_4_has_the_same_loads_and_stores_and_as_many_blocks():
    kernel, code = get("sgemm_padded"), {}
    for PAD in (0, 4, 1):
        text = sass(compile_cuda(kernel.source, name=kernel.file_name, defines={"TILE": 16, "PAD": PAD}))
        code[PAD] = (len(text), *sorted((i.base, i.bits) for i in text if i.base in ("LDG", "STG", "LDS", "STS")))
    assert code[0] == code[4] != code[1]
    assert {bits for base, bits in code[0][1:] if base == "LDS"} == {128}, "each load brings four words per lane"
    assert {footprint("sgemm_padded", TILE=16, PAD=PAD).occupancy.warps for PAD in (0, 4)} == {64}, "as many blocks fit"


def test_with_tiles_of_sixteen_the_picture_of_the_product_takes_sixteen_wavefronts_for_four_words_and_one_for_one():
    for PAD, width, fronts in ((0, 16, 16), (1, 4, 1)):
        access = states()[key_of("sgemm_padded", 16, PAD)]["accesses"]["load"]
        assert (access["width"], max(word[3] for word in access["words"])) == (width, fronts)
    assert "There are four groups, so 16 wavefronts" in PROSE


def test_a_picture_has_no_controls_for_what_comes_later():
    for shown, many in ((bank_conflicts.banks(), 9), (bank_conflicts.banks("transpose_swizzled"), 1),
                        (bank_conflicts.banks("sgemm_padded", tile=16), 9)):
        assert len(shown.states) == many, "one kernel, one tile, and its paddings"


def test_the_pictures_are_set_to_what_the_text_speaks_of():
    assert CELLS["again"] == "bank_conflicts.banks(pad=2)"
    assert "tile[32][34]" in tile_by_bank("transpose", 32, 2).get_title("left")
    assert CELLS["product-picture"] == 'bank_conflicts.banks("sgemm_padded", tile=16, pad=0)'
    assert bank_conflicts.banks("sgemm_padded", tile=16).values["access"] == "load"
    assert "swizzled" in bank_conflicts.banks("transpose_swizzled").static_text()
    assert "picture at the top" not in PROSE.partition("## Does it save time?")[2], "it stands where it is spoken of"


def test_the_slides_column_is_sixteen_way_eight_way_and_four():
    assert [row[2] for row in bank_conflicts.sixteen_banks().rows] == ["16 + 16", "4", "8"]
    before, after = (LEE_GPU.column(name)[4096] for name in ("Coalescing", "Bank Conflict"))
    assert f"the time falls from {before} to {after} at N = 4096" in PROSE
    assert f"their factor of about {before / after:.1f}" in PROSE
    assert [list(bank_table(banks)[1, :3]) for banks in (16, 32)] == [[4, 68, 132], [4, 132, 260]]
    assert "from address 4, 68, 132 and so on; bank 1 of 32 those from 4, 132, 260" in PROSE


def test_the_picture_of_one_warp_is_what_a_warp_does():
    matrix = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)
    (x, y), i = pictures.BLOCK, pictures.STEP
    result = run_transpose("transpose", matrix, backend="sim", TILE=32, PAD=0, trace=[((0, 0, 0), 0), ((x, y, 0), 0)])

    def words(array):
        base = requests(result, array=array, block=(0, 0, 0))[0].addresses[0]
        step = requests(result, array=array, block=(x, y, 0))[i // 8]    # of warp 0, whose threadIdx.y is 0
        return list((step.addresses - base) // 4)

    assert words("in") == list((32 * y + i) * 96 + 32 * x + LANES), "row blockIdx.y * TILE + i, from column blockIdx.x * TILE on"
    assert words("out") == list((32 * x + i) * 64 + 32 * y + LANES), "row blockIdx.x * TILE + i, from column blockIdx.y * TILE on"
    lines = {line["value"]: line["text"] for line in states()[key_of("transpose", 32, 0)]["lines"] if "value" in line}
    assert lines["load"].startswith("out[")
    assert lines["load"].endswith("= tile[tx][i];")
    assert "The line `out[…] = tile[tx][i]`, which is marked in the picture, loads from the tile" in PROSE


def test_the_first_picture_is_of_the_step_that_the_text_says():
    result, warp = run_transpose("transpose", np.ones((32, 32), np.float32), backend="sim", TILE=32, PAD=0, trace=[((0, 0, 0), 5)]), 5
    first = requests(result, array="tile", load=True, space="shared", warp=warp)[0]
    base = next(v.offset for v in result.shared if v.name == "tile")
    assert list((np.asarray(first.addresses) - base) // 4) == list(32 * LANES + 5), "tile[tx][i] with i = 5: lane tx reads row tx, column 5"
    assert [word[2] for word in states()[key_of("transpose", 32, 0)]["accesses"]["load"]["words"]] == [5] * 32
    assert "Here `tx` is the lane, and i = 5" in PROSE


def test_the_picture_of_the_rows_has_words_and_they_are_true():
    assert [in_memory.element_at(word, 33) for word in (5, 38, 71, 104)] == [(row, 5) for row in range(4)]
    assert [word % 32 for word in (5, 38, 71, 104)] == [5, 6, 7, 8]
    assert "4 · 33 + 5 = 137, and 137 mod 32 = 9" in PROSE
    assert "lie in banks 5, 6, 7 and 8" in repr(bank_conflicts.rows_in_banks())
    assert conflicts(4 * (33 * LANES + 5)) == 0


def test_the_sliders_kernel_counts_what_the_readers_does(mine):
    ours = evaluate("transpose", 64, {"TILE": 32, "PAD": 0}, backend="sim")
    checked = sum(counters.get(counter_name("wavefronts", "load"), 0) for counters in check(mine).lines.values())
    assert ours.count("wavefronts") == checked == 65_536 / 16
    assert "Its table, under *Details*, counts a matrix of 64 × 64" in PROSE


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/06_bank_conflicts.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "launched", "counted", "padded", "more-rows"):
        assert "my_transpose is not written yet" in said[cell], cell
    assert "65536" not in said["counted"].replace(",", "")
    assert "wavefronts per load" in said["by-padding"]
