"""Lesson 05's explorable: at every position the bytes, sectors and lines are those of the running kernel's request."""

import itertools

import numpy as np
import pytest
from javascript import evaluate

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.explorables import one_request, tile_load
from course_lib.explorables.coalescing import COLUMNS, MOST_OFFSET, MOST_PAD, MOST_STRIDE, WALKS, WIDTHS
from course_lib.plots import requests, touched_sectors
from course_lib.run import run
from course_lib.simt import launch
from course_lib.widgets.compute import inputs, widened

LANES, SECTOR, LINE, FLOAT = 32, 32, 128, 4
SCREENS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
POSITIONS = [{"width": width, "stride": stride, "offset": offset}
             for width in WIDTHS for stride in range(MOST_STRIDE + 1) for offset in range(MOST_OFFSET + 1)]
WALKED = [{"width": 4, "walk": walk, "pad": pad} for walk in WALKS for pad in range(MOST_PAD + 1)]
# A warp's load, written as in the lesson. The width is a type.
KERNEL = """
struct alignas(WIDTH) Piece { unsigned char bytes[WIDTH]; };
extern "C" __global__ void every(const float* x, Piece* y) {
    y[32 * blockIdx.x + threadIdx.x] = reinterpret_cast<const Piece*>(x + OFFSET)[STRIDE * threadIdx.x];
}
"""


PICTURE = one_request


def is_refused(p):
    return FLOAT * p["offset"] % p["width"] != 0


