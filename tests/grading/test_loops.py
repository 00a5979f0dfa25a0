"""Loops for the CPU as a kernel of one thread: the same lines as `count_lines`, mistakes found with their line, no way to other memory."""

import numpy as np
import pytest

from course_lib.check.loops import Loops
from course_lib.grading import Case, Gate, LoopsSpec, check
from course_lib.grading.judge import loops_text
from course_lib.grading.judge.engine import Here
from course_lib.grading.judge.loops_check import run_loops
from course_lib.grading.judge.loops_spec import LINES, drawn_sizes, lines_per_work, loop_cases
from course_lib.kernels.cpu import ORDERS
from course_lib.model.cache_lines import CacheShape, LineCounter, fetches
from course_lib.run import count_lines
from course_lib.toolchain import no_compiler

LAST = {"i": "M", "j": "N", "k": "K"}
UPDATE = "C(i, j) += alpha * A(i, k) * B(k, j);"
BLOCKED = """for (int i0 = 0; i0 < M; i0 += 24)
for (int j0 = 0; j0 < N; j0 += 16)
for (int k0 = 0; k0 < K; k0 += 8)
    for (int i = i0; i < min(i0 + 24, M); ++i)
        for (int k = k0; k < min(k0 + 8, K); ++k)
            for (int j = j0; j < min(j0 + 16, N); ++j)
                C(i, j) += alpha * A(i, k) * B(k, j);"""
KEPT = """for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) {
        const float a = alpha * A(i, k);
        for (int j = 0; j < N; ++j)
            C(i, j) += a * B(k, j);
    }"""
SUMMED = """for (int j = 0; j < N; ++j)
    for (int i = 0; i < M; ++i) {
        double sum = 0;
        for (int k = 0; k < K; ++k) sum += A(i, k) * B(k, j);
        C(i, j) = C(i, j) + alpha * (float)(sum);
    }"""


def order(letters, update=UPDATE, ends="<"):
    return "\n".join([*(f"for (int {x} = 0; {x} {ends} {LAST[x]}; ++{x})" for x in letters), f"    {update}"])


def spec(limit=0.08, operation=None, cache=1024, cases=loop_cases):
    gate = Gate(LINES, lines_per_work, limit, None, 0.07, "Stream the rows.")
    return LoopsSpec("00", "main", "Part", "mine", operation or Loops(), cases, lambda tile: Case("counters", 24, 48, 40),
                     CacheShape(cache), (gate,))


def run(text, case, cache=None, operation=None):
    """Run loops; return the trial and what they reached."""
    trial = (operation or Loops()).trial(case)
    return trial, run_loops(text, trial, spec(cache=1024) if cache is None else spec(cache=cache), Here())


TEXTS = {letters: order(letters) for letters in ORDERS} | {"blocked": BLOCKED, "kept": KEPT, "summed": SUMMED}


@pytest.mark.slow
@pytest.mark.skipif(bool(no_compiler()), reason="count_lines needs a C compiler for these")
@pytest.mark.sampled(slow=6)
@pytest.mark.parametrize("case", [Case("prime", 19, 37, 23, 1.5, -0.5, pad=3), Case("square", 32, 32, 32)], ids=lambda case: case.name)
@pytest.mark.parametrize("name", TEXTS)
def test_the_lines_are_those_of_count_lines(name, case):
    trial, found = run(TEXTS[name], case)
    A, B, before, C = trial.matrices()
    counted = count_lines(TEXTS[name], A, B, before, alpha=case.alpha, beta=case.beta, cache=CacheShape(1024), by="c")
    assert found.count.fetched == counted.fetched
    assert found.count.accesses == counted.accesses
    assert Loops().judge(trial) is None
    np.testing.assert_allclose(C, counted.C, rtol=1e-4, atol=1e-4)


