"""Basic blocks, the order in which a divergent warp visits them, and which registers are alive where."""

from dataclasses import dataclass, field

from course_lib.simt.errors import PtxSyntaxError
from course_lib.simt.isa.special import CLOCKS
from course_lib.simt.ptx.ir import ACCESSES, Imm, Instruction, Kind, Reg, type_bytes

ENDS = ("bra", "ret", "exit", "trap", "brx", "call")
REFERENCE_ONLY = frozenset({Kind.EXCHANGE, Kind.ATOMIC, Kind.MATRIX, Kind.COPY, Kind.CALL, Kind.INDEXED_BRANCH, Kind.TRAP, Kind.SLEEP,
                            Kind.ARRIVAL, Kind.WARP_BARRIER})  # what code for whole warps leaves to the code for any lanes


@dataclass
class Block:
    """A straight run of instructions; `first` is the index of its first instruction in the function."""

    index: int
    first: int
    instructions: list = field(default_factory=list)
    successors: list = field(default_factory=list)
    live_in: frozenset = frozenset()
    head: bool = True  # False: fast code only gets here from the block before
    fast: bool = True  # False: holds an instruction that only masked code can run
    loop: bool = False  # part of a loop
    loop_head: int | None = None  # the block where the innermost loop around this one begins
    polls: bool = False  # may go round a loop until another thread has changed memory

    @property
    def last(self):
        """The instruction that leaves the block, or None when it falls through."""
        if self.instructions and self.instructions[-1].opcode[0] in ENDS:
            return self.instructions[-1]
        return None


def build(function, first=0):
    """Split a function into blocks, in an order that makes lanes of a warp meet again early.

    The order is a weak topological one (Bourdoncle): every block comes before its successors except on the way back to
    a loop's head, and the blocks of a loop are neighbours. A warp that always runs its lowest waiting block therefore
    finishes a loop with all lanes before any lane goes on behind it.

    `first` is the number of the function's first instruction.

    Returns
    -------
    list of Block
    """
    blocks, labels = split(function, first)
    for block in blocks:
        block.successors = successors(block, function, labels)
    order, loops = weak_topological_order(blocks)
    for head, members in sorted(loops.items(), key=lambda item: -len(item[1])):
        for index in members:
            blocks[index].loop, blocks[index].loop_head = True, head
    place = {old: new for new, old in enumerate(order)}
    ordered = [blocks[old] for old in order]
    for new, block in enumerate(ordered):
        block.index = new
        block.successors = [place[s] for s in block.successors]
        block.loop_head = place.get(block.loop_head)
        block.polls = (block.loop or not function.kernel) and any(looks(ins) for ins in block.instructions)
        block.fast = block.fast and not block.polls
    liveness(ordered)
    return ordered


def looks(ins):
    """Say whether an instruction reads memory in the expectation that other threads change it."""
    return ins.opcode[0] == "atom" or ins.kind is Kind.LOAD and bool({"volatile", "relaxed", "acquire", "mmio"} & set(ins.opcode))


def can_be_fast(ins):
    """Say whether fast code knows an instruction: no guards but on branches, no local or generic memory."""
    if ins.guard is not None:
        return ins.kind is Kind.BRANCH
    if any(isinstance(o, Reg) and o.name in CLOCKS for o in ins.operands):
        return False
    if ins.kind in REFERENCE_ONLY or ins.opcode[0] == "cp":
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


def may_leave(ins, bases):
    """Say whether fast code may have to stop just before `ins`; `bases` are address registers checked already."""
    if ins.kind in ACCESSES:
        base = ins.address.base
        if base is None or base.name in bases or "param" in ins.opcode or "const" in ins.opcode:
            return False
        bases.add(base.name)
        return True
    return widens(ins)


def widens(ins):
    """Say whether an instruction makes a 64-bit integer from 32-bit ones."""
    if ins.opcode[0] == "cvt":
        return ins.opcode[-2] in ("s64", "u64") and ins.opcode[-1] in ("s32", "u32")
    return "wide" in ins.opcode and ins.opcode[-1] in ("s32", "u32")


def split(function, first=0):
    blocks, labels, pending, current = [], {}, [], None
    number, bases = first, set()
    for item in function.body:
        if not isinstance(item, Instruction):
            pending.append(item)
            current = None
            continue
        head = current is None
        fast = can_be_fast(item)
        head = head or fast != current.fast
        if head:
            bases = set()
        if may_leave(item, bases) or head:
            current = Block(len(blocks), number, head=head, fast=fast)
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


def falls_through(block):
    """Say whether lanes may go on from a block to the one behind it."""
    return block.last is None or block.last.kind is Kind.CALL or block.last.guard is not None


def successors(block, function, labels):
    after, last = [block.index + 1] if falls_through(block) else [], block.last
    names = []
    if last is not None and last.kind is Kind.BRANCH:
        names = [getattr(last.operands[0], "name", None)]
    elif last is not None and last.kind is Kind.INDEXED_BRANCH:
        names = function.directives.get(last.operands[1].name, (None,))
    for name in names:
        if name not in labels:
            raise PtxSyntaxError(f"A branch goes to {name!r}, which is no label of this function.")
    return [labels[name] for name in names] + after


def weak_topological_order(blocks):
    """Return (block indices in Bourdoncle's order, loop head -> indices in the loop); unreachable blocks are left out."""
    number, stack, order, loops = {}, [], [], {}
    counter = [0]

    def component(vertex):
        part = []
        for target in blocks[vertex].successors:
            if number.get(target, 0) == 0:
                visit(target, part)
        return [vertex] + flatten(part)

    def visit(vertex, partition):
        stack.append(vertex)
        counter[0] += 1
        head = number[vertex] = counter[0]
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

    def flatten(parts):
        return [v for part in parts for v in part]

    import sys
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20 * len(blocks) + 1000))
    try:
        visit(0, order)
    finally:
        sys.setrecursionlimit(limit)
    return flatten(order), loops


def liveness(blocks):
    """Set `live_in` of every block: the registers whose value may still be read."""
    reads, writes = [], []
    for block in blocks:
        read, written = set(), set()
        for ins in block.instructions:
            read |= {r.name for r in ins.sources} - written
            if ins.guard is None:
                written |= {r.name for r in ins.destinations}
        reads.append(read)
        writes.append(written)
    live = [set() for _ in blocks]
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
