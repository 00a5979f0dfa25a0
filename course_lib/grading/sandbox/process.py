"""A sandbox at work: send a request, read the answer, never longer and never more than was agreed; end it."""

import contextlib
import fcntl
import os
import select
import signal
import time

from course_lib.grading.sandbox import bubblewrap, replies, wire

STARTS = 60                 # seconds; a usual start takes less than one
_PIECE = 1 << 20


class Room:
    """A process in a sandbox.

    Parameters
    ----------
    command, environment
        From `bubblewrap.for_kernels` or `for_answers`.
    processes : bool
        Whether it may make further processes.
    """

    def __init__(self, command, environment, processes):
        self.process = bubblewrap.start(command, environment, processes)
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        for number in (self.input, self.output):
            os.set_blocking(number, False)
            with contextlib.suppress(OSError):       # beyond what this machine allows; then it takes more turns
                fcntl.fcntl(number, fcntl.F_SETPIPE_SZ, _PIECE)
        self.kept = b""          # what was read and not yet asked for

    def close(self):
        """End all that runs in it: bubblewrap's first process takes the others with it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()
        self.process.wait()

    def expect_start(self, read):
        """Wait for the first message, by `read(deadline)`; what goes wrong before is nobody's but this machine's fault.

        Raises
        ------
        NoSandbox
            With the last line that the sandbox wrote.
        """
        try:
            first = read(time.monotonic() + STARTS)
        except replies.Ended as error:
            os.set_blocking(self.process.stderr.fileno(), False)
            said = (self.process.stderr.read(2000) or b"").decode(errors="replace").strip().splitlines()
            self.close()
            raise NoSandbox(f"the sandbox does not start: {said[-1][:300] if said else error}") from None
        if first != {"ready": 1}:
            self.close()
            raise NoSandbox("the sandbox does not start: it does not say that it is ready")

    def send(self, data, deadline):
        """Write bytes."""
        view = memoryview(data)
        while view:
            self._wait(self.input, select.POLLOUT, deadline)
            try:
                view = view[os.write(self.input, view[:_PIECE]):]
            except BrokenPipeError:
                raise self._ended() from None

    def read(self, count, deadline):
        """Read exactly so many bytes."""
        pieces, have = [self.kept[:count]], len(self.kept[:count])
        self.kept = self.kept[count:]
        while have < count:
            piece = self._piece(min(_PIECE, count - have), deadline)
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def message(self, raw, most, deadline):
        """Read a message; return it as a dict, and the bytes behind it: none, or `raw` of them."""
        text, size = wire.HEAD.unpack(self.read(wire.HEAD.size, deadline))
        replies.check(text, text <= most)
        replies.check(size, size in (0, raw))
        told = replies.message(self.read(text, deadline))
        return told, self.read(size, deadline)

    def line(self, most, deadline):
        """Read a line of JSON, of at most so many bytes."""
        while b"\n" not in self.kept:
            replies.check(self.kept, len(self.kept) <= most)
            self.kept += self._piece(1 << 16, deadline)
        line, _, self.kept = self.kept.partition(b"\n")
        return replies.message(replies.check(line, len(line) <= most))

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
