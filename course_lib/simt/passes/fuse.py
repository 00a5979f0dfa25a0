"""Which neighbouring loads, and which stores, the assembler joins into one wider instruction.

PTX loads As[ty][0], As[ty][1], … one by one; the GPU's assembler makes `LDS.64` of two that fill an aligned 8 bytes, and
`LDS.128` of such a pair and at least one of the two words beside it, when they have the same base register and nothing
between them may write there. The words may be loaded in different blocks of code if the first of them comes before the
others on every path; a loop or a barrier ends the search. Stores are joined in one block of code, when they fill all the
8 or 16 bytes. In global memory the assembler cannot know how an array is aligned, unless a wider access with the same base
register tells it: so parts of structures are joined. Requests, instructions, wavefronts and sectors are counted accordingly.

Source: `ptxas` 12.9, 13.0 and 13.5 as seen in the SASS of small kernels; held to Nsight Compute's counts on an H200.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from course_lib.simt.passes.cfg import Block
from course_lib.simt.ptx.ir import ACCESSES, BARRIERS, Imm, Instruction, Kind, Reg, Vec, type_bytes

ABSORBED = 1  # mark of an access that another one carries out
UNKNOWN = 64
Key: TypeAlias = tuple[str | None, str, str]  # base register, space, "nc" for what is read only


def zeros(value: int) -> int:
    """Return how many low bits of an integer are zero."""
    return UNKNOWN if value == 0 else (value & -value).bit_length() - 1


def low_zeros(instructions: Sequence[Instruction]) -> dict[str, int]:
    """Return register -> number of low bits known to be zero, by data flow."""
    known: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for ins in instructions:
            for register in ins.destinations:
                new = min(known.get(register.name, UNKNOWN), result_zeros(ins, known))
                if known.get(register.name) != new:
                    known[register.name], changed = new, True
    return known


def result_zeros(ins: Instruction, known: Mapping[str, int]) -> int:
    name = ins.opcode[0]
    if ins.kind in (Kind.LOAD, Kind.ATOMIC, Kind.EXCHANGE) or ins.guard is not None:
        return 0
    given = [zeros(o.value) if isinstance(o, Imm) else known.get(o.name, 0 if o.name.startswith("%") and "." in o.name else UNKNOWN)
             for o in ins.inputs if isinstance(o, (Imm, Reg))]
    if name in ("mov", "cvt"):
        return min(given, default=0)
    if name in ("add", "or", "xor", "selp", "min", "max"):
        return min(given[:2])
    if name == "and":
        return max(given)
    if name == "shl" and isinstance(ins.operands[2], Imm):
        return given[0] + (ins.operands[2].value & 0xFFFFFFFF)
    if name in ("mul", "mad") and "hi" not in ins.opcode:
        product = given[0] + given[1]
        return product if name == "mul" else min(product, given[2])
    return 0


def plan(instructions: Sequence[Instruction], blocks: Sequence[Block]) -> dict[int, int]:
    """Return instruction number -> bytes that it moves in the assembler's code, or ABSORBED."""
    known = low_zeros(instructions)
    joined: dict[int, int] = {}
    dominators, before = dominance(blocks)
    after: dict[int, dict[Key, _Group]] = {}
    groups: list[_Group] = []
    for block in blocks:
        search = _Search(block, inherited(block, before, after), groups)
        for i, ins in enumerate(block.instructions):
            search.step(ins, block.first + i)
        after[block.index] = search.loads
    for group in groups:
        group.join(known, dominators, joined)
    return joined


