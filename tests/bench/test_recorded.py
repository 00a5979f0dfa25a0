"""What course_lib/data/ holds: complete, right, labelled, and as fast as it should be."""

from pathlib import Path

import pytest

from course_lib import data, kernels
from course_lib.bench import plans, recording, task
from course_lib.bench.__main__ import main
from course_lib.bench.journal import Journal
from course_lib.bench.tasks import KINDS
from course_lib.data.records import Record, Recording, dumps, loads
from course_lib.errors import CourseError

# GFLOP/s and GB/s: course_lib/arch.py; in double with tensor cores, which cuBLAS uses, as fast as in single ("NVIDIA H200", datasheet).
H200_SINGLE, H200_DOUBLE, H200_BANDWIDTH = 66908, 66908, 4800
H200_TENSOR = 989_500      # bfloat16 without sparsity, the same data sheet
GROUPS = plans.everything()
LATER = {"ahead": "2026-11-24", "shapes": "2026-11-24", "tensor": "2026-11-28"}             # all others were recorded in one day
FINAL = {"TA": 64, "TB": 64, "TW": 16, "bx": 16, "by": 16}


def gflops(name, kernel, N, **fields):
    (record,) = data.load(name).find(kernel, N, **fields)
    return record.gflops


@pytest.mark.parametrize("name", GROUPS)
def test_each_file_is_complete_and_right(name):
    found = data.load(name)
    assert {r.identity for r in found.records} == {t.identity for t in GROUPS[name] if not t.problem}
    assert all((r.state, r.correct, r.problem) == ("done", True, "") for r in found.records)
    assert all(r.low_s <= r.median_s <= r.high_s and r.repeats >= 3 for r in found.records)
    assert all(r.gb_s == pytest.approx(t.bytes / r.median_s / 1e9, rel=1e-3) for r, t in both(name))
    assert all(r.gflops == pytest.approx(t.flops / r.median_s / 1e9, rel=1e-3) for r, t in both(name) if t.flops)


def both(name):
    """Pair each record with its task."""
    tasks = {t.identity: t for t in GROUPS[name]}
    return [(r, tasks[r.identity]) for r in data.load(name).records]


@pytest.mark.parametrize("name", [name for name in GROUPS if GROUPS[name][0].backend == "gpu"])
def test_each_file_of_the_gpu_is_labelled_and_no_faster_than_the_gpu(name):
    found = data.load(name)
    assert (found.device, found.date) == ("NVIDIA H200", LATER.get(name, "2026-11-21"))
    assert found.driver
    assert {r.l2 for r in found.records} == {"cold" if name == "cold" else "warm"}
    assert all(r.gflops < (H200_DOUBLE if r.dtype == "float64" else H200_TENSOR if name == "tensor" else H200_SINGLE)
               for r in found.records if r.gflops)


def test_every_kernel_of_the_catalog_is_recorded():
    swept = {name for name, kernel in kernels.ALL.items() if kernel.kind in KINDS}
    recorded = {r.kernel for name in GROUPS for r in data.load(name).records if r.backend == "gpu"}
    recorded |= {*plans.RACE, *plans.STAGES, *plans.CLIMB}                    # in files of their own
    recorded |= {*plans.STORED}                                               # not recorded yet
    assert recorded == {*swept, "cuBLAS", "copy"}
    assert set(data.names()) >= set(GROUPS)


def test_loads_ahead_of_use_and_then_warp_tiles_are_each_worth_their_step():
    for N in plans.POWERS:
        speeds = [gflops("ahead", name, N) for name in (*plans.AHEAD, "cuBLAS")]
        assert speeds == sorted(speeds)
    vectorized, prefetched, warp_tile = (gflops("ahead", name, 4096) for name in plans.AHEAD)
    sweeps = (Path(__file__).parents[2] / "docs/sweeps.md").read_text(encoding="utf-8")
    assert f"({prefetched / vectorized:.2f} times the speed at N = 4096)" in sweeps
    assert f"warp tiles (another {warp_tile / prefetched:.2f}, with the loop over k unrolled by the compiler" in sweeps


