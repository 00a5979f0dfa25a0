"""Lesson 07's experiment for a GPU: each variant computes the product, and changes one count and leaves the other alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib import cp, data
from course_lib.bench.fingerprint import fingerprint
from course_lib.lessons import unrolling
from course_lib.lessons.unrolling import ballast, charts, counts, experiments
from course_lib.toolchain import resources

N, COUNTS = 48, ("UNROLL", "EXTRA", "WAYS")
LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "07_unrolling.ipynb"
CELLS = {cell["id"]: " ".join("".join(cell["source"]).split()) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
FOUND = data.readings("ballast")
SECONDS = {tuple(row[name] for name in COUNTS): row["median_s"] for row in FOUND.find(N=4096)}


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def launched(values):
    """Launch a variant on the simulator; return (whether C is the product, wavefronts per multiply-add of a warp)."""
    text = "\n".join(f"#define {name} {value}" for name, value in values.items()) + "\n" + ballast.FILE.read_text(encoding="utf-8")
    rng = np.random.default_rng(7)
    A, B = (cp.asarray(rng.standard_normal((N, N), dtype=np.float32)) for _ in "AB")
    C, n, one = cp.zeros((N, N), dtype=np.float32), np.int32(N), np.float32(1)
    cp.RawKernel(text, ballast.ENTRY)((3, 3), (16, 16), (n, n, n, one, A, n, B, n, np.float32(0), C, n, one))
    waves = sum(cp.last_launch().count("wavefronts", kind) for kind in ("load", "store"))
    return np.allclose(C.get(), A.get() @ B.get(), atol=1e-4), 32 * waves / N**3


def test_the_plan_changes_one_thing_at_a_time():
    found = list(ballast.plan())
    assert len(found) == len({tuple(values.values()) for values in found}) == 5 * 6 + 2 * 2
    assert all(values["EXTRA"] == 0 or values["WAYS"] == 1 for values in found)


@pytest.mark.parametrize("factor", counts.FACTORS)
def test_additions_add_instructions_and_no_wavefronts(factor):
    per, waves = [], []
    for extra in ballast.EXTRA:
        values = {"UNROLL": factor, "EXTRA": extra, "WAYS": 1}
        code = ballast.compiled(values)
        per.append(ballast.per_multiply_add(code))
        taken = resources(code)[ballast.ENTRY]
        assert taken.registers <= 32, "as many blocks fit an SM in every variant"
        assert taken.local_bytes == 0
        if extra in (0, 3):
            right, found = launched(values)
            assert right
            waves.append(found)
    more = [b - per[0] - extra for b, extra in zip(per, ballast.EXTRA, strict=True)]
    assert all(-0.01 <= beyond <= 0.6 for beyond in more), "the additions, and next to nothing else"
    assert waves[0] == waves[1]


def test_shared_banks_add_wavefronts_and_no_instructions():
    codes = [ballast.compiled({"UNROLL": 16, "EXTRA": 0, "WAYS": ways}) for ways in ballast.WAYS]
    assert len({ballast.per_multiply_add(code) for code in codes}) == 1
    found = [launched({"UNROLL": 16, "EXTRA": 0, "WAYS": ways}) for ways in ballast.WAYS]
    assert all(right for right, _ in found)
    assert [waves for _, waves in found] == [ballast.wavefronts(16, ways) for ways in ballast.WAYS]
    assert [waves for _, waves in found] == sorted({waves for _, waves in found})
    assert found[1][1] - found[0][1] > 1


def slower(factor, extra):
    """Return how much longer a kernel with so many additions takes than that with none."""
    return SECONDS[factor, extra, 1] / SECONDS[factor, 0, 1] - 1


def says(cell, *sentences):
    for sentence in sentences:
        assert sentence in CELLS[cell], sentence


def test_the_recording_is_of_this_plan_and_this_kernel():
    assert all(row["right"] for row in FOUND.rows)
    assert list(SECONDS) == [tuple(values[name] for name in COUNTS) for values in ballast.plan()]
    assert len(FOUND.rows) == 2 * len(SECONDS) == 68
    assert FOUND.sources == {"ballast": fingerprint(ballast.FILE.read_text(encoding="utf-8"))}


def test_how_many_instructions_are_free_at_each_unroll():
    one, two = ([100 * slower(factor, extra) for factor in (2, 4, 8)] for extra in (1, 2))
    three, four = (100 * slower(16, extra) for extra in (3, 4))
    says("added-told", f"At UNROLL = 16, three added instructions cost {three:.1f} % of the time, four cost {four:.1f} %",
         f"the first costs at most {max(one):.1f} %, and two cost {min(two):.1f} to {max(two):.1f} %",
         f"At UNROLL = 1 already the first costs {100 * slower(1, 1):.1f} %")
    each = 1e3 * experiments.least(1, experiments.ISSUED_PER_CYCLE)
    says("limits-told", f"Issuing one takes {each:.2f} ms", "We added one to six per multiply-add")
    assert (min(e for e in ballast.EXTRA if e), max(ballast.EXTRA)) == (1, 6)
    base, = (row["instructions"] for row in FOUND.find(N=4096, UNROLL=16, EXTRA=0, WAYS=1))
    waves = ballast.wavefronts(16, ways=1)
    says("added-told", f"The larger limit, the dashed line, bends after {4 * waves - base:.2f}")
    assert base == 3.75
    assert {row["nvrtc"] for row in FOUND.rows} == {"13.0"}


def test_past_the_bend_the_lines_run_together():
    lines = {factor: charts.added(factor) for factor in counts.FACTORS}
    for at in (9.5, 9.75, 10.75, 11.5, 11.75):
        times = [np.interp(at, list(line), list(line.values())) for line in lines.values() if min(line) <= at <= max(line)]
        assert len(times) >= 3
        assert max(times) < 1.05 * min(times)


def test_more_wavefronts_make_both_slower():
    for factor, words in ((16, "At UNROLL = 16 the time rose from"), (1, "at UNROLL = 1 from")):
        none, two, four = (1e3 * SECONDS[factor, 0, ways] for ways in ballast.WAYS)
        says("added-told", f"{words} {none:.1f} to {two:.1f} and {four:.1f} ms")
        rows = FOUND.find(N=4096, UNROLL=factor, EXTRA=0)
        assert len(rows) == 3
        assert len({row["instructions"] for row in rows}) == 1


@pytest.mark.parametrize("size", [1024, 4096])
def test_no_recording_is_below_the_larger_limit(size):
    waves = {(factor, ways): launched({"UNROLL": factor, "EXTRA": 0, "WAYS": ways})[1]
             for factor in counts.FACTORS for ways in ballast.WAYS}
    assert all(waves[factor, 1] == ballast.wavefronts(factor, ways=1) for factor in counts.FACTORS)
    rest = {}
    for row in FOUND.find(N=size):
        least = charts.larger(row["instructions"], waves[row["UNROLL"], row["WAYS"]]) * (size / experiments.N_TIMED) ** 3
        rest[1e3 * row["median_s"]] = 1e3 * row["median_s"] - least
    assert min(rest.values()) > 0
    if size == experiments.N_TIMED:
        says("added-told", f"Those of this experiment are {min(rest.values()):.1f} to {max(rest.values()):.1f} ms above it, "
                           f"whether they take {min(rest):.0f} ms or {max(rest):.0f}")
        assert rest[max(rest)] < rest[min(rest)], "the rest does not grow with the time"


def test_the_limits_that_decide():
    least = {(factor, ways): [row["instructions"] / 4, launched({"UNROLL": factor, "EXTRA": 0, "WAYS": ways})[1]]
             for factor in (1, 16) for ways in (1, 2) for row in FOUND.find(N=4096, UNROLL=factor, EXTRA=0, WAYS=ways)}
    assert {key: issue > shared for key, (issue, shared) in least.items()} == {(1, 1): True, (1, 2): False, (16, 1): False, (16, 2): False}
    issue, shared = (1e3 * experiments.least(cycles, 1) for cycles in least[1, 2])
    says("added-told", f"make shared memory the larger limit, with {shared:.1f} ms to {issue:.1f}")


def test_the_chart_draws_every_recording_with_additions_alone():
    told = repr(unrolling.added_instructions())
    for factor, extra, ways in SECONDS:
        row, = FOUND.find(N=4096, UNROLL=factor, EXTRA=extra, WAYS=ways)
        assert (f"{1e3 * row['median_s']:.1f} ms with {row['instructions']:.2f}" in told) is (ways == 1)
    assert "17.5 ms up to 8.5 instructions" in told
    assert "13.4 ms up to 6.5 instructions" in told


def test_without_a_gpu_the_tool_says_so(monkeypatch, tmp_path):
    from course_lib import gpu
    from course_lib.gpu.status import GpuStatus
    from tools import ToolError
    from tools.record import ballast as recorder

    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(usable=False, reason="there is none"))
    with pytest.raises(ToolError, match="no GPU to measure on: there is none"):
        recorder.record(tmp_path)
    assert not any(tmp_path.iterdir())
