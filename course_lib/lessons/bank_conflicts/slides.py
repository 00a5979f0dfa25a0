"""Jeong-Gun Lee's slides: 16 banks and half-warps, the GTX 690's wide banks, and the banks of today."""

from course_lib.model import kepler_wavefronts
from course_lib.plots import Table, bank_counts, requests
from course_lib.run import run
from course_lib.simt.report import TraceRecord
from course_lib.widgets.compute import inputs


def column_read() -> TraceRecord:
    """Return a warp's load of a column of the product's unpadded 16 × 16 tile, as a program asks for it: 32 bits per lane."""
    A, B, _ = inputs(16, 16, 16)
    traced = run("sgemm_padded", A, B, backend="sim", TILE=16, PAD=0, trace=[((0, 0, 0), 0)])
    return requests(traced, array="Bs", load=True, space="shared")[0]


def sixteen_banks() -> Table:
    """Return what the column read takes on GPUs with different banks."""
    record = column_read()
    first, second = bank_counts(record, 16)
    now, = bank_counts(record)
    rows = [("before 2010", "16 banks of 4 bytes, half a warp at a time", f"{first} + {second}"),
            ("GTX 690, 2012", "32 banks of 8 bytes", str(kepler_wavefronts(record.addresses - record.addresses.min()))),
            ("2010, and since 2014", "32 banks of 4 bytes", str(now))]
    return Table(("GPUs", "shared memory", "wavefronts, modelled"), rows, "A warp reads a column of a 16 × 16 tile, 32 bits per lane")
