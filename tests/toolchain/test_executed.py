"""How often machine instructions are executed: held to a profiler's counts on an H200, to loops by hand, and to itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib import kernels, simt
from course_lib.grading.judge.machine_code import counts_of
from course_lib.run import run
from course_lib.toolchain import SassInstruction, compile_cuda, executed, read_back, sass
from course_lib.widgets.compute import inputs

RECORD = json.loads((Path(__file__).parents[1] / "data" / "executed.json").read_text())
# Loops whose turns no counted instruction tells apart: the least that the counts allow is less than what ran.
LESS = {"sgemm_readonly": 0.98, "sgemm_dots": 0.99, "sgemm_rank1": 0.95}


def code_of(*texts):
    """Return instructions from "LINE [@P] OPCODE OPERANDS", one each 16 bytes."""
    code = []
    for n, text in enumerate(texts):
        line, rest = text.split(" ", 1)
        predicate, _, rest = rest.partition(" ") if rest.startswith("@") else (None, "", rest)
        opcode, _, operands = rest.partition(" ")
        code.append(SassInstruction(16 * n, predicate, opcode, tuple(filter(None, operands.split(", "))), int(line)))
    return tuple(code)


@pytest.mark.parametrize("row", RECORD["rows"], ids=lambda row: row["kernel"])
def test_the_profiler_counted_the_same(row):
    counted = {(line, opcode): times for line, opcode, times in row["counted"]}
    found = executed(read_back(row["sass"]), counted).total()
    if row["kernel"] in LESS:
        assert LESS[row["kernel"]] * row["profiled"] < found < row["profiled"]
    else:
        assert found == row["profiled"]


NEST = code_of("1 S2R R0, SR_TID.X",
               "2 LDG.E R1, [R2.64]",              # 0x10, the outer loop: 4 turns
               "3 BAR.SYNC 0x0",
               "4 LDS R3, [R4]",                   # 0x30, the inner one: 8 turns each time
               "4 FFMA R5, R3, R3, R5",
               "4 @P0 BRA 0x30",
               "2 @P1 BRA 0x10",
               "5 @P2 EXIT",
               "6 STG.E [R2.64], R5",
               "6 EXIT")


def test_loops_by_hand():
    counted = {(2, "LDG"): 4, (4, "FFMA"): 32, (4, "LDS"): 32, (6, "STG"): 1}
    found = executed(NEST, counted)
    assert found.met
    assert found.total() == 1 + 4 * 3 + 32 * 3 + 1 + 2
    assert found.total(opcode="BAR") == 4
    assert found.total(looped=True) == 4 * 3 + 32 * 3
    assert found.per_line(looped=True) == {2: 8, 3: 4, 4: 96}


def test_a_warp_that_leaves_early_is_seen_where_it_does_not_store():
    found = executed(NEST, {(2, "LDG"): 8, (4, "FFMA"): 64, (3, "BAR"): 8, (6, "STG"): 0})
    assert found.met
    assert found.total(opcode="EXIT") == found.total(opcode="S2R") == 1, "at least one warp; no count tells of a second"


def test_a_barrier_ties_a_loop_that_nothing_else_does():
    bare = tuple(i for i in NEST if i.base != "LDG")
    shifted = tuple(SassInstruction(i.offset - 16 * (i.offset > 16), i.predicate, i.opcode,
                                    tuple({"0x30": "0x20", "0x10": "0x10"}.get(o, o) for o in i.operands), i.line) for i in bare)
    work = {(4, "FFMA"): 32, (4, "LDS"): 32, (6, "STG"): 1}
    assert executed(shifted, work).total(opcode="BAR") == 1, "the least: all turns of the inner loop at once"
    assert executed(shifted, work | {(3, "BAR"): 4}).total(opcode="BAR") == 4


def test_counts_that_contradict_each_other_are_no_exact_answer():
    found = executed(NEST, {(2, "LDG"): 4, (4, "FFMA"): 32, (4, "LDS"): 31, (6, "STG"): 1})
    assert not found.met
    assert found.total(opcode="FFMA") == 32, "the surer count decides"


def test_half_empty_warps_execute_what_their_loads_say():
    found = executed(NEST, {(2, "LDG"): 4, (4, "FFMA"): 16, (4, "LDS"): 32, (6, "STG"): 1})     # 16 of 32 lanes
    assert found.met
    assert found.total(opcode="FFMA") == 32


def test_the_way_that_ran_counts_and_not_the_short_one():
    text = """extern "C" __global__ void two(const float* x, float* y, int n) {
    float sum = 0;
    if (n > 1000) {
#pragma unroll 8
        for (int i = 0; i < n; ++i)
            sum += x[i] * x[i];
    } else {
#pragma unroll 1
        for (int i = 0; i < n; ++i)
            sum += x[i] * x[i] + (y[i] += 1);
    }
    *y = sum;
}"""
    report = simt.launch(text, "two", 1, 1, [np.ones(4096, np.float32), np.ones(4096, np.float32), np.int32(64)])
    found = executed(sass(report.cubin), counts_of(report))
    assert not {5, 6} & set(found.per_line()), "the other way has the fewer instructions"
    assert found.total(opcode="STG") == 65


def test_no_code_is_nothing():
    assert executed((), {}).total() == 0


@pytest.mark.slow
def test_one_of_two_loops_runs():
    """A fast loop and a guarded one: where the counts say that one of them runs, a choice that leaves out both is none."""
    kernel = kernels.get("sgemm_outputs")
    matrices = inputs(256, 256, 256)[:2]
    result = run("sgemm_outputs", *matrices, backend="sim")
    code = sass(compile_cuda(kernel.source, name=kernel.path.name, defines=kernel.defines(**result.parameters)))
    found = executed(code, counts_of(result))
    assert found.met
    assert found.total(opcode="FFMA") == result.counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] / 32
    assert found.total() > 1.5 * found.total(opcode="FFMA")
