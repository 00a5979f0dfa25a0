"""The pieces of a PTX module: instructions, operands, variables, functions."""

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

from course_lib.simt.errors import where

SIZES = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}
ODD_SIZES = {"pred": 1, "e4m3x2": 2, "e5m2x2": 2}
WITHOUT_RESULT = {"st", "stmatrix", "cp", "red", "sust", "prefetch", "prefetchu", "bar", "barrier", "bra", "brx", "nanosleep", "call",
                  "membar", "fence", "setmaxnreg"}


class Kind(enum.Enum):
    """What an instruction is to everything behind the parser: who carries it out, and whether lanes go on behind it."""

    COMPUTE = enum.auto()         # registers in, registers out: isa/operations.py has its meaning
    LOAD = enum.auto()
    STORE = enum.auto()
    ATOMIC = enum.auto()          # atom and red
    EXCHANGE = enum.auto()        # between the lanes of a warp: shuffles, votes, matches, reductions
    MATRIX = enum.auto()          # of a whole warp: mma, wmma, ldmatrix
    WARPGROUP = enum.auto()       # of four warps: wgmma and its waits, setmaxnreg
    COPY = enum.auto()            # cp.async, bulk copies, and the waits for such copies
    IMAGE = enum.auto()           # tex, tld4, suld, sust: textures and surfaces
    BRANCH = enum.auto()
    INDEXED_BRANCH = enum.auto()
    CALL = enum.auto()
    RETURN = enum.auto()          # ret and exit
    TRAP = enum.auto()            # trap and brkpt
    BARRIER = enum.auto()         # a warp waits for others of its block
    ARRIVAL = enum.auto()         # at such a barrier, without waiting
    WARP_BARRIER = enum.auto()    # lanes wait for others of their warp
    FENCE = enum.auto()
    MBARRIER = enum.auto()        # operations on mbarriers, waits among them
    SLEEP = enum.auto()


KINDS = {"ld": Kind.LOAD, "ldu": Kind.LOAD, "st": Kind.STORE, "atom": Kind.ATOMIC, "red": Kind.ATOMIC,
         **dict.fromkeys(("shfl", "vote", "match", "redux", "activemask", "elect"), Kind.EXCHANGE),
         **dict.fromkeys(("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"), Kind.MATRIX),
         **dict.fromkeys(("wgmma", "setmaxnreg"), Kind.WARPGROUP),
         **dict.fromkeys(("tex", "tld4", "suld", "sust"), Kind.IMAGE),
         "bra": Kind.BRANCH, "brx": Kind.INDEXED_BRANCH, "call": Kind.CALL, "ret": Kind.RETURN, "exit": Kind.RETURN,
         "trap": Kind.TRAP, "brkpt": Kind.TRAP, "membar": Kind.FENCE, "fence": Kind.FENCE, "nanosleep": Kind.SLEEP,
         "mbarrier": Kind.MBARRIER}
COPIES = {"ca", "cg", "commit_group", "wait_group", "wait_all", "mbarrier", "bulk"}    # behind `cp.async`
ACCESSES = frozenset({Kind.LOAD, Kind.STORE})
BARRIERS = frozenset({Kind.BARRIER, Kind.ARRIVAL, Kind.WARP_BARRIER})


@cache
def type_bytes(type_name: str) -> int:
    """Return the size in bytes of a PTX type such as `f32`, `u16`, `b128` or `pred`.

    >>> [type_bytes(t) for t in ("u8", "f16x2", "bf16", "f64", "b128", "pred")]
    [1, 4, 2, 8, 16, 1]
    """
    if type_name in ODD_SIZES:
        return ODD_SIZES[type_name]
    if type_name.endswith("x2"):
        return 2 * type_bytes(type_name[:-2])
    return SIZES[type_name.lstrip("abcdefghijklmnopqrstuvwxyz")]


@dataclass(frozen=True)
class Reg:
    """A register by name, special registers (`%tid.x`) included; `negated` for `!%p1`."""

    name: str
    negated: bool = False


@dataclass(frozen=True)
class Imm:
    """A literal: the integer value, or the bits of a floating-point literal of `float_bytes` bytes."""

    value: int
    float_bytes: int = 0


