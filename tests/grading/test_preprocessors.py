"""What is taken out of an instructor's cell, and what students find in its place."""

import nbformat
import pytest

from course_lib.grading.classroom.preprocessors import DropInstructorCells, StripMetadata, clear_regions

CUDA = """%%cuda k
    before;
    // BEGIN SOLUTION
    secret;
    // STARTER
    // if (x)
    //     start;
    //
    // END SOLUTION
    after;"""


def test_a_region_becomes_its_starter():
    text, replaced = clear_regions(CUDA)
    assert replaced
    assert text.split("\n") == ["%%cuda k", "    before;", "    // YOUR CODE HERE", "    if (x)", "        start;", "",
                                "    after;"]


def test_a_python_region_keeps_python_comments():
    assert clear_regions("### BEGIN SOLUTION\nx = 1\n### END SOLUTION\ny = 2") == ("### YOUR CODE HERE\ny = 2", True)


def test_text_without_a_region_stays():
    assert clear_regions("a\n  b // the solution begins here") == ("a\n  b // the solution begins here", False)


@pytest.mark.parametrize(("text", "says"), [
    ("// BEGIN SOLUTION\nx", "no END SOLUTION"),
    ("// BEGIN SOLUTION\n// BEGIN SOLUTION\n// END SOLUTION", "inside another"),
    ("// END SOLUTION", "outside"),
    ("// STARTER", "outside"),
    ("// BEGIN SOLUTION\n// STARTER\nbare;\n// END SOLUTION", "must begin with //"),
    ("x; // BEGIN SOLUTION\n// END SOLUTION", "nothing but the comment"),
])
def test_a_slip_in_the_markers_stops_the_generation(text, says):
    with pytest.raises(RuntimeError, match=says):
        clear_regions(text)


def test_instructor_cells_and_volatile_metadata_go():
    note = nbformat.v4.new_markdown_cell("note", metadata={"tags": ["instructor"]})
    cell = nbformat.v4.new_code_cell("x", metadata={"execution": {"iopub.status.busy": "…"}, "tags": ["kept"]})
    nb = nbformat.v4.new_notebook(cells=[note, cell], metadata={
        "kernelspec": {"display_name": "Python 3", "name": "python3", "language": "python"},
        "language_info": {"name": "python", "version": "3.11.9"}, "widgets": {"state": {}}})
    nb, _ = DropInstructorCells().preprocess(nb, {})
    nb, _ = StripMetadata().preprocess(nb, {})
    assert [c.source for c in nb.cells] == ["x"]
    assert nb.cells[0].metadata == {"tags": ["kept"]}
    assert nb.metadata.language_info == {"name": "python"}
    assert "widgets" not in nb.metadata
