"""Sweeps: order, failures, files that are taken up again, executors."""

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from course_lib.bench import __main__, journal, measure, plans, sweep, task
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.model import l1_wavefronts

SIM = {"backend": "sim"}
VARIANTS = {"sgemm_tiled": ({"BM": 16, "BN": 16, "BK": 16}, {"BM": 64, "BN": 64})}
TASKS = plans.over_sizes(("sgemm_naive", "sgemm_tiled"), (16, 20), VARIANTS, **SIM)


@pytest.fixture
def counted(monkeypatch):
    """Replace the measurement by one that only counts: (what was measured, kernels that fail)."""
    seen, bad = [], set()

    def pretend(one):
        seen.append((one.kernel, one.N))
        if one.kernel in bad:
            raise CourseError("it broke\nand more")
        return {"correct": True}
    monkeypatch.setattr(measure, "_simulate", pretend)
    return seen, bad


def without_dates(records):
    return [replace(r, date="") for r in records]


def test_a_sweep_on_the_simulator_counts_and_checks():
    found = sweep(TASKS, progress=False)
    assert [(r.kernel, r.N, r.state) for r in found.records] == [
        ("sgemm_naive", 16, "done"), ("sgemm_tiled", 16, "done"), ("sgemm_tiled", 16, "skipped"),
        ("sgemm_naive", 20, "done"), ("sgemm_tiled", 20, "done"), ("sgemm_tiled", 20, "skipped")]
    assert all(r.correct and r.median_s is None and r.device == "simulated" for r in found.done)
    assert found.done[0].counters["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] == 8
    assert "BN × BM = 64 × 64 = 4096 threads a block" in found.skipped[0].problem


def test_a_sweep_over_strides_counts_and_checks():
    found = sweep(plans.strides((64,), backend="sim"), progress=False)
    assert len(found.done) == 27
    assert all(r.correct for r in found.done)
    count = {(r.parameters["stride"], r.parameters["offset"], r.parameters["VEC"]):
             r.counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] for r in found.done}
    assert (count[1, 0, 1], count[2, 0, 1], count[1, 1, 1], count[1, 0, 4]) == (8, 16, 10, 8)
    (far,) = sweep([task("copy_strided", 2**20, {"stride": 32}, backend="sim")], progress=False).failed
    assert "take N times stride up to" in far.problem


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_gives_the_same_records_in_the_same_order(pool, tmp_path):
    with pool(2) as executor:
        there = sweep(TASKS, executor=executor, out=tmp_path / "there.jsonl", progress=False)
    here = sweep(TASKS, out=tmp_path / "here.jsonl", progress=False)
    assert without_dates(there.records) == without_dates(here.records)
    assert (tmp_path / "there.jsonl").read_text() == (tmp_path / "here.jsonl").read_text()


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers():
    distributed = pytest.importorskip("distributed")
    with (distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
          distributed.Client(cluster) as client):
        workers = client.run(lambda: __import__("os").getpid())
        assert len(set(workers.values())) == 2
        found = sweep(TASKS, executor=client.get_executor(), progress=False)
    assert without_dates(found.records) == without_dates(sweep(TASKS, progress=False).records)


def test_an_exception_costs_its_own_record(counted):
    seen, bad = counted
    bad.add("sgemm_naive")
    found = sweep(TASKS, progress=False)
    assert [r.state for r in found.records] == ["failed", "done", "skipped"] * 2
    assert found.failed[0].problem == "it broke"
    assert len(seen) == 4


class Broken:
    """An executor that fails for its own reasons: a future with an exception, then no future at all."""

    def __init__(self):
        self.threads, self.number = ThreadPoolExecutor(1), 0

    def submit(self, function, one):
        self.number += 1
        if self.number == 3:
            raise RuntimeError("no worker is left")
        return self.threads.submit(function, None if self.number == 2 else one)


def test_an_executor_that_breaks_costs_the_tasks_it_lost(counted):
    executor = Broken()
    found = sweep(TASKS[:2] + TASKS[3:], executor=executor, progress=False)
    executor.threads.shutdown()
    assert [r.state for r in found.records] == ["done", "failed", "failed", "done", "skipped"]
    assert found.failed[0].problem.startswith("AttributeError")
    assert found.failed[1].problem == "RuntimeError: no worker is left"


def test_a_file_is_taken_up_again(counted, tmp_path):
    seen, bad = counted
    out = tmp_path / "sweep.jsonl"
    bad.add("sgemm_tiled")
    sweep(TASKS[:3], out=out, progress=False)
    with out.open("a") as file:
        file.write('{"kernel": "sgemm_na')           # ended while it wrote
    seen.clear(), bad.clear()
    found = sweep(TASKS, out=out, resume=True, progress=False)
    assert seen == [("sgemm_tiled", 16), ("sgemm_naive", 20), ("sgemm_tiled", 20)], "what failed and what was not there"
    assert found.reused == 2
    assert [r.identity for r in journal.read(out)] == [t.identity for t in TASKS]
    seen.clear()
    assert sweep(TASKS, out=out, resume=True, progress=False).reused == len(TASKS)
    assert seen == []


