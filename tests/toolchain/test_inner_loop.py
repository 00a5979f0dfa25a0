"""What stands in the innermost loops: held to what each kernel must load for its multiply-adds, whatever the compiler does."""

import dataclasses
from collections import Counter

import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.model.gt200 import METHODS
from course_lib.toolchain import Loop, SassInstruction, inner_loop, loops
from course_lib.toolchain.inner_loop import InnerLoop

# kernel: outputs of a thread, words read from shared memory for one k (tiles of A and B in shared memory)
TILES = {"sgemm_tiled": (1, 2), "sgemm_coalesced": (1, 2), "sgemm_padded": (1, 2), "sgemm_unrolled": (1, 2), "sgemm_2d_tile": (64, 16),
         "sgemm_vectorized": (64, 16), "sgemm_warp_tile": (64, 16), "sgemm_double_buffered": (64, 16), "sgemm_outputs": (16, 8),
         "dgemm_outputs": (16, 16), "dgemm_ilp": (4, 10)}


def words_by_hand(found):
    """Return the words that the loads from shared memory bring, by width."""
    counts = found.loop.counts
    return counts["LDS.32"] + 2 * counts["LDS.64"] + 4 * counts["LDS.128"]


@pytest.mark.sampled(test=1, slow=4)
@pytest.mark.parametrize("name", TILES)
def test_tiles_of_a_and_b_in_shared_memory(name):
    found = inner_loop(name)
    outputs, words = TILES[name]
    steps = found.multiply_adds // outputs           # of k, written out
    assert found.multiply_adds == outputs * steps
    assert found.shared_words == words_by_hand(found) == words * steps
    assert found.factors_from("LDS") == 2 * found.multiply_adds
    assert found.factors_from("LDG") == 0
    assert found.other >= 3                           # count up, compare, jump back
    assert found.loop.counts["instructions"] == found.other + sum(found.loop.counts[n] for n in (found.fma, "LDS", "LDG", "STS", "STG"))


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", ["sgemm_volkov", "sgemm_method1", "sgemm_method2", "sgemm_method4", "sgemm_method5_v3", "sgemm_method8"])
def test_rank_1_updates(name):
    found = inner_loop(name)
    p = found.parameters
    assert found.multiply_adds == p["BK"] * p["COLS"] * p["VECTORS"]
    assert found.factors_from("LDS") == found.factors_from("LDG") == found.multiply_adds
    assert p["BK"] * p["COLS"] <= words_by_hand(found) <= p["BK"] * (p["COLS"] + 1)      # at most the padding besides
    text = get(name).source.splitlines()
    of_a = [i for i in found.loop.instructions if i.base == "LDG" and "*a[v]" in text[i.line - 1]]
    assert len(of_a) == p["BK"] * p["VECTORS"]


def test_today_needs_fewer_instructions_than_the_variant_that_moves():
    for name, kernel in (("volkov_variant", "sgemm_volkov"), ("method 1", "sgemm_method1"), ("method 4", "sgemm_method4")):
        assert inner_loop(kernel).per_multiply_add("LDS") < METHODS[name].operations()["shared to register"] / 3


def test_no_multiply_add_reads_memory():
    for name in ("sgemm_naive", "sgemm_volkov", "sgemm_tiled"):
        found = inner_loop(name)
        assert not [i for i in found.loop.instructions if i.base == "FFMA" and any("[" in o for o in i.operands)]


def test_the_naive_kernel_reads_everything_from_global_memory():
    found = inner_loop("sgemm_naive")
    assert found.loop.counts["LDG"] == found.factors_from("LDG") == 2 * found.multiply_adds
    assert found.shared_words == found.factors_from("LDS") == 0


def test_parameters_reach_the_compiler():
    assert inner_loop("sgemm_volkov", COLS=8, VECTORS=2).multiply_adds == 16 * 8 * 2
    assert inner_loop("sgemm_unrolled", UNROLL=4).multiply_adds == 4


NESTED = """extern "C" __global__ void sgemm_naive(int n, const float* x, float* y) {
    float a = 0, b = 0, c = 0;
    #pragma unroll 1
    for (int i = 0; i < n; ++i) {
        a = a * x[i] + b; b = b * x[i] + c; c = c * x[i] + a;
        #pragma unroll 1
        for (int j = 0; j < n; ++j) c = c * x[j] + 1.0f;
    }
    *y = a + b + c;
}"""


def test_an_inner_loop_is_taken_though_the_outer_one_has_more_multiply_adds(tmp_path):
    path = tmp_path / "nested.cu"
    path.write_text(NESTED, encoding="utf-8")
    found = inner_loop(dataclasses.replace(get("sgemm_naive"), path=path))
    assert (found.multiply_adds, found.loop.depth, found.loop.counts["LDG"]) == (1, 2, 1)


def by_hand(*texts):
    """Return the InnerLoop of a body, one instruction each 16 bytes."""
    words = [text.replace(",", "").split() for text in texts]
    code = [SassInstruction(16 * n, None, op, tuple(rest), None) for n, (op, *rest) in enumerate(words)]
    loop, = loops(code)
    return InnerLoop("by hand", {}, "sm_90", (13, 5), "FFMA", loop)


def test_factors_by_hand():
    wide = by_hand("LDS.128 R4 [R20]", "LDG.E R8 [R22]", "FFMA R0 R7.reuse R8 R0", "FFMA R1 -R8 R9 R1", "FFMA R2 R3 RZ R4", "BRA 0x0")
    assert (wide.multiply_adds, wide.factors_from("LDS"), wide.factors_from("LDG"), wide.jumps) == (3, 1, 2, 0)
    replaced = by_hand("LDS R4 [R20]", "FADD R4 R4 R4", "FFMA R0 R4 R9 R0", "LDS R9 [R21]", "BRA 0x0")
    assert (replaced.factors_from("LDS"), replaced.factors_from("FADD")) == (1, 1)       # R9 is from the turn before
    stored = by_hand("LDS R4 [R20]", "STS R4 [R20]", "FFMA R0 R4 R4 R0", "BRA 0x0")
    assert stored.factors_from("LDS") == 2


def test_a_kernel_without_such_a_loop():
    with pytest.raises(CourseError, match="transpose has no loop of multiply-adds"):
        inner_loop("transpose")
    with pytest.raises(CourseError, match="there is no kernel"):
        inner_loop("sgemm_volkow")


def test_the_table():
    table = plots.inner_loops("sgemm_volkov", "sgemm_naive")
    rows = [dict(zip(table.header, row)) for row in table.rows]
    assert [row["factors from shared"] for row in rows] == ["1", "0"]
    assert [row["LDG / multiply-add"] for row in rows][1] == "2.0000"
    assert "NVRTC" in table.caption
    assert isinstance(inner_loop("sgemm_naive").loop, Loop)
    assert isinstance(inner_loop("sgemm_naive").loop.counts, Counter)


@pytest.mark.exhaustive
def test_the_page_is_what_the_tool_writes():
    from tools.page import machine_code
    text = machine_code.PAGE.read_text(encoding="utf-8")
    assert machine_code.page(text, "2000-01-01") == text, "docs/machine-code.md is not up to date: python -m tools page machine-code"
