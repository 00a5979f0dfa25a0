"""Translate PTX functions into plain scalar LLVM functions that run on the host's own memory.

The simulator's runtime (`runtime/`) is CUDA C like everything else in the course; this is how it becomes native code.
Nothing is counted or checked here.
"""

from collections.abc import Mapping

from course_lib.simt.codegen.llvm import Code, declarations
from course_lib.simt.isa.operations import OPS, ir_type
from course_lib.simt.passes import cfg
from course_lib.simt.ptx.ir import ACCESSES, Function, Imm, Kind, Module, Reg, Variable, Vec


def lower_module(module: Module, given: Mapping[str, str] | None = None) -> str:
    """Return LLVM IR text with one function per defined `.func` of a parsed PTX module; `given`: LLVM IR of functions it only declares."""
    parts, declared = [], []
    for function in module.functions.values():
        if function.defined:
            parts.append(_Function(function, module).text())
        elif given and function.name in given:
            parts.append(given[function.name])
        else:
            arguments = ", ".join(ir_type_of(p) for p in function.params)
            declared.append(f"declare {return_type(function)} @{symbol(function.name)}({arguments})")
    body = "\n".join(declared + parts)
    return body + "\n" + declarations(body)


def symbol(name: str) -> str:
    """Return a name as LLVM's text quotes it."""
    return '"' + name + '"'


def ir_type_of(variable: Variable) -> str:
    """Return the LLVM type of a parameter."""
    return f"i{8 * variable.nbytes}"


def return_type(function: Function) -> str:
    """Return the LLVM type of what a function returns."""
    return ir_type_of(function.returns[0]) if function.returns else "void"


