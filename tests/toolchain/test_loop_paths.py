"""The shortest way through a step along K: held to bodies by hand, and to the instructions that Nsight Compute counted."""

import pytest
from test_step_along_k import body

from course_lib.data import readings
from course_lib.kernels import get
from course_lib.run import run
from course_lib.toolchain import LoopPath, shortest_path, whole_step
from course_lib.toolchain.loop_paths import shortest_in
from course_lib.toolchain.loops import graph, loops
from course_lib.widgets.compute import inputs

GUARDED = ("MOV R0, RZ", "@P0 BRA 0x60", "LDG.E R1, desc[UR8][R4.64]", "LDG.E R2, desc[UR8][R6.64]", "MOV R3, RZ", "BRA 0x80",
           "LDG.E.128 R4, desc[UR8][R4.64]", "MOV R9, RZ", "FFMA R0, R1, R2, R0", "@P1 BRA 0x0", "EXIT")


def only_loop(code):
    loop, = loops(code)
    return loop


@pytest.mark.parametrize(("loads", "way"), [(1, LoopPath(1, 1, 6)), (2, LoopPath(1, 2, 8)), (0, LoopPath(1, 1, 6)), (9, LoopPath(1, 2, 8))])
def test_of_two_sides_the_one_that_loads_what_was_counted(loads, way):
    """Left 2 loads, MOV and BRA, right 1 load and MOV; around them MOV, BRA, FFMA, BRA: 8 and 6."""
    code = body(*GUARDED)
    assert shortest_in(graph(code), only_loop(code), "FFMA", loads) == way


def test_a_side_that_leaves_out_multiply_adds_is_no_way():
    code = body("@P0 BRA 0x20", "FFMA R0, R1, R2, R0", "MOV R3, RZ", "@P1 BRA 0x0", "EXIT")
    assert shortest_in(graph(code), only_loop(code), "FFMA", 0) == LoopPath(1, 0, 4)


def test_a_loop_inside_is_taken_as_often_as_it_turns():
    """Five turns of three instructions, and five around them; the loop that loads is passed once."""
    code = body("MOV R8, RZ", "LDG.E R9, desc[UR8][R4.64]", "@P2 BRA 0x10", "MOV R0, RZ", "FFMA R0, R1, R2, R0", "VIADD R1, R1, 0x4",
                "@P0 BRA 0x40", "@P1 BRA 0x0", "EXIT")
    flow = graph(code)
    outer, loading, inner = loops(code)
    assert loading.counts["LDG"] == 1
    turn = shortest_in(flow, inner, "FFMA", 0)
    assert turn == LoopPath(1, 0, 3)
    assert shortest_in(flow, outer, "FFMA", 1, (inner, turn, 5)) == LoopPath(5, 1, 5 * 3 + 5)


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize("written", [1, 2, 4, 8, 16])
def test_where_nothing_branches_it_is_the_whole_step(written):
    way, step = shortest_path("sgemm_unrolled", 2 / 16, UNROLL=written), whole_step("sgemm_unrolled", UNROLL=written)
    assert (way.multiply_adds, way.loads, way.instructions) == (16, 2, step.counts["instructions"])


@pytest.mark.sampled(test=2, slow=2)
@pytest.mark.parametrize(("name", "least"), [
    ("sgemm_naive", 0.98), ("sgemm_tiled", 0.98), ("sgemm_2d_tile", 0.98), ("sgemm_vectorized", 0.98), ("sgemm_double_buffered", 0.98),
    ("dgemm_outputs", 0.95), ("sgemm_dots", 0.9)])
def test_no_more_than_nsight_compute_counts(name, least):
    """Guards with two sides, loops that load, a loop in two copies, 32 loops of one multiply-add: at N = 1024, most of ncu's count."""
    row, = readings("traffic").find(kernel=name, N=1024)
    A, B, _ = inputs(256, 256, 256)
    result = run(name, A.astype(get(name).dtype), B.astype(get(name).dtype))
    counted = row["instructions"] / (1024**3 / 32)
    assert least <= shortest_path(name, 32 * result.count("requests") / 256**3).per_multiply_add / counted <= 1.003
