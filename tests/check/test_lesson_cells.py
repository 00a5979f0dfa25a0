"""The kernels that lessons have the reader edit: `check`, or the run, says what the text around them says, before and after each edit."""

import json
import re
from pathlib import Path

import pytest

from course_lib.check import check
from course_lib.kernels import UserKernel
from course_lib.magic import from_cell
from course_lib.run import run_vectors
from course_lib.simt import Misaligned
from course_lib.widgets.compute import vectors

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
BARRIER = "__syncthreads();"


def lesson(number, name="mine"):
    """Return the reader's kernel of a lesson, what its magic passes to `check`, and the prose of the whole lesson."""
    cells = json.loads(next(NOTEBOOKS.glob(f"{number}_*.ipynb")).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    cell, = (text for text in texts if text.startswith(f"%%cuda {name}"))
    values = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", cell.partition("\n")[0])}
    return from_cell(cell)[1], values, "\n".join(text for c, text in zip(cells, texts, strict=True) if c["cell_type"] == "markdown")


def edited(text, old, new):
    """Replace what stands there once."""
    assert text.count(old) == 1, old
    return text.replace(old, new)


def found(text, **values):
    """Return kind, lesson and text of the line of each finding."""
    return [(f.kind, f.lesson.partition(",")[0], f.source_line.strip()[:6]) for f in check(text, **values).findings]


def test_lesson_03_is_broken_by_one_row_too_many_and_by_the_wrong_distance_between_rows():
    text, _, _ = lesson("03", "sgemm")
    assert found(text) == [("loads", "lesson 04", "sum +=")]
    assert found(text.replace(">=", ">"))[0] == ("out of bounds", "", "sum +=")
    message = str(check(edited(text, "B[k * ldb + col]", "B[k * N + col]")).findings[0])
    assert "padded rows" in message


@pytest.mark.slow
def test_lesson_04_is_broken_by_a_missing_second_barrier():
    text, _, prose = lesson("04", "tiled")
    assert f"Put `//` before the *second* `{BARRIER}` in your cell" in prose
    assert found(text) == []
    assert text.count(BARRIER) == 2
    report = check(f"// {BARRIER}".join(text.rsplit(BARRIER, 1)))
    assert [(f.kind, f.lesson, f.source_line.strip()[:6]) for f in report.findings] == [("hazard", "lesson 04, Tiling", "sum +=")]
    assert "the result is right on 9 of 12 inputs, on 8 of them without a hazard" in str(report)


@pytest.mark.slow
@pytest.mark.parametrize("repaired", [False, True])
def test_lesson_08_keeps_its_sums_in_memory_until_the_loop_is_unrolled(repaired):
    text, *_ = lesson("08", "column")
    report = check(text if repaired else text.replace("#pragma unroll", "#pragma unroll 1", 1))
    assert report.right
    assert [(f.kind, f.lesson) for f in report.findings] == [("local memory", "lesson 08, Register blocking")] * (not repaired)
    assert repaired or "32 bytes per thread lie there" in report.findings[0].message


@pytest.mark.slow
def test_lesson_10_clamps_along_k_too():
    text, values, prose = lesson("10")
    words = " ".join(prose.split())
    assert "`k0 + tx < K ? … : 0.0f` for A, the same with `ty` for B" in words
    assert "change `k0 < K` to `k0 + BK <= K`" in words
    report = check(text, **values)
    assert not report.right
    assert [f.kind for f in report.findings] == ["wrong"], "nothing is read out of bounds"
    assert "elements beyond K must count as 0" in report.findings[0].message
    for_a = edited(text, "= A[min(row, M - 1) * lda + min(k0 + tx, K - 1)]", "= k0 + tx < K ? A[min(row, M - 1) * lda + k0 + tx] : 0.0f")
    both = edited(for_a, "= B[min(k0 + ty, K - 1) * ldb + min(col, N - 1)]", "= k0 + ty < K ? B[(k0 + ty) * ldb + min(col, N - 1)] : 0.0f")
    repaired = check(both, **values)
    assert repaired.right
    assert not repaired.findings
    shorter = check(edited(both, "k0 < K; k0", "k0 + BK <= K; k0"), **values)
    assert not shorter.right
    assert "The sum stops at k = 16" in shorter.findings[0].message


@pytest.mark.slow
def test_lesson_13_loads_vectors_of_six_by_fours():
    text, _, prose = lesson("13")
    assert "`float2`, two products, `c += 2`" in " ".join(prose.split())
    six = vectors(1024, 6, 6)
    with pytest.raises(Misaligned) as caught:
        run_vectors(UserKernel.from_source(text, like="mxv_o_lbuf"), *six, backend="sim")
    assert "line 9: thread (1, 0, 0) of block (0, 0, 0) reads 16 bytes" in str(caught.value)
    repaired = edited(text.replace("float4", "float2"), "c += 4", "c += 2")
    repaired = edited(repaired, " + matrix[r][c + 2] * x.z + matrix[r][c + 3] * x.w", "")
    done = run_vectors(UserKernel.from_source(repaired, like="mxv_o_lbuf"), *six, backend="sim")
    assert done.mismatch() is None
    assert (done.sectors_per_request(), done.load_utilisation) == (24, pytest.approx(1 / 3))
    eight = text.replace("#define M 6\n#define N 6", "#define M 8\n#define N 8")      # what a reader may try: longer vectors
    assert run_vectors(UserKernel.from_source(eight, like="mxv_o_lbuf"), *vectors(1024, 8, 8), backend="sim").mismatch() is None
