"""Exercise 16, beyond what every exercise is tested for: what its gate counts, the bound of part 1, and the table of errors."""

from types import SimpleNamespace

import pytest

from course_lib.grading import check, part
from course_lib.grading.exercises.e16_tensor_cores import MATRIX, OF_LANES, arithmetic, bound
from course_lib.grading.shown import error_table
from course_lib.run.accuracy import tolerance

EXERCISE = "16_tensor_cores"
WORK = 64 * 64 * 128
FIRST_LOAD = "            for (int p = 0; p < 3; ++p) {\n                wmma::load"       # of the split's products
PRODUCTS_END = "        }\n        // STARTER\n        // for (int k = 0; k < BK; ++k)"


def report(matrix, **lanes):
    """Return what the simulator would report of so many matrix instructions, and operations of lanes."""
    of_lanes = {name: next((n for op, n in lanes.items() if f"_{op}_" in name), 0) for name in OF_LANES}
    counters = of_lanes | {MATRIX: matrix}
    return SimpleNamespace(counters=counters, lines={7: counters})


@pytest.mark.parametrize(("matrix", "lanes", "value"), [
    (0, {"ffma": WORK}, 64),
    (0, {"fmul": WORK, "fadd": WORK}, 128),
    (0, {"dfma": WORK}, 64),
    (0, {}, 64),                                # by whatever is not counted
    (WORK // 4096, {}, 32.5),                   # half of it
    (WORK // 2048, {}, 1),
    (WORK // 2048, {"ffma": WORK // 128}, 1.5),
    (WORK // 512, {}, 4),
])
def test_the_gate_counts_every_multiply_add_somewhere(matrix, lanes, value):
    reading = arithmetic(report(matrix, **lanes), WORK)
    assert reading.value == pytest.approx(value)
    assert reading.shares.keys() <= {7}


@pytest.mark.slow
def test_the_line_with_the_products_is_shown(starters):
    verdict = check(starters[EXERCISE, "main"], part(EXERCISE, "main"))
    finding, = verdict.findings
    assert "acc[e] +=" in finding.source_line


@pytest.mark.parametrize(("bits", "name"), [(8, "bf16"), (11, "tf32")])
@pytest.mark.parametrize("K", [1, 16, 1000])
def test_the_bound_is_that_of_the_check_without_what_tensor_cores_cut_off(bits, name, K):
    u = 2.0**-24
    assert bound(bits, K) <= tolerance(K, inputs=name) <= bound(bits, K) + 1.02 * (0.5 * K + 5) * u


def test_from_which_k_on_sums_cost_more_than_rounding_to_tf32():
    assert (16_386 - 1) * 2.0**-24 > 2 * 2.0**-11 >= (16_385 - 1) * 2.0**-24


@pytest.mark.slow
def test_the_table_sets_a_kernel_beside_the_bounds(answers, starters):
    tables = {name: error_table(answers("solutions", EXERCISE)[spec.entry], spec)
              for name in ("main", "main-b", "split") for spec in [part(EXERCISE, name)]}
    for name, table in tables.items():
        own, *bounds = (float(row[1]) for row in table.rows)
        assert bounds == [float(f"{tolerance(128, inputs=inputs):.1e}") for inputs in ("", "tf32", "bf16")]
        held, = table.marked
        assert own < float(table.rows[held][1])
        assert held == (1 if name == "split" else 3)
        assert (own < bounds[0]) == (name == "split")
    assert "why there is nothing to count" in repr(error_table("int x;", part(EXERCISE, "main")))


def changed(text, *pairs):
    """Return a text with each `old` replaced by its `new`; all must be there."""
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.slow
def test_half_precision_passes_and_cut_off_numbers_do_not(answers):
    """The instructor's note says so."""
    spec, text = part(EXERCISE, "main"), answers("solutions", EXERCISE)["tensor"]
    half = changed(text, ("__nv_bfloat16", "__half"), ("__float2bfloat16", "__float2half"))
    sums = changed(half, ("accumulator, 16, 16, 16, float", "accumulator, 16, 16, 16, __half"), ("(acc, 0.0f)", "(acc, __half(0.0f))"),
                   ("float Cs[", "__half Cs["), ("Cs[warp][r][lane % 16]", "__half2float(Cs[warp][r][lane % 16])"))
    assert check(half, spec).passed
    assert check(sums, spec).passed
    finding, = check(changed(text, ("__float2bfloat16", "__float2bfloat16_rz")), spec).findings
    assert "a single element" in finding.message
    assert "cut off to 8 bits" in finding.message


@pytest.mark.slow
def test_one_accumulator_for_the_split_is_cheaper_and_less_exact(answers):
    """The instructor's note says so."""
    spec, text = part(EXERCISE, "split"), answers("solutions", EXERCISE)["split"]
    begin, end = text.index("            wmma::fragment<wmma::accumulator, 16, 16, 16, float> d;"), text.index(FIRST_LOAD)
    one = text[:begin] + text[end:]
    begin, end = one.index("            for (int e = 0; e < acc.num_elements"), one.index(PRODUCTS_END)
    one = changed(one[:begin] + one[end:], ("mma_sync(d, a[p], b[sum - p], d)", "mma_sync(acc, a[p], b[sum - p], acc)"))
    verdict = check(one, spec)
    assert verdict.passed
    assert list(verdict.values.values()) == [14.5]
    errors = [float(error_table(answer, spec).rows[0][1]) for answer in (text, one)]
    assert 2 * errors[0] < errors[1] < tolerance(128)


@pytest.mark.slow
def test_two_parts_are_found_where_k_is_small(answers):
    """The instructor's note says so."""
    text = changed(answers("solutions", EXERCISE)["split"], ("[3]", "[2]"), ("p < 3", "p < 2"), ("int sum = 2", "int sum = 1"))
    passed = {int(outcome.detail.split("K=")[1].split()[0].rstrip(",")): outcome.passed
              for outcome in check(text, part(EXERCISE, "split")).cases if outcome.name in ("square, whole tiles", "padded rows")}
    assert passed == {64: True, 32: False}
