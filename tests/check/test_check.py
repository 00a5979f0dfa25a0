"""`check`: wrong kernels get their diagnosis, counters that look bad their line, good kernels nothing."""

import dataclasses
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import kernels
from course_lib.check import check, counters
from course_lib.check.lessons import EXPLAINS, PACKAGES, TITLES, lesson_of
from course_lib.check.report import CheckReport
from course_lib.check.trials import Store, Trials, storing
from course_lib.errors import CourseError
from course_lib.grading import check as judge
from course_lib.grading import part
from course_lib.grading.sandbox import inside
from course_lib.lessons import first_kernel, tiling
from course_lib.run import matches, run
from course_lib.simt import AsyncFinding, ProductFinding, Report
from course_lib.simt.async_report import KINDS, OF_PRODUCTS
from course_lib.widgets.compute import inputs

ROOT = Path(__file__).resolve().parents[2]
WRONG = sorted(path for path in (ROOT / "tests/wrong_kernels/04_tiling").glob("*.cu") if not path.stem.startswith("at_"))   # not of A B
TILED, NAIVE = kernels.get("sgemm_tiled").source, kernels.get("sgemm_naive").source
# What only an exercise asks for is a counter here, or nothing.
INSTEAD = {"gate": "loads"}
HERE, NOTHING = (0, 0, 0), Report("k", {}, {}, {})
RULES = [*(AsyncFinding(kind, *((7, 7) if kind == "unawaited" else (3, 7)), HERE, HERE, HERE, 2, "As", 16) for kind in KINDS),
         *(ProductFinding(kind, 3, 7, HERE, HERE, HERE, 1) for kind in OF_PRODUCTS)]


def header(text):
    """Return part, kind and words of a wrong kernel's header."""
    part, reason = (re.search(rf"^// {label} +(.*)$", text, re.MULTILINE)[1] for label in ("Part", "Must fail for"))
    kind, _, words = reason.partition(": ")
    return part, kind, words


@pytest.mark.sampled(test=2, slow=10)
@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_wrong_kernel_gets_its_diagnosis(path):
    text = path.read_text(encoding="utf-8")
    part, kind, words = header(text)
    report = check(text, whole_tiles=part == "stage")
    if kind == "entry":
        assert report.right, "any name will do here"
        return
    assert report.right is (kind == "gate")
    assert any(f.kind == INSTEAD.get(kind, kind) and words in f.message for f in report.findings), report
    assert all(f.line for f in report.findings), report


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("name", ["sgemm_tiled", "sgemm_unrolled", "sgemm_ilp", "sgemm_1d_tile", "sgemm_2d_tile"])
def test_nothing_is_wrong_with_a_good_kernel(name):
    report = check(name)
    assert report.right
    assert report.findings == ()
    said = repr(report).splitlines()
    assert len(said) == 5, "a line for each property, and no more"
    assert said[0].endswith(": right (simulated)")
    assert [line[:4] for line in said[1:]] == ["  ✓ "] * 4
    assert "right on 12 of 12 inputs" in said[1]
    assert "no counter looks bad: 4 sectors per load request" in said[4]
    assert len(report.lines) > 3
    shown, folded = report._repr_html_().split("<details>")
    assert "<table" in folded
    assert "<table" not in shown


@pytest.mark.parametrize(("old", "new", "first"), [
    ("if (row >= M || col >= N) return;", "",
     "out of bounds: line 19: thread (1, 0, 0) of block (1, 0, 0) reads B[17], but B has 17 elements"),
    ("C[row * ldc + col]", "C[row * ldc + (col ^ 1)]",
     "wrong: line 22: C[0][0] is 1.27875 instead of -0.544059; thread (1, 0) of block (0, 0) stored it here"),
    ("acc += A", "acc += a", 'compile: line 19: identifier "a" is undefined')])
