"""Which lane holds which element of a matrix that a warp's tensor instructions work on.

A lane number is split into `g = lane // 4` and `t = lane % 4`. Every operand consists of 8-row blocks; of the block at (i, k)
lane (g, t) holds the `v` neighbours (i + g, k + v * t + h), h < v, where `v` elements of a narrow type share a register. A is
(m, k), B counts as its transpose (n, k), C and D are (m, n).

Source: "PTX ISA", Matrix Fragments for mma.m16n8k16 and the other shapes. The manual leaves the fragments of `wmma` open; what stands
here is what ptxas 13.5 makes of `wmma.load` for sm_90, read from its SASS.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LANES, MOST = 32, 16  # elements of a lane that a map can hold
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f64": 8, "s8": 1, "u8": 1, "f32": 4, "s32": 4}
SHARING = {"f16": 2, "bf16": 2, "tf32": 1, "f64": 1, "s8": 4, "u8": 4}  # neighbours in one lane: v


@dataclass(frozen=True)
class Fragment:
    """How a warp holds one operand.

    `positions[lane][e]` is the (row, column) of a lane's element `e`; `per_register` elements share a register of `register_bytes`
    bytes. `copies`: how often the registers repeat (wmma.load of f16 fills eight, of which the hardware needs two or four).
    `along_rows`: the neighbours in one lane lie side by side in a row of the matrix.
    """

    positions: tuple[tuple[tuple[int, int], ...], ...]
    per_register: int
    register_bytes: int
    copies: int
    neighbours: int
    along_rows: bool

    @property
    def elements(self) -> int:
        """Elements per lane, without the repeated ones."""
        return len(self.positions[0])

    @property
    def distinct(self) -> int:
        """Registers with elements of their own."""
        return self.elements // self.per_register

    @property
    def registers(self) -> int:
        return self.distinct * self.copies


def fragment(blocks: Sequence[tuple[int, int]], v: int, element: str, copies: int = 1, swapped: bool = False,
             packed: bool = True) -> Fragment:
    """Build a Fragment from the corners of its blocks; `swapped`: the pattern's (i, k) is (column, row) of the matrix."""
    positions = []
    for lane in range(LANES):
        g, t = divmod(lane, 4)
        pairs = [(i + g, k + v * t + h) for i, k in blocks for h in range(v)]
        positions.append(tuple((k, i) if swapped else (i, k) for i, k in pairs))
    size = BYTES[element]
    register = max(size, 4)
    return Fragment(tuple(positions), register // size if packed else 1, register, copies, v, not swapped)


def blocks(rows: int, depth: int, step: int, depth_first: bool = False) -> list[tuple[int, int]]:
    """Return the corners of the blocks of a (rows, depth) operand, in the order of the registers."""
    if depth_first:
        return [(i, k) for i in range(0, rows, 8) for k in range(0, depth, step)]
    return [(i + s, k) for i in range(0, rows, 16) for k in range(0, depth, step) for s in range(0, min(16, rows - i), 8)]


def operands(shape: tuple[int, int, int], kind: str, c: str, d: str, wmma: bool = False) -> tuple[Fragment, Fragment, Fragment, Fragment]:
    """Return the Fragments (A, B, C, D) of an mma or wmma instruction.

    Parameters
    ----------
    shape
        (m, n, k)
    kind, c, d
        PTX types of the factors, of C and of D.
    """
    m, n, k = shape
    v = SHARING[kind]
    step = 4 * v
    repeated = wmma and kind == "f16"
    a_blocks = blocks(m, k, step)
    b_blocks = blocks(n, k, step, depth_first=n <= 16)
    a = fragment(a_blocks, v, kind, copies=8 // len(a_blocks) if repeated else 1)
    b = fragment(b_blocks, v, kind, copies=8 // len(b_blocks) if repeated else 1, swapped=True)
    return a, b, accumulator(m, n, c), accumulator(m, n, d)


def accumulator(m: int, n: int, kind: str) -> Fragment:
    """Return the Fragment of C or D; with m = 8 and n = 32 the hardware computes the transposed product."""
    if n == 32:
        return fragment(blocks(n, m, 8), 2, kind, swapped=True)
    return fragment(blocks(m, n, 8), 2, kind)
