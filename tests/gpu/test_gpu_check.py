"""The check for GPU machines, as far as it can be tried without one: nobody wants to find its slips there."""

import importlib.util
import json

import numpy as np
import pytest
from click.testing import CliRunner

from course_lib import gpu, kernels, simt
from course_lib.model.operands import MEASURED
from course_lib.run import run
from tools import nsight
from tools.gpu import cases as tried
from tools.gpu import check, operands, winners
from tools.record import hardware

FEW = [case for case in tried.cases([(33, 17, 20)]) if case[1] in ({"bx": 7, "by": 5}, {"BM": 8, "BN": 16, "BK": 24}, {})]


def ncu_text(rows):
    """Write rows as `ncu --csv --page raw` does."""
    names = ["ID", "Process ID", "Kernel Name", *nsight.MEASURED]
    lines = ["==PROF== Connected to process 1", ",".join(f'"{n}"' for n in names), ",".join('""' for _ in names)]
    for number, (name, counts) in enumerate(rows):
        lines.append(",".join(f'"{v}"' for v in (number, 1, name, *(f"{counts[m]:,}" for m in nsight.MEASURED))))
    return "\n".join([*lines, "==PROF== Disconnected", ""])


def simulated(case):
    name, parameters, shape, padding = case
    A, B, C = tried.matrices(shape, padding)
    ours = run(name, A, B, C, alpha=1.5, beta=0.5, backend="sim", **parameters).counters
    return name, {measured: ours.get(mine, 0) for measured, mine in nsight.MEASURED.items()}


def test_every_case_can_run_and_they_differ():
    cases = list(tried.cases(tried.PROFILED))
    assert len({tried.describe(c) for c in cases}) == len(cases) > 50
    for name, parameters, _, _ in list(tried.cases(tried.SHAPES)) + cases:
        assert kernels.get(name).problems(**parameters) == ()


@pytest.mark.slow
def test_equal_counters_are_equal():
    rows = nsight.parse_ncu(ncu_text(map(simulated, FEW)))
    record = {}
    words = tried.compare(record, FEW, rows)
    assert words == f"{8 * len(FEW)} of {8 * len(FEW)} counters equal, 0 global ones differ"
    assert any(there > 0 for row in record["rows"] for there, _ in row["counters"].values())
    json.dumps(record)


def test_one_sector_more_is_reported():
    measured = [simulated(case) for case in FEW]
    measured[2][1]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] += 1
    record = {}
    with pytest.raises(RuntimeError, match="1 global ones differ"):
        tried.compare(record, FEW, nsight.parse_ncu(ncu_text(measured)))
    assert len(record["differences"]) == 1


def test_a_lost_order_is_reported():
    rows = nsight.parse_ncu(ncu_text(map(simulated, FEW)))
    with pytest.raises(RuntimeError, match="order of launches is lost"):
        tried.compare({}, FEW, rows[::-1])


@pytest.mark.slow
def test_the_profiled_process_launches_each_case_once_and_right(tmp_path, monkeypatch):
    seen = []

    def launch(compiled, entry, grid, block, args, dynamic_shared=0):
        simt.launch(compiled.ptx, entry, grid, block, args, dynamic_shared=dynamic_shared)
        seen.append((entry, compiled.arch, grid, block))
    monkeypatch.setattr(gpu, "launch", launch)
    (tmp_path / "cases.json").write_text(json.dumps({"arch": "sm_90", "cases": FEW}))
    tried.launch_cases(tmp_path / "cases.json")
    assert [entry for entry, *_ in seen] == [case[0] for case in FEW]
    assert {arch for _, arch, *_ in seen} == {"sm_90"}


def test_without_a_gpu_it_says_so_and_goes_on(tmp_path, monkeypatch):
    gpu.probe.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(check.command, ["--out", str(tmp_path), "--only", "probe,environment"])
    assert done.exit_code == 1
    gpu.probe.cache_clear()
    out = done.output
    assert "probe        WRONG" in out
    assert "environment  right" in out
    assert json.loads((tmp_path / "gpu_check.json").read_text())["sections"]["environment"]["nvrtc"]


def test_a_structure_parameter_is_passed_as_its_bytes():
    case = hardware.CASES["copy_structs"]
    passed = hardware.by_value(case.arguments()[0][1])
    assert (passed.shape, passed.dtype.itemsize) == ((), 12)
    assert passed.tobytes() == bytes(case.arguments()[0][1])


def test_what_is_wrongly_called_the_hardwares_is_told():
    loads = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
    kept = json.loads((hardware.ROOT / "tests" / "data" / "h200_kernels.json").read_text())["kernels"]
    told = {name: kept[name] for name in ("reduce_tree", "early_return")}        # of the second, nothing is called the hardware's
    assert check.wrongly_claimed(told) == {}
    told["reduce_tree"] = kept["reduce_tree"] | {loads: 33}
    assert check.wrongly_claimed(told) == {"reduce_tree, requests ld": (33, 32)}


