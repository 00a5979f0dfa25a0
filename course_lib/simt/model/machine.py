"""What a launch computes and counts: block after block, warp after warp, instruction after instruction, lane after lane.

This is the definition, not the implementation. Nothing here is fast; each rule stands in one place, in the words of the manuals:

- 32 threads are a warp. Its lanes share one place in the code while they agree, and wait for each other when they do not:
  of the blocks of code at which lanes wait, the first in the Program's order runs next, with all lanes that wait there.
- A warp at a barrier waits until every warp of the block waits or has ended. Blocks of a cluster: `clusters.py`.
- Global memory moves in sectors of 32 bytes; shared memory has 32 banks of 4 bytes and serves each bank one word per wavefront.

Values are Python integers, the bits of registers. What `arithmetic.py` leaves open (which NaN) is settled here as GPUs do.
"""

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from course_lib.simt.model import atomics, images
from course_lib.simt.model.arithmetic import evaluate
from course_lib.simt.model.counts import LANES, Counts
from course_lib.simt.model.program import Code, Runnable
from course_lib.simt.model.softfloat import FORMATS, NAN
from course_lib.simt.model.types import Halves, Result, Undefined, cut, signed, width
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Reg, Vec, opened

FIRST_ARRAY, SPACING = 1 << 40, 1 << 40     # device addresses of the arrays, so far apart that no overrun reaches the next
SHARED = 0x10000000                       # where shared memory begins among generic addresses
AXES = "xyz"


def run(program: Runnable, grid: tuple[int, int, int], block: tuple[int, int, int], args: Sequence[Any]) -> dict[str, int]:
    """Run a launch.

    Parameters
    ----------
    grid, block
        (x, y, z)
    args
        NumPy arrays, which are changed in place, NumPy scalars, textures and surfaces.

    Returns
    -------
    dict
        Counter -> number: `executed` (instructions of warps), `threads` (of lanes), `requests ld`, `sectors ld`, `wavefronts ld`,
        `conflicts ld`, and the last four for `st`.

    Raises
    ------
    Undefined
        An instruction outside the model, an address outside all arrays, a barrier that cannot open.
    """
    memory, counts = launch_memory(program, args), Counts()
    for z, y, x in np.ndindex(*reversed(grid)):
        run_block(program, memory, counts, (x, y, z), grid, block)
    write_back(memory, args)
    return counts.numbers


def launch_memory(program: Runnable, args: Sequence[Any]) -> "Memory":
    """Return the memory of a launch with copies of the arrays."""
    pictures = [a for a in args if not isinstance(a, np.ndarray | np.generic)]
    return Memory([bytearray(a.tobytes()) for a in args if isinstance(a, np.ndarray)], parameters(program, args), pictures)


def write_back(memory: "Memory", args: Sequence[Any]) -> None:
    """Change the arrays as the launch did."""
    for array, data in zip((a for a in args if isinstance(a, np.ndarray)), memory.arrays, strict=True):
        array[...] = np.frombuffer(bytes(data), array.dtype).reshape(array.shape)


def parameters(program: Runnable, args: Sequence[Any]) -> bytearray:
    """Return the bytes of the parameters: an array is its address, a texture or surface its handle, a scalar itself."""
    data, number, pictures = bytearray(max(program.constant_bytes, 8)), 0, 0
    for arg, (_, offset, nbytes, _) in zip(args, program.params, strict=True):
        if not isinstance(arg, np.ndarray | np.generic):
            raw, pictures = (images.FIRST_HANDLE + pictures).to_bytes(8, "little"), pictures + 1
        else:
            raw = arg.tobytes()
        if isinstance(arg, np.ndarray):
            raw, number = (FIRST_ARRAY + number * SPACING).to_bytes(8, "little"), number + 1
        data[offset:offset + nbytes] = raw
    return data


class Memory:
    """The spaces of memory; `shared` is the present block's, `pictures` are the textures and surfaces."""

    def __init__(self, arrays: Sequence[bytearray], constants: bytearray, pictures: Sequence[Any]) -> None:
        self.arrays, self.constants, self.shared, self.pictures = arrays, constants, bytearray(), pictures

    def at(self, space: str, address: int, nbytes: int) -> tuple[bytearray, int]:
        """Return (the bytes that hold an address, where it lies in them)."""
        if space == "global":
            number, offset = divmod(address - FIRST_ARRAY, SPACING)
            data = self.arrays[number] if 0 <= number < len(self.arrays) else bytearray()
        else:
            data, offset = {"shared": self.shared, "param": self.constants, "const": self.constants}[space], address
        if not 0 <= offset <= len(data) - nbytes or offset % nbytes:
            raise Undefined(f"{nbytes} bytes at {address:#x} in {space} memory")
        return data, offset

    def load(self, space: str, address: int, nbytes: int) -> int:
        data, offset = self.at(space, address, nbytes)
        return int.from_bytes(data[offset:offset + nbytes], "little")

    def store(self, space: str, address: int, nbytes: int, value: int) -> None:
        data, offset = self.at(space, address, nbytes)
        data[offset:offset + nbytes] = cut(value, 8 * nbytes).to_bytes(nbytes, "little")


