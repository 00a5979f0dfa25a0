"""Tuning: what is tried, that pruning loses nothing, and that a search goes on where it was stopped."""

import json
import sys
import xml.etree.ElementTree as ET
import zlib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest

from course_lib import data, gpu, kernels
from course_lib.arch import DEFAULT_DEVICE
from course_lib.bench import __main__, compiling, journal, measure, on_gpu, sweep, task, tune
from course_lib.bench.least import SHARING, least_seconds, modelled_seconds
from course_lib.bench.search import KERNEL, bounds, recorded_times
from course_lib.bench.tiles import combinations, tiles
from course_lib.bench.tune import BoundPruner, plan, product_of
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.model.stream_k import sharing

SIZES = (96, 80, 64)
SWEEP = sys.modules["course_lib.bench.sweep"]       # the package has the function of that name


def rounded(one):
    """Return a made-up time of a task: above its bound by a factor that depends on the parameters alone."""
    return least_seconds(one, DEFAULT_DEVICE) * (1.05 + zlib.crc32(repr(one.parameters).encode()) % 97 / 97)


@pytest.fixture
def timed(monkeypatch):
    """Replace the measurement on a GPU by made-up times; return the parameters of what was measured."""
    done = []

    def measured(one):
        done.append(one.parameters)
        return {"median_s": rounded(one), "low_s": rounded(one), "high_s": rounded(one), "repeats": 5, "correct": True}
    monkeypatch.setattr(on_gpu, "measure", measured)
    monkeypatch.setattr(measure, "here", lambda backend: {"device": "NVIDIA X", "driver": "1", "date": "2026-01-01"})
    monkeypatch.setattr(SWEEP, "here", lambda backend: {"device": "NVIDIA X"})
    monkeypatch.setattr(gpu, "live_device", lambda: DEFAULT_DEVICE)
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(True, "acted", "NVIDIA X", (9, 0), "sm_90", "13.0", "1.2"))
    monkeypatch.setattr(tune, "compile_texts", lambda texts, arch: 0)
    return done


@pytest.mark.parametrize("kernel", SHARING)
@pytest.mark.parametrize("sizes", [(256, 256, 256), (513, 511, 30), (4096, 4096, 4096), (1, 1, 1), (8, 20000, 3)])
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (True, True)])
def test_candidates_keep_all_rules_and_are_about_a_hundred(kernel, sizes, transposed):
    described = kernels.get(kernel)
    found = combinations(kernel, sizes, DEFAULT_DEVICE, transposed)
    assert 30 <= len(found) <= 125
    assert len({json.dumps(p) for p in found}) == len(found)
    for p in found:
        assert described.problems(**p) == ()
        assert described.sizes_of(*sizes, described.check(**p)) is None
        assert (p["TRANSA"], p["TRANSB"]) == transposed
        shared = described.dynamic_bytes(**p) + DEFAULT_DEVICE.limits.shared_reserved
        assert shared * p["RESIDENT"] <= DEFAULT_DEVICE.limits.shared
    rows = (sizes[0] if transposed[0] else sizes[2], sizes[2] if transposed[1] else sizes[1], sizes[1])
    most = 4 if described.dtype == "float32" else 2
    assert {p["WIDE"] for p in found} == {1 if any(length % most for length in rows) else most}


def test_other_kernels_are_tried_with_their_tuned_tiles_or_their_sliders():
    assert combinations("dgemm_outputs", (64, 64, 64), DEFAULT_DEVICE)[0] == {"TA": 16, "TB": 32, "TW": 32, "bx": 16, "by": 8}
    assert {p["BM"] for p in combinations("sgemm_tiled", (64, 64, 64), DEFAULT_DEVICE)} > {16, 32}
    with pytest.raises(CourseError, match="no combination"):
        plan("sgemm_tiled", (64, 64, 64), (True, False), backend="sim")
    with pytest.raises(CourseError, match="no product"):
        plan("transpose", (64, 64, 64), backend="sim")


