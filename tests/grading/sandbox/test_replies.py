"""A sandbox that was taken over says whatever it likes: the grader believes no word of it, is never kept waiting, and nobody else pays."""

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import simt
from course_lib.check.reports import of_error
from course_lib.grading import part
from course_lib.grading.classroom import judging
from course_lib.grading.sandbox import bubblewrap, inside, replies, wire
from course_lib.grading.sandbox.sandboxed import Sandboxed
from course_lib.simt.host.counters import NAMES

TESTS = Path(__file__).parents[2]
SAYS_READY = wire.pack({"ready": 1})
GOOD = {"counters": dict.fromkeys(NAMES, 0), "lines": [[3, {NAMES[0]: 5}]], "hazards": [], "rules": [], "trace": [],
        "arrays": [["A", 4096, 16, 4]], "shared": [["As", 0, 64]], "steps": 7, "ptx": "", "output": "", "sure": True, "diverged": [4],
        "copied": False,
        "predicted": [[3, "LDS", [[32, 1]]]], "written": [[3, "LDS", 1]]}
HAZARD = ["RAW", 0, 1, 2, [0, 0, 0], [1, 0, 0], [0, 0, 0], 1, False, False, False, False, "As", 0, "", ""]
RULES = [["unfenced", 3, 5, [0, 0, 0], [1, 0, 0], [0, 0, 0], 2, "mine.cuh, line 7", "", "As", 16],
         ["proxy", 4, 6, [0, 0, 0], [1, 0, 0], [0, 0, 0], 1, "", "", "", 0]]
RECORD = [0, [0, 0, 0], 0, 1, "ld.global.f32", 1, [-1] * 32, 4, "global"]


class Explodes:
    """Would run a command wherever it is unpickled."""

    def __reduce__(self):
        return (print, ("unpickled",))


def changed(**facts):
    return wire.pack(GOOD | facts, bytes(16))


def without(name):
    return wire.pack({key: value for key, value in GOOD.items() if key != name}, bytes(16))


LIES = {
    "no_message": b"hello, this is your kernel speaking",
    "nothing": b"",
    "half": changed()[:-8],
    "a_pickle": wire.HEAD.pack(len(pickle.dumps(Explodes())), 0) + pickle.dumps(Explodes()),
    "endless_text": wire.HEAD.pack(0xFFFFFFFF, 16),
    "endless_numbers": wire.HEAD.pack(2, 0xFFFFFFFF) + b"{}",
    "other_numbers": wire.pack(GOOD, bytes(12)),
    "no_numbers": wire.pack(GOOD),
    "deep": wire.HEAD.pack(200_000, 16) + b"[" * 200_000 + bytes(16),
    "long_number": wire.HEAD.pack(2_000_000, 16) + b"1" * 2_000_000 + bytes(16),
    "no_dict": wire.pack([1, 2], bytes(16)),
    "no_utf8": wire.HEAD.pack(4, 16) + b"\"\xff\xff\"" + bytes(16),
    "no_counters": without("counters"),
    "fewer_counters": changed(counters={NAMES[0]: 1}),
    "more_counters": changed(counters=GOOD["counters"] | {"marks": 10}),
    "counters_below_0": changed(counters=GOOD["counters"] | {NAMES[0]: -1}),
    "counters_not_whole": changed(counters=GOOD["counters"] | {NAMES[0]: 0.5}),
    "counters_nan": changed(counters=GOOD["counters"] | {NAMES[0]: float("nan")}),
    "counters_true": changed(counters=GOOD["counters"] | {NAMES[0]: True}),
    "counters_huge": changed(counters=GOOD["counters"] | {NAMES[0]: 1 << 80}),
    "lines": changed(lines=[["__class__", {}]]),
    "lines_counters": changed(lines=[[1, {"marks": 1}]]),
    "hazards": changed(hazards=[HAZARD[:-1]]),
    "hazard_kind": changed(hazards=[["FINE", *HAZARD[1:]]]),
    "hazard_flag": changed(hazards=[[*HAZARD[:10], 1, *HAZARD[11:]]]),
    "hazard_header": changed(hazards=[[*HAZARD[:-1], 3]]),
    "hazard_thread": changed(hazards=[[*HAZARD[:4], "me", *HAZARD[5:]]]),
    "many_hazards": changed(hazards=[HAZARD] * 10_001),
    "no_rules": without("rules"),
    "rules": changed(rules=[RULES[0][:-1]]),
    "rule_kind": changed(rules=[["RAW", *RULES[0][1:]]]),
    "rule_kinds": changed(rules=[[["unfenced"], *RULES[0][1:]]]),
    "rule_line": changed(rules=[["proxy", "three", *RULES[1][2:]]]),
    "arrays": changed(arrays=[["A", 4096, 16]]),
    "shared": changed(shared={"As": 1}),
    "trace": changed(trace=[[*RECORD[:6], [-2] * 32, *RECORD[7:]]]),
    "trace_lanes": changed(trace=[[*RECORD[:6], [0] * 33, *RECORD[7:]]]),
    "steps": without("steps"),
    "levels": changed(sure="very"),
    "levels_copied": changed(copied=1),
    "levels_diverged": changed(diverged=["four"]),
    "levels_written": changed(written=[[3, "LDS"]]),
    "levels_widths": changed(predicted=[[3, "LDS", 32]]),
    "levels_tags": changed(predicted=[[3, "LDS", [[[], 1]]]]),
    "ptx": changed(ptx=["x"]),
    "error": wire.pack({"error": "no"}),
    "error_of_no_class": wire.pack({"error": [["SystemExit"], "", {}, []]}),
    "error_unknown": wire.pack({"error": ["SystemExit", "go home", {}, []]}),
    "error_facts": wire.pack({"error": ["OutOfBounds", "", {"line": {"a": 1}}, []]}),
    "error_messages": wire.pack({"error": ["CompileError", "", {}, [[1, 2, 3, 4, 5]]]}),
}


