"""Values that are known before a launch: whatever a kernel computes from thread indices and constants alone.

The shape of the thread block is known when a kernel is translated, so `threadIdx.x / 16` is a table with one row per warp.
When all rows differ only by their first element, the register is uniform plus a constant pattern, whatever led there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Reg
from course_lib.simt.runtime import abi

Table = Any     # (warps, 32) int64 array, or one np.int64 that is the same everywhere


def wrap(values: Any, bits: int) -> Any:
    """Wrap int64 values to signed numbers of `bits` bits."""
    if bits == 64:
        return values
    return (values + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def unsigned(values: Table, bits: int) -> Any:
    """Return the values as unsigned numbers (uint64)."""
    return values.astype(np.uint64) & np.uint64((1 << bits) - 1)


def shift(ins: Instruction, a: Table, amount: Table, bits: int) -> Table:
    """Evaluate shl and shr; amounts beyond the width give 0, or the sign."""
    n = unsigned(amount, 32)
    over, n = n >= bits, np.minimum(n, np.uint64(bits - 1))
    if ins.opcode[0] == "shl":
        return np.where(over, 0, (unsigned(a, bits) << n).astype(np.int64))
    if ins.opcode[-1][0] == "s":
        return a >> n.astype(np.int64)
    return np.where(over, 0, (unsigned(a, bits) >> n).astype(np.int64))


def multiply(ins: Instruction, a: Table, b: Table, bits: int) -> Table | None:
    """Evaluate mul.lo, mul.wide and mul.hi of 32 bits."""
    if "lo" in ins.opcode:
        return a * b
    if bits != 32:
        return None
    if ins.opcode[-1][0] != "s":
        a, b = unsigned(a, 32), unsigned(b, 32)
        return (a * b).astype(np.int64) if "wide" in ins.opcode else ((a * b) >> np.uint64(32)).astype(np.int64)
    return a * b if "wide" in ins.opcode else (a * b) >> 32


def divide(ins: Instruction, a: Table, b: Table, bits: int) -> Table | None:
    """Evaluate div and rem; a zero divisor is left to the running kernel."""
    if ins.opcode[-1][0] == "s" or (b == 0).any():
        return None
    a, b = unsigned(a, bits), unsigned(b, bits)
    return (a // b if ins.opcode[0] == "div" else a % b).astype(np.int64)


def insert(a: Table, b: Table, first: Table, count: Table, bits: int) -> Table | None:
    """Evaluate bfi at a place that the text names: `count` bits of `a`, put into `b` from bit `first` on."""
    if np.ndim(first) or np.ndim(count):
        return None
    at, n = int(first) & 255, int(count) & 255
    mask = np.uint64(((1 << n) - 1 << at) & ((1 << bits) - 1)).astype(np.int64)
    return b & ~mask | a << np.int64(min(at, bits - 1)) & mask


def evaluate(ins: Instruction, args: Sequence[Table]) -> Table | None:
    """Return the int64 result of an integer instruction on known arguments, or None when it is not among these."""
    name, kind = ins.opcode[0], ins.opcode[-1]
    if kind not in ("s32", "u32", "b32", "s64", "u64", "b64") or {"sat", "cc", "relu"} & set(ins.opcode):
        return None
    bits = int(kind[1:])
    if name == "cvt":
        if ins.opcode[-2] not in ("s32", "u32", "s64", "u64"):
            return None
        value = wrap(args[0], bits)                        # the register may be wider than its type
        value = value if kind[0] == "s" or bits == 64 else unsigned(value, 32).astype(np.int64)
        return wrap(value, int(ins.opcode[-2][1:]))
    found = None
    if name in ("mov", "not", "neg") and len(args) == 1:
        found = {"mov": lambda a: a, "not": lambda a: ~a, "neg": lambda a: -a}[name](*args)
    elif name in ("add", "sub", "and", "or", "xor"):
        found = {"add": np.add, "sub": np.subtract, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[name](*args)
    elif name in ("shl", "shr"):
        found = shift(ins, args[0], args[1], bits)
    elif name in ("div", "rem"):
        found = divide(ins, args[0], args[1], bits)
    elif name == "bfi":
        found = insert(args[0], args[1], args[2], args[3], bits)
    elif name in ("mul", "mad"):
        found = multiply(ins, args[0], args[1], bits)
        if found is not None and name == "mad":
            found = found + args[2]
        bits = 2 * bits if "wide" in ins.opcode else bits
    return None if found is None else wrap(found, bits)


class Tables:
    """Known values of registers; `values`: name -> (warps, 32) array."""

    def __init__(self, program: Program, indices: Mapping[str, NDArray[np.int64]]) -> None:
        self.program = program
        self.values: dict[str, NDArray[np.int64]] = {}
        warps = len(indices["x"])
        if not warps:
            return
        for axis, values in indices.items():
            self.values[f"%tid.{axis}"] = values.astype(np.int64)
        self.values["%laneid"] = np.tile(np.arange(abi.LANES), (warps, 1))
        self._find()

    def _argument(self, operand):
        """Return an operand's table, or None."""
        if isinstance(operand, Imm) and not operand.float_bytes:
            return np.int64(wrap(operand.value, 64) if -(1 << 63) <= operand.value < 1 << 63 else operand.value - (1 << 64))
        return self.values.get(operand.name) if isinstance(operand, Reg) else None

    def _result(self, ins):
        """Return the table of an instruction's result, or None."""
        if ins.guard is not None or ins.kind is Kind.LOAD or len(ins.destinations) != 1:
            return None
        args = [self._argument(o) for o in ins.inputs]
        if not args or any(a is None for a in args) or all(a.ndim == 0 for a in args):
            return None
        table = evaluate(ins, args)
        wider = ins.opcode[0] == "cvt" and self.program.slots[ins.destinations[0].name][1][1:] != ins.opcode[-2][1:]
        return None if wider else table

    def _find(self):
        """Go through the program once, in order; a register with several definitions is not known."""
        defined: dict[str, int] = {}
        for ins in self.program.instructions:
            for register in ins.destinations:
                defined[register.name] = defined.get(register.name, 0) + 1
        for block in self.program.blocks:
            for ins in block.instructions:
                targets = ins.destinations
                if len(targets) == 1 and defined[targets[0].name] == 1:
                    table = self._result(ins)
                    if table is not None:
                        self.values[targets[0].name] = table

    def pattern(self, name: str) -> NDArray[np.int64] | None:
        """Return the 32 lane differences of a known register when they are the same for every warp, else None."""
        table = self.values.get(name)
        if table is None:
            return None
        lanes = table - table[:, :1]
        return lanes[0] if (lanes == lanes[0]).all() else None
