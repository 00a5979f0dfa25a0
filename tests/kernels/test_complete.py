"""Headers of kernels: written once, and there wherever a kernel's text is taken. And steps that change one thing."""

import re
from collections import defaultdict
from difflib import SequenceMatcher

import numpy as np
import pytest

from course_lib import cp, simt
from course_lib.bench.fingerprint import code_only, fingerprint_of
from course_lib.errors import CourseError
from course_lib.kernels import ALL, complete, get
from course_lib.kernels.kernel import FOLDER
from course_lib.run import run
from course_lib.toolchain import compile_cuda, sass

WITH_HEADERS = [kernel for kernel in ALL.values() if '#include "' in kernel.path.read_text(encoding="utf-8")]
WITH_LOAD4 = [kernel for kernel in WITH_HEADERS if '"load4.cuh"' in kernel.path.read_text(encoding="utf-8")]
_FUNCTION = re.compile(r"(?m)^(?:template[^\n]*\n)?__device__[^\n]*\n(?:.*\n)*?\}")


def test_no_helper_is_written_in_two_files():
    found = defaultdict(list)
    for path in sorted(FOLDER.glob("*.cu*")):
        for text in _FUNCTION.findall(path.read_text(encoding="utf-8")):
            found[re.sub(r"\s*//[^\n]*", "", text)].append(path.name)
    assert [names for names in found.values() if len(names) > 1] == []
    assert len(WITH_HEADERS) >= 6


@pytest.mark.sampled(test=1, slow=2)
@pytest.mark.parametrize("kernel", WITH_HEADERS, ids=lambda k: k.name)
def test_the_file_with_its_include_is_the_same_machine_code(kernel):
    text = kernel.path.read_text(encoding="utf-8")
    assert '#include "' in text
    assert "#include" not in kernel.source
    assert any(machine_code(kernel, text, again) == machine_code(kernel, kernel.source, again) for again in range(4))


def machine_code(kernel, text, again):
    """Return the instructions of a text, compiled anew for each number: NVRTC 13.5 orders those of large kernels now this way, now that."""
    return [line.text for line in sass(compile_cuda(text + "// again\n" * again), kernel.entry)]


