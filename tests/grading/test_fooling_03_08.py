"""Exercises 01 to 08: what reaches a gate's number without the idea does not get the points, and right kernels of other makes do."""

import pytest
from fooling_03_08 import ATTACKS
from honest_03_08 import HONEST

from course_lib.grading import check, part
from course_lib.grading.judge.reaching import doubled


@pytest.mark.sampled(test=4, slow=16)
@pytest.mark.parametrize("name", ATTACKS)
def test_what_fools_a_gate_is_told_why_it_does_not_pass(name, starters, answers):
    attack = ATTACKS[name]
    spec = part(attack.exercise, attack.part)
    text = attack.answer(starters[attack.exercise, attack.part], answers("solutions", attack.exercise)[spec.entry])
    verdict = check(text, spec, seed=attack.seed)
    assert not verdict.passed
    assert all(outcome.passed for outcome in verdict.cases), verdict
    assert {finding.kind for finding in verdict.findings} <= {attack.kind, "bound"}, verdict
    assert any(finding.kind == attack.kind and attack.says in finding.message for finding in verdict.findings), verdict


@pytest.mark.parametrize("name", [name for name, attack in ATTACKS.items() if attack.seed and attack.exercise[:2] in ("06", "07")])
def test_the_idea_at_the_size_that_everybody_sees_alone_passes_there(name, starters, answers):
    """So it is the drawn size that tells."""
    attack = ATTACKS[name]
    spec = part(attack.exercise, attack.part)
    assert check(attack.answer(starters[attack.exercise, attack.part], answers("solutions", attack.exercise)[spec.entry]), spec).passed


@pytest.mark.sampled(test=3, slow=8)
@pytest.mark.parametrize("name", HONEST)
def test_a_right_kernel_of_another_make_passes(name, starters, answers):
    honest = HONEST[name]
    spec = part(honest.exercise, honest.part)
    text = honest.answer(starters[honest.exercise, honest.part], answers("solutions", honest.exercise)[spec.entry])
    for seed in (None, 3):
        verdict = check(text, spec, seed=seed)
        assert verdict.passed, verdict


@pytest.mark.parametrize(("load", "more"), [
    ("ld.shared.f32 %f1, [%r1];", " mul.f32 %f1, %f1, 0f40000000;"),
    ("@!%p2 ld.volatile.shared.u32 %r3, [%rd1+4];", " @!%p2 mul.f32 %r3, %r3, 0f40000000;"),
    ("ld.shared.f64 %fd1, [%r1];", " mul.f64 %fd1, %fd1, 0d4000000000000000;"),
    ("ld.f32 %f1, [%rd1];", " mul.f32 %f1, %f1, 0f40000000;"),
    ("ld.global.f32 %f1, [%rd1];", ""),
    ("ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];", ""),
    ("ld.param.u32 %r1, [wide_param_0];", ""),
    ("ld.local.f32 %f1, [%rd1];", ""),
])
def test_what_is_doubled(load, more):
    assert doubled(load) == load + more


def test_two_floats_in_one_register_are_doubled_each():
    assert doubled("ld.shared.b64 %rd4, [%r1];").count("mul.f32") == 2
