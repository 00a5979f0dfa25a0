"""What is checked: an operation makes inputs, judges what a kernel made of them, and says which mistake explains a wrong result."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

Tile: TypeAlias = Mapping[str, int]                     # of a block: BM, BN and BK, or TILE, or THREADS
Mistakes: TypeAlias = Iterator[tuple[str, np.ndarray]]  # a sentence, and the result that this mistake gives
Again: TypeAlias = Callable[[Any], Any]                 # runs the kernel on another trial and returns it, or None when that fails


class WrongResult(Protocol):
    """The first wrong element in reading order, and a mask of all."""

    @property
    def row(self) -> int: ...

    @property
    def col(self) -> int: ...

    @property
    def mask(self) -> np.ndarray: ...


class Operation(Protocol):
    """An operation; the types of its inputs, of its trials and of its wrong results are its own."""

    @property
    def signature(self) -> str: ...

    def work(self, case: Any) -> float: ...

    def trial(self, case: Any, seed: int = 0) -> Any: ...

    def judge(self, trial: Any) -> WrongResult | str | None: ...

    def guess(self, trial: Any, wrong: Any, tile: Tile, again: Again) -> str: ...
