"""The simulator's counters against Nsight Compute's on an H200 (tests/data/h200_sgemm.json tells device, driver, date)."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib.run import run

RECORD = json.loads((Path(__file__).parents[1] / "data" / "h200_sgemm.json").read_text())
# Nsight Compute's reading that repeats exactly -> the name of the same count in our report.
NAMES = {n: n.replace("smsp__sass_l1tex_data_pipe", "l1tex__data_pipe") for n in RECORD["counters"]}


def matrices(shape, padding):
    M, N, K = shape
    rng = np.random.default_rng([M, N, K, padding])
    return [rng.standard_normal((rows, cols + padding)).astype(np.float32)[:, :cols] for rows, cols in ((M, K), (K, N), (M, N))]


def cases():
    for row in RECORD["rows"]:
        M, N, K = row["shape"]
        name = f"{row['kernel']}-{'x'.join(map(str, row['parameters'].values()))}-{M}x{N}x{K}"
        yield pytest.param(row, id=name, marks=pytest.mark.slow if M * N * K > 5e6 else ())


@pytest.mark.sampled(test=16, slow=30)
@pytest.mark.parametrize("row", list(cases()))
def test_requests_sectors_and_wavefronts_are_the_hardwares(row):
    A, B, C = matrices(row["shape"], row["padding"])
    ours = run(row["kernel"], A, B, C, alpha=1.5, beta=0.5, backend="sim", **row["parameters"]).counters
    measured = dict(zip(RECORD["counters"], row["measured"], strict=True))
    assert {n: ours[NAMES[n]] for n in measured} == measured


def test_the_record_covers_the_three_kernels_and_partial_tiles():
    assert {r["kernel"] for r in RECORD["rows"]} == {"sgemm_swapped", "sgemm_naive", "sgemm_tiled"}
    assert len(NAMES) == 8
    assert sum(any(n % 16 for n in r["shape"]) for r in RECORD["rows"]) > 30
