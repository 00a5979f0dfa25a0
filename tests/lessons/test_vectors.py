"""The homework's tables beside ours, the bars of a warp sweep, the levels of the memory: what is drawn is what was counted."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib import data, plots
from course_lib.data import documents
from course_lib.lessons import matrix_vector
from course_lib.lessons.matrix_vector import vectors
from course_lib.plots import style
from course_lib.run import run_vectors
from course_lib.widgets import compute

FAMILY = [row[0] for row in documents.KOPPELMAN_LAUNCH.rows]
SCATTERED = ("mxv_g_only", "mxv_i_lbuf", "mxv_o_lbuf", "mxv_vec_ld")


def row(**changes):
    """Return a row of counts with numbers that are easy to divide: 8 vectors of 4 floats to 2, so 128 bytes in and 64 out."""
    known = {"kernel": "k", "warps": 4, "S": 8, "M": 2, "N": 4, "nanoseconds": 1000, "load_sectors": 32, "store_sectors": 16,
             "l2_sectors_read": 8, "l2_sectors_written": 12, "dram_bytes_read": 128, "dram_bytes_written": 32}
    return known | changes


def widths(ax):
    return [patch.get_width() for patch in ax.patches]


def test_the_launch_table_has_his_figures_and_the_recorded_ones():
    table = matrix_vector.launch_table()
    assert [r[0] for r in table.rows] == FAMILY == list(vectors.family())
    for name, us, ours, gf, our_gf, rate, our_rate, per_fma, _, used, our_used in table.rows:
        printed = next(r for r in documents.KOPPELMAN_LAUNCH.rows if r[0] == name)
        record = next(r for r in data.load("mxv").find(name) if r.parameters["threads"] == 1024)
        assert (us, per_fma, used) == (f"{printed[1]:,}", printed[4], printed[5])
        assert float(gf) == pytest.approx(float(printed[2]), abs=0.06)
        assert float(rate) == pytest.approx(float(printed[3]), abs=0.06)
        assert float(ours) == pytest.approx(1e6 * record.median_s, abs=0.06)
        assert float(our_gf.replace(",", "")) == pytest.approx(record.gflops / 2, abs=1)     # a multiply-add is one operation here
        assert float(our_rate.replace(",", "")) == pytest.approx(record.gb_s, abs=1)
        assert our_used == used
    assert matrix_vector.launch_table(4).rows[0][2] == "92.0"
    assert "8 blocks of 32 warps" in table.caption
    assert "recorded on NVIDIA H200" in table.caption


def test_the_resource_table_pairs_his_columns_with_ours():
    table = matrix_vector.resource_table()
    found = {r[0]: r for r in table.rows}
    assert table.header[1:3] == ("shared: K", "H200")
    assert {name: found[name][1:3] for name in FAMILY[5:]} == {
        "mxv_vls": (16384, 16384), "mxv_sh": (36864, 36864), "mxv_sh_ochunk": (4096, 4096)}
    assert {r[3:5] for r in table.rows} == {(1088, 1024)}
    assert [r[9] for r in table.rows] == [1024] * 8


def test_stars_as_he_prints_them():
    table = matrix_vector.star_table()
    assert [r[:3] for r in table.rows][::7] == [(4, "6", "**"), (32, "30", "*" * 13)]
    assert table.header[1:3] == ("K: GB/s", "of 88")
    assert [len(r) for r in (table.rows[0], matrix_vector.star_table("mxv_vls").rows[0])] == [5, 3]
    assert matrix_vector.star_table("mxv_vls").rows[-1][1:] == ("3,364", "*" * 28)


def test_what_p_mode_leaves_over_is_the_same_on_both_sides_of_the_l2():
    beyond = np.array(list(vectors.surpluses().values()))
    assert beyond.shape == (8, 2)
    assert beyond.min() > 1.5
    assert beyond.max() < 2.1
    assert abs(beyond[:, 0] - beyond[:, 1]).max() < 0.15
    table = matrix_vector.p_mode_table()
    assert table.rows[0] == (4, "24,520", "8.7", "1.8", "1.7", "1.9", "2.7", "2.7")
    assert [r[0] for r in table.rows] == [4, 8, 12, 16, 20, 24, 28, 32]


def test_p_mode_of_the_h200_in_his_columns():
    table = matrix_vector.counted_table("mxv_g_only")
    assert [r[0] for r in table.rows] == list(range(4, 33, 4))
    assert table.rows[-1] == (32, "218", "1,229", "12.5%", "307", "2,429", "412", "305", "614")
    assert "recorded on NVIDIA H200" in table.caption


@pytest.mark.slow
def test_a_bar_is_as_long_as_its_share_of_the_bandwidth():
    ax = matrix_vector.warp_bars({"one": {8: 40.0, 4: 10.0}, "two": {4: 100.0}}, 200, {"one": {8: 0.5}})
    assert widths(ax) == [1, 1, 0.05, 0.2, 0.5]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["4", "8"]
    assert [t.get_text() for t in ax.texts] == ["20%"]
    assert ax.patches[-1].get_fill() is False or to_hex(ax.patches[-1].get_edgecolor()) == style.VERMILION.lower()
    other = ax.figure.axes[1]
    assert (other.get_title(loc="left"), widths(other)) == ("two", [1, 0.5])


def test_the_recorded_sweep_has_every_kernel_and_eight_widths():
    rates = matrix_vector.recorded_rates()
    assert list(rates) == FAMILY
    assert {tuple(line) for line in rates.values()} == {tuple(range(4, 33, 4))}
    words = matrix_vector.describe_warp_bars(rates, 4800)
    assert "mxv_vls 34% at 4, 70% at 32, best 70% at 32" in words
    assert "best 99% at 4." in matrix_vector.describe_warp_bars({"k": {4: 99.0, 8: 97.0}}, 100)
    assert "best 98% at 8." in matrix_vector.describe_warp_bars({"k": {4: 99.0, 8: 97.5}}, 100)


def test_shares_of_a_simulated_and_of_a_measured_run():
    result = run_vectors("mxv_vec_ld", *compute.vectors(4096), backend="sim", threads=256)
    found = vectors.shares(result)
    assert list(found.values()) == pytest.approx([0.5, 0.125, 1095.2 / 4800])
    assert "2²⁰ vectors" in list(found)[-1].replace("\n", " ")
    assert "recorded on" in list(found)[-1].replace("\n", " ")
    smaller = run_vectors("mxv_vec_ld", *compute.vectors(4096, 8, 8), backend="sim", threads=256)
    assert len(vectors.shares(smaller)) == 2, "nobody recorded this matrix"
    timed = replace(result, time=SimpleNamespace(median_s=1e-6), label="measured on NVIDIA X")
    label, share = list(vectors.shares(timed).items())[-1]
    assert "measured on NVIDIA X" in label.replace("\n", " ")
    assert share == pytest.approx(4 * 4096 * 32 / 1e-6 / 4.8e12)
    ax = matrix_vector.share_bars({"much": 1.5, "little": 0.125})
    assert widths(ax) == [1, 1, 1, 0.125]
    assert [t.get_text() for t in ax.texts] == ["150 %", "12.5 %"]


def test_levels_are_times_the_wanted_bytes():
    ax = matrix_vector.level_bars([row(), row(kernel="other", dram_bytes_written=64)])
    reads, writes = ax.figure.axes[:2]
    assert widths(reads) == [8, 8, 2, 2, 1, 1]
    assert widths(writes) == [8, 8, 6, 6, 0.5, 1]
    assert [t.get_text() for t in reads.get_yticklabels()] == ["k", "other"]
    assert matrix_vector.level_table([row()]).rows == [("k", "8.00", "2.00", "1.00", "8.00", "6.00", "0.50")]
    assert "k reads 8.0 → 2.0 → 1.0, writes 8.0 → 6.0 → 0.5" in matrix_vector.describe_levels([row()])


def test_points_and_line_of_the_times():
    rows = [row(l2_sectors_written=2_000_000, nanoseconds=40_000), row(warps=8, l2_sectors_written=4_000_000, nanoseconds=64_000)]
    assert matrix_vector.l2_write_rates(rows) == {"k": {4: (2.0, 40.0, 1600.0), 8: (4.0, 64.0, 2000.0)}}
    ax = matrix_vector.time_by_sectors(rows, 1600, note="here")
    assert ax.lines[0].get_xydata().tolist() == [[2.0, 40.0], [4.0, 64.0]]
    assert ax.lines[1].get_xydata().tolist() == [[0.0, 0.0], [4.0, pytest.approx(80.0)]]
    assert "here" in ax.get_xlabel()
    assert [(t.get_text(), t.xy) for t in ax.texts] == [("4 warps", (2.0, 40.0))]
    assert matrix_vector.describe_time_by_sectors(rows).endswith("k 40 µs with 2.0 and 64 µs with 4.0.")


def test_what_the_h200s_counters_say_of_the_l2():
    """The lesson's answer: loads are the L1's matter, scattered stores are joined behind the L2."""
    for counted in data.readings("vectors").rows:
        times = data_times(counted)
        assert times["read"][1] == pytest.approx(1, rel=0.01)
        assert times["write"][2] < 1.01
        joined = counted["kernel"] in SCATTERED
        assert (times["write"][1] > 1.5) == joined, counted


def data_times(counted):
    return {"read": (None, 32 * counted["l2_sectors_read"] / 2**26),
            "write": (None, 32 * counted["l2_sectors_written"] / 2**26, counted["dram_bytes_written"] / 2**26)}


@pytest.mark.slow
def test_requests_beside_one_another():
    records = {}
    for name in ("mxv_o_lbuf", "mxv_o_per_thd", "mxv_vec_ld", "mxv_sh"):
        traced = run_vectors(name, *compute.vectors(64), backend="sim", trace=[((0, 0, 0), 0)])
        records[name] = plots.requests(traced, array="in", load=True)[0]
    ax = plots.requests_beside(records, columns=3)
    pictures = ax.figure.axes
    assert [a.get_title(loc="left") for a in pictures] == list(records)
    assert [a.get_xlabel() for a in pictures] == [
        "32 sectors: 128 of 1024 bytes used", "2 sectors: 8 of 64 bytes used", "32 sectors: 512 of 1024 bytes used",
        "4 sectors: 128 of 128 bytes used"]
    assert [(np.asarray(a.images[0].get_array()) == 1).sum() for a in pictures] == [32, 32, 128, 32]
    assert [bool(a.get_ylabel()) for a in pictures] == [True, False, False, True]
    assert {a.get_xlim() for a in pictures} == {(0, 32 * 8)}
    assert "pale" in ax.figure.get_supxlabel()
    words = plots.describe_beside(records)
    assert words.startswith("mxv_o_lbuf: One request, load of 4 bytes a lane")
    assert "mxv_sh: One request" in words
