"""Read PTX text into functions, instructions and variables; nothing is interpreted here.

The grammar is the one of NVIDIA's "PTX ISA" manual, as far as compilers and careful people write it. An instruction
has its opcode split at the dots (`ld.global.v2.f32` -> `("ld", "global", "v2", "f32")`), so that passes can look
at the parts, and the source line that the last `.loc` directive named.
"""

import dataclasses

from course_lib.simt.ptx.ir import Function, Instruction, Module, Reg, Sym, Variable
from course_lib.simt.ptx.operands import Operands

DEEPEST = 200  # nested braces
MOST_NAMED = 1 << 16  # registers of a range like `t<4>` that are not named %…, or stand in an inner scope


def parse(text: str) -> Module:
    """Parse the text of a complete PTX module.

    Raises
    ------
    PtxSyntaxError
        Names the line of the PTX text and what stands there.
    """
    return _Parser(text).module_items()


class _Parser(Operands):
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.line = 0
        self.main_file: int | None = None
        self.scopes = 0
        self.module = Module()

    # -- module level ------------------------------------------------------------------------------
    def module_items(self) -> Module:
        while self.kinds[self.at] != "end":
            word = self.take()
            if word == ".version":
                self.module.version = self.take()
            elif word == ".target":
                self.module.target = self.take()
                while self.accept(","):
                    self.take()
            elif word == ".address_size":
                self.take()
            elif word in (".visible", ".extern", ".weak", ".common"):
                continue
            elif word in (".entry", ".func"):
                self.function(word == ".entry")
            elif word in (".global", ".const", ".shared"):
                variable = self.variable(word[1:])
                self.module.variables[variable.name] = variable
            elif not self.debug_directive(word):
                raise self.error(f"unknown directive {word!r}", self.offsets[self.at - 1])
        return self.module

    def debug_directive(self, word: str) -> bool:
        """Consume a directive that may stand anywhere; say whether it was one."""
        if word == ".loc":
            self.location()
        elif word == ".file":
            number = self.integer()
            self.take()
            while self.accept(","):
                self.integer()
            if self.main_file is None:
                self.main_file = number
        elif word == ".section":
            self.skip_to("{")
            self.skip_to("}")
        elif word in (".pragma", ".alias"):
            self.skip_to(";")
        else:
            return False
        return True

    def location(self) -> None:
        """`.loc file line column [, function_name label, inlined_at file line column]`: keep a line of file 1."""
        number, line, _ = self.integer(), self.integer(), self.integer()
        outer = None
        while self.accept(","):
            word = self.take()
            if word == "inlined_at":
                outer = (self.integer(), self.integer(), self.integer())
            else:
                self.take()
                if self.accept("+"):
                    self.integer()
        if number != 1 and outer is not None:
            number, line = outer[0], outer[1]
        if number == 1 and line:
            self.line = line

    # -- functions ---------------------------------------------------------------------------------
    def function(self, kernel: bool) -> None:
        returns = self.parameters() if self.peek() == "(" else []
        function = Function(self.take(), kernel, returns=returns)
        if self.peek() == "(":
            function.params = self.parameters()
        while self.peek() not in ("{", ";"):
            word = self.take()
            if word in (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm"):
                values = [self.integer()]
                while self.accept(","):
                    values.append(self.integer())
                function.directives[word[1:]] = tuple(values)
            elif word not in (".noreturn", ".blocksareclusters", ".explicitcluster") and not self.debug_directive(word):
                raise self.error(f"unknown directive {word!r}", self.offsets[self.at - 1])
        known = self.module.functions.get(function.name)
        if self.accept("{"):
            function.defined = True
            self.line = 0
            self.scope(function)
        else:
            self.take(";")
        if function.defined or known is None:
            self.module.functions[function.name] = function

    def parameters(self) -> list[Variable]:
        self.take("(")
        found = []
        while not self.accept(")"):
            self.take(".param")
            found.append(self.variable("param"))
            self.accept(",")
        return found

    def scope(self, function: Function, depth: int = 0) -> None:
        """Statements up to the closing brace. Names declared in an inner scope get its number, so that they stay distinct."""
        if depth > DEEPEST:
            raise self.error("braces are nested too deeply")
        self.scopes += 1
        number, outer, first = self.scopes, (self.renamed, self.variables), len(function.body)
        self.renamed, self.variables = dict(self.renamed), dict(self.variables)
        while not self.accept("}"):
            word = self.take()
            if word == "{":
                self.scope(function, depth + 1)
            elif word == ".reg":
                self.registers(function, number if depth else None)
            elif word in (".local", ".shared", ".param", ".const", ".global"):
                variable = self.variable(word[1:])
                if word == ".param":
                    self.take(";")
                if depth and variable.name in function.variables:
                    self.variables[variable.name] = f"{variable.name}@{number}"
                    variable = dataclasses.replace(variable, name=f"{variable.name}@{number}")
                elif depth:
                    self.variables.pop(variable.name, None)
                function.variables[variable.name] = variable
            elif word == "@" or not word.startswith(".") and self.peek() != ":":
                self.instruction(function, word)
            elif self.peek() == ":":
                self.take(":")
                if self.peek() in (".callprototype", ".branchtargets", ".calltargets"):
                    self.prototype(function, word)
                else:
                    function.body.append(word)
            elif not self.debug_directive(word):
                raise self.error(f"unknown directive {word!r}", self.offsets[self.at - 1])
        self.renamed, self.variables = outer
        if depth:
            self.own_labels(function, first, number)

    @staticmethod
    def own_labels(function: Function, first: int, number: int) -> None:
        """Give the labels of a closed inner scope, and the branches to them from inside, names of their own."""
        body = function.body
        labels = {item for item in body[first:] if isinstance(item, str) and "@" not in item}
        for at in range(first, len(body)):
            item = body[at]
            if isinstance(item, str):
                body[at] = f"{item}@{number}" if item in labels else item
            elif item.opcode[0] == "bra" and item.operands and isinstance(item.operands[0], Sym) and item.operands[0].name in labels:
                body[at] = dataclasses.replace(item, operands=(Sym(f"{item.operands[0].name}@{number}"), *item.operands[1:]))

    def prototype(self, function: Function, label: str) -> None:
        kind = self.take()
        if kind == ".branchtargets":
            labels = [self.take()]
            while self.accept(","):
                labels.append(self.take())
            function.directives[label] = tuple(labels)
            self.take(";")
        else:
            self.skip_to(";")

    def registers(self, function: Function, scope: int | None = None) -> None:
        kind = self.take()[1:]
        if kind in ("v2", "v4"):
            raise self.error("vector registers are not supported", self.offsets[self.at - 1])
        while True:
            name, names = self.take(), None
            if self.accept("<"):
                names = range(self.integer())
                self.take(">")
            if names is not None and name.startswith("%") and scope is None:
                function.ranges.append((name, kind))
            elif names is not None and len(names) > MOST_NAMED:
                raise self.error(f"{len(names)} registers in one range; the simulator takes {MOST_NAMED}")
            else:
                for one in [name] if names is None else [f"{name}{number}" for number in names]:
                    if scope is not None or not one.startswith("%"):
                        self.renamed[one] = one if scope is None else f"{one}@{scope}"
                    function.registers[self.renamed.get(one, one)] = kind
            if not self.accept(","):
                break
        self.take(";")

    def instruction(self, function: Function, word: str) -> None:
        guard: Reg | None = None
        if word == "@":
            negated = self.accept("!")
            guard = self.named(self.take(), negated)
            word = self.take()
        operands = []
        while not self.accept(";"):
            operands.append(self.operand())
            if not (self.accept(",") or self.accept("|")) and self.peek() != ";":
                raise self.error(f"expected ',' or ';' after an operand, found {self.peek()!r}")
        opcode = tuple(word.replace("::", "__").split("."))
        function.body.append(Instruction(opcode, tuple(operands), guard, self.line))
