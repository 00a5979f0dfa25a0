"""`run`: what it returns, what it leaves alone, and what it refuses."""

import dataclasses
import re

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.errors import CourseError
from course_lib.kernels import UserKernel, get
from course_lib.kernels.user import SIGNATURE
from course_lib.run import choose_backend, line_table, matches, mismatch, per_line, resolve, run
from course_lib.run.launch import observed
from course_lib.run.listing import source_listing
from course_lib.simt import AsyncFinding, OutOfBounds, StepBudgetExceeded

RNG = np.random.default_rng(11)
A, B, C = (RNG.standard_normal(shape).astype(np.float32) for shape in ((20, 30), (30, 40), (20, 40)))
MINE = 'extern "C" __global__ void mine(' + SIGNATURE + """) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0;
    for (int k = 0; k < K; ++k) acc += A[row * lda + k] * B[k * ldb + col];
    C[row * ldc + col] = alpha * acc + (beta == 0 ? 0 : beta * C[row * ldc + col]);
}
"""


@pytest.fixture(autouse=True)
def simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def no_gpu(monkeypatch, reason="the GPU is on holiday"):
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(False, reason))


def test_instructions_of_sm_90a_are_compiled_for_it():
    text = MINE.replace("{\n", '{\n    asm volatile("wgmma.fence.sync.aligned;");\n', 1)
    r = run(UserKernel.from_source(text), A, B, racecheck=True)
    assert matches(r.C, A, B)
    assert r.products == ()


