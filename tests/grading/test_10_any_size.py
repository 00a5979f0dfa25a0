"""Exercise 10, beyond what every exercise is tested for: part 1 is what the lesson's kernel does, each gate sees what it is for."""

import pytest
from answer_files import files

from course_lib.grading import check, part
from course_lib.grading.exercises import e10_any_size as e10
from course_lib.lessons.any_size.guards import FFMA, guarded

EXERCISE = "10_any_size"


@pytest.fixture(scope="module")
def solved(answers):
    return answers("solutions", EXERCISE)


@pytest.mark.parametrize("size", [(128, 64, 32), (65, 64, 32), (64, 64, 33), (129, 65, 16)])
def test_part_1_is_what_wangs_kernel_does(size):
    found = guarded("Wang", *size)
    fast, outside = e10.predicted(*size, 64, 64, 16)
    M, N, K = size
    products = found.result.counters[FFMA] - M * N            # alpha times the sum, plus 0, is one more for each element
    assert sum(not block.tested for block in found.blocks) == fast
    assert M * N * K / products == pytest.approx(1 - outside)


@pytest.mark.parametrize(("got", "says"), [
    ((2, 1 / 6), "blocks that must test"), ((6, 1 / 6), "all blocks"), ((3, 1 / 6), "blocks are wrong"), ((4, 5 / 6), "that is needed"),
    ((4, 0.2), "not by those that are needed"), ((4, 100 / 6), "0.25, not 25"), ((4, 0.4), "share is wrong")])
def test_a_wrong_prediction_is_told_its_mistake(got, says):
    given = 160, 128, 16, 64, 64, 16
    assert e10.predicted(*given) == (4, 1 / 6)
    assert says in e10.PARTS[0].guess(given, got)


@pytest.mark.slow
def test_the_numbers_of_the_notes(solved):
    """What the instructor's notes say of answers that are neither solution nor starter."""
    spec, text = part(EXERCISE, "main"), solved["clamped"]
    tested = text.replace("k0 + k < K ? B[(k0 + k) * ldb + there]", "k0 + k < K && col < N ? B[(k0 + k) * ldb + col]")
    tested = tested.replace("(row < M ? row : M - 1)", "row").replace("k0 + on < K ?", "row < M && k0 + on < K ?")
    pointer = text.replace("const int there = col < N ? col : N - 1; ", "const float* b = &B[col < N ? col : N - 1];").replace(
        "B[(k0 + k) * ldb + there]", "b[(k0 + k) * ldb]")
    ends = text.replace("k < BK; ++k", "k < BK && k0 + k < K; ++k").replace("k0 + k < K ? B[(k0 + k) * ldb + there] : 0.0f",
                                                                            "B[(k0 + k) * ldb + there]")
    assert [machine(answer, spec) for answer in (tested, pointer, ends)] == pytest.approx([2.7825, 3.4874, 2.8392], abs=1e-4)
    spec, text = part(EXERCISE, "peeled"), solved["peeled"]
    loop = text[text.index("        for (int k = 0; k < BK"):text.index("        __syncthreads();" + 35 * " " + "// everyone")]
    rest = loop.replace("k < BK", "k < K - k0")
    asked = text[:text.index("    if (whole < K)")] + text[text.index("    for (int i = 0; i < BM; ++i)\n        if (row0"):]
    asked = asked.replace("k0 < whole", "k0 < K").replace("= a[k0];", "= k0 + on < K ? a[k0] : 0.0f;").replace(
        loop, f"        if (k0 + BK <= K) {{\n{loop}        }} else {{\n{rest}        }}\n")
    assert machine(asked, spec) == pytest.approx(2.3966, abs=1e-4)


def machine(answer, spec):
    verdict = check(answer, spec)
    assert all(outcome.passed for outcome in verdict.cases), verdict
    return verdict.values[e10.MACHINE]


@pytest.mark.slow
def test_of_two_loops_on_the_same_lines_the_second_gate_reads_the_one_that_ran():
    """The machine instructions of a way that was not taken may be counted: each of these passes that gate."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in files("wrong_kernels", EXERCISE)}
    for name, key, gate in (("fast_path_for_whole_blocks", "main", e10.DIVERGED), ("fast_path_for_whole_k", "peeled", e10.PTX)):
        spec = part(EXERCISE, key)
        values = check(texts[name], spec).values
        limits = {gate.name: gate.limit for gate in spec.gates}
        assert values[e10.MACHINE] < limits[e10.MACHINE]
        assert values[gate] > 1.2 * limits[gate]
