"""Trace records of chosen warps: the addresses that NumPy expects, for the right lanes, in order."""

import re

import numpy as np
import pytest
from launching import FLT, INT, fault, launch

from course_lib import kernels, simt

LANES = np.arange(32)


def mask_of(active):
    return sum(1 << lane for lane in range(32) if active[lane])


def check(record, base, offsets, active, width=4):
    """Compare a record's addresses with base + offsets on the active lanes, and -1 elsewhere."""
    assert record.addresses.shape == (32,)
    assert record.addresses.dtype == np.int64
    assert record.addresses.tolist() == np.where(active, base + offsets, -1).tolist()
    assert record.mask == mask_of(active)
    assert record.width == width


M, N, K = 19, 21, 9
BM, BN, BK = 8, 8, 4


def tiled(trace, **how):
    rng = np.random.default_rng(0)
    A, B, C = (rng.standard_normal(s).astype(FLT) for s in ((M, K), (K, N), (M, N)))
    source = kernels.get("sgemm_tiled").source
    args = [INT(M), INT(N), INT(K), FLT(1), A, INT(K), B, INT(N), FLT(1), C, INT(N)]
    grid = (-(-N // BN), -(-M // BM))
    return launch(source, args, name="sgemm_tiled", grid=grid, block=(BN, BM), defines={"BM": BM, "BN": BN, "BK": BK}, trace=trace, **how)


def expected_tiled(block, warp, bases):
    """Yield (operation, line text, base, offsets, active) for one warp of the tiled kernel; None for a barrier."""
    thread = warp * 32 + LANES
    tx, ty = thread % BN, thread // BN
    row, col = block[1] * BM + ty, block[0] * BN + tx
    every = np.ones(32, bool)
    for k0 in range(0, K, BK):
        yield "ld.global", bases["A"], 4 * (row * K + k0 + tx), (tx < BK) & (row < M) & (k0 + tx < K)
        yield "st.shared", bases["As"], 4 * (ty * BK + tx), tx < BK
        yield "ld.global", bases["B"], 4 * ((k0 + ty) * N + col), (ty < BK) & (k0 + ty < K) & (col < N)
        yield "st.shared", bases["Bs"], 4 * (ty * BN + tx), ty < BK
        yield "barrier", None, None, every
        for k in range(BK):
            yield "ld.shared", bases["As"], 4 * (ty * BK + k), every
            yield "ld.shared", bases["Bs"], 4 * (k * BN + tx), every
        yield "barrier", None, None, every
    yield "ld.global", bases["C"], 4 * (row * N + col), (row < M) & (col < N)
    yield "st.global", bases["C"], 4 * (row * N + col), (row < M) & (col < N)


def kind(record):
    return "barrier" if record.space is None else ".".join(record.operation.split(".")[:2])


@pytest.mark.parametrize(("block", "warp"), [((0, 0, 0), 0), ((1, 1, 0), 1), ((2, 2, 0), 0), ((2, 2, 0), 1)])
def test_every_access_of_the_tiled_kernel(block, warp):
    report = tiled([(block, warp)])
    bases = {a.name: a.address for a in report.arrays} | {v.name: v.offset for v in report.shared}
    expected = [e for e in expected_tiled(block, warp, bases) if e[-1].any()]
    assert {(r.block, r.warp) for r in report.trace} == {(block, warp)}
    assert sorted(map(kind, report.trace)) == sorted(e[0] for e in expected)
    parts, wanted = split(report.trace), split(expected, lambda e: e[0] == "barrier")
    assert len(parts) == len(wanted)
    for records, left in zip(parts, wanted):  # the compiler may reorder accesses between two barriers, but not across
        for record in records:
            at = next(i for i, e in enumerate(left) if e[0] == kind(record) and (np.where(e[3], e[1] + e[2], -1) == record.addresses).all())
            check(record, *left.pop(at)[1:])
        assert not left


def split(items, barrier=lambda r: r.space is None):
    """Cut a list at its barriers."""
    parts = [[]]
    for item in items:
        if barrier(item):
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


def test_barriers_are_events_of_the_whole_warp():
    report = tiled([(0, 1)])
    source = kernels.get("sgemm_tiled").source.splitlines()
    barriers = [r for r in report.trace if r.space is None]
    assert len(barriers) == 2 * -(-K // BK)
    for r in barriers:
        assert r.operation.startswith(("bar", "barrier"))
        assert "__syncthreads" in source[r.line - 1]
        assert (r.mask, r.width) == (0xFFFFFFFF, 0)
        assert (r.addresses == -1).all()


def test_lines_and_spaces():
    source = kernels.get("sgemm_tiled").source.splitlines()
    words = {"ld.global": ("A[", "B[", "*c"), "st.shared": ("As[", "Bs["), "ld.shared": ("As[ty][k] * Bs[k][tx]",), "st.global": ("*c =",),
             "barrier": ("__syncthreads",)}
    for r in tiled([(4, 0)]).trace:
        assert any(word in source[r.line - 1] for word in words[kind(r)])
        assert r.space == (None if kind(r) == "barrier" else r.operation.split(".")[1])


def test_steps_count_up_and_blocks_come_in_order():
    pairs = [((2, 1, 0), 1), ((0, 0, 0), 0), ((2, 1, 0), 0), (4, 1)]
    for how in ({}, {"workers": 2}, {"warp_order": "reverse"}):
        report = tiled(pairs, **how)
        seen = [(r.block, r.warp) for r in report.trace]
        assert set(seen) == {((2, 1, 0), 1), ((0, 0, 0), 0), ((2, 1, 0), 0), ((1, 1, 0), 1)}
        numbers = [x + 3 * y for (x, y, _), _ in seen]
        assert numbers == sorted(numbers)
        for pair in set(seen):
            steps = [r.step for r in report.trace if (r.block, r.warp) == pair]
            assert steps == sorted(steps)
            assert steps[0] >= 0
            assert steps[-1] < report.steps


def test_a_block_by_number_is_the_block_by_place():
    by_number, by_place = tiled([(5, 0)]), tiled([((2, 1, 0), 0)])
    assert [(r.block, r.line, r.mask) for r in by_number.trace] == [(r.block, r.line, r.mask) for r in by_place.trace]
    assert [(r.block, r.line) for r in tiled([((2, 1), 0)]).trace] == [(r.block, r.line) for r in by_place.trace]
    fault(simt.LaunchError, "", [], trace=[(0, 0)])


def test_nothing_is_traced_unless_asked():
    assert tiled([]).trace == ()


# -- small kernels ------------------------------------------------------------------------------------------------------
def test_partial_warps_and_divergent_lanes():
    source = """extern "C" __global__ void f(int* out) {
        if (threadIdx.x % 3 == 0) ((char*)out)[threadIdx.x] = 1;
        else out[threadIdx.x] = out[threadIdx.x + 1] + 2;
    }"""
    report = launch(source, [np.zeros(200, INT)], block=45, trace=[(0, 0), (0, 1)])
    base = report.arrays[0].address
    for warp in (0, 1):
        thread = warp * 32 + LANES
        records = [r for r in report.trace if r.warp == warp]
        exists, third = thread < 45, thread % 3 == 0
        stores = {r.mask: r for r in records if "st" in r.operation}
        check(stores[mask_of(exists & third)], base, thread, exists & third, 1)
        check(stores[mask_of(exists & ~third)], base, 4 * thread, exists & ~third)
        load, = (r for r in records if "ld" in r.operation)
        check(load, base + 4, 4 * thread, exists & ~third)
        assert {(r.line, r.operation[:2]) for r in records} == {(2, "st"), (3, "ld"), (3, "st")}


@pytest.mark.parametrize(("vector", "width", "ending"), [
    ("float2", 8, r"\.v2\.[fbu]32"), ("float4", 16, r"\.v4\.[fbu]32"), ("double", 8, r"\.[fbu]64"), ("short", 2, r"\.[bsu]16"),
    ("unsigned char", 1, r"\.[bu]8")])
def test_widths(vector, width, ending):
    source = f'extern "C" __global__ void f(const {vector}* in, {vector}* out) {{ out[31 - threadIdx.x] = in[threadIdx.x]; }}'
    arrays = [np.zeros(32, f"V{width}") for _ in range(2)]
    report = launch(source, arrays, trace=[(0, 0)])
    load, store = report.trace
    check(load, report.arrays[0].address, width * LANES, LANES >= 0, width)
    check(store, report.arrays[1].address, width * (31 - LANES), LANES >= 0, width)
    assert re.fullmatch(r"ld\.global(\.nc)?" + ending, load.operation)
    assert re.fullmatch(r"st\.global" + ending, store.operation)


def test_generic_shared_and_local_accesses_name_their_space():
    source = """extern "C" __global__ void f(int* out, int* data, int n) {
        __shared__ int s[32];
        int mine[8];
        int* p = n > 0 ? s : data;
        for (int k = 0; k < 8; ++k) mine[k] = k + n;
        p[threadIdx.x] = 1;
        out[threadIdx.x] = mine[threadIdx.x & 7];
    }"""
    for n, space in ((1, "shared"), (0, "global")):
        report = launch(source, [np.zeros(32, INT), np.zeros(32, INT), INT(n)], trace=[(0, 0)])
        store, = (r for r in report.trace if r.line == 6)
        base = 0 if n else report.arrays[1].address
        assert store.space == space
        check(store, base, 4 * LANES, LANES >= 0)
        assert "local" in {r.space for r in report.trace if r.line in (5, 7)}


def test_guarded_accesses_have_the_lanes_of_their_guard():
    source = """.version 8.0
.target sm_90
.address_size 64
.visible .entry f(.param .u64 out) {
.reg .b32 %t; .reg .b64 %o; .reg .pred %p;
ld.param.u64 %o, [out];
mov.u32 %t, %tid.x;
mad.wide.u32 %o, %t, 4, %o;
setp.lt.u32 %p, %t, 11;
@%p st.global.u32 [%o+4], %t;
@!%p ld.global.u32 %t, [%o];
setp.gt.u32 %p, %t, 1000;
@%p st.global.u32 [%o], %t;
ret;
}"""
    report = launch(source, [np.zeros(64, INT)], trace=[(0, 0)])
    base = report.arrays[0].address
    store, load = report.trace
    check(store, base + 4, 4 * LANES, LANES < 11)
    check(load, base, 4 * LANES, LANES >= 11)


def test_a_trace_that_grows_too_long_is_refused():
    source = 'extern "C" __global__ void f(volatile int* out) { for (int k = 0; k < 450000; ++k) out[0] = k; }'
    error = fault(simt.LaunchError, source, [np.zeros(1, INT)], block=1, trace=[(0, 0)])
    assert "trace" in str(error)