def test_the_ladder_leads_up_to_the_library():
    assert gflops("ladder", "sgemm_warp_tile", 4096) >= 45000
    assert gflops("ladder", "cuBLAS", 4096) == pytest.approx(51000, rel=0.02)
    assert gflops("wang", "cuBLAS", 4096, dtype="float64") == pytest.approx(58000, rel=0.02)
    climb = ("sgemm_swapped", "sgemm_naive", "sgemm_tiled", "sgemm_1d_tile", "sgemm_2d_tile", "sgemm_warp_tile", "cuBLAS")
    speeds = [gflops("ladder", name, 4096) for name in climb]
    assert speeds == sorted(speeds)


def test_few_active_threads_are_slow_on_large_matrices():
    volkov = [r.gflops for r in data.load("active").find("sgemm_volkov", 4096)]
    assert volkov == sorted(volkov, reverse=True), "as many threads as Chien's GT200 was busy with leave an H200 idle"
    assert volkov[0] > 3 * volkov[-1]


def test_copies_and_vectors_stay_below_the_bandwidth():
    assert 0.8 * H200_BANDWIDTH < data.load("copy").find("copy", plans.COPIED)[0].gb_s < H200_BANDWIDTH
    assert all(r.gb_s < H200_BANDWIDTH for r in data.load("mxv").records)
    assert gflops("cold", "cuBLAS", 512) < gflops("ladder", "cuBLAS", 512)


def test_both_paths_of_wang_and_jins_kernel_are_there():
    whole, one_more = ({r.parameters["by"]: r.gflops for r in data.load("wang").find("dgemm_outputs", N)} for N in (1024, 1025))
    assert set(whole) == set(one_more) == {8, 16}
    assert all(one_more[by] < whole[by] for by in whole), "the dip at 64 k + 1"


