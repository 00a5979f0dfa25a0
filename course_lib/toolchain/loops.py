"""The loops of a kernel's machine code, and what one turn of each executes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from course_lib.toolchain.sass import SassInstruction

Blocks = dict[int, list[SassInstruction]]      # basic blocks by the offset of their first instruction
Edges = dict[int, list[int]]                   # block -> those that can follow
ControlFlow = tuple[Blocks, Edges]
_ENDS = ("EXIT", "RET", "BRX", "BRXU", "JMP", "JMX", "JMXU", "KILL", "BPT")


@dataclass(frozen=True)
class Loop:
    """One loop.

    Attributes
    ----------
    start, end
        Offsets of its first instruction and of its last jump back.
    depth
        1 for an outermost loop.
    lines
        Source lines of its instructions, each once, in order.
    counts
        Instructions in its body, inner loops included: "instructions", every opcode without modifiers
        ("FFMA", "DFMA", "BAR", …), and for memory each width in bits too ("LDS", "LDS.32", "LDS.128", "LDG.64", …).
        Absent means 0. An instruction counts once, however often its body was unrolled it is there as often.
    instructions
        The body, inner loops included.
    """

    start: int
    end: int
    depth: int
    lines: tuple[int, ...]
    counts: Counter[str] = field(hash=False)
    instructions: tuple[SassInstruction, ...] = field(repr=False, hash=False)

    def within(self, other: "Loop") -> bool:
        """Tell whether this loop is part of another one, or the other one itself."""
        return other.start <= self.start and self.end <= other.end


def loops(instructions: Sequence[SassInstruction]) -> tuple[Loop, ...]:
    """Find the loops of a kernel.

    A loop is a jump back to an instruction through which every path into the loop leads. Code that only warps
    with diverged lanes reach (`BRA.DIV`) and functions that the kernel calls are left out.

    Parameters
    ----------
    instructions
        From `sass`.

    Returns
    -------
    By their start, outer before inner.

    >>> from course_lib.toolchain import compile_cuda, sass
    >>> text = '''extern "C" __global__ void dot(const float* x, float* y, int n) {
    ...     float sum = 0;
    ... #pragma unroll 1
    ...     for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    ...     *y = sum;
    ... }'''
    >>> [(loop.depth, loop.lines, loop.counts["FFMA"], loop.counts["LDG.32"]) for loop in loops(sass(compile_cuda(text)))]
    [(1, (4,), 1, 1)]
    """
    blocks, edges = graph(instructions)
    bodies: dict[int, tuple[set[int], int]] = {}                      # head -> (blocks of the body, last jump back)
    for tail, head in back_edges(edges):
        body, end = bodies.get(head, ({head}, 0))
        bodies[head] = body | body_of(head, tail, edges), max(end, tail)
    found = []
    for head, (body, tail) in bodies.items():
        depth = sum(head in other for other, _ in bodies.values())
        inside = [instruction for block in sorted(body) for instruction in blocks[block]]
        lines = sorted({i.line for i in inside if i.line})
        found.append(Loop(head, blocks[tail][-1].offset, depth, tuple(lines), count(inside), tuple(inside)))
    return tuple(sorted(found, key=lambda loop: (loop.start, -loop.end)))


def count(instructions: Iterable[SassInstruction]) -> Counter[str]:
    """Count instructions by opcode, and memory instructions by width in bits too.

    >>> from course_lib.toolchain import SassInstruction
    >>> sorted(count([SassInstruction(0, None, "LDS.128", (), 1), SassInstruction(16, None, "FFMA", (), 1)]).items())
    [('FFMA', 1), ('LDS', 1), ('LDS.128', 1), ('instructions', 2)]
    """
    counts: Counter[str] = Counter()
    for instruction in instructions:
        counts["instructions"] += 1
        counts[instruction.base] += 1
        if instruction.bits:
            counts[f"{instruction.base}.{instruction.bits}"] += 1
    return counts


def _target(instruction):
    """Return the offset that a branch leads to, or None when there is none or only diverged warps take it."""
    if instruction.base != "BRA" or instruction.opcode.startswith("BRA.DIV") or not instruction.operands:
        return None
    last = instruction.operands[-1]
    return int(last, 16) if last.startswith("0x") else None


def _goes_on(instruction):
    """Tell whether the next instruction can follow."""
    if instruction.predicate not in (None, "@PT", "@UPT"):
        return True
    if instruction.base == "BRA":
        return instruction.opcode.startswith("BRA.DIV") or len(instruction.operands) > 1
    return instruction.base not in _ENDS


def graph(instructions: Sequence[SassInstruction]) -> ControlFlow:
    """Cut into basic blocks; return those that the kernel's start leads to, and their successors, by first offset."""
    targets = {_target(i) for i in instructions}
    blocks: Blocks = {}
    current: list[SassInstruction] | None = None
    for instruction in instructions:
        if current is None or instruction.offset in targets:
            current = blocks.setdefault(instruction.offset, [])
        current.append(instruction)
        if _target(instruction) is not None or not _goes_on(instruction) or instruction.base == "EXIT":
            current = None
    starts = sorted(blocks)
    follows = dict(zip(starts, starts[1:], strict=False))
    edges: Edges = {}
    waiting = starts[:1]
    while waiting:
        block = waiting.pop()
        if block in edges:
            continue
        last = blocks[block][-1]
        targets_of = [_target(last), follows.get(block) if _goes_on(last) else None]
        edges[block] = [target for target in targets_of if target in blocks]
        waiting += edges[block]
    return blocks, edges


def back_edges(edges: Edges) -> Iterator[tuple[int, int]]:
    """Yield (tail, head) of every edge whose head lies on every path from the start to its tail."""
    dominators = _dominators(edges)
    for tail, heads in edges.items():
        for head in heads:
            if head in dominators[tail]:
                yield tail, head


def _dominators(edges):
    """Return for each block the blocks that every path to it passes."""
    everything, start = set(edges), min(edges, default=None)
    before = {block: [b for b in edges if block in edges[b]] for block in edges}
    found = {block: {start} if block == start else everything for block in edges}
    changed = True
    while changed:
        changed = False
        for block in sorted(everything - {start}):
            new = {block} | set.intersection(*(found[b] for b in before[block]))
            if new != found[block]:
                found[block], changed = new, True
    return found


def body_of(head: int, tail: int, edges: Edges) -> set[int]:
    """Return the blocks from which `tail` is reached without passing `head`."""
    body, waiting = {head}, [tail]
    while waiting:
        block = waiting.pop()
        if block not in body:
            body.add(block)
            waiting += [b for b in edges if block in edges[b]]
    return body