@pytest.mark.slow
def test_what_a_result_holds():
    r = run("sgemm_tiled", A, B, BM=16, BN=8, BK=4)
    assert (r.M, r.N, r.K, r.lda, r.ldb, r.ldc) == (20, 40, 30, 30, 40, 40)
    assert (r.grid, r.block) == ((5, 2, 1), (8, 16, 1))
    assert r.parameters == {"BM": 16, "BN": 8, "BK": 4}
    assert (r.backend, r.label, r.counters_label, r.time, r.gflops) == ("sim", "simulated", "simulated", None, None)
    assert r.flops == 2 * 20 * 40 * 30
    assert r.resources.static_shared_bytes == get("sgemm_tiled").shared_bytes(BM=16, BN=8, BK=4)
    assert 0 < r.occupancy.fraction <= 1
    assert (r.hazards, r.trace) == (None, ())
    assert [a.name for a in r.arrays] == ["A", "B", "C"]
    assert [v.nbytes for v in r.shared] == [4 * 16 * 4, 4 * 4 * 8]
    assert set(r.level.values()) <= {"hardware", "PTX level"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        r.M = 3


def test_nothing_that_is_given_changes():
    before = [x.copy() for x in (A, B, C)]
    result = run("sgemm_naive", A, B, C, alpha=2, beta=3)
    assert all(np.array_equal(x, y) for x, y in zip(before, (A, B, C), strict=True))
    assert not np.shares_memory(result.C, C)
    assert result.C.flags.c_contiguous
    assert result.C.flags.writeable
    assert matches(result.C, A, B, C, alpha=2, beta=3)


def test_padded_c_comes_back_without_padding():
    wide = np.zeros((20, 64), np.float32)
    result = run("sgemm_naive", A, B, wide[:, :40])
    assert result.ldc == 64
    assert result.C.shape == (20, 40)
    assert result.C.base is None
    assert not wide.any()


def test_the_table_is_the_same_in_every_run_and_says_where_numbers_are_from():
    text = repr(run("sgemm_swapped", A, B))
    assert text == repr(run("sgemm_swapped", A, B))
    assert "20 × 40, K = 30, simulated" in text
    assert "sectors a request (simulated)" in text
    assert "modelled for" in text
    assert "GFLOP/s" not in text


def test_the_html_table_is_escaped():
    mine = UserKernel.from_source(MINE)
    r = run(dataclasses.replace(mine, name="<b>mine</b>"), A, B)
    assert "&lt;b&gt;mine" in r._repr_html_()
    assert r._repr_html_().count("<tr>") == len(r.rows())


def test_lines():
    r = run("sgemm_tiled", A, B)
    assert {text for _, text, _ in per_line(r) if "acc +=" in text} == {"acc += As[ty][k] * Bs[k][tx];"}
    table = line_table(r).splitlines()
    assert table[0].split()[:3] == ["line", "requests", "sectors"]
    assert any("As[ty][k] =" in row for row in table)
    assert not any("__syncthreads" in row for row in table)


def test_a_trace_and_races_only_when_asked_for():
    r = run("sgemm_tiled", A, B, trace=[((0, 0, 0), 0)], racecheck=True)
    assert r.trace
    assert r.hazards == ()
    assert all(record.warp == 0 and record.block == (0, 0, 0) for record in r.trace)


@pytest.mark.parametrize("gone", ["nobody reads before", "nobody overwrites before"])
def test_a_missing_barrier_is_found_though_the_answer_may_be_right(gone):
    text = "\n".join(line for line in get("sgemm_tiled").source.splitlines() if gone not in line)
    r = run(text, A, B, racecheck=True, BM=16, BN=16, BK=16)
    assert r.hazards
    assert "hazards" in repr(r)
    assert f"{sum(h.count for h in r.hazards)}, the first kind" in repr(r)


def test_my_own_kernel_as_text_path_and_object(tmp_path):
    (tmp_path / "mine.cu").write_text(MINE)
    for kernel in (MINE, tmp_path / "mine.cu", str(tmp_path / "mine.cu"), UserKernel.from_source(MINE)):
        r = run(kernel, A, B, C, beta=1, bx=8, by=4)
        assert matches(r.C, A, B, C, beta=1)
        assert (r.kernel.name, r.block) == ("mine", (8, 4, 1))


def test_elements_that_are_forgotten_show():
    r = run(MINE.replace("col >= N", "col >= N - 1"), A, B)
    assert np.isnan(r.C[:, -1]).all()
    assert mismatch(r.C, A, B).count == 20


def test_reading_c_though_beta_is_zero_shows():
    r = run(MINE.replace("(beta == 0 ? 0 : beta * C[row * ldc + col])", "beta * C[row * ldc + col]"), A, B)
    assert np.isnan(r.C).all()


def test_reading_the_padding_shows():
    wide = np.ones((20, 32), np.float32)
    r = run(MINE.replace("k < K;", "k < K + (row < M - 1);").replace("[k * ldb", "[(k % K) * ldb"), wide[:, :30], B)
    assert np.isnan(r.C[:-1]).all()


def test_writing_the_padding_is_counted():
    wide = np.zeros((20, 48), np.float32)
    text = MINE.replace("alpha * acc +", "(C[row * ldc + N] = 1, alpha * acc) +")
    r = run(text.replace("if (row >= M", "if (row >= M - 1"), A, B, wide[:, :40], beta=1)
    assert r.stray_writes == 19
    assert "19 elements between the rows were overwritten" in repr(r)
    assert run(MINE, A, B, wide[:, :40]).stray_writes == 0


def test_leaving_an_array_is_an_error_with_line_and_bounds():
    with pytest.raises(OutOfBounds) as caught:
        run(MINE.replace("if (row >= M || col >= N) return;", ""), A, B)
    assert caught.value.line == 5
    assert caught.value.array in ("A", "B", "C")


def test_a_kernel_that_the_preprocessor_removes():
    with pytest.raises(CourseError, match="left out the kernel mine"):
        run("#if 0\n" + MINE + "#endif\n", A, B)


def test_an_endless_loop_ends_with_its_line():
    with pytest.raises(StepBudgetExceeded) as caught:
        run(MINE.replace("++k", "k += 0"), A, B)
    assert caught.value.line == 5


def test_a_kernel_that_does_not_compile():
    with pytest.raises(CourseError) as caught:
        run(MINE.replace("acc +=", "ac +="), A, B)
    assert "ac" in str(caught.value)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: run("sgemm_tile", A, B), "did you mean sgemm_tiled"),
    (lambda: run("nothing", A, B), "the kernels are"),
    (lambda: run("missing.cu", A, B), "the kernel file 'missing.cu' cannot be read"),
    (lambda: run(7, A, B), "there is no kernel 7"),
    (lambda: run("sgemm_tiled", A, B, BM=64), "at most 1024"),
    (lambda: run("sgemm_tiled", A, B, betta=2), "betta is no parameter of sgemm_tiled"),
    (lambda: run("sgemm_tiled", A, A), "B must have as many rows as A has columns"),
    (lambda: run("sgemm_tiled", A, B, beta=1), "no C is given"),
    (lambda: run("sgemm_tiled", A, B, device="H2000"), "H200"),
    (lambda: run("sgemm_tiled", A, B, backend="cuda"), "backend is 'cuda', but the backends are 'sim' and 'gpu'"),
])
def test_what_is_refused(call, words):
    with pytest.raises(CourseError) as caught:
        call()
    assert words in str(caught.value)


