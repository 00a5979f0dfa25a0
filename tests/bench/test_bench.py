"""Measurements become records, records become tables, and what could not be measured is said."""

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import kernels
from course_lib.bench import Machine, Measurement, Result, Spread, __main__, dumps, loads, repeat, simulator, tables, this_machine
from course_lib.errors import CourseError

DOCS = Path(__file__).parents[2] / "docs"
SMALL = simulator.Plan(N=32, N_races=32, N_numba=16, repeats=2, repeats_compile=1)


def spread(median):
    return Spread(median, 0.8 * median, 1.25 * median, 9)


def row(what, median, clock="cpu", N=512, work=0.0, name=simulator.TILE_16[0], parameters=simulator.TILE_16[1], **how):
    return Measurement(what, name, parameters, N, spread(median), clock, work, how)


WORK = 2 * 512**3
ROWS = (
    row("run", WORK / 5e9, work=WORK, workers=1), row("run", WORK / 4e9, "wall", work=WORK, workers=1),
    row("run", WORK / 7e9, "wall", work=WORK, workers=2), row("nvrtc", 0.030), row("translate", 0.2), row("compile", 0.23),
    row("load", 0.041), row("races", 0.01, N=256, work=2 * 256**3, racecheck=False),
    row("races", 0.125, N=256, work=2 * 256**3, racecheck=True), row("numba", 0.8, N=32, work=2 * 32**3, version="0.1"),
)
RESULT = Result("simt", "2026-11-21", Machine("a CPU", 2, "Linux", {"Python": "3.11"}), {"load_before": 0.25, "repeats": 9}, ROWS)


def test_a_file_of_records_is_read_back():
    assert loads(dumps(RESULT)) == RESULT
    raw = json.loads(dumps(RESULT))
    assert raw["machine"]["cores"] == 2
    assert len(raw["measurements"]) == len(ROWS)
    assert dumps(RESULT).count("\n") == len(ROWS) + 2


def test_tables_say_what_was_measured():
    speeds, compilations, races, numba = tables.tables(RESULT)
    assert speeds[2] == [("sgemm_tiled.cu", "BM = 16, BN = 16, BK = 16", "512", "5 (4 … 6.25)", "4 (3.2 … 5)",
                          "7 (5.6 … 8.75)", "1.75")]
    assert speeds[1][-2] == "2 workers, wall"
    assert compilations[2] == [("sgemm_tiled.cu", "BM = 16, BN = 16, BK = 16", "30", "200", "230", "41")]
    assert races[2][0][-1] == "12.5"
    theirs, ours = numba[2]
    assert (theirs[0], theirs[2]) == ("numba 0.1, NUMBA_ENABLE_CUDASIM=1", f"{0.8 / 32**3 * 1e9:,.0f}")
    assert (ours[2], ours[3]) == ("0.400", f"{0.8 / 32**3 * 1e9 / 0.4:,.0f}")


@pytest.mark.parametrize("write", [tables.plain, tables.markdown])
def test_the_text_names_date_machine_and_every_figure(write):
    text = write(RESULT)
    for word in ("2026-11-21", "a CPU, 2 cores, Linux", "sgemm_tiled.cu", "5 (4 … 6.25)", "1.75", "12.5", "quartiles"):
        assert word in text
    for line in text.splitlines():
        if line.startswith("| sgemm"):
            assert line.count("|") in (7, 8)


def test_one_core_and_no_numba():
    rows = tuple(m for m in ROWS if m.what != "numba" and m.how.get("workers") != 2)
    text = tables.plain(Result("simt", "2026-11-21", RESULT.machine, RESULT.conditions, rows))
    assert "1.00" in text
    assert "pip install numba" in text


@pytest.mark.exhaustive
def test_functions_are_repeated_in_turn():
    said = []
    ticks = iter(range(1000))
    found = repeat({"a": lambda: said.append("a"), "b": lambda: said.append("b")}, 3, clock=lambda: next(ticks))
    assert said == ["a", "b"] + 3 * ["a", "b"]
    assert found == {"a": Spread(1, 1, 1, 3), "b": Spread(1, 1, 1, 3)}


def test_a_wrong_answer_has_no_speed(monkeypatch):
    launch = simulator.BenchmarkLaunch(*simulator.TILE_16, 32)
    launch(workers=1)
    launch.check()
    for wrong in (np.nan, 1e3):
        launch.C[3, 4] = wrong
        with pytest.raises(CourseError, match="wrong answer"):
            launch.check()


@pytest.mark.exhaustive
def test_the_command_measures_prints_and_writes(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(simulator.Plan, "quick", lambda: SMALL)
    monkeypatch.setattr(simulator, "COMPILED", simulator.COMPILED[:1])
    monkeypatch.setattr(simulator, "RACES", simulator.RACES[:1])
    monkeypatch.setattr(simulator, "NUMBA_TILE", tmp_path / "numba_tile.py")
    (tmp_path / "numba_tile.py").write_text('import sys\nprint(\'{"version": "9.9", "N": 16, "seconds": [1, 2, 3]}\')')
    assert __main__.main(["simt", "--quick", "--json", str(tmp_path / "out.json")]) == 0
    out, err = capsys.readouterr()
    result = loads((tmp_path / "out.json").read_text())
    assert tables.plain(result) == out.rstrip("\n")
    assert result.machine == this_machine()
    for name, parameters in simulator.SPEED:
        assert err.count(f"… {name}, N = 32") >= 1
        assert len(result.find("run", name, parameters)) >= 2
        assert kernels.get(name).problems(**parameters) == ()
    assert all(m.seconds.low <= m.seconds.median <= m.seconds.high for m in result.measurements)
    assert {m.what for m in result.measurements} == {"run", "nvrtc", "translate", "compile", "load", "races", "numba"}
    assert "numba 9.9" in out


def test_numba_that_fails_or_is_not_there(tmp_path, monkeypatch):
    script = tmp_path / "numba_tile.py"
    monkeypatch.setattr(simulator, "NUMBA_TILE", script)
    script.write_text("import numba")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "numba.py").write_text("raise ModuleNotFoundError(\"No module named 'numba'\", name='numba')")
    assert simulator.numba(SMALL, sys.executable) == []
    script.write_text("raise SystemExit('it broke')")
    with pytest.raises(CourseError, match="it broke"):
        simulator.numba(SMALL, sys.executable)


def test_a_python_that_is_not_there(capsys, monkeypatch):
    with pytest.raises(CourseError, match="nowhere"):
        simulator.numba(SMALL, "/nowhere/python")


def test_compilation_leaves_the_cache_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    found = {m.what: m.seconds.median for m in simulator.compilation("sgemm_naive", {"bx": 8, "by": 8}, 1)}
    assert found["compile"] == pytest.approx(found["nvrtc"] + found["translate"])
    assert not any("REPEAT" in p.name for p in tmp_path.rglob("*"))
    monkeypatch.delenv("COURSE_CACHE")
    with simulator.empty_cache():
        pass

    assert "COURSE_CACHE" not in os.environ


def test_the_page_has_the_tables_that_the_command_writes():
    page = (DOCS / "simulator-speed.md").read_text(encoding="utf-8")
    assert re.search(r"Measured on \d{4}-\d\d-\d\d on .+ cores?, \w+; Python", page)
    for name, parameters in simulator.SPEED:
        sizes = tables.sizes(Measurement("run", name, parameters, 512, spread(1), "cpu"))
        assert f"| {name}.cu | {sizes} | 512 |" in page
    for title, header, _ in tables.tables(RESULT)[1:]:
        assert f"**{title}**" in page
        assert "| " + " | ".join(header) + " |" in page
