"""Compile and disassemble what the reader may choose next, in the background: the other positions of the sliders in view."""

import atexit
import os
import threading
from collections.abc import Iterable
from typing import Any

from course_lib.toolchain import nvrtc
from course_lib.toolchain.background import Helper
from course_lib.toolchain.disassemble_many import code_texts
from course_lib.toolchain.request import Request
from course_lib.toolchain.sass import put_on_disk, texts_on_disk

BATCH = 8                       # texts for one call of the disassembler, which takes 0.4 s to start


class CompileQueue:
    """Texts to be compiled, the latest asked for first, and the thread that hands them to the process."""

    def __init__(self) -> None:
        self._changed, self._helper = threading.Condition(), Helper(__name__)
        self._waiting: list[Request] = []
        self._seen: set[Request] = set()
        self._thread: threading.Thread | None = None

    def put(self, requests: Iterable[Request]) -> None:
        """Have requests compiled before those that wait already."""
        with self._changed:
            new = [request for request in dict.fromkeys(requests) if request not in self._seen]
            self._seen.update(new)
            self._waiting = new + self._waiting
            if self._waiting and self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True, name="warp-by-warp compile ahead")
                self._thread.start()

    def close(self) -> None:
        """Stop; what is compiled stays on the disk."""
        with self._changed:
            self._waiting = []
        self._helper.close()

    def settle(self, timeout_s: float) -> bool:
        """Wait until nothing waits; return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout_s)

    def _work(self):
        while True:
            with self._changed:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                if not batch:
                    self._thread = None
                    self._changed.notify_all()
                    return
            self._helper.do({"requests": [[r.source, r.name, r.arch, list(r.options)] for r in batch]})


_queues = [CompileQueue()]
atexit.register(lambda: _queues[0].close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _queues.__setitem__(0, CompileQueue()))


def compile_ahead(requests: Iterable[Request]) -> None:
    """Have texts compiled and disassembled by a process of the lowest priority; those that come first are done first.

    Their answers lie on the disk, where `compile_cuda` and `sass` find them. Without NVRTC nothing is done.
    """
    if nvrtc.nvrtc_is_there():
        _queues[0].put(requests)


def compile_all(requests: Iterable[Request]) -> None:
    """Compile and disassemble texts of one architecture now, and leave the answers on the disk; refusals too."""
    cubins: dict[tuple[str, bytes], None] = {}
    for request in requests:
        try:
            cubins[request.arch, nvrtc.machine_code(nvrtc.compile_here(request))] = None
        except nvrtc.CompileError:
            continue                                # the reader's own move will show it
    for arch in {arch for arch, _ in cubins}:
        new = [cubin for a, cubin in cubins if a == arch and cubin and texts_on_disk(cubin) is None]
        for cubin, texts in zip(new, code_texts(new, arch), strict=True):
            put_on_disk(cubin, texts)


def carried_out(order: dict[str, Any]) -> bool:
    """Compile the requests of one order; return whether that worked."""
    try:
        compile_all(Request(source, name, arch, tuple(options)) for source, name, arch, options in order["requests"])
    except Exception:                               # a full disk, a compiler that breaks: the reader's own move will tell
        return False
    return True
