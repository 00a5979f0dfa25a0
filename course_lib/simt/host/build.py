"""Compile a kernel for this machine, and cache it: CUDA C -> PTX (NVRTC) -> LLVM IR (ours) -> machine code (LLVM)."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.simt.codegen import cache, native
from course_lib.simt.codegen.library import runtime
from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.reference import kernel as reference
from course_lib.simt.codegen.uniform import race, variant
from course_lib.simt.codegen.uniform.variant import UniformCode
from course_lib.simt.errors import CompileError, LaunchError, UnsupportedInstruction
from course_lib.simt.host import early, names
from course_lib.simt.host.compact import compact
from course_lib.simt.isa import special
from course_lib.simt.passes.pipeline import Program, build_program
from course_lib.simt.ptx import parser
from course_lib.simt.runtime import abi
from course_lib.toolchain.code_stand_in import CodeStandIn

MOST_KERNELS = 256  # held in memory
Shape = tuple[int, int, int]
_kernels: "OrderedDict[tuple, LoadedKernel]" = OrderedDict()
_lock = native.fork_safe_lock()


def build(source: str | Path, entry: str, *, block: Shape = (1, 1, 1), defines: Mapping[str, str] | None = None, arch: str = "sm_90",
          options: Sequence[str] = ()) -> "LoadedKernel":
    """Return the compiled kernel, from memory when the same was asked for before.

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
    ptx_text, cubin, symbol = translate(text, name, defines, arch, options, entry)
    kernel = LoadedKernel(ptx_text, symbol, parameter_names(text, names.bare(entry)), block, cubin, name, entry)
    with _lock:
        _kernels[key] = kernel
        while len(_kernels) > MOST_KERNELS:
            _kernels.popitem(last=False)
    return kernel


def forget() -> None:
    """Let go of the compiled kernels held in memory; those on the disk stay."""
    with _lock:
        _kernels.clear()


def read(source: str | Path) -> tuple[str, str]:
    """Return (text, name) of CUDA C text, PTX text or a file."""
    if isinstance(source, Path) or "\n" not in source and source.endswith((".cu", ".ptx")):
        path = Path(source)
        if not path.is_file():
            raise LaunchError(f"There is no file {str(source)!r}.", path=str(source))
        try:
            return path.read_text(encoding="utf-8"), path.name
        except (OSError, UnicodeDecodeError) as error:
            raise LaunchError(f"The file {str(source)!r} cannot be read as text: {error}.", path=str(source)) from None
    return str(source), "kernel.cu"


