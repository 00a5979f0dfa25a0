"""LLVM IR text to machine code: compile for this CPU, keep objects on disk, load them into the process."""

import ctypes
import functools
import hashlib
import os
import threading
import uuid
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

CACHE_BYTES = 256 << 20  # of the disk cache; the oldest objects go first
VERSION = "1"
_lock = threading.RLock()
_names = iter(range(1 << 60))


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
    """Return the process-wide just-in-time linker."""
    return llvm.create_lljit_compiler(target_machine())


def cache_folder():
    """Return the folder for compiled objects: $COURSE_CACHE, or the user's cache folder."""
    base = os.environ.get("COURSE_CACHE") or os.path.join(
        os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "warp-by-warp"
    )
    return Path(base) / f"simt-{VERSION}"


def cache_key(*parts):
    """Return a name for the object compiled from these texts on this machine."""
    machine = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), llvmlite.__version__, VERSION)
    return hashlib.sha256("\0".join(map(str, machine + parts)).encode()).hexdigest()


def cached_object(key, produce):
    """Return object code for `key` from the disk, or make it with `produce()` and keep it.

    Safe with several processes: a file appears under its name complete or not at all.
    """
    path = cache_folder() / key[:2] / f"{key}.o"
    try:
        data = path.read_bytes()
        os.utime(path)
        return data
    except OSError:
        data = produce()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{uuid.uuid4().hex}.part")
        part.write_bytes(data)
        os.replace(part, path)
        trim()
    except OSError:
        pass  # a read-only or full disk costs time, nothing else
    return data


def trim():
    """Delete the least recently used objects beyond CACHE_BYTES."""
    files = [(p.stat().st_mtime, p.stat().st_size, p) for p in cache_folder().glob("*/*.o")]
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= CACHE_BYTES:
            break
        path.unlink(missing_ok=True)
        total -= size


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
