"""Read functions: parameters, directives, and the statements of their bodies, scope by scope."""

import dataclasses

from course_lib.simt.ptx import vectors
from course_lib.simt.ptx.constants import LEVELS
from course_lib.simt.ptx.ir import Function, Instruction, Mem, Module, Operand, Sym, Variable, type_bytes
from course_lib.simt.ptx.names import Range, Scope, declare, own
from course_lib.simt.ptx.places import Places
from course_lib.simt.ptx.variables import TYPE, Variables

DEEPEST = 200  # nested braces
LIMITS = (".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm", ".reqnctapercluster", ".maxclusterrank", ".abi_preserve",
          ".abi_preserve_control")
FLAGS = (".noreturn", ".blocksareclusters", ".explicitcluster")


class Functions(Variables):
    """The part of the parser that reads functions."""

    def __init__(self, text: str, source: str | None) -> None:
        super().__init__(text)
        self.places = Places(text, source)
        self.number = 0  # of the last scope
        self.module = Module()

    # -- directives that may stand anywhere ------------------------------------------------------------
    def debug_directive(self, word: str) -> bool:
        """Consume a directive that may stand anywhere; say whether it was one."""
        if word == ".loc":
            self.location()
        elif word == ".file":
            self.integer()
            self.take()
            while self.accept(","):
                self.integer()
        elif word == ".section":
            self.skip_to("{")
            self.skip_to("}")
        elif word == ".pragma":
            self.skip_to(";")
        else:
            return False
        return True

    def location(self) -> None:
        """`.loc file line column [, function_name label, inlined_at file line column]`."""
        here = (self.integer(), self.integer(), self.integer())
        outer = None
        while self.accept(","):
            if self.take() == "inlined_at":
                outer = (self.integer(), self.integer(), self.integer())
            else:
                self.take()
                if self.accept("+"):
                    self.integer()
        self.places.move(here, outer)

    # -- functions ---------------------------------------------------------------------------------
    def function(self, kernel: bool) -> None:
        self.registers, scope = {}, Scope()
        self.names.scopes.append(scope)
        returns = self.parameters() if self.peek() == "(" else []
        function = Function(self.name("a function"), kernel, returns=returns, registers=self.registers)
        if self.peek() == "(":
            function.params = self.parameters()
        if kernel and (returns or any(p.space == "reg" for p in function.params)):
            raise self.last(f"the kernel {function.name} has results or parameters in registers")
        self.function_directives(function)
        known = self.module.functions.get(function.name)
        if self.accept("{"):
            if known is not None and known.defined:
                raise self.last(f"the function {function.name!r} is defined twice")
            function.defined = True
            self.places.forget()
            self.scope(function, scope)
        else:
            self.accept(";")
        self.names.scopes.pop()
        if function.defined or known is None:
            self.module.functions[function.name] = function

    def function_directives(self, function: Function) -> None:
        """Directives between the parameters of a function and its body."""
        while self.peek() not in ("{", ";"):
            word = self.take()
            if word in LIMITS:
                values = [self.integer()]
                while self.accept(","):
                    values.append(self.integer())
                function.directives[word[1:]] = tuple(values)
            elif word in FLAGS:
                function.directives[word[1:]] = ()
            elif not self.debug_directive(word):
                raise self.last(f"unknown directive {word!r}")

    def parameters(self) -> list[Variable]:
        """Read `(.param .b32 a, .reg .b32 b)`; a register among them is declared as one."""
        self.take("(")
        found: list[Variable] = []
        more = self.peek() != ")"
        while more:
            found.append(self.parameter())
            more = self.another(")")
        self.take(")")
        return found

    def parameter(self) -> Variable:
        space = self.take()
        if space == ".param":
            return self.variable("param", self.declared())
        if space != ".reg":
            raise self.last(f"expected '.param' or '.reg', found {space!r}")
        align, kind, parts = self.declared()
        if parts != 1 or kind == "pred":
            raise self.error("the simulator does not know vectors and predicates as parameters of functions")
        at, word = self.at, self.name("a register")
        if word != "_":
            self.new_register(word, at, kind, 1)
        return Variable(word, "reg", type_bytes(kind), type_bytes(kind), kind=kind)

    # -- bodies ------------------------------------------------------------------------------------
    def scope(self, function: Function, scope: Scope, depth: int = 0) -> None:
        """Read statements up to the closing brace. What an inner scope declares gets its number, so that names stay distinct."""
        if depth > DEEPEST:
            raise self.error("braces are nested too deeply")
        first, tables = len(function.body), set(function.tables) | set(function.prototypes)
        while not self.accept("}"):
            self.statement(function, scope, depth)
        if depth:
            self.own_labels(function, first, scope, tables)

    def statement(self, function: Function, scope: Scope, depth: int) -> None:
        word = self.take()
        if word == "{":
            self.number += 1
            self.names.scopes.append(Scope(f"@{self.number}"))
            self.scope(function, self.names.scopes[-1], depth + 1)
            self.names.scopes.pop()
        elif word == ".reg":
            self.declare_registers()
        elif word in (".local", ".shared", ".param", ".const", ".global"):
            for variable in self.variables(word[1:]):
                function.variables[variable.name] = variable
        elif word == "@" or self.kinds[self.at - 1] == "word" and not word.startswith(".") and self.peek() != ":":
            self.instruction(function, word)
        elif self.peek() == ":" and self.kinds[self.at - 1] == "word":
            self.label(function, scope, word)
        elif not self.debug_directive(word):
            raise self.last(f"unknown directive {word!r}" if word.startswith(".") else f"expected a statement, found {word!r}")

    def label(self, function: Function, scope: Scope, word: str) -> None:
        """`name:`, of an instruction, or of a list of targets or a prototype."""
        if "." in word or scope.has(word):
            raise self.last(f"{word!r} is no name for a label" if "." in word else f"{word!r} is declared twice in one scope")
        self.take(":")
        scope.labels.add(word)
        if self.peek() in (".branchtargets", ".calltargets"):
            self.take()
            listed = [self.name("a target")]
            while self.accept(","):
                listed.append(self.name("a target"))
            self.take(";")
            function.tables[word] = tuple(listed)
        elif self.accept(".callprototype"):
            function.prototypes[word] = self.prototype()
        else:
            function.body.append(word)

    def prototype(self) -> Function:
        """`(results) _ (parameters)` of functions that are called through pointers."""
        self.names.scopes.append(Scope())
        outer, self.registers = self.registers, {}
        returns = self.parameters() if self.peek() == "(" else []
        found = Function(self.take(), False, returns=returns)
        if self.peek() == "(":
            found.params = self.parameters()
        self.function_directives(found)
        self.take(";")
        self.registers = outer
        self.names.scopes.pop()
        return found

    @staticmethod
    def own_labels(function: Function, first: int, scope: Scope, tables: set[str]) -> None:
        """Give the labels of a closed inner scope, and what refers to them from inside, names of their own."""
        def own(name: str) -> str:
            return name + scope.mark if name in scope.labels else name

        for at in range(first, len(function.body)):
            item = function.body[at]
            if isinstance(item, str):
                function.body[at] = own(item)
            elif item.opcode[0] in ("bra", "brx", "call") and item.operands:
                place = 0 if item.opcode[0] == "bra" else -1
                target = item.operands[place]
                if isinstance(target, Sym) and target.name in scope.labels:
                    operands = list(item.operands)
                    operands[place] = Sym(own(target.name))
                    function.body[at] = dataclasses.replace(item, operands=tuple(operands))
        for name in [name for name in function.tables if name not in tables]:
            function.tables[own(name)] = tuple(own(target) for target in function.tables.pop(name))
        for name in [name for name in function.prototypes if name not in tables]:
            function.prototypes[own(name)] = function.prototypes.pop(name)

    def declare_registers(self) -> None:
        """`.reg .v2 .f32 a, b<4>;`, after `.reg`."""
        parts, word = 1, self.take()
        if word in (".v2", ".v4"):
            parts, word = int(word[2:]), self.take()
        if not word.startswith("."):
            raise self.last(f"expected a type, found {word!r}")
        if parts > 1 and (word == ".pred" or not TYPE.fullmatch(word) or parts * type_bytes(word[1:]) > 16):
            raise self.last(f"there are no vectors of {parts} elements of the type {word}")
        while True:
            at, name = self.at, self.name("a register")
            if self.accept("<"):
                count = self.constant_integer(LEVELS["+"])      # a > closes the range
                self.take(">")
                self.names.scopes[-1].ranges.append(Range(name, count, word[1:], parts))
            else:
                self.new_register(name, at, word[1:], parts)
            if not self.accept(","):
                break
        self.take(";")

    def new_register(self, name: str, at: int, kind: str, parts: int) -> None:
        scope = self.names.scopes[-1]
        if scope.has(name):
            raise self.error(f"{name!r} is declared twice in one scope", self.offsets[at])
        scope.names[name] = declare(own(name, scope.mark), kind, parts, self.registers)

    # -- instructions ------------------------------------------------------------------------------
    def instruction(self, function: Function, word: str) -> None:
        at, guard = self.at - 1, None
        if word == "@":
            guard = self.register(self.accept("!"))
            if self.kinds[self.at] != "word" or self.peek().startswith("."):
                raise self.error(f"expected an instruction, found {self.peek()!r}")
            word = self.take()
        while self.peek().startswith(".") and self.kinds[self.at] == "word":     # `ld .global .f32`
            word += self.take()
        opcode = tuple(word.replace("::", "__").split("."))
        operands = self.operands(opcode)
        found = Instruction(opcode, operands, guard, self.places.line, self.text_line(self.offsets[at]), self.places.header)
        function.body += vectors.moves(found, self.registers, self.last)

    def operands(self, opcode: tuple[str, ...]) -> tuple[Operand, ...]:
        operands: list[Operand] = []
        while not self.accept(";"):
            operands.append(self.in_place(opcode[0], len(operands)))
            if not (self.accept(",") or self.accept("|")):
                if self.peek() != ";":
                    raise self.error(f"expected ',' or ';' after an operand, found {self.peek()!r}")
            elif self.peek() == ";":
                raise self.error("expected another operand, found ';'")
        return tuple(operands)

    def in_place(self, name: str, place: int) -> Operand:
        """Read the operand that stands in a place: labels of branches, lists of calls, `array[3]` of a load, or any other."""
        if (name, place) in (("bra", 0), ("brx", 1)) and self.kinds[self.at] == "word":
            return Sym(self.name("a label"))
        if name == "call" and self.peek() == "(":
            return self.listed("(", ")")
        if name in ("ld", "ldu", "st") and self.kinds[self.at] == "word" and self.words[self.at + 1] == "[":
            found = self.operand()
            return Mem(Sym(found.name), found.offset) if isinstance(found, Sym) else found
        return self.operand()
