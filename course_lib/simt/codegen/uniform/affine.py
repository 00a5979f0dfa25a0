"""Which registers hold one value for the whole warp, and which a uniform base plus a difference per lane.

Uniform code holds an integer register as `u + V`: a scalar u and 32 lane differences V. Adding something uniform leaves V
alone, so V is stored once, at its *root* (the instruction that made it), and everything known about it (which lanes are
neighbours, sectors, wavefronts) is worked out once. A kind is one of

    None            no definition seen yet
    ("U",)          uniform
    ("S", root)     split; root is ("const", 32 ints), ("ins", number) or ("reg", name)
    ("V",)          a plain vector of 32 values

The analysis looks at data flow alone: uniform code only runs while all lanes are together.
"""

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from course_lib.simt.codegen.uniform import regions
from course_lib.simt.codegen.uniform.known import Tables
from course_lib.simt.isa.special import WINDOW_32, WINDOW_64
from course_lib.simt.passes import cfg
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Mem, Reg
from course_lib.simt.runtime import abi

Root = tuple[str, Any]          # ("const", 32 ints), ("ins", number), ("reg", name), or ("use", number) of an address without a root
RegisterKind = tuple[Any, ...]
Shape = tuple[int, int, int]
UNIFORM: RegisterKind = ("U",)
VECTOR: RegisterKind = ("V",)
INTEGERS = ("s32", "u32", "b32", "s64", "u64", "b64")
TRANSPARENT = ("mov", "add", "sub", "mul", "mad", "shl", "cvt")
UNIFORM_SPECIAL = ("%ctaid.x", "%ctaid.y", "%ctaid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y",
                   "%nctaid.z", "%warpid", "%nwarpid", "%warpsize", WINDOW_32, WINDOW_64)     # no rank: see host/clusters.py


def split(root: Root) -> RegisterKind:
    """Return the kind of registers whose lane part lies at a root."""
    return ("S", root)


def is_split(kind: RegisterKind | None) -> TypeGuard[RegisterKind]:
    """Say whether a register of this kind is held as a uniform base and a lane part."""
    return kind is not None and kind[0] == "S"


