"""The sliders: what is asked for, what is shown, without a front end."""

import threading

import pytest

from course_lib.errors import CourseError
from course_lib.plots import bars
from course_lib.widgets import compute, live, player, sliders, waiting


@pytest.fixture
def tiled(front_door):
    box = live("sgemm_tiled", sliders=dict.fromkeys(("BM", "BN", "BK"), (8, 16, 32, 64)), tie=("BM", "BN", "BK"), N=64,
               start={"BM": 16, "BN": 16, "BK": 16})
    yield box
    box.close()


def test_it_opens_with_a_result(tiled, front_door):
    assert isinstance(tiled, sliders.Live)
    assert front_door == [("sgemm_tiled", 64, {"BM": 16, "BN": 16, "BK": 16})]
    assert "256 × 16" in tiled.table.value
    assert 'role="status"' in tiled.status.value


def test_a_parameter_with_one_choice_has_no_slider(front_door):
    box = live("sgemm_volkov", N=64)
    assert list(box.sliders) == ["THREADS", "VECTORS", "COLS", "GUARD"]
    box.close()


def test_a_constant_is_launched_and_not_told(front_door):
    box = live("sgemm_tiled", sliders={"BM": (8, 16)}, start={"BM": 16}, constants={"BN": 16, "BK": 16}, N=64)
    assert front_door == [("sgemm_tiled", 64, {"BM": 16, "BN": 16, "BK": 16})]
    assert box.describe(box.position()) == "sgemm_tiled, N = 64, BM = 16"
    box.close()
    with pytest.raises(CourseError, match="XY is no parameter of sgemm_tiled"):
        live("sgemm_tiled", constants={"XY": 1})


def test_a_single_size_has_no_slider(front_door):
    box = live("sgemm_naive", N=64, sizes=(64,))
    assert box.size not in box.children[1].children
    assert box.position()[1] == 64
    box.close()
    other = live("sgemm_naive", N=64)
    assert other.size in other.children[1].children
    other.close()


def test_a_move_runs_the_kernel_and_shows_before_and_now(tiled, front_door, wait_s):
    tiled.sliders["BM"].value = 32
    assert tiled.engine.settle(wait_s)
    assert ("sgemm_tiled", 64, {"BM": 32, "BN": 32, "BK": 32}) in front_door
    assert "1,024 × 4" in tiled.table.value
    assert "before" in tiled.table.value


def test_tied_sliders_move_together_in_one_run(tiled, wait_s):
    asked = []
    request = tiled.engine.request
    tiled.engine.request = lambda position: asked.append(position) or request(position)
    tiled.sliders["BK"].value = 8
    assert [s.value for s in tiled.sliders.values()] == [8, 8, 8]
    assert asked == [("sgemm_tiled", 64, 8, 8, 8)]
    tiled.tied.value = False
    tiled.sliders["BK"].value = 16
    assert [s.value for s in tiled.sliders.values()] == [8, 8, 16]
    tiled.tied.value = True
    assert [s.value for s in tiled.sliders.values()] == [8, 8, 8]
    assert tiled.engine.settle(wait_s)


def test_neighbours_are_ready_so_that_the_next_move_is_at_once(tiled, front_door, wait_s):
    tiled.sliders["BM"].value = 32
    assert tiled.engine.settle(wait_s)
    before = len(front_door)
    tiled.sliders["BM"].value = 16
    assert "known already" in tiled.status.value
    assert tiled.engine.settle(wait_s)
    assert {p["BM"] for _, _, p in front_door} == {8, 16, 32}
    assert len(front_door) >= before


def test_an_impossible_choice_says_which_rule_and_why_and_hides_old_numbers(tiled, front_door, wait_s):
    tiled.sliders["BM"].value = 64
    assert tiled.engine.settle(wait_s)
    assert "at most 1024 are allowed" in tiled.status.value
    assert "Every NVIDIA GPU since 2010 stops at 1024 threads per block" in tiled.status.value
    assert 'role="alert"' in tiled.status.value
    assert tiled.table.value == ""
    assert all(p["BM"] != 64 for _, _, p in front_door)
    tiled.sliders["BM"].value = 32
    assert tiled.engine.settle(wait_s)
    assert "1,024 × 4" in tiled.table.value