def test_the_first_sentence_says_what_is_wrong_and_where(old, new, first):
    report = check(NAIVE.replace(old, new))
    assert repr(report).startswith(first)
    html = report._repr_html_()
    assert html.startswith(f"<p><b>{report.findings[0].kind}</b>, line ")
    assert "<table" not in html.partition("<details>")[0], "tables are folded away"


@pytest.mark.parametrize("text", [TILED, NAIVE, TILED.replace("__syncthreads();", "", 1)])
def test_no_word_of_the_translators_is_used(text):
    assert "PTX" not in check(text)._repr_html_()


def found(report):
    """Return (kind, line) of each finding."""
    return [(f.kind, f.line) for f in report.findings]


def line_of(text, part, nth=0):
    """Return the number of the nth line that holds some text."""
    return [n for n, line in enumerate(text.splitlines(), 1) if part in line][nth]


def test_a_kernel_that_loads_again_and_again():
    report = check("sgemm_naive")
    line = line_of(NAIVE, "acc += A")
    assert found(report) == [("loads", line)]
    assert "0.1250 sectors for each multiply-add" in report.findings[0].message
    assert "lesson 04, Tiling" in repr(report)
    assert report.marks == {line: "loads"}


def test_lanes_along_a_column_are_found_at_load_and_store():
    text = kernels.get("sgemm_swapped").source
    report = check(text, like="sgemm_swapped")
    load, store = line_of(text, "acc += A"), line_of(text, "*c = alpha")
    assert found(report) == [("loads", load), ("sectors", load), ("sectors", store)]
    assert "A: 16.0 sectors a load request" in report.findings[1].message
    assert "differ by 256 bytes, and each thread goes on by 4 bytes" in report.findings[1].message
    assert "load four at once as a float4" in report.findings[1].message
    assert "C: 16.0 sectors a store request" in report.findings[2].message
    assert all("lesson 05, Coalescing" in str(f) for f in report.findings[1:])


def test_a_tile_that_is_loaded_once_but_by_columns_has_no_loads_too_many():
    kinds = [kind for kind, _ in found(check("sgemm_uncoalesced"))]
    assert "sectors" in kinds
    assert "loads" not in kinds


def test_bank_conflicts_are_found_with_array_and_distance():
    text = kernels.get("sgemm_coalesced").source
    report = check("sgemm_coalesced")
    assert found(report) == [("bank conflicts", line_of(text, "Bs[tx][ty] =")), ("bank conflicts", line_of(text, "* Bs[tx][k]"))]
    assert "Bs: 8.0 times the wavefronts" in report.findings[0].message
    assert "differ by 64 bytes: the 32 words of a warp lie in 4 of 32 banks" in report.findings[0].message, "a warp stores two columns"
    assert "differ by 64 bytes: the 16 words of a warp lie in 2 of 32 banks" in report.findings[1].message, "it loads from one"
    assert report.findings[0].lesson == "lesson 06, Bank conflicts and padding"


@pytest.mark.slow
@pytest.mark.parametrize(("tile", "times"), [(16, 4.0), (32, 8.0)])
def test_of_two_arrays_in_a_line_the_one_with_conflicts_is_named_with_its_own_count(tile, times):
    report = check("sgemm_padded", TILE=tile, PAD=0)
    assert [f.message.partition(" the")[0] for f in report.findings[1:]] == [f"Bs: {times} times"], "As has none, and does not dilute it"


def test_where_no_join_explains_a_line_its_arrays_are_named_together(monkeypatch):
    monkeypatch.setattr("course_lib.check.counters.per_array", lambda *given: {})
    assert "As and Bs: 3.0 times the wavefronts" in check("sgemm_coalesced").findings[1].message


