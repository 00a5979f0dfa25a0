"""What this package asks of its callers: the operations that code is written with, and the parts of a program that records are made from.

Values are names such as `%t7`, or constants; types are those of LLVM (`i32`, `float`, `i1`). `codegen.llvm.Code` is a `Writer`,
`passes.pipeline.Program` the program.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, TypeAlias

from course_lib.simt.ptx.ir import Instruction

Results: TypeAlias = tuple[str, ...]
Signature: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]   # LLVM types of the results and of the sources


class Writer(Protocol):
    """Writes LLVM IR text, for one lane or for all lanes of a warp."""

    @property
    def lanes(self) -> int | None:
        """Lanes of every value; None: plain scalars."""

    def ty(self, base: str) -> str:
        """Return the type of a value whose lanes are `base`."""

    def const(self, base: str, text: int | str) -> str:
        """Return a constant, in every lane."""

    def op(self, text: str) -> str:
        """Append an instruction; return the name of its value."""

    def call(self, intrinsic: str, base: str, *args: str, extra: Sequence[tuple[str, str]] = ()) -> str:
        """Call `llvm.<intrinsic>`."""

    def cast(self, how: str, source: str, value: str, target: str) -> str:
        """Convert a value from the type `source` to `target`."""

    def binary(self, how: str, base: str, a: str, b: str) -> str:
        """Apply an LLVM opcode with two operands of one type."""

    def compare(self, how: str, base: str, a: str, b: str) -> str:
        """Compare by `icmp slt`, `fcmp oeq`, …."""

    def select(self, condition: str, base: str, a: str, b: str) -> str:
        """Choose `a` where the condition holds, else `b`."""


Emit: TypeAlias = Callable[[Writer, Instruction, Sequence[str]], Results]


class Placed(Protocol):
    """A program whose registers have places in the register file."""

    @property
    def slots(self) -> Mapping[str, tuple[int, str]]:
        """Register, or constant with a place of its own -> (byte offset, LLVM type)."""


class Run(Protocol):
    """A straight run of instructions; `first` is the number of the first one."""

    @property
    def first(self) -> int: ...

    @property
    def instructions(self) -> Sequence[Instruction]: ...


class Numbered(Placed, Protocol):
    """A program whose instructions have numbers."""

    @property
    def blocks(self) -> Sequence[Run]: ...


class Described(Placed, Protocol):
    """A program that collects, by instruction number, the records that the runtime reads."""

    @property
    def accesses(self) -> MutableMapping[int, Any]: ...

    @property
    def crossings(self) -> MutableMapping[int, Any]: ...

    @property
    def tensors(self) -> MutableMapping[int, Any]: ...