def run_block(program: Runnable, memory: Memory, counts: Counts, place: tuple[int, int, int], grid: tuple[int, int, int],
              block: tuple[int, int, int]) -> None:
    """Run the warps of one block from barrier to barrier."""
    memory.shared = bytearray(program.shared_bytes)
    threads = [(x, y, z) for z, y, x in np.ndindex(*reversed(block))]
    warps = [Warp(program, memory, counts, [special(thread, place, grid, block, lane) for lane, thread in
                                            enumerate(threads[first:first + LANES])]) for first in range(0, len(threads), LANES)]
    while any(warp.waiting for warp in warps):
        for warp in warps:
            warp.run()
        for warp in warps:
            warp.pass_barrier()


def special(thread: Sequence[int], place: Sequence[int], grid: Sequence[int], block: Sequence[int], lane: int) -> dict[str, int]:
    """Return name -> value of the special registers of one thread."""
    found = {"%laneid": lane, "%warpsize": LANES}
    for axis, *values in zip(AXES, thread, place, block, grid):
        found |= dict(zip((f"%tid.{axis}", f"%ctaid.{axis}", f"%ntid.{axis}", f"%nctaid.{axis}"), map(int, values)))
    return found


class Warp:
    """A warp: the registers of each lane, and the lanes that wait at each block of code."""

    def __init__(self, program: Runnable, memory: Memory, counts: Counts, registers: list[dict[str, int]]) -> None:
        self.program, self.memory, self.counts, self.registers = program, memory, counts, registers
        self.waiting = {program.entry_block: set(range(len(registers)))}
        self.at_barrier: dict[int, set[int]] = {}

    def run(self) -> None:
        """Run until all lanes have ended or wait at a barrier."""
        while self.waiting:
            index = min(self.waiting)
            self.run_code(self.program.blocks[index], self.waiting.pop(index))

    def pass_barrier(self) -> None:
        """Let the lanes go on that wait at a barrier."""
        if len(self.at_barrier) > 1:
            raise Undefined("lanes of one warp wait at different barriers")
        self.waiting, self.at_barrier = self.at_barrier, {}

    def go(self, index: int, lanes: Set[int]) -> None:
        if lanes:
            self.waiting.setdefault(index, set()).update(lanes)

    def run_code(self, block: Code, lanes: Set[int]) -> None:
        for number, ins in enumerate(block.instructions, block.first):
            active = lanes if ins.guard is None else {lane for lane in lanes if self.value(lane, ins.guard)}
            leaves = ins.kind in (Kind.BRANCH, Kind.RETURN, Kind.BARRIER)
            if lanes if leaves else active:
                self.counts.instruction(len(lanes if leaves else active))
            if ins.kind is Kind.BRANCH:
                self.go(block.successors[0], active)
                self.go(block.successors[-1], lanes - active)
                return
            if ins.kind is Kind.BARRIER:
                self.at_barrier.setdefault(block.successors[0], set()).update(active)
                self.go(block.successors[0], lanes - active)
                return
            if ins.kind is Kind.RETURN:
                lanes = lanes - active
                continue
            if active:
                self.execute(ins, number, active)
        if block.successors:
            self.go(block.successors[0], lanes)

    def execute(self, ins: Instruction, number: int, lanes: Set[int]) -> None:
        """Carry out an instruction for some lanes; all of them read before one of them writes."""
        if ins.kind in (Kind.LOAD, Kind.STORE):
            self.access(ins, number, lanes)
            return
        if ins.kind is Kind.FENCE:
            return
        if ins.kind is Kind.ATOMIC:
            self.atomic(ins, sorted(lanes))
            return
        if ins.kind is Kind.IMAGE:
            self.image(ins, sorted(lanes))
            return
        if ins.kind is not Kind.COMPUTE:
            raise Undefined(f"the model has no {ins.name}")
        for lane in lanes:
            given = [cut(self.value(lane, o), operand_width(ins, i)) for i, o in enumerate(ins.inputs)]
            for register, value in zip(ins.destinations, results(ins, given)):
                self.assign(lane, register, value, ins.opcode[-2] if ins.opcode[0] == "cvt" else "u64")

    def access(self, ins: Instruction, number: int, lanes: Set[int]) -> None:
        """Load or store `ins.data`, and count it as the assembler joins it with its neighbours (`fuse.py`)."""
        store, nbytes = ins.kind is Kind.STORE, width(ins.opcode[-1]) // 8
        space = next((part for part in ins.opcode if part in ("global", "shared", "shared__cluster", "param", "const")), None)
        if space is None or space == "const":
            raise Undefined(f"the model has no {ins.name}")
        base = ins.address.base
        addresses = {lane: ins.address.offset + (self.value(lane, base) if isinstance(base, Reg) else 0) for lane in sorted(lanes)}
        for lane, address in addresses.items():
            for i, item in enumerate(ins.data):
                if store:
                    self.memory.store(space, address + i * nbytes, nbytes, self.value(lane, item))
                else:
                    self.assign(lane, item, self.memory.load(space, address + i * nbytes, nbytes), ins.opcode[-1])
        record = self.program.accesses.get(number)
        joined = record.tag if record is not None else 0
        if joined != 1 and space != "shared__cluster":    # 1: another access carries it out
            self.counts.access(space, store, addresses, joined or nbytes * len(ins.data))

    def atomic(self, ins: Instruction, lanes: Sequence[int]) -> None:
        """Change memory for one lane after another; each sees what those before it left."""
        space = next((part for part in ins.opcode if part in ("global", "shared", "shared__cluster")), None)
        if space is None:
            raise Undefined(f"the model has no {ins.name}")
        count, nbytes, base = atomics.elements(ins), width(ins.opcode[-1]) // 8, ins.address.base
        for lane in lanes:
            address = ins.address.offset + (self.value(lane, base) if isinstance(base, Reg) else 0)
            self.memory.at(space, address, count * nbytes)
            operands = [self.value(lane, o) if isinstance(o, Reg | Imm) else 0 for o in ins.inputs[1:]]
            for i in range(count):
                old = self.memory.load(space, address + i * nbytes, nbytes)
                new = atomics.changed(ins, old, operands[i::count], lambda name, given: results(atomics.plain(ins, name), given)[0])
                self.memory.store(space, address + i * nbytes, nbytes, new)
                if ins.results:
                    self.assign(lane, list(opened(ins.operands[:1]))[i], old, "u64")

    def image(self, ins: Instruction, lanes: Sequence[int]) -> None:
        """Fetch from a texture, or read or write bytes of a surface, for one lane after another."""
        for lane in lanes:
            handle, *given = [self.value(lane, o) for o in ins.inputs]
            if not 0 <= handle - images.FIRST_HANDLE < len(self.memory.pictures):
                raise Undefined(f"the handle {handle:#x} of no texture or surface")
            picture = self.memory.pictures[handle - images.FIRST_HANDLE]
            if ins.opcode[0] in ("tex", "tld4"):
                found = images.fetch(picture, [cut(v, 32) for v in given], ins.opcode)
            else:
                found = images.access(picture, [cut(v, 64) for v in given], ins.opcode)
            for register, value in zip(opened(ins.operands[:ins.results]), found):
                self.assign(lane, register, value, "u64")

    def value(self, lane: int, operand: Reg | Imm) -> int:
        """Return an operand's bits in one lane."""
        if isinstance(operand, Imm):
            return operand.value
        if operand.name not in self.registers[lane]:
            self.registers[lane][operand.name] = 0        # a register that nobody wrote holds anything; here 0
        return self.registers[lane][operand.name] ^ operand.negated

    def assign(self, lane: int, register: Reg | Imm, value: int, kind: str) -> None:
        """Write a result; into a wider register a signed one is extended by its sign."""
        if isinstance(register, Reg) and register.name != "_":
            slot = int(self.program.slots[register.name][1][1:])
            self.registers[lane][register.name] = cut(signed(value, kind) if kind[0] == "s" else value, slot)