# An odd walk over 64 parts visits each once, and the compiler cannot know where it is.
def test_an_array_that_the_compiler_cannot_keep_in_registers():
    text = NAIVE.replace("float acc = 0.0f;", "float acc = 0.0f, part[64] = {};").replace(
        "acc += A[row * lda + k] * B[k * ldb + col];", "part[(k * row) & 63] += A[row * lda + k] * B[k * ldb + col];").replace(
        "float* c =", "for (int i = 0; i < 64; ++i) acc += part[(i * (2 * M + 1)) & 63];\n    float* c =")
    report = check(text)
    assert report.right
    assert any(f.kind == "local memory" and "256 bytes per thread lie there" in f.message for f in report.findings)


def test_registers_that_did_not_suffice():
    resources = SimpleNamespace(spill_store_bytes=16, spill_load_bytes=32, registers=32, local_bytes=16)
    (kind, text, line), = counters._spills(resources)
    assert (kind, line) == ("spills", None)
    assert "16 bytes are stored and 32 loaded again" in text
    assert counters._spills(SimpleNamespace(spill_store_bytes=0, spill_load_bytes=0, registers=32, local_bytes=0)) == []


def test_a_hazard_marks_both_lines_and_each_wrong_input_is_named():
    before, barrier, after = TILED.rpartition("__syncthreads();")
    text = before + after
    report = check(text)
    (kind, line), = found(report)
    reads, writes = line_of(text, "acc += As"), line_of(text, "Bs[k][tx] =")
    assert (kind, line) == ("hazard", reads)
    assert report.marks[reads] == report.marks[writes] == "hazard"
    assert "not right: square, whole tiles; " in repr(report)
    assert "thread (0, 0) writes Bs[0][0]" in report.findings[0].message, "between two warps; a warp stores all that it reads of As"
    html = report._repr_html_()
    assert html.count('background-color:#fdeacc') >= 2
    assert "&lt;" in html
    assert report.lines == {}, "counters of a wrong kernel say nothing"


def test_an_input_that_is_right_by_luck_is_not_called_wrong():
    before, _, after = TILED.rpartition("__syncthreads();")
    report = check("#define BM 16\n#define BN 16\n#define BK 16\n" + before + after)
    assert "the result is right on 6 of 12 inputs, on 5 of them without a hazard" in report.summary()
    assert report.failed()[1] == "hazard: a row times a matrix"
    assert "On this input the result is wrong" in report.findings[0].message


def test_the_first_wrong_element_is_followed_to_its_thread():
    text = NAIVE.replace("C[row * ldc + col]", "C[row * ldc + (col ^ 1)]")
    report = check(text)
    wrong = next(f for f in report.findings if f.kind == "wrong")
    assert "C[0][0]" in wrong.message
    assert "thread (1, 0) of block (0, 0) stored it here" in wrong.message
    assert wrong.line == line_of(text, "*c = alpha")


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("B[(k0 + k) * ldb + col]", "B[k0 + k * ldb + col]", "Bs[k][tx] =",
     "C[0][0] needs B[32][0], and its block never loads that: it loads B here"),
    ("A[row * lda + k0 + k]", "A[row * lda + k]", "As[ty][k] =",
     "C[0][0] needs A[0][32], and its block never loads that: it loads A here"),
    ("As[ty][k] * Bs[k][tx]", "As[ty][k] * Bs[ty][tx]", "acc += As",
     "Thread (0, 0) reads Bs[0][0] here for every k, and no other element of Bs")])
def test_a_wrong_sum_is_followed_to_the_line_that_spoilt_it(old, new, line, says):
    assert old in TILED
    text = TILED.replace(old, new)
    wrong = next(f for f in check(text).findings if f.kind == "wrong")
    assert says in wrong.message
    assert f"stored it in line {line_of(text, '*c = alpha')}" in wrong.message
    assert wrong.line == line_of(text, line)


def test_where_nothing_shows_the_line_the_store_is_not_accused():
    text = TILED.replace("acc += As[ty][k]", "acc += (k & 1 ? 3.0f : 1.0f) * As[ty][k]")
    wrong = next(f for f in check(text).findings if f.kind == "wrong")
    assert wrong.message.partition(". ")[0].endswith("stored it here, but the mistake may lie in any line that its sum comes through")