def translate(text: str, name: str, defines: Mapping[str, str] | None, arch: str, options: Sequence[str],
              entry: str) -> tuple[str, bytes | CodeStandIn, str]:
    """Return (PTX, machine code of the GPU, name of the kernel in PTX) of a text; for PTX by hand there is no machine code, b""."""
    if re.match(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*\.version\b", text, re.DOTALL):
        return text, b"", names.symbol_of(text, entry)
    instances = (entry,) if "<" in entry else ()

    def compile_for(target: str) -> toolchain.Compiled:
        return toolchain.compile_cuda(text, name=name, arch=target, defines=defines, options=tuple(options), kernels=instances)

    def check(compiled: toolchain.Compiled) -> None:
        build_program(parser.parse(compiled.ptx, name), symbol_of(compiled, entry))

    key = (text, name, arch, tuple(sorted((defines or {}).items())), tuple(options), instances)
    try:
        compiled = early.compile_early(key, lambda: compile_for(arch), lambda: compile_for(arch.replace("sm_", "compute_")), check)
    except toolchain.CompileError as error:
        why = re.search(r"(?m)^__nv_name_map\(\d+\): error: (.*)", error.facts.get("log", ""))
        if why:
            raise LaunchError(f"No kernel named {entry!r} can be made from this source: {why[1]}.", entry=entry) from None
        raise CompileError(str(error), **error.facts) from None
    except UnsupportedInstruction:
        raise
    except CourseError as error:
        raise LaunchError(str(error), **error.facts) from None
    return compiled.ptx, compiled.cubin, symbol_of(compiled, entry)


def symbol_of(compiled: toolchain.Compiled, entry: str) -> str:
    """Return the name of a kernel in PTX."""
    return compiled.symbols.get(entry) or names.symbol_of(compiled.ptx, entry)


def parameter_names(text: str, entry: str) -> list[str]:
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
    names = [re.findall(r"[A-Za-z_$%][\w$]*", re.sub(r"\[[^\]]*\]", "", part)) for part in parts]
    return [n[-1] for n in names if n]


class LoadedKernel:
    """One kernel, translated and loaded: its reference code, and the uniform code as it is asked for.

    `reference` is the address of the first, `images` what launches remember of the memory of warps.
    """

    def __init__(self, text: str, entry: str, parameters: Sequence[str], block: Shape, cubin: bytes | CodeStandIn = b"",
                 file: str = "", name: str = "") -> None:
        self.ptx, self.entry, self.parameter_names, self.block, self.cubin = text, entry, parameters, block, cubin
        self.file, self.name = file, name or entry  # `name`: as the source writes it, for messages
        self._prepared: Program | None = None  # the whole Program, when something had to be translated
        self.program, code, forms = cache.cached("reference", (text, entry, file), self._translate)
        self.runtime = runtime()
        self.run_blocks = self.runtime.run_blocks
        self.function_table = self.runtime.table.ctypes.data
        self.accesses = [access.compiled(shape) for shape in forms]
        self.library = native.Library([code, *self.accesses], ["reference"])
        self.reference = self.library.address("reference")
        self.images: dict[tuple, NDArray[np.uint8]] = {}
        self._variants: dict[bool, UniformCode | None] = {}
        shared = [a.width for a in self.program.accesses.values() if a.space in (0, abi.SPACES["shared"], abi.SPACES["shared__cluster"])]
        self.granule_shift = {1: 0, 2: 1}.get(min(shared, default=4), 2)

    def _whole(self):
        if self._prepared is None:
            self._prepared = build_program(parser.parse(self.ptx, self.file), self.entry)
        return self._prepared

    def _translate(self):
        """Return what a launch needs of the Program, the object of its reference code, and the forms of its accesses."""
        program = self._whole()
        code = native.compile_ir(reference.lower(program), level=0, passes=False)
        return compact(program), code, sorted(access.forms(program))

    def uniform(self, racecheck: bool) -> UniformCode | None:
        """Return the uniform code that counts, or that searches for hazards too; None when there is none."""
        if racecheck not in self._variants:
            found: variant.Translated | None = None
            if not racecheck or race.possible(self.program, self.granule_shift):
                found = cache.cached("uniform", (self.ptx, self.entry, self.file, self.block, racecheck),
                                     lambda: variant.translate(self._whole(), self.block, racecheck))
            self._variants[racecheck] = UniformCode(found, self.accesses) if found is not None else None
        return self._variants[racecheck]

    def special_slots(self) -> Iterator[tuple[int, int]]:
        """Yield (which, slot) of the special registers that change from block to block."""
        for number, name in enumerate(special.CHANGING):
            if name in self.program.slots:
                yield number, self.program.slots[name][0]

    def fill_special(self, registers: NDArray[np.uint8], warp: int, block: Shape, grid: Shape, cluster: Shape,
                     sizes: Mapping[str, Any]) -> None:
        """Write the special registers and constants of one warp into its register file."""
        values = {**special.values(warp, block, grid, cluster), **sizes}
        for name, (offset, t) in self.program.slots.items():
            if name in values and t == "i1":
                registers[offset:offset + 4].view(np.uint32)[:] = abi.FULL if values[name] else 0
            elif name in values:
                nbytes = int(t[1:]) // 8
                registers[offset:offset + nbytes * abi.LANES].view(f"u{nbytes}")[:] = values[name]
            elif name.startswith("#"):
                nbytes = int(t[1:]) // 8
                value = int(name.partition(":")[2]) & ((1 << 8 * nbytes) - 1)
                raw = np.frombuffer(value.to_bytes(nbytes, "little") * abi.LANES, np.uint8)
                registers[offset:offset + raw.size] = raw