def test_a_long_run_shows_progress_and_stale_moves_are_dropped(tiled, front_door, monkeypatch, wait_s):
    gate, fast = threading.Event(), compute.run

    def slow(kernel, A, B, **parameters):
        if parameters["BM"] == 32:
            assert gate.wait(wait_s)
        return fast(kernel, A, B, **parameters)

    monkeypatch.setattr(compute, "run", slow)
    monkeypatch.setattr(waiting, "SLOW_S", 0.0)
    shown = threading.Event()
    tiled.progress.layout.observe(lambda change: shown.set() if change["new"] == "visible" else None, "visibility")
    tiled.sliders["BM"].value = 32
    assert shown.wait(wait_s)
    tiled.size.value = 128                   # the second thread takes this one and waits, too
    tiled.size.value = 256
    tiled.sliders["BM"].value = 8
    gate.set()
    assert tiled.engine.settle(wait_s)
    assert tiled.progress.layout.visibility == "hidden"
    assert "BM = 8" in tiled.status.value
    assert len([asked for asked in front_door if asked[2]["BM"] == 32]) <= 2


def test_one_of_several_kernels(front_door, wait_s):
    box = live(("sgemm_swapped", "sgemm_naive"), sliders={"bx": (8, 16), "by": (8, 16)}, N=64)
    box.choice.value = "sgemm_naive"
    assert box.engine.settle(wait_s)
    assert ("sgemm_naive", 64, {"bx": 16, "by": 16}) in front_door
    assert "sgemm_naive" in box.status.value
    box.close()


def test_several_kernels_may_have_labels(front_door, wait_s):
    box = live({"sgemm_naive": "col from x", "sgemm_swapped": "row from x"}, sliders={"bx": (8, 16), "by": (8, 16)}, N=64)
    assert box.choice.options == (("col from x", "sgemm_naive"), ("row from x", "sgemm_swapped"))
    box.choice.value = "sgemm_swapped"
    assert box.engine.settle(wait_s)
    assert ("sgemm_swapped", 64, {"bx": 16, "by": 16}) in front_door
    assert "row from x, N = 64" in box.status.value
    box.close()


def test_a_picture_is_drawn_from_the_result_with_its_words(front_door, wait_s):
    box = live("sgemm_naive", N=64,
               picture=lambda r: (bars({"x": r.block[0]}, unit="threads"), f"block of {r.block[0]}"))
    assert 'alt="block of 16"' in box.image.value
    box.sliders["bx"].value = 32
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert 'alt="block of 32"' in box.image.value
    box.close()


def test_a_picture_is_grey_until_the_one_of_the_new_position_is_drawn(front_door, wait_s):
    drawn, gate = [], threading.Event()

    def picture(result):
        drawn.append(result.block[0])
        assert len(drawn) == 1 or gate.wait(wait_s)
        return bars({"x": result.block[0]}, unit="threads"), f"block of {result.block[0]}"

    box = live("sgemm_naive", N=64, picture=picture)
    assert waiting.STALE not in box.image.value
    box.sliders["bx"].value = 32
    assert box.image.value.startswith(waiting.STALE)
    assert 'alt="block of 16"' in box.image.value, "the old one can still be seen, and is hidden from screen readers"
    gate.set()
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert waiting.STALE not in box.image.value
    assert 'alt="block of 32"' in box.image.value
    box.sliders["bx"].value = 16
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert waiting.STALE not in box.image.value
    box.close()


def test_the_numbers_of_the_move_before_are_grey_while_a_run_goes_on(front_door, monkeypatch, wait_s):
    box, gate = live("sgemm_naive", N=64), threading.Event()
    assert waiting.STALE_NOW not in box.table.value
    quick = compute.run
    monkeypatch.setattr(compute, "run", lambda *given, **options: gate.wait(wait_s) and quick(*given, **options))
    box.sliders["bx"].value = 32
    assert box.table.value.startswith(waiting.STALE_NOW), "the column of the old numbers is grey"
    assert "256 × 16" in box.table.value
    box.sliders["by"].value = 8
    assert box.table.value.count(waiting.STALE_NOW) == 1, "a second move while it runs greys nothing twice"
    gate.set()
    assert box.engine.settle(wait_s)
    assert waiting.STALE_NOW not in box.table.value
    box.sliders["by"].value = 16
    box.sliders["bx"].value = 16
    assert waiting.STALE_NOW not in box.table.value, "known already: nothing has to be waited for"
    assert "aria-busy" not in box.static_html()
    box.close()