def test_the_simulator_counts_the_steps_that_the_model_shares_out():
    p = {"BM": 32, "BN": 32, "BK": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4, "STAGES": 3, "RESIDENT": 4, "blocks": 5}
    record = measure.attempt(task("sgemm_stream_k", SIZES, p, backend="sim"))
    found = sharing(*SIZES, (32, 32, 32), 5)
    fmas = record.counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]
    assert found.tiles * found.steps * 32**3 <= fmas <= found.tiles * found.steps * 32**3 + 2 * 96 * 80, "alpha and beta besides"
    assert modelled_seconds(record, DEFAULT_DEVICE) >= least_seconds(task("sgemm_stream_k", SIZES, p, backend="gpu"), DEFAULT_DEVICE)


def test_no_bound_is_above_a_recorded_time():
    rows = [row for row in data.readings("race").rows if not row["beta"]]
    assert len(rows) == 70
    for row in rows:
        one = task(row["kernel"], (row["M"], row["N"], row["K"]), row["parameters"], backend="gpu")
        assert 0 < least_seconds(one, DEFAULT_DEVICE) < row["ours"], row
    for name in ("tuned", "ladder", "tensor"):
        for r in data.load(name).records:
            if r.kernel in kernels.KERNELS and r.median_s and r.M == r.N == r.K:
                assert least_seconds(task(r.kernel, r.N, r.parameters, backend="gpu"), DEFAULT_DEVICE) < r.median_s, r


@pytest.mark.parametrize("kernel", SHARING)
def test_pruning_never_loses_the_fastest(kernel, timed):
    found = tune.tune(kernel, [(512, 512, 512), (1000, 300, 2000)], backend="gpu", progress=False)
    assert found.found.pruned, "something was pruned"
    assert len(timed) == len(found.found.done) < found.found.planned
    for product, record in found.best.items():
        every = {one.identity: rounded(one) for one in plan(kernel, product[:3], backend="gpu")}
        assert record.median_s == pytest.approx(min(every.values()))
        assert record.identity == min(every, key=every.__getitem__)


def test_a_bound_that_is_too_high_loses_the_fastest(timed):
    """The other way round: the test above sees it when a bound is no bound."""
    tasks = plan("sgemm_stream_k", (512, 512, 512), backend="gpu")
    times = {one.identity: rounded(one) for one in tasks}
    winner = min(times, key=times.__getitem__)
    limits = {one.identity: least_seconds(one, DEFAULT_DEVICE) for one in tasks} | {winner: 1.0}
    last = sorted(tasks, key=lambda one: limits[one.identity])
    found = sweep(last, pruner=BoundPruner(limits), progress=False)
    assert winner in {r.identity for r in found.pruned}


@pytest.mark.parametrize("N", [256, 512, 1024, 2048])
def test_pruning_agrees_with_the_search_on_recorded_times(N):
    """`search` and the pruner have the same bounds and times of Wang and Jin's kernel: they measure the same ones."""
    from course_lib.bench.search import TRIED, search
    times, _ = recorded_times(N)
    tasks = [task(KERNEL, N, dict(zip(TRIED, c, strict=True)), backend="gpu") for c in times]
    limits = {one.identity: bounds(N)[c].seconds for one, c in zip(tasks, times, strict=True)}
    known = {one.identity: times[c] for one, c in zip(tasks, times, strict=True)}
    pruner, tried = BoundPruner(limits), 0
    for one in sorted(tasks, key=lambda one: (limits[one.identity], tuple(one.parameters.values()))):
        if not pruner.reason(one):
            tried += 1
            pruner.learn(one.record(median_s=known[one.identity]))
    assert tried == search(N).tried
    assert pruner.best[N, N, N, 0, 0] == min(times.values())


