"""Whether the assembler's code brings lanes together again before memory is accessed, as this simulator does.

PTX says nothing about reconvergence, and the simulator lets lanes reconverge as early as it can. The machine code is exact: a branch's
lanes wait for each other at the `BSYNC` of a barrier that a `BSSY` opened before the branch. Where the two sides of a branch meet without
one, as when one case of a switch falls through to the next, they run the same instructions one after the other: one access of the PTX is
two requests.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

from course_lib.toolchain import SassInstruction

Access = tuple[int, str]                 # (source line, opcode without modifiers)
MEMORY = ("LDG", "STG", "LDS", "STS", "LDGSTS", "LD", "ST", "LDSM")
MOST_STATES = 200_000                    # looked at for one kernel; code with more is not understood
NEVER_MERGED = ("LDG", "STG")            # one for both sides of a branch would be fewer than the PTX has; `fuse.py` knows of LDS and STS
JUMPS = ("BRX", "JMX", "JMP", "BRXU", "JMXU")


class _Unknown(Exception):
    """The code jumps to where its text does not say, or is too long to be followed."""


def together(code: Sequence[SassInstruction], diverged: Set[int], written: Mapping[Access, int]) -> bool:
    """Say whether lanes of a warp that went both ways at a branch reconverge before any access that the PTX has only once.

    Parameters
    ----------
    code : sequence of SassInstruction
        The kernel's machine code, in the order of offsets.
    diverged : set of int
        Source lines of the branches at which lanes of a warp went both ways; 0 for lines outside of the kernel's own text.
    written : mapping
        How many accesses the PTX has of each line and opcode.
    """
    copies = Counter(access_of(ins) for ins in code if ins.base in MEMORY)
    if any(total(copies, opcode) < total(written, opcode) for opcode in NEVER_MERGED):
        return False
    paths = _Paths(code)
    try:
        for number, ins in enumerate(code):
            if can_split(ins) and (ins.line or 0) in diverged:
                taken, fallen = (paths.reached(start) for start in paths.successors(number))
                if any(code[n].base in MEMORY for n in taken & fallen):
                    return False
                both = accesses(code, taken) & accesses(code, fallen)
                if any(copies[access] > written.get(access, 0) for access in both):    # the assembler has written one access twice
                    return False
    except _Unknown:
        return False
    return bool(code)


def total(counts: Mapping[Access, int], opcode: str) -> int:
    """Return how many accesses there are of one opcode, whatever their lines: the assembler's lines are not always the PTX's."""
    return sum(times for (_, base), times in counts.items() if base == opcode)


def can_split(ins: SassInstruction) -> bool:
    """Say whether lanes of a warp may go both ways at a branch; `BRA.DIV` is taken only where they have diverged already."""
    conditional = ins.predicate is not None or len(ins.operands) > 1
    return ins.base == "BRA" and conditional and "DIV" not in ins.opcode and "UP" not in (ins.predicate or "")


def access_of(ins: SassInstruction) -> Access:
    """Return the source line of an access, 0 outside of the kernel's own text, and its opcode."""
    return ins.line or 0, ins.base


def accesses(code: Sequence[SassInstruction], numbers: Set[int]) -> set[Access]:
    """Return the lines and opcodes of the accesses among some instructions."""
    return {access_of(code[n]) for n in numbers if code[n].base in MEMORY}


class _Paths:
    """Where lanes can go in machine code."""

    def __init__(self, code: Sequence[SassInstruction]) -> None:
        self.code, self.left = code, MOST_STATES
        self.at = {ins.offset: number for number, ins in enumerate(code)}

    def reached(self, start: int) -> set[int]:
        """Return the instructions that lanes can come to from one side of a branch before they wait for those of the other side.

        A `BSYNC` of a barrier that was opened on the way keeps only these lanes together, and they go on.

        Raises
        ------
        _Unknown
            When it cannot be told.
        """
        seen: set[tuple[int, frozenset[str]]] = set()
        waiting = [(start, frozenset[str]())]
        while waiting:
            state = number, opened = waiting.pop()
            if state in seen or number >= len(self.code):
                continue
            seen.add(state)
            self.left -= 1
            if self.left < 0:
                raise _Unknown
            ins = self.code[number]
            barrier = ins.operands[0] if ins.operands else ""
            if ins.opcode == "WARPSYNC.ALL" or ins.base == "BSYNC" and barrier not in opened:
                continue
            opened = opened | {barrier} if ins.base == "BSSY" else opened - {barrier} if ins.base == "BSYNC" else opened
            waiting += [(after, opened) for after in self.successors(number)]
        return {number for number, _ in seen}

    def successors(self, number: int) -> Iterator[int]:
        """Return the numbers of the instructions that can follow one: the target of a branch first.

        Raises
        ------
        _Unknown
            When the target stands in a register.
        """
        ins = self.code[number]
        if ins.base in JUMPS:
            raise _Unknown
        if ins.base == "BRA" and "DIV" not in ins.opcode:
            yield self.target(ins)
        ends = ins.base in ("EXIT", "RET") or ins.base == "BRA" and len(ins.operands) == 1
        if ins.predicate is not None or not ends:
            yield number + 1

    def target(self, ins: SassInstruction) -> int:
        """Return the number of the instruction that a branch goes to."""
        try:
            return self.at[int(ins.operands[-1], 16)]
        except (KeyError, ValueError, IndexError):
            raise _Unknown from None
