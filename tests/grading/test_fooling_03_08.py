"""Exercises 01 to 08: what reaches a gate's number without the idea does not get the points, and right kernels of other makes do."""

import pytest
from fooling_03_08 import ATTACKS
from honest_03_08 import HONEST

from course_lib.grading import check, part


@pytest.mark.sampled(test=1, slow=4)
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


@pytest.mark.sampled(test=2, slow=5)
@pytest.mark.parametrize("name", [name for name, attack in ATTACKS.items() if attack.seed and attack.exercise[:2] in ("06", "07")])
def test_the_idea_at_the_size_that_everybody_sees_alone_passes_there(name, starters, answers):
    """So it is the drawn size that tells."""
    attack = ATTACKS[name]
    spec = part(attack.exercise, attack.part)
    assert check(attack.answer(starters[attack.exercise, attack.part], answers("solutions", attack.exercise)[spec.entry]), spec).passed


@pytest.mark.sampled(test=1, slow=4)
@pytest.mark.parametrize("name", HONEST)
def test_a_right_kernel_of_another_make_passes(name, starters, answers):
    honest = HONEST[name]
    spec = part(honest.exercise, honest.part)
    text = honest.answer(starters[honest.exercise, honest.part], answers("solutions", honest.exercise)[spec.entry])
    for seed in (None, 3):
        verdict = check(text, spec, seed=seed)
        assert verdict.passed, verdict

