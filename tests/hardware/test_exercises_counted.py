"""The counters that gates read, of every worked kernel of the exercises, against Nsight Compute's on an H200.

The machine code measured is that of the compiler which the course is installed with."""

import json
from pathlib import Path

import pytest

from course_lib.toolchain.request import source_hash
from tools.nsight import MEASURED
from tools.record import exercises

RECORD = json.loads((Path(__file__).parents[1] / "data" / "h200_exercises.json").read_text())
ROWS = {(row["exercise"], row["part"]): row for row in RECORD["rows"]}
NOT_RECORDED = ("18_roles",)         # its gate reads operands of wgmma, which test_asynchronous_counters.py compares
WORKED = {(spec.exercise, spec.part): (spec, text) for spec, text in exercises.worked() if spec.exercise not in NOT_RECORDED}


def test_every_kernel_was_recorded_as_it_is():
    texts = {key: source_hash(text) for key, (_, text) in WORKED.items()}
    assert {key: row["text"] for key, row in ROWS.items()} == texts, (
        "a worked kernel has changed: on a GPU, python -m tools record exercises tests/data/h200_exercises.json")


# The assembler writes a loop out further and joins more loads. The report, which has more, calls its count "PTX level".
LOADS = "smsp__sass_inst_executed_op_shared_ld.sum"
FEWER = {("04_tiling", "wide"): {LOADS: (3072, 2560)}, ("08_register_blocking", "main"): {LOADS: (3072, 2560)}}


@pytest.mark.sampled(test=4, slow=12)
@pytest.mark.parametrize("key", list(WORKED), ids="-".join)
def test_counters_are_the_hardwares(key):
    report = exercises.simulated(*WORKED[key])
    found = exercises.differing(report, dict(zip(RECORD["counters"], ROWS[key]["measured"], strict=True)))
    assert found == FEWER.get(key, {})
    assert {report.level[MEASURED[name]] for name in found} <= {"PTX level"}