def operand_width(ins: Instruction, i: int) -> int:
    """Return the bits of source `i` that an instruction reads."""
    name, kind = ins.opcode[0], ins.opcode[-1]
    if name in ("shl", "shr", "bfe", "bfi") and i >= (2 if name == "bfi" else 1):
        return 32
    if "wide" in ins.opcode and i == 2:
        return 2 * width(kind)
    if name in ("selp", "setp", "set") and i == 2:
        return 1
    if name in ("slct", "shf", "prmt") or "popc" in ins.opcode:
        return 32 if i == 2 or name != "slct" else width(ins.opcode[-2])
    if name == "isspacep":
        return 64
    if isinstance(ins.operands[-1], Vec):
        return width(kind) // len(ins.operands[-1].items)
    return width(kind)


def results(ins: Instruction, given: Sequence[int]) -> list[int]:
    """Return the bits of the results of a computing instruction."""
    if ins.opcode[0] == "mov" and isinstance(ins.operands[0], Vec):
        bits = width(ins.opcode[-1]) // len(ins.operands[0].items)
        return [cut(given[0] >> i * bits, bits) for i in range(len(ins.operands[0].items))]
    return [settled(value, ins) for value in evaluate(ins.name, given)]


def settled(value: Result, ins: Instruction) -> int:
    """Choose among what the manual allows: the NaN that GPUs write, and the smallest of several numbers."""
    kind = ins.opcode[-2] if ins.opcode[0] == "cvt" else ins.opcode[-1]
    if isinstance(value, Halves):
        low, high = (settled(half, ins) for half in value.halves)
        return high << 16 | low
    if value is NAN:
        bits = FORMATS[kind.removesuffix("x2")].width
        return (1 << bits - 1) - 1
    return min(value) if isinstance(value, frozenset) else value
