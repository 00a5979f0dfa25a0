"""What an instruction does to memory or to other lanes, as the records that the runtime reads."""

from collections.abc import Iterator
from typing import Any

from course_lib.simt.isa import async_copies, bulk_copies, images, mbarriers, remote_stores, tensor, tensor_copies, warp, warpgroup
from course_lib.simt.isa.operations import ir_type
from course_lib.simt.isa.protocols import Described, Placed
from course_lib.simt.ptx.ir import ACCESSES, Imm, Instruction, Kind, Reg, opened, type_bytes
from course_lib.simt.runtime import abi

SCOPE = "cta|cluster|gpu|sys"
HINTS_OF_LOADS = "[.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate]" \
                 "[.L2::evict_normal|.L2::evict_first|.L2::evict_last][.L2::cache_hint]"
PREFETCH = "[.L2::64B|.L2::128B|.L2::256B]"
NARROW = "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"
DATA = f"([.v2|.v4].({NARROW})|[.v2].(b64|u64|s64|f64))"  # at most 16 bytes
SPACE = "[.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry|.param::func]"
TO = "[.global|.shared|.shared::cta|.shared::cluster|.local|.param|.param::func]"
ANY_SCOPE = f"[.{SCOPE.replace('|', '|.')}]"
SEMANTICS = {"atom": "[.relaxed|.acquire|.release|.acq_rel]", "red": "[.relaxed|.release]"}
ANYWHERE = "[.global|.shared|.shared::cta|.shared::cluster]"
HINT = "[.L2::cache_hint]"
CHANGES = (("(and|or|xor)", "(b32|b64)"), ("add", "(u32|s32|u64|s64|f32|f64)"), ("(min|max)", "(u32|s32|u64|s64)"), ("(inc|dec)", "u32"),
           ("add.noftz", "(f16|f16x2|bf16|bf16x2)"))
VECTORS = (("add", "(v2|v4).f32"), ("(add|min|max).noftz", "(v2|v4|v8).(f16|bf16)"), ("(add|min|max).noftz", "(v2|v4).(f16x2|bf16x2)"))
EXCHANGES = (("exch", "(b32|b64|b128)", "d, [a], b"), ("cas", "(b16|b32|b64|b128)", "d, [a], b, c"))


def atomics() -> Iterator[tuple[str, str]]:
    """Yield the rows of atom and red."""
    for name, operands in (("atom", "d, [a], b"), ("red", "[a], b")):
        how = SEMANTICS[name] + ANY_SCOPE
        for change, kinds in CHANGES:
            yield f"{name}{how}{ANYWHERE}.{change}{HINT}.{kinds}", operands
        for change, kinds in VECTORS:
            yield f"{name}{how}[.global].{change}{HINT}.{kinds}", operands
    for change, kinds, operands in EXCHANGES:
        yield f"atom{SEMANTICS['atom']}{ANY_SCOPE}{ANYWHERE}.{change}{HINT}.{kinds}", operands


FORMS = {
    "Loads, stores and atomics": (
        (f"ld[.weak]{SPACE}{HINTS_OF_LOADS}{PREFETCH}{DATA}", "d, [a]"),
        (f"ld[.weak]{SPACE}.(ca|cg|cs|lu|cv)[.L2::cache_hint]{PREFETCH}{DATA}", "d, [a]"),
        (f"ld.volatile{SPACE}{PREFETCH}{DATA}", "d, [a]"),
        (f"ld.(relaxed|acquire).({SCOPE}){SPACE}{HINTS_OF_LOADS}{PREFETCH}{DATA}", "d, [a]"),
        (f"ld.mmio.relaxed.sys[.global]{DATA}", "d, [a]"),
        (f"ld.global[.ca|.cg|.cs].nc{HINTS_OF_LOADS}{PREFETCH}{DATA}", "d, [a]"),
        (f"ldu[.global]{DATA}", "d, [a]"),
        (f"st[.weak]{TO}{HINTS_OF_LOADS}{DATA}", "[a], b"), (f"st[.weak]{TO}.(wb|cg|cs|wt)[.L2::cache_hint]{DATA}", "[a], b"),
        (f"st.volatile{TO}{DATA}", "[a], b"), (f"st.(relaxed|release).({SCOPE}){TO}{HINTS_OF_LOADS}{DATA}", "[a], b"),
        (f"st.mmio.relaxed.sys[.global]{DATA}", "[a], b"),
        *atomics(),
    ),
}

# the last takes what is left of cp.async
WITH_RECORDS: tuple[Any, ...] = (tensor, mbarriers, bulk_copies, tensor_copies, remote_stores, async_copies)


def describe_one(program: Described, ins: Instruction, number: int) -> None:
    """Note what an instruction does to memory or to other lanes."""
    if is_memory(ins):
        program.accesses[number] = describe(program, ins, number)
    elif ins.kind is Kind.EXCHANGE:
        program.crossings[number] = warp.cross(program, ins, number)
    elif any(module.knows(ins) for module in WITH_RECORDS):
        describe_tensor(program, ins, number)
    elif warpgroup.knows(ins):
        program.tensors[number] = warpgroup.describe(program, ins, number)
    elif images.knows(ins):
        program.tensors[number] = images.describe(program, ins, number)


def is_memory(ins: Instruction) -> bool:
    """Say whether an instruction goes through `memory_access` (parameters are read directly)."""
    if ins.kind in ACCESSES:
        return not ("param" in ins.opcode and ins.operands[1].base is None)
    return ins.kind is Kind.ATOMIC


def constant_slot(item: Imm, ins: Instruction) -> str:
    """Name the slot that holds a constant to be stored; its value is written when a warp is set up."""
    return f"#{ir_type(ins.opcode[-1])}:{item.value}"


def describe_tensor(program: Described, ins: Instruction, number: int) -> None:
    """Store the Tensor of an instruction that the runtime carries out by a record, and its Access if it has one."""
    found = next(module for module in WITH_RECORDS if module.knows(ins)).describe(program, ins, number)
    program.tensors[number] = found
    if found.access is not None:
        program.accesses[number] = found.access


def describe(program: Placed, ins: Instruction, number: int) -> Any:
    """Return the Access record of one load or store."""
    store, where = ins.kind is Kind.STORE, ins.address
    space = next((p for p in ins.opcode if p in abi.SPACES), "const" if "param" in ins.opcode else "generic")
    kind = ins.opcode[-1]
    access = abi.Access(kind=store, space=abi.SPACES[space], width=type_bytes(kind),
                        count=len(tuple(opened(ins.operands[-1:]))) if ins.kind is Kind.ATOMIC else len(ins.data),
                        sign=kind[0] == "s", line=ins.line, number=number, offset=where.offset)
    if isinstance(where.base, Reg):
        access.address, t = program.slots[where.base.name]
        access.address_bytes, access.has_address = int(t[1:]) // 8, 1
    else:
        access.address_bytes = 8
    if ins.kind is Kind.ATOMIC:
        return warp.atomic(program, ins, access)
    for i, item in enumerate(ins.data):
        access.item[i], t = program.slots[item.name if isinstance(item, Reg) else constant_slot(item, ins)]
        access.item_bytes = int(t[1:]) // 8
    return access
