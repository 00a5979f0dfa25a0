"""The record of a training run: its form, what is refused, and the course's own file once there is one."""

import numpy as np
import pytest

from course_lib import data, gpu
from course_lib.bench import __main__ as command
from course_lib.bench import training
from course_lib.data.readings import loads, readings
from course_lib.gpu import GpuStatus
from course_lib.training import CLOSE, STEP_CLOSE, Setting

SMALL = (Setting(hidden=16, batch=16), Setting(hidden=32, batch=16))
RECORDED = data.FOLDER / "training.json"


def check(found, settings, steps):
    """Hold a record to its form."""
    assert found.device
    assert found.date
    assert "GPU" not in found.label
    first = settings[0]
    losses = found.find(what="losses")
    assert [(r["products"], r["backend"], r["graph"]) for r in losses] == [("library", "cpu", False)] * 2 + [
        (products, "gpu", graph) for products in ("separate", "fused", "library") for graph in (False, True)]
    assert losses[0]["dtype"] == "float64"
    for row in losses:
        assert (row["hidden"], row["batch"], len(row["losses"])) == (first.hidden, first.batch, steps)
        assert row["loss_distance"] <= CLOSE
        assert np.max(np.abs(np.subtract(row["losses"], losses[0]["losses"]))) <= CLOSE + 1e-5
        assert row["losses"][0] > row["losses"][-1] > 0
    for setting in settings:
        speeds = found.find(what="speed", hidden=setting.hidden, batch=setting.batch)
        assert {(r["products"], r["backend"], r["graph"]) for r in speeds} == {("library", "cpu", False)} | {
            (products, "gpu", graph) for products in ("separate", "fused", "library") for graph in (False, True)}
        assert all(0 < r["low"] <= r["per_s"] <= r["high"] and r["step_error"] <= STEP_CLOSE for r in speeds)


@pytest.fixture
def quick(monkeypatch, acted):
    """Make a sample of a speed short."""
    monkeypatch.setattr("course_lib.training.loop.LAP", 1)
    monkeypatch.setattr("course_lib.training.loop.STORED", 2)
    def time_call(call, budget_s):
        call()
        return gpu.Timing.of([1e-3, 2e-3, 4e-3], warmup=1)
    monkeypatch.setattr("course_lib.training.loop.time_call", time_call)


@pytest.mark.slow
def test_a_record_has_its_form_and_is_read_back(quick, tmp_path):
    said = []
    found, failed, left = training.record(settings=SMALL, steps=12, progress=False, say=said.append)
    assert (failed, left) == (0, 0)
    check(found, SMALL, 12)
    assert loads(training.dumps(found)) == found
    assert found.find(what="speed", products="fused")[0]["per_s"] == 500
    assert found.find(what="speed", products="fused")[0]["high"] == pytest.approx(1 / 1.5e-3, rel=1e-4)
    assert len(said) == len(found.rows) - 1
    assert "fused on gpu, graph, batch 16, hidden 32: 500 iterations/s" in "\n".join(said)


def test_the_deadline_leaves_the_rest(quick):
    found, failed, left = training.record(settings=SMALL[:1], steps=2, progress=False, say=lambda text: None, deadline_s=-1)
    assert (len(found.rows), failed, left) == (1, 0, len(training.variants(SMALL[:1])))


@pytest.mark.slow
def test_a_run_that_is_off_is_not_recorded(quick, monkeypatch):
    said, true = [], training.step_error
    monkeypatch.setattr(training, "step_error", lambda *a, **k: float("nan") if a[0] == "fused" else true(*a, **k))
    found, failed, left = training.record(settings=SMALL[:1], steps=2, progress=False, say=said.append)
    assert (failed, left) == (2, 0)
    assert not found.find(what="speed", products="fused")
    assert len(found.find(what="speed", products="separate")) == 2
    complaint, = (line for line in said if line.startswith("FAILED speed of fused on gpu, graph"))
    assert "step error nan, but rounding explains 1e-03" in complaint
    monkeypatch.setattr(training, "loss_distance", lambda *a: 0.01)
    found, failed, left = training.record(settings=SMALL[:1], steps=2, progress=False, say=said.append)
    assert [row.get("dtype") for row in found.find(what="losses")] == ["float64"]


def test_a_gpu_that_breaks_or_is_stopped_costs_no_other_row(quick, monkeypatch, tmp_path, capsys):
    def broken(products, **how):
        if how["graph"]:
            raise RuntimeError("cudaErrorStreamCaptureInvalidated")
        if how["backend"] == "cpu":
            raise KeyboardInterrupt
        return 0.0
    monkeypatch.setattr(training, "step_error", broken)
    monkeypatch.setattr(training.record, "__kwdefaults__", training.record.__kwdefaults__ | {"settings": SMALL[:1], "steps": 2})
    assert command.main(["train", "--out", str(tmp_path / "it.json")]) == 1
    out = capsys.readouterr().out
    assert out.count("FAILED") == 3
    assert "stopped" in out
    assert "3 failed, 1 are left" in out
    rows = loads((tmp_path / "it.json").read_text()).find(what="speed")
    assert [(row["products"], row["graph"]) for row in rows] == [("separate", False), ("fused", False), ("library", False)]


@pytest.mark.slow
def test_the_command_writes_a_file_or_says_why_not(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(training.record, "__kwdefaults__", training.record.__kwdefaults__ | {"settings": SMALL[:1], "steps": 2})
    out = tmp_path / "there" / "training.json"
    assert command.main(["train", "--out", str(out)]) == 0
    check(loads(out.read_text()), SMALL[:1], 2)
    assert "recorded on NVIDIA X" in capsys.readouterr().out
    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(False, "it is away"))
    assert command.main(["train", "--out", str(out)]) == 1
    assert "no GPU to record on: it is away" in capsys.readouterr().err


@pytest.mark.skipif(not RECORDED.exists(), reason="course_lib/data/training.json is not recorded yet")
def test_the_course_s_own_record():
    found = readings("training")
    check(found, training.SETTINGS, training.STEPS)
    assert all(row["accuracy"] > 0.9 for row in found.find(what="losses"))
    gain = {}
    for setting in training.SETTINGS:
        rows = {r["products"]: r["per_s"] for r in found.find(what="speed", backend="gpu", graph=True, hidden=setting.hidden)}
        gain[setting.hidden] = rows["fused"] / rows["separate"]
    small, middle, large = (gain[setting.hidden] for setting in training.SETTINGS)
    assert small > middle > 1 > large > 0.95, "fusing saves launches and passes over memory, which large products hide"
    assert rows["fused"] < rows["library"], "where products take most of the time"
