"""LLVM IR text to machine code: compile for this CPU, keep objects on disk, load them into the process."""

import contextlib
import ctypes
import functools
import hashlib
import os
import sys
import threading
import time
import uuid
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

CACHE_BYTES = 256 << 20  # of the disk cache; the oldest objects go first
CHECKSUM_BYTES = 32  # before the object code in each file
HALF_WRITTEN_SECONDS = 3600  # age at which a file that was never finished is deleted
VERSION = "2"
_written = {"bytes": CACHE_BYTES}  # since the folder was last trimmed; the first write of a process trims
_names = iter(range(1 << 60))


def fork_safe_lock():
    """Return a lock that is free whenever the process forks: a child would inherit one that nobody there releases."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


_lock = fork_safe_lock()


@functools.cache
def target_machine(level=2):
    """Return the LLVM target machine of this CPU, with all of its vector instructions."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level,
        reloc="pic", codemodel="small",
    )


@functools.cache
def compiler():
    """Return the process-wide just-in-time linker.

    JITLink puts all sections of an object side by side. LLVM's older loader asks for memory section by section; in a
    process with much mapped (a GPU's driver reserves terabytes) they may land too far apart for the 32-bit distances
    in the code, and LLVM then ends the process.
    """
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=sys.platform != "win32")


def cache_folder():
    """Return the folder for compiled objects: $COURSE_CACHE, or the user's cache folder."""
    base = os.environ.get("COURSE_CACHE") or os.path.join(
        os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "warp-by-warp"
    )
    return Path(base) / f"simt-{VERSION}"


@functools.cache
def own_hash():
    """Return a hash of this file, which decides how texts are compiled."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def cache_key(*parts):
    """Return a name for the object compiled from these texts on this machine, by this version of LLVM and of this file."""
    machine = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvmlite.__version__, *llvm.llvm_version_info,
               VERSION, own_hash())
    return hashlib.sha256("\0".join(map(str, machine + parts)).encode()).hexdigest()


def cached_object(key, produce):
    """Return object code for `key` from the disk, or make it with `produce()` and keep it.

    Safe with several processes: a file appears under its name complete or not at all. It begins with a checksum of the rest
    and its name, so that a damaged or foreign file is made anew and never run.
    """
    path = cache_folder() / key[:2] / f"{key}.o"
    data = read_object(path)
    if data is None:
        data = produce()
        keep_object(path, data)
    return data


def checksum(path, data):
    return hashlib.sha256(path.name.encode() + data).digest()


def read_object(path):
    """Return what `keep_object` wrote, or None when it is not there or not whole. Marks the file as used."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    data = raw[CHECKSUM_BYTES:]
    if raw[:CHECKSUM_BYTES] != checksum(path, data):
        return None
    with contextlib.suppress(OSError):  # somebody else's folder may be read, not marked
        os.utime(path)
    return data


def keep_object(path, data):
    """Write a file in one step; a read-only or full disk costs time at the next launch, nothing else."""
    part = path.with_name(f"{path.stem}.{uuid.uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(checksum(path, data) + data)
        os.replace(part, path)
    except OSError:
        return
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    _written["bytes"] += len(data)
    if _written["bytes"] > CACHE_BYTES // 16:  # looking at every file takes time: not after each write
        _written["bytes"] = 0
        trim()


def trim():
    """Delete the least recently used objects, of whatever version, beyond CACHE_BYTES, and what killed processes left half written."""
    files = []
    for path in cache_folder().parent.glob("simt-*/*/*.*"):
        with contextlib.suppress(OSError):  # another process may have been quicker
            facts = path.stat()
            if path.suffix == ".o":
                files.append((facts.st_mtime, facts.st_size, path))
            elif path.suffix == ".part" and facts.st_mtime < time.time() - HALF_WRITTEN_SECONDS:
                path.unlink()
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= CACHE_BYTES:
            break
        total -= size
        with contextlib.suppress(OSError):
            path.unlink()


def compile_ir(text, level=2, passes=True):
    """Return object code for a module of LLVM IR text.

    `level` is the code generator's, 0 to 3. Kernels are compiled without `passes`: our text is straight-line code that
    they find nothing to improve in (same code size and speed measured, a third less time).
    """
    with _lock:
        machine = target_machine(level)
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        if passes:
            options = llvm.create_pipeline_tuning_options(speed_level=level)
            options.loop_vectorization = options.slp_vectorization = False
            builder = llvm.create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)


class Library:
    """Loaded object code; `address(name)` of its functions. Freed with the last reference."""

    def __init__(self, objects, exports):
        builder = llvm.JITLibraryBuilder().add_current_process()
        for data in objects:
            builder = builder.add_object_img(data)
        for name in exports:
            builder = builder.export_symbol(name)
        with _lock:
            self.tracker = builder.link(compiler(), f"library{next(_names)}")

    def address(self, name):
        return self.tracker[name]

    def function(self, name, result, *arguments):
        """Return a Python callable that releases the interpreter lock while it runs."""
        return ctypes.CFUNCTYPE(result, *arguments)(self.address(name))