def test_the_simulator_runs_the_file_as_it_is():
    kernel, rng = get("sgemm_vectorized"), np.random.default_rng(0)
    A, B = rng.standard_normal((70, 30)).astype(np.float32), rng.standard_normal((30, 50)).astype(np.float32)
    C = np.full((70, 50), np.nan, np.float32)
    args = [*map(np.int32, (70, 50, 30)), np.float32(1), A, np.int32(30), B, np.int32(50), np.float32(0), C, np.int32(50)]
    simt.launch(kernel.path, kernel.entry, kernel.grid(70, 50), kernel.block(), args)
    np.testing.assert_allclose(C, A.astype(float) @ B, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", ["sgemm_vectorized", "sgemm_bf16"])
def test_a_line_of_a_trace_leads_to_the_line_of_the_file(name):
    A, B = (np.ones((64, 64), np.float32) for _ in range(2))
    result, kernel = run(name, A, B, backend="sim", trace=[((0, 0, 0), 0)]), get(name)
    places = {kernel.source_line(request.line) for request in result.trace}
    assert {file for file, _ in places} >= {f"{name}.cu", "load4.cuh"}
    for request in result.trace:
        file, line = kernel.source_line(request.line)
        assert (FOLDER / file).read_text(encoding="utf-8").splitlines()[line - 1] == kernel.source.splitlines()[request.line - 1]
    lines = (FOLDER / "load4.cuh").read_text(encoding="utf-8").splitlines()
    assert all("p" in lines[line - 1] for file, line in places if file == "load4.cuh")


def test_places_end_where_the_text_ends():
    kernel = get("sgemm_bf16")
    last = len(kernel.source.splitlines())
    assert kernel.source_line(last) == ("sgemm_bf16.cu", len(kernel.path.read_text(encoding="utf-8").splitlines()))
    for line in (0, last + 1):
        with pytest.raises(CourseError, match=f"has {last} lines: there is no line {line}"):
            kernel.source_line(line)


@pytest.mark.parametrize(("old", "new", "same"), [("// Four floats", "// Or rather four floats", True), ("left >= 4", "left > 3", False)])
def test_a_hash_is_of_the_headers_code_too(old, new, same, monkeypatch):
    before, header = {k.name: fingerprint_of(k) for k in WITH_LOAD4}, (FOLDER / "load4.cuh").read_text(encoding="utf-8")
    real = complete._header
    assert old in header
    monkeypatch.setattr(complete, "_header", lambda name: header.replace(old, new) if name == "load4.cuh" else real(name))
    for kernel in WITH_LOAD4:
        assert (fingerprint_of(kernel) == before[kernel.name]) == same


def test_a_header_stands_once_and_another_include_stays():
    text = '  # include "load4.cuh"  // twice\n#include "load4.cuh"\n#include <mma.h>\n#include "load5.cuh"'
    whole = complete.complete(text)
    assert whole.count("float4 load4(") == 1
    assert whole.endswith('}\n#include <mma.h>\n#include "load5.cuh"')
    assert "#pragma once" not in whole


MINE = '''#include "load4.cuh"
extern "C" __global__ void twice(const float* x, float* y, int n) {
    const int i = 4 * threadIdx.x;
    const float4 v = load4(x + i, n - i, aligned16(x, 4));
    if (i < n) y[i] = 2 * v.x;
}
'''


def test_a_readers_own_text_may_include_one_and_takes_it_home():
    x, y = cp.asarray(np.arange(10, dtype=np.float32)), cp.zeros(10, dtype=np.float32)
    args = x, y, np.int32(10)
    cp.RawKernel(MINE, "twice")((1,), (4,), args)
    np.testing.assert_array_equal(y.get(), [0, 0, 0, 0, 8, 0, 0, 0, 16, 0])
    program = str(cp.take_home(MINE, (1,), (4,), args))
    assert "#include" not in program
    assert "float4 load4(" in program


def test_a_fault_in_a_header_names_the_readers_line_and_the_header():
    x, y = np.zeros(4, np.float32), np.zeros(32, np.float32)
    with pytest.raises(simt.OutOfBounds, match=r"^twice, line 4 \(in load4\.cuh, line 7\)"):
        simt.launch(MINE, "twice", 1, 8, [x, y, np.int32(32)])


def parts(name):
    """Return a kernel's code from its sums on, in two: how tiles come to shared memory, and what is done with them."""
    code = code_only(get(name).source)
    filled, done = code.index("float acc[TM][TN]"), code.index("for (int k = 0; k < BK; ++k)")
    return code[filled:done], code[done:]


def test_a_step_from_vectors_to_warp_tiles_changes_one_thing():
    vectorized, prefetched, warp_tile = map(parts, ("sgemm_vectorized", "sgemm_prefetched", "sgemm_warp_tile"))
    assert vectorized[1] == prefetched[1], "first it is when tiles are asked for that changes"
    assert vectorized[0] != prefetched[0]
    assert prefetched[0] == warp_tile[0], "then it is which elements a lane has"
    assert prefetched[1] != warp_tile[1]


def test_unrolling_begins_where_square_tiles_are():
    rng, square = np.random.default_rng(7), {"BM": 16, "BN": 16, "BK": 16}
    A, B = (rng.standard_normal((50, 50)).astype(np.float32) for _ in range(2))
    tiled, unrolled = run("sgemm_tiled", A, B, backend="sim", **square), run("sgemm_unrolled", A, B, backend="sim", TILE=16)
    np.testing.assert_array_equal(tiled.C, unrolled.C)
    assert [tiled.count(name) for name in ("sectors", "wavefronts")] == [unrolled.count(name) for name in ("sectors", "wavefronts")]


def changed_lines(one, two):
    """Return how many lines of code of a kernel are not in the next one, and which lines of the next one are new."""
    texts = [code_only(get(name).path.read_text(encoding="utf-8")).replace(name, "name").splitlines() for name in (one, two)]
    matches = SequenceMatcher(None, *texts, autojunk=False).get_opcodes()
    return sum(b - a for what, a, b, *_ in matches if what != "equal"), [
        line for what, *_, a, b in matches if what != "equal" for line in texts[1][a:b]]


def test_a_rung_to_stream_k_changes_one_thing():
    gone, there_and_back = changed_lines("sgemm_stages", "sgemm_serpentine")
    assert (gone, len(there_and_back)) == (1, 4)
    assert "const int col = i % 2 ? TN - 1 - j : j;" in there_and_back
    _, stores = changed_lines("sgemm_serpentine", "sgemm_wide_stores")
    code = code_only(get("sgemm_wide_stores").source)
    assert all(code.index(line) > code.index("load(0, 0)") for line in stores if len(line) > 30), "only the end of the kernel is new"
    gone, shared_out = changed_lines("sgemm_wide_stores", "sgemm_stream_k")
    assert gone < 12
    assert '#include "stream_k.cuh"' in shared_out
