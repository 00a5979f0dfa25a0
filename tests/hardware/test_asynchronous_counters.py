"""Bulk copies and products of warpgroups, counted as an H200 counted them."""

import json
from pathlib import Path

import pytest
import test_warpgroups as warpgroups
from hardware_catalog.record import simulated

from course_lib import simt
from course_lib.simt.host.counters import BULK_BYTES, BULK_COPIES, BULK_SECTORS, MULTIPLY_ADDS, OPERAND_BYTES, TENSOR

RECORD = json.loads((Path(__file__).parents[1] / "data" / "h200_asynchronous.json").read_text())["counters"]
SAME = {TENSOR.format("gmma"), *(BULK_COPIES.format(d) for d in BULK_BYTES), *BULK_BYTES.values(), *BULK_SECTORS.values()}


def counted(name):
    """Return the simulator's counters of a launch, under Nsight Compute's names, zeros left out."""
    if " " not in name:
        ours = simulated(name)[2].counters
    else:
        form = name.split()[1]
        ours = simt.launch(warpgroups.KERNELS / "wgmma_sums.cu", "wgmma_sums", warpgroups.CASES, 128, warpgroups.sums(form), arch="sm_90a",
                           **warpgroups.form(form)).counters
    found = {metric: ours[metric] for metric in SAME}
    found["smsp__sass_data_bytes_mem_shared_op_gmma.sum"] = sum(ours[each] for each in OPERAND_BYTES)
    found["sm__ops_path_tensor_src_….sum"] = 2 * ours[MULTIPLY_ADDS]
    return {metric: count for metric, count in found.items() if count}


@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("name", RECORD)
def test_they_are_the_hardwares(name):
    assert counted(name) == RECORD[name]
