"""`cp.async.bulk.tensor`: copies of boxes of a tensor that a tensor map describes, as the records that `runtime/boxes.cuh` reads.

Tile mode alone. Other modes and maps with interleaved slices are refused by name. A copy to several blocks of a cluster goes to the same
place in each of them, and tells the mbarrier at the same place there.
"""

from collections.abc import Sequence

from course_lib.simt.isa import bulk_copies, mbarriers
from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.tensor import Tensor, address, malformed
from course_lib.simt.isa.warp import CHANGES, NONE
from course_lib.simt.ptx.ir import Instruction, Kind, Mem, Operand, opened
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import FlightKind

DIM, HINT = "(1d|2d|3d|4d|5d)", "[.L2::cache_hint]"
FORMS = {
    "Asynchronous copies": (
        (f"cp.async.bulk.tensor.{DIM}.(shared::cluster|shared::cta).global[.tile].mbarrier::complete_tx::bytes{HINT}",
         "[a], [b, {c, ...}], [e]"),
        (f"cp.async.bulk.tensor.{DIM}.shared::cluster.global[.tile].mbarrier::complete_tx::bytes.multicast::cluster{HINT}",
         "[a], [b, {c, ...}], [e], f"),
        (f"cp.async.bulk.tensor.{DIM}.global.shared::cta[.tile].bulk_group{HINT}", "[a, {c, ...}], [b]"),
        (f"cp.reduce.async.bulk.tensor.{DIM}.global.shared::cta.(add|min|max|inc|dec|and|or|xor)[.tile].bulk_group{HINT}",
         "[a, {c, ...}], [b]"),
        (f"cp.async.bulk.prefetch.tensor.{DIM}.L2.global[.tile]{HINT}", "[a, {c, ...}]"),
    ),
}
REASONS = {"im2col": "boxes of a convolution", "cta_group": "pairs of blocks, from sm_100a on",
           "tile__gather4": "rows by their numbers, from sm_100a on", "tile__scatter4": "rows by their numbers, from sm_100a on"}


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of this module's."""
    return ins.kind is Kind.COPY and ins.opcode[:3] in bulk_copies.BULK and "tensor" in ins.opcode


def reason(ins: Instruction) -> str:
    """Return why a form is not covered, as a part of a sentence; empty when nothing special is known."""
    return next((f" ({why})" for part in ins.opcode for start, why in REASONS.items() if part.startswith(start)), "") if knows(ins) else ""


def flat(operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """Return the operands without the brackets around a map and coordinates: [a], map, coordinates, [e]."""
    return tuple(opened(opened(operands)))


def coordinates(ins: Instruction) -> int:
    """Return how many coordinates a form has.

    >>> coordinates(Instruction(("cp", "async", "bulk", "tensor", "3d", "global"), (), None, 0))
    3
    """
    return int(ins.opcode[ins.opcode.index("tensor") + 1][0])


def own_operands(ins: Instruction) -> tuple[int, ...]:
    """Return which operands, made flat, are addresses in the block's own shared memory."""
    if "prefetch" in ins.opcode or "shared__cluster" in ins.opcode:
        return ()
    behind = 1 + coordinates(ins)
    return (0, 1 + behind) if "bulk_group" not in ins.opcode else (behind,)


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function, record, access) of an instruction.

    Raises
    ------
    PtxSyntaxError
        Another number of coordinates than the form says; operands of other types than it takes.
    """
    rank, into = coordinates(ins), "bulk_group" not in ins.opcode and "prefetch" not in ins.opcode
    place = ins.operands[into]
    given = ins.operands[into + 1:into + 1 + rank]
    many = "multicast__cluster" in ins.opcode
    wanted = rank + 1 + 2 * into + many + ("bulk_group" in ins.opcode) + ("L2__cache_hint" in ins.opcode)
    if len(ins.operands) != wanted or not isinstance(place, Mem) or any(isinstance(o, Mem) for o in given):
        raise malformed(ins, f"it takes {rank} coordinates in braces")
    if "prefetch" in ins.opcode:    # a hint, as other prefetches are: it waits for nothing
        return Tensor("wait_bulk", abi.BulkWait(number=number, kind=bulk_copies.WAIT_GROUP, left=0x7FFFFFFF))
    record = abi.BoxCopy(number=number, kind=FlightKind.INTO_SHARED if into else FlightKind.INTO_GLOBAL, rank=rank, mask_slot=NONE)
    reported = mbarriers.place(program, ins, ins.operands[0 if into else 1 + rank], record.shared, number, 16)
    record.map.space, record.map.width, record.map.count = abi.SPACES["generic"], 16, 1
    address(program, ins, place, record.map)
    for i, operand in enumerate(given):
        one = abi.BulkCopy(bytes_slot=NONE)
        mbarriers.literal_or_slot(program, ins, operand, one, "bytes")
        record.at[i], record.at_slot[i] = one.bytes, one.bytes_slot
    if into:
        mbarriers.place(program, ins, ins.operands[2 + rank], record.object, number, 8)
    if many:
        record.mask_slot = mbarriers.register(program, ins, ins.operands[3 + rank], "i16")
    if "reduce" in ins.opcode:
        record.change = 1 + CHANGES.index(next(part for part in ins.opcode if part in CHANGES))
    return Tensor("copy_box", record, reported)
