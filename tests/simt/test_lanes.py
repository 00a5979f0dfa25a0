"""Instructions between lanes and their masks: who must be named, who is waited for, and whose value may be read."""

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import simt

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}]
EXCHANGES = {
    "__shfl_sync": "__shfl_sync(m, i, 0)", "__shfl_up_sync": "__shfl_up_sync(m, i, 1)", "__shfl_down_sync": "__shfl_down_sync(m, i, 1)",
    "__shfl_xor_sync": "__shfl_xor_sync(m, i, 1)", "__ballot_sync": "__ballot_sync(m, i & 1)", "__any_sync": "__any_sync(m, i == 3)",
    "__all_sync": "__all_sync(m, i < 99)", "__uni_sync": "__uni_sync(m, i < 5)", "__match_any_sync": "__match_any_sync(m, i / 4)",
    "__match_all_sync": "__match_all_sync(m, i, &p)", "__reduce_add_sync": "__reduce_add_sync(m, i)",
    "__reduce_min_sync": "__reduce_min_sync(m, i)", "__reduce_xor_sync": "__reduce_xor_sync(m, i)",
}


def kernel(body):
    return ('extern "C" __global__ void f(int* out, unsigned m) {\n const int i = threadIdx.x, lane = i % 32; int p = 0, v = i;\n'
            f"{body}\n out[i] = v + p;\n}}")


def run(body, mask=0xFFFFFFFF, block=32, **how):
    out = np.full(block, -1, INT)
    report = launch(kernel(body), [out, np.uint32(mask)], block=block, **how)
    return out.tolist(), report


# -- a mask without its own lane ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*EXCHANGES, "__syncwarp"])
@pytest.mark.parametrize("mask", [0xFFFFFFDF, 0, 1, 0x7FFFFFFF])
def test_a_mask_names_the_lane_that_executes_it(name, mask):
    call = f"v = {EXCHANGES[name]};" if name in EXCHANGES else "__syncwarp(m);"
    missing = next(lane for lane in range(32) if not mask >> lane & 1)
    for how in WAYS:
        error = fault(simt.InvalidMask, kernel(call), [np.zeros(64, INT), np.uint32(mask)], block=64, **how)
        assert (error.kernel, error.line, error.block, error.thread[0] % 32, error.mask) == ("f", 3, (0, 0, 0), missing, mask)
        assert name + " with the mask" in str(error)
        assert "its own lane" in str(error)


@pytest.mark.parametrize("body", ["if (lane >= 16) v = __shfl_down_sync(0xffff, v, 1);", "v = __ballot_sync(0xfffffffe, 1);",
                                  "v = __reduce_add_sync(0x7fffffff, v);", "v = __ballot_sync(i & 1 ? ~0u : 0x55555554u, 1);"])
def test_literal_masks_too(body):
    error = fault(simt.InvalidMask, kernel(body), [np.zeros(32, INT), np.uint32(0)])
    assert error.line == 3


def test_a_lane_whose_predicate_is_false_needs_no_place_in_the_mask():
    body = 'asm("{ .reg .pred q; setp.lt.s32 q, %1, 8; @q vote.sync.ballot.b32 %0, q, 0xff; }" : "+r"(v) : "r"(i));'
    assert run(body)[0] == [255] * 8 + list(range(8, 32))