@pytest.fixture
def liar(monkeypatch, tmp_path):
    """Return a function that replaces the sandbox for kernels by a program with one answer to everything."""
    def replace(answer, then="import time; time.sleep(100)"):
        path = tmp_path / "answer"
        path.write_bytes(answer)
        use(monkeypatch, f"os.read(0, 1 << 20)\nout = open({str(path)!r}, 'rb').read()\nwhile out: out = out[os.write(1, out):]\n{then}")

    return replace


def use(monkeypatch, script):
    """Replace the sandbox for kernels by a Python program that says it is ready first."""
    script = f"import json, os, struct, sys, time\nos.write(1, {SAYS_READY!r})\n{script}"
    monkeypatch.setattr(bubblewrap, "for_kernels", lambda *_: ([sys.executable, "-c", script], None))


@pytest.fixture
def engine():
    with Sandboxed(unsafe=True, seconds=20) as engine:
        yield engine


def launch(engine, array):
    return engine.launch("text", "k", (1,), (1,), [np.float32(1), array], racecheck=True)


def test_an_honest_answer_is_taken(liar, engine):
    liar(wire.pack(GOOD | {"hazards": [HAZARD], "rules": RULES, "trace": [RECORD]}, np.arange(4, dtype=np.float32).tobytes()))
    array = np.zeros((2, 2), np.float32)
    report = launch(engine, array)
    assert array.tolist() == [[0, 1], [2, 3]]
    assert (report.kernel, report.lines, report.steps, report.hazards[0].kind) == ("k", {3: {NAMES[0]: 5}}, 7, "RAW")
    assert [(h.kind, h.first_line, h.second_line, h.count) for h in report.all_hazards] == [
        ("RAW", 1, 2, 1), ("unfenced", 3, 5, 2), ("proxy", 4, 6, 1)]
    assert "writes byte 16 of As at line 3 (in mine.cuh, line 7)" in str(report.async_findings[0])
    assert report.trace[0].addresses.tolist() == [-1] * 32


def test_broken_rules_come_out_of_the_sandbox_as_they_were_found():
    text = (TESTS / "wrong_kernels/04_tiling/fence_missing_right_result.cu").read_text(encoding="utf-8")
    A, C = np.ones(256, np.float32), np.zeros(256, np.float32)
    size, one = np.int32(16), np.float32(1)
    args = [size, size, size, one, A, size, A, size, one, C, size]
    told = inside.launched(text, "tiled", [1], [16, 16], args, {"racecheck": True})
    found = replies.report(json.loads(json.dumps(told)), "tiled", SimpleNamespace())
    here = simt.launch(text, "tiled", 1, (16, 16), args, racecheck=True)
    assert [finding.kind for finding in found.async_findings] == ["unfenced"]
    assert found.all_hazards == here.all_hazards


