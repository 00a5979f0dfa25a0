"""What can stand beside the sliders: roofline point, accesses, bytes, machine code; rows to choose; padded rows; other kinds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import plots
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.lessons.matrix_vector.vectors import used_picture
from course_lib.model import shared_wavefronts
from course_lib.run import bound_of, one_block, run, work_of
from course_lib.toolchain import tensor_step
from course_lib.widgets import live
from course_lib.widgets.compute import evaluate, inputs, widened
from course_lib.widgets.facts import ROWS, USUAL, facts
from course_lib.widgets.live_pictures import access_picture, code_picture, retraced, roofline_picture


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def point(ax):
    marker, = (line for line in ax.lines if line.get_linestyle() == "None")
    return float(marker.get_xdata()[0]), float(marker.get_ydata()[0])


@pytest.mark.slow
def test_the_point_lies_where_counters_and_bound_put_it():
    result = evaluate("sgemm_tiled", 128, {"BM": 16, "BN": 16, "BK": 16})
    ax, words = roofline_picture(result)
    moved = 32 * (result.count("sectors") + result.count("sectors", "store"))
    assert point(ax) == pytest.approx((2 * 128**3 / moved, 2e-9 * 128**3 / bound_of(result).seconds))
    assert "at most, modelled" in words
    assert "modelled" in ax.get_legend().get_texts()[-1].get_text()
    wider, _ = roofline_picture(evaluate("sgemm_tiled", 128, {"BM": 32, "BN": 32, "BK": 32}))
    assert point(wider)[0] == pytest.approx(2 * point(ax)[0], rel=0.1)
    assert wider.get_xlim() == ax.get_xlim()
    assert wider.get_ylim() == ax.get_ylim()


def test_a_measured_time_takes_the_place_of_the_bound():
    result = evaluate("sgemm_naive", 64, {})
    timed = replace(result, time=SimpleNamespace(median_s=1e-5), label="measured on NVIDIA X")
    ax, words = roofline_picture(timed)
    assert point(ax)[1] == pytest.approx(2e-9 * 64**3 / 1e-5)
    assert "measured on NVIDIA X" in words
    assert "at most" not in words


@pytest.mark.slow
def test_a_loop_that_stays_a_loop_is_limited_by_its_instructions():
    """As lesson 07 counts them: the whole step along K, not the inner loop alone, whose 8 instructions would leave it to the L1."""
    binds = {u: bound_of(evaluate("sgemm_unrolled", 256, {"TILE": 16, "UNROLL": u})) for u in (1, 2, 16)}
    assert [b.binds for b in binds.values()] == ["issue", "L1", "L1"]
    assert binds[1].terms["issue"] > binds[1].terms["L1"] > 0.8 * binds[1].terms["issue"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sgemm_swapped", "sgemm_tiled", "sgemm_2d_tile"])
def test_the_work_is_what_the_tables_of_the_time_bound_are_made_of(name):
    from tools.page import time_bound
    A, B, _ = inputs(256, 256, 256)
    ours, theirs = work_of(run(name, A, B)), time_bound.work(name, 256)
    for field in ("blocks", "fmas", "instructions", "wavefronts", "sectors", "block_sectors", "launch_sectors", "rounds", "resident"):
        assert getattr(ours, field) == pytest.approx(getattr(theirs, field)), field
    assert ours.l1_wavefronts == pytest.approx(theirs.l1_wavefronts, rel=0.15)


def test_work_that_is_not_known():
    A, B, _ = inputs(32, 32, 32)
    with pytest.raises(CourseError, match="no counters"):
        work_of(replace(run("sgemm_naive", A, B), counters=None))
    with pytest.raises(CourseError, match="row-major kernels only"):
        work_of(replace(run("sgemm_naive", A, B), kernel=replace(run("sgemm_naive", A, B).kernel, layout="column")))


@pytest.mark.parametrize(("name", "parameters"), [("sgemm_swapped", {"bx": 16, "by": 8}), ("sgemm_2d_tile", {"BM": 32, "BN": 64}),
                                                  ("sgemm_op", {"TRANSA": 1}), ("sgemm_naive", {"lda": 3, "ldb": 1, "ldc": 2})])
def test_one_block_asks_for_what_it_asked_in_the_whole_launch(name, parameters):
    N = 96
    whole = {k: v for k, v in parameters.items() if k[:2] != "ld"}
    A, B, C = (widened(m, parameters.get(k, 0)) for m, k in zip(inputs(N, N, N), ("lda", "ldb", "ldc")))
    result = run(name, A, B, C, trace=[((0, 0, 0), 0)], **whole)
    part = one_block(result, depth=64, warps=(0,))
    expected = plots.requests(result, load=True, array="A")
    found = plots.requests(part, load=True, array="A")
    assert len(found) >= 4
    for ours, theirs in zip(found[:4], expected):
        active = ours.addresses >= 0
        assert (ours.addresses[active] == theirs.addresses[active]).all()
        assert (active == (theirs.addresses >= 0)).all()


def test_the_access_beside_the_sliders_is_the_kernels_own():
    result = evaluate("sgemm_padded", 128, {"TILE": 32, "PAD": 4})
    ax, words = access_picture("Bs")(result)
    per_load = [result.count("wavefronts") / result.count("shared instructions")]
    assert "4 wavefronts" in words
    assert shared_wavefronts(36 * 4 * np.arange(32)) == 4
    assert per_load[0] > 2
    ax, words = access_picture("A", number=1)(evaluate("sgemm_naive", 64, {"lda": 5, "bx": 8, "by": 4}))
    assert "touch 4 sectors" in words
    with pytest.raises(CourseError, match="0 such accesses"):
        access_picture("C")(evaluate("sgemm_naive", 64, {}))
    with pytest.raises(CourseError, match="no array 'Q'"):
        access_picture("Q")(result)


def test_copies_and_transpositions_can_be_looked_at_too():
    copied = evaluate("copy_strided", 4096, {"stride": 2, "VEC": 4})
    assert "touch 32 sectors" in access_picture("in")(copied)[1]
    turned = evaluate("transpose_plain", 64, {"lda": 4})
    assert turned.ld == 68
    assert (turned.out == inputs(64, 64, 64)[0].T).all()
    first, = {r.addresses[1] - r.addresses[0] for r in plots.requests(retraced(turned), load=True)}
    assert first == 4
    rows = [r.addresses[0] for r in plots.requests(retraced(turned), load=True)]
    assert rows[1] - rows[0] == 4 * 8 * 68


@pytest.mark.slow
def test_machine_code_beside_the_unroll_slider():
    ax, words = code_picture(evaluate("sgemm_unrolled", 64, {"UNROLL": 4}))
    widths = [bar.get_width() for bar in ax.patches]
    code = plots.linked_code("sgemm_unrolled", UNROLL=4)
    assert widths[0] == 1
    assert sum(widths) == pytest.approx(code.per_multiply_add)
    with pytest.raises(CourseError, match="no loop of multiply-adds"):
        code_picture(evaluate("transpose", 64, {}))


@pytest.mark.slow
def test_rows_are_chosen_by_name_and_left_out_where_they_say_nothing():
    tiled, naive = evaluate("sgemm_padded", 64, {"TILE": 16, "PAD": 0}), evaluate("sgemm_naive", 64, {})
    assert facts(tiled, ("conflicts", "wavefronts a load")) == {
        "bank conflicts: wavefronts above the ideal": f"{tiled.count('conflicts') + tiled.count('conflicts', 'store'):,}",
        "wavefronts a shared load": f"{tiled.count('wavefronts') / tiled.count('shared instructions'):.4f}".rstrip("0").rstrip(".")}
    assert facts(naive, ("conflicts", "wavefronts a load", "wavefronts")) == {}
    step = plots.linked_code("sgemm_padded", TILE=16, PAD=0).step
    assert float(facts(tiled, ("machine instructions / multiply-add",))["machine instructions / multiply-add, sm_90"]) == pytest.approx(
        step, abs=1e-4)
    with pytest.raises(CourseError, match="there is no row 'conflict'; the rows are threads, time"):
        facts(tiled, ("conflict",))
    copied = facts(evaluate("copy_strided", 1024, {"offset": 1}), tuple(ROWS))
    assert copied["wanted share of the loaded bytes"] == "80 %"
    assert not any("multiply-add" in label for label in copied)
    assert set(USUAL) <= set(ROWS)


def test_a_row_further_apart_costs_sectors():
    naive = [evaluate("sgemm_tiled", 64, {"BM": 32, "BN": 32, "BK": 32, "lda": more}) for more in (0, 4, 8)]
    assert [r.lda for r in naive] == [64, 68, 72]
    assert naive[1].count("sectors") > naive[0].count("sectors") == naive[2].count("sectors")
    with pytest.raises(CourseError, match="do not overlap"):
        evaluate("sgemm_naive", 64, {"lda": -1})


def test_double_precision_gets_double_matrices():
    assert evaluate("dgemm_thread", 32, {}).C.dtype == np.float64


def test_a_slider_on_the_leading_dimension_and_one_value_without_a_slider(wait_s):
    box = live("sgemm_naive", sliders={"lda": (0, 1, 8)}, start={"bx": 32, "by": 4}, N=64, rows=("threads", "load sectors"))
    before = box.table.value
    assert "128 × 32" in before
    box.sliders["lda"].value = 1
    assert box.engine.settle(wait_s)
    assert "lda = N + 1" in box.status.value
    assert "bx = 32" in box.status.value
    assert "before" in box.table.value
    assert "occupancy" not in box.table.value
    box.close()


@pytest.mark.slow
def test_one_of_several_pictures(wait_s):
    box = live("sgemm_padded", sliders={"PAD": (0, 1)}, start={"TILE": 16}, N=64,
               picture={"banks": access_picture("Bs"), "roofline": roofline_picture})
    assert "wavefront" in box.image.value
    box.shown.value = "roofline"
    assert box.drawings.settle(wait_s)
    assert "Roofline of H200" in box.image.value
    box.sliders["PAD"].value = 0
    assert box.engine.settle(wait_s)
    box.shown.value = "banks"
    assert box.drawings.settle(wait_s)
    assert "8 wavefronts" in box.image.value
    box.close()


@pytest.mark.slow
def test_sliders_on_a_copy_and_a_transposition(wait_s):
    box = live("copy_strided", sliders={"stride": (1, 2, 8), "offset": (0, 1), "VEC": (1, 4)}, N=4096, sizes=(4096, 16384),
               rows=("threads", "sectors a load", "wanted"), picture=access_picture("in"))
    assert "100 %" in box.table.value
    box.sliders["stride"].value = 8
    assert box.engine.settle(wait_s)
    assert "12.5 %" in box.table.value
    box.sliders["VEC"].value = 4
    box.sliders["offset"].value = 1
    assert box.engine.settle(wait_s)
    assert "offset = 1 is no multiple of VEC = 4" in box.status.value
    assert "Why: a 128-bit load moves four floats that lie at a multiple of 16 bytes" in box.status.value
    box.close()
    box = live(("transpose_plain",), sliders={"TILE": (16, 32)}, N=64, rows=("sectors a store",))
    assert "32" in box.table.value
    box.close()


@pytest.mark.slow
def test_many_vectors_have_sliders_of_m_n_and_their_number(wait_s):
    rows = ("threads", "multiply-adds a byte", "sectors a load", "sectors a store", "loads used", "stores used", "wanted", "load sectors")
    box = live(("mxv_o_lbuf", "mxv_vls"), sliders={"M": (4, 8), "N": (8, 16), "threads": (32, 64)}, start={"M": 8, "N": 16, "threads": 32},
               N=128, sizes=(128, 256), rows=rows, picture={"used": used_picture, "a load": access_picture("in")})
    assert "mxv_o_lbuf, S = 128, M = 8, N = 16, threads = 32" in box.static_text()
    before = dict(box._now)
    assert before["used bytes of load requests"] == before["used bytes of store requests"] == "12.5 %"
    assert before["multiply-adds a byte, at most"] == f"{8 * 16 / (4 * 24):.4f}"
    assert "wanted share of the loaded bytes" not in before
    box.size.value = 256
    assert box.engine.settle(wait_s)
    assert int(box._now["global load sectors"].replace(",", "")) == 2 * int(before["global load sectors"].replace(",", ""))
    box.sliders["M"].value = 4
    assert box.engine.settle(wait_s)
    assert box._now["used bytes of store requests"] == "25 %"
    box.choice.value = "mxv_vls"
    assert box.engine.settle(wait_s)
    assert "M = 4, N = 16: both must be the same" in box.status.value
    box.close()
    with pytest.raises(CourseError, match="S begins at 100, but its slider has 128"):
        live("mxv_o_lbuf", sliders={"N": (16,)}, N=100, sizes=(128,))
    with pytest.raises(CourseError, match="N begins at 16, but its slider has 8"):
        live("mxv_o_lbuf", sliders={"N": (8,)}, N=128, sizes=(128,))


def test_many_vectors_are_traced_on_what_the_first_block_takes():
    result = evaluate("mxv_vec_ld", 4096, {"M": 8, "N": 8, "threads": 64})
    assert (result.S, result.M, result.N, result.mismatch()) == (4096, 8, 8, None)
    traced = retraced(result)
    assert (traced.S, traced.M, traced.N, traced.block) == (64, 8, 8, (64, 1, 1))
    ax, words = access_picture("in")(result)
    assert "load of 16 bytes a lane" in words
    assert "32 bytes from each to the next" in words
    assert "store of 4 bytes" in access_picture("out", load=False)(result)[1]
    ax, words = used_picture(result)
    assert words == "Used: used of what loads move 50 %, used of what stores move 12.5 %."
    assert ax.get_title(loc="left") == "mxv_vec_ld"
    assert ax.get_xlabel() == "bandwidth: recorded with M = N = 16 only"
    ax, words = used_picture(evaluate("mxv_vec_ld", 64, {"M": 16, "N": 16, "threads": 128}))
    assert "used bandwidth, 2²⁰ vectors, recorded on NVIDIA H200, 2026-11-21 23.3 %" in words
    assert ax.get_xlabel() == ""


def test_a_start_that_no_slider_has_and_a_slider_that_no_kernel_has():
    with pytest.raises(CourseError, match="BM begins at 32, but its slider has 8, 16"):
        live("sgemm_tiled", sliders={"BM": (8, 16)}, N=64)
    with pytest.raises(CourseError, match="N begins at 100"):
        live("sgemm_naive", N=100)
    with pytest.raises(CourseError, match="PAD is no parameter of sgemm_naive"):
        live("sgemm_naive", sliders={"PAD": (0, 1)})


@pytest.mark.slow
def test_outputs_of_a_thread_and_wavefronts_of_a_warp():
    names = ("outputs", "wavefronts / warp multiply-add")
    found = facts(evaluate("sgemm_2d_tile", 64, {"BM": 32, "BN": 64, "BK": 8, "TM": 2, "TN": 4}), names)
    assert found["outputs a thread"] == "8"
    result = evaluate("sgemm_block", 64, {"TILE": 32})
    assert facts(result, names) == {"outputs a thread": "1",
                                    "shared wavefronts / multiply-add of a warp": f"{32 * result.count('wavefronts') / 64**3:g}"}
    assert "outputs a thread" not in facts(evaluate("sgemm_naive", 40, {"bx": 16, "by": 16}), names)     # threads to spare
    assert facts(evaluate("copy_strided", 1024, {}), names) == {}


def test_the_length_of_the_machine_code_is_a_row():
    result = evaluate("sgemm_unrolled", 64, {"TILE": 16, "UNROLL": 4})
    (label, text), = facts(result, ("code length",)).items()
    assert "machine instructions in the kernel" in label
    assert int(text) == len(plots.linked_code("sgemm_unrolled", UNROLL=4).sass)


@pytest.mark.slow
def test_rows_of_a_kernel_for_tensor_cores():
    tile = {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 32}
    rows = ("multiply-adds / matrix instruction", "machine instructions / multiply-add")
    mma, split = (facts(evaluate(name, 64, tile), rows) for name in ("sgemm_mma", "sgemm_split"))
    assert mma["multiply-adds / matrix instruction"] == "1024"
    assert split["multiply-adds / matrix instruction"] == f"{2048 / 6:.4f}"
    machine = "machine instructions / multiply-add, sm_90"
    for name, found, products in (("sgemm_mma", mma, 1), ("sgemm_split", split, 6)):
        assert float(found[machine]) == pytest.approx(products * tensor_step(get(name), **tile).per_multiply_add, rel=1e-3)
    assert facts(evaluate("sgemm_naive", 64, {}), (rows[0], "wavefronts / mma", "stored wavefronts / mma")) == {}
