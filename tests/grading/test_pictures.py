"""Pictures beside a verdict: they draw what the kernel did, and a wrong kernel gets one too, or a sentence."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.check.case import Case
from course_lib.grading import check, part
from course_lib.grading.pictures import counted_lines, owners_in, who_writes, worst_request
from course_lib.plots import every_warp


@pytest.mark.slow
def test_who_writes_shows_what_nobody_writes(answers, starters):
    main, columns = part("03_first_kernel", "main"), part("03_first_kernel", "main-b")
    solved = answers("solutions", "03_first_kernel")
    assert "all of its elements are written; 8 warps" in repr(who_writes(solved["two_columns"], main))
    assert "all of its elements are written" in repr(who_writes(solved["two_rows"], columns, M=64, N=32))
    assert "1792 of its elements are written by nobody" in repr(who_writes(starters["03_first_kernel", "main"], main))
    half = solved["two_rows"].replace("r <= row + 16", "r <= row")
    assert "1024 of its elements are written by nobody" in repr(who_writes(half, columns, M=64, N=32))


def test_a_matrix_stored_by_columns_is_drawn_by_rows(answers):
    spec = part("03_first_kernel", "main-b")
    case = Case("picture", 64, 32, 8)
    traced = simt.launch(answers("solutions", "03_first_kernel")["two_rows"], spec.entry, spec.grid(case, {}), spec.block({}),
                         spec.operation.trial(case).args, trace=every_warp(spec.grid(case, {}), spec.block({})))
    who = owners_in(traced, spec, 64, 32)
    assert who.warp.shape == (64, 32)
    rows, cols = np.nonzero((who.block_x == 0) & (who.block_y == 0) & (who.warp == 0))
    assert sorted(set(rows)) == list(range(32))
    assert sorted(set(cols)) == [0, 1]
    assert (who.lane[:16, 0] == np.arange(16)).all()


def test_the_request_drawn_is_the_worst_of_the_worst_line(starters):
    spec = part("03_first_kernel", "lanes")
    text = starters["03_first_kernel", "lanes"]
    line = check(text, spec).findings[0].line
    assert f"load of B. One request, load of 4 bytes a lane, line {line}: 32 lanes, touch 2 sectors" in repr(worst_request(text, spec))
    assert "store of 4 bytes a lane" in repr(worst_request(text, spec, load=False))


def test_of_several_lines_the_worst_is_drawn(starters):
    spec, text = part("05_coalescing", "main"), starters["05_coalescing", "main"]
    line = check(text, spec).findings[0].line
    assert f"load of B. One request, load of 4 bytes a lane, line {line}: 32 lanes, touch 16 sectors" in repr(worst_request(text, spec))


def test_the_listing_has_the_requests_of_each_line(starters):
    spec = part("05_coalescing", "main")
    text = starters["05_coalescing", "main"]
    rows = [line.split() for line in str(counted_lines(text, spec)).splitlines()]
    counted = {int(row[0]): row[1:3] for row in rows if len(row) > 2 and row[0].isdigit() and row[1].isdigit()}
    assert sorted(counted.values()) == [["128", "16"], ["512", "16"], ["512", "4"]]
    assert check(text, spec).findings[0].line in counted
    assert "does not run" in counted_lines(text.replace("acc +=", "acd +="), spec)


@pytest.mark.parametrize(("old", "new", "says"), [
    ("acc += A", "acc += a", "No picture: lanes does not run"),
    ("#define BM 16", "#define BM (16)", "No picture: lanes does not run"),
    ("k * lda", "k * lda * 1000", "No picture: lanes does not run"),
    ("A[k * lda + row] * B[k * ldb + col]", "1.0f", "has no global load"),
])
def test_a_kernel_without_a_picture_gets_a_sentence(old, new, says, answers):
    text = answers("solutions", "03_first_kernel")["lanes"]
    assert old in text
    assert says in worst_request(text.replace(old, new), part("03_first_kernel", "lanes"))
