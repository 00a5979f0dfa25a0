"""Products of the kernels of bfloat16, FP8 and three parts, counted as an H100 counted them."""

import json
from pathlib import Path

import pytest

from course_lib.run import run
from course_lib.simt.host.counters import BULK_ONCE, BULK_SECTORS
from tools.gpu.cases import matrices
from tools.gpu.warpgroups import COUNTED

RECORD = json.loads((Path(__file__).parents[1] / "data" / "h100_warpgroups.json").read_text())["products"]
WAVEFRONTS = {f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")}


def named(row):
    return f"{row['kernel']} {'x'.join(map(str, row['shape']))}"


def counted(row):
    """Return {metric: (an H100's count, the simulator's)}, where they differ.

    ldmatrix and stmatrix are left out of `smsp__sass_…_op_ld` and `…_op_st`; here their wavefronts are among those of loads and stores.
    """
    A, B, _ = matrices(tuple(row["shape"]), 0)
    ours = run(row["kernel"], A, B, alpha=1.5, backend="sim").counters
    pairs = {metric: (there, ours.get(COUNTED.get(metric, metric), 0)) for metric, there in row["counters"].items()}
    return {metric: pair for metric, pair in pairs.items() if pair[0] != pair[1] and (pair[0] or metric not in WAVEFRONTS)}


@pytest.mark.sampled(test=5, slow=20)
@pytest.mark.parametrize("row", RECORD, ids=named)
def test_they_are_the_hardwares(row):
    assert counted(row) == {}


@pytest.mark.parametrize(("kernel", "share"), [("sbgemm_tma", 1), ("sbgemm_clusters", 2 / 3)])
def test_a_copy_to_two_blocks_is_read_once(kernel, share):
    """Of three parts of a stage, two are B's, which a cluster's blocks share."""
    A, B, _ = matrices((256, 512, 128), 0)
    ours = run(kernel, A, B, backend="sim").counters
    assert ours[BULK_ONCE["ld"]] == share * ours[BULK_SECTORS["ld"]]
