"""Basic blocks, the order in which a divergent warp visits them, and which registers are alive where."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from course_lib.simt.errors import PtxSyntaxError
from course_lib.simt.isa import warpgroup
from course_lib.simt.isa.special import CLOCKS
from course_lib.simt.ptx.ir import ACCESSES, Function, Imm, Instruction, Kind, Reg, at_line, type_bytes

ENDS = ("bra", "ret", "exit", "trap", "brx", "call")
REFERENCE_ONLY = frozenset({Kind.EXCHANGE, Kind.ATOMIC, Kind.CALL, Kind.INDEXED_BRANCH, Kind.TRAP, Kind.SLEEP,
                            Kind.ARRIVAL, Kind.WARP_BARRIER, Kind.IMAGE, Kind.MBARRIER,
                            Kind.WARPGROUP})  # what the uniform generator leaves to the other
BY_RUNTIME = frozenset({Kind.MATRIX, Kind.COPY})  # of all lanes, on the register file


@dataclass
class Block:
    """A straight run of instructions; `first` is the index of its first instruction in the function."""

    index: int
    first: int
    instructions: list[Instruction] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)
    live_in: frozenset[str] = frozenset()
    head: bool = True  # False: the uniform generator's code only gets here from the block before
    uniform: bool = True  # False: holds an instruction that only the reference generator translates
    by_runtime: bool = False  # holds nothing but instructions of the kinds BY_RUNTIME
    continues: bool = False  # a head only because the block before is by_runtime, or this one is
    loop: bool = False  # part of a loop
    loop_head: int | None = None  # the block where the innermost loop around this one begins
    polls: bool = False  # may go round a loop until another thread has changed memory

    @property
    def last(self) -> Instruction | None:
        """The instruction that leaves the block, or None when it falls through."""
        if self.instructions and self.instructions[-1].opcode[0] in ENDS:
            return self.instructions[-1]
        return None


def build(function: Function, first: int = 0) -> list[Block]:
    """Split a function into blocks, in an order that makes the lanes of a warp reconverge early.

    The order is a weak topological one (Bourdoncle): every block comes before its successors except on the edge back to
    a loop's head, and the blocks of a loop are neighbours. A warp that always runs its lowest waiting block therefore
    finishes a loop with all lanes before any lane goes on behind it.

    `first` is the number of the function's first instruction.
    """
    blocks, labels = split(function, first)
    for block in blocks:
        block.successors = successors(block, function, labels)
    order, loops = weak_topological_order(blocks)
    for head, members in sorted(loops.items(), key=lambda item: -len(item[1])):
        for index in members:
            blocks[index].loop, blocks[index].loop_head = True, head
    position = {old: new for new, old in enumerate(order)}
    ordered = [blocks[old] for old in order]
    for new, block in enumerate(ordered):
        block.index = new
        block.successors = [position[s] for s in block.successors]
        block.loop_head = None if block.loop_head is None else position.get(block.loop_head)
        block.polls = (block.loop or not function.kernel) and any(looks(ins) for ins in block.instructions)
        block.uniform = block.uniform and not block.polls
    liveness(ordered)
    return ordered


def looks(ins: Instruction) -> bool:
    """Say whether an instruction reads memory in the expectation that other threads change it."""
    if ins.kind is Kind.MBARRIER:
        return ins.opcode[1] in ("test_wait", "try_wait")
    return ins.opcode[0] == "atom" or ins.kind is Kind.LOAD and bool({"volatile", "relaxed", "acquire", "mmio"} & set(ins.opcode))


def can_be_uniform(ins: Instruction) -> bool:
    """Say whether the uniform generator knows an instruction: no guards but on branches, no local or generic memory."""
    if ins.guard is not None:
        return ins.kind is Kind.BRANCH
    if any(isinstance(o, Reg) and o.name in CLOCKS for o in ins.operands):
        return False
    if ins.kind in BY_RUNTIME:
        return True
    if ins.kind in REFERENCE_ONLY or ins.opcode[0] == "cp" or ins.opcode[-1] == "b128":
        return False
    if ins.kind in ACCESSES:
        if not {"global", "shared", "param", "const"} & set(ins.opcode):
            return False
        param = "param" in ins.opcode or "const" in ins.opcode
        base = ins.address.base
        return not (param and base is not None) and not ("shared" in ins.opcode and type_bytes(ins.opcode[-1]) < 4)
    if ins.kind is Kind.BARRIER:  # the block's own, with all its threads
        return "sync" in ins.opcode and ins.operands == (Imm(0),)
    return "func" not in ins.opcode


def may_leave(ins: Instruction, bases: set[str]) -> bool:
    """Say whether the uniform generator's code may have to stop just before `ins`; `bases` are address registers checked already."""
    if ins.kind in ACCESSES:
        base = ins.address.base
        if base is None or base.name in bases or "param" in ins.opcode or "const" in ins.opcode:
            return False
        bases.add(base.name)
        return True
    return widens(ins)


def widens(ins: Instruction) -> bool:
    """Say whether an instruction makes a 64-bit integer from 32-bit ones."""
    if ins.opcode[0] == "cvt":
        return ins.opcode[-2] in ("s64", "u64") and ins.opcode[-1] in ("s32", "u32")
    return "wide" in ins.opcode and ins.opcode[-1] in ("s32", "u32")