@pytest.fixture(scope="module")
def simulated():
    """The load request of every position that the hardware takes, as the simulator traced it: {(width, stride, offset): record}."""
    found = {}
    for width, offset in itertools.product(WIDTHS, range(MOST_OFFSET + 1)):
        if is_refused({"width": width, "offset": offset}):
            continue
        x = np.zeros(MOST_STRIDE * LANES * width // FLOAT + 64, np.float32)
        y = np.zeros((MOST_STRIDE + 1) * LANES * width, np.uint8)
        blocks = tuple(((stride, 0, 0), 0) for stride in range(MOST_STRIDE + 1))
        macros = {"WIDTH": width, "OFFSET": offset, "STRIDE": "blockIdx.x"}          # one block for each stride
        report = launch(KERNEL, "every", (MOST_STRIDE + 1, 1, 1), (LANES, 1, 1), [x, y], trace=blocks, defines=macros)
        start = report.arrays[0].address
        for record in requests(report, load=True):
            found[width, record.block[0], offset] = (record, start)
    return found


TOUCHED = """(m, positions) => positions.map(p => ({ refused: m.refused(p), ...m.touched(p),
    addresses: [...Array(32).keys()].map(lane => m.addressOf(p, lane)), answer: m.sceneOf(p).answer,
    counts: [...Array(33).keys()].map(lanes => m.touched(p, lanes).sectors.length) }))"""


def test_every_position_is_the_simulators_request(page, simulated):
    found = evaluate(page, TOUCHED, POSITIONS)
    assert len(simulated) == sum(not is_refused(p) for p in POSITIONS) == 17 * (9 + 9 + 5 + 3)
    for p, there in zip(POSITIONS, found, strict=True):
        assert there["refused"] == is_refused(p)
        if there["refused"]:
            continue
        record, start = simulated[p["width"], p["stride"], p["offset"]]
        assert record.width == p["width"], "one load, not several"
        addresses = np.asarray(record.addresses) - start
        assert there["addresses"] == addresses.tolist()
        sectors = (touched_sectors(record) - start // SECTOR).tolist()
        assert sorted(there["sectors"]) == sectors
        assert there["answer"] == len(sectors)
        assert sorted(there["lines"]) == sorted({s * SECTOR // LINE for s in sectors})
        assert there["wanted"] == len({a + i for a in addresses.tolist() for i in range(p["width"])})
        assert there["counts"] == [len({a // SECTOR for a in addresses[:n].tolist()}) for n in range(LANES + 1)]


def traced(walk, pad):
    """Run a tiled kernel of the catalog on 16 rows of B, padded; return (result, B's first load)."""
    name = "sgemm_uncoalesced" if walk == "down" else "sgemm_coalesced"
    text = kernels.get(name).source
    A, B, _ = inputs(16, COLUMNS, 16)
    result = run(text, A, widened(B, pad), backend="sim", bx=16, by=16, trace=[((0, 0, 0), 0)])
    return next(a.address for a in result.arrays if a.name == "B"), requests(result, array="B", load=True)[0]


def test_every_walk_through_b_is_a_running_kernels_request(page):
    found = evaluate(page, TOUCHED, WALKED)
    for p, there in zip(WALKED, found, strict=True):
        start, record = traced(p["walk"], p["pad"])
        addresses = (np.asarray(record.addresses) - start).tolist()
        assert there["addresses"] == addresses, p
        assert sorted(there["sectors"]) == sorted({a // SECTOR for a in addresses})
        assert sorted(there["lines"]) == sorted({a // LINE for a in addresses})
        assert there["wanted"] == 4 * len(set(addresses)) == 128
        assert there["answer"] == len(there["sectors"])
    assert {p["walk"]: f["answer"] for p, f in zip(WALKED, found, strict=True) if not p["pad"]} == {"down": 16, "along": 4}


@pytest.mark.parametrize("width", [8, 16])
def test_the_simulator_refuses_what_the_picture_says_it_refuses(width):
    with pytest.raises(CourseError, match="misaligned|multiple of"):
        launch(KERNEL, "every", (1, 1, 1), (LANES, 1, 1), [np.zeros(256, np.float32), np.zeros(LANES * width, np.uint8)],
               defines={"WIDTH": width, "OFFSET": 1, "STRIDE": 1})


SAYS = """(m, values) => { const scene = m.sceneOf(values);
    return [...Array(scene.steps + 1).keys()].map(at => m.says({ scene, values, at })); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = evaluate(page, SAYS, {"width": 4, "stride": 3, "offset": 0})
    assert said[0] == ("The 32 lanes of a warp ask for every third float: lane 0 for bytes 0 to 3, lane 1 for bytes 12 to 15. "
                       "How many sectors will they touch? Predict, then play.")
    assert said[3] == "Lane 2 asks for bytes 24 to 27. They lie in sector 0, which was touched before: still 1 sector."
    assert said[4] == "Lane 3 asks for bytes 36 to 39. They lie in sector 1, which nobody touched before: 2 sectors now."
    assert said[-1].endswith("They touch 12 sectors in 3 cache lines: 384 bytes, and 128 of them are wanted.")
    assert len(said) == LANES + 1


@pytest.mark.parametrize(("width", "offset"), [(8, 1), (16, 1), (16, 5), (16, 7)])
def test_a_misaligned_load_is_seen_to_be_refused_before_and_after_play(page, width, offset):
    told = set(evaluate(page, SAYS, {"width": width, "stride": 1, "offset": offset}))
    (words,) = told
    assert words.endswith(f"must begin at a multiple of {width}: the GPU stops the kernel and reports a misaligned address.")
    assert "Predict" not in words


def test_a_walk_through_b_is_told_by_threads_and_elements(page):
    said = evaluate(page, SAYS, {"width": 4, "walk": "down", "pad": 0})
    assert said[0] == ("Neighbouring lanes of a warp go down a column of B: lane 0 asks for B[0][0], lane 1 for B[1][0]. "
                       "How many sectors will the 32 lanes touch? Predict, then play.")
    assert said[20] == "Lane 19, thread (3, 1), asks for B[3][1]. It lies in sector 48, which was touched before: still 16 sectors."
    assert said[-1].endswith("They touch 16 sectors in 16 cache lines: 512 bytes, and 128 of them are wanted.")
    assert tile_load().states == {"walks": ["down", "along"], "padded": False}
    assert tile_load("along", pad=1).states == {"walks": ["down", "along"], "padded": True}


def test_only_a_reader_of_wider_loads_chooses_the_width():
    assert [one_request(stride=3).states, one_request(16).states, one_request(wide=True).states] == \
        [{"wide": False}, {"wide": True}, {"wide": True}]


INSIDE = """(m, {positions, screens}) => screens.flatMap(([width, text]) => positions.map(values => {
    const states = values.walk ? { walks: [values.walk] } : { wide: values.width !== 4 };
    const narrow = width < 700, scene = m.sceneOf(values), smooth = m.picture.numbers(values);
    const height = text > 20 ? (width > 1500 ? 800 : 420) : m.picture.height(width, text, narrow, states);
    const view = { width, height, text, narrow, scene, smooth, values }, where = m.layout(view), { memory } = where;
    const last = m.byteBox(where, m.addressOf(values, scene.bad ? 0 : 31), values.width);
    const pieces = [m.byteBox(where, 0, 1), last].every(b => b.x >= memory.x && b.x + b.w <= memory.x + memory.w + 0.01);
    const arrows = memory.y - where.lanes.y - where.lanes.h, inside = where.bottom <= height + 0.01 && memory.x + memory.w <= width;
    return { width, values, sector: 32 * memory.byte, row: memory.pitch, arrows, text: where.text,
        empty: height - where.bottom, ok: pieces && last.y + last.h <= memory.y + memory.rows * memory.pitch && inside };
}))"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"positions": POSITIONS + WALKED, "screens": SCREENS})
    assert [f for f in found if not f["ok"]] == []
    assert min(f["sector"] for f in found) > 12, "pixels of a sector"
    assert min(f["row"] for f in found) > 8.5, "pixels from one row to the next"
    assert min(f["arrows"] / f["text"] for f in found) > 2.5, "the arrows have somewhere to go"
    assert min(f["text"] for f in found if f["width"] == 1864) >= 28
    lesson = [f for f in found if f["width"] in (984, 1280, 1900)]
    assert max(f["empty"] for f in lesson) < 45, "no blank band below the picture, in pixels"
    assert max(f["empty"] for f in lesson if f["values"].get("width") == 4) < 8, "least of all in the first one"


ROWS = """(m, positions) => positions.map(values => {
    const smooth = m.picture.numbers(values), scene = m.sceneOf(values), ldb = 4 * (128 + values.pad);
    const where = m.layout({ width: 940, height: 340, text: 14, narrow: false, scene, smooth, values });
    const starts = [...Array(16).keys()].map(row => m.byteBox(where, row * ldb, 4).x);
    const lanes = [...Array(32).keys()].map(lane => {
        const address = m.addressOf(values, lane), box = m.byteBox(where, address, 4);
        const index = Math.floor(address / 32), right = box.x + box.w;
        const around = m.piecesOf(where, 32).filter(piece => piece.index === index && Math.abs(piece.box.y - box.y) < 0.01).map(p => p.box);
        return { w: box.w, ok: around.length === 1 && around[0].x <= box.x + 0.01 && right <= around[0].x + around[0].w + 0.01 };
    });
    return { values, starts, lanes, inside: starts[0] >= where.memory.x };
})"""


def test_every_row_of_b_begins_at_one_place_and_each_float_lies_in_its_sector(page):
    for found in evaluate(page, ROWS, WALKED):
        assert max(found["starts"]) - min(found["starts"]) < 0.01, found["values"]
        assert found["inside"]
        assert all(lane["ok"] for lane in found["lanes"]), found["values"]
        assert min(lane["w"] for lane in found["lanes"]) > 12, "pixels of a float: to be seen under the arrows"


def test_on_a_laptop_controls_and_picture_fit_into_600_pixels(page):
    around = 130                         # the words, the player, and two rows of controls, in pixels, seen in Chromium
    for states in ({"wide": False}, {"wide": True}, {"walks": WALKS}):
        asked = {"states": states, "widths": [984, 1090, 1280, 1900]}
        heights = evaluate(page, "(m, {states, widths}) => widths.map(width => m.picture.height(width, 14, false, states))", asked)
        assert max(heights) + around <= 600


def test_without_a_widget_the_answer_is_not_told():
    text = one_request(stride=3).static_text()
    assert "Run this cell" in text
    assert not any(number in text for number in ("12", "384", "128"))
