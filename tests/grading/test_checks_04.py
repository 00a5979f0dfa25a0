"""Exercise 04: the reference and other right kernels pass, the starter fails, wrong kernels fail for their reason."""

from pathlib import Path

import pytest

from course_lib.grading import NotPassedError, check, part

TESTS = Path(__file__).parents[1]
WRONG = sorted((TESTS / "wrong_kernels/04_tiling").glob("*.cu"))
RIGHT = sorted((TESTS / "right_kernels/04_tiling").glob("*.cu"))
PARTS = {"stage": "stage_a", "tile": "tiled", "wide": "wide"}


def header(path):
    """Return the part that a kernel file is for, and the kind and words of the finding it must give ("" for none)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    name, reason = ([line.split(label)[1].strip() for line in lines if line.startswith(f"// {label}")]
                    for label in ("Part", "Must fail for"))
    kind, _, words = (reason or [""])[0].partition(": ")
    return name[0], kind, words


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_kernel_fails_for_its_reason(path):
    name, kind, words = header(path)
    verdict = check(path.read_text(encoding="utf-8"), part("04_tiling", name))
    assert not verdict.passed
    assert any(finding.kind == kind and words in finding.message for finding in verdict.findings), verdict


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_a_different_right_kernel_passes(path):
    source, spec = path.read_text(encoding="utf-8"), part("04_tiling", header(path)[0])
    for seed in (None, 7, 8):
        verdict = check(source, spec, seed=seed)
        assert verdict.passed, verdict


@pytest.mark.parametrize("name", PARTS)
def test_the_reference_passes_and_reaches_what_the_statement_says(name, answers):
    spec = part("04_tiling", name)
    verdict = check(answers("solutions", "04_tiling")[PARTS[name]], spec, seed=5)
    assert verdict.passed, verdict
    assert len(verdict.cases) == len(spec.cases({"BM": 16, "BN": 16, "BK": 16})) + 3, "three inputs are drawn"
    assert verdict.values == {gate.name: gate.achievable for gate in spec.gates}


@pytest.mark.parametrize("name", PARTS)
def test_the_starter_is_right_but_stands_where_the_statement_says(name, answers):
    spec = part("04_tiling", name)
    verdict = check(answers("exercises", "04_tiling")[PARTS[name]], spec)
    assert [finding.kind for finding in verdict.findings] == ["gate"], verdict
    assert verdict.values == {gate.name: gate.starter for gate in spec.gates}
    assert all(outcome.passed for outcome in verdict.cases)
    with pytest.raises(NotPassedError, match="gate: line"):
        verdict.require()


def test_the_statement_has_the_numbers_of_the_specs():
    text = (TESTS.parent / "exercises/04_tiling/04_tiling.ipynb").read_text(encoding="utf-8")
    for name, entry in PARTS.items():
        gate, = part("04_tiling", name).gates
        assert f"| `{entry}` | {gate.starter:.4f} | {gate.achievable:.4f} | at most {gate.limit:.4f} |" in text


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


@pytest.mark.parametrize("tile", [(8, 32, 16), (32, 32, 32), (16, 12, 20), (1, 32, 1)])
def test_a_right_kernel_passes_every_input_with_any_tile(tile, answers):
    source = answers("solutions", "04_tiling")["tiled"]
    for name, size in zip(("BM", "BN", "BK"), tile, strict=True):
        source = source.replace(f"#define {name} 16", f"#define {name} {size}")
    verdict = check(source, part("04_tiling", "tile"))
    assert all(outcome.passed for outcome in verdict.cases), verdict