def test_a_kernel_whose_launch_tells_of_no_tile_is_tried_on_whole_blocks():
    names = [outcome.name for outcome in check(NAIVE).inputs]
    assert names[:2] == ["square, whole blocks", "whole blocks, K is only 3"]
    assert not any("tile" in name for name in names)
    assert [outcome.name for outcome in check(TILED).inputs][1] == "rectangular, whole tiles"


def test_a_hazard_is_counted_in_words():
    before, _, after = TILED.rpartition("__syncthreads();")
    message = check(before + after).findings[0].message
    assert "writes with no barrier after the read, on input: square, whole tiles" in message
    assert "WAR" not in message


def test_in_the_lesson_that_explains_a_finding_no_lesson_is_named(monkeypatch):
    before, _, after = TILED.rpartition("__syncthreads();")
    assert check(before + after).findings[0].lesson == "lesson 04, Tiling"
    monkeypatch.setattr(sys.modules["__main__"], "first_kernel", first_kernel, raising=False)
    assert check(before + after).findings[0].lesson == "lesson 04, Tiling", "lesson 03 explains no hazards"
    monkeypatch.setattr(sys.modules["__main__"], "mine", tiling, raising=False)
    assert check(before + after).findings[0].lesson == ""
    assert "See lesson" not in repr(check(before + after))


@pytest.mark.parametrize("number", PACKAGES)
def test_each_lesson_that_explains_imports_its_package_at_its_top_and_later_ones_do_not(number):
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        first = next((n for n, cell in enumerate(cells) if f"lessons import {PACKAGES[number]}" in "".join(cell["source"])), None)
        asked = next((n for n, cell in enumerate(cells) if "check(" in "".join(cell["source"])), len(cells))
        assert (first is not None) is path.name.startswith(number), path.name
        assert first is None or first < asked


def test_what_every_reader_of_a_check_has_met_sends_nobody_to_a_lesson():
    report = check(NAIVE.replace("if (row >= M || col >= N) return;", ""))
    assert "See lesson" not in repr(report)


def test_an_element_that_nobody_stores():
    text = NAIVE.replace("if (row >= M || col >= N) return;", "if (row >= M || col >= N || row == 2) return;")
    wrong, = check(text).findings
    assert "C[2][0]" in wrong.message
    assert "never written" in wrong.message
    assert ", and no thread stored it: it was launched like sgemm_naive" in wrong.message


def test_a_kernel_that_is_launched_otherwise():
    """The grid of sgemm_naive does not cover C when rows come from x."""
    text = kernels.get("sgemm_swapped").source
    wrong, = check(text).findings
    assert "give like= if that is wrong" in wrong.message
    assert check(text, like="sgemm_swapped").right


@pytest.mark.parametrize(("text", "kind", "says"), [
    (NAIVE.replace("acc += A", "acc += a"), "compile", 'identifier "a" is undefined'),
    ("__global__ int x;", "entry", "holds no kernel"),
    ('extern "C" __global__ void mine(float* x) { }', "entry", "takes 1 arguments, not 11"),
    ("#define BM 64\n#define BN 64\n" + TILED, "entry", "4096 threads a block"),
])
def test_what_cannot_be_run_is_a_finding_too(text, kind, says):
    report = check(text)
    assert [f.kind for f in report.findings] == [kind]
    assert says in report.findings[0].message
    assert not report.right
    assert "it was not run" in repr(report)
    assert report._repr_html_()


@pytest.mark.parametrize(("arguments", "says"), [
    (("dgemm_stages",), "not checked"), (("sgemm_naif",), "did you mean"), (("matrix_sum",), "not checked"),
    (("no_such_file.cu",), "cannot be read")])
def test_what_is_no_kernel_of_this_kind_is_refused(arguments, says):
    with pytest.raises(CourseError, match=says):
        check(*arguments)


