"""Lesson 07's explorable: one warp executes the machine code of one step along K, instruction by instruction, for every UNROLL."""

import functools
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from course_lib import kernels
from course_lib.explorables.explorable import Explorable, module_text
from course_lib.toolchain import WholeStep, purposes, whole_step

KERNEL, TILE, FACTORS = "sgemm_unrolled", 16, (1, 2, 4, 8, 16)
FIRST, LAST = "for (int k0", "    }"          # the lines of the source that are shown: from the first to the one before the last
MOST = 38                                    # letters of a line; a longer one goes on in a second, from its ? on
KINDS = ("multiply", "load", "loop", "tile")
SHORT = {"multiply-add": "multiply", "load from shared memory": "load", "load from global memory": "global load",
         "store to shared memory": "store", "other": ""}


@dataclass(frozen=True)
class LoopInstruction:
    """A machine instruction of the loop along K.

    `text`: as the disassembler writes it. `line`: of the kernel's source. `kind`: multiply-add, load from shared memory, the loop over
    the tile (its counter, addresses, test and jump), or what comes once per tile. `purpose`: what it is there for.
    """

    text: str
    line: int | None
    kind: str
    purpose: str


@dataclass(frozen=True)
class UnrollState:
    """One UNROLL: the lines of the source, the machine code in the order of its addresses, and the order in which a warp executes it.

    `inner`: the first and the last instruction of the loop over the tile, None where the compiler wrote it out to its end.
    """

    source: tuple[dict[str, Any], ...]
    code: tuple[LoopInstruction, ...]
    order: tuple[int, ...]
    inner: tuple[int, int] | None


def source_lines(unroll: int) -> tuple[dict[str, Any], ...]:
    """Return the lines of the loop along K, empty ones too, with their numbers; `#pragma unroll UNROLL` shows the number."""
    text = kernels.get(KERNEL).source.splitlines()
    first = next(i for i, line in enumerate(text) if line.strip().startswith(FIRST))
    last = next(i for i in range(first, len(text)) if text[i] == LAST)
    shown = []
    for number in range(first + 1, last + 1):
        bare = text[number - 1].partition("//")[0].rstrip().removeprefix("    ").replace("    ", "  ").removesuffix(" {")
        bare = bare.replace("UNROLL", str(unroll))
        head, mark, tail = bare.partition(" ? ") if len(bare) > MOST else (bare, "", "")
        shown.append({"number": number, "text": head})
        if mark:
            shown.append({"number": number, "text": f"    ? {tail}", "more": True})
    return tuple(shown)


def order_of(step: WholeStep) -> tuple[int, ...]:
    """Return which instruction a warp executes first, second, …: straight on, and the loop over the tile as often as it runs.

    In this code a warp leaves the straight path only by the two jumps back: guards are predicates, which skip no instruction.
    """
    inside = {i.offset for i in step.inner.instructions} if step.rolled else set()
    body = [n for n, i in enumerate(step.outer.instructions) if i.offset in inside]
    before = [n for n, i in enumerate(step.outer.instructions) if i.offset < step.inner.start] if body else []
    after = range(body[-1] + 1, len(step.outer.instructions)) if body else range(len(step.outer.instructions))
    return (*before, *(body * step.turns), *after)


def kind_of(opcode: str, fma: str, inside: bool) -> str:
    """Return which of `KINDS` an instruction belongs to, as `WholeStep.shares` has them.

    >>> kind_of("LDS", "FFMA", inside=True), kind_of("VIADD", "FFMA", inside=True), kind_of("VIADD", "FFMA", inside=False)
    ('load', 'loop', 'tile')
    """
    return {fma: "multiply", "LDS": "load"}.get(opcode, "loop" if inside else "tile")


def state_of(unroll: int) -> UnrollState:
    """Compile one position, and say what a warp executes in one step along K."""
    step = whole_step(KERNEL, TILE=TILE, UNROLL=unroll)
    assert step is not None                          # the kernel has tiles, of known depth
    inside = {i.offset for i in step.inner.instructions} if step.rolled else set()
    code = tuple(LoopInstruction(i.text.replace(".reuse", ""), i.line, kind_of(i.base, step.fma, i.offset in inside), SHORT.get(p, p))
                 for i, p in zip(step.outer.instructions, purposes(step.outer), strict=True))
    numbers = [n for n, i in enumerate(step.outer.instructions) if i.offset in inside]
    return UnrollState(source_lines(unroll), code, order_of(step), (numbers[0], numbers[-1]) if numbers else None)


def counts(state: dict[str, Any]) -> Counter[str]:
    """Return how many instructions of each kind a warp executes."""
    return Counter(state["code"][n]["kind"] for n in state["order"])


@functools.cache
def states() -> dict[str, dict[str, Any]]:
    """Return every position as JSON takes it, by UNROLL."""
    return {str(unroll): asdict(state_of(unroll)) for unroll in FACTORS}


class Unroll(Explorable):
    """The loop, its machine code, and what a warp has executed; made by `unroll`."""

    name = "unroll"
    title = "One warp executes the machine code of one tile"
    _esm = module_text("unroll")

    def static_text(self) -> str:
        return (f"{self.title}: on the left the loop of the kernel in CUDA C, in the middle the machine code that the compiler made of it, "
                "on the right one box for each instruction that the warp has executed. Run this cell to play it.")


def unroll(factor: int = 1) -> Unroll:
    """Play how one warp executes the loop over a tile, whose UNROLL the reader chooses.

    Parameters
    ----------
    factor
        UNROLL at the start: 1, 2, 4, 8 or 16.

    Raises
    ------
    CourseError
        Where neither a compiler nor the precompiled archive, or no disassembler, can say what the machine code is.
    """
    return Unroll(states=states(), values={"unroll": factor})
