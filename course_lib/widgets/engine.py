"""Run what the latest slider position asks for, never a queue of stale ones; pure Python, no widgets.

A run cannot be stopped, so two threads work for the reader: when the reader moves on while one of them runs, the other
takes the new position, and what the first one finds is remembered but not shown. Requests that come while both run overwrite
each other. When nothing waits, a third thread computes the neighbouring positions, so that the next move finds its
result in the cache; what is slow about them may be done elsewhere first, by a process that is in nobody's way.
"""

import contextlib
import functools
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from course_lib.errors import CourseError

Position = tuple[Any, ...]      # hashable
GivenUp = Callable[[], bool]

POLL_S = 0.25                   # how often a thread that waits for another engine asks whether it still should


@dataclass(frozen=True)
class Outcome:
    """What one position gave: a value, or the error that explains why there is none.

    `seconds` is the computing time, `cached` whether it was known before it was asked for.
    """

    position: Position
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0
    cached: bool = False


class Engine:
    """Computes positions in the background; the latest request wins.

    Parameters
    ----------
    compute
        Returns the value at a position. A `CourseError` becomes an Outcome and is remembered; any other exception
        becomes an Outcome and is not.
    deliver
        Called with the answer to the latest request only, from a background thread, or at once from the caller's
        when it is known.
    neighbours
        The positions to compute ahead when idle.
    capacity
        Results remembered; the least recently used is forgotten first.
    idle_s
        How long the reader must rest before neighbours are computed.
    ahead_below_s
        Neighbours of a position that took longer are left alone: they would keep all cores from the reader's next move.
        Unless `prepare` has done what takes long.
    prepare
        Does elsewhere what is slow about a neighbour before it is computed here, and says whether it did. It waits for that without
        Python's lock, and may stop waiting when `given_up()`: the reader has moved on.
    """

    def __init__(self, compute: Callable[[Any], Any], deliver: Callable[[Outcome], None], *,
                 neighbours: Callable[[Any], Iterable[Position]] | None = None, capacity: int = 64, idle_s: float = 0.15,
                 ahead_below_s: float = 0.4, prepare: Callable[[Any, GivenUp], bool] | None = None) -> None:
        self._compute, self._deliver, self._neighbours, self._prepare = compute, deliver, neighbours, prepare
        self._capacity, self._idle_s, self._ahead_below_s = capacity, idle_s, ahead_below_s
        self._cache: OrderedDict[Position, Outcome] = OrderedDict()
        self._changed = threading.Condition()         # guards everything below
        self._delivering = threading.RLock()          # one delivery at a time; never waited for under _changed
        self._serial, self._answered = 0, 0           # number of the latest request, and of the latest answer
        self._waiting: Position | None = None         # the latest position, until a thread takes it
        self._computing: set[Position] = set()        # positions that some thread is at
        self._ahead: list[Position] = []              # neighbours to come
        self._slow, self._preparing = False, False    # whether neighbours take long; whether one is prepared
        self._threads: list[threading.Thread] = []
        self._active, self._closed = 0, False

    def request(self, position: Position) -> bool:
        """Ask for a position; what was asked for before and has not been answered never will be.

        Returns whether the answer was known, and has been delivered.
        """
        with self._changed:
            self._serial += 1
            serial, known = self._serial, self._recall(position)
            self._waiting = None if known else position
            self._aim(known)
            self._start()
            self._changed.notify_all()
        if known:
            self._hand_over(replace(known, cached=True), serial)
        return known is not None

    def now(self, position: Position) -> Outcome:
        """Compute a position in the caller's thread, or recall it, without delivering it."""
        with self._changed:
            known = self._claim(position)
        return known or self._evaluate(position)

    def look_around(self, position: Position) -> None:
        """Begin with the neighbours of a position that is known, as if the reader had just moved there."""
        with self._changed:
            if not self.busy() and self._recall(position):
                self._aim(self._recall(position))
                self._start()
                self._changed.notify_all()

    def wait_for(self, position: Position, given_up: GivenUp = lambda: False) -> bool:
        """Wait until a position is known, as long as it may become so; return whether it is."""
        with self._changed:
            while not (position in self._cache or given_up() or self._idle()):
                self._changed.wait(POLL_S)
            return position in self._cache

    def busy(self) -> bool:
        """Return whether the latest request is still unanswered."""
        with self._changed:
            return self._answered != self._serial

    def known(self, position: Position) -> bool:
        """Return whether a position would be answered at once."""
        with self._changed:
            return position in self._cache

    def settle(self, timeout_s: float = 30.0) -> bool:
        """Wait until the latest request is answered and all neighbours are known; return whether they are."""
        with self._changed:
            return self._changed.wait_for(self._idle, timeout_s)

    def _asked(self):
        """Return whether there is a request that no thread has taken, or no more work to do at all."""
        return self._closed or self._waiting is not None

    def _overtaken(self, serial):
        return self._closed or serial != self._serial

    def _idle(self):
        return self._closed or self._waiting is None and not (self._active or self._ahead or self._computing or self._preparing)

    def close(self) -> None:
        """Stop all threads after what they are doing now."""
        with self._changed:
            self._closed, self._waiting, self._ahead = True, None, []
            self._changed.notify_all()

    def _start(self):
        if not self._threads and not self._closed:
            for work in (self._serve, self._serve, self._look_ahead):
                self._threads.append(threading.Thread(target=work, daemon=True, name="warp-by-warp " + work.__name__))
                self._threads[-1].start()

    def _recall(self, position):
        if position in self._cache:
            self._cache.move_to_end(position)
        return self._cache.get(position)

    def _claim(self, position, given_up=lambda: False):
        """Return what is known; else wait until no other thread computes it, and say that this one does now."""
        self._changed.wait_for(lambda: position not in self._computing or given_up())
        known = self._recall(position)
        if known is None and not given_up():
            self._computing.add(position)
        return known

    def _evaluate(self, position):
        """Compute a claimed position, remember the outcome, and release it."""
        started = time.perf_counter()
        try:
            outcome, keep = Outcome(position, self._compute(position)), True
        except Exception as error:   # shown to the reader, whatever it is: a thread must not die in silence
            outcome, keep = Outcome(position, error=error), isinstance(error, CourseError)
        outcome = replace(outcome, seconds=time.perf_counter() - started)
        with self._changed:
            if keep:
                self._cache[position] = outcome
            while len(self._cache) > self._capacity:
                self._cache.popitem(last=False)
            self._computing.discard(position)
            self._changed.notify_all()
        return outcome

    def _hand_over(self, outcome, serial):
        with self._delivering:
            if serial != self._serial:               # overtaken
                return
            with self._changed:
                self._answered = max(self._answered, serial)
            try:
                self._deliver(outcome)
            except Exception:                        # the next move must still be served
                logging.getLogger(__name__).exception("could not show the result for %s", outcome.position)

    def _aim(self, outcome):
        """Choose what to compute ahead: the unknown neighbours of an answer, or nothing while there is none."""
        self._ahead = []
        if outcome is None or self._neighbours is None:
            return
        self._slow = outcome.seconds > self._ahead_below_s
        if self._prepare or not self._slow:
            self._ahead = [p for p in self._neighbours(outcome.position) if p not in self._cache]

    def _serve(self):
        while True:
            with self._changed:
                self._changed.wait_for(self._asked)
                if self._closed:
                    return
                position, serial, self._waiting = self._waiting, self._serial, None
                self._active += 1
                known = self._claim(position, given_up=lambda serial=serial: serial != self._serial)
                overtaken = serial != self._serial
            outcome = known or (None if overtaken else self._evaluate(position))
            if outcome:
                self._hand_over(outcome, serial)
            with self._changed:
                self._active -= 1
                if outcome and serial == self._serial:
                    self._aim(outcome)
                self._changed.notify_all()

    def _look_ahead(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or bool(self._ahead))
                if self._closed:
                    return
                moved = self._changed.wait_for(self._asked, self._idle_s)
                if moved or not self._ahead:
                    continue
                position, serial, self._preparing = self._ahead.pop(0), self._serial, True
            ready = self._made_ready(position, functools.partial(self._overtaken, serial))
            with self._changed:
                self._preparing = False
                wanted = ready and serial == self._serial and position not in self._computing and position not in self._cache
                if wanted:
                    self._computing.add(position)
                self._changed.notify_all()
            if wanted:
                self._evaluate(position)

    def _made_ready(self, position, given_up):
        """Return whether a neighbour can be computed without being in the reader's way."""
        if self._prepare is None or self.known(position):
            return True
        ready = False
        with contextlib.suppress(Exception):         # the reader's own move will show what is wrong
            ready = self._prepare(position, given_up)
        return ready or not self._slow
