"""LLVM IR text to machine code: compile for this CPU, load it into the process; `toolchain/disk.py` caches the objects."""

import ctypes
import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from course_lib.toolchain.disk import VERSION

_names = iter(range(1 << 60))


def fork_safe_lock() -> Any:
    """Return a lock that is free whenever the process forks: a child would inherit one that nobody there releases."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_lock = fork_safe_lock()


@functools.cache
def target_machine(level: int = 2) -> llvm.TargetMachine:
    """Return the LLVM target machine of this CPU, with all of its vector instructions."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level,
        reloc="pic", codemodel="small",
    )


@functools.cache
def compiler() -> Any:
    """Return the process-wide just-in-time linker.

    JITLink puts all sections of an object side by side. LLVM's older loader asks for memory section by section; in a
    process with much mapped (a GPU's driver reserves terabytes) they may land too far apart for the 32-bit distances
    in the code, and LLVM then ends the process.
    """
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=sys.platform != "win32")


@functools.cache
def own_hash() -> str:
    """Return a hash of this file, which decides how texts are compiled."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def cache_key(*parts: object) -> str:
    """Return a name for the object compiled from these texts on this machine, by this version of LLVM and of this file."""
    with _lock:                  # as for every call into LLVM, which has a lock of its own that a forked child would find taken
        machine = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvmlite.__version__, *llvm.llvm_version_info,
                   VERSION, own_hash())
    return hashlib.sha256("\0".join(map(str, machine + parts)).encode()).hexdigest()


def compile_ir(text: str, level: int = 2, passes: bool = True) -> bytes:
    """Return object code for a module of LLVM IR text.

    `level` is the code generator's, 0 to 3. Kernels are compiled without `passes`: our text is straight-line code that
    they find nothing to improve in (same code size and speed measured, a third less time).
    """
    with _lock:
        target = target_machine(level)
        module = llvm.parse_assembly(text)
        module.triple = target.triple
        module.data_layout = str(target.target_data)
        if passes:
            options = llvm.create_pipeline_tuning_options(speed_level=level)
            options.loop_vectorization = options.slp_vectorization = False
            builder = llvm.create_pass_builder(target, options)
            builder.getModulePassManager().run(module, builder)
        return target.emit_object(module)


class Library:
    """Loaded object code; `address(name)` of its functions. Freed with the last reference."""

    def __init__(self, objects: Iterable[bytes], exports: Iterable[str]) -> None:
        with _lock:
            builder = llvm.JITLibraryBuilder().add_current_process()
            for data in objects:
                builder = builder.add_object_img(data)
            for name in exports:
                builder = builder.export_symbol(name)
            self.tracker = builder.link(compiler(), f"library{next(_names)}")

    def address(self, name: str) -> int:
        """Return where an exported function lies."""
        return self.tracker[name]

    def function(self, name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Return a Python callable that releases the interpreter lock while it runs."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
