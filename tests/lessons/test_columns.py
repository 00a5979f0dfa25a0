"""The sliders on leading dimension and column: what is computed is what launches count and what Chien's pages say."""

import pytest

from course_lib.lessons.coalescing.column_access import LEADING, ColumnAccess, column_facts, column_picture, column_sliders
from course_lib.run import run_gather
from course_lib.widgets.compute import floats


@pytest.mark.parametrize("lda", LEADING)
@pytest.mark.parametrize("column", [0, 1, 3, 31])
def test_todays_sectors_are_those_of_a_launch(lda, column):
    facts = column_facts(ColumnAccess(lda, column))
    counted = run_gather("copy_strided", floats(32 * max(LEADING) + 32), 32, offset=lda * column, backend="sim").count("sectors")
    assert (facts["sectors, today"], facts["bytes moved, today"]) == (f"{counted}", f"{32 * counted}")


@pytest.mark.parametrize(("lda", "column", "share", "average"), [
    (72, 0, "1.000", "0.8333"), (72, 1, "0.667", "0.8333"), (72, 2, "1.000", "0.8333"), (72, 3, "0.667", "0.8333"),
    (68, 1, "0.571", "0.7024"), (68, 2, "0.667", "0.7024"), (64, 5, "1.000", "1.0000")])
def test_shares_are_those_that_chien_prints(lda, column, share, average):
    facts = column_facts(ColumnAccess(lda, column))
    assert (facts["wanted share, CC 1.3"], facts["average share, CC 1.3"]) == (share, average)


def test_the_picture_says_where_it_is():
    ax, alt = column_picture(ColumnAccess(68, 1))
    assert ax.get_title(loc="left") == "lda = 68, column 1"
    assert alt.startswith("lda = 68, column 1. Lanes 0 to 15 on CC 1.3: transactions of 128 bytes.")


@pytest.mark.slow
def test_a_move_changes_the_table_and_the_picture(wait_s):
    box = column_sliders(72, 1)
    try:
        assert "192" in box.static_text()
        box.boxes["lda"].value = 68
        assert box.engine.settle(wait_s)
        assert box.drawings.settle(wait_s)
        assert "0.7024" in box.table.value
        assert "0.8333" in box.table.value, "the position before stands beside it"
        assert "lda = 68, column 1. Lanes 0 to 15" in box.image.value
    finally:
        box.close()
