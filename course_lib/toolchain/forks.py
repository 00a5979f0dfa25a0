"""Work during which this process does not fork.

A forked child has only the thread that forked. What another thread was doing is never finished there: a lock that it held in the
compiler, or a module that it was importing, stays taken, and the child would wait for it for ever.
"""

import contextlib
import os
import threading


class NoFork:
    """Lets any number of threads work, and a fork only when none does; `with NO_FORK:` around the work."""

    def __init__(self):
        self._changed, self._at_work = threading.Condition(), 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._wait, after_in_parent=self._changed.release, after_in_child=self._changed.release)

    def __enter__(self):
        with self._changed:
            self._at_work += 1

    def __exit__(self, *_):
        with self._changed:
            self._at_work -= 1
            self._changed.notify_all()

    def _wait(self):
        """Take the lock when nobody works; work that would begin now waits until the fork is over."""
        self._changed.acquire()
        with contextlib.suppress(KeyboardInterrupt):      # a hook's error is printed and ignored, and the lock must be held
            self._changed.wait_for(lambda: not self._at_work)


NO_FORK = NoFork()
