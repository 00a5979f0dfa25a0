"""Jeong-Gun Lee's slides: 16 banks and half-warps, the GTX 690's wide banks, and what padding was worth then and is now."""

from course_lib import data
from course_lib.data.documents import LEE_GPU
from course_lib.lessons.bank_conflicts.counts import N_TIMED
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


def slides() -> Table:
    """Return what the slides measured on a GTX 690 beside what was recorded here."""
    before, after = LEE_GPU.column("Coalescing"), LEE_GPU.column("Bank Conflict")
    ours = {(record.kernel, record.N): 1e3 * record.seconds for record in data.load("lee").records}
    rows = [(N, before[N], after[N], f"{before[N] / after[N]:.2f}", f"{ours['sgemm_coalesced', N]:.3g}", f"{ours['sgemm_padded', N]:.3g}",
             f"{ours['sgemm_coalesced', N] / ours['sgemm_padded', N]:.2f}") for N in before if N <= N_TIMED]
    header = ("N", "slides: Coalescing, s", "slides: Bank Conflict, s", "slides: faster", "H200: coalesced, ms", "H200: padded, ms",
              "H200: faster")
    return Table(header, rows, f"Slides: GTX 690, no unit named, seconds fit. H200: tiles of 16 × 16, {data.load('lee').label}")