def test_parameters_and_seed_are_passed_on():
    assert "BM = 8, BN = 32, BK = 16" in check(TILED, BM=8, BN=32, BK=16).title
    assert check(NAIVE, seed=3, bx=32, by=2).right
    with pytest.raises(CourseError, match="no parameter"):
        check(NAIVE, BX=3)


def test_a_tiled_kernel_that_sets_its_threads_is_launched_with_them():
    text = (ROOT / "tests/wrong_kernels/04_tiling/wide_loads_per_output.cu").read_text(encoding="utf-8")
    A, B, _ = inputs(70, 60, 20)
    result = run(text, A, B, backend="sim")
    assert (result.block, result.grid) == ((16, 16, 1), (1, 2, 1))
    assert matches(result.C, A, B)
    with pytest.raises(CourseError, match="BX × BY = 64 × 32 = 2048 threads"):
        run(text.replace("#define BX 16", "#define BX 64").replace("#define BY 16", "#define BY 32"), A, B)


def test_a_kind_of_finding_names_a_lesson_that_is_there():
    for kind, number in EXPLAINS.items():
        assert number in TITLES, kind
    for number, title in TITLES.items():
        for path in (ROOT / "notebooks").glob(f"{number}_*.ipynb"):
            assert f"# {number} {title.split()[0]}" in path.read_text(encoding="utf-8")


def test_the_last_store_of_an_element_counts():
    def record(line, warp, operation="st.global.f32", space="global"):
        addresses = np.full(32, -1)
        addresses[4:8] = 1024 + 4 * np.arange(4)
        return SimpleNamespace(line=line, block=(1, 0, 0), warp=warp, operation=operation, addresses=addresses, width=4, space=space)

    trace = (record(7, 0), record(9, 1), record(11, 2, "ld.global.f32"), record(12, 2, space="shared"))
    report = SimpleNamespace(arrays=[SimpleNamespace(name="C", address=1024, itemsize=4)], trace=trace)
    assert storing(report, 2, (16, 4, 1)) == Store(9, (1, 0, 0), (6, 2, 0))
    assert storing(report, 4, (16, 4, 1)) is None


def transposed(**changes):
    """Return the catalog's transposition as a reader's text, with other text in places."""
    text = "#define TILE 32\n#define ROWS 8\n#ifndef PAD\n#define PAD 0\n#endif\n" + kernels.get("transpose").source
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_transposition_is_known_by_its_arguments_and_its_conflicts_are_found():
    report = check(transposed())
    assert (report.right, len(report.inputs)) == (True, 11)
    assert found(report) == [("bank conflicts", line_of(transposed(), "= tile[tx][i]"))]
    assert "tile: 32.0 times the wavefronts" in report.findings[0].message
    assert check(transposed(), PAD=1).findings == check("transpose", PAD=1).findings == ()


@pytest.mark.parametrize(("old", "new", "kind", "says"), [
    ("__syncthreads();", "", "hazard", "no __syncthreads() stands between"),
    ("first_col + i < cols && first_row + tx < rows", "first_row + i < rows && first_col + tx < cols", "out of bounds",
     "a column more than"),
    ("out[(first_col + i) * ld_out + first_row + tx]", "out[(first_row + i) * ld_out + first_col + tx]", "wrong", "stays where it was"),
])
def test_a_wrong_transposition_fails_for_its_reason(old, new, kind, says):
    report = check(transposed(change=(old, new)))
    assert not report.right
    first = report.findings[0]
    assert first.kind == kind
    assert says in first.message


def test_a_transposition_that_touches_columns_is_told_its_sectors():
    assert found(check("transpose_plain"))[0][0] == "sectors"


@pytest.mark.parametrize(("sizes", "named", "padding"), [
    ({"TILE": 16, "PAD": 1}, "tile[0][16]", True), ({"TILE": 32, "PAD": 0}, "tile[1][0]", False),
    ({"TILE": 16, "PAD": 2}, "tile[0][16]", True)])