def constant(values: ArrayLike, bits: int) -> Root:
    """Return a constant root, its lanes wrapped to signed numbers of `bits` bits; all zero is no split at all."""
    wrapped = (np.asarray(values, dtype=object) + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    return ("const", tuple(int(v) for v in wrapped))


class KindAnalysis:
    """The kind of every register of a program, for one shape of thread block.

    `regions`: branches that may make a warp diverge and whose regions uniform code can run; `merged`: registers of which other
    lanes keep their old value meanwhile.
    """

    def __init__(self, program: Program, block: Shape) -> None:
        self.program = program
        self.special = special_kinds(block)
        self.known = Tables(program, thread_indices(block))
        self.forced: set[str] = set()
        self.merged: set[str] = set()
        self.regions: dict[int, regions.Region] = {}
        self.kinds: dict[str, RegisterKind | None] = {}
        found = regions.find(program)
        self.relevant = address_registers(program)
        self.after = live_after(program)
        written = {r.name for ins in program.instructions for r in ins.destinations}
        while True:
            self.kinds = {name: None if name in written - self.merged else VECTOR for name in program.slots}
            self.kinds.update({n: k for n, k in self.special.items() if n in program.slots})
            self._iterate()
            unreached = [name for name, kind in self.kinds.items() if kind is None]  # what unreachable code alone would write
            if unreached:
                self.kinds.update(dict.fromkeys(unreached, VECTOR))
                self._iterate()
            clash, diverging = self._clashes(), self._diverging(found)
            if not clash and not diverging:
                break
            self.forced |= clash

    def of(self, name: str) -> RegisterKind:
        """Return the kind of a register, once all are known."""
        kind = self.kinds[name]
        assert kind is not None
        return kind

    def _diverging(self, found):
        """Note the regions of branches at which a warp may diverge; return the registers that must be vectors for it, but are not."""
        missing: set[str] = set()
        for index, region in found.items():
            start = self.program.blocks[index]
            if index not in self.regions and self.kind(start.last.guard) != UNIFORM:
                self.regions[index] = region
                merged = regions.merged(self.program, start, region)
                missing |= {name for name in merged if self.kinds.get(name) != VECTOR}
                self.merged |= merged
        return missing

    def kind(self, operand: Reg | Imm) -> RegisterKind | None:
        """Return the kind of an operand."""
        if isinstance(operand, Imm):
            return UNIFORM
        return self.kinds.get(operand.name, UNIFORM)

    def _iterate(self):
        changed = True
        while changed:
            changed = False
            for block in self.program.blocks:
                for i, ins in enumerate(block.instructions):
                    for register, new in zip(ins.destinations, self.results(ins, block.first + i)):
                        joined = self._join(register.name, self.kinds[register.name], new)
                        if joined != self.kinds[register.name]:
                            self.kinds[register.name], changed = joined, True

    def _join(self, name, old, new):
        if new is None or old == new:
            return old
        if name in self.forced and new[0] == "S" and old != VECTOR:
            return split(("reg", name))
        if old is None:
            return new
        if VECTOR in (old, new):
            return VECTOR
        return split(("reg", name))

    def results(self, ins: Instruction, number: int) -> list[RegisterKind | None]:
        """Return the kinds of an instruction's destinations."""
        targets = ins.destinations
        if not targets:
            return []
        if not cfg.can_be_uniform(ins) or ins.kind in cfg.BY_RUNTIME:
            return [VECTOR] * len(targets)
        if ins.kind is Kind.LOAD:
            base = ins.operands[1].base
            kind = self.kind(base) if base is not None else UNIFORM
            return [kind if kind in (None, UNIFORM) else VECTOR] * len(targets)
        given = [self.kind(o) for o in ins.inputs]
        if any(k is None for k in given):
            return [None] * len(targets)
        if all(k == UNIFORM for k in given):
            return [UNIFORM] * len(targets)
        pattern = self.known_pattern(ins)
        if pattern is not None:
            return [split(constant(pattern, int(self.program.slots[targets[0].name][1][1:]))) if pattern.any() else UNIFORM]
        if ins.opcode[0] in TRANSPARENT and ins.opcode[-1] in INTEGERS and len(targets) == 1 and len(given) == len(ins.operands) - 1:
            return [self._integer(ins, number, given)]
        return [VECTOR] * len(targets)

    def known_pattern(self, ins: Instruction) -> NDArray[np.int64] | None:
        """Return the pattern of a result that is uniform plus a pattern because all its inputs are known beforehand, else None."""
        targets = ins.destinations
        if len(targets) != 1 or self.program.slots[targets[0].name][1] not in ("i32", "i64"):
            return None
        return self.known.pattern(targets[0].name)

    def _integer(self, ins, number, given):
        """Kind of `u + V` arithmetic; VECTOR where splitting is impossible or of no use."""
        name, relevant = ins.opcode[0], ins.destinations[0].name in self.relevant
        fresh = split(("ins", number)) if relevant else VECTOR
        bits = 64 if "wide" in ins.opcode or ins.opcode[-1 if name != "cvt" else -2].endswith("64") else 32
        if "sat" in ins.opcode or "hi" in ins.opcode:
            return VECTOR
        if name == "mov":
            return given[0]
        if name == "cvt":
            slot = int(self.program.slots[ins.destinations[0].name][1][1:])
            if ins.opcode[-2] not in INTEGERS or slot != bits:      # into a wider register: extended lane by lane
                return VECTOR
            return self._scaled(self._narrowed(given[0], int(ins.opcode[-1][1:])), 1, bits, fresh)
        if name in ("add", "sub"):
            return self._sum_kind(given, -1 if name == "sub" else 1, bits, fresh)
        if name == "shl":
            amount = ins.operands[2].value if isinstance(ins.operands[2], Imm) else None
            factor = 1 << amount if amount is not None and amount in range(bits) else None
            return self._scaled(given[0], factor, bits, fresh) if given[1] == UNIFORM else VECTOR
        product = self._product_kind(ins, given, bits, fresh)
        return product if name == "mul" or product == VECTOR else self._sum_kind([product, given[2]], 1, bits, fresh)

    def _product_kind(self, ins, given, bits, fresh):
        if UNIFORM not in given[:2]:
            return VECTOR if fresh == VECTOR or "wide" in ins.opcode else fresh
        if given[0] == given[1] == UNIFORM:
            return UNIFORM
        at = 0 if given[0] == UNIFORM else 1
        factor = ins.operands[1 + at].value if isinstance(ins.operands[1 + at], Imm) else None
        if factor is not None and "wide" in ins.opcode and ins.opcode[-1] == "u32":
            factor %= 1 << 32  # compilers write 2863311531 as -1431655765
        return self._scaled(given[1 - at], factor, bits, fresh)

    @staticmethod
    def _narrowed(kind, bits):
        """A source of cvt, whose register may be wider than the `bits` that are read of it."""
        return split(constant(kind[1][1], bits)) if is_split(kind) and kind[1][0] == "const" else kind

    @staticmethod
    def _scaled(kind, factor, bits, fresh):
        if kind == UNIFORM:
            return UNIFORM
        if is_split(kind) and kind[1][0] == "const" and factor is not None:
            return split(constant([v * factor for v in kind[1][1]], bits))
        return fresh

    @staticmethod
    def _sum_kind(given, sign, bits, fresh):
        a, b = given
        if b == UNIFORM and a[0] == "S" or a == b == UNIFORM:
            return a
        if a == UNIFORM and b[0] == "S" and sign == 1:
            return b
        lanes = [k[1][1] if k[0] == "S" and k[1][0] == "const" else (0,) * abi.LANES if k == UNIFORM else None for k in given]
        if None not in lanes:
            return split(constant([x + sign * y for x, y in zip(*lanes)], bits))
        return fresh

    def _clashes(self):
        """Registers that share a root with an instruction that overwrites the root while they are alive."""
        found = set()
        for number, alive in self.after.items():
            ins = self.program.instructions[number]
            for target in ins.destinations:
                kind = self.kinds[target.name]
                if kind is None or kind[0] != "S" or not self.writes(kind[1], target.name, number):
                    continue
                for name in alive:
                    if name != target.name and self.kinds.get(name) == kind and kind[1] != ("reg", name):
                        found.add(name)
        return found - self.forced

    @staticmethod
    def writes(root: Root, name: str, number: int) -> bool:
        """Say whether the instruction `number`, which defines `name`, stores the lanes of `root`."""
        return root == ("ins", number) or root == ("reg", name)


def address_registers(program: Program) -> set[str]:
    """Return the registers whose value ends in an address through additions and multiplications."""
    found = set()
    for ins in program.instructions:
        for operand in ins.operands:
            if isinstance(operand, Mem) and isinstance(operand.base, Reg):
                found.add(operand.base.name)
    changed = True
    while changed:
        changed = False
        for ins in program.instructions:
            if ins.opcode[0] in TRANSPARENT and any(r.name in found for r in ins.destinations):
                more = {r.name for r in ins.sources} - found
                found |= more
                changed = changed or bool(more)
    return found


def live_after(program: Program) -> dict[int, frozenset[str]]:
    """Map each instruction number to the set of registers alive behind it."""
    found = {}
    by_index = {b.index: b for b in program.blocks}
    for block in program.blocks:
        live = set().union(*(by_index[s].live_in for s in block.successors)) if block.successors else set()
        for i in range(len(block.instructions) - 1, -1, -1):
            found[block.first + i] = frozenset(live)
            ins = block.instructions[i]
            if ins.guard is None:
                live -= {r.name for r in ins.destinations}
            live |= {r.name for r in ins.sources}
    return found


def special_kinds(block: Shape) -> dict[str, RegisterKind]:
    """Return the kinds of the special registers for thread blocks of this shape."""
    kinds = dict.fromkeys(UNIFORM_SPECIAL, UNIFORM)
    kinds["%laneid"] = split(constant(range(abi.LANES), 32))
    for name in ("%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"):
        kinds[name] = VECTOR
    for axis, values in thread_indices(block).items():
        lanes = values[:, :] - values[:, :1] if len(values) else np.zeros((1, abi.LANES), int)
        if (lanes == lanes[0]).all():
            kinds[f"%tid.{axis}"] = split(constant(lanes[0], 32)) if lanes[0].any() else UNIFORM
        else:
            kinds[f"%tid.{axis}"] = VECTOR
    return kinds


def thread_indices(block: Shape) -> dict[str, NDArray[np.int64]]:
    """Return axis -> (full warps, 32) thread indices of a block of shape (x, y, z)."""
    count = block[0] * block[1] * block[2] // abi.LANES
    linear = np.arange(count * abi.LANES).reshape(count, abi.LANES)
    return {"x": linear % block[0], "y": linear // block[0] % block[1], "z": linear // (block[0] * block[1])}
