"""What the model asks of a program; it imports none of the passes that make one."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from course_lib.simt.ptx.ir import Instruction


class Code(Protocol):
    """A block of a program's code."""

    @property
    def first(self) -> int:
        """Number of its first instruction."""

    @property
    def instructions(self) -> Sequence[Instruction]: ...

    @property
    def successors(self) -> Sequence[int]: ...


class Runnable(Protocol):
    """What the model asks of a `passes.pipeline.Program`, which says what each field means."""

    @property
    def blocks(self) -> Sequence[Code]: ...

    @property
    def entry_block(self) -> int: ...

    @property
    def params(self) -> Sequence[tuple[str, int, int, str]]: ...

    @property
    def constant_bytes(self) -> int: ...

    @property
    def shared_bytes(self) -> int: ...

    @property
    def shared_begin(self) -> int: ...

    @property
    def slots(self) -> Mapping[str, tuple[int, str]]: ...

    @property
    def accesses(self) -> Mapping[int, Any]: ...
