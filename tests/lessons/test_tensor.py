"""The control of the lesson on short numbers."""

import pytest

from course_lib.lessons.few_bits.errors import KINDS, error_facts, error_sliders, errors_by_depth


@pytest.mark.slow
def test_errors_are_run_for_each_kind():
    box = error_sliders(names=("sgemm_bf16", "sgemm_naive"))
    assert box.controls[0].values == KINDS
    assert "of its bound" in box.static_text()
    found = errors_by_depth(("sgemm_bf16",), KINDS[2], (8, 32))
    (label, text), = error_facts(found).items()
    assert label == "bfloat16: sgemm_bf16, K = 32"
    assert text.endswith("% of its bound")