def test_a_search_goes_on_where_it_was_stopped(timed, monkeypatch, tmp_path):
    out = tmp_path / "tuned.jsonl"
    real = on_gpu.measure

    def stops(one):
        if len(timed) == 5:
            raise KeyboardInterrupt
        return real(one)
    monkeypatch.setattr(on_gpu, "measure", stops)
    options = {"backend": "gpu", "out": out, "progress": False}
    first = tune.tune("sgemm_stream_k", [(512, 512, 512)], **options)
    assert first.found.interrupted
    assert len(journal.read(out)) == 5
    monkeypatch.setattr(on_gpu, "measure", real)
    second = tune.tune("sgemm_stream_k", [(512, 512, 512)], resume=True, **options)
    assert second.found.reused == 5
    assert len(timed) == len({json.dumps(p) for p in timed}), "nothing was measured twice"
    whole = tune.tune("sgemm_stream_k", [(512, 512, 512)], backend="gpu", progress=False)
    assert [(r.identity, r.state) for r in second.found.records] == [(r.identity, r.state) for r in whole.found.records]
    assert [r.median_s for r in second.found.done] == pytest.approx([r.median_s for r in whole.found.done], rel=1e-4)
    third = tune.tune("sgemm_stream_k", [(512, 512, 512)], resume=True, **options)
    assert third.found.reused == third.found.planned, "the pruned ones are in the file, too"
    assert third.saved_s == 0


def test_what_was_pruned_on_another_device_is_asked_again(timed, monkeypatch, tmp_path):
    out = tmp_path / "tuned.jsonl"
    tune.tune("sgemm_stream_k", [(512, 512, 512)], backend="gpu", out=out, progress=False)
    monkeypatch.setattr(SWEEP, "here", lambda backend: {"device": "NVIDIA Y"})
    found = tune.tune("sgemm_stream_k", [(512, 512, 512)], backend="gpu", out=out, resume=True, progress=False)
    assert found.found.reused == 0
    assert found.found.pruned


@pytest.mark.parametrize("at_once", [1, 3])
def test_an_executor_gives_the_same_best(timed, at_once):
    with ThreadPoolExecutor(at_once) as executor:
        there = tune.tune("dgemm_stream_k", [(300, 200, 100)], backend="gpu", executor=executor, at_once=at_once, progress=False)
    here = tune.tune("dgemm_stream_k", [(300, 200, 100)], backend="gpu", progress=False)
    assert {p: r.identity for p, r in there.best.items()} == {p: r.identity for p, r in here.best.items()}
    assert len(there.found.records) == len(here.found.records)
    assert 0 < len(there.found.pruned) <= len(here.found.pruned), "what an executor has already cannot be pruned"


def test_processes_on_the_simulator_give_what_this_process_gives():
    options = {"backend": "sim", "progress": False}
    with ProcessPoolExecutor(2) as executor:
        there = tune.tune("sgemm_coalesced", [(40, 30, 20)], executor=executor, at_once=2, prune=False, **options)
    here = tune.tune("sgemm_coalesced", [(40, 30, 20)], prune=False, **options)
    assert [replace(r, date="") for r in there.found.records] == [replace(r, date="") for r in here.found.records]
    assert all(r.correct for r in here.found.done)


