"""Lesson 06's explorable: what it shows at every position of its controls is what the simulator counts and traces."""

import numpy as np
import pytest
from javascript import evaluate

from course_lib import toolchain
from course_lib.arch import BANKS
from course_lib.explorables import banks
from course_lib.explorables.banks import ARRAYS, key_of, positions, states, traced
from course_lib.model.banks import shared_wavefronts
from course_lib.plots import requests
from course_lib.run import counter_name

PICTURE = banks
POSITIONS = positions()
WIDTHS = (360, 390, 768, 1100, 1280, 1920)


def of(position):
    return states()[key_of(*position)]


def wavefronts(access):
    return max(word[3] for word in access["words"])


def counted(result, line, what, kind):
    """Return a line's counter per warp of the block."""
    return result.lines[line].get(counter_name(what, kind), 0) * 32 // (result.block[0] * result.block[1])


def beside(result, tile):
    """Return what the line's loads from As take per warp, (instructions, wavefronts): nothing but for the product."""
    if not result.kernel.name.startswith("sgemm"):
        return 0, 0
    first = requests(result, array="As", load=True, space="shared")[0]
    return tile // 4, tile // 4 * shared_wavefronts(first.addresses, 16)


@pytest.mark.slow
def test_the_controls_reach_every_padding_of_two_tiles_in_three_kernels():
    assert len(POSITIONS) == len(states()) == 9 * 2 * 2 + 2
    assert {kernel for kernel, _, _ in POSITIONS} == {"transpose", "transpose_swizzled", "sgemm_padded"}


@pytest.mark.slow
@pytest.mark.parametrize("position", POSITIONS, ids=str)
def test_the_wavefronts_are_those_that_the_simulator_counts(position):
    result = traced(*position, warps=(0,))
    for kind in ("load", "store"):
        access = of(position)["accesses"][kind]
        instructions, fronts = beside(result, position[1]) if kind == "load" else (0, 0)
        mine = counted(result, access["line"], "shared instructions", kind) - instructions
        assert mine > 0
        assert counted(result, access["line"], "wavefronts", kind) - fronts == mine * wavefronts(access)


def sass_width(position):
    """Return the bytes per lane of the narrowest load of shared memory that the machine code has for the line."""
    result = traced(*position, warps=(0,))
    compiled = toolchain.compile_cuda(result.kernel.source, name=result.kernel.file_name, arch="sm_90",
                                      defines=result.kernel.defines(**result.parameters))
    line = of(position)["accesses"]["load"]["line"]
    opcodes = {i.opcode for i in toolchain.sass(compiled, result.kernel.entry) if i.line == line and i.opcode.startswith("LDS")}
    return min({"LDS": 4, "LDS.64": 8, "LDS.128": 16}[opcode] for opcode in opcodes)


@pytest.mark.slow
@pytest.mark.parametrize("position", [("sgemm_padded", tile, pad) for tile in (16, 32) for pad in (0, 1, 2, 6, 8)], ids=str)
def test_an_access_is_as_wide_as_the_machines_instruction(position):
    assert of(position)["accesses"]["load"]["width"] == sass_width(position)


