"""Latest wins, nothing queues, what is known is answered at once, neighbours are ready before they are asked for."""

import threading

import pytest

from course_lib.errors import CourseError
from course_lib.widgets.engine import Engine

WAIT = 10.0


class Slow:
    """A computation that finishes when told to, and remembers what it was asked."""

    def __init__(self, hold=()):
        self.asked, self.started = [], {}
        self.gates = {p: threading.Event() for p in hold}
        self.begun = {p: threading.Event() for p in hold}

    def __call__(self, position):
        self.asked.append(position)
        if position in self.gates:
            self.begun[position].set()
            assert self.gates[position].wait(WAIT)
        return position[0] * 10


@pytest.fixture
def make():
    engines = []

    def build(compute, **options):
        seen = []
        engine = Engine(compute, seen.append, idle_s=0.0, **options)
        engines.append(engine)
        return engine, seen

    yield build
    for engine in engines:
        engine.close()


def test_a_request_is_answered_in_the_background(make):
    engine, seen = make(Slow())
    assert engine.request((1,)) is False
    assert engine.settle(WAIT)
    assert [(o.position, o.value, o.cached) for o in seen] == [((1,), 10, False)]


def test_the_caller_is_never_blocked_and_only_the_latest_is_answered(make):
    slow = Slow(hold=[(1,), (2,)])
    engine, seen = make(slow)
    for n in (1, 2):
        engine.request((n,))
        assert slow.begun[(n,)].wait(WAIT)
    for n in (3, 4, 5):
        engine.request((n,))
    assert engine.busy()
    slow.gates[(1,)].set()
    slow.gates[(2,)].set()
    assert engine.settle(WAIT)
    assert slow.asked == [(1,), (2,), (5,)]
    assert [o.position for o in seen] == [(5,)]
    assert not engine.busy()


def test_a_run_that_cannot_be_stopped_does_not_hold_up_the_next_move(make):
    slow = Slow(hold=[(1,)])
    answered = threading.Event()
    engine = Engine(slow, lambda outcome: answered.set())
    engine.request((1,))
    assert slow.begun[(1,)].wait(WAIT)
    engine.request((2,))
    assert answered.wait(WAIT)                 # while (1,) still runs
    assert not engine.busy()
    slow.gates[(1,)].set()
    assert engine.settle(WAIT)
    engine.close()


def test_neighbours_of_a_slow_position_are_left_alone():
    slow = Slow()
    engine = Engine(slow, lambda outcome: None, neighbours=lambda p: [(9,)], idle_s=0.0, ahead_below_s=-1.0)
    engine.request((1,))
    assert engine.settle(WAIT)
    assert slow.asked == [(1,)]
    engine.close()


def test_the_result_of_an_overtaken_run_is_kept(make):
    slow = Slow(hold=[(1,)])
    engine, seen = make(slow)
    engine.request((1,))
    assert slow.begun[(1,)].wait(WAIT)
    engine.request((2,))
    slow.gates[(1,)].set()
    assert engine.settle(WAIT)
    assert engine.request((1,)) is True
    assert seen[-1].position == (1,)
    assert seen[-1].cached
    assert slow.asked.count((1,)) == 1


def test_a_known_position_is_answered_in_the_call_even_while_another_runs(make):
    slow = Slow(hold=[(2,)])
    engine, seen = make(slow)
    engine.request((1,))
    engine.settle(WAIT)
    engine.request((2,))
    assert slow.begun[(2,)].wait(WAIT)
    assert engine.request((1,)) is True
    assert seen[-1].position == (1,)
    slow.gates[(2,)].set()
    assert engine.settle(WAIT)
    assert [o.position for o in seen] == [(1,), (1,)]


def test_neighbours_are_computed_ahead(make):
    slow = Slow()
    engine, seen = make(slow, neighbours=lambda p: [(p[0] - 1,), (p[0] + 1,)])
    engine.request((5,))
    assert engine.settle(WAIT)
    assert sorted(slow.asked) == [(4,), (5,), (6,)]
    assert len(seen) == 1
    assert engine.request((6,)) is True
    assert engine.settle(WAIT)
    assert engine.known((7,))


def test_a_request_for_what_is_computed_ahead_waits_for_that(make):
    slow = Slow(hold=[(6,)])
    engine, seen = make(slow, neighbours=lambda p: [(6,)] if p == (5,) else [])
    engine.request((5,))
    assert slow.begun[(6,)].wait(WAIT)
    engine.request((6,))
    slow.gates[(6,)].set()
    assert engine.settle(WAIT)
    assert seen[-1].position == (6,)
    assert slow.asked.count((6,)) == 1


def test_an_explained_error_is_an_answer_and_is_remembered(make):
    asked = []

    def compute(position):
        asked.append(position)
        raise CourseError("4096 threads a block, but at most 1024 are allowed")

    engine, seen = make(compute)
    engine.request((64,))
    assert engine.settle(WAIT)
    assert "at most 1024" in str(seen[0].error)
    assert engine.request((64,)) is True
    assert len(asked) == 1


