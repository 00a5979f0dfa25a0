"""One variant of a kernel's fast code, compiled: where it is, what changes hands with masked code, what it counted."""

import numpy as np

from course_lib.simt import fuse, layout, native
from course_lib.simt.affine import VECTOR
from course_lib.simt.fast import Fast
from course_lib.simt.special import SPECIAL


class FastCode:
    """Fast code of a Program for thread blocks of one shape, with or without the search for hazards.

    `address` of its function, `nbytes` that it needs in the memory of a warp, `fastable`, `live_start` and `live`: what the
    runtime needs to change between fast and masked code.
    """

    def __init__(self, program, block, accesses, racecheck):
        self.program, self.translator = program, Fast(program, block, racecheck)
        text = self.translator.text()
        code = native.cached_object(native.cache_key("fast", text), lambda: native.compile_ir(text, passes=False))
        self.library = native.Library([code, *accesses], ["fast"])
        self.address = self.library.address("fast")
        self.fastable, self.live_start, self.live = self.describe_live()
        self.nbytes = self.translator.nbytes + 64

    def describe_live(self):
        blocks, fast = self.program.blocks, self.translator
        fastable, start, entries = np.zeros(len(blocks), np.uint32), [0], []
        for block in blocks:
            fastable[block.index] = block.index in fast.chains
            for name in sorted(block.live_in - set(SPECIAL)):
                kind, (slot, t) = fast.kinds.kinds[name], self.program.slots[name]
                if kind is None or kind == VECTOR:
                    continue
                entry = layout.Live(fast=fast.place(("u", name), 8), slot=slot)
                if t == "i1":
                    entry.kind = layout.UNIFORM_PREDICATE
                else:
                    bits = int(t[1:])
                    entry.kind, entry.bytes = layout.UNIFORM, bits // 8
                    if kind[0] == "S":
                        entry.kind, entry.lanes = layout.SPLIT, fast.pairs.lanes_place(kind[1], bits)
                        entry.pattern = fast.pairs.pattern_place(kind[1], bits)
                entries.append(entry)
            start.append(len(entries))
        return fastable, np.array(start, np.uint32), (layout.Live * max(len(entries), 1))(*entries)

    def fill(self, raw, values):
        """Write the uniform special registers (name -> values) and the constant lane parts of one warp into its fast memory."""
        for key, offset in self.translator.places.items():
            if key[0] == "u" and key[1] in values:
                raw[offset:offset + 8].view(np.uint64)[:] = np.ravel(values[key[1]])[0]
            elif key[0] == "lanes" and key[1][0] == "const":
                kind = np.int32 if key[2] == 32 else np.int64
                raw[offset:offset + 4 * key[2]].view(kind)[:] = key[1][1]

    def add_counts(self, sums):
        """Add what fast code counted per chain to the counts per block and per access, in place."""
        for head, chain in self.translator.chains.items():
            times = sums["fast_executed"][head]
            for block in chain:
                times = times - sums["deopts"][block.index, 0]
                if times:
                    sums["executed"][block.index] += times
                    sums["threads"][block.index] += times * layout.LANES
                    self.add_accesses(block, times, sums["dynamic"])

    def add_accesses(self, block, times, dynamic):
        for i in range(len(block.instructions)):
            number = block.first + i
            access = self.program.accesses.get(number)
            if access is not None and access.tag != fuse.ABSORBED:
                waves, phases = self.translator.static.get(number, (0, 0))
                dynamic[number, :2] += (times, times * layout.LANES)
                dynamic[number, 3:5] += (times * waves, times * phases)
                dynamic[number, 5] += times * (access.space == layout.SPACES["global"])
