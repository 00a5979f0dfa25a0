"""Exercise 20, beyond what every exercise is tested for: what is stored, the bound of part 1 on it, and what the gate counts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.check.scaled import BLOCK, LARGEST, Scaled, all_cases, drawn, stored
from course_lib.grading.exercises.e20_few_bits import MATRIX, OF_LANES, PARTS, arithmetic, bound

CASES = [*all_cases({}), *drawn({}, np.random.default_rng(3))]
WORK = 64 * 64 * 128
BLOCKS = ((64.0, 900.0, 0.5, 6.0), (0.25, 3.0, 8.0, 120.0))


def counted(matrix, **lanes):
    counters = {name: next((n for op, n in lanes.items() if f"_{op}_" in name), 0) for name in OF_LANES} | {MATRIX: matrix}
    return SimpleNamespace(counters=counters, lines={7: counters})


def blocks_of(A, B):
    """Return what part 1 is told of each element of C: block by block the largest |a|, their sum, the largest |b|, their sum."""
    for row in range(len(A)):
        for col in range(B.shape[1]):
            pieces = [(np.abs(A[row, k:k + BLOCK]), np.abs(B[k:k + BLOCK, col])) for k in range(0, A.shape[1], BLOCK)]
            yield row, col, tuple((a.max(), a.sum(), b.max(), b.sum()) for a, b in pieces)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_stored_keeps_the_bound_of_part_1(case):
    trial = Scaled().trial(case)
    A, B = trial.exact
    off = np.abs((trial.scales() * trial.block_products()).sum(axis=0) - A @ B)
    some = list(blocks_of(A, B))[::max(1, off.size // 50)]
    limits = np.array([bound(blocks) for _, _, blocks in some])
    shares = np.array([off[row, col] for row, col, _ in some]) / limits
    assert shares.max() <= 1 + 1e-5
    assert case.K == 1 or shares.max() > 0.01, "the bound says something"


def test_a_number_is_off_by_half_a_scale_at_most_and_a_block_of_zeros_is_none():
    rows = np.random.default_rng(1).uniform(-1, 1, (5, 70)) * 2.0 ** np.arange(-2, 3)[:, None]
    rows[2, 32:64] = 0
    numbers, scales = stored(rows)
    assert numbers.shape == (5, 96)
    assert not numbers[:, 70:].any()
    assert np.abs(numbers).reshape(5, 3, BLOCK).max(axis=2).tolist() == [[LARGEST] * 3] * 2 + [[LARGEST, 0, LARGEST]] + [[LARGEST] * 3] * 2
    each = scales.repeat(BLOCK, axis=1)[:, :70].astype(np.float64)
    assert (np.abs(numbers[:, :70] * each - rows) <= 0.5001 * each).all()


def test_behind_k_there_are_zeros_and_between_rows_there_are_none():
    trial = Scaled().trial(replace(CASES[-1], M=3, N=2, K=40, pad=1))
    rows = [trial.A[start:start + 64] for start in (0, 96, 192)]
    assert not np.concatenate([row[40:] for row in rows]).any()
    assert trial.A[64:96].all()
    assert len(trial.A) == 2 * 96 + 64


@pytest.mark.parametrize(("matrix", "lanes", "value"), [
    (WORK // 4096, {"ffma": WORK // 32, "fmul": WORK // 32}, 9), (0, {"ffma": WORK, "fmul": 2 * WORK}, 384), (0, {}, 128),
    (WORK // 8192, {}, 64.5)])
def test_the_gate_counts_what_no_matrix_instruction_of_8_bits_did(matrix, lanes, value):
    assert arithmetic(counted(matrix, **lanes), WORK).value == pytest.approx(value)


@pytest.mark.parametrize(("answer", "says"), [
    (bound(BLOCKS, 1.0), "half a step"), (bound(BLOCKS, 127 / 256), "127 is the largest"), ("none", ""), (1.0, ""),
    (sum(sa * b + sb * a for a, sa, b, sb in BLOCKS) / 254, "at once"),
    (sum(sa * a + sb * b + 32 * a * b / 254 for a, sa, b, sb in BLOCKS) / 254, "by the other factor")])
def test_mistakes_of_part_1_are_named(answer, says):
    found = PARTS[0].guess((BLOCKS,), answer)
    assert says in found
    assert bool(says) == bool(found)


def test_one_scale_for_all_blocks_may_cost_much_more():
    """The numbers of the statement's kind: a large block beside a small one."""
    alone = tuple((64.0, sa, 8.0, sb) for _, sa, _, sb in BLOCKS)
    assert bound(alone) > 5 * bound(BLOCKS)