def test_an_unexpected_error_is_shown_and_the_next_move_is_served(make):
    def compute(position):
        if position == (1,):
            raise ZeroDivisionError("by hand")
        return "fine"

    engine, seen = make(compute)
    engine.request((1,))
    assert engine.settle(WAIT)
    assert isinstance(seen[0].error, ZeroDivisionError)
    assert not engine.known((1,))
    engine.request((2,))
    assert engine.settle(WAIT)
    assert seen[1].value == "fine"


def test_a_failing_display_does_not_stop_the_engine(make, caplog):
    shown = []

    def deliver(outcome):
        if outcome.position == (1,):
            raise RuntimeError("the front end is gone")
        shown.append(outcome.position)

    engine = Engine(Slow(), deliver, idle_s=0.0)
    engine.request((1,))
    assert engine.settle(WAIT)
    engine.request((2,))
    assert engine.settle(WAIT)
    engine.close()
    assert shown == [(2,)]
    assert "could not show" in caplog.text


def test_the_oldest_result_is_forgotten(make):
    engine, _ = make(Slow(), capacity=2)
    for n in (1, 2, 1, 3):
        engine.request((n,))
        assert engine.settle(WAIT)
    assert engine.known((1,))
    assert engine.known((3,))
    assert not engine.known((2,))


def test_now_computes_in_the_callers_thread(make):
    engine, seen = make(lambda position: threading.get_ident())
    assert engine.now((1,)).value == threading.get_ident()
    assert engine.known((1,))
    assert not seen


# -- what is prepared elsewhere ------------------------------------------------------------------------------------------
def test_neighbours_of_a_slow_position_are_computed_once_they_are_prepared(make):
    slow, prepared = Slow(), []

    def prepare(position, given_up):
        prepared.append((position, list(slow.asked)))
        return True

    engine, seen = make(slow, neighbours=lambda p: [(8,), (9,)], ahead_below_s=-1.0, prepare=prepare)
    engine.request((1,))
    assert engine.settle(WAIT)
    assert prepared == [((8,), [(1,)]), ((9,), [(1,), (8,)])], "each before it is computed"
    assert slow.asked == [(1,), (8,), (9,)]
    assert engine.request((9,))
    assert [o.position for o in seen] == [(1,), (9,)]


def test_what_is_known_is_not_prepared(make):
    prepared = []
    engine, _ = make(Slow(), neighbours=lambda p: [(2,)], prepare=lambda p, given_up: prepared.append(p) or True)
    engine.now((2,))
    engine.request((1,))
    assert engine.settle(WAIT)
    assert prepared == []


def broken(position, given_up):
    raise RuntimeError("no")


@pytest.mark.parametrize("prepare", [lambda position, given_up: False, broken])
@pytest.mark.parametrize(("ahead_below_s", "asked"), [(-1.0, [(1,)]), (WAIT, [(1,), (9,)])])
def test_what_could_not_be_prepared_is_computed_only_where_it_is_quick(make, prepare, ahead_below_s, asked):
    slow = Slow()
    engine, _ = make(slow, neighbours=lambda p: [(9,)] if p == (1,) else [], ahead_below_s=ahead_below_s, prepare=prepare)
    for _ in range(2):                                    # the thread has not died of it
        engine.request((1,))
        assert engine.settle(WAIT)
    assert slow.asked == asked


def test_a_move_gives_up_what_is_being_prepared(make):
    slow, begun, moved = Slow(), threading.Event(), threading.Event()
    prepared = []

    def prepare(position, given_up):
        prepared.append(position)
        if position == (8,):
            assert not given_up()
            begun.set()
            assert moved.wait(WAIT)
            assert given_up()
        return True

    engine, seen = make(slow, neighbours=lambda p: [(8,), (9,)] if p == (1,) else [(5,)], prepare=prepare)
    engine.request((1,))
    assert begun.wait(WAIT)
    engine.request((2,))
    assert engine.wait_for((2,)), "the move does not wait for it"
    moved.set()
    assert engine.settle(WAIT)
    assert prepared == [(8,), (5,)], "(9,) is no neighbour of where the reader is now"
    assert slow.asked == [(1,), (2,), (5,)]
    assert [o.position for o in seen] == [(1,), (2,)]


def test_one_can_look_around_before_the_first_move(make):
    slow = Slow()
    engine, seen = make(slow, neighbours=lambda p: [(p[0] + 1,)])
    engine.look_around((1,))
    assert engine.settle(WAIT)
    assert slow.asked == [], "the position itself is not known"
    engine.now((1,))
    engine.look_around((1,))
    assert engine.settle(WAIT)
    assert slow.asked == [(1,), (2,)]
    assert seen == []


def test_waiting_for_a_position(make):
    slow = Slow(hold=[(2,)])
    engine, _ = make(slow, neighbours=lambda p: [(2,)] if p == (1,) else [])
    assert not engine.wait_for((1,)), "nobody is at it"
    engine.request((1,))
    assert slow.begun[(2,)].wait(WAIT)
    assert not engine.wait_for((2,), given_up=lambda: True)
    threading.Timer(0.05, slow.gates[(2,)].set).start()
    assert engine.wait_for((2,))
