"""Read the operands of PTX instructions, and declarations of variables with their initial values."""

import re
import struct
from collections.abc import Iterator

from course_lib.simt.ptx.ir import Imm, Mem, Operand, Reg, Sym, Variable, Vec, type_bytes
from course_lib.simt.ptx.tokens import Tokens, number

MOST_BYTES = 1 << 30  # of a variable with initial values


class Operands(Tokens):
    """The part of the parser that knows the names in scope."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.renamed: dict[str, str] = {}  # registers of inner scopes: name as written -> name of its own
        self.variables: dict[str, str] = {}  # the same for variables whose name was taken

    def operand(self) -> Operand:
        kind, word = self.kinds[self.at], self.peek()
        if word == "[":
            return self.address()
        if word in "{(":
            self.take()
            items = []
            while not (self.accept("}") or self.accept(")")):
                items.append(self.operand())
                self.accept(",")
            return Vec(tuple(items))
        if word == "!":
            self.take()
            return self.named(self.take(), True)
        if word == "-" or kind in ("number", "float"):
            return self.literal()
        if kind != "word":
            raise self.error(f"expected an operand, found {word!r}")
        self.take()
        if word.startswith("%") or word == "_" or word in self.renamed:
            return self.named(word)
        return Sym(self.variables.get(word, word), self.offset())

    def named(self, word: str, negated: bool = False) -> Reg:
        """Return the register of that name in the current scope."""
        return Reg(self.renamed.get(word, word), negated)

    def offset(self) -> int:
        total = 0
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            total += sign * self.integer()
        return total

    def address(self) -> Mem | Vec:
        self.take("[")
        kind, word = self.kinds[self.at], self.peek()
        if kind == "number" or word == "-":
            found = Mem(None, self.integer())
        else:
            self.take()
            base = self.named(word) if word.startswith("%") or word in self.renamed else Sym(self.variables.get(word, word))
            found = Mem(base, self.offset())
        more = []
        while self.accept(","):  # of a texture: [texture, {x, y}]
            more.append(self.operand())
        self.take("]")
        return Vec((found, *more)) if more else found

    def literal(self) -> Imm:
        negative = self.accept("-")
        kind, word = self.kinds[self.at], self.take()
        if kind not in ("float", "number"):
            raise self.error(f"expected a number, found {word!r}", self.offsets[self.at - 1])
        if kind == "float":
            size = 4 if word[1] in "fF" else 8
            bits = int(word[2:], 16) ^ ((1 << (8 * size - 1)) if negative else 0)
            return Imm(bits, size)
        if "." in word:
            value = -float(word) if negative else float(word)
            return Imm(int.from_bytes(struct.pack("<d", value), "little"), 8)
        try:
            value = number(word)
        except ValueError:
            raise self.error(f"{word!r} is no number", self.offsets[self.at - 1]) from None
        if value > 1 << 63 if negative else value >= 1 << 64:
            raise self.error(f"{word} does not fit into 64 bits", self.offsets[self.at - 1])
        return Imm(-value if negative else value)

    def variable(self, space: str) -> Variable:
        """Read the rest of a declaration after its space: `.align 4 .b8 name[1024] = {…};`."""
        align, kind, parts = None, None, 1
        while True:
            word = self.take()
            if word == ".align":
                align = self.integer()
            elif word in (".v2", ".v4"):
                parts = int(word[2:])
            elif word.startswith(".") and re.fullmatch(r"\.(?:[bus](?:8|16|32|64|128)|f(?:16|32|64)|bf16|b?f16x2|pred)", word):
                kind = word[1:]
            elif word == ".ptr":
                if self.peek() in (".global", ".shared", ".const", ".local"):
                    self.take()
            elif not word.startswith("."):
                break
            elif word not in (".attribute", ".managed", ".unified"):
                raise self.error(f"unknown attribute {word!r}", self.offsets[self.at - 1])
        if kind is None:
            raise self.error(f"variable {word!r} has no type", self.offsets[self.at - 1])
        if align is not None and (align < 1 or align & (align - 1)):
            raise self.error(f"the alignment {align} is no power of two")
        size = type_bytes(kind) * parts
        nbytes = size
        init: bytes | None = None
        pointers: tuple[tuple[int, str, int], ...] = ()
        while self.accept("["):
            length = 0 if self.peek() == "]" else self.integer()
            if length < 0:
                raise self.error(f"an array of {length} elements")
            nbytes *= length
            self.take("]")
        if self.accept("="):
            init, pointers = self.initial(kind, nbytes)
        if space != "param":
            self.take(";")
        return Variable(word, space, align or size, nbytes, init, pointers, kind)

    def initial(self, kind: str, nbytes: int) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
        size, data, pointers = type_bytes(kind), bytearray(), []
        for item in self.initial_items():
            if not isinstance(item, Imm | Sym):
                raise self.error("an initial value must be a literal or the name of a variable")
            if isinstance(item, Sym):
                pointers.append((len(data), item.name, item.offset))
                item = Imm(0)
            value = item.value
            if item.float_bytes == 8 and kind == "f32":
                value = struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", value))[0]))[0]
            bits = value & ((1 << (8 * size)) - 1)
            data += bits.to_bytes(size, "little")
        if len(data) > nbytes or nbytes > MOST_BYTES:
            raise self.error(f"{len(data)} bytes of initial values for {nbytes} bytes")
        return bytes(data.ljust(nbytes, b"\0")), tuple(pointers)

    def initial_items(self) -> Iterator[Operand]:
        if self.kinds[self.at] == "numbers":
            yield from (Imm(int(word)) for word in self.take()[1:-1].split(","))
            return
        if not self.accept("{"):
            yield self.operand()
            return
        while not self.accept("}"):
            yield from self.initial_items()
            self.accept(",")
