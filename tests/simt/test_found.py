"""The faults of docs/found.md: found with these lines, and nothing in the mended kernels; what the findings say."""

import importlib

import found_cases as cases
import numpy as np
import pytest
from found_cases import CASES, NAMED, ORDERS
from launching import fault, launch

from course_lib import simt

ALL = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def pairs(found):
    return {lines for _, lines in found} if isinstance(found, set) else found


@ALL
def test_the_fault_is_found_and_nothing_else(case):
    assert cases.run(case, case.source).found == case.finds
    for order in ORDERS[1:]:
        assert pairs(cases.run(case, case.source, order).found) == pairs(case.finds)


@pytest.mark.slow
@pytest.mark.sampled(test=14)
@ALL
@pytest.mark.parametrize("order", [*ORDERS, 7])
def test_the_mended_kernel_is_clean_and_right(case, order):
    outcome = cases.run(case, case.mended, order)
    assert (outcome.fault, outcome.hazards, outcome.right) == (None, (), True)


@ALL
def test_a_mend_is_one_to_three_lines(case):
    old, new = case.source.splitlines(), case.mended.splitlines()
    assert 1 <= len(set(new) - set(old)) <= 3
    assert len(new) - len(old) <= 3


@ALL
def test_two_workers_find_the_same(case):
    assert cases.run(case, case.source, workers=2).found == case.finds


@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.finds, set)], ids=lambda case: case.name)
def test_only_racecheck_finds_a_race(case):
    assert cases.run(case, case.source, racecheck=False).found == set()


