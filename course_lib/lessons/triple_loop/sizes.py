"""The sizes of matrices at which lesson 01 times its programs, and loops with several sums."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib.run.turns import aligned


@dataclass(frozen=True)
class Size:
    """C has M rows and N columns, K is the length of the sums, and `ldb` floats lie from one row of B to the next."""

    M: int
    N: int
    K: int
    ldb: int

    @classmethod
    def square(cls, N: int, ldb: int | None = None) -> "Size":
        """Return the size of three N × N matrices, with or without floats between the rows of B.

        >>> Size.square(512, 528)
        Size(M=512, N=512, K=512, ldb=528)
        """
        return cls(N, N, N, ldb or N)

    @property
    def flops(self) -> int:
        """Return the floating-point operations of a product, 2MNK."""
        return 2 * self.M * self.N * self.K

    def matrices(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return A and B with random numbers, and space for C; each begins with a cache line."""
        return (aligned(self.M, self.K, self.K, 1), aligned(self.K, self.N, self.ldb, 2), aligned(self.M, self.N, self.N, 3))


# What is recorded: matrices that fit into a first-level cache, and two that differ only in where the rows of B lie. SHOWN: the bars.
SIZES = (Size.square(48), Size.square(512, 528), Size.square(512))
SHOWN = (SIZES[0], SIZES[2])
TIMED = (Size.square(1024, 1040), Size.square(1024))
SMALL = (Size.square(120), Size.square(128))
# Floats from one row of B to the next, for a B of 1024 equal rows: 0 has them in one place, so that nothing of B has to be fetched.
LAYOUTS = (TIMED[1].ldb, TIMED[0].ldb, 0)


def four_steps(sums: int) -> str:
    """Return the loops ijk with four steps of k written out, which are added to so many sums in turn.

    >>> print(four_steps(2).splitlines()[5].strip())
    s1 += A(i, k + 1) * B(k + 1, j);
    """
    names = [f"s{n}" for n in range(sums)]
    steps = [f"            {names[n % sums]} += A(i, k + {n}) * B(k + {n}, j);" for n in range(4)]
    return "\n".join(["for (int i = 0; i < M; ++i)", "    for (int j = 0; j < N; ++j) {",
                      f"        float {' = 0, '.join(names)} = 0;", "        for (int k = 0; k < K; k += 4) {", *steps, "        }",
                      f"        C(i, j) += {' + '.join(names)};", "    }", ""])
