"""The recordings of lessons 03 to 08: what is planned compiles, is right on the simulator, and no case comes twice."""

import json

import numpy as np
import pytest

from course_lib import data
from course_lib.lessons.register_blocking import again
from course_lib.run import matches
from course_lib.simt import launch
from course_lib.widgets.compute import inputs
from tools.record import again as beside
from tools.record import together as recorder

CASES = recorder.plan()
PRODUCTS = [case for case in CASES if case.kernel not in ("copy_strided", "transpose") and not case.padding and case.N == recorder.N]


def test_no_case_comes_twice():
    assert len({json.dumps(case.row(), sort_keys=True) for case in recorder.plan()}) == len(recorder.plan())


@pytest.mark.sampled(test=4, slow=20)
@pytest.mark.parametrize("case", PRODUCTS, ids=lambda case: f"{case.kernel}-{'-'.join(map(str, case.parameters.values()))}-{case.shared}")
def test_every_product_of_the_plan_is_right(case):
    small = recorder.Case(case.lesson, case.kernel, case.parameters, N=64, along=case.along)
    A, B, _ = inputs(64, 64, 64)
    n, one = np.int32(64), np.float32(1)
    C, (grid, block) = np.full((64, 64), np.nan, np.float32), recorder.shape(small)
    args = [n, n, n, one, A.copy(), n, B.copy(), n, np.float32(0), C, n]
    entry, defines = recorder.compiled_as(small)
    launch(small.text(), entry, grid, block, args, defines=defines)
    assert matches(C, A, B)


def test_the_recording_is_of_this_plan_and_no_clock_is_far_from_the_highest():
    found = data.readings("together")
    told = [{name: row[name] for name in case.row()} for row, case in zip(found.rows, CASES, strict=True)]
    assert told == [case.row() for case in CASES]
    assert all(row["correct"] and row["low_s"] <= row["median_s"] <= row["high_s"] for row in found.rows)
    clocks = [row["mhz"] for row in found.rows]
    assert (min(clocks), max(clocks)) == (1972, 1980), "lessons 03, 06 and 08 say 1.97 to 1.98 GHz"
    assert "NVRTC 13.0" in found.made_by


def test_line_29_is_all_that_changes():
    down, along = (case.text() for case in CASES if case.kernel == "sgemm_uncoalesced")
    assert sum(a != b for a, b in zip(down.splitlines(), along.splitlines(), strict=True)) == 1


def test_unused_shared_memory_leaves_as_many_warps_with_either_depth():
    from course_lib.arch import DEFAULT_DEVICE
    from course_lib.model import occupancy
    from course_lib.run import footprint

    found = {}
    for case in CASES:
        if case.shared:
            taken = footprint(case.kernel, **case.parameters)
            fits = occupancy(DEFAULT_DEVICE, taken.threads, taken.resources.registers, case.shared + taken.resources.static_shared_bytes)
            found.setdefault(case.parameters["BK"], set()).add(fits.warps)
    assert found == {16: {32, 48}, 32: {32, 48}}


# ---- what is recorded beside it ------------------------------------------------------------------------------------------------------
def test_the_recording_of_what_is_done_again_is_of_its_plan():
    found, cases = data.readings("again"), beside.plan()
    assert [{name: row[name] for name in case.row()} for row, case in zip(found.rows, cases, strict=True)] == [case.row() for case in cases]
    assert len({json.dumps(case.row(), sort_keys=True) for case in cases}) == len(cases)
    assert all(row["correct"] and row["low_s"] <= row["median_s"] <= row["high_s"] for row in found.rows)


@pytest.mark.parametrize("variant", again.variants(), ids=str)
def test_what_is_done_again_changes_no_result(variant):
    case = recorder.Case("08", again.ENTRY, variant, N=again.TILE)
    A, B, _ = inputs(case.N, case.N, case.N)
    n, C, (grid, block) = np.int32(case.N), np.full((case.N, case.N), np.nan, np.float32), recorder.shape(case)
    args = [n, n, n, np.float32(1), A.copy(), n, B.copy(), n, np.float32(0), C, n]
    launch(case.text(), again.ENTRY, grid, block, args, defines=variant)
    assert matches(C, A, B)