# -- what the page says besides -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("shape", "right"), [((1, 4, 7), True), ((5, 2, 2), True), ((3, 5, 4), False), ((3, 40, 33), False)])
def test_a_sum_in_place_of_a_product_is_right_in_one_matrix_and_wrong_without_a_finding_in_large_ones(shape, right):
    _, M, N = shape
    A, y = cases.numbers(*shape), cases.zeros(*shape[:2])
    simt.launch(NAMED["batched"].source, "batched", (-(-M // 32), 1, shape[0]), 32, [np.int32(M), np.int32(N), A, y])
    assert np.allclose(y, A.astype(np.float64).sum(axis=2), atol=1e-5) is right


def test_the_product_fits_up_to_53021():
    x, y = cases.numbers(53021), cases.zeros(53021)
    simt.launch(NAMED["shuffle"].source, "shuffle", 208, 256, [np.int32(53021), x, y])
    assert (y == x[np.arange(53021) * 40503 % 53021]).all()


LAST_BLOCK = """__device__ unsigned done;
extern "C" __global__ void sums(const float* x, float* parts, float* y) {
    parts[blockIdx.x] = x[blockIdx.x];
    // __threadfence() is missing here
    if (atomicAdd(&done, 1) == gridDim.x - 1)
        for (int i = 0; i < gridDim.x; ++i)
            *y += ((volatile float*)parts)[i];
}"""


def test_a_missing_fence_is_not_found():
    x, y = cases.numbers(20), np.zeros(1, np.float32)
    report = simt.launch(LAST_BLOCK, "sums", 20, 1, [x, cases.zeros(20), y], racecheck=True)
    assert report.hazards == ()
    assert np.isclose(y[0], x.astype(np.float64).sum(), atol=1e-5)


@pytest.mark.parametrize("name", ["found", "found_picture"])
def test_the_page_and_its_picture_are_what_the_simulator_says(name):
    tool = importlib.import_module(f"tools.page.{name}")
    text = tool.PAGE.read_text(encoding="utf-8")
    assert tool.page(text) == text


def test_the_picture_shows_the_race_and_none_in_the_mended_kernel():
    picture, case = importlib.import_module("tools.page.found_picture"), NAMED["pipeline"]
    both = [sum(held.kind == "both" for step in picture.traced(source) for held in step) for source in (case.source, case.mended)]
    assert both == [picture.STEPS, 0]


# -- what the findings say ----------------------------------------------------------------------------------------------
def hazards(body, threads=64):
    source = f'extern "C" __global__ void f(int* out) {{ const int i = threadIdx.x;\n{body}\n}}'
    return launch(source, [np.zeros(256, np.int32)], block=threads, racecheck=True).hazards


@pytest.mark.parametrize(("body", "words"), [
    ("__shared__ int a[8], s[64];\nif (i < 8) a[i] = i;\ns[i] = i;\nout[i] = s[i ^ 32] + a[0] * 0;", "Put __syncthreads() between"),
    ("__shared__ int s[64];\ns[i] = i;\nout[i] = s[i ^ 1];", "put __syncwarp() between"),
    ("__shared__ int s[1];\ns[0] = i;\n__syncthreads();\nout[i] = s[0];", "Let one thread write"),
    ("__shared__ int s[64];\nout[i] = s[i];", "write it first"),
])
def test_a_finding_says_what_to_do(body, words):
    assert any(words in str(h) for h in hazards(body))


def test_a_finding_names_the_array_and_the_byte_in_it():
    source = """extern "C" __global__ void f(int* out) {
        __shared__ int first[64], second[64];
        extern __shared__ int rest[];
        first[threadIdx.x] = second[threadIdx.x] = rest[threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.x] = first[63 - threadIdx.x] + second[63 - threadIdx.x];
        second[threadIdx.x] = 2;
        rest[threadIdx.x ^ 40] = 3;
    }"""
    report = launch(source, [np.zeros(64, np.int32)], block=64, racecheck=True, dynamic_shared=256)
    named = {h.array for h in report.hazards}
    assert named == {"second"}
    offsets = {v.name: v.offset for v in report.shared}
    for h in report.hazards:
        assert h.address == offsets["second"] + h.offset
        assert f"byte {h.offset} of second" in str(h)


COPY = """#include <cuda_pipeline.h>
extern "C" __global__ void f(const int* in, int* out) {
    __shared__ int s[64];
    const int i = threadIdx.x;
    %s
    __pipeline_memcpy_async(&s[i], &in[i], 4);
    __pipeline_commit();
    %s
    out[i] = s[63 - i];
}"""


@pytest.mark.parametrize(("before", "after", "words"), [
    ("", "__syncthreads();", ["begins to copy to", "The copy may still be under way: before line 9"]),
    ("", "__pipeline_wait_prior(0);", ["begins to copy to", "behind the wait stands __syncthreads()"]),
    ("s[i] = 1; __syncthreads(); out[i] = s[63 - i];", "__pipeline_wait_prior(0); __syncthreads();",
     ["WAR", "begins to copy to it at line 6", "before a copy"]),
])
def test_a_finding_about_a_copy_says_so(before, after, words):
    report = launch(COPY % (before, after), [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)], block=64, racecheck=True)
    assert any(all(word in str(h) for word in words) for h in report.hazards)


LOCAL = """extern "C" __global__ void f(int n, {0}* out) {{
    {0} a[8];
    for (int k = 0; k < 8; ++k) a[k] = k;
    a[n] = 1;
    out[0] = a[out[0] > 5];
}}"""


@pytest.mark.parametrize(("kind", "dtype"), [("float", np.float32), ("double", np.float64), ("short", np.int16)])
@pytest.mark.parametrize("index", [-16, -1, 8, 100, -2**20])
def test_an_index_outside_a_local_array(kind, dtype, index):
    width = np.dtype(dtype).itemsize
    error = fault(simt.OutOfBounds, LOCAL.format(kind), [np.int32(index), np.zeros(1, dtype)], block=1)
    where = "in front of" if index < 0 else "behind"
    assert f"byte {index * width}, {where} the {8 * width} bytes of its local arrays" in str(error)
    assert f"as elements of {width} bytes, [{index}] where 0 … 7 are there" in str(error)
    assert (error.address, error.bounds, error.array) == (index * width, (0, 8 * width), "local")


def test_four_elements_at_once_are_counted_as_elements():
    case = NAMED["permute"]
    error = cases.run(case, case.source).fault
    assert error.width == 16
    assert "[-16] where 0 … 63 are there" in str(error)


@pytest.mark.parametrize("index", [-1, 5])
def test_a_negative_index_has_its_usual_causes(index):
    source = 'extern "C" __global__ void f(int n, int* out) { out[n] = 1; }'
    error = fault(simt.OutOfBounds, source, [np.int32(index), np.zeros(5, np.int32)], block=1)
    assert ("2147483647" in str(error)) == (index < 0)
