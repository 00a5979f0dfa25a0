"""Which counters are the hardware's numbers and which are PTX's, as far as one launch lets it be known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.simt.passes.cfg import Block
from course_lib.simt.passes.fuse import ABSORBED
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Kind
from course_lib.simt.runtime import abi
from course_lib.toolchain.code_stand_in import CodeStandIn

HARDWARE, PTX = "hardware", "PTX level"
OPCODES = ("LDS", "STS")
Widths = Mapping[tuple[int, str], Mapping[int, int]]     # (source line, "LDS" or "STS") -> bytes per lane -> how many


class Levels(Mapping[str, str]):
    """Counter -> "hardware" or "PTX level".

    Global requests and sectors are the hardware's, unless lanes left a loop one after another (where they reconverge is the
    assembler's decision), or memory was reached through generic pointers, or the kernel printed. Shared wavefronts and
    instructions are the hardware's where moreover every source line's loads and stores have the widths in the machine code
    that `fuse.py` predicts. The machine code is looked at when one of those is first asked for (0.4 s for a new kernel).
    """

    def __init__(self, names: Iterable[str], kernel: str, cubin: bytes | CodeStandIn, predicted: Widths, sure: bool) -> None:
        self.names, self.kernel, self.cubin, self.predicted, self.sure = tuple(names), kernel, cubin, predicted, sure
        self.confirmed: bool | None = None

    def __getitem__(self, name: str) -> str:
        if name not in self.names:
            raise KeyError(name)
        if "mem_global" in name:
            return HARDWARE if self.sure else PTX
        if "shared" not in name or "ldgsts" in name or "stsm" in name:
            return PTX
        if self.confirmed is None:
            self.confirmed = self.sure and confirm(self.kernel, self.cubin, self.predicted)
        return HARDWARE if self.confirmed else PTX

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return repr(dict(self))


def confirm(kernel: str, cubin: bytes | CodeStandIn, predicted: Widths) -> bool:
    """Say whether the machine code's shared loads and stores have the predicted widths, line by line.

    Unrolling repeats instructions, so that there may be more of a width, but no other width and not fewer.
    """
    try:
        code = toolchain.sass(cubin, kernel)
    except CourseError:
        return False
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


def is_sure(program: Program, divergent: NDArray[np.int64]) -> bool:
    """Say whether it is known where the lanes reconverged and which memory they reached.

    `divergent`: per block of code, how often the branch at its end sent lanes to both successors.
    """
    generic = any(a.space == abi.SPACES["generic"] and a.kind < 2 and number not in program.tensors
                  for number, a in program.accesses.items())
    printing = any("vprintf" in str(getattr(operand, "name", "")) for ins in program.instructions if ins.kind is Kind.CALL
                   for operand in ins.operands)
    if generic or printing:
        return False
    if not divergent.any():
        return True
    calling = any(ins.kind is Kind.CALL for ins in program.instructions)
    return not calling and not any(divergent[block] for block in exits(program.blocks))


def exits(blocks: Sequence[Block]) -> set[int]:
    """Return the blocks whose branch can leave a loop that they are part of, and those that jump by a table."""
    before: dict[int, list[int]] = {b.index: [] for b in blocks}
    for block in blocks:
        for successor in block.successors:
            before[successor].append(block.index)
    found = {b.index for b in blocks if b.last is not None and b.last.kind is Kind.INDEXED_BRANCH}
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
