"""What a kernel takes from the multiprocessor, read out of the cubin: registers, shared memory, stack, constants."""

import io
import re
import struct
from dataclasses import dataclass

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from course_lib.errors import CourseError
from course_lib.toolchain.binaries import check_cubin
from course_lib.toolchain.code_stand_in import CodeStandIn
from course_lib.toolchain.compiled import Compiled

RESERVED_SHARED_BYTES = 1024    # a block, CC 8.0 and up; CUDA C++ Programming Guide, "Compute Capability 8.x", Shared Memory

# Attributes of the sections .nv.info and .nv.info.<kernel>, as `cuobjdump -elf` names them (EIATTR_...).
_MAX_THREADS, _REQUIRED_THREADS, _FRAME_SIZE, _MIN_STACK_SIZE = 0x05, 0x10, 0x11, 0x12
_PARAM_SIZE, _REGISTERS = 0x19, 0x2F
_SIZED = 4                      # format of an attribute with a length; the others carry their value where the length would be
_ENTRY_BIT = 0x10               # of st_other: the function is a kernel

_PTXAS_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_PTXAS_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")


@dataclass(frozen=True)
class Resources:
    """What one kernel takes; all sizes in bytes.

    Attributes
    ----------
    registers
        32-bit registers a thread.
    static_shared_bytes
        `__shared__` variables of fixed size, a block; without what the system reserves.
    reserved_shared_bytes
        What the system takes from each block's shared memory: 1024 from CC 8.0 on, else 0.
    local_bytes
        Stack a thread: arrays that are not in registers, spills, calls.
    spill_store_bytes, spill_load_bytes
        Bytes of the instructions that move registers to the stack and back, each instruction counted once;
        None when only the cubin was given, which does not tell spills from arrays.
    constant_bytes
        `__constant__` variables of the whole text.
    parameter_bytes
        The kernel's arguments.
    max_threads
        Threads a block by `__launch_bounds__`; None without.
    """

    registers: int
    static_shared_bytes: int
    reserved_shared_bytes: int
    local_bytes: int
    spill_store_bytes: int | None
    spill_load_bytes: int | None
    constant_bytes: int
    parameter_bytes: int
    max_threads: int | None


def resources(compiled: Compiled | bytes) -> dict[str, Resources]:
    """Read what each kernel of a compiled text takes.

    Parameters
    ----------
    compiled
        The result of `compile_cuda`, or a cubin alone (then spills are not known).

    Returns
    -------
    By the name of the kernel.

    Raises
    ------
    CourseError
        When there is no machine code, or it is no cubin.

    Source: the ELF sections of the cubin; held to `ptxas -v` and `cuobjdump --dump-resource-usage` by the tests.

    >>> from course_lib.toolchain import compile_cuda
    >>> text = 'extern "C" __global__ void k(float* x) { __shared__ float s[64]; s[5] = *x; *x = s[threadIdx.x]; }'
    >>> used = resources(compile_cuda(text))["k"]
    >>> used.static_shared_bytes, used.reserved_shared_bytes, used.parameter_bytes, used.spill_store_bytes
    (256, 1024, 8, 0)
    """
    cubin = compiled.cubin if isinstance(compiled, Compiled) else compiled
    if isinstance(cubin, CodeStandIn):
        return {name: Resources(**fields) for name, fields in cubin.resources().items()}
    check_cubin(cubin)
    try:
        elf = ELFFile(io.BytesIO(cubin))
        sections = {section.name: section for section in elf.iter_sections()}
        if elf["e_machine"] != "EM_CUDA" or ".nv.info" not in sections:
            raise CourseError(f"this is no cubin but an ELF file for {elf['e_machine']}")
        facts = _Facts(elf, sections, _spills(compiled.ptxas_log if isinstance(compiled, Compiled) else ""))
        return {name: facts.of(index, name) for index, name in facts.entries()}
    except (ELFError, struct.error, OverflowError, ValueError) as error:        # what pyelftools makes of damaged bytes, and struct
        raise CourseError(f"this cubin is damaged: {error}") from None


class _Facts:
    """The sections of one cubin, opened."""

    def __init__(self, elf, sections, spills):
        self.sections, self.spills = sections, spills
        self.info = _attributes(sections[".nv.info"].data())
        self.linked = elf["e_type"] == "ET_EXEC"       # not so with -rdc=true
        flags = elf["e_flags"]
        # ABI 8 has the architecture in the second byte of the flags, earlier ones in the first.
        self.architecture = (flags >> 8 if elf["e_ident"]["EI_ABIVERSION"] >= 8 else flags) & 0xFF

    def entries(self):
        """Yield symbol index and name of every kernel."""
        table = self.sections.get(".symtab")
        if not isinstance(table, SymbolTableSection):
            raise ELFError("it has no table of symbols")
        others = table.data()[5::24]                   # st_other; pyelftools drops the bit that marks a kernel
        for index, symbol in enumerate(table.iter_symbols()):
            if symbol["st_info"]["type"] == "STT_FUNC" and others[index] & _ENTRY_BIT:
                yield index, symbol.name

    def size(self, name):
        return self.sections[name]["sh_size"] if name in self.sections else 0

    def per_function(self, attribute, index):
        """Return the number that a module-wide attribute has for one function."""
        pairs = (struct.unpack("<II", value) for code, value in self.info if code == attribute)
        return dict(pairs).get(index, 0)

    def of(self, index, name):
        if f".nv.info.{name}" not in self.sections:
            raise ELFError(f"it says nothing about {name}")
        own = dict(_attributes(self.sections[f".nv.info.{name}"].data()))
        threads = own.get(_REQUIRED_THREADS) or own.get(_MAX_THREADS)
        x, y, z = struct.unpack("<III", threads) if threads else (0, 0, 0)
        stores, loads = self.spills.get(name, (None, None))
        return Resources(
            registers=self.per_function(_REGISTERS, index),
            static_shared_bytes=self._shared(name),
            reserved_shared_bytes=RESERVED_SHARED_BYTES if self.architecture >= 80 else 0,
            local_bytes=max(self.per_function(_FRAME_SIZE, index), self.per_function(_MIN_STACK_SIZE, index)),
            spill_store_bytes=stores, spill_load_bytes=loads,
            constant_bytes=self.size(".nv.constant3"),
            parameter_bytes=struct.unpack("<H", own[_PARAM_SIZE])[0] if _PARAM_SIZE in own else 0,
            max_threads=x * y * z or None)

    def _shared(self, name):
        """Size of the kernel's shared variables; on CC 9.0 and up a linked section begins with the reserved KiB."""
        size = self.size(f".nv.shared.{name}")
        included = self.linked and self.architecture >= 90
        return max(size - RESERVED_SHARED_BYTES, 0) if included else size


def _attributes(data):
    """Return (code, value bytes) of every attribute in a .nv.info section."""
    found, at = [], 0
    while at + 4 <= len(data):
        form, code, size = struct.unpack_from("<BBH", data, at)
        length = size if form == _SIZED else 0
        found.append((code, data[at + 4:at + 4 + length] if form == _SIZED else data[at + 2:at + 4]))
        at += 4 + length
    return found


def _spills(log):
    """Return kernel -> (bytes stored, bytes loaded) by spills, those of the functions it calls included."""
    found: dict[str, tuple[int, int]] = {}
    entry: str | None = None
    for line in log.splitlines():
        if match := _PTXAS_ENTRY.search(line):
            entry = match[1]
        elif entry and (match := _PTXAS_SPILLS.search(line)):
            stores, loads = found.get(entry, (0, 0))
            found[entry] = stores + int(match[1]), loads + int(match[2])
    return found
