"""One variant of a kernel's uniform code, compiled: where it is, what it exchanges with reference code, what it counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.codegen import native
from course_lib.simt.codegen.uniform.affine import VECTOR, is_split
from course_lib.simt.codegen.uniform.kernel import UniformGenerator
from course_lib.simt.isa.special import SPECIAL
from course_lib.simt.passes import fuse
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.runtime import abi

# Lines of LLVM text beyond which LLVM's quick code generator is used. Measured on two cores: for sgemm_2d_tile (5,000 lines) it takes
# 0.1 s instead of 0.4 s, and a launch takes as long at N = 256 and 50 ms longer at N = 1024; for gemm_outputs.cu (12,500) 0.24 s instead
# of 0.93 s. A short text is not worth it: sgemm_naive (2,000) would save 0.05 s and take 0.3 s longer at N = 1024.
LONG = 4_000
# LLVM's quick code generator gives each value a place of its own in the function's frame: 50 to 190 bytes for each line of text.
FRAME_PER_LINE = 512
MOST_LINES = 1_000_000  # beyond them LLVM takes minutes, and a thread might get no stack of that size: reference code runs, in small frames


@dataclass
class Translated:
    """What the translation of a Program into uniform code leaves behind.

    `code`: the object. `nbytes` that it needs in the memory of a warp. `blocks` (1: uniform code has it), `live_start`, `live`: what
    the runtime needs to change between uniform and reference code. `specials`: special register -> offset. `lanes`: (offset, bits,
    values) of the constant lane parts. `chains`: head -> numbers of the blocks that are counted with it.
    `counted`: a row (block, access, wavefronts, phases, global) for each access. `stack_bytes`: no frame of the code is larger.
    """

    code: bytes
    nbytes: int
    blocks: NDArray[np.uint32]
    live_start: NDArray[np.uint32]
    live: NDArray[np.uint8]
    specials: dict[str, int]
    lanes: list[tuple[int, int, tuple[int, ...]]]
    chains: dict[int, list[int]]
    counted: NDArray[np.int64]
    stack_bytes: int


def translate(program: Program, block: tuple[int, int, int], racecheck: bool) -> Translated | None:
    """Translate a Program for thread blocks of one shape, with or without the search for hazards; None if that is too long."""
    generator = UniformGenerator(program, block, racecheck)
    text = generator.text()
    lines = text.count("\n")
    if lines > MOST_LINES:
        return None
    blocks, start, live = describe_live(program, generator)
    context = generator.context
    specials = {key[1]: offset for key, offset in context.offsets.items() if key[0] == "u" and key[1] in SPECIAL}
    lanes = [(offset, key[2], key[1][1]) for key, offset in context.offsets.items() if key[0] == "lanes" and key[1][0] == "const"]
    chains = {head: [b.index for b in chain] for head, chain in generator.chains.items()}
    level = 0 if lines > LONG else 2
    return Translated(native.compile_ir(text, level, passes=False), context.nbytes + 64, blocks, start, live, specials, lanes, chains,
                      accesses_of(program, context.static), lines * FRAME_PER_LINE)


def describe_live(program: Program, generator: UniformGenerator) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
    """Return (blocks, live_start, live): per block whether uniform code has it, and the registers to hand over."""
    blocks, start, entries = np.zeros(len(program.blocks), np.uint32), [0], []
    found: dict[str, list[bytes]] = {}
    for block in program.blocks:
        blocks[block.index] = block.index in generator.chains
        for name in sorted(block.live_in - set(SPECIAL)):
            if name not in found:
                found[name] = handed_over(program, generator, name)
            entries += found[name]
        start.append(len(entries))
    return blocks, np.array(start, np.uint32), np.frombuffer(b"".join(entries) or bytes(8), np.uint8)


def handed_over(program: Program, generator: UniformGenerator, name: str) -> list[bytes]:
    """Return the abi.Live of a register as bytes, in a list; none for one that uniform and reference code hold alike."""
    kind, (slot, t), roots = generator.kinds.of(name), program.slots[name], generator.roots
    if kind == VECTOR:
        return []
    entry = abi.Live(uniform=generator.context.allocate(("u", name), 8), slot=slot)
    if t == "i1":
        entry.kind = abi.UNIFORM_PREDICATE
    else:
        bits = int(t[1:])
        entry.kind, entry.bytes = abi.UNIFORM, bits // 8
        if is_split(kind):
            entry.kind, entry.lanes = abi.SPLIT, roots.lanes_offset(kind[1], bits)
            entry.pattern = roots.pattern_offset(kind[1], bits)
    return [bytes(entry)]


def accesses_of(program: Program, static: Mapping[int, tuple[int, int]]) -> NDArray[np.int64]:
    """Return a row (block, access, wavefronts, phases, global) for each access that counts."""
    rows = []
    for block in program.blocks:
        for number in range(block.first, block.first + len(block.instructions)):
            access = program.accesses.get(number)
            if access is not None and access.tag != fuse.ABSORBED and number not in program.tensors:     # those the runtime counts
                in_global = access.space == abi.SPACES["global"]
                rows.append((block.index, number, *static.get(number, (0, 0)), int(in_global)))
    return np.array(rows, np.int64).reshape(-1, 5)


class UniformCode:
    """A Translated, loaded; `address` of its function."""

    def __init__(self, translated: Translated, accesses: Sequence[bytes]) -> None:
        self.translated = translated
        self.library = native.Library([translated.code, *accesses], ["uniform"])
        self.address = self.library.address("uniform")
        self.stack_bytes = translated.stack_bytes

    def fill(self, raw: NDArray[np.uint8], values: Mapping[str, Any]) -> None:
        """Write the special registers (name -> values) and the constant lane parts of one warp into its uniform memory."""
        for name, place in self.translated.specials.items():
            if name in values:
                raw[place:place + 8].view(np.uint64)[:] = np.ravel(values[name])[0]
        for place, bits, lanes in self.translated.lanes:
            raw[place:place + 4 * bits].view(f"i{bits // 8}")[:] = lanes

    def add_counts(self, sums: Mapping[str, NDArray[np.int64]]) -> None:
        """Add what uniform code counted per chain to the counts per block and per access, in place."""
        times = np.zeros(len(sums["executed"]), np.int64)
        for head, chain in self.translated.chains.items():
            left = sums["uniform_executed"][head]
            for block in chain:
                left = left - sums["deopts"][block, 0]
                times[block] += left
        sums["executed"] += times
        sums["threads"] += times * abi.LANES
        block, number, waves, phases, in_global = self.translated.counted.T
        each = times[block]
        for column, amount in ((0, 1), (1, abi.LANES), (3, waves), (4, phases), (5, in_global)):
            sums["dynamic"][number, column] += each * amount
