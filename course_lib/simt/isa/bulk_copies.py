"""`cp.async.bulk`: copies of whole rows between global and shared memory, as the records that `runtime/bulk.cuh` reads.

Into shared memory they tell an mbarrier, into global memory they belong to groups that their thread waits for. `cp.reduce.async.bulk`
adds to global memory, or another operation, as `red` does element by element, but keeps subnormal sums of float32, as an H200 does.
"""

from course_lib.simt.isa import mbarriers
from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.tensor import Tensor, address, malformed
from course_lib.simt.isa.warp import CHANGES, NONE, NUMBERS
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, type_bytes
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import FlightKind

HINT = "[.L2::cache_hint]"
INTO = "mbarrier::complete_tx::bytes"
OUT = "global.shared::cta.bulk_group"
FORMS = {
    "Asynchronous copies": (
        (f"cp.async.bulk.(shared::cluster|shared::cta).global.{INTO}{HINT}", "[a], [b], c, [e]"),
        (f"cp.async.bulk.shared::cluster.shared::cta.{INTO}", "[a], [b], c, [e]"),
        (f"cp.async.bulk.shared::cluster.global.{INTO}.multicast::cluster{HINT}", "[a], [b], c, [e], f"),
        (f"cp.async.bulk.{OUT}{HINT}", "[a], [b], c"),
        (f"cp.reduce.async.bulk.{OUT}{HINT}.((add|min|max).(u32|s32|u64|s64)|(inc|dec).u32|(and|or|xor).(b32|b64)|add.(f32|f64))",
         "[a], [b], c"),
        (f"cp.reduce.async.bulk.{OUT}{HINT}.(min|max).(f16|bf16)", "[a], [b], c"),
        (f"cp.reduce.async.bulk.{OUT}{HINT}.add.noftz.(f16|bf16)", "[a], [b], c"),
        (f"cp.async.bulk.prefetch.L2.global{HINT}", "[a], b"),
        ("cp.async.bulk.commit_group", ""), ("cp.async.bulk.wait_group[.read]", "imm"),
    ),
}

BULK = (("cp", "async", "bulk"), ("cp", "reduce", "async"))
COMMIT, WAIT_GROUP = 0, 1       # as runtime/async.cuh has them


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of this module's; copies of tensors are not."""
    return ins.kind is Kind.COPY and ins.opcode[:3] in BULK and "tensor" not in ins.opcode


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function, record, access) of an instruction.

    Raises
    ------
    PtxSyntaxError
        Operands of other types than the form takes.
    """
    words = ins.opcode
    if "commit_group" in words:
        return Tensor("wait_bulk", abi.BulkWait(number=number, kind=COMMIT))
    if "wait_group" in words:
        left = ins.operands[0]
        if not isinstance(left, Imm) or not 0 <= left.value < 1 << 31:
            raise malformed(ins, "the number of groups is a literal")
        return Tensor("wait_bulk", abi.BulkWait(number=number, kind=WAIT_GROUP, left=left.value, reading="read" in words))
    if "prefetch" in words:         # a hint, as other prefetches are: it waits for nothing
        return Tensor("wait_bulk", abi.BulkWait(number=number, kind=WAIT_GROUP, left=0x7FFFFFFF))
    return copy(program, ins, number)


def own_operands(ins: Instruction) -> tuple[int, ...]:
    """Return which operands are addresses in the block's own shared memory."""
    if "prefetch" in ins.opcode or not ins.operands or isinstance(ins.operands[0], Imm):
        return ()
    if "shared__cluster" in ins.opcode:
        return (1,) if "shared__cta" in ins.opcode else ()
    return (0, 3) if ins.opcode[3].startswith("shared") else (1,)


def copy(program: Placed, ins: Instruction, number: int) -> Tensor:
    into, between = ins.opcode[3].startswith("shared"), ins.opcode[3:5] == ("shared__cluster", "shared__cta")
    record = abi.BulkCopy(number=number, kind=FlightKind.INTO_SHARED if into else FlightKind.INTO_GLOBAL, bytes_slot=NONE, mask_slot=NONE)
    reported = mbarriers.place(program, ins, ins.operands[not into], record.shared, number, 16)
    record.far.space, record.far.width, record.far.count = abi.SPACES["shared" if between else "global"], 16, 1
    address(program, ins, ins.operands[into], record.far)
    mbarriers.literal_or_slot(program, ins, ins.operands[2], record, "bytes")
    if into:
        mbarriers.place(program, ins, ins.operands[3], record.object, number, 8)
    if "multicast__cluster" in ins.opcode:
        record.mask_slot = mbarriers.register(program, ins, ins.operands[4], "i16")
    if "reduce" in ins.opcode:
        kind = ins.opcode[-1]
        record.change = 1 + CHANGES.index(next(part for part in ins.opcode if part in CHANGES))
        record.width, record.element = type_bytes(kind), next(n for n, letters in enumerate(NUMBERS) if kind.startswith(letters))
    return Tensor("copy_bulk", record, reported)