@pytest.mark.parametrize("error", [simt.BarrierDeadlock("line 3: waits", line=3), simt.MbarrierMisuse("line 3: twice", line=3)], ids=repr)
def test_errors_of_mbarriers_are_the_answers_and_not_the_sandboxes(error):
    told = replies.error(json.loads(json.dumps(inside._described(error))))
    assert (type(told), str(told), told.line) == (type(error), str(error), 3)
    finding = of_error(told, SimpleNamespace(name="plain"), ["", "", "wait"])
    assert (finding.kind, finding.line) == ("endless" if isinstance(error, simt.BarrierDeadlock) else "launch", 3)


@pytest.mark.sampled(test=12)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_ends_the_part_and_changes_no_array(lie, liar, engine, capfd):
    liar(LIES[lie], then="")
    array = np.full(4, 7, np.float32)
    with pytest.raises(replies.Ended):
        launch(engine, array)
    assert (array == 7).all()
    assert engine.sandbox is None
    assert "unpickled" not in capfd.readouterr().out


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("said", [b"", changed()[:-8], wire.HEAD.pack(1 << 20, 16)])
def test_silence_ends_with_the_time(said, liar, engine):
    liar(said)
    engine.seconds = 1
    with pytest.raises(replies.Ended, match="longer than the 1 s"):
        launch(engine, np.zeros(4, np.float32))


def test_a_sandbox_that_does_not_listen_ends_with_the_time(engine, monkeypatch):
    use(monkeypatch, "time.sleep(100)")
    engine.seconds = 1
    with pytest.raises(replies.Ended, match="longer than the 1 s"):
        launch(engine, np.zeros(1 << 22, np.float32))


def test_a_message_of_the_assembler_may_name_line_0():
    found = replies.error(["CompileError", "", {}, [[0, "error", "Duplicate definition", "", None]]], "mine")
    assert str(found).startswith("mine does not compile")
    assert found.diagnostics[0].line == 0


def test_an_error_keeps_only_plain_facts_of_the_list():
    found = replies.error(["OutOfBounds", "line 3: …", {"line": 3, "thread": [1, 2, 3], "_render_traceback_": 1, "args": []}, []])
    assert isinstance(found, simt.OutOfBounds)
    assert found.facts == {"line": 3, "thread": (1, 2, 3)}
    assert isinstance(replies.error(["MemoryError", "", {}, []]), MemoryError)


@pytest.mark.parametrize("told", [
    {"k": 5}, {"k": "16\n"}, {"k": "16\n EXIT"}, {"k": "x\n EXIT "}, {"k": "16\n EXIT ;many"}])
def test_machine_code_has_one_form(told):
    with pytest.raises(replies.Ended):
        replies.machine_code({"kernels": told})
    with pytest.raises(replies.Ended):
        replies.resources({"kernels": {"k": dict.fromkeys(replies.RESOURCES, 1.5)}})


@pytest.mark.parametrize("line", [
    {"number": True}, {"number": 1 << 1001}, {"number": "1"}, {"number": None}, {"numbers": 5}, {"numbers": [[1]]}, {"numbers": [1] * 101},
    {"error": 5}, {"error": "X", "words": "", "line": 0}, {"other": 3}, {"ready": 1}, {}])
def test_a_function_returns_numbers_or_words(line):
    with pytest.raises(replies.Ended):
        replies.returned(json.loads(json.dumps(line)))


def test_a_verdict_cannot_be_sent(engine, monkeypatch):
    """Counters and hazards can be invented by whoever breaks out of the simulator; results cannot."""
    kinds = ("u32", "u32", "u32", "f32", "u64", "u32", "u64", "u32", "f32", "u64", "u32")
    ptx = f".visible .entry tiled({', '.join(f'.param .{kind} p{i}' for i, kind in enumerate(kinds))})"
    forged = wire.pack(GOOD | {"ptx": ptx, "log": "", "ptxas_log": "", "passed": True, "verdict": "passed", "points": 10})
    use(monkeypatch, f"""
body, form, read = {forged[wire.HEAD.size:]!r}, {wire.HEAD.format!r}, os.fdopen(0, "rb")
while True:
    text, raw = struct.unpack(form, read.read(struct.calcsize(form)))
    asked = json.loads(read.read(text))
    read.read(raw)
    size = sum(4 * shape[0] for _, shape, writable in asked["arrays"] if writable)
    os.write(1, struct.pack(form, len(body), size) + body + bytes(size))
""")
    result = judging.judged("#define BM 16\n#define BN 16\n#define BK 16", part("04_tiling", "tile"), 7, engine)
    assert not result["passed"]
    assert result["kind"] == "wrong"
    assert "C[0][0] is 0 instead of" in result["told"]
