"""Lesson 16's second picture: which words an `ldmatrix` reads, wavefront by wavefront, and which lane gets each of them.

The addresses are traced: the first `ldmatrix` of `sbgemm_mma`, in which nothing but the padding of A's rows is changed. How many wavefronts
they need, `course_lib.model.banks` says and the simulator counts; in which order the hardware takes them, nobody has documented.
"""

import functools
import re
from typing import Any

import numpy as np

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.kernels import UserKernel, get
from course_lib.model.banks import services
from course_lib.run import run
from course_lib.simt.report import TraceRecord

PADS = (0, 8, 16, 24)            # numbers of 16 bits behind each row: pieces of 16 bytes have to begin at multiples of 16 bytes
PIECE, WORD = 16, 4              # bytes


def first_load(pad: int) -> TraceRecord:
    """Return the first `ldmatrix` of the first warp of `sbgemm_mma`, with so much padding."""
    text = re.sub(r"#define LDA \(BK \+ 8\)", f"#define LDA (BK + {pad})", get("sbgemm_mma").source)
    A = np.ones((128, 64), np.float32)
    result = run(UserKernel.from_source(text, like="sbgemm_mma"), A, np.ascontiguousarray(A.T), backend="sim", trace=[((0, 0, 0), 0)])
    return next(record for record in result.trace if record.operation.startswith("ldmatrix"))


def load(pad: int) -> dict[str, Any]:
    """Return the words of a row, and the wavefronts: for each word its number, who points to it, who gets it, in which register."""
    record = first_load(pad)
    waves: dict[int, list[list[int]]] = {}
    for service in services(record.addresses, width=record.width):
        pointing, = service.lanes
        matrix, row = divmod(pointing, 8)
        piece = service.word - int(record.addresses[pointing]) // WORD
        waves.setdefault(service.wavefront, []).append([service.word, pointing, 4 * row + piece, matrix])
    return {"row": int(record.addresses[1] - record.addresses[0]) // WORD, "waves": [sorted(waves[wave]) for wave in sorted(waves)]}


@functools.cache
def states() -> dict[str, Any]:
    """Return the load with each padding, as JSON takes it."""
    return {"pads": list(PADS), "at": {str(pad): load(pad) for pad in PADS}}


class MatrixLoad(Explorable):
    """The words of an `ldmatrix`; made by `matrix_load`."""

    name = "matrix_load"
    title = "One ldmatrix and the banks of shared memory"
    _esm = module_text("matrix_load")

    def static_text(self) -> str:
        return (f"{self.title}: 16 rows of A in shared memory, the pieces of 16 bytes to which the 32 lanes point, and the registers to "
                "which their words go. You choose the padding of a row. Run this cell to play it.")


def matrix_load(pad: int = 8) -> MatrixLoad:
    """Play one load of a fragment of A, wavefront by wavefront.

    Parameters
    ----------
    pad
        Unused numbers of 16 bits at the end of each row, one of `PADS`.
    """
    return MatrixLoad(states=states(), values={"pad": pad})
