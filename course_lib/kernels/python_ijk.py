"""The triple loop in plain Python, for scale."""


def python_ijk(M: int, N: int, K: int, alpha: float, A: list[list[float]], B: list[list[float]], beta: float, C: list[list[float]]) -> None:
    """Compute C = alpha A B + beta C in place, on lists of rows; with beta 0 C is not read.

    >>> C = [[None]]
    >>> python_ijk(1, 1, 2, 1.0, [[1.0, 2.0]], [[3.0], [4.0]], 0.0, C)
    >>> C
    [[11.0]]
    """
    for i in range(M):
        for j in range(N):
            total = 0.0
            for k in range(K):
                total += A[i][k] * B[k][j]
            C[i][j] = alpha * total + (0.0 if beta == 0 else beta * C[i][j])