def test_a_changed_kernel_and_another_device_are_measured_again(counted, tmp_path):
    seen, _ = counted
    out = tmp_path / "sweep.jsonl"
    sweep(TASKS, out=out, progress=False)
    seen.clear()
    changed = [replace(t, source="another") if t.kernel == "sgemm_naive" else t for t in TASKS]
    sweep(changed, out=out, resume=True, progress=False)
    assert seen == [("sgemm_naive", 16), ("sgemm_naive", 20)]
    assert {r.source for r in journal.read(out) if r.kernel == "sgemm_naive"} == {"another"}
    rows = [json.loads(line) | {"device": "another"} for line in out.read_text().splitlines()]
    out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    seen.clear()
    sweep(TASKS[3:], out=out, resume=True, progress=False)
    assert seen == [("sgemm_naive", 20), ("sgemm_tiled", 20)]
    assert len(journal.read(out)) == len(TASKS), "records of another sweep stay"


def test_ctrl_c_keeps_what_is_ready(monkeypatch, tmp_path):
    def interrupt(one):
        if one.N == 20:
            raise KeyboardInterrupt
        return {"correct": True}
    monkeypatch.setattr(measure, "_simulate", interrupt)
    found = sweep(TASKS, out=tmp_path / "sweep.jsonl", progress=False)
    assert found.interrupted
    assert [r.identity for r in found.records] == [t.identity for t in TASKS[:3]]
    assert len(journal.read(tmp_path / "sweep.jsonl")) == 3


@pytest.mark.slow
def test_ctrl_c_stops_the_command_and_resume_finishes(tmp_path):
    out = tmp_path / "sweep.jsonl"
    command = [sys.executable, "-m", "course_lib.bench", "sizes", "--kernels", "sgemm_tiled", "--sizes", "64,1024,1040,1056,1072,1088",
               "--backend", "sim", "--out", str(out)]
    # A shell that runs the tests in the background has SIGINT ignored, and children inherit that.
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while running.poll() is None and not (out.exists() and out.read_text().count("\n")):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "left when it was stopped" in said
    done = journal.read(out)
    assert 1 <= len(done) < 6
    again = subprocess.run([*command, "--resume"], capture_output=True, text=True, timeout=120)
    assert again.returncode == 0
    assert f"{len(done)} not measured again" in again.stdout
    assert [r.N for r in journal.read(out)] == [64, 1024, 1040, 1056, 1072, 1088]


OTHER_ROWS = ['{"kernel": "sgemm_naive"}', '{"kernel": "sgemm_naive", "N": 64, "parameters": {}, "colour": 1}', "[1, 2]", "7"]


@pytest.mark.parametrize("row", OTHER_ROWS)
def test_a_row_with_other_fields_than_a_record_is_refused(tmp_path, row):
    out = tmp_path / "sweep.jsonl"
    out.write_text(f"{row}\n")
    with pytest.raises(CourseError, match="line 1 is no record"):
        journal.read(out)


def test_a_fault_of_a_record_is_not_taken_for_one_of_the_file(tmp_path, monkeypatch):
    class Broken(Record):
        def __init__(self, **fields):
            raise TypeError("a fault of ours")

    out = tmp_path / "sweep.jsonl"
    sweep(TASKS[:1], out=out, progress=False)
    monkeypatch.setattr(journal, "Record", Broken)
    with pytest.raises(TypeError, match="of ours"):
        journal.read(out)


def test_a_file_that_is_there_or_is_something_else_is_refused(tmp_path):
    out = tmp_path / "sweep.jsonl"
    out.write_text("a, b\n1, 2\n")
    with pytest.raises(CourseError, match="there already"):
        sweep(TASKS, out=out, progress=False)
    with pytest.raises(CourseError, match="line 1 is no record"):
        sweep(TASKS, out=out, resume=True, progress=False)
    assert out.read_text() == "a, b\n1, 2\n"
    with pytest.raises(CourseError, match="twice"):
        sweep(TASKS + TASKS[:1], progress=False)


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: task("sgemm_naif", 16, **SIM), "did you mean"), (lambda: task("sgemm_naive", 0, **SIM), "whole number from 1"),
    (lambda: task("sgemm_naive", 16, backend="tpu"), "'gpu', 'sim' or 'cpu'"),
    (lambda: task("gemm_ijk", 16, **SIM), "program for the CPU"),
    (lambda: task("sgemm_naive", 16, backend="cpu"), "no program for the CPU"),
    (lambda: task("sgemm_naive", 16, l2="hot", **SIM), "'warm' or 'cold'"),
    (lambda: plans.tiles("sgemm_warp_tile", 64, {"BK": range(4, 40, 4)}, **SIM), "combinations"),
    (lambda: plans.tiles("sgemm_naive", 64, {"BM": (1,)}, **SIM), "BM is no parameter"),
    (lambda: plans.over_sizes((), **SIM), "no kernels"), (lambda: task("micro_fma", 64, **SIM), "of kind 'micro'")])