@dataclass(frozen=True)
class Sym:
    """The address of a variable, or a label or function name, plus a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Mem:
    """An address operand `[base + offset]`; the base is a Reg, a Sym or None for an absolute address."""

    base: Reg | Sym | None
    offset: int = 0


@dataclass(frozen=True)
class Vec:
    """A braced operand `{%f1, %f2}`."""

    items: tuple[Any, ...]


Operand: TypeAlias = Reg | Imm | Sym | Mem | Vec


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction.

    `opcode` is split at its dots, `operands` come destination first, `guard` is the Reg of `@%p` or None, `line` is the
    line in the main source file (0: unknown), `header` the place in another file whose code was inlined there ("" for none). Which of the
    `Operand`s stands where depends on the form, which `isa/coverage.py`
    checks: types say `Any` here, so that nobody behind that check has to ask again. A call's last operand becomes a `passes.calls.Site`.
    """

    opcode: tuple[str, ...]
    operands: tuple[Any, ...]
    guard: Reg | None
    line: int
    text_line: int = field(default=0, compare=False)  # of the PTX text
    header: str = field(default="", compare=False)  # "name.h, line 80" where the code itself stands in another file

    @property
    def where(self) -> int:
        """The line that a message names: the source's where it is known, otherwise the PTX text's."""
        return self.line or self.text_line

    @property
    def name(self) -> str:
        """The opcode as written."""
        return ".".join(self.opcode)

    @cached_property
    def kind(self) -> Kind:
        """The Kind of the instruction."""
        if self.opcode[0] in ("bar", "barrier"):
            together = "cluster" in self.opcode and "aligned" in self.opcode      # lanes that arrive so wait for the rest of their warp
            arrival = "arrive" in self.opcode and not together
            return Kind.WARP_BARRIER if "warp" in self.opcode else Kind.ARRIVAL if arrival else Kind.BARRIER
        if self.opcode[:2] in (("st", "async"), ("red", "async")):
            return Kind.COPY
        if self.opcode[0] == "cp":
            bulk = self.opcode[1:4] == ("reduce", "async", "bulk")
            return Kind.COPY if bulk or self.opcode[1:2] == ("async",) and COPIES & {*self.opcode[2:3]} else Kind.COMPUTE
        return KINDS.get(self.opcode[0], Kind.COMPUTE)

    @property
    def address(self) -> Mem:
        """The address operand of a load, store or atomic."""
        return self.operands[int(self.kind is not Kind.STORE and self.opcode[0] != "red")]

    @property
    def data(self) -> tuple[Reg | Imm, ...]:
        """The data operands of a load or store, braces opened."""
        return tuple(opened((self.operands[int(self.kind is Kind.STORE)],)))

    @cached_property
    def results(self) -> int:
        """How many operands are results."""
        name, count = self.opcode[0], len(self.operands)
        if name in WITHOUT_RESULT:
            return int(self.kind in BARRIERS and "red" in self.opcode and count > 0)
        if name == "wgmma":
            return int(self.opcode[1:2] == ("mma_async",))
        if name == "setp":
            return max(count - 2 - any(p in ("and", "or", "xor") for p in self.opcode), 0)
        if name in ("shfl", "match", "elect"):
            return max(count - {"shfl": 4, "match": 2, "elect": 1}[name], 0)
        if name == "mbarrier":
            return int(not {"init", "inval", "expect_tx", "complete_tx"} & {*self.opcode[1:2]})
        return int(count > 0 and self.opcode[:2] != ("wmma", "store"))

    @cached_property
    def destinations(self) -> tuple[Reg, ...]:
        """The registers that it writes; `_`, a result that nobody wants, is none."""
        return tuple(o for o in opened(self.operands[:self.results]) if isinstance(o, Reg) and o.name != "_")

    @cached_property
    def inputs(self) -> tuple[Any, ...]:
        """The operands that are no results, braces opened, in order."""
        return tuple(opened(self.operands[self.results:]))

    @cached_property
    def sources(self) -> tuple[Reg, ...]:
        """The registers that it reads, its guard included; a product of a warpgroup adds to what its results hold."""
        kept = self.destinations if self.kind is Kind.WARPGROUP else ()
        read = [o.base if isinstance(o, Mem) else o for o in self.inputs]
        return (*(o for o in read if isinstance(o, Reg)), *kept, *([self.guard] if self.guard else []))


def at_line(ins: Instruction) -> str:
    """Return how a message about an instruction begins: with its source line and its place in a header, or its line in the PTX text."""
    place = where(ins.line, ins.header)
    return f"{place}: " if place else f"PTX line {ins.text_line}: " if ins.text_line else ""


def opened(operands: Iterable[Any]) -> Iterator[Any]:
    """Yield operands, those in braces one by one."""
    for operand in operands:
        yield from operand.items if isinstance(operand, Vec) else (operand,)


class Pointer(NamedTuple):
    """An address inside an initial value: where it stands, of what, and whether it is a generic one."""

    offset: int
    name: str
    addend: int
    generic: bool = False
    nbytes: int = 8


@dataclass(frozen=True)
class Variable:
    """A declared variable: state space, alignment and size in bytes, initial bytes or None. A parameter may be a register, space "reg"."""

    name: str
    space: str
    align: int
    nbytes: int
    init: bytes | None = None
    pointers: tuple[Pointer, ...] = ()
    kind: str = ""  # of its elements, as PTX writes it: "f32"


@dataclass
class Function:
    """An `.entry` or `.func` with its body."""

    name: str
    kernel: bool
    params: list[Variable] = field(default_factory=list)
    returns: list[Variable] = field(default_factory=list)
    registers: dict[str, str] = field(default_factory=dict)  # name -> type; of those declared as a range, the ones that are used
    variables: dict[str, Variable] = field(default_factory=dict)
    body: list[Instruction | str] = field(default_factory=list)  # a str is a label
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)  # maxntid and its like
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)  # label -> the labels or functions that it lists
    prototypes: dict[str, "Function"] = field(default_factory=dict)  # label -> parameters and results of a call through a pointer
    defined: bool = False

    def register_type(self, name: str) -> str | None:
        """Return the declared type (`b32`, `pred`, …) of a register, or None when it was never declared."""
        return self.registers.get(name)


@dataclass
class Module:
    """A whole PTX file: functions and module-level variables by name."""

    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)  # name of a function -> the function that it means
    version: str = ""
    target: str = ""
