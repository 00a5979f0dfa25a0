"""What a step costs, fused and separate: counted, added up, and the difference derived."""

from pathlib import Path

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.run import run
from course_lib.training import PRODUCTS, Setting, digits, step_cost

SETTING = Setting(hidden=32, batch=32)      # whole tiles and whole sectors, but for the ten classes


@pytest.fixture(scope="module")
def costs():
    return {products: step_cost(products, SETTING) for products in ("fused", "separate")}


def sectors(floats):
    return floats * 4 // 32


def test_kernels_of_a_step(costs):
    assert costs["fused"].kernels == 5
    names = [row[1] for row in costs["separate"].rows()]
    assert names[0] == names[4] == "transpose + transpose + sgemm_multiply + matrix_sum"
    assert names[1] == names[3] == "transpose + sgemm_multiply + matrix_sum"
    assert names[2] == "sgemm_multiply + matrix_sum"
    assert costs["separate"].kernels == 16


def test_counters_are_those_of_the_launches_added_up(costs):
    pictures, _ = next(digits().batches(32))
    first = run("sgemm_op", np.float32(pictures), np.float32(np.zeros((32, 64))), backend="sim", TRANSA=1, TRANSB=1)
    assert costs["fused"].rows()[0][2:] == (first.count("sectors", "load"), first.count("sectors", "store"))
    for cost in costs.values():
        assert cost.count("sectors") == sum(load + store for _, _, load, store in cost.rows())
        assert cost.count("sectors", "load") == sum(row[2] for row in cost.rows())
        assert cost.count("requests") == sum(r.count("requests", kind) for _, results in cost.launches for r in results
                                             for kind in ("load", "store"))
        assert [p for p, _ in cost.launches] == list(PRODUCTS)


def test_what_fusing_saves_is_each_transposed_operand_and_the_product_once_written_once_read(costs):
    """Of the two products whose sizes are whole: X is 64 × 32, W1 32 × 64, G and H are 32 × 32."""
    for i, moved in ((0, 64 * 32 + 32 * 64 + 32 * 32), (4, 32 * 32 + 64 * 32 + 32 * 64)):
        fused, separate = (sum(costs[products].rows()[i][2:]) for products in ("fused", "separate"))
        assert separate - fused == 2 * sectors(moved)
    assert costs["fused"].count("sectors") < costs["separate"].count("sectors")


def test_the_library_is_not_simulated():
    with pytest.raises(CourseError, match="'separate' and 'fused'"):
        step_cost("library")


def test_the_figures_of_the_page_on_sweeps():
    page = " ".join((Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8").split())
    separate, fused = step_cost("separate"), step_cost("fused")
    assert f"take {separate.kernels} kernels and {separate.count('sectors'):,} global sectors when separate" in page
    assert f"and {fused.kernels} kernels and {fused.count('sectors'):,} sectors when fused" in page
    for p in PRODUCTS:
        a, b = ("yes" if turn else "no" for turn in p.transposed)
        assert f"| {p.text} | {a} | {b} |" in page