def test_what_cannot_be_planned_is_refused_in_a_sentence(wrong, words):
    with pytest.raises(CourseError, match=words):
        wrong()


def test_what_the_simulator_cannot_do_fails_alone():
    huge, library = sweep([task("sgemm_naive", 4096, **SIM), task("cuBLAS", 64, **SIM)], progress=False).records
    assert "take N up to 1024" in huge.problem
    assert "on a GPU alone" in library.problem


def test_programs_for_the_cpu_are_timed():
    found = sweep([task("blas", 40, {"threads": 1}, budget_s=0.01), task("python_ijk", 6, budget_s=0.01)], progress=False)
    for record in found.records:
        assert (record.state, record.backend, record.correct) == ("done", "cpu", True)
        assert record.low_s <= record.median_s <= record.high_s
        assert record.gflops == pytest.approx(2 * record.N**3 / record.median_s / 1e9)
    assert [t.parameters["threads"] for t in plans.threads(("blas",), (64,), (1, 3))] == [1, 3]


def test_the_plans_of_the_documents():
    assert len(plans.WANG_SIZES) == 20
    assert len(plans.MXV) == 8
    assert [t.parameters["threads"] for t in plans.warps(("mxv_sh",), 64, **SIM)] == [128, 256, 384, 512, 640, 768, 896, 1024]
    assert {t.N for t in plans.wang(**SIM)} == set(plans.WANG_SIZES)
    gpu = plans.wang((256,), backend="gpu")
    assert [t.dtype for t in gpu if t.kernel == "cuBLAS"] == ["float64", "float32"]
    assert {(t.parameters["bx"], t.parameters["by"]) for t in gpu if t.kernel == "dgemm_outputs"} == {(16, 16), (16, 8)}


def test_the_shapes_of_a_block_tell_sectors_lines_and_wavefronts_apart():
    """At 2048, equal sectors in 2 and 5 lines. At 2047, the swapped kernel's 16 rows of A lie in 16 lines and in as many banks."""
    tasks = plans.shapes(backend="gpu")
    assert len({t.identity for t in tasks}) == len(tasks) == 2 * 3 * 9
    assert {t.parameters["bx"] * t.parameters["by"] for t in tasks} == {256}
    assert not any(t.problem for t in tasks)

    def step(N, rows, cols):
        """Return the sectors, lines and wavefronts of a warp's two requests in one step."""
        A, B = 4 * N * np.repeat(np.arange(rows), cols), 4 * np.tile(np.arange(cols), rows)
        return [sum(count(x) for x in (A, B)) for count in (
            lambda x: len(np.unique(x // 32)), lambda x: len(np.unique(x // 128)), l1_wavefronts)]
    assert (step(2048, 1, 32), step(2048, 4, 8)) == ([5, 2, 2], [5, 5, 5])
    assert (step(2048, 16, 2), step(2047, 16, 2)) == ([17, 17, 17], [17, 17, 2])


def test_the_command_sweeps_prints_and_resumes(counted, tmp_path, capsys):
    out = tmp_path / "sweep.jsonl"
    wanted = ["tiles", "--kernels", "sgemm_tiled", "--sizes", "16", "--choose", "BM=16,64", "--choose", "BN=16,64", "--choose", "BK=16",
              "--backend", "sim", "--out", str(out)]
    assert __main__.main(wanted) == 0
    assert __main__.main(wanted) == 1
    printed, errors = capsys.readouterr()
    assert "sgemm_tiled  16  BM=16, BN=16, BK=16" in printed
    assert "skipped, BN × BM = 64 × 64 = 4096" in printed
    assert "3 done, 1 skipped" in printed
    assert "--resume" in errors
    assert __main__.main([*wanted, "--resume"]) == 0
    assert "4 not measured again" in capsys.readouterr().out
    counted[1].add("sgemm_naive")
    assert __main__.main(["sizes", "--kernels", "sgemm_naive", "--sizes", "16,20", "--backend", "sim"]) == 1
    assert "sgemm_naive N = 16 bx=16, by=16: failed, it broke" in capsys.readouterr().out


def test_long_tables_keep_the_fastest():
    from course_lib.bench import Sweep, command
    rows = tuple(Record("sgemm_tiled", N, {"BM": i}, 1e-3 * (50 - i), 1e-3, 1e-2, 5.0 + i, device="NVIDIA X", driver="1")
                 for N in (64, 128) for i in range(30))
    text = command.text(Sweep(rows, 60, 0, False))
    assert text.count("BM=29") == 2
    assert text.count("BM=") == 2
    assert "60 records in all" in text
    assert "NVIDIA X, driver 1" in text