def stored(position):
    """Return [row, column, word] of every element of the tile, from a trace of all warps: what each lane fetched, and where it put it.

    `transpose` keeps in[i][j] in tile[i][j]; the product keeps B[k][col] in Bs[col][k].
    """
    kernel, tile, _ = position
    warps = tuple(range(tile * tile // 32)) if kernel.startswith("sgemm") else tuple(range(tile * 8 // 32))
    result = traced(*position, warps=warps)
    source = next(a for a in result.arrays if a.name == ("B" if kernel.startswith("sgemm") else "in"))
    fetched = {}
    for warp in warps:
        stores = requests(result, array=ARRAYS[kernel], load=False, space="shared", warp=warp)
        loads = requests(result, array=source.name, load=True, warp=warp)
        for load, store in zip(loads, stores, strict=True):
            elements = (np.asarray(load.addresses) - source.address) // 4
            fetched |= dict(zip(map(int, elements), (int(a) // 4 for a in store.addresses), strict=True))
    assert len(fetched) == tile * tile
    rows_columns = {e: divmod(e, tile)[::-1] if kernel.startswith("sgemm") else divmod(e, tile) for e in fetched}
    return [[*rows_columns[e], word] for e, word in fetched.items()]


@pytest.mark.slow
@pytest.mark.sampled(test=10, slow=28)
@pytest.mark.parametrize("position", POSITIONS, ids=str)
def test_the_page_puts_every_element_where_the_kernel_put_it(page, position):
    function = "(m, {state, cells}) => cells.filter(([row, column, word]) => m.wordAt(state, row, column) !== word)"
    assert evaluate(page, function, {"state": of(position), "cells": stored(position)}) == []
    words = [word for access in of(position)["accesses"].values() for word in access["words"]]
    where = {(row, column): word for row, column, word in stored(position)}
    assert all(where[row, column] == word for word, row, column, _, _ in words), "the access reaches the words of those elements"


SCENES = """(m, {states, values}) => values.map(v => {
    const scene = m.sceneOf(v, states);
    return { wavefronts: scene.wavefronts, steps: scene.steps, banks: scene.words.map(w => w.bank),
        says: m.answer({ scene }), asks: m.question({ scene }) };
})"""


def test_the_page_says_what_the_simulator_counts_at_every_position(page):
    every = [(position, kind) for position in POSITIONS for kind in ("load", "store")]
    values = [{"kernel": kernel, "tile": tile, "pad": pad or 0, "access": kind} for (kernel, tile, pad), kind in every]
    scenes = evaluate(page, SCENES, {"states": states(), "values": values})
    for (position, kind), scene in zip(every, scenes, strict=True):
        result, access = traced(*position, warps=(0,)), of(position)["accesses"][kind]
        instructions, _ = beside(result, position[1]) if kind == "load" else (0, 0)
        mine = counted(result, access["line"], "shared instructions", kind) - instructions
        conflicts = counted(result, access["line"], "conflicts", kind)
        assert scene["banks"] == [word[0] % BANKS for word in access["words"]]
        assert scene["says"].startswith(f"{scene['wavefronts']} wavefront")
        assert scene["steps"] == 1 + scene["wavefronts"] == 1 + wavefronts(access)
        least = scene["wavefronts"] - conflicts // mine
        free = "There is no bank conflict." if not conflicts else f"Without bank conflicts it would take {'one' if least == 1 else least}."
        assert scene["says"].endswith(free)
        different = len({word[0] for word in access["words"]})
        assert f" Its {different} words lie in {len(set(scene['banks']))} " in scene["says"]
        assert len(access["words"]) in (different, 2 * different)
        assert ("want each word, so it is served twice" in scene["says"]) == (len(access["words"]) > different)
        assert scene["asks"].startswith(f"In line {access['line']} of {position[0]}, the 32 lanes")
        assert not any(word in scene["asks"] for word in ("wavefront", "conflict", "bank")), "the question gives nothing away"


BOXES = """(m, {states, values, widths}) => widths.flatMap(([width, text]) => values.flatMap(v => {
    const scene = m.sceneOf(v, states), narrow = width < 700, height = m.picture.height(width, text, narrow);
    const where = m.layout({ width, height, text, narrow, scene }), found = [];
    const inside = b => b.x >= 0 && b.y >= 0 && b.w > 2 && b.h > 0.5 && b.x + b.w <= width && b.y + b.h <= height;
    for (let at = 0; at <= scene.steps; at += 0.25) for (const word of scene.words)
        for (const box of m.boxes(where, scene, word, at)) if (!inside(box)) found.push([width, at, word.word, box]);
    return found.slice(0, 1);
}))"""


def test_nothing_leaves_the_picture_at_any_width_and_moment(page):
    values = [{"kernel": kernel, "tile": tile, "pad": pad, "access": kind} for kernel in ARRAYS for tile in (16, 32) for pad in (0, 8)
              for kind in ("load", "store")]
    widths = [(width, 12 if width < 480 else 14) for width in WIDTHS]
    assert evaluate(page, BOXES, {"states": states(), "values": values, "widths": widths}) == []


def test_the_lines_beside_the_picture_are_the_kernels():
    lines = of(("sgemm_padded", 16, 1))["lines"]
    assert [line.get("value") for line in lines] == [None, "store", None, "load"]
    assert [line["mark"] for line in lines if "mark" in line] == ["Bs[tx][ty]", "Bs[tx][k]"]
    assert of(("transpose", 32, 0))["lines"][-1]["mark"] == "tile[tx][i]"
    assert of(("transpose_swizzled", 32, None))["lines"][-1]["mark"] == "tile[tx][i ^ tx]"
    assert of(("transpose", 32, 0))["lines"][-1]["text"] == "out[…] = tile[tx][i];", "short enough to be seen beside the other controls"
    for position in POSITIONS:
        assert all(len(line["text"]) < 52 for line in of(position)["lines"])


def test_a_word_is_called_what_c_calls_it(page):
    """By hand: tile[7][2] of tile[32][32] is word 7 · 32 + 2 = 226."""
    places = {key_of(*position): evaluate(page, "(m, state) => m.placeOf(state, 7, 5)", of(position))
              for position in (("transpose", 32, 0), ("transpose", 32, 1), ("transpose_swizzled", 32, None), ("sgemm_padded", 16, 1))}
    assert list(places.values()) == [
        "tile[7][5] is word 229 of tile: bank 5", "tile[7][5] is word 236 of tile: bank 12",
        "element (7, 5) is stored in tile[7][2], word 226 of tile: bank 2", "Bs[7][5] is word 124 of Bs: bank 28"]


def test_a_swizzled_column_is_no_column_of_the_array(page):
    values = [{"kernel": kernel, "tile": 32, "pad": 0, "access": "load"} for kernel in ("transpose", "transpose_swizzled")]
    asked = [scene["asks"] for scene in evaluate(page, SCENES, {"states": states(), "values": values})]
    assert [words.partition(" read ")[2] for words in asked] == ["column 5 of tile.", "column 5 of the matrix's tile."]


def test_below_a_column_its_words_are_numbered(page):
    """By hand: row r of column 5 is word 32 r + 5, and with a padding of one word 33 r + 5."""
    said = [evaluate(page, "(m, {states, v}) => m.captions(m.sceneOf(v, states), 'columns')[0]",
                     {"states": states(), "v": {"kernel": kernel, "tile": tile, "pad": pad, "access": "load"}})
            for kernel, tile, pad in (("transpose", 32, 0), ("transpose", 32, 1), ("sgemm_padded", 16, 1), ("sgemm_padded", 16, 0))]
    assert said == ["columns: words 5, 37, 69, …, 997", "columns: words 5, 38, 71, …, 1028", "columns: words 4, 21, 38, …, 259", "columns"]


GROUPS = """(m, {states, values}) => values.map(v => {
    const scene = m.sceneOf(v, states), groups = m.groupsOf(scene), view = { scene, values: v };
    return { groups, told: groups.map(({ from }) => m.picture.says(view, from + 1)) };
})"""


def test_a_load_of_four_words_is_served_in_four_groups_of_lanes_and_the_last_two_have_the_same_words(page):
    values = [{"kernel": "sgemm_padded", "tile": tile, "pad": pad, "access": "load"} for tile, pad in ((16, 0), (32, 0), (16, 2), (16, 1))]
    four, large, two, one = evaluate(page, GROUPS, {"states": states(), "values": values})
    assert [(g["first"], g["last"], g["from"], g["to"], g["again"]) for g in four["groups"]] == [
        (0, 7, 1, 4, False), (8, 15, 5, 8, False), (16, 23, 9, 12, True), (24, 31, 13, 16, True)]
    assert "to lanes 8 to 15." in four["told"][1]
    assert "to lanes 16 to 23, which an earlier group has had." in four["told"][2]
    assert not any(g["again"] for g in large["groups"]), "32 rows: no two lanes want the same words"
    assert [(g["first"], g["last"], g["again"]) for g in two["groups"]] == [(0, 15, False), (16, 31, True)]
    assert one["groups"] == []
    for position, scene in ((("sgemm_padded", 16, 0), four), (("sgemm_padded", 32, 0), large), (("sgemm_padded", 16, 2), two)):
        for word in of(position)["accesses"]["load"]["words"]:
            group, = (g for g in scene["groups"] if g["from"] <= word[3] <= g["to"])
            assert all(group["first"] <= lane <= group["last"] for lane in word[4]), "a wavefront serves lanes of one group"
