"""Lesson 15's first explorable: every share at every moment is the recorded one, and nothing is told before it is played."""

import json

import pytest
from javascript import evaluate

from course_lib import data
from course_lib.bench.tuned import TUNED_SIZES
from course_lib.explorables.gap import ASKED, AT, CURVES, LIBRARY, gap, share, sizes, states

PICTURE = gap
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
ROWS = data.readings("closing").rows
LAST = len(CURVES) - 1


def values(N=AT):
    return {"n": sizes().index(N)}


def test_every_point_is_a_recorded_time_beside_the_librarys_in_the_same_run():
    assert tuple(sizes()) == TUNED_SIZES
    for curve in states()["curves"]:
        for N, percent in zip(sizes(), curve["share"], strict=True):
            ours, = (row for row in ROWS if row.get("kernel") == curve["kernel"] and row["N"] == N)
            theirs, = (row for row in ROWS if row.get("kernel") == LIBRARY and row["N"] == N)
            assert ours["wrong"] == theirs["wrong"] == ""
            assert percent == round(100 * ours["ratio"], 1)
            assert percent == pytest.approx(100 * theirs["median_s"] / ours["median_s"], rel=0.1), "the median of ratios"
            assert ours["ratio_low"] <= ours["ratio"] <= ours["ratio_high"]
    assert len(json.dumps(states())) < 9_000


def test_a_curve_is_drawn_from_left_to_right_and_is_whole_at_the_next_step(page):
    function = """(m, {states, values, ats}) => { const scene = m.sceneOf(values, states);
        return ats.map(at => states.curves.map((_, i) => m.points(scene, i, at))); }"""
    ats = [0, 0.5, 1, 1.25, LAST]
    found = evaluate(page, function, {"states": states(), "values": values(), "ats": ats})
    whole = [[[n, value] for n, value in enumerate(curve["share"])] for curve in states()["curves"]]
    assert found[0] == [whole[0], *[[]] * LAST]
    assert found[2] == [*whole[:2], *[[]] * (LAST - 1)]
    assert found[4] == whole
    half, last = found[1][1], len(sizes()) - 1
    assert half[:-1] == whole[1][:last // 2 + 1]
    assert half[-1][0] == last / 2
    low, high = sorted(whole[1][n][1] for n in (last // 2, last // 2 + 1))
    assert low <= half[-1][1] <= high
    assert found[3][2][-1][0] == last / 4


def test_a_share_is_read_once_its_curve_has_come_that_far(page):
    function = """(m, {states, values, at}) => { const scene = m.sceneOf(values, states);
        return states.sizes.map((_, n) => m.seen(scene, 1, n, at)); }"""
    last = len(sizes()) - 1
    for at, until in ((0, -1), (0.5, last // 2), (1, last)):
        found = evaluate(page, function, {"states": states(), "values": values(), "at": at})
        assert found == [n <= until for n in range(last + 1)], at


def test_the_axis_ends_above_what_is_drawn_and_leaves_no_third_of_it_empty(page):
    tops = evaluate(page, "(m, ats) => ats.map(at => m.most(at, 5))", [0, 1, LAST - 1, LAST])
    highest = [max(100, *(share for curve in states()["curves"][:seen] for share in curve["high"])) for seen in (1, 2, LAST, LAST + 1)]
    for top, high in zip(tops, highest, strict=True):
        assert high < top < 1.15 * high


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [scene.answer, m.describes({ scene }, 0), ...[...Array(scene.steps + 1).keys()].map(at => m.says({ scene }, at))]; }"""


@pytest.mark.parametrize("N", [256, 513, AT])
def test_the_words_ask_first_and_say_each_kernels_share(page, N):
    answer, described, asked, *said = evaluate(page, SAYS, {"states": states(), "values": values(N)})
    assert answer == round(share(ASKED, AT)), "the prediction is for N = 4096, wherever the line stands"
    assert asked.endswith(f"How many percent of cuBLAS does it reach at N = {AT}? Predict, then play.")
    assert f"reaches {share('sgemm_2d_tile', N):.0f} %" in asked
    assert f"{answer} %" not in asked + described
    before = share("sgemm_2d_tile", N)
    for (kernel, (name, idea)), words in zip(list(CURVES.items())[1:], said, strict=True):
        now = share(kernel, N)
        assert words.lower().startswith(f"{name} ({idea}): {now + 1e-9:.0f} % of cublas at n = {N}, ".lower())
        assert ("less" in words) is (int(now + 0.5) < int(before + 0.5))
        before = now


INSIDE = """(m, {states, values, widths}) => widths.map(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf(values, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const { plot, list, xOf } = m.layout({ width, height, text, narrow, scene });
    return { width, gap: xOf(1) - xOf(0), high: plot.h, free: narrow ? list.y - plot.y - plot.h : list.x - plot.x - plot.w,
        ok: plot.x > 0 && plot.y > 0 && plot.y + plot.h < height && list.x + list.w <= width + 0.01
            && list.y + scene.curves.length * list.row <= height + 0.01 }; })"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "values": values(), "widths": WIDTHS})
    assert [p for p in found if not p["ok"]] == []
    assert min(p["free"] for p in found) > 0
    assert min(p["gap"] for p in found) > 12, "pixels from one size to the next"
    assert min(p["high"] for p in found) > 150


def test_without_a_widget_the_answer_is_not_told():
    told = gap().static_text()
    assert "Run this cell" in told
    assert f"{share(ASKED, AT):.0f} %" not in told
    assert f"{share('sgemm_2d_tile', AT):.0f} %" in told
