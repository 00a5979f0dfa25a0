"""Instructions that change no value here: prefetches, cache policies; and `isspacep`, which asks where an address lies.

They are executed and counted all the same; `passes/normalise.py` takes their operands away.
"""

from collections.abc import Sequence

from course_lib.simt.isa.protocols import Results, Writer
from course_lib.simt.isa.table import op
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi

FORMS = {
    "Hints, fences and other instructions without a value": (
        ("prefetch[.global|.local].(L1|L2|L2::evict_last|L2::evict_normal)", "[a]"), ("prefetchu.L1", "[a]"),
        ("prefetch[.const|.param].tensormap", "[a]"),
        ("applypriority[.global].L2::evict_normal", "[a], 128"),
        ("createpolicy.fractional.L2::(evict_last|evict_normal|evict_first|evict_unchanged)[.L2::evict_first|.L2::evict_unchanged].b64",
        "d[, 0f3F800000]"),
        ("isspacep.(global|local|const|shared|shared::cta|shared::cluster)", "p, a"),
        ("pmevent[.mask]", "imm"),
    ),
}

NOTHING = ("prefetch", "prefetchu", "applypriority", "pmevent")
OWN = (abi.SHARED_WINDOW, abi.SHARED_WINDOW + (1 << abi.RANK_SHIFT))
ENDS = {"shared": OWN, "shared__cta": OWN, "shared__cluster": (abi.SHARED_WINDOW, abi.LOCAL_WINDOW),
        "local": (abi.LOCAL_WINDOW, abi.CONST_WINDOW),
        "const": (abi.CONST_WINDOW, 2 * abi.CONST_WINDOW - abi.LOCAL_WINDOW)}


@op(*NOTHING, signature=lambda ins: ((), ()), whole=True)
def emit_nothing(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return ()


@op("createpolicy", signature=lambda ins: (("i64",), ()))
def emit_policy(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    return (code.const("i64", 0),)


@op("isspacep", signature=lambda ins: (("i1",), ("i64",) * (len(ins.operands) - 1)), whole=True)
def emit_space(code: Writer, ins: Instruction, s: Sequence[str]) -> Results:
    def inside(low: int, end: int) -> str:
        return code.compare("icmp ult", "i64", code.binary("sub", "i64", at, code.const("i64", low)), code.const("i64", end - low))

    space = ins.opcode[1]
    at = code.binary("sub", "i64", s[0], s[1]) if len(s) > 1 else s[0]      # in a cluster, the block's own window begins elsewhere
    if space != "global":
        return (inside(*ENDS[space]),)
    windows = inside(ENDS["shared"][0], ENDS["const"][1])
    return (code.binary("xor", "i1", windows, code.const("i1", "true")),)
