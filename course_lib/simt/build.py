"""Compile a kernel for this machine and keep it: CUDA C -> PTX (NVRTC) -> LLVM IR (ours) -> machine code (LLVM)."""

import ctypes
import functools
import re
import threading
from collections import OrderedDict
from pathlib import Path

import numpy as np

from course_lib import toolchain
from course_lib.simt import fuse, lane_access, lanes, layout, native, ptx, scalar, special
from course_lib.simt.affine import VECTOR
from course_lib.simt.errors import CompileError, LaunchError
from course_lib.simt.fast import Fast
from course_lib.simt.program import prepare
from course_lib.simt.special import SPECIAL

RUNTIME = ("structures", "counting", "patterns", "hazards", "memory", "sites", "atomics", "access", "crosslane", "control", "calls",
           "async", "fused", "tensor", "schedule")
KEPT = 256  # compiled kernels held in memory
_kernels = OrderedDict()
_lock = threading.Lock()


def build(source, entry, *, block=(1, 1, 1), defines=None, arch="sm_90", options=()):
    """Return the compiled Kernel, from memory when the same was asked for before.

    Raises
    ------
    CompileError, PtxSyntaxError, UnsupportedInstruction, LaunchError
    """
    text, name = read(source)
    key = (text, name, entry, block, tuple(sorted((defines or {}).items())), arch, tuple(options))
    with _lock:
        if key in _kernels:
            _kernels.move_to_end(key)
            return _kernels[key]
    ptx_text, cubin = translate(text, name, defines, arch, options)
    kernel = Kernel(ptx_text, entry, parameter_names(text, entry), block, cubin)
    with _lock:
        _kernels[key] = kernel
        while len(_kernels) > KEPT:
            _kernels.popitem(last=False)
    return kernel


def read(source):
    """Return (text, name) of CUDA C text, PTX text or a file."""
    if isinstance(source, Path) or isinstance(source, str) and "\n" not in source and source.endswith((".cu", ".ptx")):
        path = Path(source)
        if not path.is_file():
            raise LaunchError(f"There is no file {str(source)!r}.", path=str(source))
        return path.read_text(), path.name
    return str(source), "kernel.cu"


def translate(text, name, defines, arch, options):
    """Return (PTX, machine code of the GPU) of a text; for PTX by hand there is no machine code, b""."""
    if re.match(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*\.version\b", text, re.DOTALL):
        return text, b""
    try:
        compiled = toolchain.compile_cuda(text, name=name, arch=arch, defines=defines, options=tuple(options))
        return compiled.ptx, compiled.cubin
    except toolchain.CompileError as error:
        raise CompileError(str(error), **error.facts) from None


def parameter_names(text, entry):
    """Return the names of a kernel's parameters as its source writes them, or an empty list.

    >>> parameter_names('__global__ void f(int n, const float* A, float (*B)[4]) {', "f")
    ['n', 'A', 'B']
    """
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    found = re.search(rf"\b{re.escape(entry)}\s*\(", bare)
    if not found:
        return []
    depth, parts = 1, [""]
    for letter in bare[found.end():]:
        depth += letter in "([{<"
        depth -= letter in ")]}>"
        if depth == 0:
            break
        if letter == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    names = [re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^\]]*\]", "", part)) for part in parts]
    return [n[-1] for n in names if n]


class Runtime:
    """The translated `runtime/`: its callable functions, and the table that kernels find them by."""

    def __init__(self):
        folder = Path(__file__).with_name("runtime")
        text = "\n".join((folder / f"{part}.cuh").read_text() for part in RUNTIME)
        code = native.cached_object(native.cache_key("runtime", text, own_source()), lambda: native.compile_ir(self.translate(text)))
        self.library = native.Library([code], ["run_blocks", *layout.FUNCTIONS, *layout.TESTED])
        self.run_blocks = self.library.function("run_blocks", ctypes.c_uint32, *[ctypes.c_uint64] * 3)
        self.host_of = self.library.function("host_of", ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32, *[ctypes.c_uint64] * 2)
        self.table = np.array([self.library.address(f) for f in layout.FUNCTIONS], np.uint64)

    @staticmethod
    def translate(text):
        compiled = toolchain.compile_cuda(text, name="runtime.cu", options=("-rdc=true",))
        return scalar.lower_module(ptx.parse(compiled.ptx))

    def function(self, name, result, *arguments):
        """Return one of the runtime's own functions, for tests."""
        return self.library.function(name, result, *arguments)


@functools.cache
def runtime():
    """Return the process's Runtime."""
    return Runtime()


