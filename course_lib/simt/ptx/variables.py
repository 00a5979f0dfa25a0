"""Read declarations of variables, with their initial values."""

import dataclasses
import re
import struct
from typing import NamedTuple

import numpy as np

from course_lib.simt.ptx.ir import Imm, Pointer, Sym, Variable, type_bytes
from course_lib.simt.ptx.names import Named
from course_lib.simt.ptx.operands import Operands

MOST_BYTES = 1 << 30  # of a variable with initial values
TYPE = re.compile(r"\.(?:[bus](?:8|16|32|64|128)|f(?:16|32|64)|bf16|b?f16x2|pred)")
SPACES = (".global", ".shared", ".const", ".local")


class Declared(NamedTuple):
    """What stands before the name in a declaration: alignment in bytes or None, type, elements of a vector."""

    align: int | None
    kind: str
    parts: int


class Variables(Operands):
    """The part of the parser that reads declarations of variables."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.addressed: list[tuple[str, int]] = []      # names in initial values that were not declared before, with their tokens

    def variables(self, space: str) -> list[Variable]:
        """Read a declaration after its space, up to its semicolon: `.align 4 .b8 name[1024] = {…}, other;`."""
        declared = self.declared()
        found = [self.variable(space, declared)]
        while self.accept(","):
            found.append(self.variable(space, declared))
        self.take(";")
        return found

    def declared(self) -> Declared:
        """Read alignment, type and attributes."""
        align, kind, parts = None, None, 1
        while self.peek().startswith("."):
            word = self.take()
            if word == ".align":
                align = self.constant_integer()
            elif word in (".v2", ".v4"):
                parts = int(word[2:])
            elif TYPE.fullmatch(word):
                kind = word[1:]
            elif word == ".ptr":
                if self.peek() in SPACES:
                    self.take()
            elif word == ".attribute":
                self.skip_parentheses()
            else:
                raise self.last(f"unknown attribute {word!r}")
        if kind is None:
            raise self.error(f"variable {self.peek()!r} has no type")
        if align is not None and (align < 1 or align & (align - 1)):
            raise self.error(f"the alignment {align} is no power of two")
        return Declared(align, kind, parts)

    def skip_parentheses(self) -> None:
        """Step over parentheses and what stands in them."""
        self.take("(")
        depth = 1
        while depth:
            word = self.take()
            depth += (word == "(") - (word == ")")

    def variable(self, space: str, declared: Declared) -> Variable:
        """Read a name with its dimensions and initial value, and declare it in the present scope."""
        at, word = self.at, self.name("a variable")
        if space == "param" and declared.parts > 1:
            raise self.last(f"the parameter {word} is a vector; parameters are scalars and arrays")
        size = type_bytes(declared.kind) * declared.parts
        shape, open_ended = self.shape()
        nbytes = size
        init: bytes | None = None
        pointers: tuple[Pointer, ...] = ()
        for length in shape:
            nbytes *= length
        if self.accept("="):
            init, pointers = self.initial(declared, shape, None if open_ended else nbytes)
            nbytes = len(init)
        name = self.introduce(word, at, Named("", space, size, len(shape)))
        return Variable(name, space, declared.align or size, nbytes, init, pointers, declared.kind)

    def shape(self) -> tuple[list[int], bool]:
        """Read the dimensions of an array; return them, and whether the first is left open: `[]`."""
        shape: list[int] = []
        open_ended = False
        while self.accept("["):
            if self.peek() == "]" and not shape:
                open_ended = True
                shape.append(0)
            else:
                shape.append(self.constant_integer())
                if shape[-1] < 0 or shape[-1] == 0 and len(shape) > 1:
                    raise self.last(f"an array of {shape[-1]} elements")
            self.take("]")
        return shape, open_ended

    def introduce(self, word: str, at: int, named: Named) -> str:
        """Declare a variable in the present scope; return its name behind the parser."""
        if word == "_":
            return self.names.unique(word)
        scope = self.names.scopes[-1]
        earlier = scope.names.get(word)
        if isinstance(earlier, Named) and len(self.names.scopes) == 1:     # declared before, `.extern`, and defined now
            return earlier.name
        if scope.has(word):
            raise self.error(f"{word!r} is declared twice in one scope", self.offsets[at])
        name = self.names.unique(word) if len(self.names.scopes) > 1 else word
        scope.names[word] = dataclasses.replace(named, name=name)
        return name

    def initial(self, declared: Declared, shape: list[int], nbytes: int | None) -> tuple[bytes, tuple[Pointer, ...]]:
        """Read an initial value; return its bytes, and which of them are to become addresses. `nbytes` is None for `[]`."""
        if nbytes is not None and nbytes > MOST_BYTES:
            raise self.error(f"initial values for {nbytes} bytes")
        dimensions = [*shape, *([declared.parts] if declared.parts > 1 else [])]
        if dimensions and not self.peek().startswith("{"):
            raise self.error(f"the initial value of an array stands in braces, found {self.peek()!r}")
        size, data, pointers = type_bytes(declared.kind), bytearray(), []
        packed = self.packed(declared.kind) if dimensions else None
        items = [] if packed is not None else self.values(dimensions) if dimensions else [self.value()]
        data += packed or b""
        for item in items:
            if isinstance(item, Pointer):
                if size < 4:
                    raise self.last(f"an address does not fit into an element of {size} bytes")
                pointers.append(item._replace(offset=len(data), nbytes=min(size, 8)))
                item = Imm(0)
            data += self.element(item, declared.kind)
        if nbytes is None:
            row = size * row_of(dimensions)
            nbytes = -(-len(data) // row) * row
        if len(data) > nbytes:
            raise self.last(f"{len(data)} bytes of initial values for {nbytes} bytes")
        return bytes(data.ljust(nbytes, b"\0")), tuple(pointers)

    def packed(self, kind: str) -> bytes | None:
        """Read a long list of plain numbers at once; return the bytes of integers. None, and nothing is read, for other values."""
        if self.kinds[self.at] != "numbers" or kind in ("f32", "f64") or type_bytes(kind) > 8:
            return None
        values = np.array(self.plain_numbers(), np.uint64)
        return values.astype(f"<u{type_bytes(kind)}").tobytes()

    def plain_numbers(self) -> list[int]:
        """Read a long list of plain numbers, which is one token: headers bring tables of 100,000 bytes."""
        found = [int(word) for word in self.take()[1:-1].split(",")]
        if max(found) >> 64:
            raise self.last(f"{max(found)} does not fit into 64 bits")
        return found

    def values(self, dimensions: list[int]) -> list[Imm | Pointer]:
        """Read the values in braces; those of an inner pair begin a row and fill it up with zeros."""
        if self.kinds[self.at] == "numbers":
            return [Imm(number) for number in self.plain_numbers()]
        row, found = row_of(dimensions), []
        self.take("{")
        more = self.peek() != "}"
        while more:
            if not self.peek().startswith("{"):
                found.append(self.value())
            elif len(dimensions) < 2:
                raise self.error("more braces than the variable has dimensions")
            else:
                found += [Imm(0)] * (-len(found) % row)
                inner = self.values(dimensions[1:])
                found += inner + [Imm(0)] * (-len(inner) % row)
            if len(found) > MOST_BYTES:
                raise self.error("too many initial values")
            more = self.another("}")
        self.take("}")
        return found

    def value(self) -> Imm | Pointer:
        """Read one initial value: a constant, the name of a variable or function, or `generic(name)`, with an offset."""
        if self.begins_constant():
            found = self.constant()
            if self.peek() == "(":
                raise self.error("the simulator does not know initial values that are parts of an address, such as 0xFF(name)")
            return found
        at, word, generic = self.at, self.name("a variable, or a number"), False
        if word == "generic" and self.accept("("):
            at, word, generic = self.at, self.name("a variable"), True
            self.take(")")
        named = self.names.find(word, self.registers)
        if named is not None and not (isinstance(named, Named) and named.space in ("global", "const")):
            raise self.last(f"{word} has no address that is known before the launch; those of .global and .const variables are")
        if named is None:
            self.addressed.append((word, at))
        meaning = self.meaning(word)
        if not isinstance(meaning, Sym):
            raise self.last(f"the initial value {word} is neither a literal nor the name of a variable")
        return Pointer(0, meaning.name, meaning.offset, generic)

    def element(self, item: Imm, kind: str) -> bytes:
        """Return the bytes of one initial value."""
        size, value = type_bytes(kind), item.value
        if kind in ("f32", "f64") and not item.float_bytes and value:
            raise self.last(f"the integer {value} as the initial value of a floating-point number; write {value}.0")
        if item.float_bytes == 8 and kind == "f32":
            try:
                value = struct.unpack("<I", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", value))[0]))[0]
            except OverflowError:
                value = 0x7F800000 | value >> 63 << 31
        return (value & ((1 << (8 * size)) - 1)).to_bytes(size, "little")


def row_of(dimensions: list[int]) -> int:
    """Return how many elements a row of the outermost dimension has."""
    row = 1
    for length in dimensions[1:]:
        row *= length
    return row
