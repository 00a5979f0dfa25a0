"""Launch another compiler's PTX on both code generators, which must agree in every bit and every count."""

import numpy as np

from course_lib import simt
from course_lib.simt import model
from course_lib.simt.host import counters, limits
from course_lib.simt.host.arguments import leaves
from course_lib.simt.passes.pipeline import build_program
from course_lib.simt.ptx import parser


def both_ways(text, entry, grid, block, args, hazards=0, modelled=False, **how):
    """Launch with uniform code, which writes into `args`, and with reference code; return the first report.

    Racecheck is on and must find nothing, or so many `hazards`. Tracing a warp makes the simulator take reference code alone.
    Where a kernel is `modelled`, the model in plain Python must agree as well.
    """
    copies, defined = ([twin(a) for a in args] for _ in range(2))
    report = simt.launch(text, entry, grid, block, args, racecheck=True, **how)
    reference = simt.launch(text, entry, grid, block, copies, racecheck=True, trace=[(0, 0)], **how)
    assert len(report.hazards) == hazards, report.hazards
    assert report.counters == reference.counters
    same(args, copies)
    if modelled:
        program = build_program(parser.parse(text.read_text()), entry)
        counted = model.run(program, limits.triple(grid, "grid"), limits.triple(block, "block"), defined)
        assert counted["executed"] == report.counters[counters.EXECUTED]
        same(args, defined)
    return report


def same(args, others):
    for one, other in zip(leaves(args), leaves(others)):
        assert one.tobytes() == other.tobytes()


def twin(array):
    """Return a copy of an array with the same strides; of a structure, one with copies of its arrays."""
    if isinstance(array, tuple):
        return tuple(map(twin, array))
    if not isinstance(array, np.ndarray):
        return array
    base = array if array.base is None else array.base
    at = array.ctypes.data - base.ctypes.data
    return np.ndarray(array.shape, array.dtype, bytearray(base.tobytes("A")), at, array.strides)


def escape_steps(c, most=40):
    """Return how many of `most` steps of z² + c each point stays within 2 for: the Mandelbrot set, in double precision."""
    z, inside, steps = c.astype(complex), np.ones(c.shape, bool), np.zeros(c.shape, np.int32)
    for _ in range(most):
        inside &= abs(z) ** 2 <= 4
        steps += inside
        z = np.where(inside, z * z + c, z)
    return steps


def bf16(x):
    """Return float32 numbers rounded to bfloat16, ties to even, as their 16 bits."""
    bits = x.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(x), 0x7fff, rounded).astype(np.uint16)


def from_bf16(bits):
    """Return the float32 numbers that 16 bits of bfloat16 stand for."""
    return (bits.astype(np.uint32) << 16).view(np.float32)
