"""Which counters are the hardware's numbers and which are PTX's, as far as one launch lets it be known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.simt.host import counters
from course_lib.simt.host.reconverge import Access, together
from course_lib.simt.passes.cfg import Block
from course_lib.simt.passes.fuse import ABSORBED
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Kind
from course_lib.simt.runtime import abi
from course_lib.toolchain.code_stand_in import CodeStandIn

HARDWARE, PTX = "hardware", "PTX level"
OPCODES = ("LDS", "STS")
Widths = Mapping[tuple[int, str], Mapping[int, int]]     # (source line, "LDS" or "STS") -> bytes per lane -> how many


@dataclass(frozen=True)
class Facts:
    """What one launch and its PTX tell about the counters.

    Attributes
    ----------
    sure
        It is known where lanes reconverged and which memory they reached, as far as PTX can tell.
    predicted
        The widths of shared loads and stores.
    written
        How many loads and stores the PTX has, by source line and the assembler's opcode.
    diverged
        Source lines of the branches at which lanes of a warp went both ways; 0 for lines outside of the kernel's own text.
    copied
        There were asynchronous copies.
    """

    sure: bool
    predicted: Widths
    written: Mapping[Access, int]
    diverged: frozenset[int]
    copied: bool


class Levels(Mapping[str, str]):
    """Counter -> "hardware" or "PTX level", of the machine code that the launch came with: another version's assembler joins other loads.

    Global requests and sectors are the hardware's, unless lanes left a loop one after another, called different functions, or met again
    where the machine code does not make them wait for each other; or memory was reached through generic pointers, or the kernel printed.
    Sectors of loads are not where there were asynchronous copies: an H200 counts fewer for large ones, and we do not know why. Shared
    wavefronts and instructions are the hardware's where moreover every source line's loads and stores have the widths in the machine code
    that `fuse.py` predicts. The machine code is looked at when one of those is first asked for (0.4 s for a new kernel), or any counter
    of a launch in which lanes diverged.
    """

    def __init__(self, names: Iterable[str], kernel: str, cubin: bytes | CodeStandIn, facts: Facts) -> None:
        self.names, self.kernel, self.cubin, self.facts = tuple(names), kernel, cubin, facts

    def __getitem__(self, name: str) -> str:
        if name not in self.names:
            raise KeyError(name)
        if "mem_global" in name and "tma" not in name:
            unknown = self.facts.copied and name == counters.GLOBAL_SECTORS.format("ld")
            return HARDWARE if self.reconverged and not unknown else PTX
        if "shared" not in name or "ldgsts" in name or "stsm" in name:
            return PTX
        return HARDWARE if self.reconverged and self.confirmed else PTX

    @cached_property
    def reconverged(self) -> bool:
        """Whether lanes were together where the PTX lets them be."""
        facts = self.facts
        return facts.sure and (not facts.diverged or together(self.code, facts.diverged, facts.written))

    @cached_property
    def confirmed(self) -> bool:
        """Whether shared loads and stores are as wide as predicted."""
        return bool(self.code) and confirm(self.code, self.facts.predicted)

    @cached_property
    def code(self) -> Sequence[toolchain.SassInstruction]:
        """The machine code; empty where there is none."""
        try:
            return toolchain.sass(self.cubin, self.kernel)
        except CourseError:
            return ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return repr(dict(self))


def facts_of(program: Program, dynamic: NDArray[np.int64], divergent: NDArray[np.int64], copied: bool) -> Facts:
    """Return what is known after a launch.

    Parameters
    ----------
    program
        What was launched.
    dynamic
        (instructions, abi.COUNTS), as in `counters.collect`.
    divergent
        Per block of code, how often the branch at its end sent lanes to both successors.
    copied
        Whether there were asynchronous copies.
    """
    diverged = frozenset(block.instructions[-1].line or 0 for block in program.blocks if divergent[block.index])
    return Facts(is_sure(program, dynamic, divergent), predict(program), written(program), diverged, copied)


def confirm(code: Iterable[toolchain.SassInstruction], predicted: Widths) -> bool:
    """Say whether the machine code's shared loads and stores have the predicted widths, line by line.

    Unrolling repeats instructions, so that there may be more of a width, but no other width and not fewer.
    """
    found: dict[tuple[int, str], Counter[int]] = {}
    for ins in code:
        if ins.base in OPCODES and ins.bits is not None:
            found.setdefault((ins.line or 0, ins.base), Counter())[ins.bits // 8] += 1
    return found.keys() == predicted.keys() and all(
        found[key].keys() == wanted.keys() and all(found[key][width] >= n for width, n in wanted.items())
        for key, wanted in predicted.items())


def predict(program: Program) -> Widths:
    """Return the widths of a program's shared loads and stores."""
    predicted: dict[tuple[int, str], Counter[int]] = {}
    for number, access in program.accesses.items():
        if access.kind < 2 and access.space == abi.SPACES["shared"] and access.tag != ABSORBED:
            key = (program.instructions[number].line or 0, OPCODES[access.kind])
            predicted.setdefault(key, Counter())[access.tag or access.width * access.count] += 1
    return predicted


def written(program: Program) -> Mapping[Access, int]:
    """Return how many loads and stores the assembler makes of a program's text, before it writes loops out."""
    opcodes = {abi.SPACES["shared"]: OPCODES, abi.SPACES["global"]: ("LDG", "STG")}
    return Counter((program.instructions[number].line or 0, opcodes[access.space][access.kind])
                   for number, access in program.accesses.items()
                   if access.kind < 2 and access.space in opcodes and access.tag != ABSORBED)


def is_sure(program: Program, dynamic: NDArray[np.int64], divergent: NDArray[np.int64]) -> bool:
    """Say whether it is known where the lanes reconverged and which memory they reached; the arguments are those of `facts_of`."""
    generic = any(a.space in (abi.SPACES["generic"], abi.SPACES["shared__cluster"]) and a.kind < 2 and number not in program.tensors
                  for number, a in program.accesses.items())
    calls, jumps = (program.of_kind.get(kind, []) for kind in (Kind.CALL, Kind.INDEXED_BRANCH))
    printing = any("vprintf" in str(getattr(operand, "name", "")) for number in calls for operand in program.instructions[number].operands)
    if generic or printing:
        return False
    if any(dynamic[number, 0] for number in (*calls, *jumps)):
        return False               # lanes of one warp called different functions, or jumped to different places of a table
    if not divergent.any():
        return True
    return not calls and not any(divergent[block] for block in exits(program.blocks))


def exits(blocks: Sequence[Block]) -> set[int]:
    """Return the blocks whose branch can leave a loop that they are part of."""
    before: dict[int, list[int]] = {b.index: [] for b in blocks}
    for block in blocks:
        for successor in block.successors:
            before[successor].append(block.index)
    found: set[int] = set()
    for block in blocks:
        for head in block.successors:
            if head > block.index:
                continue
            body, waiting = {head, block.index}, [block.index]
            while waiting:
                at = waiting.pop()
                if at == head:
                    continue
                for other in before[at]:
                    if other not in body:
                        body.add(other)
                        waiting.append(other)
            found |= {b for b in body if any(s not in body for s in blocks[b].successors)}
    return found
