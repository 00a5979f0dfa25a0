"""The experiments that lesson 05 leaves open: what is planned compiles, is right on the simulator, and changes one thing at a time."""

import numpy as np
import pytest

from course_lib import toolchain
from course_lib.run import matches, run
from course_lib.simt import launch
from course_lib.widgets.compute import inputs
from tools.record import coalescing as recorder


def small(row, n=8192):
    """Launch a row's copy on fewer floats in the simulator; return (copied, counters)."""
    row = row | {"n": n}
    text, entry, macros = recorder.source(row)
    grid, block = recorder.shape(row)
    stride, offset = row.get("stride", 1), row.get("offset", row.get("OFFSET", 0))
    numbers = np.arange(recorder.needed(n, stride, offset, row["VEC"]) + 64, dtype=np.float32)
    out = np.full(n, np.nan, np.float32)
    args = [np.int32(n), numbers, np.int32(offset), np.int32(stride), out] if entry == "copy_strided" else [numbers, out]
    report = launch(text, entry, grid, block, args, defines=macros)
    j = np.arange(n)
    return np.array_equal(out, offset + row["VEC"] * stride * (j // row["VEC"]) + j % row["VEC"]), report.counters


@pytest.mark.slow
def test_every_copy_of_the_plan_is_right_and_no_row_comes_twice():
    rows = recorder.copies()
    assert len({tuple(sorted(row.items())) for row in rows}) == len(rows) == 32 + 24 + 14 + 4 + 10 + 4 + 5 + 9
    assert all(small(row)[0] for row in rows if row["kernel"] != "copy_strided" or row["stride"] in (1, 7))
    assert all(recorder.needed(r["n"], r.get("stride", 1), r.get("offset", 0), r["VEC"]) < 2**31 for r in rows), "what an int can index"


def test_wider_loads_and_more_loads_differ_in_requests_and_not_in_sectors():
    one, wide, many, quads = (small(row)[1] for row in (
        recorder.loads(), recorder.loads(VEC=4), recorder.loads(LOADS=4), recorder.loads("copy_quads", VEC=4)))
    requests, sectors = (f"l1tex__t_{what}_pipe_lsu_mem_global_op_ld.sum" for what in ("requests", "sectors"))
    assert [c[requests] for c in (one, wide, many, quads)] == [256, 64, 256, 256]
    assert [c[sectors] for c in (one, wide, many, quads)] == [1024, 1024, 1024, 4096]


@pytest.mark.sampled(test=5)
@pytest.mark.parametrize("row", [row for row in recorder.products(32) if not row["padding"]],
                         ids=lambda row: f"{row['variant']}-{row['TILE']}")
def test_every_product_of_the_plan_is_right(row):
    text, entry, macros = recorder.source(row)
    A, B, _ = inputs(64, 64, 64)
    C, (grid, block) = np.full((64, 64), np.nan, np.float32), recorder.shape(row | {"N": 64})
    N = np.int32(64)
    launch(text, entry, grid, block, [N, N, N, np.float32(1), A.copy(), N, B.copy(), N, np.float32(0), C, N], defines=macros)
    assert matches(C, A, B)


def test_the_repaired_line_is_all_that_changes():
    down, along = (recorder.source({"what": "product", "N": 64, "variant": variant, "TILE": 16})[0] for variant in ("down", "along"))
    changed = [(a, b) for a, b in zip(down.splitlines(), along.splitlines(), strict=True) if a != b]
    assert len(changed) == 1
    A, B, _ = inputs(64, 64, 64)
    first, second = (run(text, A, B, bx=16, by=16) for text in (down, along))
    assert (first.sectors_per_request(), second.sectors_per_request()) == (10, 4)
    for kind in ("load", "store"):
        assert first.count("wavefronts", kind) == second.count("wavefronts", kind), "shared memory is used alike"


def test_what_is_watched_compiles_for_the_gpu_of_the_recordings():
    for row in recorder.watched(0):
        text, entry, macros = recorder.source(row)
        assert toolchain.compile_cuda(text, name=f"{entry}.cu", arch="sm_90", defines=macros)
    assert {row["stride"] for row in recorder.watched(64)} == {1, 8, 16, 32}
