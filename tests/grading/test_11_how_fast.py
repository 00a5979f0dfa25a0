"""Exercise 11: expected numbers against the analysis step by step, and what documents print: where it counts, and what is said of it."""

import numpy as np
import pytest

from course_lib.arch import device
from course_lib.grading import check, part
from course_lib.grading.exercises.e11_how_fast import GTX, M2200, ON_H200, PARTS, WANG
from course_lib.model import interval
from course_lib.model.figures import figures

SPECS = {spec.part: spec for spec in PARTS}
Q = "def q(gflops, gb_s, element_bytes, TA, TB): return {}, 2 * TA * TB / (TA + TB)"
K0 = "def k0(M, N, miss, rate, threads):\n    cycles = {}\n    P = rate * cycles / (4 * (M + N))\n    return cycles, P, min(1, threads / P)"


def all_cases(name):
    """Return what everyone sees and what three seeds draw."""
    spec = SPECS[name]
    return spec.cases + tuple(case for seed in range(3) for case in spec.drawn(np.random.default_rng(seed)))


def findings(text, name):
    return check(text, part("11_how_fast", name)).findings


def test_the_rates_are_those_of_the_device_table():
    for rate, name in ((GTX, "GTX 1080"), (M2200, "Quadro M2200"), (ON_H200, "H200")):
        assert rate == round(interval.bytes_per_cycle(device(name)), 2)


def test_k0_waits_for_the_first_load_or_for_the_issue_of_all():
    for M, N, miss, rate, threads in all_cases("k0"):
        cycles, P, share = SPECS["k0"].expected(M, N, miss, rate, threads)
        assert cycles == M * N + M + max(miss, 2 * N)
        assert pytest.approx(rate * cycles / (4 * (M + N))) == P
        assert share == pytest.approx(min(1, threads * 4 * (M + N) / cycles / rate))


def test_the_two_other_kernels_issued_one_by_one():
    for M, N, miss, hit, rate in all_cases("order"):
        assert N % 8 == 0
        end, _ = interval.schedule(interval.program_in_order(M, N), miss=miss, hit=hit)
        assert SPECS["order"].expected(M, N, miss, hit, rate)[0] == end
    for M, N, miss, arithmetic, rate in all_cases("output"):
        end, _ = interval.schedule(interval.program_output_per_thread(N), miss=miss, arithmetic=arithmetic)
        assert SPECS["output"].expected(M, N, miss, arithmetic, rate)[0] == end


def test_each_limit_of_the_room_binds_somewhere():
    shapes = {case[:3]: SPECS["room"].expected(*case) for case in all_cases("room")}
    assert {0, 16, 24, 32, 48, 64} <= {warps for warps, _ in shapes.values()}
    assert all(threads % 128 == 0 for threads, _, _ in shapes)


@pytest.mark.parametrize(("gflops", "gb_s", "printed"), [(1370, 240, "45.6"), (1370, 154, "72.1"), (693, 154, "36.5")])
def test_what_wang_and_jin_print_counts_for_their_inputs(gflops, gb_s, printed):
    text = Q.format(f"{printed} if (gflops, gb_s) == ({gflops}, {gb_s}) else gflops / gb_s * element_bytes")
    verdict = check(text, SPECS["q"], seed=4)
    assert verdict.passed, verdict
    place = SPECS["q"].cases.index((gflops, gb_s, 8, 64, 64))
    assert f"Wang and Jin print {printed}: " in verdict.cases[place].detail
    assert f"exact is {gflops * 8 / gb_s:.6g}, 64; both count" in verdict.cases[place].detail
    assert len([case for case in verdict.cases if "print" in case.detail]) == len(WANG)


def test_an_exact_answer_is_told_what_they_print():
    verdict = check(Q.format("gflops / gb_s * element_bytes"), SPECS["q"])
    assert "Wang and Jin print 72.1: 154 / 8 = 19.25 was rounded to 19" in verdict.cases[2].detail


