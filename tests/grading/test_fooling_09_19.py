"""Kernels that meet what the gates of exercises 09 to 19 count without the idea do not pass, and right ones of other make do."""

import pytest
from fooling_09_19 import FOOLING
from honest_09_19 import HONEST

from course_lib.grading import check, part
from course_lib.grading.judge import ptx_edits

SEED = 11
KERNEL = """.visible .entry k(
	.param .u64 k_param_0,
	.param .u64 k_param_1
)
{
	.reg .f32 	%f<9>;
	ld.param.u64 	%rd1, [k_param_0];
	ld.shared.v2.f32 	{%f1, %f2}, [%r1+16];
	mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f3, %f4}, {%r1}, {%r2}, {%f5, %f4};
	cp.async.ca.shared.global [%r1], [%rd2], 8, %r3;
	ld.global.f32 	%f6, [%rd2+4];
}
"""


@pytest.mark.slow
@pytest.mark.sampled(test=3, slow=16)
@pytest.mark.parametrize("name", FOOLING)
def test_a_kernel_without_the_idea_is_told_what_is_wrong(name):
    fooling = FOOLING[name]
    verdict = check(fooling.text(), part(fooling.exercise, fooling.part), seed=SEED)
    assert not verdict.passed
    assert all(outcome.passed for outcome in verdict.cases), "the results are right"
    assert any(finding.kind == fooling.kind and fooling.words in finding.message for finding in verdict.findings), verdict


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=8)
@pytest.mark.parametrize("name", HONEST)
def test_a_right_kernel_of_other_make_passes(name):
    honest = HONEST[name]
    for seed in (None, SEED):
        verdict = check(honest.text(), part(honest.exercise, honest.part), seed=seed)
        assert verdict.passed, verdict


def test_each_exercise_has_three_of_either():
    assert {name[:2] for name in FOOLING} == {name[:2] for name in HONEST} == {"09", "10", "13", "14", "15", "16", "17", "19"}


def test_what_is_changed_in_ptx():
    assert "mov.b32 %f3, %f5;" in ptx_edits.without_products(KERNEL)
    assert "mma.sync" not in ptx_edits.without_products(KERNEL)
    assert "[%rd2], 8, 0;" in ptx_edits.without_copies(KERNEL)
    assert "mov.b32 %f2, 0;" in ptx_edits.without_shared_words(KERNEL, "k")
    assert ptx_edits.losing_words(KERNEL, "k", most=4, seed=1).count("@%lost_now mov.b32 %f") == 2
    assert ptx_edits.losing_products(KERNEL, "k", most=4, seed=1).count("mov.b32 %lost_b32_") == 2
    changed = ptx_edits.without_one_block(KERNEL, "k", array=0, nbytes=64, told=(1, 24))
    assert "[k_param_1]" in changed
    assert "@%lost_now mov.b32 %f6, 0;" in changed
    assert changed.count("add.u64 %lost_b64_3, %rd2") == 2
