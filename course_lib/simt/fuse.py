"""Which neighbouring shared loads the assembler joins into one wider load.

PTX loads As[ty][0], As[ty][1], … one by one; the GPU's assembler makes `LDS.128` of four that lie in one aligned 16 bytes,
and `LDS.64` of two in 8, when they have the same base register and no store or barrier stands between them. Instructions
and wavefronts of shared memory are counted accordingly.

Source: `ptxas` 13.0 and 13.5 as seen in the SASS of the course's kernels; held to Nsight Compute's counts on an H200.
"""

from course_lib.simt import cfg
from course_lib.simt.instruction import Imm, Reg, type_bytes

ABSORBED = 1  # mark of a load that another one carries out
UNKNOWN = 64


def zeros(value):
    """Return how many low bits of an integer are zero."""
    return UNKNOWN if value == 0 else (value & -value).bit_length() - 1


def low_zeros(program):
    """Return register -> number of low bits known to be zero, by data flow."""
    known = {}
    changed = True
    while changed:
        changed = False
        for ins in program.instructions:
            for register in cfg.destinations(ins):
                new = min(known.get(register.name, UNKNOWN), result_zeros(ins, known))
                if known.get(register.name) != new:
                    known[register.name], changed = new, True
    return known


def result_zeros(ins, known):
    name = ins.opcode[0]
    if name in ("ld", "ldu", *cfg.ATOMICS, *cfg.CROSS) or ins.guard is not None:
        return 0
    given = [zeros(o.value) if isinstance(o, Imm) else known.get(o.name, 0 if o.name.startswith("%") and "." in o.name else UNKNOWN)
             for o in cfg.inputs(ins) if isinstance(o, (Imm, Reg))]
    if name in ("mov", "cvt"):
        return min(given, default=0)
    if name in ("add", "sub", "or", "xor", "selp", "min", "max"):
        return min(given[:2])
    if name == "and":
        return max(given)
    if name == "shl" and isinstance(ins.operands[2], Imm):
        return given[0] + ins.operands[2].value
    if name in ("mul", "mad") and "hi" not in ins.opcode:
        product = given[0] + given[1]
        return product if name == "mul" else min(product, given[2])
    return 0


def plan(program):
    """Return instruction number -> bytes that it loads in the assembler's code, or ABSORBED."""
    known, joined = low_zeros(program), {}
    blocks, chain = {b.index: b for b in program.blocks}, []
    for block in program.blocks:
        if block.head or not chain:
            chain = [block]
            while chain[-1].last is None and not blocks[chain[-1].successors[0]].head:
                chain.append(blocks[chain[-1].successors[0]])
            join_chain(chain, known, joined)
    return joined


def join_chain(chain, known, joined):
    """Collect the 32- and 64-bit shared loads between two stores or barriers, per base register."""
    groups = {}
    for block in chain:
        for i, ins in enumerate(block.instructions):
            if ins.opcode[:2] == ("ld", "shared") and len(ins.opcode) == 3 and ins.guard is None and type_bytes(ins.opcode[2]) in (4, 8):
                base = ins.operands[1].base
                key = (base.name if base is not None else None, type_bytes(ins.opcode[2]))
                groups.setdefault(key, {}).setdefault(ins.operands[1].offset, block.first + i)
            elif ins.opcode[0] in ("st", *cfg.ATOMICS) and "global" not in ins.opcode or ins.opcode[0] in cfg.BARRIERS:
                join_groups(groups, known, joined)
            for register in cfg.destinations(ins):
                for key in [k for k in groups if k[0] == register.name]:
                    join_groups({key: groups.pop(key)}, known, joined)
    join_groups(groups, known, joined)


def join_groups(groups, known, joined):
    for (base, width), loads in groups.items():
        aligned = 1 << min(known.get(base, 0) if base else UNKNOWN, 4)
        for offset in sorted(loads):
            for size in (16, 8):
                parts = [offset + step for step in range(0, size, width)]
                if (size > width and size <= aligned and offset % size == 0 and all(p in loads for p in parts)
                        and not any(loads[p] in joined for p in parts)):
                    joined.update({loads[p]: ABSORBED for p in parts[1:]})
                    joined[loads[offset]] = size
    groups.clear()
