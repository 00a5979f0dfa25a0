"""Lesson 19's explorable: JavaScript's pieces, places and sums are the model's, at every position of its controls."""

import itertools
import json
import math

import pytest
from javascript import evaluate

from course_lib.explorables import tiles_on_multiprocessors
from course_lib.explorables.sharing import SIZES, TILES, states
from course_lib.model.busiest_work import balance_of, dispatch
from course_lib.model.stream_k import Sharing, split_k, tile_place

PICTURE = tiles_on_multiprocessors
SMS = states()["multiprocessors"]
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
SHARES = [("tiles", 3), ("even", 3), *(("split", s) for s in range(2, 9))]
POSITIONS = [{"size": i, "tile": tile["BM"], "share": share, "split": split} for i, tile, (share, split) in itertools.product(
    range(len(SIZES)), TILES, SHARES)]
START = tiles_on_multiprocessors().values


def asked(values):
    """Return the pieces of each block, k-steps of a tile, and the tile at a position."""
    N, tile = SIZES[values["size"]], next(t for t in TILES if t["BM"] == values["tile"])
    side = math.ceil(N / tile["BM"])
    tiles, steps = side**2, math.ceil(N / tile["BK"])
    if values["share"] == "split":
        return split_k(tiles, steps, values["split"]), steps, tile
    return Sharing(tiles, steps, {"tiles": tiles, "even": SMS}[values["share"]]).by_block, steps, tile


SUMMED = """(m, {states, positions}) => positions.map(values => { const s = m.sceneOf(values, states);
    const wrap = (sum, n) => (31 * sum + n) % 1000003;
    return { busiest: s.busiest, mean: s.mean, left: s.left, bytes: s.bytes, steps: s.steps, depth: s.depth, answer: s.answer,
        hash: s.placed.reduce((sum, p) => [p.block, p.tile, p.first, p.last, p.where, p.start].reduce(wrap, sum), 7) }; })"""


@pytest.mark.exhaustive
def test_every_position_is_the_models(page):
    found = evaluate(page, SUMMED, {"states": states(), "positions": POSITIONS})
    for values, seen in zip(POSITIONS, found, strict=True):
        shared, steps, tile = asked(values)
        right = balance_of(shared, steps, SMS)
        assert (seen["busiest"], seen["left"], seen["steps"], seen["depth"]) == (right.busiest, right.left, right.busiest, steps), values
        assert seen["mean"] == pytest.approx(right.mean)
        assert seen["answer"] == pytest.approx(100 * right.idle)
        assert seen["bytes"] == 4 * right.left * tile["BM"] * tile["BN"]
        total = 7
        for one in dispatch(shared, SMS):
            p = one.piece
            for n in (p.block, p.tile, p.first, p.last, one.multiprocessor, one.start):
                total = (31 * total + n) % 1000003
        assert seen["hash"] == total, "the same pieces, in the same order, at the same place and time"


def test_other_numbers_than_those_of_the_controls(page):
    some = [(tiles, steps, blocks) for tiles in (1, 2, 7, 40, 289) for steps in (1, 2, 9) for blocks in (1, 3, 7, 132, 300)]
    function = "(m, some) => some.map(([t, s, b]) => m.piecesOf(t, s, b).map(mine => mine.map(p => [p.block, p.tile, p.first, p.last])))"
    found = evaluate(page, function, some)
    assert found == [[[[p.block, p.tile, p.first, p.last] for p in block] for block in Sharing(*one).by_block] for one in some]


def test_tiles_that_are_split_into_more_shares_than_they_have_steps(page):
    some = [(tiles, steps, split) for tiles in (1, 3) for steps in (1, 2, 9) for split in (1, 2, 7)]
    function = "(m, some) => some.map(([t, s, n]) => m.splitPieces(t, s, n).map(mine => mine.map(p => [p.block, p.tile, p.first, p.last])))"
    found = evaluate(page, function, some)
    assert found == [[[[p.block, p.tile, p.first, p.last] for p in block] for block in split_k(*one)] for one in some]


def test_neighbouring_tiles_have_different_colours(page):
    """Beside each other in C, also across a corner, and one after the other in the order of tiles."""
    sides = sorted({math.ceil(N / tile["BM"]) for N in SIZES for tile in TILES})
    found = evaluate(page, "(m, sides) => sides.map(side => m.coloursOf(side, side))", sides)
    for side, colours in zip(sides, found, strict=True):
        assert set(colours) <= set(range(8))
        assert all(a != b for a, b in itertools.pairwise(colours))
        at = {tile_place(tile, side, side): colour for tile, colour in enumerate(colours)}
        for (row, column), colour in at.items():
            assert all(at.get((row + down, column + right)) != colour for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)))


