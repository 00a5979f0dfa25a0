"""The course's kernels in other words (`ptx_respell.py`): the same bits and the same counters."""

import random

import numpy as np
import pytest
from ptx_respell import respelled

from course_lib import kernels, simt, toolchain
from course_lib.model.number_formats import to_bf16
from course_lib.run.inputs import problem

SHAPE, ROW = (37, 45, 40), 48
NAMES = sorted(name for name, kernel in kernels.KERNELS.items()
               if kernel.kind == "product" and not kernel.sizes_of(*SHAPE, kernel.check()))


def launched(kernel, text, how):
    """Run a product of an awkward shape; return (bits of C, counters, counters of each line, level of each counter)."""
    parameters, kind = kernel.check(), np.dtype(kernel.dtype).type
    rng = np.random.default_rng(5)
    A, B, C = (rng.standard_normal((ROW, ROW)).astype(kind) for _ in "ABC")
    M, N, K, ld = map(np.int32, (*SHAPE, ROW))
    workspace = [np.zeros(count, dtype) for dtype, count in kernel.workspace()]
    if kernel.boxes:
        adds = {"C": C[:M, :N], "beta": -0.5} if not kernel.result else {}
        task = problem(A[:M, :K], B[:K, :N], alpha=1.5, stored=kernel.stored, boxes=kernel.boxes, result=kernel.result, **adds)
        C = task.C.buffer
        given = task.arguments(task.A.buffer, task.B.buffer, C)
    else:
        A, B = map(to_bf16, (A, B)) if kernel.stored else (A, B)
        given = [M, N, K, kind(1.5), A, ld, B, ld, kind(-0.5), C, ld, *workspace]
    report = simt.launch(text, kernel.entry, kernel.grid_of(*SHAPE[:2], parameters), kernel.block_of(parameters), list(given), workers=1,
                         dynamic_shared=kernel.dynamic_bytes(), **how)
    return C.tobytes(), report.counters, report.lines, report.level


@pytest.mark.sampled(test=2, slow=7)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", NAMES)
def test_other_words_change_nothing(name, seed):
    kernel = kernels.get(name)
    text = toolchain.compile_cuda(kernel.source, defines=kernel.defines()).ptx
    other = respelled(text, random.Random(f"{name} {seed}"))
    how = {} if seed else {"warp_order": "interleaved"}
    assert launched(kernel, other, how) == launched(kernel, text, how)
