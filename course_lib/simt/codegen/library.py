"""The runtime (`runtime/*.cuh`), translated and loaded: what kernels call, and what Python asks it itself."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import toolchain
from course_lib.simt.codegen import cache, copies, fused, handover, native, scalar, tiles
from course_lib.simt.ptx import parser
from course_lib.simt.runtime import abi
from course_lib.toolchain import disk

PARTS = ("structures", "counting", "patterns", "clocks", "hazards", "memory", "sites", "atomics", "access", "crosslane", "control",
         "barriers", "heap", "calls", "queue", "async", "places", "mbarriers", "arrivals", "bulk", "boxes", "far", "remote", "images",
         "fused", "tensor", "products", "descriptors", "wideproducts", "readers", "warpgroup", "groupwaits", "schedule", "clusters")
_runtimes: list["Runtime"] = []
_lock = native.fork_safe_lock()


def source() -> str:
    """Return the runtime's text in CUDA C."""
    folder = Path(__file__).parents[1] / "runtime"
    return "\n".join((folder / f"{part}.cuh").read_text(encoding="utf-8") for part in PARTS)


class Runtime:
    """The translated `runtime/`: its callable functions, and the table that kernels find them by."""

    def __init__(self) -> None:
        code = disk.cached_object(native.cache_key("runtime", cache.own_source()), lambda: native.compile_ir(self.translate(source())))
        self.library = native.Library([code], ["run_blocks", "run_together", "run_clusters", *abi.FUNCTIONS, *abi.TESTED])
        self.run_blocks = self.library.function("run_blocks", ctypes.c_uint32, *[ctypes.c_uint64] * 3)
        self.run_together = self.library.function("run_together", ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
        self.run_clusters = self.library.function("run_clusters", *[ctypes.c_uint64] * 4)
        self.host_of = self.library.function("host_of", ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, *[ctypes.c_uint64] * 2)
        self.table = np.array([self.library.address(f) for f in abi.FUNCTIONS], np.uint64)

    @staticmethod
    def translate(text: str) -> str:
        """Return the LLVM IR of the runtime's text."""
        compiled = toolchain.compile_cuda(text, name="runtime.cu", options=("-rdc=true",))
        given = fused.functions() | handover.functions() | tiles.functions() | copies.functions()
        return scalar.lower_module(parser.parse(compiled.ptx), given)

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Return one of the runtime's own functions."""
        return self.library.function(name, result, *arguments)


def runtime() -> Runtime:
    """Return the process's Runtime."""
    with _lock:  # threads that begin together wait for one of them
        if not _runtimes:
            _runtimes.append(Runtime())
    return _runtimes[0]
