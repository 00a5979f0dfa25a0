"""What is chosen by size, above what there is to choose from."""

from course_lib.lessons.busy.choice import chosen_speeds, describe_choice
from course_lib.run import best_for, parts


def test_sizes_stand_side_by_side_and_the_chosen_line_is_on_top():
    ax = chosen_speeds([{64: 1.0, 65: 2.0, 4096: 9.0}, {64: 3.0}], {64: 3.0, 65: 2.0, 4096: 9.0}, {"cuBLAS": {65: 5.0, 128: 1.0}})
    assert [line.get_xdata().tolist() for line in ax.lines] == [[0, 1, 2], [0], [1], [0, 1, 2]]
    assert ax.lines[-1].get_ydata().tolist() == [3.0, 2.0, 9.0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chosen by N", "cuBLAS", "one of 2 to choose from"]
    assert "65" in describe_choice({64: 3.0, 65: 2.0})


def test_the_choice_is_the_upper_edge_of_its_parts():
    for dtype in ("float32", "float64"):
        lines = parts(dtype=dtype)
        sizes = {N for line in lines.values() for N in line}
        for N in sizes:
            assert best_for(N, dtype=dtype).gflops == max(line[N] for line in lines.values() if N in line)
