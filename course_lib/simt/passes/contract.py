"""Products and sums that the assembler makes one fused multiply-add of.

PTX allows it where neither instruction names a rounding ("mul/add and mul/sub sequences with no rounding modifiers may be
optimized to use fused-multiply-add"), and the results differ in their last bits. The compiler has fused most of them
already; what it leaves is above all a*b - c*d.

A product is fused when every use of it is such a sum or difference, and nothing of it is left then. Of two products in one
sum the one with fewer uses is fused, else the first operand: a*b - c*d becomes fma(a, b, -(c*d)). A factor whose register may hold
another value when the sum is due, as one that a loop carries may, is copied where the product stood.

Source: PTX ISA, "add" and "mul"; `ptxas` 13.5 as seen in SASS; results held to an H200.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from course_lib.simt.ptx.ir import Function, Imm, Instruction, Kind, Reg, type_bytes

TYPES = ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2")
SUMS = ("add", "sub")


def contract(function: Function) -> Function:
    """Return a function with its products and sums fused; registers for signs are added to its table."""
    body = [i for i in function.body if isinstance(i, Instruction)]
    products = find_products(body)
    if not products:
        return function
    uses = find_uses(body, products)
    candidates = {name for name in products if uses[name] and all(fits(products[name], use, name) for use in uses[name])}
    fused = {name for name in candidates if all(first_choice(name, use, candidates, uses) for use in uses[name])}
    written = times_written(body)
    new: list[Instruction | str] = []
    for item in function.body:
        if isinstance(item, Instruction):
            made = result(item)
            if item.opcode[0] == "mul" and made is not None and made in fused and products[made] is item:
                if not all(steady(function.body, item, use, written) for use in uses[made]):
                    copies, products[made] = copied(item, written, function)
                    new += copies
                continue
            name = next((o.name for o in item.operands[1:3] if isinstance(o, Reg) and o.name in fused), None) \
                if item.opcode[0] in SUMS and item.opcode[-1] in TYPES else None
            new += [item] if name is None else fuse(item, products[name], name, function)
        else:
            new.append(item)
    return dataclasses.replace(function, body=new)


def result(ins: Instruction) -> str | None:
    return ins.operands[0].name if ins.operands and isinstance(ins.operands[0], Reg) else None


def plain(ins: Instruction) -> bool:
    """Say whether an instruction names no rounding and is not guarded."""
    return ins.guard is None and ins.opcode[-1] in TYPES and set(ins.opcode[1:-1]) <= {"ftz", "sat"}


def find_products(body: Sequence[Instruction]) -> dict[str, Instruction]:
    """Return {register: its mul}, where nothing else writes the register."""
    written = times_written(body)
    return {name: ins for ins in body if (name := result(ins)) is not None
            and ins.opcode[0] == "mul" and plain(ins) and "sat" not in ins.opcode and written.get(name) == 1
            and all(isinstance(o, Imm | Reg) for o in ins.operands[1:])}


def times_written(body: Sequence[Instruction]) -> dict[str, int]:
    """Return how many instructions write each register."""
    written: dict[str, int] = {}
    for ins in body:
        for register in ins.destinations:
            written[register.name] = written.get(register.name, 0) + 1
    return written


def steady(body: Sequence[Instruction | str], product: Instruction, use: Instruction, written: Mapping[str, int]) -> bool:
    """Say whether the factors still hold their values where the sum is due."""
    factors = {o.name for o in product.operands[1:] if isinstance(o, Reg) and written.get(o.name, 1) > 1}
    if not factors:
        return True
    at = next(i for i, item in enumerate(body) if item is product)
    for item in body[at + 1:]:
        if item is use:
            return True
        if not isinstance(item, Instruction) or item.kind is Kind.BRANCH or factors & {r.name for r in item.destinations}:
            return False
    return False


def copied(product: Instruction, written: Mapping[str, int], function: Function) -> tuple[list[Instruction], Instruction]:
    """Return instructions that copy the factors that are written more than once, and the product of the copies."""
    moves, operands = [], [product.operands[0]]
    for operand in product.operands[1:]:
        if isinstance(operand, Reg) and written.get(operand.name, 1) > 1:
            copy = Reg(f"%_factor.{len(function.registers)}")
            kind = function.registers[copy.name] = function.registers[operand.name]
            moves.append(Instruction(("mov", f"b{8 * type_bytes(kind)}"), (copy, operand), None, product.line))
            operand = copy
        operands.append(operand)
    return moves, dataclasses.replace(product, operands=tuple(operands))


def find_uses(body: Sequence[Instruction], products: Collection[str]) -> dict[str, list[Instruction]]:
    uses: dict[str, list[Instruction]] = {name: [] for name in products}
    for ins in body:
        for register in ins.sources:
            if register.name in uses:
                uses[register.name].append(ins)
    return uses


def fits(product: Instruction, use: Instruction, name: str) -> bool:
    """Say whether a use is a sum of the product and something else."""
    return (use.opcode[0] in SUMS and plain(use) and use.opcode[-1] == product.opcode[-1]
            and ("ftz" in use.opcode) == ("ftz" in product.opcode)
            and sum(isinstance(o, Reg) and o.name == name for o in use.operands[1:]) == 1)


def first_choice(name: str, use: Instruction, candidates: Collection[str], uses: Mapping[str, Sequence[Instruction]]) -> bool:
    """Say whether a sum fuses this product and not the other one."""
    names = [o.name if isinstance(o, Reg) else None for o in use.operands[1:]]
    other = names[1 - names.index(name)]
    if other is None or other not in candidates or other == name:
        return True
    return (len(uses[name]), names.index(name)) < (len(uses[other]), names.index(other))


def fuse(ins: Instruction, product: Instruction, name: str, function: Function) -> list[Instruction]:
    """Return the instructions that carry out a sum and its product."""
    target, left, right = ins.operands
    kind = ins.opcode[-1]
    a, b = product.operands[1:]
    first = isinstance(left, Reg) and left.name == name
    addend = right if first else left
    signs = []
    if ins.opcode[0] == "sub":
        negative = addend if first else a
        negation = Reg(f"%_minus.{len(function.registers)}")
        function.registers[negation.name] = f"b{8 * {'f32': 4, 'f64': 8, 'f16': 2, 'bf16': 2}.get(kind, 4)}"
        signs = [Instruction(("neg", kind), (negation, negative), None, ins.line)]
        addend, a = (negation, a) if first else (addend, negation)
    words = tuple(w for w in ins.opcode[1:-1])
    return [*signs, Instruction(("fma", "rn", *words, kind), (target, a, b, addend), None, ins.line)]
