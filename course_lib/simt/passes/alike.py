"""Which instructions of a block are counted alike, found once for a program instead of once for a launch."""

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass

from course_lib.simt.passes.cfg import Block
from course_lib.simt.ptx.ir import BARRIERS, Instruction, Kind

UNGUARDED = BARRIERS | {Kind.BRANCH, Kind.INDEXED_BRANCH, Kind.RETURN, Kind.CALL}    # a guard on these picks lanes, it hides no work


@dataclass(frozen=True)
class Alike:
    """The instructions of a block.

    `plain`: (source line, first word, last word of the opcode) -> how many that run exactly when the block does, and do nothing else
    that is counted. `single`: (number, instruction) of the others.
    """

    plain: dict[tuple[int, str, str], int]
    single: list[tuple[int, Instruction]]


def alike(block: Block, described: Container[int]) -> Alike:
    """Sort a block's instructions; `described`: numbers of those with counts of their own, such as memory accesses."""
    plain: Counter[tuple[int, str, str]] = Counter()
    single = []
    for number, ins in enumerate(block.instructions, block.first):
        if number in described or is_guarded(ins):
            single.append((number, ins))
        else:
            plain[ins.line, ins.opcode[0], ins.opcode[-1]] += 1
    return Alike(dict(plain), single)


def is_guarded(ins: Instruction) -> bool:
    """Say whether a guard hides this instruction's work from some lanes."""
    return ins.guard is not None and ins.kind not in UNGUARDED