# -- lanes that have ended or do not exist ------------------------------------------------------------------------------
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lanes_that_have_ended_or_do_not_exist_count_as_arrived(how):
    body = """if (lane == 3) return;
        v = __ballot_sync(0xffffffff, 1); __syncwarp(); p = __reduce_add_sync(0xffffffff, 1) + __all_sync(~0u, 1);"""
    out, report = run(body, block=48, **how)
    here = [0xFFFFFFF7 - 2**32, 0xFFF7]
    assert out == [-1 if i % 32 == 3 else here[i // 32] + 1 + (31, 15)[i // 32] for i in range(48)]
    assert not report.stray_shuffles


def test_a_shuffle_from_a_lane_that_does_not_exist_is_found():
    body = "for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);"
    _, report = run(body, block=48)
    found, = report.stray_shuffles
    assert (found.line, found.thread, found.block, found.lane, found.mask, found.why) == \
        (3, (32, 0, 0), (0, 0, 0), 16, 0xFFFFFFFF, "does not exist")
    assert found.count == sum(min(d, 16) for d in (16, 8, 4, 2, 1))
    assert str(found).startswith("line 3: the shuffle of thread (32, 0, 0), block (0, 0, 0), reads lane 16, which does not exist (31")
    assert not run(body, block=64)[1].stray_shuffles
    error = fault(simt.InactiveLane, kernel(body), [np.zeros(48, INT), np.uint32(0)], block=48, strict_shuffles=True)
    assert (error.line, error.thread, error.lane, error.mask) == (3, (32, 0, 0), 16, 0xFFFFFFFF)
    assert "does not exist" in str(error)


@pytest.mark.parametrize(("body", "why"), [
    ("if (lane > 20) return; v = __shfl_sync(~0u, v, 25);", "has ended"),
    ("if (lane < 8) v = __shfl_sync(0xff, v, 9);", "is not in the mask 0x000000ff"),
    ("v = __shfl_xor_sync(lane < 16 ? 0xffffu : 0xffff0000u, v, 16);", "is not in the mask 0x0000ffff"),
    ("if (lane < 30) v = __shfl_down_sync(0x3fffffff, v, 1, 8);", "is not in the mask 0x3fffffff")])
def test_other_lanes_that_take_no_part(body, why):
    for how in WAYS:
        report = run(body, **how)[1]
        assert [s.why for s in report.stray_shuffles] == [why]
        assert not report.hazards
        assert why in str(fault(simt.InactiveLane, kernel(body), [np.zeros(32, INT), np.uint32(0)], strict_shuffles=True, **how))


@pytest.mark.parametrize("body", [
    "v = __shfl_down_sync(0xffffffff, v, 8, 16);",                                # block of 48: the segment ends where the warp ends
    "for (int d = 1; d < 32; d *= 2) { int w = __shfl_up_sync(0xffffffff, v, d); if (lane >= d) v += w; }",
    "v = __shfl_xor_sync(0xffffffff, v, 15);", "v = __shfl_sync(0xffffffff, v, 20, 16);", "v = __shfl_sync(__activemask(), v, 0);"])
def test_a_lane_out_of_the_segment_is_not_read(body):
    out, report = run(body, block=48, strict_shuffles=True)
    assert not report.stray_shuffles
    assert out[32:] != list(range(32, 48)) or "20, 16" in body


# -- lanes that come later ----------------------------------------------------------------------------------------------
@pytest.mark.sampled(test=16)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("name", EXCHANGES)
def test_lanes_of_two_branches_wait_for_each_other(name, how):
    """The PTX manual asks for the same qualifiers and mask, not for the same place in the text."""
    call = EXCHANGES[name]
    apart = f"if (lane % 4 == 1) {{ v = v * 2 - i; v = {call}; v += 1000; }} else {{ v += 0; v = {call}; v += 2000; }}"
    together = f"v = {call}; v += lane % 4 == 1 ? 1000 : 2000;"
    assert run(apart, block=64, **how)[0] == run(together, block=64, **how)[0]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lanes_that_come_late_to_one_instruction(how):
    """The same instruction in a loop that some lanes begin a turn later."""
    body = """#pragma unroll 1
        for (int k = lane & 1; k < 4; ++k) { p += 1; asm volatile("" ::: "memory"); if (k || !(lane & 1)) v += __shfl_xor_sync(m, v, 1); }
        if (lane & 1) v += __shfl_xor_sync(m, v, 1);"""
    v = np.arange(32)
    for _ in range(4):
        v = v + v[np.arange(32) ^ 1]
    assert run(body, **how)[0] == (v + 4 - np.arange(32) % 2).tolist()


def test_lanes_with_masks_of_their_own_do_not_wait_for_the_others():
    body = """if (lane < 10) { for (int d = 8; d; d /= 2) v += __shfl_xor_sync(0x3ff, v, d & 1); v = __ballot_sync(0x3ff, lane & 1); }
        else if (lane < 20) v = __ballot_sync(0xffc00, lane & 1); else { v = __reduce_add_sync(0xfff00000, lane); }"""
    out, _ = run(body)
    assert out == [0x2AA] * 10 + [0xAA800] * 10 + [sum(range(20, 32))] * 12


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_lanes_that_end_set_the_others_free(how):
    body = """if (lane >= 16) { out[i] = 5; return; }
        v = __reduce_add_sync(0xffffffff, lane);"""
    assert run(body, block=64, **how)[0] == ([sum(range(16))] * 16 + [5] * 16) * 2
    late = "if (lane < 16) { v = __reduce_add_sync(0xffffffff, lane); v *= 2; }"       # the others end behind the branch
    assert run(late, block=64, **how)[0] == [*[240] * 16, *range(16, 32), *[240] * 16, *range(48, 64)]
    shuffled = "if (lane < 16) v = __shfl_down_sync(0xffffffff, v, 8);"
    assert [(s.line, s.lane, s.why, s.count) for s in run(shuffled, **how)[1].stray_shuffles] == [(3, 16, "has ended", 8)]


@pytest.mark.parametrize(("body", "line", "other"), [
    ("if (lane < 16)\n v = __shfl_down_sync(~0u, v, 1);\n __syncthreads();", 4, 5),
    ("if (lane < 16)\n v = __ballot_sync(~0u, 1);\n else\n v = __any_sync(~0u, 1);", 4, 6),
    ("if (lane < 16)\n v = __shfl_down_sync(~0u, v, 1);\n else\n v = __shfl_up_sync(~0u, v, 1);", 4, 6),
    ("if (lane < 16)\n v = __shfl_down_sync(~0u, v, 1);\n else\n __syncwarp();", 4, 6),
    ("if (lane < 16)\n v = __match_any_sync(~0u, v);\n else\n v = __match_any_sync(0xffff0003, v);", 4, 6),
    ("v = __ballot_sync(lane == 0 ? 3 : lane == 1 ? 7 : 1 << lane, 1);", 3, 3)])
def test_lanes_that_never_come(body, line, other):
    for how in WAYS:
        error = fault(simt.DivergentBarrier, kernel(body), [np.zeros(32, INT), np.uint32(0)], **how)
        assert {error.line, error.other_line} == {line, other}
        assert error.thread[0] in (0, 16)
        assert "with the mask" in str(error)
        assert "wait elsewhere" in str(error)


def test_a_guarded_exchange_lets_the_other_lanes_go_on():
    body = """asm volatile("{ .reg .pred q; setp.lt.s32 q, %1, 8; @q shfl.sync.down.b32 %0, %0, 1, 31, -1; add.s32 %0, %0, 100; }"
        : "+r"(v) : "r"(lane));"""
    out, report = run(body)
    assert out[:7] + out[8:] == [*range(101, 108), *range(108, 132)]
    assert [(s.lane, s.why) for s in report.stray_shuffles] == [(8, "has ended")]


def test_every_thread_of_a_grid_is_numbered_in_its_block():
    source = 'extern "C" __global__ void f(int* out) {\n int i = threadIdx.x + 6 * threadIdx.y;\n out[i] = __shfl_down_sync(~0u, i, 4);\n}'
    out = np.zeros(36, INT)
    report = launch(source, [out], grid=(1, 2), block=(6, 6))
    assert [(s.thread, s.block, s.lane, s.why, s.count) for s in report.stray_shuffles] == [((2, 5, 0), (0, 0, 0), 4, "does not exist", 8)]
