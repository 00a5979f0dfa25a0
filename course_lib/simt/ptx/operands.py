"""Read the operands of PTX instructions: registers, literals, addresses, names of variables, braces."""

from course_lib.simt.ptx.constants import Constants
from course_lib.simt.ptx.ir import Imm, Mem, Operand, Reg, Sym, Vec
from course_lib.simt.ptx.names import ELEMENTS, Named, Names

AXES = ("%tid", "%ntid", "%ctaid", "%nctaid")  # special registers that are vectors; their fourth element is 0


class Operands(Constants):
    """The part of the parser that knows the names in scope."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.names = Names()
        self.registers: dict[str, str] = {}  # of the present function: name -> type

    def operand(self) -> Operand:
        word = self.peek()
        if self.kinds[self.at] == "word" and not word.startswith("."):
            return self.meaning(self.take())
        if word == "[":
            return self.address()
        if word == "{":
            return self.listed("{", "}")
        if self.begins_constant():
            return self.constant()
        if word == "!":
            self.take()
            return self.register(True)
        raise self.error(f"expected an operand, found {word!r}")

    def listed(self, opening: str, closing: str) -> Vec:
        """Operands with commas between them, in braces or parentheses; a vector register stands for its elements."""
        self.take(opening)
        items: list[Operand] = []
        more = self.peek() != closing
        while more:
            items.append(self.operand())
            more = self.another(closing)
        self.take(closing)
        return Vec(tuple(items))

    def register(self, negated: bool = False) -> Reg:
        """Step over the name of a register, as a guard and `!p` need it."""
        if self.kinds[self.at] != "word":
            raise self.error(f"expected a register, found {self.peek()!r}")
        word = self.take()
        found = self.meaning(word)
        return Reg(found.name if isinstance(found, Reg) else word, negated)

    def meaning(self, word: str) -> Operand:
        """Return what a name stands for, with what follows it: an offset, an index in brackets."""
        if self.peek().startswith(".") and self.kinds[self.at] == "word":       # `%tid .x`
            word += self.take()
        name, _, element = word.partition(".")
        found = self.names.find(name, self.registers)
        if isinstance(found, Reg) and not element:
            return found
        if isinstance(found, Vec) and element:
            at = ELEMENTS.get(element, len(found.items))
            if at >= len(found.items):
                raise self.last(f"{name} is a vector of {len(found.items)} elements and has no .{element}")
            return found.items[at]
        if isinstance(found, Reg | Vec) and not element:
            return found
        if isinstance(found, Named) and not element:
            return Sym(found.name, self.index(found) + self.offset())
        if word == "_" or word.startswith("%"):
            if name in AXES and not found and element in ("", "w"):
                return Imm(0) if element else Vec((*(Reg(f"{name}.{axis}") for axis in "xyz"), Imm(0)))
            return Reg(word)
        return Sym(word, self.offset())

    def index(self, variable: Named) -> int:
        """Read `[3]` behind the name of an array; return the offset of that element in bytes."""
        if self.peek() != "[":
            return 0
        if variable.dimensions != 1:
            raise self.error("an index in brackets needs an array of one dimension; write [name+bytes]")
        self.take()
        if not self.begins_constant():
            raise self.error("the simulator does not know an array's index in a register; compute the address and write [register]")
        at = self.constant_integer()
        self.take("]")
        return at * variable.element

    def offset(self) -> int:
        """Read `+4`, `-8`, `+2*4-1` behind a name; return it, 0 where nothing like that follows."""
        if self.peek() not in ("+", "-"):
            return 0
        self.accept("+")
        if not self.begins_constant():
            raise self.error("an address is a register or a variable plus a constant, in PTX as on the machine; add registers before, "
                             f"found {self.peek()!r}" if self.kinds[self.at] == "word" else f"expected an offset, found {self.peek()!r}")
        return self.constant_integer()

    def address(self) -> Mem | Vec:
        self.take("[")
        if self.begins_constant():
            found = Mem(None, self.constant_integer())
        else:
            base = self.meaning(self.name("a register or variable"))
            if isinstance(base, Sym):
                found = Mem(Sym(base.name), base.offset)
            elif isinstance(base, Reg):
                found = Mem(base, self.offset())
            else:
                raise self.last("an address is one register, not a vector of them")
        more = []
        while self.accept(","):  # of a texture: [texture, {x, y}]
            more.append(self.operand())
        self.take("]")
        return Vec((found, *more)) if more else found
