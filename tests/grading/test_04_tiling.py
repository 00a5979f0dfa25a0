"""Exercise 04 beyond what every exercise is tested for: hazards, located elements, launches, any tile."""

from pathlib import Path

import pytest

from course_lib.grading import check, part

TESTS = Path(__file__).parents[1]


def test_a_hazard_is_found_though_the_numbers_are_right():
    path = TESTS / "wrong_kernels/04_tiling/second_barrier_missing_right_result.cu"
    verdict = check(path.read_text(encoding="utf-8"), part("04_tiling", "tile"))
    assert {finding.kind for finding in verdict.findings} == {"hazard"}
    assert "right all the same" in verdict.findings[0].message
    assert all(outcome.passed for outcome in verdict.gates)


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
