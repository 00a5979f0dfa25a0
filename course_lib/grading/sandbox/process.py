"""A sandbox at work: send a request, read the answer, never longer and never more than was agreed; end it."""

import contextlib
import fcntl
import os
import select
import signal
import time
from collections.abc import Callable, Sequence

from course_lib.grading.sandbox import bubblewrap, replies, wire

STARTS = 60                 # seconds; a usual start takes less than one
_PIECE = 1 << 20


class SandboxProcess:
    """A process in a sandbox.

    Parameters
    ----------
    command, environment
        From `bubblewrap.for_kernels` or `for_answers`.
    processes
        Whether it may make further processes.
    """

    def __init__(self, command: Sequence[str], environment: dict[str, str] | None, processes: bool):
        self.process = bubblewrap.start(command, environment, processes)
        stdin, stdout, stderr = self.process.stdin, self.process.stdout, self.process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise AssertionError("`bubblewrap.start` makes all three pipes")
        self.pipes, self.input, self.output = (stdin, stdout, stderr), stdin.fileno(), stdout.fileno()
        for number in (self.input, self.output):
            os.set_blocking(number, False)
            with contextlib.suppress(OSError):       # beyond what this machine allows; then it takes more turns
                fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, _PIECE)
        self.unread = b""        # what came out of the pipe and nobody has asked for yet

    def close_input(self) -> None:
        """Tell it that nothing more will be sent."""
        self.pipes[0].close()

    def close(self) -> None:
        """End all that runs in it: bubblewrap's first process takes the others with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in self.pipes:
            pipe.close()
        self.process.wait()

    def expect_start(self, read: Callable[[float], dict]) -> None:
        """Wait for the first message, by `read(deadline)`; what goes wrong before is nobody's but this machine's fault.

        Raises
        ------
        NoSandbox
            With the last line that the sandbox wrote.
        """
        try:
            first = read(time.monotonic() + STARTS)
        except replies.Ended as error:
            stderr = self.pipes[2]
            os.set_blocking(stderr.fileno(), False)
            said = (stderr.read(2000) or b"").decode(errors="replace").strip().splitlines()
            self.close()
            raise NoSandbox(f"the sandbox does not start: {said[-1][:300] if said else error}") from None
        if first != {"ready": 1}:
            self.close()
            raise NoSandbox("the sandbox does not start: it does not say that it is ready")

    def send(self, data: bytes, deadline: float) -> None:
        """Write bytes."""
        view = memoryview(data)
        while view:
            self._wait(self.input, select.POLLOUT, deadline)
            try:
                view = view[os.write(self.input, view[:_PIECE]):]
            except BrokenPipeError:
                raise self._ended() from None

    def read(self, count: int, deadline: float) -> bytes:
        """Read exactly so many bytes."""
        pieces, have = [self.unread[:count]], len(self.unread[:count])
        self.unread = self.unread[count:]
        while have < count:
            piece = self._piece(min(_PIECE, count - have), deadline)
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def message(self, raw: int, most: int, deadline: float) -> tuple[dict, bytes]:
        """Read a message; return it as a dict, and the bytes behind it: none, or `raw` of them."""
        text, size = wire.HEAD.unpack(self.read(wire.HEAD.size, deadline))
        replies.validated(text, text <= most)
        replies.validated(size, size in (0, raw))
        told = replies.message(self.read(text, deadline))
        return told, self.read(size, deadline)

    def line(self, most: int, deadline: float) -> dict:
        """Read a line of JSON, of at most so many bytes."""
        while b"\n" not in self.unread:
            replies.validated(self.unread, len(self.unread) <= most)
            self.unread += self._piece(1 << 16, deadline)
        line, _, self.unread = self.unread.partition(b"\n")
        return replies.message(replies.validated(line, len(line) <= most))

    def _piece(self, most, deadline):
        self._wait(self.output, select.POLLIN, deadline)
        piece = os.read(self.output, most)
        if not piece:
            raise self._ended()
        return piece

    def _wait(self, number, event, deadline):
        poll = select.poll()
        poll.register(number, event)
        if not poll.poll(max(0, deadline - time.monotonic()) * 1000):
            raise TookTooLong("it takes longer than grading allows")

    @staticmethod
    def _ended():
        return replies.Ended("it ended before it had a result: it needs more memory than grading allows, or ends the process it runs in")


class NoSandbox(Exception):
    """The sandbox does not start. No `CourseError` either: no check may take it for something about an answer."""


class TookTooLong(replies.Ended):
    """The time is over."""
