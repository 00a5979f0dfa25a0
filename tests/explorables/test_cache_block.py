"""Lesson 02's explorable: every fetched line, at every multiply-add and position of the controls, is the course's own counter's."""

import numpy as np
import pytest
from javascript import evaluate

from course_lib.explorables import cache_blocks
from course_lib.explorables.cache_block import BLOCK, FLOAT, LINE, N
from course_lib.model.cache_lines import CacheShape, LineCounter, blocked_accesses, blocked_steps, loop_steps
from course_lib.run import count_lines
from course_lib.widgets.compute import inputs

PICTURE = cache_blocks
STATES = dict(cache_blocks().states)
BLOCKS, CACHES = (4, 8, BLOCK, N), (1024, 2048, 4096, 8192)      # N: without blocks
WIDTHS = ((360, 12), (390, 12), (700, 14), (768, 14), (984, 14), (1280, 14), (1900, 14), (1864, 28), (1224, 28))
SHAPES = [(N, N, N)] * 3


def counted(block, cache):
    """Return (multiply-add, line) of every fetch, as the course's own counter sees them one by one."""
    counter = LineCounter(SHAPES, FLOAT, CacheShape(cache), room=3 * N**3)
    for access in blocked_accesses(N, N, N, block, block, block):
        counter.touch(*access)
    trace = np.array(counter.finish().trace)
    return [(n // 3, line) for n, (*_, line, fetched, _gone) in enumerate(trace.tolist()) if fetched], trace


FETCHES = """(m, {states, positions}) => positions.map(([block, cache]) => {
    const run = m.fetches(states, block, cache / states.bytesPerLine);
    return run.when.map((n, e) => [n, run.line[e]]);
})"""


@pytest.mark.sampled(test=1, slow=2)
@pytest.mark.parametrize("block", BLOCKS)
def test_every_fetch_is_the_counters(page, block):
    positions = [(block, cache) for cache in CACHES]
    for (_, cache), found in zip(positions, evaluate(page, FETCHES, {"states": STATES, "positions": positions}), strict=True):
        expected, _ = counted(block, cache)
        assert [tuple(fetch) for fetch in found] == expected, (block, cache)


CACHE = """(m, {states, block, cache, moments}) => { const run = m.fetches(states, block, cache / states.bytesPerLine);
    return moments.map(n => m.cacheBefore(run, n).map(found => found.line)); }"""


@pytest.mark.slow
@pytest.mark.parametrize(("block", "cache"), [(16, 2048), (8, 1024), (N, 2048), (4, 8192)])
def test_the_cache_holds_at_every_moment_what_the_counters_does(page, block, cache):
    moments = [*range(0, 200), *range(200, N**3 + 1, 511), N**3]
    found = evaluate(page, CACHE, {"states": STATES, "block": block, "cache": cache, "moments": moments})
    _, trace = counted(block, cache)
    held, at = set(), 0
    for moment, lines in zip(moments, found, strict=True):
        for _, _, _, line, fetched, gone in trace[3 * at:3 * moment].tolist():
            held = held - {gone} | {line} if fetched else held
        at = moment
        assert len(lines) == len(set(lines)) <= cache // LINE
        assert set(lines) == held, moment


INDICES = """(m, {N, blocks}) => blocks.map(b => [...Array(N ** 3).keys()].map(n => {
    const { i, j, k } = m.indices(N, b, n); return [i, j, k]; }))"""


def test_the_multiply_adds_come_in_the_order_of_the_programs(page):
    for block, found in zip(BLOCKS, evaluate(page, INDICES, {"N": N, "blocks": BLOCKS}), strict=True):
        assert found == np.stack(blocked_steps(N, N, N, block, block, block), axis=1).tolist()
    assert found == np.stack(loop_steps("ikj", N, N, N), axis=1).tolist(), "one block of all rows and columns is ikj"


TOTALS = """(m, {states, caches}) => caches.map(cache => {
    const scene = m.sceneOf({ cache }, states);
    return { blocks: scene.all.blocks, rows: scene.all.rows, answer: scene.answer, steps: scene.steps }; })"""


@pytest.mark.slow
def test_the_totals_are_those_of_the_real_programs(page):
    A, B, _ = inputs(N, N, N)
    for size, found in zip(CACHES, evaluate(page, TOTALS, {"states": STATES, "caches": CACHES}), strict=True):
        cache = CacheShape(size)
        blocked = count_lines("gemm_blocked", A, B, cache=cache, BI=BLOCK, BJ=BLOCK, BK=BLOCK)
        ikj = count_lines("gemm_ikj", A, B, cache=cache)
        assert found["blocks"] == blocked.fetched | {"all": blocked.total}
        assert found["rows"] == ikj.fetched | {"all": ikj.total}
        assert found["answer"] == blocked.fetched["B"]
        assert found["steps"] == N


SAYS = """(m, {states, values}) => { const scene = m.sceneOf(values, states);
    return [...Array(scene.steps + 1).keys()].map(step => m.says({ scene, values }, step)); }"""


def test_the_words_ask_first_and_answer_last(page):
    said = evaluate(page, SAYS, {"states": STATES, "values": {"cache": 2048}})
    assert said[0].endswith("Predict, then play.")
    assert said[0].startswith("Both sides multiply 32 × 32 matrices. The cache holds 32 lines")
    assert "The left side will fetch 2,048 lines of B. How many will the right side fetch?" in said[0]
    assert not any(number in said[0] for number in ("128", "16 times", "2,176", "384")), "the question gives nothing away"
    assert said[1].startswith("After 1,024 of 32,768 multiply-adds. Lines fetched without blocks: 2 of A, 64 of B, 2 of C.")
    assert "Lines of B: 2,048 without blocks, 128 in blocks of 16 × 16, 16 times fewer." in said[-1]
    assert said[-1].endswith("All three matrices together: 2,176 and 384.")
    assert "2,048 without blocks, 2,048 in blocks of 16 × 16, the same number" in evaluate(
        page, SAYS, {"states": STATES, "values": {"cache": 1024}})[-1]


PACE = """(m, states) => [false, true].map(quick => {
    const scene = m.sceneOf({ cache: 1024 }, { ...states, quick });
    return [...Array(scene.steps).keys()].reduce((sum, step) => sum + scene.seconds(step), 0); })"""


def test_the_second_picture_plays_to_its_end_in_seconds(page):
    slow, quick = evaluate(page, PACE, STATES)
    assert slow > 25
    assert quick < 10
    assert cache_blocks(1024, quick=True).states["quick"]


def test_more_is_said_to_be_more(page):
    assert evaluate(page, "(m, ratios) => ratios.map(m.compared)", [16, 1, 0.25, 17 / 3]) == [
        "16 times fewer", "the same number", "4 times more", "5.67 times fewer"]


INSIDE = """(m, {states, widths}) => widths.flatMap(([width, text]) => {
    const narrow = width < 700, scene = m.sceneOf({ cache: 4096 }, states);
    const height = text > 20 ? (width > 1500 ? 880 : 450) : m.picture.height(width, text, narrow);
    return Object.values(m.layout({ width, height, text, narrow, scene })).map(p => {
        const slots = m.slots(p, scene.capacity, Math.min(text, (narrow ? 2 : 1) * width / 62, height / (narrow ? 56 : 28)));
        return { width, cell: p.A.cell, slot: slots[0].h, ok: p.x >= 0 && p.C.x + states.N * p.C.cell <= width && p.high <= height
            && slots.every(s => s.y + s.h <= p.corner.y + p.corner.h + 1) };
    });
})"""


def test_nothing_leaves_the_picture_and_nothing_is_tiny_at_any_width(page):
    found = evaluate(page, INSIDE, {"states": STATES, "widths": WIDTHS})
    assert [box for box in found if not box["ok"]] == []
    assert min(box["cell"] for box in found) > 3.5, "pixels of an element"
    assert min(box["slot"] for box in found) > 2.5, "pixels of a slot of the cache"


def test_without_a_widget_the_answer_is_not_told():
    text = cache_blocks().static_text()
    assert "Run this cell" in text
    assert not any(number in text for number in ("2,048", "128", "16", "384"))