def test_without_a_front_end_the_first_table_is_there(tiled):
    bundle = tiled._repr_mimebundle_()
    assert "<table" in bundle["text/html"]
    assert "run this cell" in bundle["text/plain"]
    assert "256 × 16" in bundle["text/plain"]


def test_every_control_has_a_name_and_a_tooltip(tiled):
    for control in (*tiled.sliders.values(), tiled.size, tiled.tied):
        assert control.description
        assert control.tooltip


def test_the_players_next_steps_are_drawn_once_it_is_seen(wait_s, monkeypatch):
    drawn = []
    box = player(5, lambda i: drawn.append(i) or bars({"step": i}, unit="u"), lambda i: f"step {i}", start=1)
    assert box.engine.settle(wait_s)
    assert drawn == [1], "nobody looks"
    monkeypatch.setattr(box.engine, "_ahead_below_s", float("inf"))       # also on a machine so busy that one drawing takes long
    monkeypatch.setattr(box.engine, "_slow", False)
    box._view_count = 1
    assert box.engine.settle(wait_s)
    assert drawn == [1, 2, 3, 0]
    assert 'alt="step 1"' in box.image.value
    box.close()


def test_the_player_steps_and_stops_at_the_ends(wait_s):
    drawn = []
    box = player(3, lambda i: drawn.append(i) or bars({"step": i}, unit="u"), lambda i: f"step {i}")
    assert 'alt="step 0"' in box.image.value
    box.back.click()
    assert box.step.value == 0
    box.on.click()
    assert box.engine.settle(wait_s)
    assert 'alt="step 1"' in box.image.value
    box.on.click()
    box.on.click()
    assert box.step.value == 2
    assert box.engine.settle(wait_s)
    assert sorted(drawn) == [0, 1, 2]
    assert "First: step 0" in box._repr_mimebundle_()["text/plain"]
    box.close()


@pytest.fixture
def translated(monkeypatch):
    """Return what another process was asked to translate."""
    found = []
    monkeypatch.setattr(sliders, "translate_ahead", lambda kernel, parameters, given_up: found.append((kernel, parameters)) or True)
    return found


def test_who_sees_the_sliders_has_the_neighbours_computed(front_door, translated, wait_s):
    box = live("sgemm_tiled", sliders={"BM": (8, 16, 32)}, start={"BM": 16, "BN": 16, "BK": 16, "lda": 4}, N=64)
    assert box.engine.settle(wait_s)
    assert len(front_door) == 1
    assert translated == [], "nobody looks"
    assert box._view_count == 0, "the front end is asked to count"
    box._view_count = 1                                    # as a front end does when it shows the widget
    assert box.engine.settle(wait_s)
    assert [asked["BM"] for _, asked in translated] == [32, 8]
    assert all(set(asked) == {"BM", "BN", "BK"} for _, asked in translated), "padding is no parameter"
    assert len(front_door) == 3
    box.sliders["BM"].value = 32
    assert "known already" in box.status.value
    box.close()


def test_without_a_reader_no_process_is_started(tiled, translated, wait_s):
    tiled.sliders["BM"].value = 32
    assert tiled.engine.settle(wait_s)
    assert translated == []


def test_a_start_that_cannot_run_shows_its_picture_once_it_can(front_door, wait_s):
    box = live("sgemm_naive", sliders={"bx": (32, 64)}, start={"bx": 64, "by": 32}, N=64,
               picture=lambda result: (bars({"bx": result.parameters["bx"]}, unit="threads"), "bx"))
    assert "cannot run" in box.static_html()
    assert box.image.value == ""
    box.sliders["bx"].value = 32
    assert box.engine.settle(wait_s)
    assert box.drawings.settle(wait_s)
    assert "<img" in box.image.value
    box.sliders["bx"].value = 64
    assert box.engine.settle(wait_s)
    assert "cannot run" in box.static_html(), "and not the numbers of the position before"
    box.close()
