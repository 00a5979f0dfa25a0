"""Translate kernels that may soon be wanted, in a process of its own and of the lowest priority.

All that it makes lies on the disk afterwards, where a launch finds it.
"""

import atexit
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from course_lib.simt.codegen import library
from course_lib.simt.host import build
from course_lib.toolchain.background import Helper

_helpers = [Helper(__name__)]
atexit.register(lambda: _helpers[0].close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _helpers.__setitem__(0, Helper(__name__)))       # the process is the parent's


def translate_ahead(source: str, entry: str, block: tuple[int, ...], *, defines: Mapping[str, Any] | None = None, arch: str = "sm_90",
                    given_up: Callable[[], bool] = lambda: False) -> bool:
    """Have a kernel translated in the background, for a launch with counters; wait until it is done.

    Parameters
    ----------
    source
        CUDA C.
    block
        Along x, y, z.
    given_up
        Asked while the order waits for others.

    Returns
    -------
    :
        Whether a launch will find everything translated; False says nothing about the kernel.
    """
    order = {"source": source, "entry": entry, "block": list(block), "defines": dict(defines or {}), "arch": arch}
    return _helpers[0].do(order, given_up)


def prepare_runtime(say: Callable[[], None], patience_s: float = 1.0) -> None:
    """Have the runtime, which every kernel needs, translated and loaded, so that the first launch need not wait for it.

    Parameters
    ----------
    say
        Called when it takes longer than `patience_s`: where nobody has used this edition of the simulator, it takes seconds.
    """
    with ThreadPoolExecutor(1) as worker:
        working = worker.submit(library.runtime)
        try:
            working.result(patience_s)
        except TimeoutError:
            say()
            working.result()


def carried_out(order: Mapping[str, Any]) -> bool:
    """Translate one kernel; return whether that worked."""
    try:
        kernel = build.build(order["source"], order["entry"], block=tuple(order["block"]), defines=order["defines"], arch=order["arch"])
        kernel.uniform(racecheck=False)
    except Exception:                               # the reader's own run will tell
        return False
    finally:
        build.forget()
    return True
