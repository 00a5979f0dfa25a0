"""What an instruction does to memory or to other lanes, as the records that the runtime reads."""

from course_lib.simt.isa import async_copies, tensor, warp
from course_lib.simt.isa.operations import ir_type
from course_lib.simt.ptx.ir import ACCESSES, Kind, Reg, type_bytes
from course_lib.simt.runtime import abi


def describe_one(program, ins, number):
    """Note what an instruction does to memory or to other lanes."""
    if is_memory(ins):
        program.accesses[number] = describe(program, ins, number)
    elif ins.kind is Kind.EXCHANGE:
        program.crossings[number] = warp.cross(program, ins, number)
    elif tensor.knows(ins) or async_copies.knows(ins):
        describe_tensor(program, ins, number)


def is_memory(ins):
    """Say whether an instruction goes through `memory_access` (parameters are read directly)."""
    if ins.kind in ACCESSES:
        return not ("param" in ins.opcode and ins.operands[1].base is None)
    return ins.kind is Kind.ATOMIC


def constant_slot(item, ins):
    """Name the slot that holds a constant to be stored; its value is written when a warp is set up."""
    return f"#{ir_type(ins.opcode[-1])}:{item.value}"


def describe_tensor(program, ins, number):
    """Keep the Tensor of a matrix instruction or asynchronous copy, and its Access if it has one."""
    found = (tensor if tensor.knows(ins) else async_copies).describe(program, ins, number)
    program.tensors[number] = found
    if found.access is not None:
        program.accesses[number] = found.access


def describe(program, ins, number):
    """Return the Access record of one load or store."""
    store, where = ins.kind is Kind.STORE, ins.address
    items = ins.data if ins.kind is not Kind.ATOMIC else (None,)
    space = next((p for p in ins.opcode if p in abi.SPACES), "const" if "param" in ins.opcode else "generic")
    kind = ins.opcode[-1]
    access = abi.Access(kind=store, space=abi.SPACES[space], width=type_bytes(kind), count=len(items),
                           sign=kind[0] == "s", line=ins.line, number=number, offset=where.offset)
    if isinstance(where.base, Reg):
        access.address, t = program.slots[where.base.name]
        access.address_bytes, access.has_address = int(t[1:]) // 8, 1
    else:
        access.address_bytes = 8
    if ins.kind is Kind.ATOMIC:
        return warp.atomic(program, ins, access)
    for i, item in enumerate(items):
        access.item[i], t = program.slots[item.name if isinstance(item, Reg) else constant_slot(item, ins)]
        access.item_bytes = int(t[1:]) // 8
    return access
