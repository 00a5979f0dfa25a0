"""What is recorded of `mma.sync`: every loop compiles to the instructions that it says, and its sums are right on the simulator."""

import numpy as np
import pytest

from course_lib import toolchain
from course_lib.bench.fingerprint import fingerprint
from course_lib.data import readings
from course_lib.model.mma_rate import MMA_SYNC
from course_lib.simt import launch
from tools.record import mma

TURNS = 4


@pytest.mark.sampled(test=2, slow=4)
@pytest.mark.parametrize("one", mma.INSTRUCTIONS, ids=lambda one: one.kind)
def test_a_loop_holds_its_matrix_instructions_and_its_sums_are_right(one):
    text = mma.SOURCE.read_text(encoding="utf-8")
    for a, b in mma.TILES:
        out = np.full(64, np.nan, np.float64 if one.kind.startswith("f64") else np.float32)
        report = launch(text, mma.ENTRY, 2, 32, [one.operand(a), one.operand(b), out], defines=mma.defines(one, TURNS))
        assert (out == one.sums(a, b, TURNS)).all()
    name = "dmma" if one.kind.startswith("f64") else "hmma"
    assert report.counters[f"smsp__inst_executed_pipe_tensor_op_{name}.sum"] == 2 * mma.SUMS * TURNS
    code = toolchain.sass(toolchain.compile_cuda(text, name=mma.SOURCE.name, arch="sm_90", defines=mma.defines(one)), mma.ENTRY)
    inside = [loop for loop in toolchain.loops(code) if loop.counts[name.upper()]]
    assert [loop.counts[name.upper()] % mma.SUMS for loop in inside] == [0]
    cycles = 2 * np.prod(one.shape) / (MMA_SYNC[one.kind] * 1e12 / 132 / 4 / 1.98e9)          # of a scheduler, per matrix instruction
    assert inside[0].counts["instructions"] < cycles / 2 * inside[0].counts[name.upper()], "nothing but the matrix instructions takes time"


def test_every_loop_fits_the_largest_block_without_spills():
    text = mma.SOURCE.read_text(encoding="utf-8")
    for one in mma.INSTRUCTIONS:
        compiled = toolchain.compile_cuda(text, name=mma.SOURCE.name, arch="sm_90", defines=mma.defines(one))
        taken = toolchain.resources(compiled)[mma.ENTRY]
        assert taken.registers * max(threads for _, threads in mma.LAUNCHES) <= 65536, one.kind
        assert taken.local_bytes == 0, one.kind


def test_the_model_takes_no_less_than_was_recorded():
    """A bound must not be above what a loop of the instructions alone took; nor far below it."""
    recorded = readings("mma")
    assert {row["source"] for row in recorded.rows} == {fingerprint(mma.SOURCE.read_text(encoding="utf-8"))}
    assert all(row["correct"] for row in recorded.rows)
    fastest = {kind: max(row["tflops"] for row in recorded.find(kind=kind)) for kind in MMA_SYNC}
    assert all(0.97 * rate <= fastest[kind] <= rate for kind, rate in MMA_SYNC.items()), fastest
