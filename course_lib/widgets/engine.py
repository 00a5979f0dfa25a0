"""Run what the latest slider position asks for, never a queue of stale ones; pure Python, no widgets.

One thread works for the reader. While it runs, newer requests overwrite each other, so that at most one waits.
When nothing waits, a second thread computes the neighbouring positions, so that the next move finds its result
in the cache.
"""

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from course_lib.errors import CourseError


@dataclass(frozen=True)
class Outcome:
    """What one position gave: a value, or the error that explains why there is none.

    `seconds` is the computing time, `cached` whether it was known before it was asked for.
    """

    position: tuple
    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0
    cached: bool = False


class Engine:
    """Computes positions in the background; the latest request wins.

    Parameters
    ----------
    compute : callable(position) -> value
        A position is a hashable tuple. A `CourseError` becomes an Outcome and is remembered; any other exception
        becomes an Outcome and is not.
    deliver : callable(Outcome)
        Called with the answer to the latest request only, from a background thread, or at once from the caller's
        when it is known.
    neighbours : callable(position) -> positions, optional
        What to compute ahead when idle.
    capacity : int
        Results kept; the least recently used is forgotten first.
    idle_s : float
        How long the reader must rest before neighbours are computed.
    """

    def __init__(self, compute, deliver, *, neighbours=None, capacity=64, idle_s=0.15):
        self._compute, self._deliver, self._neighbours = compute, deliver, neighbours
        self._capacity, self._idle_s = capacity, idle_s
        self._cache = OrderedDict()
        self._changed = threading.Condition()
        self._delivering = threading.RLock()
        self._latest, self._waiting, self._running, self._ahead, self._ahead_now = None, None, None, [], None
        self._threads, self._closed, self._serial = [], False, 0

    def request(self, position):
        """Ask for a position; what was asked for before and has not been answered never will be.

        Returns
        -------
        bool
            Whether the answer was known, and has been delivered.
        """
        with self._changed:
            self._serial += 1
            known = self._recall(position)
            self._latest, self._waiting = position, None if known else position
            self._ahead = self._unknown_neighbours(position) if known else []
            self._start()
            self._changed.notify_all()
            serial = self._serial
        if known:
            self._hand_over(Outcome(position, known.value, known.error, known.seconds, True), serial)
        return known is not None

    def now(self, position):
        """Compute a position in the caller's thread, or recall it, without delivering it."""
        with self._changed:
            self._changed.wait_for(lambda: position not in (self._running, self._ahead_now))   # do not compute it twice
            known = self._recall(position)
        return known or self._evaluate(position)

    def busy(self):
        """Return whether the latest request is still unanswered."""
        with self._changed:
            return self._waiting is not None or self._running == self._latest is not None

    def known(self, position):
        """Return whether a position would be answered at once."""
        with self._changed:
            return position in self._cache

    def settle(self, timeout_s=30.0):
        """Wait until the latest request is answered and all neighbours are known; return whether they are."""
        with self._changed:
            return self._changed.wait_for(self._idle, timeout_s)

    def close(self):
        """Stop both threads after what they are doing now."""
        with self._changed:
            self._closed, self._waiting, self._ahead = True, None, []
            self._changed.notify_all()

    def _idle(self):
        return self._waiting is None and self._running is None and not self._ahead and self._ahead_now is None

    def _unknown_neighbours(self, position):
        near = self._neighbours(position) if self._neighbours else ()
        return [p for p in near if p not in self._cache]

    def _recall(self, position):
        if position in self._cache:
            self._cache.move_to_end(position)
            return self._cache[position]
        return None

    def _start(self):
        if not self._threads and not self._closed:
            for work in (self._serve, self._look_ahead):
                self._threads.append(threading.Thread(target=work, daemon=True, name="warp-by-warp " + work.__name__))
                self._threads[-1].start()

    def _evaluate(self, position):
        started = time.perf_counter()
        try:
            outcome, keep = Outcome(position, self._compute(position)), True
        except Exception as error:   # shown to the reader, whatever it is: a thread must not die in silence
            outcome, keep = Outcome(position, error=error), isinstance(error, CourseError)
        outcome = Outcome(position, outcome.value, outcome.error, time.perf_counter() - started)
        if keep:
            with self._changed:
                self._cache[position] = outcome
                while len(self._cache) > self._capacity:
                    self._cache.popitem(last=False)
        return outcome

    def _hand_over(self, outcome, serial):
        with self._delivering:                       # one at a time, and never an old one after a newer one
            if serial == self._serial:
                try:
                    self._deliver(outcome)
                except Exception:                    # the next move must still be served
                    logging.getLogger(__name__).exception("could not show the result for %s", outcome.position)

    def _serve(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._waiting is not None)
                if self._closed:
                    return
                self._running, self._waiting, serial = self._waiting, None, self._serial
                if self._running == self._ahead_now:             # being computed ahead already: take that
                    self._changed.wait_for(lambda: self._ahead_now != self._running or self._waiting is not None)
                outcome = self._recall(self._running)
            if serial == self._serial:
                outcome = outcome or self._evaluate(self._running)
                self._hand_over(outcome, serial)
            with self._changed:
                self._running = None
                if self._waiting is None and outcome and outcome.position == self._latest:
                    self._ahead = self._unknown_neighbours(outcome.position)
                self._changed.notify_all()

    def _look_ahead(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._ahead)
                if self._closed:
                    return
                moved = self._changed.wait_for(lambda: self._closed or self._waiting is not None, self._idle_s)
                if moved or not self._ahead:
                    continue
                self._ahead_now = self._ahead.pop(0)
                if self._ahead_now in self._cache:
                    self._ahead_now = None
                    self._changed.notify_all()
                    continue
            self._evaluate(self._ahead_now)
            with self._changed:
                self._ahead_now = None
                self._changed.notify_all()
