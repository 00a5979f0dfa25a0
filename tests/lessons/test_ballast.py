"""Lesson 07's experiment for a GPU: each variant computes the product, and changes one count and leaves the other alone."""


import numpy as np
import pytest

from course_lib import cp, data
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.errors import CourseError
from course_lib.kernels import get
from course_lib.lessons.unrolling import ballast, counts
from course_lib.toolchain import nvrtc_version, resources

N, COUNTS = 48, ("UNROLL", "EXTRA", "WAYS")
FOUND = data.readings("ballast")


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def launched(values):
    """Launch a variant on the simulator; return (whether C is the product, wavefronts per multiply-add of a warp)."""
    text = f"#define TILE 16\n#define UNROLL {values['UNROLL']}\n" + ballast.text(values["EXTRA"], values["WAYS"])
    rng = np.random.default_rng(7)
    A, B = (cp.asarray(rng.standard_normal((N, N), dtype=np.float32)) for _ in "AB")
    C, n, one = cp.zeros((N, N), dtype=np.float32), np.int32(N), np.float32(1)
    cp.RawKernel(text, counts.KERNEL)((3, 3), (16, 16), (n, n, n, one, A, n, B, n, np.float32(0), C, n))
    waves = sum(cp.last_launch().count("wavefronts", kind) for kind in ("load", "store"))
    return np.allclose(C.get(), A.get() @ B.get(), atol=1e-4), 32 * waves / N**3


def test_a_kernel_without_the_lines_that_change_is_refused(monkeypatch):
    monkeypatch.setattr(ballast, "SUM", "no such line")
    with pytest.raises(CourseError, match="no longer has the line"):
        ballast.text(extra=2)


def test_the_plan_changes_one_thing_at_a_time():
    found = list(ballast.plan())
    assert len(found) == len({tuple(values.values()) for values in found}) == 5 * 3 + 2
    assert all(values["EXTRA"] == 0 or values["WAYS"] == 1 for values in found)


@pytest.mark.slow
@pytest.mark.parametrize("factor", counts.FACTORS)
def test_additions_add_instructions_and_no_wavefronts(factor):
    per, waves = [], []
    for extra in ballast.EXTRA:
        values = {"UNROLL": factor, "EXTRA": extra, "WAYS": 1}
        code = ballast.compiled(values)
        per.append(ballast.per_multiply_add(code))
        taken = resources(code)[counts.KERNEL]
        assert taken.registers <= 32, "as many blocks fit an SM in every variant"
        assert taken.local_bytes == 0
        if extra in (0, 2):
            right, found = launched(values)
            assert right
            waves.append(found)
    more = [b - per[0] - extra for b, extra in zip(per, ballast.EXTRA, strict=True)]
    assert all(-0.2 <= beyond <= 0.2 for beyond in more), "the additions, and next to nothing else"
    assert waves[0] == waves[1]


def test_shared_banks_add_wavefronts_and_no_instructions():
    codes = [ballast.compiled({"UNROLL": 16, "EXTRA": 0, "WAYS": ways}) for ways in ballast.WAYS]
    assert len({ballast.per_multiply_add(code) for code in codes}) == 1
    found = [launched({"UNROLL": 16, "EXTRA": 0, "WAYS": ways}) for ways in ballast.WAYS]
    assert all(right for right, _ in found)
    assert [waves for _, waves in found] == [ballast.wavefronts(16, ways) for ways in ballast.WAYS]
    assert found[1][1] - found[0][1] > 1


def test_the_recording_is_of_this_plan_and_this_kernel():
    assert all(row["right"] for row in FOUND.rows)
    library, *rows = ({name: row[name] for name in COUNTS} for row in FOUND.rows)
    assert rows == list(ballast.plan())
    assert set(library.values()) == {0}
    assert FOUND.sources == {counts.KERNEL: fingerprint_of(get(counts.KERNEL))}
    if nvrtc_version() == (13, 5):
        assert "NVRTC 13.5" in FOUND.made_by
        assert [row["instructions"] for row in FOUND.rows[1:]] == [ballast.per_multiply_add(ballast.compiled(one)) for one in rows]


def test_without_a_gpu_the_tool_says_so(monkeypatch, tmp_path):
    from course_lib import gpu
    from course_lib.gpu.status import GpuStatus
    from tools import ToolError
    from tools.record import ballast as recorder

    monkeypatch.setattr(gpu, "probe", lambda: GpuStatus(usable=False, reason="there is none"))
    with pytest.raises(ToolError, match="no GPU to measure on: there is none"):
        recorder.record(tmp_path)
    assert not any(tmp_path.iterdir())