def split(function: Function, first: int = 0) -> tuple[list[Block], dict[str, int]]:
    blocks: list[Block] = []
    labels: dict[str, int] = {}
    pending: list[str] = []
    current: Block | None = None
    bases: set[str] = set()
    number = first
    for item in function.body:
        if not isinstance(item, Instruction):
            pending.append(item)
            current = None
            continue
        if warpgroup.may_wait(item):
            current = None               # a warp that waits begins its block again
        uniform, by_runtime = can_be_uniform(item), item.kind in BY_RUNTIME and item.guard is None
        parted = current is None or uniform != current.uniform
        head = current is None or parted or by_runtime != current.by_runtime
        if head:
            bases = set()
        if may_leave(item, bases) or current is None or head:
            current = Block(len(blocks), number, head=head, uniform=uniform, by_runtime=by_runtime, continues=head and not parted)
            blocks.append(current)
            labels.update(dict.fromkeys(pending, current.index))
            pending = []
        bases -= {r.name for r in item.destinations}
        current.instructions.append(item)
        number += 1
        if item.opcode[0] in ENDS or item.kind in (Kind.BARRIER, Kind.WARP_BARRIER):
            current = None
    if pending or not blocks or falls_through(blocks[-1]):
        end = Block(len(blocks), number, [Instruction(("ret",), (), None, 0)])
        labels.update(dict.fromkeys(pending, end.index))
        blocks.append(end)
    return blocks, labels


def falls_through(block: Block) -> bool:
    """Say whether lanes may go on from a block to the one behind it."""
    return block.last is None or block.last.kind is Kind.CALL or block.last.guard is not None


def successors(block: Block, function: Function, labels: Mapping[str, int]) -> list[int]:
    after, last = [block.index + 1] if falls_through(block) else [], block.last
    if last is None or last.kind not in (Kind.BRANCH, Kind.INDEXED_BRANCH):
        return after
    names = (last.operands[0].name,) if last.kind is Kind.BRANCH else function.tables[last.operands[1].name]
    for name in names:
        if name not in labels:
            raise PtxSyntaxError(f"{at_line(last)}{last.name} goes to {name!r}, which is no label of this function.", line=last.where,
                                 opcode=last.name)
    return [labels[name] for name in names] + after


def weak_topological_order(blocks: Sequence[Block]) -> tuple[list[int], dict[int, list[int]]]:
    """Return (block indices in Bourdoncle's order, loop head -> indices in the loop); unreachable blocks are left out."""
    number: dict[int, float] = {}  # infinite: done
    stack: list[int] = []
    order: list[list[int]] = []
    loops: dict[int, list[int]] = {}
    counter = [0]

    def component(vertex: int) -> list[int]:
        part: list[list[int]] = []
        for target in blocks[vertex].successors:
            if number.get(target, 0) == 0:
                visit(target, part)
        return [vertex] + flatten(part)

    def visit(vertex: int, partition: list[list[int]]) -> float:
        stack.append(vertex)
        counter[0] += 1
        head: float = counter[0]
        number[vertex] = head
        loop = False
        for target in reversed(blocks[vertex].successors):
            least = visit(target, partition) if number.get(target, 0) == 0 else number[target]
            if least <= head:
                head, loop = least, True
        if head == number[vertex]:
            number[vertex] = float("inf")
            element = stack.pop()
            if loop:
                while element != vertex:
                    number[element] = 0
                    element = stack.pop()
                partition.insert(0, component(vertex))
                loops[vertex] = partition[0]
            else:
                partition.insert(0, [vertex])
        return head

    def flatten(parts: list[list[int]]) -> list[int]:
        return [v for part in parts for v in part]

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20 * len(blocks) + 1000))
    try:
        visit(0, order)
    finally:
        sys.setrecursionlimit(limit)
    return flatten(order), loops


def liveness(blocks: Sequence[Block]) -> None:
    """Set `live_in` of every block: the registers whose value may still be read."""
    reads, writes = [], []
    for block in blocks:
        read: set[str] = set()
        written: set[str] = set()
        for ins in block.instructions:
            read |= {r.name for r in ins.sources} - written
            if ins.guard is None:
                written |= {r.name for r in ins.destinations}
        reads.append(read)
        writes.append(written)
    live: list[set[str]] = [set() for _ in blocks]
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            out = set().union(*(live[s] for s in block.successors)) if block.successors else set()
            new = reads[block.index] | (out - writes[block.index])
            if new != live[block.index]:
                live[block.index], changed = new, True
    for block in blocks:
        block.live_in = frozenset(live[block.index])


def needed_behind(block: Block, at: int, blocks: Sequence[Block]) -> frozenset[str]:
    """Return the registers whose value may still be read behind the instruction `at` of a block."""
    needed = set().union(*(blocks[s].live_in for s in block.successors))
    for ins in reversed(block.instructions[at + 1:]):
        if ins.guard is None:
            needed -= {r.name for r in ins.destinations}
        needed |= {r.name for r in ins.sources}
    return frozenset(needed)


def used(blocks: Sequence[Block]) -> frozenset[str]:
    """Return the registers that anything reads but a store to the stack: code for a debugger puts each result there, wanted or not."""
    found: set[str] = set()
    for ins in (ins for block in blocks for ins in block.instructions):
        if ins.kind is not Kind.STORE or not getattr(ins.address.base, "name", "").startswith("%SP"):
            found |= {r.name for r in ins.sources}
    return frozenset(found)
