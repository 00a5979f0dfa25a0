"""The reader's own mask for the load of A: tried on every tile of a matrix whose last tiles stick out."""

import numpy as np

from course_lib.errors import CourseError

M, K, BM, BK = 100, 208, 64, 32


def check_mask(expression: str) -> str:
    """Say whether an expression of row, a_col, M and K is true exactly for the elements of A, or for which it is not.

    >>> check_mask("(row < M) & (a_col < K)")
    'right: true for all 100 × 208 elements of A, and false beside them'
    """
    for row0 in range(0, M, BM):
        for k0 in range(0, K, BK):
            row, a_col = (row0 + np.arange(BM))[:, None], k0 + np.arange(BK)[None, :]
            try:
                found = np.broadcast_to(eval(expression, {"__builtins__": {}}, {"row": row, "a_col": a_col, "M": M, "K": K}), (BM, BK))
            except Exception as error:
                raise CourseError(f"{expression!r} is no mask for a tile: {error}. Write it with row, a_col, M and K") from error
            wrong = np.argwhere(found.astype(bool) != (row < M) & (a_col < K))
            if len(wrong):
                i, j = map(int, wrong[0])
                at, inside = f"row = {row0 + i}, a_col = {k0 + j}", row0 + i < M and k0 + j < K
                has = "this" if inside else "no such"
                return f"wrong: M = {M}, K = {K}, and for {at} the mask is {not inside}, though A has {has} element"
    return f"right: true for all {M} × {K} elements of A, and false beside them"
