"""Thread block clusters: addresses in the shared memory of another block of the cluster, and the cluster's barrier.

An address of shared memory has the rank of its block in the cluster from bit 24 on, as ptxas 13.5 computes it for sm_90a: for a variable
it adds `SR_CgaCtaId` shifted by 24 to the offset, `mapa` puts the other rank's byte there, and `getctarank` takes it out. So an address
that one block passes to another leads back to the first. A kernel that knows of clusters (`uses`) computes its addresses in this way; all
others have the rank 0. What no GPU has shown yet: in which order ranks lie in the cluster (here along x first, as threads do in a block).
"""

import dataclasses
from collections.abc import Sequence

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa.protocols import Results, Signature, Writer
from course_lib.simt.isa.special import CLUSTERS, WINDOW_32, WINDOW_64
from course_lib.simt.isa.table import ir_type, op
from course_lib.simt.ptx.ir import Function, Imm, Instruction, Kind, Mem, Operand, Reg, Sym, at_line
from course_lib.simt.runtime import abi

FORMS = {
    "Clusters of blocks": (
        ("mapa[.shared::cluster].(u32|u64)", "d, a, b"), ("getctarank[.shared::cluster].(u32|u64)", "d, a"),
        ("barrier.cluster.arrive[.release|.relaxed][.aligned]", ""), ("barrier.cluster.wait[.acquire][.aligned]", ""),
    ),
}
DIRECTIVES = ("reqnctapercluster", "explicitcluster", "maxclusterrank")
REGISTERS = tuple(f"%{name}." for name in CLUSTERS) + ("%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster")
OFFSET = (1 << abi.RANK_SHIFT) - 1
RANKS = abi.LOCAL_WINDOW - abi.SHARED_WINDOW


def uses(function: Function) -> bool:
    """Say whether a function asks for clusters, or looks at one."""
    return any(name in function.directives for name in DIRECTIVES) or any(
        isinstance(ins, Instruction) and knows(ins) for ins in function.body)


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of a cluster; not, whether a bulk copy names its own shared memory as the cluster's."""
    words = ins.opcode
    if words[0] in ("mapa", "getctarank") or words[:2] == ("barrier", "cluster"):
        return True
    if remote(ins) and ("global" not in words or "multicast__cluster" in words) or words[:2] in (("st", "async"), ("red", "async")):
        return True
    return any(r.name.startswith(REGISTERS) for r in ins.sources)


def remote(ins: Instruction) -> bool:
    """Say whether the addresses of an instruction lie anywhere in the cluster's shared memory."""
    return "shared__cluster" in ins.opcode and ins.kind in (Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.MBARRIER, Kind.COPY)


def address_signature(ins: Instruction) -> Signature:
    kind = ir_type(ins.opcode[-1])
    return ((kind,), (kind, "i32")) if ins.opcode[0] == "mapa" else (("i32",), (kind,))


@op("mapa", "getctarank", signature=address_signature, whole=True)
def emit_address(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    """Put another rank into an address, or take out the one that it has."""
    kind, begin = ir_type(ins.opcode[-1]), 0 if "shared__cluster" in ins.opcode else abi.SHARED_WINDOW
    inside = code.binary("sub", kind, s[0], code.const(kind, begin))
    shift = code.const(kind, abi.RANK_SHIFT)
    if ins.opcode[0] == "getctarank":
        rank = code.binary("lshr", kind, inside, shift)
        return (rank if kind == "i32" else code.cast("trunc", kind, rank, "i32"),)
    rank = code.binary("and", "i32", s[1], code.const("i32", 255))
    if kind != "i32":
        rank = code.cast("zext", "i32", rank, kind)
    place = code.binary("or", kind, code.binary("and", kind, inside, code.const(kind, OFFSET)), code.binary("shl", kind, rank, shift))
    if not begin:
        return (place,)
    there = code.binary("add", kind, place, code.const(kind, begin))      # a rank that no cluster has must not lead to other memory
    nowhere = code.binary("or", kind, place, code.const(kind, 1 << 62 if kind == "i64" else 1 << 31))
    return (code.select(code.compare("icmp ult", kind, place, code.const(kind, RANKS)), kind, there, nowhere),)


def in_window(ins: Instruction, operands: Sequence[Operand], named: Sequence[Operand]) -> Instruction:
    """Have an instruction that computes an address of the block's shared memory add the block's rank.

    `operands` are those of `named` with numbers in the place of variables.
    """
    places = [i for i, o in enumerate(named) if isinstance(o, Sym)]
    words, kind = ins.opcode, ins.opcode[-1]
    if words[0] == "mapa" or not places:
        return dataclasses.replace(ins, operands=tuple(operands))
    if words[0] not in ("mov", "cvta") or places != [1]:
        raise UnsupportedInstruction(f"{at_line(ins)}the simulator knows the address of a shared variable in {ins.name} only where no "
                                     "cluster is: move it into a register first.", opcode=ins.name, line=ins.where)
    wide, given = kind.endswith("64"), operands[1]
    assert isinstance(given, Imm)
    generic = abi.SHARED_WINDOW if words[0] == "cvta" and "to" not in words else 0
    return dataclasses.replace(ins, opcode=("add", "u64" if wide else "u32"),
                               operands=(operands[0], Reg(WINDOW_64 if wide else WINDOW_32), Imm(given.value + generic)))


def own(ins: Instruction) -> tuple[str, ...]:
    """Return the opcode of a load, store or atomic: `.shared::cluster` is another space, but not for the block's own variables."""
    place = next((o for o in ins.operands if isinstance(o, Mem)), None)
    name = "shared" if place is None or not isinstance(place.base, Reg) else "shared__cluster"
    return tuple(name if word == "shared__cluster" else word for word in ins.opcode)
