"""Parameters and results in registers become `.param` variables, so that everything behind knows one way to call.

PTX lets a function take `.reg` parameters, and a call pass registers and literals. A function then begins with loads of its parameters and
stores its results before it returns, and a call stores what it passes and loads what comes back, under its own guard.
"""

import dataclasses
from collections.abc import Iterable
from typing import NoReturn

from course_lib.simt.errors import PtxSyntaxError, UnsupportedInstruction
from course_lib.simt.ptx.ir import Function, Imm, Instruction, Kind, Mem, Module, Operand, Reg, Sym, Variable, Vec, at_line, type_bytes


def lower(module: Module) -> Module:
    """Return a module in which all calls pass `.param` variables, and aliases are gone.

    Raises
    ------
    PtxSyntaxError, UnsupportedInstruction
        A call whose operands do not fit, with its line.
    """
    functions = {}
    for name, function in module.functions.items():
        body: list[Instruction | str] = []
        variables = dict(function.variables)
        for item in function.body:
            if isinstance(item, Instruction) and item.kind is Kind.CALL:
                body += _Call(module, function, variables, item).lowered()
            else:
                body.append(item)
        functions[name] = with_params(dataclasses.replace(function, body=body, variables=variables))
    for name, target in module.aliases.items():
        functions[name] = dataclasses.replace(functions[target], name=name)
    return dataclasses.replace(module, functions=functions)


def with_params(function: Function) -> Function:
    """Return a function whose parameters and results are all `.param` variables."""
    if not any(p.space == "reg" for p in (*function.params, *function.returns)):
        return function
    params, before = moved(function.params, "ld")
    returns, after = moved(function.returns, "st")
    body: list[Instruction | str] = [*before]
    for item in [*function.body, Instruction(("ret",), (), None, 0)]:
        if isinstance(item, Instruction) and item.opcode[0] == "ret":
            body += [dataclasses.replace(store, guard=item.guard, line=item.line, text_line=item.text_line) for store in after]
        body.append(item)
    return dataclasses.replace(function, params=params, returns=returns, body=body if function.defined else [])


def moved(formal: Iterable[Variable], how: str) -> tuple[list[Variable], list[Instruction]]:
    """Return parameters as `.param` variables, and the loads or stores between these and their registers."""
    found, moves = [], []
    for at, p in enumerate(formal):
        if p.space != "reg":
            found.append(p)
            continue
        found.append(dataclasses.replace(p, name=f"{how}.{at}", space="param"))
        place = Mem(Sym(f"{how}.{at}"))
        if p.name != "_":
            moves.append(Instruction((how, "param", p.kind), (Reg(p.name), place) if how == "ld" else (place, Reg(p.name)), None, 0))
    return found, moves


class _Call:
    """One call, on the way to passing `.param` variables only."""

    def __init__(self, module: Module, function: Function, variables: dict[str, Variable], ins: Instruction) -> None:
        self.module, self.function, self.variables, self.ins = module, function, variables, ins
        self.before: list[Instruction] = []
        self.after: list[Instruction] = []

    def fail(self, why: str) -> NoReturn:
        raise PtxSyntaxError(f"{at_line(self.ins)}{self.ins.name}: {why}.", line=self.ins.where, opcode=self.ins.name)

    def lowered(self) -> list[Instruction]:
        """Return the instructions that take the call's place."""
        operands = list(self.ins.operands)
        target = next((at for at, o in enumerate(operands) if not isinstance(o, Vec)), None)
        lists = [at for at in ((target or 0) - 1, (target or 0) + 1) if 0 <= at < len(operands) and isinstance(operands[at], Vec)]
        if target is None or all(self.is_param(o) for at in lists for o in operands[at].items):
            return [self.ins]       # also what is no call at all: verify says why
        for at in lists:
            operands[at] = self.passed(operands, target, operands[at].items, at < target)
        return [*self.before, dataclasses.replace(self.ins, operands=tuple(operands)), *self.after]

    def is_param(self, operand: Operand) -> bool:
        return isinstance(operand, Sym) and operand.name in self.variables

    def passed(self, operands: list[Operand], target: int, items: tuple[Operand, ...], results: bool) -> Vec:
        """Return the operands of a list as `.param` variables, and note the loads or stores between."""
        formal = self.formal(operands, target, results)
        if len(formal) != len(items):
            self.fail(f"it passes {len(items)} {'results' if results else 'parameters'}, and the function has {len(formal)}")
        return Vec(tuple(item if self.is_param(item) else self.variable(item, p, results) for item, p in zip(items, formal)))

    def variable(self, item: Operand, formal: Variable, result: bool) -> Sym:
        if not isinstance(item, Reg if result else Reg | Imm):
            self.fail("it passes something other than registers, literals and .param variables")
        if formal.nbytes != type_bytes(formal.kind):
            self.fail(f"a register or literal stands for a parameter of {formal.nbytes} bytes")
        name = f"passed.{len(self.variables)}"
        self.variables[name] = dataclasses.replace(formal, name=name, space="param")
        place, kept = Mem(Sym(name)), dataclasses.replace(self.ins, operands=())
        if not result:
            self.before.append(dataclasses.replace(kept, opcode=("st", "param", formal.kind), operands=(place, item)))
        elif item != Reg("_"):
            self.after.append(dataclasses.replace(kept, opcode=("ld", "param", formal.kind), operands=(item, place)))
        return Sym(name)

    def formal(self, operands: list[Operand], target: int, results: bool) -> list[Variable]:
        """Return the parameters or results of the function that is called, or of the prototype of the call."""
        called = operands[target]
        found = self.function_named(called.name) if isinstance(called, Sym) else None
        listed = operands[-1]
        if isinstance(called, Reg) and isinstance(listed, Sym):
            found = self.function.prototypes.get(listed.name)
            table = self.function.tables.get(listed.name) or tuple(
                p.name for p in getattr(self.module.variables.get(listed.name), "pointers", ()))
            found = found or (self.function_named(table[0]) if table else None)
        if found is None:
            raise UnsupportedInstruction(f"{at_line(self.ins)}{self.ins.name} passes registers or literals to a function of which nothing "
                                         "is declared before.", opcode=self.ins.name, line=self.ins.where)
        return found.returns if results else found.params

    def function_named(self, name: str) -> Function | None:
        return self.module.functions.get(self.module.aliases.get(name, name))
