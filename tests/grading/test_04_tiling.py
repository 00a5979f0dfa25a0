"""Exercise 04 beyond what every exercise is tested for: hazards, located elements, launches, any tile."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import simt
from course_lib.grading import check, part
from course_lib.kernels.user import SGEMM
from course_lib.simt.host.counters import NAMES

TESTS = Path(__file__).parents[1]


def test_a_hazard_is_found_though_the_numbers_are_right():
    path = TESTS / "wrong_kernels/04_tiling/second_barrier_missing_right_result.cu"
    verdict = check(path.read_text(encoding="utf-8"), part("04_tiling", "tile"))
    assert {finding.kind for finding in verdict.findings} == {"hazard"}
    assert "right all the same" in verdict.findings[0].message
    assert all(outcome.passed for outcome in verdict.gates)


@pytest.mark.slow
def test_a_missing_fence_is_a_hazard_though_the_numbers_are_right():
    text = (TESTS / "wrong_kernels/04_tiling/fence_missing_right_result.cu").read_text(encoding="utf-8")
    missing = check(text, part("04_tiling", "tile"))
    assert {finding.kind for finding in missing.findings} == {"hazard", "bound"}, "and the copies are in no counter of the exercise"
    assert sum(outcome.passed for outcome in missing.cases) == 3, "where no row is copied"
    barrier = "        __syncthreads();\n        if (tx == 0"
    assert barrier in text
    mended = check(text.replace(barrier, f'        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n{barrier}'),
                   part("04_tiling", "tile"))
    assert {finding.kind for finding in mended.findings} == {"bound"}
    assert all(outcome.passed for outcome in mended.cases)


class Pretends:
    """Answers for a kernel that is right, with what the simulator is to have found; nothing is compiled."""

    def __init__(self, **found):
        self.report = simt.Report("tiled", dict.fromkeys(NAMES, 0), {}, {}, **found)

    def compile(self, source, name):
        parameters = ", ".join(f".param .{'u64' if '*' in p else 'f32' if 'float' in p else 'u32'} p{n}" for n, p in enumerate(SGEMM))
        return SimpleNamespace(ptx=f".entry {name}({parameters})")

    def launch(self, source, entry, grid, block, args, **options):
        M, N, K, alpha, A, lda, B, ldb, beta, C, ldc = args
        A, B = (np.lib.stride_tricks.as_strided(x, shape, (4 * int(ld), 4)) for x, shape, ld in ((A, (M, K), lda), (B, (K, N), ldb)))
        here = np.lib.stride_tricks.as_strided(C, (M, N), (4 * int(ldc), 4))
        here[:] = alpha * (A @ B) + (beta * here if beta else 0)
        return self.report


def test_the_judge_fails_a_broken_rule_of_asynchronous_work_for_its_reason(answers):
    source, spec = answers("solutions", "04_tiling")["tiled"], replace(part("04_tiling", "tile"), gates=(), bounds=(), made_of=())
    assert check(source, spec, engine=Pretends()).passed
    rule = simt.AsyncFinding("unfenced", 3, 7, (0, 0, 0), (0, 0, 0), (0, 0, 0), 2, "As", 16)
    verdict = check(source, spec, engine=Pretends(async_findings=(rule,)))
    finding, = verdict.findings
    assert (verdict.passed, finding.kind, finding.line) == (False, "hazard", 7)
    assert "no fence.proxy.async between the two" in finding.message
    assert not any(outcome.passed for outcome in verdict.cases)


def test_the_first_wrong_element_is_located():
    path = TESTS / "wrong_kernels/04_tiling/tail_dropped.cu"
    finding, = check(path.read_text(encoding="utf-8"), part("04_tiling", "tile")).findings
    assert (finding.facts["row"], finding.facts["col"]) == (0, 0)
    assert finding.facts["mask"].shape == (16, 16)
    assert "C[0][0]" in finding.message


@pytest.mark.parametrize(("old", "new", "says"), [
    ("#define BM 16", "#define BM (16)", "BM must be set"),
    ("#define BM 16", "#define BM 1000", "outside 1 to 128"),
    ("#define BM 16", "#define BM 128", "2048 threads"),
    ("float beta, ", "", "the arguments of tiled must be"),
    ("int M, int N", "long M, int N", "the arguments of tiled must be"),
])
def test_a_kernel_that_cannot_be_launched(old, new, says, answers):
    source = answers("exercises", "04_tiling")["tiled"]
    assert old in source
    verdict = check(source.replace(old, new).replace("beta == 0.0f ? 0.0f : beta * *c", "0.0f"), part("04_tiling", "tile"))
    assert says in verdict.findings[0].message


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.parametrize("tile", [(8, 32, 16), (32, 32, 32), (16, 12, 20), (1, 32, 1)])
def test_a_right_kernel_passes_every_input_with_any_tile(tile, answers):
    source = answers("solutions", "04_tiling")["tiled"]
    for name, size in zip(("BM", "BN", "BK"), tile, strict=True):
        source = source.replace(f"#define {name} 16", f"#define {name} {size}")
    verdict = check(source, part("04_tiling", "tile"))
    assert all(outcome.passed for outcome in verdict.cases), verdict
