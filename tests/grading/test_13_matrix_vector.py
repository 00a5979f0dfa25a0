"""Exercise 13 beyond what every exercise is tested for: K's kernels at its gates, what rows cost, pictures, texts without a matrix."""

import pytest

from course_lib import kernels
from course_lib.check.mxv import Mxv
from course_lib.grading import check, part
from course_lib.grading.exercises.e13_matrix_vector import sectors_of
from course_lib.grading.judge.spec import SECTORS_STORED
from course_lib.grading.pictures import counted_lines, worst_banks, worst_request
from course_lib.grading.shown import shared_table

EXERCISE = "13_matrix_vector"
MAIN, FREE = part(EXERCISE, "main"), part(EXERCISE, "free")
LOADS, STORES, FRONTS = FREE.gates
OF_K = {        # sectors loaded, stored for 32 components: lanes 64 bytes apart take 8 times the sectors, with loads of 16 bytes twice
    "mxv_i_lbuf": (32, 32), "mxv_o_lbuf": (32, 32), "mxv_o_per_thd": (32, 4), "mxv_vec_ld": (8, 32),
    "mxv_vls": (4, 4), "mxv_sh": (4, 4), "mxv_sh_ochunk": (4, 4),
}


def of_k(name, entry):
    source = kernels.get(name).source.replace(f"\n{name}(", f"\n{entry}(")
    return source.replace("#define THREADS 256", "#define THREADS 128") if "THREADS 256" in source else f"#define THREADS 128\n{source}"


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_K)
def test_kernels_of_the_lesson_at_the_gates(name):
    verdict = check(of_k(name, "mxv_sh"), MAIN)
    assert all(outcome.passed for outcome in verdict.cases), verdict
    assert tuple(verdict.values.values()) == OF_K[name]
    assert verdict.passed == (OF_K[name] == (4, 4))


@pytest.mark.slow
def test_the_kernel_of_the_lesson_has_conflicts():
    """Rows of 9 words: a column is free of conflicts, four rows side by side cover words 0 to 34 but three, and banks 0 to 2 twice."""
    verdict = check(of_k("mxv_sh", "mxv_free"), FREE)
    assert verdict.values == {LOADS.name: 4, STORES.name: 4, FRONTS.name: 6}


@pytest.mark.slow
@pytest.mark.parametrize("row", [17, 19, 33, 47])
def test_no_odd_row_is_enough(row, answers):
    """By hand, each way: 1 wavefront down a column, 2 along two rows that do not begin 16 banks apart."""
    source = answers("solutions", EXERCISE)["mxv_sh"].replace("[N + 1]", f"[{row}]").replace("mxv_sh(", "mxv_free(")
    verdict = check(source.replace("THREADS 128", "THREADS 64"), FREE)
    assert all(outcome.passed for outcome in verdict.cases), verdict
    assert verdict.values[FRONTS.name] == 6


@pytest.mark.slow
@pytest.mark.sampled(slow=5)
@pytest.mark.parametrize("threads", [1, 7, 32, 33, 96])
@pytest.mark.parametrize("name", ["main", "main-b", "free"])
def test_a_block_may_have_any_number_of_threads(name, threads, answers):
    spec = part(EXERCISE, name)
    verdict = check(answers("solutions", EXERCISE)[spec.entry].replace("THREADS 128", f"THREADS {threads}"), spec, seed=3)
    assert all(outcome.passed for outcome in verdict.cases), verdict


def test_fewer_sectors_than_the_data_fill_do_not_pass():
    class Report:
        counters = {SECTORS_STORED: 511}
        lines = {}

    assert STORES.read(Report, 128).value == float("inf")
    Report.counters = {SECTORS_STORED: 512}
    assert STORES.read(Report, 128).value == 4


@pytest.mark.parametrize(("change", "kind", "says"), [
    (lambda text: text.replace("__constant__ float matrix", "__constant__ float weights").replace("matrix[r][c]", "weights[r][c]"),
     "launch", "has no variable named 'matrix'"),
    (lambda text: text.replace("matrix[M][N]", "matrix[M][8]"), "launch", "matrix holds 512 bytes, 1024 were given"),
    (lambda text: text.replace("THREADS 128", "THREADS 256"), "launch", "THREADS = 256 is outside 1 to 128"),
    (lambda text: text.replace("int S, const float* in", "const float* in, int S"), "entry", "int S, const float* in, float* out"),
])
def test_what_keeps_a_kernel_from_running_is_said(change, kind, says, answers):
    finding = check(change(answers("solutions", EXERCISE)["mxv_sh"]), MAIN).findings[0]
    assert finding.kind == kind
    assert says in finding.message


def test_the_gates_name_the_lines_that_load_and_store(starters):
    source = starters[EXERCISE, "main"]
    found = {finding.message.split(":")[0]: finding.source_line for finding in check(source, MAIN).findings}
    assert "in[" in found[LOADS.name]
    assert "out[" in found[STORES.name]


@pytest.mark.slow
def test_pictures_have_the_matrix_too(answers, starters):
    solved = answers("solutions", EXERCISE)
    assert "32 lanes, 64 bytes from each to the next, touch 32 sectors" in repr(worst_request(starters[EXERCISE, "main"], MAIN))
    assert "touch 4 sectors" in repr(worst_request(solved["mxv_sh"], MAIN, load=False))
    assert "at most 1 in one bank: 1 wavefront" in repr(worst_banks(solved["mxv_free"], FREE))
    assert "at most 2 in one bank: 2 wavefronts" in repr(worst_banks(solved["mxv_sh"], MAIN))
    assert "256 vectors" in str(counted_lines(solved["mxv_apart"], part(EXERCISE, "main-b")))
    assert "2,048 multiply-adds of warps" in str(shared_table(solved["mxv_free"], FREE))
    renamed = solved["mxv_free"].replace("matrix[", "weights[")
    assert worst_banks(renamed, FREE).startswith("No picture: mxv_free does not run: The source has no variable named 'matrix'")
    assert "has no variable named 'matrix'" in str(shared_table(renamed, FREE))


@pytest.mark.parametrize(("given", "right"), [
    ((16, 1, 0), 32), ((16, 2, 6), 16), ((16, 2, 7), 32), ((16, 16, 0), 4), ((4, 1, 3), 16), ((1, 1, 0), 4), ((8, 4, 4), 8),
    ((20, 16, 3), 5)])
def test_sectors_by_hand(given, right):
    assert sectors_of(*given) == right


@pytest.mark.parametrize(("given", "got", "says"), [
    ((16, 8, 0), 40, "never more than 32"), ((16, 8, 0), 0, "always touches some"),
    ((16, 8, 0), 32, "8 neighbouring lanes read one vector"),
    ((16, 2, 7), 16, "Here the first lane wants float 7"), ((4, 1, 0), 32, "counted once"), ((16, 8, 0), 2, "lines of 128 bytes"),
    ((16, 1, 0), 4, "Lane l reads vector l // chunk"), ((20, 4, 0), 4, "4 sectors hold the 128 bytes"),
    ((5, 4, 1), 8, "8 vectors are read"), ((16, 8, 0), 17, "")])
def test_a_mistake_in_counting_is_named(given, got, says):
    guess = part(EXERCISE, "predict").guess(given, got)
    assert says in guess
    assert bool(says) == bool(guess)


def test_the_operation_of_each_part():
    assert [part(EXERCISE, name).operation for name in ("main", "main-b", "free")] == [Mxv(), Mxv("out"), Mxv()]
