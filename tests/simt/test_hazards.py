"""Missing barriers and uninitialised reads in shared memory: found whatever the result, and never where code is right."""

import numpy as np
import pytest

from course_lib import kernels, simt

ORDERS = ("forward", "reverse", "interleaved", 3, 4)
TILED = kernels.get("sgemm_tiled").source
BM, BN, BK = 16, 16, 8
SIZE = 40


def without_barrier(number):
    """The tiled kernel without its first or second barrier; the line stays."""
    parts = TILED.split("__syncthreads();")
    assert len(parts) == 3
    return "__syncthreads();".join(parts[:number]) + "/* missing   */;" + "__syncthreads();".join(parts[number:])


def line_of(text):
    return next(i for i, line in enumerate(TILED.splitlines(), 1) if text in line)


STORE_A, STORE_B, READ = line_of("As[ty][k] ="), line_of("Bs[k][tx] ="), line_of("acc +=")


def tiled(source, order, **how):
    """Run a version of the tiled kernel; return (report, is the result right?)."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((SIZE, SIZE)).astype(np.float32) for _ in range(2))
    C, i, f = np.zeros_like(A), np.int32(SIZE), np.float32
    grid = (-(-SIZE // BN), -(-SIZE // BM))
    report = simt.launch(source, "sgemm_tiled", grid, (BN, BM), [i, i, i, f(1), A, i, B, i, f(0), C, i], racecheck=True,
                         warp_order=order, defines={"BM": BM, "BN": BN, "BK": BK}, **{"workers": 1, **how})
    return report, np.allclose(C, A @ B, atol=1e-3)


@pytest.mark.parametrize("order", ORDERS)
def test_the_right_kernel_has_none(order):
    report, right = tiled(TILED, order)
    assert report.hazards == ()
    assert right


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("order", ORDERS)
def test_a_missing_barrier_is_found_with_both_lines(order, number):
    report, _ = tiled(without_barrier(number), order)
    pairs = {frozenset((h.first_line, h.second_line)) for h in report.hazards if h.kind != "uninitialised"}
    assert pairs == {frozenset((STORE_A, READ)), frozenset((STORE_B, READ))}
    for h in report.hazards:
        verbs = {STORE_A: "W", STORE_B: "W", READ: "R"}
        assert h.kind == "uninitialised" or verbs[h.first_line] + verbs[h.second_line] == {"RAW": "WR", "WAR": "RW"}[h.kind]
        assert h.count > 0


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("number", [1, 2])
def test_the_example_is_a_real_conflict(order, number):
    """Both threads touch the shared element at the address that the hazard names."""
    report, _ = tiled(without_barrier(number), order)
    offsets = {v.name: v.offset for v in report.shared}
    for h in report.hazards:
        touched = {}
        for line, (x, y, z) in ((h.first_line, h.first_thread), (h.second_line, h.second_thread)):
            assert (x < BN, y < BM, z) == (True, True, 0)
            in_a = {offsets["As"] + 4 * (y * BK + k) for k in (range(BK) if line == READ else [x])}
            in_b = {offsets["Bs"] + 4 * (k * BN + x) for k in (range(BK) if line == READ else [y])}
            touched[line] = in_a | in_b if line == READ else in_a if line == STORE_A else in_b
        assert all(h.address in t for t in touched.values())
        assert h.kind == "uninitialised" or h.first_thread != h.second_thread
        assert h.block[0] < 3
        assert h.block[1] < 3


def test_a_hazard_is_found_although_the_result_is_right():
    report, right = tiled(without_barrier(2), "interleaved")
    assert right
    assert report.hazards
    _, right = tiled(without_barrier(1), "forward")
    assert not right


@pytest.mark.parametrize("number", [1, 2])
def test_workers_share_the_search(number):
    """The same lines and kinds and the same counts, with the example of the earliest block."""
    one, two = (tiled(without_barrier(number), "forward", workers=w)[0].hazards for w in (1, 2))
    assert one == two


def test_the_message_names_lines_and_threads():
    report, _ = tiled(without_barrier(2), "forward")
    for h in report.hazards:
        assert f"line {h.first_line}" in str(h)
        assert f"line {h.second_line}" in str(h)
        assert str(h.first_thread) in str(h)
        assert str(h.count) in str(h)


# -- small kernels ------------------------------------------------------------------------------------------------------
def hazards(body, threads=64, order="forward", n=256):
    """Run the body of a kernel `f(int* out)`; return its hazards as (kind, first line, second line)."""
    source = f'extern "C" __global__ void f(int* out) {{ const int i = threadIdx.x;\n{body}\n}}'
    report = simt.launch(source, "f", 2, threads, [np.zeros(n, np.int32)], racecheck=True, warp_order=order, workers=1)
    return [(h.kind, h.first_line, h.second_line) for h in report.hazards]


RIGHT = {
    "each its own": "__shared__ int s[64];\ns[i] = i;\nout[i] = s[i];",
    "reduction": """__shared__ int s[64];
        s[i] = i;
        __syncthreads();
        for (int d = 32; d; d /= 2) { if (i < d) s[i] += s[i + d]; __syncthreads(); }
        out[i] = s[0];""",
    "neighbours in a warp": "__shared__ int s[64];\ns[i] = i;\n__syncwarp();\nout[i] = s[i ^ 1];",
    "bytes of one word": "__shared__ char s[64];\ns[i] = i;\n__syncthreads();\nout[i] = s[63 - i];",
    "bytes of one word, own": "__shared__ char s[64];\ns[i] = i;\nout[i] = s[i];\ns[i] = 2;",
    "everybody reads": "__shared__ int s[1];\nif (i == 0) s[0] = 5;\n__syncthreads();\nout[i] = s[0] + s[0];",
    "the same value by all": "__shared__ int s[1];\ns[0] = 7;\n__syncthreads();\nout[i] = s[0];",
    "two buffers": """__shared__ int s[2][64];
        s[0][i] = i;
        __syncthreads();
        for (int k = 0; k < 4; ++k) { s[~k & 1][i] = s[k & 1][63 - i]; __syncthreads(); }
        out[i] = s[0][i];""",
    "vectors": "__shared__ int4 s[64];\ns[i] = make_int4(i, i, i, i);\n__syncthreads();\nout[i] = s[i ^ 33].z;",
    "counting with atomics": """__shared__ int s[4];
        if (i < 4) s[i] = 0;
        __syncthreads();
        atomicAdd(&s[i & 3], 1);
        __syncthreads();
        out[i] = s[i & 3];""",
    "only some threads": "__shared__ int s[64];\nif (i < 40) s[i] = i;\n__syncthreads();\nout[i] = i < 40 ? s[39 - i] : 0;",
    "a shuffle instead": "out[i] = __shfl_xor_sync(0xffffffffu, i, 1);",
}


@pytest.mark.parametrize("order", ["forward", "interleaved", 5])
@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_have_none(name, order):
    assert hazards(RIGHT[name], order=order) == []


WRONG = {  # body -> kinds and lines that are found in forward order
    "no barrier before a read": ("__shared__ int s[64];\ns[i] = i;\nout[i] = s[i ^ 32];",
                                 {("WAR", 4, 3), ("uninitialised", 4, 4), ("RAW", 3, 4)}),
    "inside a warp": ("__shared__ int s[64];\ns[i] = i;\nout[i] = s[i ^ 1];", {("RAW", 3, 4)}),
    "a write behind a read": ("__shared__ int s[64];\ns[i] = i;\n__syncthreads();\nout[i] = s[63 - i];\ns[i] = 0;",
                              {("WAR", 5, 6), ("RAW", 6, 5)}),
    "two writers": ("__shared__ int s[1];\ns[0] = i;\n__syncthreads();\nout[i] = s[0];", {("WAW", 3, 3)}),
    "a byte beside": ("__shared__ char s[66];\ns[i] = i;\ns[i + 1] = 2;\n__syncthreads();\nout[i] = s[i];", {("WAW", 3, 4), ("WAW", 4, 3)}),
    "__syncwarp is not enough": ("__shared__ int s[64];\ns[i] = i;\n__syncwarp();\nout[i] = s[63 - i];",
                                 {("WAR", 5, 3), ("uninitialised", 5, 5), ("RAW", 3, 5)}),
    "part of a vector": ("__shared__ alignas(16) int s[64];\ns[i] = i;\nout[i] = reinterpret_cast<int4*>(s)[i / 4].y;", {("RAW", 3, 4)}),
    "last turn of a loop": ("__shared__ int s[64];\nfor (int k = 0; k < 3; ++k) {\ns[i] = k + i;\n__syncthreads();\n"
                            "out[i] += s[63 - i];\n}", {("WAR", 6, 4), ("RAW", 4, 6)}),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs(name):
    body, allowed = WRONG[name]
    found = set(hazards(body))
    assert found
    assert found <= allowed
    for order in ("reverse", "interleaved", 6):
        other = set(hazards(body, order=order))
        assert {frozenset(h[1:]) for h in other if h[0] != "uninitialised"} == {frozenset(h[1:]) for h in found if h[0] != "uninitialised"}


HISTOGRAM = "__shared__ int s[4];\nif (i < 4) s[i] = 0;\n%s\natomicAdd(&s[(i + 1) & 3], 1);\n%s\nout[i] = s[i & 3];"


@pytest.mark.parametrize(("first", "second", "lines"), [("", "__syncthreads();", {3, 5}), ("__syncthreads();", "", {5, 7})])
def test_barriers_around_atomics(first, second, lines):
    found = hazards(HISTOGRAM % (first, second))
    assert lines in [set(h[1:]) for h in found]


def test_an_atomic_on_memory_that_nobody_wrote():
    assert ("uninitialised", 3, 3) in hazards("__shared__ int s[4];\natomicAdd(&s[i & 3], 1);\n__syncthreads();\nout[i] = s[i & 3];")


def test_uninitialised_reads_are_reported_with_the_thread():
    source = """extern "C" __global__ void f(int* out) {
        __shared__ int s[40];
        if (threadIdx.x != 5) s[threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x + 2];
    }"""
    report = simt.launch(source, "f", 3, 32, [np.zeros(32, np.int32)], racecheck=True, workers=1)
    h, = report.hazards
    assert (h.kind, h.first_line, h.first_thread, h.address, h.block) == ("uninitialised", 5, (3, 0, 0), 20, (0, 0, 0))
    assert h.count == 3 * 3  # threads 3, 30 and 31 of three blocks
    assert "uninitialised" in str(h)


def test_shared_memory_is_fresh_in_every_block():
    source = """extern "C" __global__ void f(int* out) {
        extern __shared__ int s[];
        if (blockIdx.x == 0) s[threadIdx.x] = 1;
        out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
    }"""
    out = np.zeros(64, np.int32)
    report = simt.launch(source, "f", 2, 32, [out], racecheck=True, dynamic_shared=128, workers=1)
    assert [(h.kind, h.block, h.count) for h in report.hazards] == [("uninitialised", (1, 0, 0), 32)]
    assert (out[:32] == 1).all()
    assert (out[32:] != 1).all()


def test_without_racecheck_nothing_is_reported():
    out = np.zeros(64, np.int32)
    source = 'extern "C" __global__ void f(int* out) { __shared__ int s[64]; s[threadIdx.x] = 1; out[threadIdx.x] = s[63 - threadIdx.x]; }'
    assert simt.launch(source, "f", 1, 64, [out]).hazards == ()