def test_the_backend_that_is_asked_for(monkeypatch):
    no_gpu(monkeypatch)
    assert choose_backend() == "sim"
    monkeypatch.delenv("COURSE_BACKEND")
    assert choose_backend() == "sim"
    with pytest.raises(CourseError, match="backend asks for the GPU, but it cannot be used: the GPU is on holiday"):
        run("sgemm_naive", A, B, backend="gpu")
    monkeypatch.setenv("COURSE_BACKEND", "gpu")
    with pytest.raises(CourseError, match="COURSE_BACKEND asks for the GPU"):
        choose_backend()
    monkeypatch.setenv("COURSE_BACKEND", "GPU!")
    with pytest.raises(CourseError, match="COURSE_BACKEND is 'GPU!'"):
        choose_backend()
    assert choose_backend("sim") == "sim"
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(True, "fine"))
    monkeypatch.setenv("COURSE_BACKEND", "")
    assert choose_backend() == "gpu"


def test_with_the_simulator_asked_for_nobody_tries_the_gpu(monkeypatch):
    def never():
        raise AssertionError("the GPU was tried")
    monkeypatch.setattr(gpu, "probe", never)
    assert run("sgemm_naive", A, B).backend == "sim"


def test_progress_is_reported(capsys):
    seen = []
    run("sgemm_naive", A, B, bx=4, by=4, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (50, 50)
    assert seen == sorted(seen)
    run("sgemm_naive", A, B, progress=True)       # over long before a bar would be drawn
    assert capsys.readouterr().err == ""


def test_the_order_of_warps_matters_only_without_barriers():
    text = "\n".join(line for line in get("sgemm_tiled").source.splitlines() if "nobody reads before" not in line)
    for order in ("forward", "reverse", "interleaved", 7):
        assert matches(run("sgemm_tiled", A, B, warp_order=order).C, A, B)
    assert not matches(run(text, A, B, warp_order="reverse").C, A, B)


def test_a_name_of_a_kernel_or_the_kernel_itself():
    assert resolve("sgemm_naive") is get("sgemm_naive") is resolve(get("sgemm_naive"))


@pytest.mark.slow
def test_on_another_device_only_the_occupancy_changes():
    from course_lib.arch import DEVICES
    results = [run("sgemm_tiled", A, B, BM=16, BN=16, device=name) for name in DEVICES]
    assert {r.device for r in results} == set(DEVICES)
    assert all(r.count("sectors") == results[0].count("sectors") for r in results)
    assert len({r.occupancy.fraction for r in results}) > 1


def test_a_block_that_does_not_fit_is_refused_before_it_runs(monkeypatch):
    with pytest.raises(CourseError, match="GTX 285 allows 1 to 512"):
        run("sgemm_tiled", A, B, device="GTX 285")
    greedy = MINE.replace("float acc = 0;", "float acc = 0, x[90]; for (int i = 0; i < 90; ++i) x[i] = A[i];")
    greedy = greedy.replace("C[row * ldc + col] = ", "for (int i = 0; i < 90; ++i) { __syncwarp(); acc += x[i] * x[i / 2]; }\n"
                                                     "    C[row * ldc + col] = ")
    with pytest.raises(CourseError, match="take a smaller block"):
        run(greedy, A, B, bx=32, by=32)


def test_a_result_tells_what_was_found_of_bulk_copies():
    here = (0, 0, 0)
    result = run("sgemm_naive", A, B, racecheck=True)
    assert result.async_findings == ()
    found = dataclasses.replace(result, async_findings=(AsyncFinding("unfenced", 3, 4, here, here, here, 1, "tile", 0),))
    assert "missing fence" in repr(found)
    assert "missing fence" not in repr(result)
    assert result.hazards == ()
    report = simt.Report("k", {}, {}, {}, async_findings=found.async_findings)
    assert observed(report, racecheck=True)["hazards"] == found.async_findings, "they count as races do"
    listed = dataclasses.replace(found, hazards=found.async_findings)
    assert re.search(r"^hazards +1, the first kind unfenced: lines 3 and 4,", repr(listed), re.MULTILINE)
    assert [row[0] for row in source_listing("a\nb\nc\nd", {}, hazards=listed.hazards, first=1).rows if row[1]] == ["3", "4"]
