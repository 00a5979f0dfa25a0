"""A process of the lowest priority that does orders, one after the other, while the reader thinks.

All that it makes lies on the disk afterwards, where whoever needs it finds it: nothing else depends on the process. A thread would
hold Python's lock when the reader moves on; a process of low priority takes what nobody else wants of the cores. It is started when
something is to be done and ended soon after there is nothing; it ends by itself when the reader's kernel does.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

LINGER_S = 20.0                 # of an idle process: a new one needs half a second of a core
POLL_S = 0.1                    # how often a thread that waits its turn asks whether it still should
NICE = 19                       # the lowest priority
LIBRARY = str(Path(__file__).resolve().parents[2])


class Helper:
    """A process that does one order at a time; safe to use from several threads.

    Parameters
    ----------
    module
        Its function `carried_out(order)` does an order and returns whether that worked.
    """

    def __init__(self, module: str):
        self._module, self._turn, self._closed = module, threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None

    def do(self, order: dict[str, Any], given_up: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the process has done an order.

        Parameters
        ----------
        order
            JSON values.
        given_up
            Asked while others have their turn.

        Returns
        -------
        Whether it is done. False too where no process can be started.
        """
        while not self._turn.acquire(timeout=POLL_S):
            if given_up():
                return False
        try:
            return not given_up() and self._ask(order)
        finally:
            self._turn.release()

    def _ask(self, order):
        if self._timer:
            self._timer.cancel()
        answer = b""
        for _ in range(2):                          # the second time: the process had ended meanwhile
            process = None if self._closed else self._started()
            if process is None:
                return False
            try:
                answer = _exchange(process, json.dumps(order).encode() + b"\n")
            except (OSError, ValueError):           # ValueError: closed by `end` while this thread was reading
                answer = b""
            if answer:
                break
            self.end()
        self._timer = threading.Timer(LINGER_S, self._rest)
        self._timer.daemon = True
        self._timer.start()
        return answer == b"true\n"

    def _started(self):
        """Return the process, started if there is none; None where it cannot be."""
        if self._process is None and sys.executable:
            path = os.pathsep.join(filter(None, [LIBRARY, os.environ.get("PYTHONPATH")]))
            environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            # -P: a reader's numpy.py in the working folder is not taken. Unbuffered: no lock that an ending interpreter could wait for.
            try:
                command = [sys.executable, "-P", "-c", f"from {__name__} import serve; serve({self._module!r}, {NICE})"]
                self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                                 bufsize=0, env=environment, **_quiet())
            except OSError:
                return None
        return self._process

    def _rest(self):
        if self._turn.acquire(blocking=False):
            try:
                self.end()
            finally:
                self._turn.release()

    def end(self) -> None:
        """End the process now, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()

    def close(self) -> None:
        """End the process and start no other."""
        self._closed = True
        if self._timer:
            self._timer.cancel()
        self.end()


def _quiet():
    """Return what Windows is told at the start of a process: the lowest priority, and no window."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.IDLE_PRIORITY_CLASS | subprocess.CREATE_NO_WINDOW}
    return {}


def _exchange(process, line):
    """Write a line to a process and return the line that it answers, empty when it has ended."""
    process.stdin.write(line)
    return process.stdout.readline()


def serve(module: str, niceness: int = NICE) -> None:
    """Do the orders on standard input, a line of JSON each, and answer each with true or false."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)    # a reader who interrupts a cell means the cell
    if hasattr(os, "nice"):
        os.nice(niceness)
    carried_out = importlib.import_module(module).carried_out
    for line in sys.stdin:
        answer = json.dumps(bool(carried_out(json.loads(line))))
        try:
            print(answer, flush=True)
        except OSError:                             # nobody listens any more
            os._exit(0)
