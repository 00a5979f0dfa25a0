"""How many wavefronts the loads of the machine code take, where the assembler joins several words into one load."""

from collections import Counter

import numpy as np

from course_lib.arch import WARP
from course_lib.kernels import get
from course_lib.lessons.register_blocking.counts import KERNEL
from course_lib.model.banks import shared_wavefronts
from course_lib.toolchain import compile_cuda
from course_lib.toolchain.sass import sass


def joined(BM: int, BN: int, BK: int, TM: int, TN: int) -> tuple[tuple[int, int], float]:
    """Read in the machine code which words of As and Bs are joined, and what that takes.

    Returns
    -------
    (words of As per load, words of Bs per load), wavefronts of loads per multiply-add of a warp

    >>> joined(64, 64, 8, 8, 8)
    ((1, 1), 0.25)
    """
    kernel = get(KERNEL)
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, defines={"BM": BM, "BN": BN, "BK": BK, "TM": TM, "TN": TN}))
    lines = kernel.source.splitlines()
    loads = Counter((lines[i.line - 1].strip()[0], i.bits // 32) for i in code
                    if i.base == "LDS" and i.line is not None and i.bits is not None)
    lanes = np.arange(WARP)
    offsets = {"a": 4 * BK * (lanes // (BN // TN)), "b": 4 * (lanes % (BN // TN))}
    waves = sum(number * shared_wavefronts(offsets[what], width=4 * words) for (what, words), number in loads.items())
    steps = sum(number * words for (what, words), number in loads.items() if what == "a") / TM
    width = dict(loads.keys())
    return (width["a"], width["b"]), waves / steps / (TM * TN)
