"""One body of code out of a kernel and its functions: names made distinct, variables as offsets in frames, records of the calls."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from course_lib.simt.errors import PtxSyntaxError, UnsupportedInstruction
from course_lib.simt.passes.calls import BUILTINS, FRAME, INDIRECT, Linked, Site, align
from course_lib.simt.passes.cfg import Block
from course_lib.simt.ptx.ir import Function, Imm, Instruction, Kind, Mem, Operand, Reg, Sym, Vec, at_line
from course_lib.simt.runtime import abi

RETURN = Instruction(("ret", "func"), (), None, 0)


def rename(linked: Linked, name: str, special: Collection[str]) -> Function:
    """Return a function with its registers and labels renamed so that no two functions share any, calls as Sites."""
    function = linked.functions[name]
    kernel = function.kernel

    def register(reg: Reg) -> Reg:
        if kernel or reg.name in special or reg.name == "_":
            return reg
        return Reg(f"{reg.name}@{name}", reg.negated)

    def operand(o: Operand) -> Operand:
        if isinstance(o, Reg):
            return register(o)
        if isinstance(o, Mem) and isinstance(o.base, Reg):
            return Mem(register(o.base), o.offset)
        return Vec(tuple(operand(i) for i in o.items)) if isinstance(o, Vec) else o

    body: list[Instruction | str] = []
    registers: dict[str, str] = {}
    for item in function.body:
        if isinstance(item, Instruction):
            for reg in [*item.destinations, *item.sources]:
                kind = function.register_type(reg.name)
                if kind is not None:
                    registers[register(reg).name] = kind
            if item.kind is Kind.CALL:
                item = site(linked, name, item)
            guard = register(item.guard) if item.guard else None
            item = dataclasses.replace(item, operands=tuple(operand(o) for o in item.operands), guard=guard)
            if item.opcode[0] == "ret" and not kernel:
                item = dataclasses.replace(RETURN, guard=guard, line=item.line)
        body.append(item)
    if not kernel:  # a text that ends without ret
        body.append(RETURN)
    return dataclasses.replace(function, body=body, registers={**function.registers, **registers} if kernel else registers)


def site(linked: Linked, caller: str, ins: Instruction) -> Instruction:
    """Replace the operands of a call by (target, Site)."""
    operands = list(ins.operands)
    returned = operands.pop(0).items if isinstance(operands[0], Vec) else ()
    target = operands.pop(0)
    given = operands[0].items if operands and isinstance(operands[0], Vec) else ()
    function = linked.functions[caller]

    def place(symbol: Operand) -> tuple[int, int]:
        variable = function.variables.get(symbol.name) if isinstance(symbol, Sym) else None
        if variable is None or variable.space != "param":
            raise UnsupportedInstruction(f"{at_line(ins)}{ins.name} passes something other than .param variables, which the "
                                         "simulator does not know.", opcode=ins.name, line=ins.where)
        return linked.offsets[caller][variable.name], variable.nbytes

    found = Site(caller, tuple(map(place, returned)), tuple(map(place, given)))
    if isinstance(target, Sym):
        wanted = linked.callees[target.name]
        sizes = [tuple(n for _, n in part) for part in (found.returns, found.params, wanted.returns, wanted.params)]
        if sizes[:2] != sizes[2:]:
            raise PtxSyntaxError(f"{at_line(ins)}{ins.name}: {target.name} takes {len(wanted.params)} parameters of other sizes "
                                 "or returns something else.", line=ins.where, opcode=ins.name)
    return dataclasses.replace(ins, operands=(target, found))


def in_frame(ins: Instruction, offsets: Mapping[str, int], kernel: bool) -> Instruction:
    """Rewrite an instruction that uses a variable of the frame: `ld.param` and `ld.local` by name, and addresses.

    In a kernel the frame begins at byte 0, so that its variables have fixed addresses.
    """
    opcode, operands = ins.opcode, list(ins.operands)
    for i, o in enumerate(operands):
        if isinstance(o, Mem) and isinstance(o.base, Sym) and o.base.name in offsets:
            operands[i] = Mem(None if kernel else FRAME, offsets[o.base.name] + o.offset)
            opcode = tuple("frame" if p.startswith("param") else p for p in opcode)
        elif isinstance(o, Sym) and o.name in offsets:
            at = offsets[o.name] + o.offset
            if kernel:
                operands[i] = Imm(at)
            elif opcode[0] == "mov" and opcode[-1] in ("u64", "s64", "b64"):
                opcode, operands = ("add", "s64"), [operands[0], FRAME, Imm(at)]
                break
            else:
                raise UnsupportedInstruction(f"{at_line(ins)}{ins.name} takes the address of {o.name}, a form that the simulator "
                                             "does not know in functions.", opcode=ins.name, line=ins.where)
    if not kernel and ins.kind is Kind.LOAD and "param" in opcode:
        opcode = tuple("frame" if p == "param" else p for p in opcode)
    return dataclasses.replace(ins, opcode=opcode, operands=tuple(operands))


# -- what the runtime reads ---------------------------------------------------------------------------------------------
class CallTables(NamedTuple):
    """The records of `runtime/calls.cuh`: an abi.Call per call, an abi.Callee per function, and the (offset, bytes) that both refer to."""

    calls: list[Any]
    callees: list[Any]
    data: list[tuple[int, int]]
    of_instruction: dict[int, int]  # instruction number -> index of its call


def tables(linked: Linked, blocks: Sequence[Block], slots: Mapping[str, tuple[int, str]]) -> CallTables:
    """Return the records of all calls; `slots` maps registers to (offset, LLVM type)."""
    data: list[tuple[int, int]] = []
    calls: list[Any] = []
    callees: list[Any] = []
    index: dict[int, int] = {}
    for name, f in linked.callees.items():
        builtin = 1 + BUILTINS.index(name) if name in BUILTINS and not linked.defined(name) else 0
        callees.append(abi.Callee(f.block, f.frame, len(f.returns), len(f.params), len(data), builtin))
        data += [*f.returns, *f.params]
    for block in blocks:
        if not block.last or block.last.kind is not Kind.CALL:
            continue
        number, (target, where) = block.first + len(block.instructions) - 1, block.last.operands
        saved = to_save(linked, where.caller, blocks[block.successors[0]], slots)
        record = abi.Call(number, block.successors[0], align(linked.frames[where.caller], 16), INDIRECT, 0, len(where.returns),
                          len(where.params), len(saved), len(data))
        if isinstance(target, Reg):
            record.slot = slots[target.name][0]
        else:
            record.target = linked.callees[target.name].number
        index[number] = len(calls)
        calls.append(record)
        data += [*where.returns, *where.params, *saved]
    return CallTables(calls, callees, data, index)


def to_save(linked: Linked, caller: str, following: Block, slots: Mapping[str, tuple[int, str]]) -> list[tuple[int, int]]:
    """Return (slot, bytes) of the registers that a recursive caller still needs behind the call; 0 bytes: a predicate."""
    if caller not in linked.callees or not linked.callees[caller].recursive:
        return []
    mine = sorted(n for n in following.live_in if n.endswith(f"@{caller}"))
    return [(slots[n][0], 0 if slots[n][1] == "i1" else int(slots[n][1][1:]) // 8) for n in mine]
