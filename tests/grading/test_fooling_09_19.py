"""Kernels without the idea that meet what gates count do not pass, nor functions that know what is shown; other right kernels do."""

import fooling_09_19
import fooling_conditions
import honest_09_19
import honest_odd
import pytest

from course_lib.grading import check, part
from course_lib.grading.judge import ptx_edits

SEED = 11
FOOLING = fooling_09_19.FOOLING | fooling_conditions.FOOLING
HONEST = honest_09_19.HONEST | honest_odd.HONEST
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
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, %rd3, %rd4, %p1, 1, 1, 0, 1;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f5,%f6,%f7,%f8}, {%r1,%r2,%r3,%r4}, %rd4, 1, 1, 1, 1;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
}
"""


@pytest.mark.slow
@pytest.mark.sampled(test=3, slow=6)
@pytest.mark.parametrize("name", FOOLING)
def test_a_kernel_without_the_idea_is_told_what_is_wrong(name):
    fooling = FOOLING[name]
    verdict = check(fooling.text(), part(fooling.exercise, fooling.part), seed=SEED)
    assert not verdict.passed
    assert all(outcome.passed for outcome in verdict.cases), "the results are right"
    assert any(finding.kind == fooling.kind and fooling.words in finding.message for finding in verdict.findings), verdict


@pytest.mark.slow
@pytest.mark.sampled(test=2, slow=4)
@pytest.mark.parametrize("name", HONEST)
def test_a_right_kernel_of_other_make_passes(name):
    honest = HONEST[name]
    for seed in (None, SEED):
        verdict = check(honest.text(), part(honest.exercise, honest.part), seed=seed)
        assert verdict.passed, verdict


def test_each_exercise_has_three_of_either():
    for found in (fooling_09_19.FOOLING, honest_09_19.HONEST):
        assert {name[:2] for name in found} == {"09", "10", "13", "14", "15", "16", "17", "18", "19"}


@pytest.mark.parametrize("name", fooling_conditions.FUNCTIONS)
def test_a_function_that_knows_what_is_shown_fails_on_what_is_drawn(name):
    exercise, which, text = fooling_conditions.FUNCTIONS[name]
    spec, found = part(exercise, which), {}
    exec(text, found)

    def answer(*given):
        return spec.expected(*given) if given in spec.cases else found[spec.entry](*given)

    assert check(answer, spec).passed
    assert not [seed for seed in range(20) if check(answer, spec, seed=seed).passed]


LOADS = {
    "ld.shared.f32 %f1, [%r1];": "\nmov.b32 %f1, 0;",
    "@!%p2 ld.volatile.shared.u32 %r3, [%rd1+4];": "\n@!%p2 mov.b32 %r3, 0;",
    "ld.shared.v2.b64 {%rd4, %rd5}, [%r1];": "\nmov.b64 %rd4, 0;\nmov.b64 %rd5, 0;",
    "ld.acquire.cta.shared::cta.b32 %r1, [%r2];": "\nmov.b32 %r1, 0;",
    "ld.f32 %f1, [%rd1];": "\n@%lost_here mov.b32 %f1, 0;",
    "ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];": "",
    "ld.volatile.global.f32 %f1, [%rd1];": "",
    "ld.local.f32 %f1, [%rd1];": "",
}


@pytest.mark.parametrize("load", LOADS)
def test_which_loads_may_be_of_shared_memory(load):
    changed = ptx_edits.without_shared_words(KERNEL.replace("ld.shared.v2.f32 	{%f1, %f2}, [%r1+16];", load), "k")
    assert f"{load}{LOADS[load]}\n" in changed


def test_what_is_changed_in_ptx():
    assert "mov.b32 %f3, %f5;" in ptx_edits.without_products(KERNEL)
    assert "mma.sync" not in ptx_edits.without_products(KERNEL)
    assert "@!%p1 mov.b32 %f4, 0;" in ptx_edits.without_products(KERNEL)
    assert "mov.b32 %f8, 0;" not in ptx_edits.without_products(KERNEL)
    assert "wgmma.mma_async" not in ptx_edits.without_products(KERNEL)
    assert "[%rd1, {0x40000000, 0x40000000}], [%r4];" in ptx_edits.without_copies(KERNEL)
    assert "[%rd2], 8, 0;" in ptx_edits.without_copies(KERNEL)
    assert "mov.b32 %f2, 0;" in ptx_edits.without_shared_words(KERNEL, "k")
    assert ptx_edits.losing_words(KERNEL, "k", most=4, seed=1).count("@%lost_now mov.b32 %f") == 2
    assert ptx_edits.losing_a_read(KERNEL, "k", reads={0: 3, 5: 7}, seed=1).count("@%lost_now mov.u32 %lost_b32_0, 160;") == 1
    assert ptx_edits.losing_products(KERNEL, "k", most=4, seed=1).count("mov.b32 %lost_b32_") == 2
    assert ptx_edits.losing_products(KERNEL, "k", most=4, seed=1).count("@%lost_now bra $LOST_GO_") == 2
    changed = ptx_edits.without_one_block(KERNEL, "k", array=0, nbytes=64, told=(1, 24))
    assert "[k_param_1]" in changed
    assert "@%lost_now mov.b32 %f6, 0;" in changed
    assert changed.count("add.u64 %lost_b64_3, %rd2") == 2