MARKED = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    const kept = change => m.sceneOf({ ...values, ...change }, states, scene, 5).keeps(scene);
    return [m.says({ scene, values, at: scene.steps }, scene.steps), kept({ mark: 3 }), kept({ split: 4 }),
        m.picture.takes("size"), m.picture.takes("mark")]; }"""


def test_a_tile_is_marked_by_the_slider(page):
    values = {**START, "share": "even", "mark": 8}
    words, kept, changed, taken, own = evaluate(page, MARKED, {"states": states(), "values": values})
    mine = [p.block for block in Sharing(25, 65, SMS).by_block for p in block if p.tile == 7]
    assert words.endswith(f" Marked is tile 7: computed in {len(mine)} pieces, by blocks {min(mine)} to {max(mine)}.")
    assert mine == list(range(min(mine), max(mine) + 1))
    assert (kept, changed) == (True, False), "to mark a tile changes only what is looked at"
    assert (taken, own) == ({"mark": 0}, {})


def test_n_and_one_more_have_the_same_scale(page):
    """So one row of tiles more never makes the columns of the others shorter."""
    tops = evaluate(page, "(m, {states, values}) => states.sizes.map((_, size) => m.sceneOf({ ...values, size }, states).top)",
                    {"states": states(), "values": START})
    found = dict(zip(SIZES, tops, strict=True))
    assert all(found[N] == found[N + 1] for N in SIZES if N + 1 in SIZES)
    assert found[1409] > found[1280]


def test_where_a_tile_lies(page):
    shapes = [(1, 1), (5, 5), (9, 4), (17, 3), (20, 20)]
    found = evaluate(page, "(m, shapes) => shapes.map(([h, w]) => Array.from({ length: h * w }, (_, i) => m.placeOf(i, h, w)))", shapes)
    for (high, wide), places in zip(shapes, found, strict=True):
        assert [tuple(place) for place in places] == [tile_place(i, high, wide) for i in range(high * wide)]
        assert len({tuple(place) for place in places}) == high * wide


WORKING = """(m, {states, positions}) => positions.map(values => { const s = m.sceneOf(values, states);
    return [...Array(s.steps + 1).keys()].map(at => m.working(s, at)); })"""


def test_how_many_work_at_each_moment(page):
    positions = [{**START, "share": share} for share in ("tiles", "split", "even")]
    for values, seen in zip(positions, evaluate(page, WORKING, {"states": states(), "positions": positions}), strict=True):
        placed = dispatch(asked(values)[0], SMS)
        for at, count in enumerate(seen):
            assert count == len({p.multiprocessor for p in placed if p.start <= at < p.start + p.piece.steps})


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    const said = [...Array(scene.steps + 1).keys()].map(at => m.says({ scene, values, at }, at));
    return said.concat(m.describes({ scene, values, at: 0 }, 0)); }"""


def test_the_words_ask_first_and_answer_last(page):
    *said, described = evaluate(page, SAYS, {"states": states(), "values": START})
    assert said[0].endswith("Predict, then play.")
    assert "C has 25 tiles of 65 k-steps each, and the GPU has 132 multiprocessors" in said[0]
    assert not any(told in said[0] + described for told in ("81", "107", "12.3", "5.28"))
    assert said[1] == "After 1 k-step, 25 of 132 multiprocessors still work."
    assert said[-1] == ("Each block computes a whole tile: 25 blocks. The busiest multiprocessor had 65 k-steps, and the mean is 12.3: 81 "
                        "% of the time was idle. No partial sums went through memory.")
    *_, last, _ = evaluate(page, SAYS, {"states": states(), "values": {**START, "share": "even"}})
    assert last.endswith("The busiest multiprocessor had 13 k-steps, and the mean is 12.3: 5.3 % of the time was idle. 122 "
                         "partial sums went through memory, 8.0 MB.")


def test_who_has_seen_the_end_sees_the_end_of_the_next_position(page):
    function = """(m, {states, values}) => { const before = m.sceneOf(values, states), other = { ...values, size: 13 };
        return [before.steps, 3, 0].map(at => m.sceneOf(other, states, before, at)).map(s => [s.begin, s.steps]); }"""
    (ended, steps), (running, _), (fresh, _) = evaluate(page, function, {"states": states(), "values": START})
    assert (ended, running, fresh) == (steps, 0, 0)


INSIDE = """(m, {states, positions, widths}) => widths.flatMap(([width, text]) => positions.map(values => {
    const narrow = width < 700, scene = m.sceneOf(values, states);
    const height = text > 20 ? (width > 1500 ? 780 : 450) : m.picture.height(width, text, narrow);
    const w = m.layout({ width, height, text, narrow, scene }), { columns, C, told } = w;
    return { width, height, wide: w.wide, tall: columns.h, beside: narrow || C.w < columns.x,
        ok: columns.x >= 0 && columns.x + columns.w <= width && columns.y + columns.h < w.foot
            && scene.steps * scene.cost <= scene.top + 1e-6 && C.h > 0 && w.foot < height && (narrow || told.y + 5.6 * w.text < height) };
}))"""


def test_nothing_leaves_the_picture_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": states(), "positions": [START, *POSITIONS[::17]], "widths": WIDTHS})
    assert [p for p in found if not (p["ok"] and p["beside"])] == []
    assert min(p["wide"] for p in found) > 2.4, "pixels of a column"
    assert min(p["tall"] for p in found) > 150


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 170
    heights = evaluate(page, "(m, widths) => widths.map(width => m.picture.height(width, 14, false))", [984, 1090, 1280, 1900])
    assert max(heights) + around <= 600


def test_without_a_widget_the_answer_is_not_told():
    shown = tiles_on_multiprocessors()
    assert "Run this cell" in shown.static_text()
    assert not any(word in shown.static_text() for word in ("81", "107", "idle"))
    assert len(json.dumps(shown.states)) < 2000