def test_the_grid_of_the_mistake_costs_where_tiles_are_fewer_than_multiprocessors():
    """Surplus blocks return at once. With a tile for each of 132 multiprocessors they cost up to 3 %, with 36 to 100 tiles up to a half."""
    cost = {}
    for N in plans.WANG_SIZES:
        own, wide = (next(r for r in data.load("grids").find("dgemm_outputs", N) if bool(r.grid) == surplus) for surplus in (False, True))
        assert wide.grid == (-(-N // 16), -(-N // 16), 1)
        cost[N] = wide.median_s / own.median_s - 1
    tiles = {N: (-(-N // 64)) ** 2 for N in cost}
    assert all(abs(cost[N]) < 0.03 for N in cost if tiles[N] > 132 or tiles[N] < 36)
    assert all(0.2 < cost[N] < 0.5 for N in cost if 36 <= tiles[N] <= 100)


def test_what_wang_and_jin_would_have_tried_next():
    for letter in "sd":
        for N in (1024, 4096):
            dots, rank1 = (gflops("orders", f"{letter}gemm_{idea}", N) for idea in ("dots", "rank1"))
            assert dots < 0.4 * min(rank1, gflops("wang", f"{letter}gemm_outputs", N, parameters=FINAL))
    assert gflops("orders", "sgemm_rank1", 4096) > gflops("wang", "sgemm_outputs", 4096, parameters=FINAL)
    assert gflops("orders", "dgemm_rank1", 4096) < gflops("wang", "dgemm_outputs", 4096, parameters=FINAL)


def test_small_matrices_want_small_tiles():
    best = max(data.load("tuned").find(N=1024, dtype="float32"), key=lambda r: r.gflops)
    assert best.gflops > 1.5 * gflops("ladder", "sgemm_warp_tile", 1024)
    assert best.parameters["BM"] * best.parameters["BN"] < 128 * 128


def test_a_recording_is_read_back():
    some = Recording("a GPU", "1.2", "2026-11-21", (
        Record("sgemm_naive", 64, {"bx": 16}, 1e-3, 9e-4, 1.1e-3, 5.0, device="a GPU", driver="1.2", date="2026-11-21"),
        Record("mxv_sh", 64, {}, M=32, K=16, device="a GPU", driver="1.2", date="2026-11-21", state="failed", problem="it broke")))
    assert loads(dumps(some, made_by="a test")) == some
    assert some.find("mxv_sh", state="failed") == some.records[1:]
    assert dumps(some).count("\n") == 5


@pytest.mark.slow
def test_recording_goes_on_after_its_deadline_and_is_sorted_into_files(tmp_path, monkeypatch):
    groups = {name: plans.over_sizes(("sgemm_naive",), sizes, backend="sim") for name, sizes in (("first", (16, 20)), ("second", (20, 24)))}
    out, said = tmp_path / "all.jsonl", []
    assert recording.record(out, deadline_s=-1, say=said.append, groups=groups) == 4
    assert recording.record(out, say=said.append, groups=groups) == 0
    assert len(Journal(out, resume=True).records) == 3, "a task of two files is measured once"
    assert "second 2/2  sgemm_naive N = 24" in said[-1]
    assert recording.keep(out, tmp_path, groups) == {"first": 2, "second": 2}
    assert [r.N for r in loads((tmp_path / "second.json").read_text()).records] == [20, 24]
    first = tmp_path / "less.jsonl"
    first.write_text("".join(line + "\n" for line in out.read_text().splitlines() if '"N": 16' in line).replace('"N": 16', '"N": 24'))
    assert recording.keep(first, tmp_path, groups) == {"second": 2}, "what was there already stays"
    text = out.read_text()
    out.write_text(text.replace("simulated", "another", 1))
    with pytest.raises(CourseError, match="2 machines"):
        recording.keep(out, tmp_path, groups)


@pytest.mark.slow
def test_some_files_alone_are_recorded_and_kept(tmp_path, monkeypatch, capsys):
    small = {"first": plans.over_sizes(("sgemm_naive",), (16, 20), backend="sim"),
             "padding": plans.padding((16,), (16,), backend="sim")}
    monkeypatch.setattr(plans, "everything", lambda budget_s=0.15: small)
    monkeypatch.setattr(recording, "conditions", lambda: "no GPU")
    monkeypatch.setattr(data, "FOLDER", tmp_path)
    out = str(tmp_path / "some.jsonl")
    assert main(["record", "--only", "padding", "--out", out]) == 0
    assert main(["keep", out, "--only", "padding"]) == 0
    assert "padding.json 14" in capsys.readouterr().out
    assert not (tmp_path / "first.json").exists()
    assert {r.kernel for r in loads((tmp_path / "padding.json").read_text()).records} == {t.kernel for t in small["padding"]}
    assert main(["record", "--only", "pading", "--out", out]) == 1
    assert "no recording 'pading': they are first, padding" in capsys.readouterr().err


def test_padding_covers_what_the_sliders_offer():
    found = {(t.kernel, t.N, t.parameters["TILE"], t.parameters.get("PAD")) for t in GROUPS.get("padding", plans.padding(backend="gpu"))
             if "TILE" in t.parameters}
    for N in (1024, 4096):
        for side in (16, 32):
            assert {("transpose", N, side, pad) for pad in (0, 1, 2, 4, 8, 16)} | {("transpose_swizzled", N, side, None)} <= found
            assert {("sgemm_padded", N, side, pad) for pad in (0, 1, 2, 4, 8)} <= found


def test_strides_cover_what_the_sliders_offer():
    found = {(t.N, *(t.parameters[name] for name in ("stride", "offset", "VEC"))) for t in plans.strides(backend="gpu")}
    stride, offset, VEC = (next(p.choices for p in kernels.get("copy_strided").parameters if p.name == name)
                           for name in ("stride", "offset", "VEC"))
    for N in (2**20, 2**26):
        assert {(N, s, 0, v) for s in stride for v in VEC} | {(N, 1, o, 1) for o in offset} <= found


def test_unrolling_covers_what_the_slider_offers():
    found = {(t.N, t.parameters["TILE"], t.parameters["UNROLL"]) for t in plans.unrolling(backend="gpu") if t.kernel == "sgemm_unrolled"}
    steps = next(p.choices for p in kernels.get("sgemm_unrolled").parameters if p.name == "UNROLL")
    assert {(N, side, count) for N in (1024, 4096) for side in (16, 32) for count in steps} <= found
    assert {t.parameters["BK"] for t in plans.unrolling(backend="gpu") if t.kernel == "sgemm_tiled"} == {16, 32}
    assert not [t for t in plans.unrolling(backend="gpu") if t.problem]


def test_whole_tiles():
    for N in plans.POWERS:
        for name in plans.CHIEN:
            t = task(name, plans.whole_tiles(name, N), backend="sim")
            assert max(t.M, t.N, t.K) <= 1.1 * N
