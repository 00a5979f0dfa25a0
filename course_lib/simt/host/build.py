"""Compile a kernel for this machine and keep it: CUDA C -> PTX (NVRTC) -> LLVM IR (ours) -> machine code (LLVM)."""

import re
from collections import OrderedDict
from pathlib import Path

import numpy as np

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.simt.codegen import cache, native
from course_lib.simt.codegen.library import runtime
from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.reference import kernel as reference
from course_lib.simt.codegen.uniform import race, variant
from course_lib.simt.codegen.uniform.variant import FastCode
from course_lib.simt.errors import CompileError, LaunchError
from course_lib.simt.host.slim import slim
from course_lib.simt.isa import special
from course_lib.simt.isa.special import SPECIAL
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser
from course_lib.simt.runtime import abi

KEPT = 256  # compiled kernels held in memory
_kernels = OrderedDict()
_lock = native.fork_safe_lock()


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


def forget():
    """Let go of the compiled kernels held in memory; those on the disk stay."""
    with _lock:
        _kernels.clear()


def read(source):
    """Return (text, name) of CUDA C text, PTX text or a file."""
    if isinstance(source, Path) or isinstance(source, str) and "\n" not in source and source.endswith((".cu", ".ptx")):
        path = Path(source)
        if not path.is_file():
            raise LaunchError(f"There is no file {str(source)!r}.", path=str(source))
        try:
            return path.read_text(encoding="utf-8"), path.name
        except (OSError, UnicodeDecodeError) as error:
            raise LaunchError(f"The file {str(source)!r} cannot be read as text: {error}.", path=str(source)) from None
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
    except CourseError as error:
        raise LaunchError(str(error), **error.facts) from None


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


class Kernel:
    """One kernel, translated and loaded."""

    def __init__(self, text, entry, names, block, cubin=b""):
        self.ptx, self.entry, self.parameter_names, self.block, self.cubin = text, entry, names, block, cubin
        self.prepared = None  # the whole Program, when something had to be translated
        self.program, code, forms = cache.cached("lanes", (text, entry), self.translate)
        self.runtime = runtime()
        self.run_blocks = self.runtime.run_blocks
        self.function_table = self.runtime.table.ctypes.data
        self.accesses = [access.compiled(shape) for shape in forms]
        self.library = native.Library([code, *self.accesses], ["masked"])
        self.masked, self.variants, self.images = self.library.address("masked"), {}, {}
        shared = [a.width for a in self.program.accesses.values() if a.space in (0, abi.SPACES["shared"])]
        self.granule_shift = {1: 0, 2: 1}.get(min(shared, default=4), 2)

    def translate(self):
        """Return what a launch needs of the Program, the object of its masked code, and the forms of its accesses."""
        program = self.prepared = build_program(parser.parse(self.ptx), self.entry)
        code = native.compile_ir(reference.lower(program), level=0, passes=False)
        return slim(program), code, sorted(access.forms(program))

    def translate_fast(self, racecheck):
        self.prepared = self.prepared or build_program(parser.parse(self.ptx), self.entry)
        return variant.translate(self.prepared, self.block, racecheck)

    def fast(self, racecheck):
        """Return the FastCode that counts, or the one that searches for hazards too; None when there is none."""
        if racecheck not in self.variants:
            found = None
            if not racecheck or race.possible(self.program, self.granule_shift):
                found = FastCode(cache.cached("fast", (self.ptx, self.entry, self.block, racecheck),
                                           lambda: self.translate_fast(racecheck)), self.accesses)
            self.variants[racecheck] = found
        return self.variants[racecheck]

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
                registers[offset:offset + nbytes * abi.LANES].view(f"u{nbytes}")[:] = values[name]
            elif name.startswith("#"):
                nbytes = int(t[1:]) // 8
                value = int(name.partition(":")[2]) & ((1 << 8 * nbytes) - 1)
                raw = np.frombuffer(value.to_bytes(nbytes, "little") * abi.LANES, np.uint8)
                registers[offset:offset + raw.size] = raw
