"""The check of broken pipelines, with a compute-sanitizer and launching processes that only pretend."""

import json
import sys
import time

import pytest

from course_lib import gpu
from tools.gpu import pipelines
from tools.page import pipelines as table

SANITIZER = """#!/bin/sh
case "$1" in --version) echo "NVIDIA (R) Compute Sanitizer"; echo "Version 2026.1"; exit;; esac
tool=$2; shift; shift; shift; shift; [ $tool = racecheck ] && { shift; shift; }
echo "========= COMPUTE-SANITIZER"
"$@"
case "$tool" in
    racecheck) echo "========= Error: Potential RAW hazard"; echo "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)";;
    *) echo "========= ERROR SUMMARY: 0 errors";;
esac
"""
CHILD = """import json, sys, time
task = json.load(open(sys.argv[1]))
for number in range(task["launches"]):
    print("pipelines: launch", flush=True)
    if task["name"] == "an arrival is missing": time.sleep(60)
    if task["name"] == "no init": sys.exit(print("pipelines: error cudaErrorIllegalInstruction"))
    print("pipelines: " + ("wrong" if number % 2 else "right"), flush=True)
"""
SOME = ("none: loading through mbarriers or groups", "no bytes expected", "an arrival is missing", "no init")


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    program, child = tmp_path / "compute-sanitizer", tmp_path / "child.py"
    program.write_text(SANITIZER)
    program.chmod(0o755)
    child.write_text(CHILD)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(True, "", "a GPU", (9, 0), "sm_90", "13", "1", 1))
    monkeypatch.setattr(pipelines, "command_of", lambda path: [sys.executable, "-S", str(child), str(path)])
    monkeypatch.setattr(pipelines, "RUNNING", 1)
    some = [case for case in pipelines.cases() if case.name in SOME]
    monkeypatch.setattr(pipelines, "cases", lambda: iter(some))
    return tmp_path


def test_what_is_launched_is_told_beside_the_simulator(pretended):
    record = {}
    assert pipelines.section_pipelines(record, pretended) == "3 broken pipelines, of 1 compute-sanitizer says nothing; 1 right ones"
    rows = {row["name"]: row for row in record["rows"]}
    assert tuple(rows) == SOME
    assert [rows[name]["plain"] for name in SOME] == ["wrong 20 of 40", "wrong 20 of 40", "hangs in launch 1",
                                                     "error in launch 1: cudaErrorIllegalInstruction"]
    assert rows["no bytes expected"]["racecheck"]["found"] == "Error: Potential RAW hazard"
    assert rows["no bytes expected"]["memcheck"]["found"] == ""
    hung = rows["an arrival is missing"]["racecheck"]
    assert hung == {"found": "", "summary": "", "launch": "hangs in launch 1", "said": ["COMPUTE-SANITIZER"]}
    assert [rows[name]["simulator"] for name in SOME] == ["nothing", "RAW, WAW, copies not waited for", "BarrierDeadlock", "MbarrierMisuse"]
    written = table.table({"date": "2026-12-01", "sections": {"pipelines": json.loads(json.dumps(record))}})
    assert "| an arrival is missing | BarrierDeadlock | hangs in launch 1 | nothing; ended | nothing; ended | nothing; ended |" in written
    assert written.splitlines()[-1].startswith("| none: loading")


def test_a_process_that_never_launches_and_its_children_are_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(pipelines, "STARTING", 0.3)
    begun, text = time.monotonic(), tmp_path / "said.txt"
    said, ended = pipelines.watched(["sh", "-c", "(sleep 1; echo late) & sleep 60"], text, begun + 100)
    assert ended
    assert pipelines.outcome(said, ended) == "never launched, ended"
    assert time.monotonic() - begun < 1
    time.sleep(max(0, begun + 1.3 - time.monotonic()))
    assert text.read_text() == ""


def test_runs_that_there_was_no_time_for_are_missed(pretended, monkeypatch):
    monkeypatch.setattr(pipelines, "LATEST", -1)
    with pytest.raises(RuntimeError, match="16 runs are missing"):
        pipelines.section_pipelines({}, pretended)


def test_each_mistake_is_asked_about_once():
    found = list(pipelines.cases())
    assert len({case.name for case in found}) == len(found)
    assert sum(case.mistake for case in found) == 36


def test_the_record_has_what_the_simulator_says_today():
    if not table.RECORD.exists():
        pytest.skip("no GPU has been asked yet")
    rows = {row["name"]: row["simulator"] for row in json.loads(table.RECORD.read_text())["sections"]["pipelines"]["rows"]}
    assert rows == {case.name: pipelines.simulated(case)[0] for case in pipelines.cases()}
