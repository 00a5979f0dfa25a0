"""The bank bench: what each position counts, shows and says, and what a slider's move changes."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import data
from course_lib.data.records import Record, Recording
from course_lib.errors import CourseError
from course_lib.lessons.bank_conflicts import bank_bench, bank_view

NAMES = ("transpose", "transpose_swizzled", "sgemm_padded")


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def box():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_BACKEND", "sim")
        made = bank_bench(*NAMES, pads=(0, 1, 2), tiles=(32,), N=64, sizes=(64,))
        yield made
        made.close()


def recording():
    def record(kernel, seconds, **parameters):
        return Record(kernel, 4096, parameters, seconds, device="some GPU", date="2026-11-21")
    return Recording("some GPU", "1", "2026-11-21", (
        record("transpose", 1e-5, TILE=32, PAD=1), record("transpose", 9e-5, TILE=32, PAD=0), record("transpose", 5e-5, TILE=16, PAD=0),
        record("transpose_swizzled", 2e-5, TILE=32, ROWS=8), record("sgemm_padded", 3e-2, TILE=32, PAD=0),
        record("sgemm_tiled", 1e-2, BM=32, BN=32, BK=32), Record("transpose", 1024, {"TILE": 32, "PAD": 2}, 1e-6)))


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("tile", "pad"), [(32, 0), (32, 3), (32, 4), (16, 1), (16, 2), (8, 4)])
def test_a_read_column_follows_the_rows_that_a_warp_covers(tile, pad):
    view = bank_view.bank_view("transpose", 64, {"TILE": tile, "PAD": pad})
    lanes = np.arange(32)
    words = (lanes % tile) * (tile + pad) + lanes // tile
    each = max(len({int(w) for w in words if w % 32 == bank}) for bank in range(32))
    accesses, wavefronts = view.counts
    assert accesses == 64 * 64 // 32
    assert wavefronts == accesses * each
    assert (view.record.line, view.load) == (29, True)
    assert np.array_equal(np.asarray(view.record.addresses) // 4, words)


@pytest.mark.slow
def test_a_mixed_column_is_drawn_of_another_column_than_0():
    view = bank_view.bank_view("transpose_swizzled", 64, {"TILE": 32}, warp=1, number=2)
    assert np.array_equal(np.asarray(view.record.addresses) // 4, 32 * np.arange(32) + (17 ^ np.arange(32)))
    last = bank_view.bank_view("transpose_swizzled", 64, {"TILE": 8}, warp=1, number=2)
    assert len(np.unique(np.asarray(last.record.addresses) // 4 % 32)) == 32


def test_stores_of_a_product_are_seen_too():
    view = bank_view.bank_view("sgemm_padded", 64, {"TILE": 32, "PAD": 0}, load=False)
    assert view.counts == (2 * 2 * 2 * 32, 2 * 2 * 2 * 32 * 32)
    assert "256 stores take 8,192 wavefronts, 32 each" in view.says()
    assert ", 8.5 for 32 multiply-adds" in bank_view.bank_view("sgemm_padded", 64, {"TILE": 32, "PAD": 0}).says()


def test_the_listing_marks_the_line_and_shows_its_wavefronts():
    table = bank_view.bank_view("transpose", 64, {"PAD": 0}).listing()
    row, = (table.rows[i] for i in table.marked)
    assert row[:3] == ("29", "4,096", "32")
    assert [r[0] for r in table.rows] == ["20", "23", "24", "25", "26", "27", "28", "29"]
    assert not any("//" in r[-1] for r in table.rows)
    assert table.header == bank_view.bank_view("transpose", 64, {"PAD": 1}).listing().header, "no column comes and goes"


@pytest.mark.slow
def test_a_product_has_a_point_under_the_roofs_and_a_transposition_is_told_that_it_has_none():
    conflicts, free = (bank_view.bank_view("sgemm_padded", 64, {"TILE": 32, "PAD": pad}).picture("roofline")[1] for pad in (0, 1))
    assert "Roofline of H200" in conflicts
    assert conflicts != free
    with pytest.raises(CourseError, match="transpose adds and multiplies nothing.* such as sgemm_padded"):
        bank_view.bank_view("transpose", 64, {}).picture(bank_view.ROOFLINE)


def test_the_occupancy_is_told():
    assert "occupancy 100 %, modelled for H200." in bank_view.bank_view("transpose", 64, {"TILE": 32, "PAD": 0}).says()


@pytest.mark.parametrize("load", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_no_column_and_no_line_of_the_listing_comes_and_goes(name, load):
    pads = [{}] if name == "transpose_swizzled" else [{"PAD": pad} for pad in (0, 1, 4)]
    tables = [bank_view.bank_view(name, 64, {"TILE": 32} | pad, load).listing() for pad in pads]
    for table in tables:
        assert tuple(table.header) == ("line", *bank_view.COLUMNS, "source")
        assert [(row[0], row[-1]) for row in table.rows] == [(row[0], row[-1]) for row in tables[0].rows]


def test_a_kernel_without_such_a_tile_is_refused():
    with pytest.raises(CourseError, match="has no shared array tile or Bs: it has none"):
        bank_view.bank_view("transpose_plain", 32, {})
    with pytest.raises(CourseError, match="sgemm_naive has no parameter TILE"):
        bank_bench("sgemm_naive")
    with pytest.raises(CourseError, match="PAD begins at 9"):
        bank_bench("transpose", start={"PAD": 9})


def test_machine_code_is_the_lines_own():
    padded, wide = (bank_view.shared_code("sgemm_padded", {"TILE": 16, "PAD": pad}, 33) for pad in (1, 4))
    assert bank_view.widths(wide) == {"LDS.128": 8}
    assert bank_view.widths(padded)["LDS"] == 16, "rows of 17 words: nothing is aligned"
    stores = bank_view.shared_code("sgemm_padded", {"TILE": 16, "PAD": 1}, 29, load=False)
    assert bank_view.widths(stores) == {"STS": 1}
    page = bank_view.code_html(padded, 33)
    assert "⋮ 14 more" in page
    assert "16 × LDS" in page
    assert "none" in bank_view.code_html((), 33)


def test_recorded_times_are_of_this_tile_and_in_order():
    bars = bank_view.recorded_bars("transpose", {"TILE": 32, "PAD": 1}, recording())
    assert [(b.label, b.seconds, b.now) for b in bars] == [
        ("PAD = 0", 9e-5, False), ("PAD = 1", 1e-5, True), ("transpose_swizzled", 2e-5, False)]
    assert [b.label for b in bank_view.recorded_bars("transpose_swizzled", {"TILE": 32}, recording()) if b.now] == ["transpose_swizzled"]
    assert [b.label for b in bank_view.recorded_bars("sgemm_padded", {"TILE": 32, "PAD": 4}, recording())] == ["PAD = 0", "sgemm_tiled"]
    assert bank_view.recorded_bars("transpose", {"TILE": 8, "PAD": 0}, recording()) == ()
    page = bank_view.bars_html(bars, "a caption")
    assert "▶ PAD = 1" in page
    assert page.count("width:100.0%") == 1
    table = bank_view.bars_table(bars, "a caption")
    assert (table.marked, table.rows[1][0], table.rows[1][1].split()[0]) == ({1}, "PAD = 1", "10")


def test_without_a_gpu_nothing_is_measured_and_with_one_the_chosen_position_is(monkeypatch):
    assert bank_view.measured_bar("transpose", {"TILE": 32, "PAD": 1}) is None
    asked = []

    def evaluate(kernel, N, parameters, **options):
        asked.append((kernel, N, parameters, options))
        return SimpleNamespace(label="measured on it", time=SimpleNamespace(median_s=4e-5))
    monkeypatch.setattr(bank_view, "choose_backend", lambda: "gpu")
    monkeypatch.setattr(bank_view, "evaluate", evaluate)
    assert bank_view.measured_bar("transpose", {"TILE": 32, "PAD": 1}) == bank_view.Bar("measured on it", 4e-5, True)
    assert asked == [("transpose", 4096, {"TILE": 32, "PAD": 1}, {"counters": False})]


@pytest.mark.slow
def test_a_move_changes_every_pane(box, wait_s, monkeypatch):
    monkeypatch.setattr(data, "names", lambda: ("padding",))
    monkeypatch.setattr(data, "load", lambda name: recording())
    box.pad.value = 1
    settle(box, wait_s)
    assert "1 each" in box.status.value
    assert "at most 1 in one bank: 1 wavefront." in box.image.value
    assert "SASS of line 29" in box.code.value
    assert "▶ PAD = 1" in box.times.value
    assert "recorded on some GPU, 2026-11-21" in box.times.value
    box.pad.value = 2
    settle(box, wait_s)
    assert "2 each" in box.status.value
    assert "2 wavefronts" in box.image.value
    assert "PAD = 2 is not recorded" in box.times.value
    assert "2 each" in box.static_text()
    assert "PAD = 1" in box.static_html()
    box.load.value = False
    settle(box, wait_s)
    assert "Line 25" in box.status.value
    assert "STS" in box.code.value
    box.load.value, box.pad.value = True, 0
    box.banks.value = 16
    settle(box, wait_s)
    assert "16 + 16 wavefronts, half-warp by half-warp" in box.image.value
    box.banks.value = "roofline"
    settle(box, wait_s)
    assert "no point under the roofs" in box.image.value
    box.banks.value = 32


@pytest.mark.slow
def test_the_swizzled_kernel_has_no_padding(box, wait_s):
    box.kernel.value = "transpose_swizzled"
    settle(box, wait_s)
    assert box.pad.disabled
    assert box.position()[3] is None
    assert "PAD" not in box.status.value
    assert "1 each" in box.status.value
    words = np.asarray(box.engine.now(box.position()).value.record.addresses) // 4
    assert words[0] == 17, "the picture shows that the columns are mixed"
    assert "No recorded time" in box.times.value or "recorded on" in box.times.value
    box.kernel.value = "transpose"
    settle(box, wait_s)
    assert not box.pad.disabled


def test_all_paddings_are_computed_ahead_the_nearest_first(box, monkeypatch):
    near = box._neighbours(("transpose", 64, 32, 1, True))
    assert near[:2] == [("transpose", 64, 32, 2, True), ("transpose", 64, 32, 0, True)]
    assert ("transpose_swizzled", 64, 32, None, True) in near
    assert ("transpose", 64, 32, 1, False) in near
    assert box._next_code(("transpose_swizzled", 32, None, True)) == []
    assert box._next_code(("transpose", 32, 1, True))[0] == ("transpose", 32, 2, True)
    monkeypatch.setattr(importlib.import_module("course_lib.lessons.bank_conflicts.bench"), "choose_backend", lambda: "gpu")
    assert box._next_code(("transpose", 32, 1, True)) == [], "measuring ahead would keep the GPU from the reader"


def settle(box, wait_s):
    """Wait until the counters and what follows from them are shown."""
    for engine in (box.engine, box.drawings, box.machine):
        assert engine.settle(4 * wait_s)
    for engine in (box.drawings, box.machine):
        assert engine.settle(4 * wait_s)
