"""One variant of a kernel's fast code, compiled: where it is, what changes hands with masked code, what it counted."""

from dataclasses import dataclass

import numpy as np

from course_lib.simt.codegen import native
from course_lib.simt.codegen.uniform.affine import VECTOR
from course_lib.simt.codegen.uniform.kernel import Fast
from course_lib.simt.isa.special import SPECIAL
from course_lib.simt.passes import fuse
from course_lib.simt.runtime import abi

# Lines of LLVM text beyond which LLVM's quick code generator is used. Measured on two cores: for sgemm_2d_tile (5,000 lines) it takes
# 0.1 s instead of 0.4 s, and a launch takes as long at N = 256 and 50 ms longer at N = 1024; for gemm_outputs.cu (12,500) 0.24 s instead
# of 0.93 s. A short text is not worth it: sgemm_naive (2,000) would save 0.05 s and take 0.3 s longer at N = 1024.
LONG = 4_000


@dataclass
class Translated:
    """What the translation of a Program into fast code leaves behind.

    `code`: the object. `nbytes` that it needs in the memory of a warp. `fastable`, `live_start`, `live`: what the runtime
    needs to change between fast and masked code. `specials`: special register -> place. `lanes`: (place, bits, values) of the
    constant lane parts. `chains`: head -> numbers of the blocks that are counted with it.
    `counted`: a row (block, access, wavefronts, phases, global) for each access.
    """

    code: bytes
    nbytes: int
    fastable: np.ndarray
    live_start: np.ndarray
    live: np.ndarray
    specials: dict
    lanes: list
    chains: dict
    counted: np.ndarray


def translate(program, block, racecheck):
    """Return the Translated of a Program for thread blocks of one shape, with or without the search for hazards."""
    fast = Fast(program, block, racecheck)
    text = fast.text()
    fastable, start, live = describe_live(program, fast)
    specials = {key[1]: place for key, place in fast.places.items() if key[0] == "u" and key[1] in SPECIAL}
    lanes = [(place, key[2], key[1][1]) for key, place in fast.places.items() if key[0] == "lanes" and key[1][0] == "const"]
    chains = {head: [b.index for b in chain] for head, chain in fast.chains.items()}
    level = 0 if text.count("\n") > LONG else 2
    return Translated(native.compile_ir(text, level, passes=False), fast.nbytes + 64, fastable, start, live, specials, lanes, chains,
                      accesses_of(program, fast))


def describe_live(program, fast):
    """Return (fastable, live_start, live): per block whether fast code has it, and the registers to hand over."""
    fastable, start, found, entries = np.zeros(len(program.blocks), np.uint32), [0], {}, []
    for block in program.blocks:
        fastable[block.index] = block.index in fast.chains
        for name in sorted(block.live_in - set(SPECIAL)):
            if name not in found:
                found[name] = handed_over(program, fast, name)
            entries += found[name]
        start.append(len(entries))
    return fastable, np.array(start, np.uint32), np.frombuffer(b"".join(entries) or bytes(8), np.uint8)


def handed_over(program, fast, name):
    """Return the layout.Live of a register as bytes, in a list; none for one that fast code keeps as masked code does."""
    kind, (slot, t) = fast.kinds.kinds[name], program.slots[name]
    if kind is None or kind == VECTOR:
        return []
    entry = abi.Live(fast=fast.place(("u", name), 8), slot=slot)
    if t == "i1":
        entry.kind = abi.UNIFORM_PREDICATE
    else:
        bits = int(t[1:])
        entry.kind, entry.bytes = abi.UNIFORM, bits // 8
        if kind[0] == "S":
            entry.kind, entry.lanes = abi.SPLIT, fast.pairs.lanes_place(kind[1], bits)
            entry.pattern = fast.pairs.pattern_place(kind[1], bits)
    return [bytes(entry)]


def accesses_of(program, fast):
    """Return a row (block, access, wavefronts, phases, global) for each access that counts."""
    rows = []
    for block in program.blocks:
        for number in range(block.first, block.first + len(block.instructions)):
            access = program.accesses.get(number)
            if access is not None and access.tag != fuse.ABSORBED:
                in_global = access.space == abi.SPACES["global"]
                rows.append((block.index, number, *fast.static.get(number, (0, 0)), int(in_global)))
    return np.array(rows, np.int64).reshape(-1, 5)


class FastCode:
    """A Translated, loaded; `address` of its function."""

    def __init__(self, translated, accesses):
        self.translated = translated
        self.library = native.Library([translated.code, *accesses], ["fast"])
        self.address = self.library.address("fast")

    def fill(self, raw, values):
        """Write the special registers (name -> values) and the constant lane parts of one warp into its fast memory."""
        for name, place in self.translated.specials.items():
            if name in values:
                raw[place:place + 8].view(np.uint64)[:] = np.ravel(values[name])[0]
        for place, bits, lanes in self.translated.lanes:
            raw[place:place + 4 * bits].view(f"i{bits // 8}")[:] = lanes

    def add_counts(self, sums):
        """Add what fast code counted per chain to the counts per block and per access, in place."""
        times = np.zeros(len(sums["executed"]), np.int64)
        for head, chain in self.translated.chains.items():
            left = sums["fast_executed"][head]
            for block in chain:
                left = left - sums["deopts"][block, 0]
                times[block] += left
        sums["executed"] += times
        sums["threads"] += times * abi.LANES
        block, number, waves, phases, in_global = self.translated.counted.T
        each = times[block]
        for column, amount in ((0, 1), (1, abi.LANES), (3, waves), (4, phases), (5, in_global)):
            sums["dynamic"][number, column] += each * amount
