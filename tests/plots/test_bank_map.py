"""The small picture of an access over the banks: its words, its bars, its two half-warps."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.model import half_warp_steps, shared_wavefronts
from course_lib.plots import style
from course_lib.plots.bank_map import BARS, bottom_of
from course_lib.plots.banks import DEGREES, rows_of

LANES = np.arange(32)


def shared(addresses, width=4, operation="ld.shared.f32"):
    return SimpleNamespace(addresses=np.asarray(addresses), width=width, space="shared", operation=operation, line=7)


def split(ax, rows, gap=0.0):
    """Return ({(column, row): colour}, {column: height of its bar in words of 32}) of what is drawn."""
    words, bars = {}, {}
    bottom = bottom_of(rows)
    for p in ax.patches:
        if p.get_width() == pytest.approx(0.96):
            place = round(p.get_x() + 0.48 - gap), round(p.get_y() + p.get_height() / 2)
            words[place] = matplotlib.colors.to_hex(p.get_facecolor()).upper()
        else:
            assert p.get_y() + p.get_height() == pytest.approx(bottom)
            bars[round(p.get_x() + 0.4 - gap)] = p.get_height() / (BARS * rows)
    return words, bars


@pytest.mark.slow
@pytest.mark.parametrize("pad", range(9))
def test_a_column_of_a_padded_tile(pad):
    record = shared(4 * (LANES * (32 + pad) + 5))
    ax = plots.bank_map(record)
    wanted = LANES * (32 + pad) + 5
    rows = rows_of(sorted({int(w) // 32 for w in wanted}))
    words, bars = split(ax, len(rows))
    assert set(words) == {(int(w) % 32, rows.index(int(w) // 32)) for w in wanted}
    many = np.gcd(32 + pad, 32)
    assert bars == {bank: pytest.approx(many / 32) for bank in {b for b, _ in words}}
    assert set(words.values()) == {style.SKY if many == 1 else DEGREES[many]}
    assert max(max(group) for group in plots.words_a_bank(record)) == shared_wavefronts(record.addresses) == many
    assert ax.get_title(loc="left").startswith(f"line 7: {many} wavefront")


@pytest.mark.parametrize(("row_words", "banks", "boxes"), [(32, 32, 32), (16, 16, 16), (40, 32, 8)])
def test_the_words_of_a_bank_can_be_counted_in_the_picture(row_words, banks, boxes):
    words = row_words * (LANES % 16 if banks == 16 else LANES)
    ax = plots.bank_map(shared(4 * words), banks=banks)
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())[..., :3]
    rows = len(rows_of(sorted({int(w) // banks for w in words})))
    (x, top), (_, bottom) = (ax.transData.transform((-0.4, y)) for y in (-0.5, rows - 0.5))
    column = pixels[len(pixels) - round(top):len(pixels) - round(bottom), round(x)]
    colour = np.round(255 * np.array(matplotlib.colors.to_rgb(ax.patches[0].get_facecolor())))
    filled = np.concatenate([[False], (np.abs(column - colour) < 2).all(axis=1), [False]])
    begins, ends = np.flatnonzero(filled[1:] & ~filled[:-1]), np.flatnonzero(filled[:-1] & ~filled[1:])
    assert len(begins) == boxes
    assert np.ptp((ends - begins)[1:-1]) <= 1, "of equal height, to a pixel; the frame covers some of the first and of the last"


def test_a_conflict_is_visible_on_white_paper_and_the_worse_the_darker():
    light = [float(np.dot(matplotlib.colors.to_rgb(colour), (0.2126, 0.7152, 0.0722))) for words, colour in DEGREES.items() if words > 1]
    assert light == sorted(light, reverse=True)
    assert all(one < 0.55 for one in light), "none is as bright as paper"


def named(record, **options):
    """Return {text: (place, letters)} of the lanes that a picture names."""
    return {t.get_text(): t for t in plots.bank_map(record, **options).texts if t.get_text().startswith("lane")}


def test_the_lanes_numbers_stand_on_their_words_where_rows_are_high():
    numbers = {t.get_text(): t.get_position() for t in plots.bank_map(shared(4 * (LANES % 16 * 16 + LANES // 16))).texts}
    assert numbers["17"] == (17, 0)
    assert numbers["31"] == (17, 7)


def test_a_column_of_many_words_is_named_once_and_legibly():
    text, = named(shared(4 * 32 * LANES)).values()
    assert text.get_text() == "lanes 0 to 31"
    assert text.get_fontsize() >= 11
    assert text.get_rotation() == 90
    assert 0.5 < text.get_position()[0] < 1.5
    columns = named(shared(4 * 36 * LANES))
    assert list(columns) == [f"lanes {n}, {n + 8}, … {n + 24}" for n in range(8)]
    halves = named(shared(4 * 16 * LANES * 2), banks=16)
    assert list(halves) == ["lanes 0 to 15", "lanes 16 to 31"]


@pytest.mark.parametrize("words", [LANES * 33, LANES * 34, 32 * LANES + (17 ^ LANES)])
def test_the_first_lane_and_the_last_are_named_beside_their_words_and_hide_none(words):
    names = named(shared(4 * words))
    assert set(names) == {"lane 0", "lane 31"}
    rows = rows_of(sorted({int(w) // 32 for w in words}))
    for text in names.values():
        assert text.get_fontsize() >= 11
        left, top = text.get_position()
        wide, high = 0.55 * len(text.get_text()), len(rows) / 12
        assert not [w for w in words if left - 0.5 < w % 32 < left + wide + 0.5 and top - 0.5 < rows.index(w // 32) < top + high + 0.5]


def test_one_word_for_two_lanes_is_framed_and_counts_once():
    ax = plots.bank_map(shared(4 * (LANES // 2)))
    frames = [p.get_linewidth() > 0 for p in ax.patches if p.get_width() == pytest.approx(0.96)]
    assert frames == [True] * 16
    assert "several lanes, one word" in [t.get_text() for t in ax.get_legend().get_texts()]
    assert plots.words_a_bank(shared(4 * (LANES // 2)))[0] == (1,) * 16 + (0,) * 16


def test_two_half_warps_over_16_banks():
    record = shared(4 * 16 * LANES)
    ax = plots.bank_map(record, banks=16)
    assert plots.words_a_bank(record, 16) == ((16, *[0] * 15), (16, *[0] * 15))
    assert half_warp_steps(record.addresses) == (16, 16)
    assert sorted({round(t, 1) for t in ax.get_xticks()}) == [0, 5, 10, 15, 17.5, 22.5, 27.5, 32.5]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "5", "10", "15"] * 2
    assert "16 + 16 wavefronts, half-warp by half-warp" in ax.get_title(loc="left")


def test_global_memory_has_no_banks():
    with pytest.raises(CourseError, match="only shared memory has banks"):
        plots.bank_map(SimpleNamespace(addresses=LANES * 4, width=4, space="global", operation="ld.global.f32", line=7))


def test_the_listing_marks_a_line_and_counts_wavefronts_an_access():
    from course_lib.run import counter_name
    counters = {1: {counter_name("wavefronts", "load"): 96, counter_name("shared instructions", "load"): 3}}
    table = plots.source_listing("a;\nb;", counters, columns=("shared accesses", "wavefronts / access"), mark=(1,))
    assert table.header == ("line", "shared accesses", "wavefronts / access", "source")
    assert table.rows == [("1", "3", "32", "a;"), ("2", "", "", "b;")]
    assert table.marked == {0}
    assert "wavefronts / access" not in plots.source_listing("a;\nb;", counters).header, "lessons that do not ask for it keep their columns"