def test_an_element_is_named_by_the_sizes_of_the_launch(sizes, named, padding):
    """The text says other sizes, under #ifndef. Only row 0 is filled, and the wrong index passes its end first."""
    text = kernels.get("transpose").source.replace("tile[i][tx] =", "if (i == 0 && tx < TILE) tile[i][tx] =")
    text = text.replace("= tile[tx][i]", "= (&tile[0][0])[tx * TILE + i]")
    report = check(text, **sizes)
    first = next(f for f in report.findings if f.kind == "uninitialised")
    assert f"{named} is read before anybody wrote it" in first.message
    assert ("is the index right?" in first.message) is padding
    assert ("fill the whole tile" in first.message) is not padding


@pytest.mark.slow
def test_a_product_of_a_warpgroup_that_lacks_a_fence_is_a_hazard():
    """A product of zeros, of which nothing comes: each thread stores 8 bytes of its factors, and no fence.proxy.async stands behind."""
    product = """
    __shared__ __align__(128) unsigned long long factors[256];
    const int t = blockDim.x * threadIdx.y + threadIdx.x;
    factors[t] = 0;
    FENCE __syncthreads();
    float d[4] = {};
    const unsigned long long at = (unsigned)__cvta_generic_to_shared(factors) >> 4, both = at | 8ull << 16 | 16ull << 32;
    asm volatile("wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, 0, 0;"
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(both) : "memory");
    if (row >= M"""
    text = NAIVE.replace("if (row >= M", product)
    report = check(text.replace("FENCE", ""), bx=16, by=16)
    finding, = report.findings
    assert finding.kind == "hazard"
    assert "Put fence.proxy.async.shared::cta behind the write. The result is right here all the same" in finding.message
    assert set(report.marks) == {line_of(text, "factors[t] = 0"), line_of(text, "asm volatile")}
    fenced = text.replace("FENCE", 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");')
    assert check(fenced, bx=16, by=16).right
    spec = dataclasses.replace(part("04_tiling", "tile"), gates=(), bounds=(), made_of=())
    asked, mended = ("".join(f"#define {name} 16\n" for name in spec.tile) + t.replace("sgemm_naive", "tiled").replace("FENCE", "")
                     for t in (text, fenced))
    assert [f.kind for f in judge(asked, spec).findings] == ["hazard"]
    assert judge(mended, spec).passed
    assert "wgmma" in inside.compiled(asked, "tiled")["ptx"], "the sandbox compiles it as well"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
@pytest.mark.parametrize("right", [True, False])
def test_a_broken_rule_of_asynchronous_work_is_a_hazard_whatever_the_answer_is(rule, right):
    def launch(trial, **_):
        trial.C[:] = trial.expected if right else 0
        return dataclasses.replace(NOTHING, async_findings=tuple(r for r in (rule,) if isinstance(r, AsyncFinding)),
                                   products=tuple(r for r in (rule,) if isinstance(r, ProductFinding)))

    operation = SimpleNamespace(trial=lambda case, seed: SimpleNamespace(case=case, C=np.zeros(1), expected=1.0),
                                judge=lambda trial: None if trial.C[0] else "C is wrong")
    trials = Trials(operation, launch, {}, [f"text of {n}" for n in range(1, 10)])
    trials.run([SimpleNamespace(name="plain")])
    finding, = trials.findings.values()
    assert (finding.kind, finding.severity, finding.line, finding.source_line) == ("hazard", "error", 7, "text of 7")
    assert ("right here all the same" in finding.message) is right
    assert all(f"line {line}" in finding.message for line in (rule.first_line, rule.second_line))
    assert CheckReport("k", "", (finding,)).marks == dict.fromkeys((rule.first_line, rule.second_line), "hazard")
    assert not trials.outcomes[0].passed
    assert lesson_of(finding) == "lesson 18, Who copies, and who multiplies?"