class _Function:
    """One function: registers are allocas, which LLVM turns into SSA values."""

    def __init__(self, function, module):
        self.function, self.module = function, module
        self.code = Code(lanes=None)
        self.registers: dict[str, tuple[int, str]] = {}
        self.arguments = {p.name: i for i, p in enumerate(function.params)}
        self.passed: dict[str, tuple[str, str]] = {}  # .param variables around a call: name -> (type, value)

    def text(self):
        function, code = self.function, self.code
        blocks = cfg.build(function)
        for block in blocks:
            code.label(f"b{block.index}")
            for ins in block.instructions:
                self.instruction(ins, block)
            if block.last is None or block.last.kind is Kind.CALL:
                code.do(f"br label %b{block.successors[0]}")
        arguments = ", ".join(f"{ir_type_of(p)} %a{i}" for i, p in enumerate(function.params))
        head = f"define {return_type(function)} @{symbol(function.name)}({arguments}) nounwind {{"
        entry = ["entry:"] + [f"  %r.{i} = alloca {t}" for i, t in self.registers.values()]
        entry += [f"  %v.{v.name} = alloca [{max(v.nbytes, 1)} x i8], align {max(v.align, 16)}"
                  for v in function.variables.values() if v.space == "local"]
        if function.returns:
            entry.append(f"  %result = alloca {return_type(function)}")
        return "\n".join([head, *entry, "  br label %b0", *code.lines, "}"])

    def register(self, name):
        if name not in self.registers:
            t = ir_type(self.function.register_type(name))
            self.registers[name] = (len(self.registers), t)
        number, t = self.registers[name]
        return f"%r.{number}", t

    def read(self, operand, wanted):
        code = self.code
        if isinstance(operand, Reg):
            place, t = self.register(operand.name)
            value = code.op(f"load {t}, ptr {place}")
            if operand.negated:
                return code.op(f"xor i1 {value}, true")
            if t != wanted and wanted != "imm":
                how = "trunc" if int(t[1:]) > int(wanted[1:]) else "zext"
                value = code.cast(how, t, value, wanted)
            return value
        if isinstance(operand, Imm):
            return str(operand.value)
        if operand.name in self.module.functions:
            return code.op(f"ptrtoint ptr @{symbol(operand.name)} to i64")
        address = code.op(f"ptrtoint ptr %v.{operand.name} to i64")
        return code.op(f"add i64 {address}, {operand.offset}")

    def write(self, register, value, given):
        place, t = self.register(register.name)
        if t != given:
            value = self.code.cast("zext" if int(t[1:]) > int(given[1:]) else "trunc", given, value, t)
        self.code.do(f"store {t} {value}, ptr {place}")

    def instruction(self, ins, block):
        name = ins.opcode[0]
        if ins.kind is Kind.BRANCH:
            return self.branch(ins, block)
        if ins.guard is not None:
            raise NotImplementedError(f"guarded {ins.name} in a scalar function")
        if ins.kind is Kind.RETURN:
            return self.leave()
        if name == "trap":
            return self.code.do("unreachable")
        if ins.kind in ACCESSES:
            return self.memory(ins)
        if ins.kind is Kind.CALL:
            return self.call(ins)
        self.compute(ins)

    def compute(self, ins):
        signature, emit = OPS[ins.opcode[0]]
        results, wanted = signature(ins)
        targets = ins.destinations
        values = emit(self.code, ins, [self.read(o, t) for o, t in zip(ins.inputs, wanted)])
        for register, value, t in zip(targets, values, results):
            self.write(register, value, t)

    def branch(self, ins, block):
        if ins.guard is None:
            self.code.do(f"br label %b{block.successors[0]}")
            return
        condition = self.read(ins.guard, "i1")
        taken, other = block.successors
        self.code.do(f"br i1 {condition}, label %b{taken}, label %b{other}")

    def leave(self):
        if not self.function.returns:
            self.code.do("ret void")
            return
        t = return_type(self.function)
        value = self.code.op(f"load {t}, ptr %result")
        self.code.do(f"ret {t} {value}")

    def memory(self, ins):
        code, t = self.code, ir_type(ins.opcode[-1])
        data, where = ins.operands if ins.kind is Kind.LOAD else reversed(ins.operands)
        items = data.items if isinstance(data, Vec) else (data,)
        if "param" in ins.opcode:
            return self.parameter(ins, items[0], where, t)
        base = self.read(where.base, "i64") if where.base is not None else "0"
        for i, item in enumerate(items):
            address = code.op(f"add i64 {base}, {where.offset + i * int(t[1:]) // 8}")
            pointer = code.op(f"inttoptr i64 {address} to ptr")
            if ins.kind is Kind.STORE:
                code.do(f"store {t} {self.read(item, t)}, ptr {pointer}")
                continue
            value = code.op(f"load {t}, ptr {pointer}")
            wide = self.register(item.name)[1]
            if wide != t:
                value = code.cast("sext" if ins.opcode[-1][0] == "s" else "zext", t, value, wide)
            self.write(item, value, wide)

    def parameter(self, ins, item, where, t):
        name = where.base.name
        if ins.kind is Kind.STORE:
            value = self.read(item, t)
            if self.function.returns and name == self.function.returns[0].name:
                self.code.do(f"store {t} {value}, ptr %result")
            else:
                self.passed[name] = (t, value)
        elif name in self.passed:
            given, value = self.passed[name]
            self.write(item, value, given)
        else:
            number = self.arguments[name]
            self.write(item, f"%a{number}", ir_type_of(self.function.params[number]))

    def call(self, ins):
        operands = list(ins.operands)
        result = operands.pop(0).items[0] if isinstance(operands[0], Vec) else None
        target = operands.pop(0)
        given = [self.passed[s.name] for s in operands[0].items] if operands else []
        arguments = ", ".join(f"{t} {v}" for t, v in given)
        address = f"@{symbol(target.name)}"
        if isinstance(target, Reg):
            address = self.code.op(f"inttoptr i64 {self.read(target, 'i64')} to ptr")
        if result is None:
            self.code.do(f"call void {address}({arguments})")
            return
        callee = self.module.functions.get(getattr(target, "name", None))
        t = return_type(callee) if callee else "i32"  # through a pointer, the runtime calls only functions that return int
        self.passed[result.name] = (t, self.code.op(f"call {t} {address}({arguments})"))

