"""`st.async` and `red.async`: a few bytes into the shared memory of a block of the cluster, whose mbarrier counts them when they come.

As records that `runtime/remote.cuh` reads. They go through the async proxy, as bulk copies do. Not measured: whether the bytes and the
mbarrier may lie in two blocks; here they must lie in one, as the manual's examples have it.
"""

import re

from course_lib.simt.isa import mbarriers
from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.tensor import Tensor, malformed
from course_lib.simt.isa.warp import CHANGES, NONE, NUMBERS
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, opened, type_bytes
from course_lib.simt.runtime import abi

PLACE = "[.shared::cluster][.mbarrier::complete_tx::bytes]"
FORMS = {
    "Clusters of blocks": (
        (f"st.async[.weak]{PLACE}([.v2|.v4].(b32|u32|s32|f32)|[.v2].(b64|u64|s64|f64))", "[a], b, [c]"),
        (f"red.async.relaxed.cluster{PLACE}.((inc|dec).u32|(min|max).(u32|s32)|add.(u32|s32|u64)|(and|or|xor).b32)", "[a], b, [c]"),
    ),
}


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is st.async or red.async."""
    return ins.kind is Kind.COPY and ins.opcode[0] in ("st", "red")


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function, record, access) of an instruction.

    Raises
    ------
    PtxSyntaxError
        Operands of other types than the form takes.
    """
    kind, items = ins.opcode[-1], tuple(opened(ins.operands[1:2]))
    count = next((int(part[1:]) for part in ins.opcode if re.fullmatch("v[24]", part)), 1)
    if len(items) != count:
        raise malformed(ins, f"{count} values are wanted, {len(items)} stand there")
    record = abi.RemoteStore(number=number, count=count, width=type_bytes(kind))
    for i, item in enumerate(items):
        record.item[i] = NONE if isinstance(item, Imm) else mbarriers.register(program, ins, item, f"i{8 * record.width}")
        record.value[i] = item.value & (1 << 64) - 1 if isinstance(item, Imm) else 0
    if ins.opcode[0] == "red":
        record.change = 1 + CHANGES.index(next(part for part in ins.opcode if part in CHANGES))
        record.element = next(n for n, letters in enumerate(NUMBERS) if kind.startswith(letters))
    reported = mbarriers.place(program, ins, ins.operands[0], record.target, number, record.width * count)
    mbarriers.place(program, ins, ins.operands[2], record.object, number, 8)
    return Tensor("store_async", record, reported)

