"""Values that nobody has defined: does anything in a launch depend on them?"""

import numpy as np
import pytest
from launching import FLT, INT, launch

from course_lib import simt

WAYS = [{}, {"warp_order": "interleaved"}, {"trace": [(0, 0)]}, {"workers": 2}]
HEAD = "__device__ int seen = 3;\n"


def run(body, *, block=64, grid=2, size=128, **how):
    text = HEAD + ('extern "C" __global__ void f(int* out, const int* zero) {\n    __shared__ int s[64];\n    const int i = threadIdx.x;\n'
                   f"    volatile int* t = s;\n{body}\n    out[blockIdx.x * blockDim.x + i] += 1;\n}}")
    out = np.arange(size, dtype=INT)
    return launch(text, [out, np.zeros(64, INT)], grid=grid, block=block, racecheck=True, **how), out


UNUSED = {
    "overwritten": "int v = t[i]; v = i; out[i] = v;", "times zero": "out[i] = t[i] * zero[i];",
    "selected away": "int v = t[i]; out[i] = zero[i] ? v : 7;", "stored where nobody looks": "s[i ^ 1] = t[i];\n__syncthreads();",
    "a branch that is taken in either case": "if (zero[0] || t[i] == t[i]) out[i] = 4;",
    "one bit of it cleared": "out[i] = t[i] & zero[i];", "a vector of which a part is read": "out[i] = ((int4*)s)[i / 4].x * zero[i];",
}
USED = {
    "stored": ("out[i] = t[i];", "out has other elements"), "added": ("out[i] += t[i];", "out has other elements"),
    "a sign": ("if (t[i] < 0) out[i] = 4;", "out has other elements"), "one bit": ("out[i] = t[i] >> 7 & 1;", "out has other elements"),
    "the larger of two": ("out[i] = max(out[i], t[i]);", "out has other elements"),
    "a branch with no result": ("if (t[i] & 1) { s[0] = 1; } else { s[0] = 1; s[1] = zero[1]; }", "the counters are others"),
    "an address with no result": ("out[i] = zero[t[i] & 63];", "the counters are others"),
    "printed": ('if (i == 0) printf("%d", t[i]);', "the kernel prints"),
    "a variable": ("if (i == 5) seen = t[i];", "a __device__ variable has another value"),
    "a float that is NaN in one case": ("out[i] = fmaxf(3.0f, __int_as_float(t[i])) > 3.0f;", "out has other elements"),
    "a loop": ("for (int k = 0; k < (t[i] & 7); ++k) s[63] = zero[k];", "the counters are others"),
}


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("name", UNUSED)
def test_what_is_read_and_not_used(name, how):
    report, _ = run(UNUSED[name], **how)
    found = [h for h in report.hazards if h.kind == "uninitialised"]
    assert found
    assert {h.influence for h in found} == {""}
    assert all("Nothing in this launch depends on it" in str(h) for h in found)


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("name", USED)
def test_what_is_used(name, how):
    body, what = USED[name]
    report, _ = run(body, **how)
    found = [h for h in report.hazards if h.kind == "uninitialised"]
    assert found
    assert all(h.influence.startswith(what) for h in found)
    assert all("This launch depends on it: with other values" in str(h) for h in found)


def test_an_endless_loop_or_a_fault_with_other_values_is_an_influence():
    report, _ = run("if (t[i] == 0) while (true) seen = 4;")
    assert [h.influence for h in report.hazards if h.kind == "uninitialised"] == ["the launch fails (StepBudgetExceeded)"]
    report, _ = run("if (t[i] != 0x7fbadbad) out[1000000] = 4;")
    assert [h.influence for h in report.hazards if h.kind == "uninitialised"] == ["the launch fails (OutOfBounds)"]


def test_the_callers_arrays_and_the_report_are_those_of_the_first_launch():
    body = 'out[blockIdx.x * 64 + i] += zero[i]; int v = t[i]; v = i; if (i == 0) printf("%d ", blockIdx.x);'
    report, out = run(body)
    plain, expected = run(body.replace("t[i]", "zero[i]"))
    assert out.tolist() == expected.tolist() == (np.arange(128) + 1).tolist()
    assert report.output == plain.output == "0 1 "
    strided = np.zeros((64, 3), FLT)
    text = ('extern "C" __global__ void f(float* x, float* y) {\n    __shared__ volatile float s[32];\n    float v = s[threadIdx.x];\n'
            "    x[3 * threadIdx.x] = 1;\n}")
    report = launch(text, [strided[:, 0], strided[:1, 1]], racecheck=True)
    assert [h.influence for h in report.hazards] == [""]
    assert strided[:32, 0].tolist() == [1] * 32


def test_arguments_that_can_be_read_once_are_read_once():
    text = 'extern "C" __global__ void f(int* out) { __shared__ volatile int s[32]; out[threadIdx.x] = s[threadIdx.x] * 0; }'
    out = np.ones(32, INT)
    report = simt.launch(text, "f", 1, 32, iter([out]), racecheck=True)
    assert [h.influence for h in report.hazards] == [""]


def test_nothing_is_examined_without_racecheck_or_without_such_a_finding():
    text = 'extern "C" __global__ void f(int* out) {\n out[threadIdx.x] = __shfl_down_sync(~0u, out[threadIdx.x], 8);\n}'
    stray, = launch(text, [np.zeros(48, INT)], block=48).stray_shuffles
    assert stray.influence is None
    race, = launch('extern "C" __global__ void f(int* out) { __shared__ int s[1]; s[0] = threadIdx.x; __syncthreads(); out[0] = s[0]; }',
                   [np.zeros(1, INT)], racecheck=True).hazards
    assert race.influence is None


@pytest.mark.parametrize(("keep", "influence"), [("lane < 8", ""), ("lane < 9", "out has other elements")])
def test_values_of_lanes_that_take_no_part(keep, influence):
    """The last warp has 16 lanes: lane 8 is the first whose partner does not exist."""
    text = ('extern "C" __global__ void f(int* out) {\n int i = threadIdx.x, lane = i % 32;\n int v = __shfl_down_sync(~0u, i, 8);\n'
            f" if (i < 32 || {keep}) out[i] = v;\n}}")
    stray, = launch(text, [np.zeros(48, INT)], block=48, racecheck=True).stray_shuffles
    assert (stray.line, stray.influence) == (3, influence)
    assert ("Nothing in this launch depends on it" in str(stray)) == (not influence)
