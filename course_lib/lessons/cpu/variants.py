"""The six loops of the lesson, written out with blocks of any size: what `python -m tools record cpu` times, one change at a time."""

TINY, SMALL, LARGE = 48, 256, 1024        # rows and columns of the matrices that are timed
PADDED = LARGE + 16                       # elements from one row to the next, where that is not LARGE
SQUARES = (16, 32, 64, 128, 256)
WIDTHS = (16, 64, 256, LARGE)             # of a block of 16 rows of B, all used for 256 rows of A


def _block(BI: int, BJ: int, BK: int, order: str = "ikj", ends: bool = False) -> dict:
    return {"BI": BI, "BJ": BJ, "BK": BK, "order": order, "ends": ends}


YOURS = _block(16, 16, 16)                # the loops that the lesson shows
WITH_ENDS = YOURS | {"ends": True}
K_OUTSIDE = YOURS | {"order": "kij"}
ROWS_OF_B = [_block(256, width, 16) for width in WIDTHS]
TIMED = (YOURS, *(_block(b, b, b) for b in SQUARES[1:]), *ROWS_OF_B, WITH_ENDS, K_OUTSIDE)


def six_loops(BI: int, BJ: int, BK: int, order: str = "ikj", ends: bool = False) -> str:
    """Return loops in blocks of BI × BJ elements of C and BK products, whose sizes the compiler knows.

    Parameters
    ----------
    BI, BJ, BK : int
        Rows and columns of a block of C, and how many products are added to it at a time.
    order : str
        Of the three loops inside a block: "ikj" as in the lesson, or "kij".
    ends : bool
        Whether a block ends where the matrix ends, as loops for any size need it. Without, M, N and K must be multiples of the block.

    >>> print(six_loops(16, 16, 16).splitlines()[-1].strip())
    C(i, j) += A(i, k) * B(k, j);
    """
    sizes = {"i": ("M", BI), "j": ("N", BJ), "k": ("K", BK)}
    lines = [f"for (int {x}0 = 0; {x}0 < {sizes[x][0]}; {x}0 += {sizes[x][1]})" for x in "ijk"]
    for x in order:
        most, size = sizes[x]
        end = f"min({x}0 + {size}, {most})" if ends else f"{x}0 + {size}"
        lines.append(f"for (int {x} = {x}0; {x} < {end}; ++{x})")
    lines.append("C(i, j) += A(i, k) * B(k, j);")
    return "\n".join("    " * depth + line for depth, line in enumerate(lines)) + "\n"