def test_the_fast_count_is_that_of_the_cache_that_is_shown_one_access_after_another():
    rng, cache = np.random.default_rng(3), CacheShape(8 * 64)
    matrices, rows, cols = rng.integers(0, 3, 4000), rng.integers(0, 6, 4000), rng.integers(0, 64, 4000)
    matrices[1000:3000] = np.tile([0, 1, 2, 1], 500)
    rows[2000:3000], cols[2000:3000] = 1, np.arange(1000) // 40
    for ways in (None, 4, 2, 1):
        shape = CacheShape(cache.size, ways=ways)
        counter = LineCounter([(6, 64, 64)] * 3, 4, shape)
        for access in zip(matrices.tolist(), rows.tolist(), cols.tolist(), strict=True):
            counter.touch(*access)
        found = fetches(matrices, matrices * 24 + rows * 4 + cols // 16, shape)
        assert np.bincount(matrices[found], minlength=3).tolist() == counter.finish().fetched


@pytest.mark.slow
@pytest.mark.parametrize("turned", ["A", "B", "AB"])
def test_other_layouts_are_right_and_their_shapes_are_the_stored_ones(turned):
    a, b = Loops(turned).elements
    text = order("ijk", f"C(i, j) += alpha * {a} * {b};")
    trial, found = run(text, Case("prime", 7, 11, 5, 1.5, -0.5, pad=2), operation=Loops(turned))
    assert Loops(turned).judge(trial) is None
    assert found.shapes[0][:2] == ((5, 7) if "A" in turned else (7, 5))
    assert found.shapes[1][:2] == ((11, 5) if "B" in turned else (5, 11))
    wrong = check(order("ijk"), spec(operation=Loops(turned)))
    assert "The indices of A" in wrong.findings[0].message or "The indices of B" in wrong.findings[0].message


@pytest.mark.slow
def test_the_gate_names_the_line_that_fetches_most():
    finding, = check(order("jki", "C(i, j) += alpha * A(i, k) *\n    B(k, j);"), spec()).findings
    assert finding.kind == "gate"
    assert finding.line == 4
    assert "lines of A" in finding.message
    assert check(order("ikj"), spec()).passed
    assert check(KEPT, spec()).passed


@pytest.mark.sampled(slow=6)
@pytest.mark.parametrize(("text", "says"), [
    (order("ikj", "C(i, j) += A(i, k) * B(k, j);"), "alpha is not applied"),
    (order("ikj", "C(i, j) += alpha * alpha * A(i, k) * B(k, j);"), "alpha is applied twice"),
    (order("ikj", "C(i, j) = alpha * A(i, k) * B(k, j);"), "Only the last product"),
    (order("ikj", "C(i, j) += alpha * A(i, k) * B(j, k);"), "The indices of B are exchanged: B(k, j)"),
    (order("ikj", "C(i, j) += alpha * A(k, i) * B(k, j);"), "The indices of A are exchanged: A(i, k)"),
    (order("ikj", "C(j, i) += alpha * A(i, k) * B(k, j);"), "The product is transposed"),
    (order("ikj", "C(i, j) += alpha * A(k, j) * B(i, k);"), "It is B A instead of A B"),
    (order("ikj", "C(i, j) -= 0;"), "Nothing was added"),
    (BLOCKED.replace("min(k0 + 8, K)", "min(k0 + 9, K)"), "The product of k = 8 is added 2 times, and that of 2 other k"),
    (order("ikj").replace("k < K", "k < K - 1"), "The sums end at k = 31"),
    (order("ikj").replace("k = 0", "k = 1"), "The sums begin at k = 1"),
    (order("ikj").replace("i < M", "i < M / 16 * 16"), "From row"),
    (order("ikj").replace("j < N", "j < N / 16 * 16"), "From column"),
    (order("ikj", "{ if (k == 0) C(i, j) *= beta; C(i, j) += alpha * A(i, k) * B(k, j); }"), "beta is applied twice"),
    (order("ikj", "{ if (k == 0) C(i, j) = 0; C(i, j) += alpha * A(i, k) * B(k, j); }"), "What C held is lost"),
    (order("ikj", "{ float none; C(i, j) += none * 0 + 0 / (C(i, j) - C(i, j)); }"), "NaN"),
])
@pytest.mark.slow
def test_a_wrong_result_comes_with_the_mistake_behind_it(text, says):
    wrong = [finding.message for finding in check(text, spec()).findings if finding.kind == "wrong"]
    assert wrong
    assert says in wrong[0]


@pytest.mark.slow
def test_an_index_outside_is_found_with_matrix_bounds_and_line():
    finding, = check(f"// first line\n{order('ikj', ends='<=')}", spec()).findings
    assert (finding.kind, finding.line) == ("out of bounds", 5)
    assert "(0, 32) does not exist" in finding.message
    negative = check(order("ikj", "C(i, j) += alpha * A(i, k) * B(k - 1, j);"), spec()).findings[0]
    assert "B(-1, 0) does not exist: B has 32 rows" in negative.message
    padded = spec(cases=lambda tile: (Case("padded", 4, 4, 4, pad=4),))
    assert "C(0, 4) does not exist" in check(order("ikj", "C(i, j + 1) += alpha * A(i, k) * B(k, j);"), padded).findings[0].message


@pytest.mark.parametrize("text", [
    order("ikj").replace("++k", "k += 0"),
    "float x = 0;\nfor (long n = 0; n < 2000000000; ++n)\n    x = x * alpha + 1;\nC(0, 0) = x;",
])
def test_loops_that_do_not_end_are_ended(text):
    verdict = check(text, spec())
    assert verdict.findings[0].kind == "endless"
    assert [outcome.passed for outcome in verdict.cases].count(None) == len(verdict.cases) - 1


def test_compiler_errors_have_the_lines_of_the_answer():
    finding, *_ = check("// %%c mine\nfor (int i = 0; i < M; ++i)\n    A(i, 0) = 1;", spec()).findings
    assert (finding.kind, finding.line, finding.source_line) == ("compile", 3, "    A(i, 0) = 1;")
    finding, *_ = check("// %%c mine\nC(0, 0) = 1", spec()).findings
    assert finding.line == 2


@pytest.mark.parametrize(("text", "says"), [
    ("", "holds no loops"),
    ("// nothing", "holds no loops"),
    ("float sum[4];", "an array would be memory"),
    ("float *p;", "`*` stands between"),
    ("float x = *(float*)(1234567);", "`*` stands between"),
    ("int i = 3; float x = (float*)(i);", "`*` stands between"),
    ("float x = 0; int n = (&x);", "No addresses"),
    ("float <: 4 :> x;", "`<:` has no place"),
    ("%:include </etc/passwd>", "`%:` has no place"),
    ("#include </etc/passwd>", "begin with #"),
    ("// harmless \\\n/*\nint x = 1; */", "has no place in the text"),
    ("// harmless ??/\n/*\nint x = 1; */", "has no place in the text"),
    ("// harmless \x0bint x;", "has no place in the text"),
    ("void f(int M) {}", "leave out the function"),
    ("} int x; {", "closes nothing"),
    ("for (int i = 0; i < M; ++i) {", "not closed"),
    ("(min)(1, 2);", "cannot be called"),
    ("int x = min;", "must be followed by its arguments"),
    ("int i = 0; (i)(1);", "cannot be called"),
    ("int memcpy = 0; (0, memcpy)(1, 2, 3);", "cannot be called"),
    ("int memcpy = 0; memcpy(1, 2, 3);", "`memcpy(` has no place"),
    ("printf(1);", "`printf` is not known"),
    ("__trap();", "`__trap` is not known"),
    ("asm(1);", "`asm` is not known"),
    ("int x = threadIdx.x;", "`threadIdx` is not known"),
    ("course_access.used = 0;", "`course_access` is not known"),
    ("int course_access = 0;", "`course_access` is not known"),
    ("int __x = 0;", "`__x` is not known"),
    ("float bitand x = 1;", "`bitand` is not known"),
    ("auto x = 1;", "`auto` is not known"),
    ("static float x = 1;", "`static` is not known"),
    ("struct S; int x;", "`struct` is not known"),
    ("int x = 0; x.y = 1;", "`.` has no place"),
    ("int x = 0; x->y = 1;", "`->` has no place"),
    ("int x = ::M;", "`::` has no place"),
    ("int x = 0; float bitand x = 1;", "`bitand` is not known"),
    ("const auto x = 1;", "`auto` is not known"),
    ("int x {3};", "`{` begins no block"),
    ("int x = 'a';", "`'` has no place"),
    ('int x = "a";', '`"` has no place'),
    ("int é = 1;", "`é` has no place"),
    ("int x = ²;", "`²` has no place"),
    ("goto out;", "by `break`"),
    ("/* int x = 1;", "`*` stands between"),
    ("int x = sizeof(int);", "`sizeof` is not known"),
    ("int(x) = 3;", "`int(` has no place"),
])
def test_no_text_reaches_memory_otherwise(text, says):
    finding = loops_text.problem(text)
    assert finding.kind == "entry"
    assert says in finding.message
    assert not check(text, spec()).passed


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("text", [
    KEPT, SUMMED, BLOCKED, "int i = 0, j = 1;\nwhile (i < M && !(j >= N)) { i++; j += i % 2 ? 1 : 2; if (j > 7) break; else continue; }",
    "do { if (M > 0) (void_ ? 1 : 2); } while (false);".replace("(void_ ? 1 : 2)", "C(0, 0) += 0"),
    "for (int i = 0; i < M; ++i) { /* don't */ const unsigned n = 0x1f; const float x = 1.5e-3f * -(float)(i + 1) * n; C(i, 0) += 0 * x; }",
    "const double a = .5, b = 1.; if ((a + b) * 2 > 3 || M == 1) return; C(0, 0) += (a - b) * (a + b);",
])
def test_usual_loops_are_taken(text):
    assert loops_text.problem(text) is None
    run(text, Case("small", 3, 4, 5))


def test_line_ends_of_other_systems_do_not_matter():
    assert check(KEPT.replace("\n", "\r\n"), spec()).passed
    assert check(KEPT.replace("\n", "\r"), spec()).passed


def test_the_seed_draws_other_sizes_and_numbers():
    drawn = [drawn_sizes(np.random.default_rng(seed)) for seed in (1, 2)]
    assert drawn[0] != drawn[1]
    assert all(1 <= size <= 70 for case in drawn[0] for size in (case.M, case.N, case.K))
    assert len(check(KEPT, spec(), seed=1).cases) == len(loop_cases()) + 3
    assert "the starter" not in str(spec())
    assert "1 KiB, fully associative" in str(spec())


@pytest.mark.parametrize("forge", [
    lambda log, end: end.__setitem__(5, -1),
    lambda log, end: end.__setitem__(5, 2**30),
    lambda log, end: end.__setitem__(0, 7),
    lambda log, end: end.__setitem__(slice(0, 2), (1, 5)),
    lambda log, end: log.__setitem__(0, 3 << 32),
    lambda log, end: log.__setitem__(0, 2**31),
    lambda log, end: log.__setitem__(0, 2**64 - 1),
])
def test_an_engine_that_says_what_no_loops_reach_is_not_believed(forge):
    class Forger(Here):
        def launch(self, *given, **options):
            report = super().launch(*given, **options)
            forge(given[4][-3], given[4][-1])
            return report

    verdict = check(KEPT, spec(), engine=Forger())
    assert not verdict.passed
    assert "nothing that loops reach" in verdict.findings[0].message
