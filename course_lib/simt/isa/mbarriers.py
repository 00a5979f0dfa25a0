"""mbarriers: objects in shared memory at which threads arrive and copies report their bytes, as the records of `runtime/mbarriers.cuh`.

Also `cp.async.mbarrier.arrive`, and the proxy fences that racecheck looks for. Other blocks of a cluster may arrive at an mbarrier and
expect bytes there; only its own block waits. The scopes `.cta` and `.cluster` are not told apart. `.relaxed` orders no accesses. What the
manual leaves open and nobody has measured yet stands in the runtime's text.
"""

from typing import Any

from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.tensor import Tensor, address, malformed, space_of
from course_lib.simt.isa.warp import NONE
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Mem, Operand, Reg
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import ObjectUse

OURS = "[.shared|.shared::cta]"
ANY = "[.shared|.shared::cta|.shared::cluster]"
ORDER = "[.(release|relaxed).(cta|cluster)]"
SEEN = "[.(acquire|relaxed).(cta|cluster)]"
ARRIVE = "mbarrier.(arrive|arrive_drop)"
FORMS = {
    "Barriers and exchange between lanes": (
        (f"mbarrier.init{OURS}.b64", "[a], b"), (f"mbarrier.inval{OURS}.b64", "[a]"),
        (f"mbarrier.(expect_tx|complete_tx)[.relaxed.(cta|cluster)]{ANY}.b64", "[a], b"),
        (f"{ARRIVE}{ORDER}{ANY}.b64", "d, [a][, b]"), (f"{ARRIVE}.expect_tx{ORDER}{ANY}.b64", "d, [a], b"),
        (f"{ARRIVE}.noComplete[.release.cta]{OURS}.b64", "d, [a], b"),
        (f"mbarrier.test_wait[.parity]{SEEN}{OURS}.b64", "p, [a], b"), (f"mbarrier.try_wait[.parity]{SEEN}{OURS}.b64", "p, [a], b[, c]"),
        ("mbarrier.pending_count.b64", "d, a"),
    ),
    "Asynchronous copies": ((f"cp.async.mbarrier.arrive[.noinc]{OURS}.b64", "[a]"),),
    "Hints, fences and other instructions without a value": (
        ("fence.proxy.async.shared::cluster", ""), ("fence.mbarrier_init.release.cluster", ""),
    ),
}

USES = {"init": ObjectUse.INIT_OBJECT, "inval": ObjectUse.DROP_OBJECT, "expect_tx": ObjectUse.EXPECT_BYTES,
        "complete_tx": ObjectUse.COMPLETE_BYTES, "arrive": ObjectUse.ARRIVE_AT, "arrive_drop": ObjectUse.ARRIVE_AT,
        "test_wait": ObjectUse.WAIT_FOR, "try_wait": ObjectUse.WAIT_FOR, "pending_count": ObjectUse.PENDING_OF}


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of this module's; of fences, those that racecheck looks for."""
    if ins.kind is Kind.FENCE:
        return "mbarrier_init" in ins.opcode or "async" in ins.opcode and "global" not in ins.opcode
    return ins.kind is Kind.MBARRIER or ins.opcode[:3] == ("cp", "async", "mbarrier")


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function, record, access) of an instruction.

    Raises
    ------
    PtxSyntaxError
        Operands of other types than the form takes.
    """
    if ins.kind is Kind.FENCE:
        return Tensor("fence_proxy", abi.ProxyFence(number=number, objects="mbarrier_init" in ins.opcode))
    record = abi.ObjectOp(number=number, result=NONE, count_slot=NONE, bytes_slot=NONE, phase_slot=NONE)
    if ins.kind is Kind.COPY:
        record.free = "noinc" not in ins.opcode
        return Tensor("arrive_behind_copies", record, place(program, ins, ins.operands[0], record.object, number, 8))
    record.use = USES[ins.opcode[1]]
    results, given = ins.operands[:ins.results], ins.operands[ins.results:]
    if results and results[0].name != "_":
        wanted = "i1" if record.use == ObjectUse.WAIT_FOR else "i32" if record.use == ObjectUse.PENDING_OF else "i64"
        record.result = register(program, ins, results[0], wanted)
    if record.use == ObjectUse.PENDING_OF:
        record.phase_slot = register(program, ins, given[0], "i64")
        return Tensor("use_object", record)
    operands_of(program, ins, given[1:], record)
    return Tensor("use_object", record, place(program, ins, given[0], record.object, number, 8))


def operands_of(program: Placed, ins: Instruction, given: tuple[Operand, ...], record: Any) -> None:
    """Fill in what stands behind the address: a count, bytes, a token or a parity. How long to wait is a hint, and changes nothing."""
    words = ins.opcode
    record.drop, record.no_complete, record.relaxed = "arrive_drop" in words, "noComplete" in words, "relaxed" in words
    record.parity, record.count = "parity" in words, 1
    if not given:
        return
    if record.use == ObjectUse.WAIT_FOR and not record.parity:
        record.phase_slot = register(program, ins, given[0], "i64")
        return
    field = "phase" if record.parity else "bytes" if {"expect_tx", "complete_tx"} & set(words) else "count"
    literal_or_slot(program, ins, given[0], record, field)
    for operand in given[1:]:
        literal_or_slot(program, ins, operand, abi.ObjectOp(), "count")


def literal_or_slot(program: Placed, ins: Instruction, operand: Operand, record: Any, field: str) -> None:
    """Fill in `field` with a literal, or `field_slot` with the place of a register of 32 bits."""
    if isinstance(operand, Imm) and not operand.float_bytes and -1 << 31 <= operand.value < 1 << 32:
        setattr(record, field, operand.value & 0xFFFFFFFF)
    else:
        setattr(record, f"{field}_slot", register(program, ins, operand, "i32"))


def register(program: Placed, ins: Instruction, operand: Operand, wanted: str) -> int:
    """Return the byte offset of a register, which must be as wide as wanted."""
    if not isinstance(operand, Reg) or operand.negated or program.slots[operand.name][1] != wanted:
        kind = "a predicate" if wanted == "i1" else f"a register of {wanted[1:]} bits"
        raise malformed(ins, f"{getattr(operand, 'name', operand)} is not {kind}")
    return program.slots[operand.name][0]


def place(program: Placed, ins: Instruction, operand: Operand, access: Any, number: int, width: int) -> Any:
    """Fill in an Access to shared memory; return the one that a report, a trace or an error says of it."""
    remote = "shared__cluster" in ins.opcode and isinstance(operand, Mem) and isinstance(operand.base, Reg)
    space = "shared__cluster" if remote else "generic" if space_of(ins) == "generic" else "shared"
    access.kind, access.space, access.width, access.count = 1, abi.SPACES[space], width, 1
    access.line, access.number = ins.line, number
    address(program, ins, operand, access)
    return abi.Access(kind=1, space=abi.SPACES["generic"], width=width, count=1, line=ins.line, number=number)