def dominance(blocks: Sequence[Block]) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return ({block: bit set of the blocks on every path to it}, {block: blocks before it})."""
    before: dict[int, list[int]] = {b.index: [] for b in blocks}
    for block in blocks:
        for successor in block.successors:
            before[successor].append(block.index)
    everything = (1 << len(blocks)) - 1
    found = {b.index: everything if before[b.index] else 1 << b.index for b in blocks}
    changed = True
    while changed:
        changed = False
        for block in blocks:
            common = everything if before[block.index] else 0
            for other in before[block.index]:
                common &= found[other]
            common |= 1 << block.index
            if common != found[block.index]:
                found[block.index], changed = common, True
    return found, before


def inherited(block: Block, before: Mapping[int, Sequence[int]], after: Mapping[int, Mapping[Key, "_Group"]]) -> dict[Key, "_Group"]:
    """Return the open groups of shared loads at the start of a block: those that are open at the end of every block before it."""
    sources = before[block.index]
    if not sources or any(s not in after for s in sources):  # the start, or a loop's head
        return {}
    first, *rest = (after[s] for s in sources)
    return {key: group for key, group in first.items() if key[1] == "shared" and all(r.get(key) is group for r in rest)}


class _Group:
    """Accesses with one base register that nothing separates: offset -> [(instruction, block, bytes)]."""

    def __init__(self, base: str | None, space: str, store: bool) -> None:
        self.base, self.space, self.store = base, space, store
        self.members: dict[int, list[tuple[int, int, int]]] = {}

    def add(self, offset: int, number: int, block: int, nbytes: int) -> None:
        self.members.setdefault(offset, []).append((number, block, nbytes))

    def alignment(self, known: Mapping[str, int]) -> int:
        """Return the number of bytes that the base is known to be a multiple of, as far as it matters, by offset."""
        aligned = 1 << min(known.get(self.base, 0) if self.base else UNKNOWN, 4)
        if self.space == "shared":
            return aligned
        told = [nbytes for offset, parts in self.members.items() for _, _, nbytes in parts if offset % nbytes == 0]
        return max([aligned, *told])

    def join(self, known: Mapping[str, int], dominators: Mapping[int, int], joined: dict[int, int]) -> None:
        aligned = self.alignment(known)
        for size in (16, 8):
            for start in sorted({offset // size * size for offset in self.members}):
                if size <= aligned:
                    self.join_window(start, size, dominators, joined)

    def join_window(self, start: int, size: int, dominators: Mapping[int, int], joined: dict[int, int]) -> None:
        parts = [(offset, *part) for offset in range(start, start + size, 4) for part in self.members.get(offset, ())
                 if part[2] < size and part[0] not in joined]
        if not self.filled(parts, start, size):
            return
        carrier = min(parts, key=lambda part: (bin(dominators[part[2]]).count("1"), part[1]))
        if all(dominators[block] >> carrier[2] & 1 for _, _, block, _ in parts):
            joined.update({number: ABSORBED for _, number, _, _ in parts})
            joined[carrier[1]] = size

    def filled(self, parts: Sequence[tuple[int, int, int, int]], start: int, size: int) -> bool:
        """Say whether the parts fill a window well enough to be joined."""
        words = {offset + step for offset, _, _, nbytes in parts for step in range(0, nbytes, 4)}
        if len({number for _, number, _, _ in parts}) < 2:
            return False
        halves = [sum(start + half + word in words for word in range(0, size // 2, 4)) for half in (0, size // 2)]
        if self.store or self.space != "shared" or size == 8:
            return sum(halves) == size // 4
        return max(halves) == 2 and min(halves) > 0


class _Search:
    """Collects the groups of one block; `loads` are the open ones, key -> _Group."""

    def __init__(self, block: Block, loads: Mapping[Key, _Group], groups: list[_Group]) -> None:
        self.block, self.loads, self.groups = block, dict(loads), groups
        self.stores: dict[Key, _Group] = {}

    def step(self, ins: Instruction, number: int) -> None:
        name = ins.opcode[0]
        space = "shared" if "shared" in ins.opcode else "global" if "global" in ins.opcode else None
        if ins.kind in ACCESSES and {"param", "local", "const"} & set(ins.opcode):
            pass
        elif name == "ld":
            self.close(self.stores, space)
            self.take(ins, number, space, self.loads)
        elif name == "st":
            self.close(self.loads, space)
            where = ins.operands[0]
            for key in [k for k in self.stores if k[1] == space and k[0] != (where.base.name if where.base else None) or space is None]:
                del self.stores[key]
            self.take(ins, number, space, self.stores)
        elif ins.kind is Kind.ATOMIC:
            self.close(self.loads, space)
            self.close(self.stores, space)
        elif ins.kind in (*BARRIERS, Kind.FENCE, Kind.CALL) or name in ("cp", "wmma", "stmatrix", "mbarrier"):
            self.loads, self.stores = {}, {}
        for register in ins.destinations:
            for table in (self.loads, self.stores):
                for key in [k for k in table if k[0] == register.name]:
                    del table[key]

    def close(self, table: dict[Key, _Group], space: str | None) -> None:
        """End the groups that an access of another kind may touch; what is read only (`ld.global.nc`) stays."""
        for key in [k for k in table if (space is None or k[1] == space) and k[2] != "nc"]:
            del table[key]

    def take(self, ins: Instruction, number: int, space: str | None, table: dict[Key, _Group]) -> None:
        store = ins.kind is Kind.STORE
        plain = [part for part in ins.opcode[1:-1] if part not in (space, "nc", "v2", "v4")]
        where, data = ins.operands[0 if store else 1], ins.operands[1 if store else 0]
        nbytes = type_bytes(ins.opcode[-1]) * (len(data.items) if isinstance(data, Vec) else 1)
        if space is None or plain or ins.guard is not None or nbytes not in (4, 8, 16):
            if store:
                self.close(self.stores, space)
            return
        key = (where.base.name if where.base is not None else None, space, "nc" if "nc" in ins.opcode else "")
        if key not in table:
            table[key] = _Group(key[0], space, store)
            self.groups.append(table[key])
        if store and where.offset in table[key].members:
            table[key] = _Group(key[0], space, store)
            self.groups.append(table[key])
        table[key].add(where.offset, number, self.block.index, nbytes)
