"""Short forward branches: what lies between a branch and the block where its lanes reconverge.

After `if (row < M) x = A[i];` a warp diverges for a few instructions. Uniform code runs such a *region* under masks of its own and
goes on with all lanes, where other branches hand the warp over to reference code.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.simt.passes.cfg import Block
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Kind

MOST_BLOCKS, MOST_INSTRUCTIONS = 24, 96  # of a region; its code is there a second time
LARGE = 150  # blocks of a program; beyond this only loops are worth the time that LLVM takes for uniform code, and no region is:
# the first launch of sgemm_outputs took 0.95 s with them and 0.67 s without, a later one of N = 513 0.12 and 0.16 s (two cores)


@dataclass(frozen=True)
class Region:
    """Blocks that lanes of one branch may run before all of them are at block `join`, in the order in which they run."""

    blocks: tuple[Block, ...]
    join: int


def find(program: Program) -> dict[int, Region]:
    """Return branch block -> Region, for each branch whose lanes reconverge soon; none in a large program.

    The blocks are visited as reference code would: the lowest one at which lanes wait comes next.
    """
    found: dict[int, Region] = {}
    for block in program.blocks if len(program.blocks) <= LARGE else ():
        if block.uniform and block.last is not None and block.last.kind is Kind.BRANCH and block.last.guard is not None:
            region = between(program, block)
            if region is not None:
                found[block.index] = region
    return found


def between(program: Program, start: Block) -> Region | None:
    """Return the Region behind a branch, or None when the lanes do not reconverge in time."""
    waiting, size = set(start.successors), 0
    blocks: list[Block] = []
    last = start.index
    while len(waiting) > 1:
        block = program.blocks[min(waiting)]
        size += len(block.instructions)
        if block.index <= last or len(blocks) == MOST_BLOCKS or size > MOST_INSTRUCTIONS or not simple(block):
            return None
        blocks.append(block)
        last = block.index
        waiting = waiting - {block.index} | set(block.successors)
    join, = waiting
    return Region(tuple(blocks), join) if join > last else None


def alive_behind(program: Program, block: Block) -> frozenset[str]:
    """Return the registers that some successor of a block still needs."""
    return frozenset().union(*(program.blocks[s].live_in for s in block.successors))


def simple(block: Block) -> bool:
    """Say whether uniform code can run a block for some lanes: no barrier, no end of threads."""
    if not block.uniform or block.by_runtime or not block.successors or any(i.kind is Kind.BARRIER for i in block.instructions):
        return False
    return block.last is None or block.last.kind is Kind.BRANCH


def merged(program: Program, start: Block, region: Region) -> set[str]:
    """Return the registers of which lanes keep their old value while other lanes run the region.

    Any other register that is written there is written by one instruction and was not alive before, so that a lane that
    reads it has written it.
    """
    alive = alive_behind(program, start)
    writes: dict[str, int] = {}
    for block in region.blocks:
        for ins in block.instructions:
            for register in ins.destinations:
                writes[register.name] = writes.get(register.name, 0) + 1
    return {name for name, times in writes.items() if times > 1 or name in alive}


def roots(region: Region) -> set[tuple[str, Any]]:
    """Return the roots (see affine.py) that the region may write."""
    found: set[tuple[str, Any]] = set()
    for block in region.blocks:
        for i, ins in enumerate(block.instructions):
            found |= {("ins", block.first + i)} | {("reg", r.name) for r in ins.destinations}
    return found


def usable(program: Program, start: Block, region: Region, kinds: Mapping[str, tuple[Any, ...] | None]) -> bool:
    """Say whether no register that is alive at the branch shares lanes with one that the region writes."""
    alive = alive_behind(program, start)
    written = roots(region)
    found = [kinds.get(name) for name in alive]
    return not any(kind is not None and kind[0] == "S" and kind[1] in written for kind in found)