@pytest.mark.exhaustive
def test_pruning_on_a_dask_cluster_loses_nothing(monkeypatch, tmp_path):
    """Two worker processes on the simulator: each has one task at a time, and what comes back prunes what is still here."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(tune, "combinations", lambda *wanted: combinations(*wanted)[::28])
    wanted = {"kernel": "sgemm_stream_k", "products": [(64, 64, 256)], "backend": "sim", "progress": False}
    out = tmp_path / "tuned.jsonl"
    with (distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
          distributed.Client(cluster) as client):
        executor = client.get_executor()
        there = tune.tune(executor=executor, at_once=2, out=out, **wanted)
        again = tune.tune(executor=executor, at_once=2, out=out, resume=True, **wanted)
    here, every = tune.tune(**wanted), tune.tune(prune=False, **wanted)
    for found in (there, here):
        assert {p: r.identity for p, r in found.best.items()} == {p: r.identity for p, r in every.best.items()}
        assert [r.identity for r in found.found.records] == [r.identity for r in every.found.records], "the order of the bounds"
        assert found.found.failed == ()
    best, = there.best.values()
    assert all(there.bounds[r.identity] > there.seconds(best) for r in there.found.pruned)
    assert 2 <= len(there.found.pruned) < len(here.found.pruned), "both workers had a task before anything came back"
    assert again.found.reused == again.found.planned == len(journal.read(out)), "the pruned ones are in the file, too"


def test_the_command_says_that_nothing_was_measured(tmp_path, capsys):
    out, svg = tmp_path / "tuned.jsonl", tmp_path / "tuned.svg"
    wanted = ["tune", "--kernel", "sgemm_coalesced", "--sizes", "20,24x20x16", "--backend", "sim", "--out", str(out), "--chart", str(svg)]
    assert __main__.main(wanted) == 0
    said = capsys.readouterr().out
    assert "modelled, not measured" in said
    assert "24 × 20 × 16" in said
    assert "measured on" not in said
    assert {product_of(r)[:3] for r in journal.read(out)} == {(20, 20, 20), (24, 20, 16)}
    drawn = ET.parse(svg).getroot()
    assert drawn.tag.endswith("svg")
    assert __main__.main(wanted) == 1, "the file is there"
    assert __main__.main([*wanted, "--resume"]) == 0
    assert "not measured again" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        __main__.main(["tune", "--sizes", "20x30"])


def test_the_table_says_what_pruning_saved(timed, tmp_path):
    found = tune.tune("sgemm_stream_k", [(512, 512, 512)], backend="gpu", progress=False)
    text = tune.table(found)
    assert "measured on NVIDIA X, driver 1, 2026-01-01" in text
    assert f"{found.found.planned} candidates: {len(found.found.done)} tried, {len(found.found.pruned)} pruned" in text
    assert found.saved_s > 0
    ax = tune.chart(found, tmp_path / "a.svg")
    assert [bar.get_height() for bar in ax.patches] == [pytest.approx(2e-9 * 512**3 / r.median_s) for r in found.best.values()]
    assert ax.lines[0].get_ydata()[0] >= ax.patches[0].get_height(), "no speed is above its bound"


@pytest.mark.parametrize(("name", "expected"), [("NVIDIA H200", "H200"), ("NVIDIA X", "NVIDIA X")])
def test_what_was_measured_on_a_device_bounds_the_one_that_its_driver_names(name, expected, monkeypatch):
    monkeypatch.setattr(gpu, "live_device", lambda: replace(DEFAULT_DEVICE, name=name))
    found = tune.device_here()
    assert found.name == expected
    one = task("dgemm_stream_k", 4096, {"blocks": 132}, backend="gpu")
    on_tensor_cores = 2 * 4096**3 / 66.9e12
    assert (least_seconds(one, found) >= on_tensor_cores) == (expected == "H200")


def test_a_record_without_a_result_has_no_time():
    failed = Record("sgemm_stream_k", 64, {}, median_s=1.0, state="failed")
    assert tune.time_of(failed) is None
    pruner = BoundPruner({})
    pruner.learn(failed)
    assert pruner.best == {}


def test_texts_are_compiled_once_and_few_need_no_process(monkeypatch):
    started = []
    monkeypatch.setattr(compiling, "ProcessPoolExecutor", lambda *a, **k: started.append(a))
    tile = {"BM": 32, "BN": 32, "BK": 32, "WM": 16, "WN": 32, "TM": 4, "TN": 4}
    assert compiling.compile_texts([("sgemm_stream_k", tile | {"blocks": n}) for n in (1, 2)], "sm_90") == 1
    assert started == []


@pytest.mark.parametrize("kernel", SHARING)
def test_tiles_fit_their_device(kernel):
    few = list(tiles(kernel, DEFAULT_DEVICE))
    assert {p["RESIDENT"] for p in few} > {1, 2, 3}
    limits = DEFAULT_DEVICE.limits
    described = kernels.get(kernel)
    assert all(described.block(**p)[0] * p["RESIDENT"] <= 32 * limits.warps for p in few)