def test_the_record_on_file_is_what_keep_writes(tmp_path, monkeypatch):
    """From what came back from the GPU, `keep` makes the files that the tests read."""
    kept = json.loads((hardware.ROOT / "tests" / "data" / "h200_kernels.json").read_text())
    name = "reduce_tree"
    out = np.array([1.5, 2.5, 3.5, 4.5], np.float32)
    np.savez(tmp_path / "outputs.npz", **{f"{name}.1": out})
    (tmp_path / "hardware.json").write_text(json.dumps({**kept, "kernels": {name: kept["kernels"][name]}}))
    (tmp_path / "tests" / "data").mkdir(parents=True)
    monkeypatch.setattr(hardware, "ROOT", tmp_path)
    hardware.keep(tmp_path)
    told = json.loads((tmp_path / "tests" / "data" / "h200_kernels.json").read_text())
    assert told["kernels"] == {name: kept["kernels"][name]}
    assert told["outputs"] == {f"{name}.1": hardware.digest(out)}
    assert told["wrong"] == {f"{name}.1": "differs from the reference"}
    assert (np.load(tmp_path / "tests" / "data" / "h200_kernels.npz")[f"{name}.1"] == out).all()


class OnGpu:
    """A stand-in for what a GPU would return: the estimate times `factor`."""

    def __init__(self, right, factor):
        self.right, self.factor = right, factor

    def __call__(self, name, *, backend, **options):
        assert (name, backend) == ("micro_outer", "gpu")
        cycles = self.factor * operands.row_of(options, 0.0)["estimated"] * options["TM"] * options["TN"] * options["threads"] / 128
        return type("Result", (), {"right": self.right, "cycles_per_step": (0.9 * cycles, cycles)})


@pytest.mark.parametrize(("right", "factor", "words"), [
    (True, 1.0, None), (True, 1.02, None), (True, 0.98, None), (True, 0.9, "10 of 10 are faster than their bound, 0 slower"),
    (True, 1.3, "0 of 10 are faster than their bound, 10 slower"), (True, float("nan"), "10 of 10 are faster"),
    (False, 1.0, "10 products are wrong")])
def test_outer_products_are_measured_beside_their_estimate(right, factor, words, monkeypatch):
    monkeypatch.setattr("course_lib.run.run_micro", OnGpu(right, factor))
    record = {}
    if words is None:
        assert "outer products right" in operands.section_operands(record)
    else:
        with pytest.raises(RuntimeError, match=words):
            operands.section_operands(record)
    assert len(record["rows"]) == len(list(operands.plan())) == 10
    assert all(1 <= row["at_least"] <= row["estimated"] < row["at_most"] for row in record["rows"])
    json.dumps(record)


def test_the_outer_products_can_run_and_differ():
    found = list(operands.plan())
    assert len({json.dumps(options) for options in found}) == len(found)
    assert all(kernels.ALL["micro_outer"].problems(**options) == () for options in found)
    assert {(o["TM"], o["TN"], bool(o["SERPENTINE"])) for o in found} >= set(MEASURED)


@pytest.mark.slow
def test_hard_matrices_are_hard_and_a_wrong_kernel_is_told(monkeypatch):
    rng = np.random.default_rng(5)
    found = {kind: winners.hard(kind, rng, 4, 6, "float32") for kind in winners.KINDS}
    assert np.abs(found["exponents"]).max() / np.abs(found["exponents"]).min() > 2.0**20
    assert 0 < np.abs(found["denormal"]).max() < np.finfo(np.float32).tiny
    assert not found["cancelling"].sum(axis=1).any()
    monkeypatch.setattr(winners, "KERNELS", ("sgemm_stages",))
    monkeypatch.setattr(winners, "SHAPES", ((31, 33, 7),))
    monkeypatch.setattr("course_lib.run.run", lambda name, A, B, C, backend, **how: run(name, A, B, C, backend="sim", **how))
    assert winners.section_adversarial({}) == "8 products, 0 wrong, 0 with other bits than the simulator's"

    def off(name, A, B, C, backend, **how):
        result = run(name, A, B, C, backend="sim", **how)
        result.C[0, 0] *= 2 if backend == "gpu" else 1
        return result
    monkeypatch.setattr("course_lib.run.run", off)
    with pytest.raises(RuntimeError, match="8 products, 8 wrong, 8 with other bits"):
        winners.section_adversarial({})


SANITIZER = """#!/bin/sh
case "$*" in *"{tool}"*) echo "========= {words}";; *) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)";; esac
"""


@pytest.mark.parametrize(("words", "clean"), [("ERROR SUMMARY: 0 errors", True), ("ERROR SUMMARY: 2 errors", False), ("crashed", False)])
def test_what_compute_sanitizer_says_decides(words, clean, tmp_path, monkeypatch):
    program = tmp_path / "compute-sanitizer"
    program.write_text(SANITIZER.format(tool="memcheck", words=words))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(True, "", "a GPU", (9, 0), "sm_90", "13", "1", 1))
    kernels = len(winners.KERNELS) + len(winners.WARPGROUPS)
    if clean:
        assert winners.section_sanitizer({}, tmp_path).startswith(f"{4 * kernels} runs of {kernels} kernels")
    else:
        with pytest.raises(RuntimeError, match=f"^{kernels} of {4 * kernels} runs were not clean"):
            winners.section_sanitizer({}, tmp_path)


def test_each_winner_is_watched_with_two_tiles():
    wanted = dict.fromkeys(winners.KERNELS, 2) | dict.fromkeys(winners.WARPGROUPS, 1)
    assert {name: len(cases) for name, cases in winners.sanitized()} == wanted