class Kernel:
    """One kernel, translated and loaded."""

    def __init__(self, text, entry, names, block, cubin=b""):
        self.ptx, self.parameter_names, self.block, self.cubin = text, names, block, cubin
        self.program = prepare(ptx.parse(text), entry)
        self.runtime = runtime()
        self.run_blocks = self.runtime.run_blocks
        self.function_table = self.runtime.table.ctypes.data
        text_of_lanes = lanes.lower(self.program)
        code = native.cached_object(native.cache_key("lanes", text_of_lanes),
                                    lambda: native.compile_ir(text_of_lanes, level=0, passes=False))
        self.translator = Fast(self.program, block)
        text_of_fast = self.translator.text()
        fast = native.cached_object(native.cache_key("fast", text_of_fast), lambda: native.compile_ir(text_of_fast, passes=False))
        accesses = [lane_access.compiled(shape) for shape in sorted(lane_access.forms(self.program))]
        self.library = native.Library([code, fast, *accesses], ["masked", "fast"])
        self.masked, self.fast = self.library.address("masked"), self.library.address("fast")
        self.live_tables = self.describe_live()
        self.fast_bytes = self.translator.nbytes + 64
        shared = [a.width for a in self.program.accesses.values() if a.space in (0, layout.SPACES["shared"])]
        self.granule_shift = {1: 0, 2: 1}.get(min(shared, default=4), 2)

    def tables(self):
        """Return (fastable, live_start, live): what the runtime needs to change between fast and masked code."""
        return self.live_tables

    def describe_live(self):
        blocks, fast = self.program.blocks, self.translator
        fastable, start, entries = np.zeros(len(blocks), np.uint32), [0], []
        for block in blocks:
            fastable[block.index] = block.index in fast.chains
            for name in sorted(block.live_in - set(SPECIAL)):
                kind, (slot, t) = fast.kinds.kinds[name], self.program.slots[name]
                if kind is None or kind == VECTOR:
                    continue
                entry = layout.Live(fast=fast.place(("u", name), 8), slot=slot)
                if t == "i1":
                    entry.kind = layout.UNIFORM_PREDICATE
                else:
                    bits = int(t[1:])
                    entry.kind, entry.bytes = layout.UNIFORM, bits // 8
                    if kind[0] == "S":
                        entry.kind, entry.lanes = layout.SPLIT, fast.pairs.lanes_place(kind[1], bits)
                        entry.pattern = fast.pairs.pattern_place(kind[1], bits)
                entries.append(entry)
            start.append(len(entries))
        return fastable, np.array(start, np.uint32), (layout.Live * max(len(entries), 1))(*entries)

    def special_slots(self):
        """Yield (which, slot) of the special registers that change from block to block."""
        for number, name in enumerate(SPECIAL[:3]):
            if name in self.program.slots:
                yield number, self.program.slots[name][0]

    def fill_special(self, registers, warp, block, grid, sizes):
        """Write the special registers and constants of one warp into its register file."""
        values = special.values(warp, block, grid) | sizes
        for name, (offset, t) in self.program.slots.items():
            if name in values:
                nbytes = int(t[1:]) // 8
                registers[offset:offset + nbytes * layout.LANES].view(f"u{nbytes}")[:] = values[name]
            elif name.startswith("#"):
                nbytes = int(t[1:]) // 8
                value = int(name.partition(":")[2]) & ((1 << 8 * nbytes) - 1)
                raw = np.frombuffer(value.to_bytes(nbytes, "little") * layout.LANES, np.uint8)
                registers[offset:offset + raw.size] = raw

    def fill_fast(self, raw, warp, block, grid):
        """Write the uniform special registers and the constant lane parts of one warp into its fast memory."""
        values = special.values(warp, block, grid)
        for key, offset in self.translator.places.items():
            if key[0] == "u" and key[1] in values:
                raw[offset:offset + 8].view(np.uint64)[:] = np.ravel(values[key[1]])[0]
            elif key[0] == "lanes" and key[1][0] == "const":
                kind = np.int32 if key[2] == 32 else np.int64
                raw[offset:offset + 4 * key[2]].view(kind)[:] = key[1][1]

    def add_fast_counts(self, sums):
        """Add what fast code counted per chain to the counts per block and per access, in place."""
        for head, chain in self.translator.chains.items():
            times = sums["fast_executed"][head]
            for block in chain:
                times = times - sums["deopts"][block.index, 0]
                if times:
                    sums["executed"][block.index] += times
                    sums["threads"][block.index] += times * layout.LANES
                    self.add_accesses(block, times, sums["dynamic"])

    def add_accesses(self, block, times, dynamic):
        for i in range(len(block.instructions)):
            number = block.first + i
            access = self.program.accesses.get(number)
            if access is not None and access.tag != fuse.ABSORBED:
                waves, phases = self.translator.static.get(number, (0, 0))
                dynamic[number, :2] += (times, times * layout.LANES)
                dynamic[number, 3:5] += (times * waves, times * phases)
                dynamic[number, 5] += times * (access.space == layout.SPACES["global"])


def own_source():
    """Return the text of this package, which decides how the runtime is translated."""
    return "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))
