"""The lanes of one access over sectors and banks: what is drawn is what the access asks for."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.model import half_warp_steps, shared_wavefronts
from course_lib.plots.banks import DEGREES, bank_services
from course_lib.run.traces import name_of

LANES = np.arange(32)


def shared(addresses, width=4, operation="ld.shared.f32"):
    return SimpleNamespace(addresses=np.asarray(addresses), width=width, space="shared", operation=operation, line=7)


def cells(ax):
    """Return {(bank, row): (text, colour, framed)} of the cells that are drawn."""
    texts = {(round(t.get_position()[0]), round(t.get_position()[1])): t.get_text() for t in ax.texts}
    found = {}
    for p in ax.patches:
        at = (round(p.get_x() + 0.44), round(p.get_y() + 0.42))
        found[at] = (texts[at], matplotlib.colors.to_hex(p.get_facecolor()).upper(), p.get_linewidth() > 0)
    return found


def strip(ax, rows):
    """Return {bank: the number below its column}."""
    return {round(t.get_position()[0]): t.get_text() for t in ax.texts if t.get_position()[1] == rows - 0.05}


@pytest.fixture(scope="module", params=[4, 8, 16])
def wide(request):
    """Return a request of consecutive words, 32 to 128 bits a lane."""
    width = request.param
    return SimpleNamespace(addresses=4096 + width * LANES, width=width, space="global", operation="st.global.f32", line=3)


def test_wide_requests_fill_their_sectors(wide):
    ax = plots.lane_sectors(wide)
    image = ax.images[0].get_array()
    assert image.shape == (32, 8 * wide.width)
    assert (image == 1).sum() == 8 * wide.width
    for lane in LANES:
        assert np.flatnonzero(image[lane] == 1).tolist() == [lane * wide.width // 4 + i for i in range(wide.width // 4)]
    assert plots.used_bytes(wide) == 32 * wide.width
    assert f"{32 * wide.width} bytes fetched, {32 * wide.width} used" in ax.get_xlabel()
    assert f"store of {wide.width} bytes a lane, line 3" in plots.describe_sectors(wide)


def test_a_row_apart_every_lane_has_a_sector_of_its_own():
    column = SimpleNamespace(addresses=np.where(LANES < 30, 1024 * LANES, -1), width=4, space="global", operation="ld.global.f32", line=3)
    image = plots.lane_sectors(column).images[0].get_array()
    assert image.shape == (32, 240)
    for lane in range(30):
        assert np.flatnonzero(image[lane]).tolist() == list(range(8 * lane, 8 * lane + 8))
        assert np.flatnonzero(image[lane] == 1).tolist() == [8 * lane]
    assert not image[30:].any()
    words = plots.describe_sectors(column)
    assert "30 lanes, 1024 bytes from each to the next, touch 30 sectors of 32 bytes; of the 960 bytes fetched, 120 are used" in words


def test_a_column_of_32_by_32_words_lies_in_one_bank():
    record = shared(128 * LANES + 20)
    ax = plots.bank_grid(record)
    found = cells(ax)
    assert sorted(found) == [(5, row) for row in range(32)]
    assert [found[5, row][0] for row in range(32)] == [str(lane) for lane in range(32)]
    assert {colour for _, colour, _ in found.values()} == {DEGREES[32].upper()}
    assert strip(ax, 32) == {5: "32"}
    assert "32 wavefronts" in ax.get_title(loc="left")
    fronts = [t.get_text() for t in ax.texts if t.get_position()[0] > 31 and t.get_position()[1] >= 0]
    assert fronts == [str(n) for n in range(1, 33)]


def test_one_word_more_a_row_spreads_it_over_all():
    ax = plots.bank_grid(shared(132 * LANES))
    found = cells(ax)
    assert sorted(found) == [(n, n) for n in range(32)]
    assert {colour for _, colour, _ in found.values()} == {DEGREES[1].upper()}
    assert strip(ax, 32) == dict.fromkeys(range(32), "1")
    assert "1 wavefront" in ax.get_title(loc="left")


def test_a_broadcast_has_a_frame_and_names_its_lanes():
    ax = plots.bank_grid(shared(np.where(LANES < 16, 64, 2052)))
    found = cells(ax)
    assert {where: (text.replace("\n", ""), framed) for where, (text, _, framed) in found.items()} == {
        (16, 0): ("0–15", True), (1, 1): ("16–31", True)}
    assert "one word, several lanes: broadcast" in [t.get_text() for t in ax.get_legend().get_texts()]
    assert "up to 16 lanes want one word, a broadcast" in plots.describe_banks(shared(np.where(LANES < 16, 64, 2052)))
    lonely = plots.bank_grid(shared(4 * LANES))
    assert not any(framed for *_, framed in cells(lonely).values())
    assert not any("broadcast" in t.get_text() for t in lonely.get_legend().get_texts())


def test_a_128_bit_access_is_served_in_quarters():
    record = shared(16 * LANES, 16, "st.shared.v4.f32")
    ax = plots.bank_grid(record)
    assert sorted(cells(ax)) == [(bank, row) for bank in range(32) for row in range(4)]
    assert {colour for _, colour, _ in cells(ax).values()} == {DEGREES[1].upper()}
    assert [s.wavefront for s in bank_services(record)[0]] == [1 + i // 32 for i in range(128)]
    assert plots.bank_counts(record) == (4,)


@pytest.mark.parametrize(("row_words", "now", "then"), [(16, 8, (16, 16)), (17, 1, (1, 1))])
def test_lees_column_of_a_16_by_16_tile_on_32_banks_and_on_16(row_words, now, then):
    record = shared(4 * row_words * (LANES % 16))
    assert plots.bank_counts(record) == (now,) == (shared_wavefronts(record.addresses),)
    assert plots.bank_counts(record, 16) == then == half_warp_steps(record.addresses)
    ax = plots.bank_grid(record, banks=16)
    halves = [{where: text for where, (text, _, _) in cells(ax).items() if (where[0] < 16) == first} for first in (True, False)]
    assert sorted(halves[0].values(), key=int) == [str(lane) for lane in range(16)]
    assert sorted(halves[1].values(), key=int) == [str(lane) for lane in range(16, 32)]
    assert f"{then[0]} + {then[1]} wavefronts" in ax.get_title(loc="left")
    assert len(ax.get_xticks()) == 32


def test_the_frame_of_a_half_warp_is_its_own_broadcast():
    ax = plots.bank_grid(shared(np.zeros(32, int)), banks=16)
    texts = [text.replace("\n", "") for text, _, framed in cells(ax).values() if framed]
    assert texts == ["0–15", "16–31"]
    assert plots.bank_counts(shared(np.zeros(32, int)), 16) == (1, 1)


def test_lanes_that_do_not_take_part_are_not_there():
    record = shared(np.where(LANES == 3, 12, -1))
    assert list(cells(plots.bank_grid(record))) == [(3, 0)]
    assert "1 lane want 1 different word" in plots.describe_banks(record).replace("wants", "want")
    assert plots.bank_counts(shared(np.full(32, -1))) == (0,)
    assert not plots.bank_grid(shared(np.full(32, -1))).patches


def test_what_has_no_banks_is_refused(wide):
    with pytest.raises(CourseError, match="only shared memory has banks"):
        plots.bank_grid(wide)
    with pytest.raises(CourseError, match="had 16 before Fermi"):
        plots.bank_grid(shared(4 * LANES), banks=8)
    with pytest.raises(CourseError, match="only accesses of 32 bits"):
        plots.bank_grid(shared(16 * LANES, 16), banks=16)


@pytest.mark.slow
def test_they_draw_into_given_axes_and_can_be_shown(wide):
    mine = plots.bars({"x": 1}, unit="u")
    assert plots.bank_grid(shared(4 * LANES), mine) is mine
    mine = plots.bars({"x": 1}, unit="u")
    assert plots.lane_sectors(wide, mine) is mine
    assert plots.render(plots.bank_grid(shared(4 * LANES)), plots.describe_banks(shared(4 * LANES))).size[0] <= 1100


def test_requests_of_shared_memory(fakes):
    run = fakes.tiled()
    assert {r.line for r in plots.requests(run, space="shared", array="Bs")} == {36, 40}
    assert {r.operation for r in plots.requests(run, space="shared", load=False)} == {"st.shared.f32"}
    assert {r.space for r in plots.requests(run)} == {"global"}
    assert plots.requests(run, warp=1) == ()
    assert plots.requests(run, block=(0, 0, 0)) == plots.requests(run)
    with pytest.raises(CourseError, match="no shared array 'C'; it has As, Bs"):
        plots.requests(run, space="shared", array="C")
    assert [name_of(run, r) for r in run.trace[:4]] == ["A", "As", "B", "Bs"]