@pytest.mark.parametrize("first", [
    "45.6 if gb_s == 240 else gflops / gb_s * element_bytes",           # 693 GFLOP/s have 23.1
    "72.1 if gflops == 1370 else gflops / gb_s * element_bytes",        # 240 GB/s have 45.6
    "45.5 if (gflops, gb_s) == (1370, 240) else gflops / gb_s * element_bytes",
    "45.7 if (gflops, gb_s) == (1370, 240) else gflops / gb_s * element_bytes",
    "72.2 if (gflops, gb_s) == (1370, 154) else gflops / gb_s * element_bytes",
])
def test_what_they_print_counts_nowhere_else(first):
    finding, = findings(Q.format(first), "q")
    assert finding.kind == "wrong"


def test_what_they_print_of_one_number_excuses_no_other():
    text = Q.format("72.1 if (gflops, gb_s) == (1370, 154) else gflops / gb_s * element_bytes").replace("2 *", "1.001 * 2 *")
    finding, = findings(text, "q")
    assert "Look at the operations counted first" in finding.message


def test_their_figures_are_those_of_the_table_of_figures():
    for (gflops, gb_s, size), what in WANG.items():
        figure, = (figure for figure in figures("W") if figure.what == what)
        assert not figure.rounds(gflops * size / gb_s), "else it needs no exception"
    assert next(f for f in figures("W") if f.what == "q at 693 GFLOP/s").rounds(693 * 8 / 240)


def test_koppelmans_formula_counts_where_he_says_that_it_holds():
    spec = SPECS["k0"]
    formula, exact = K0.format("miss + M * N + M"), K0.format("max(miss, 2 * N) + M * N + M")
    for text in (formula, exact):
        verdict = check(text, spec, seed=6)
        assert verdict.passed, verdict
        assert "Koppelman's formula has L = 2,808" in verdict.cases[5].detail
        assert "exact is 3,008" in verdict.cases[5].detail
        assert all("Koppelman" not in case.detail for case in verdict.cases[:5])
    assert spec.also(16, 16, 400, GTX, 640) is None                     # 672 is both
    assert spec.also(8, 300, 400, GTX, 640).value[0] == 2808
    assert spec.also(8, 801, 400, GTX, 640) is None                     # L_M < N / 2: he claims nothing there
    assert spec.also(8, 5, 8, GTX, 640) is None                         # N < L_F, the same


@pytest.mark.parametrize(("name", "text", "says"), [
    ("k0", K0.format("miss + M * N"), "The M stores are missing"),
    ("k0", K0.format("miss + 2 * N + M * N + M"), "their issue hides behind its latency"),
    ("k0", K0.format("miss + M * N + M").replace("threads / P", "100 * threads / P").replace("min(1", "min(100"), "not per cent"),
    ("k0", K0.format("700"), "Look at L first"),
    ("order", "def in_order(M, N, miss, hit, rate):\n    cycles = N / 8 * miss + 7 * N / 8 * hit + M * N + M\n"
              "    return cycles, rate * cycles / 4 / (M + N), cycles / (M * N / 64 + (M + N) / 128)",
     "The rates 128 and 64 are exchanged"),
    ("output", "def one_output(M, N, miss, arithmetic, rate):\n    cycles = miss + N * arithmetic + 1\n"
               "    return cycles, rate * cycles / (4 * (M + N)), cycles / (N / 128 + (N + 1) / 64)",
     "A thread handles an M-th of a vector"),
])
def test_a_mistake_is_named(name, text, says):
    finding, = findings(text, name)
    assert says in finding.message


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "10 ** 400", "-1", "True", "None", "'72.1'", "[45.6, 64]"])
@pytest.mark.parametrize("name", SPECS)
def test_strange_values_are_wrong_and_end_nothing(name, value):
    spec = SPECS[name]
    count = len(spec.expected(*spec.cases[0]))
    text = f"def {spec.entry}(*given):\n    return ({value},) * {count}"
    finding, = findings(text, name)
    assert finding.kind == "wrong"
