"""Exercise 21, beyond what every exercise is tested for: its numbers are those of Triton's kernel, and mistakes of part 1 are named."""

from types import SimpleNamespace

import pytest

from course_lib.grading.exercises.e21_compiler import COPIED, PARTS, SECTORS_LOADED, STEP, WAVEFRONTS, sectors, step, wavefronts
from course_lib.kernels.triton import Setting
from course_lib.lessons.compiler import counts


def test_part_1_explains_tritons_wavefronts():
    triton = counts.step_of(Setting(3, floats=True)).counters
    load, store, copied = (triton.get(name, 0) for name in counts.WAVEFRONTS)
    conflicts = sum(triton.get(name, 0) for name in counts.CONFLICTS)
    assert (store + copied, load - conflicts) == step(64, 64, 32, 4, 2, 2) == (128, 256)
    assert (conflicts, load + store + copied) == (128, 512)
    assert triton[SECTORS_LOADED] == 512 == PARTS[1].gates[1].limit
    assert PARTS[1].gates[0].limit * 2 == 512


def test_our_kernels_wavefronts_are_those_of_part_1_with_two_bytes():
    assert counts.our_step().sum(counts.WAVEFRONTS) == sum(step(64, 64, 32, 2, 2, 2)) == PARTS[1].gates[0].achievable


def test_copies_count_as_stores_do():
    report = SimpleNamespace(counters={**dict.fromkeys(WAVEFRONTS, 8), SECTORS_LOADED: 40}, lines={3: {COPIED: 8}})
    assert (wavefronts(report, 2 * STEP).value, sectors(report, 2 * STEP).value) == (12, 20)


@pytest.mark.parametrize(("answer", "says"), [
    ((128, 128), "each of them loads"), ((128, 512), "not all of both tiles"), ((32, 256), "counts numbers"),
    ((4096 * 4, 256), "at what is stored"), ((512, 256), "wavefronts as bytes"), ((128, 7), "at what is loaded"),
    (384, "Return two numbers")])
def test_mistakes_of_part_1_are_named(answer, says):
    assert says in PARTS[0].guess((64, 64, 32, 4, 2, 2), answer)
