"""What an H200 computed and counted (tests/data/h200_kernels.*), and the simulator's answers beside it."""

import functools
import hashlib
import json
from pathlib import Path

import numpy as np

from course_lib import simt
from hardware_catalog.cases import CASES, KERNELS

DATA = Path(__file__).parents[2] / "data"
RECORD = json.loads((DATA / "h200_kernels.json").read_text())
LSU = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "{}l1tex{}data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
# Short name -> (Nsight Compute's reading that repeats exactly, the name of the same count in our report).
COUNTERS = {
    **{f"{what} {op}": (LSU.format(what, op),) * 2 for what in ("requests", "sectors") for op in ("ld", "st")},
    **{f"shared {op}": (f"smsp__sass_inst_executed_op_shared_{op}.sum",) * 2 for op in ("ld", "st")},
    **{f"wavefronts {op}": (WAVEFRONTS.format("smsp__sass_", "_", op), WAVEFRONTS.format("", "__", op)) for op in ("ld", "st")},
}

# Counters of matrix loads and asynchronous copies: the same name on both sides, not recorded where they are 0.
ALSO = {"ldsm": "smsp__sass_inst_executed_op_ldsm.sum", "copies": "smsp__sass_inst_executed_op_ldgsts.sum",
        "wavefronts of copies": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"}


@functools.cache
def outputs():
    """Return the recorded outputs that the references do not give to the bit."""
    with np.load(DATA / "h200_kernels.npz") as found:
        return {key: found[key] for key in found.files}


@functools.cache
def simulated(name):
    """Run one kernel on the simulator: (arguments after it, expected arrays, report)."""
    case = CASES[name]
    args, expected = case.arguments()
    report = simt.launch(KERNELS / f"{name}.cu", name, case.grid, case.block, args, dynamic_shared=case.dynamic_shared,
                         constants=case.constants or {}, workers=1)
    return args, expected, report


def counts(name, measured=None):
    """Return {short name: (measured, simulated)}; `measured` as in the record, which is taken without it."""
    there, here = measured or RECORD["kernels"][name], simulated(name)[2].counters
    found = {short: (there[theirs], here[ours]) for short, (theirs, ours) in COUNTERS.items()}
    for short, metric in ALSO.items():
        found[short] = there.get(metric, 0), here[metric]
    ldsm = there.get("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum", 0)  # which the name without smsp__sass counts too
    found["wavefronts ld"] = found["wavefronts ld"][0] + ldsm, found["wavefronts ld"][1]
    return found


def unlike(name):
    """Return {argument: (places, measured, simulated)} of the outputs whose bits are not the hardware's."""
    args, expected, _ = simulated(name)
    found = {}
    for i, array in CASES[name].outputs(args).items():
        if hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() == RECORD["outputs"][f"{name}.{i}"]:
            continue
        there = outputs().get(f"{name}.{i}")
        there = np.asarray(expected[i]).astype(array.dtype) if there is None else there
        ours, theirs = bytes_of(array), bytes_of(there)
        found[i] = np.flatnonzero((ours != theirs).any(1)), there.ravel(), array.ravel()
    return found


def bytes_of(array):
    """Return an array's elements as rows of bytes; of complex numbers, each part is an element."""
    parts = array.view(array.real.dtype) if array.dtype.kind == "c" else array
    return np.ascontiguousarray(parts).ravel().view(np.uint8).reshape(parts.size, -1)


def ulps(measured, simulated_):
    """Return the largest distance in units in the last place between two arrays of floating-point numbers."""
    def line(values):
        values = values.view(values.real.dtype)
        bits = values.view(f"i{values.dtype.itemsize}").astype(object)
        return np.array([b if b >= 0 else -(b & ~(1 << 8 * values.dtype.itemsize - 1)) for b in bits], object)
    return max(abs(line(measured) - line(simulated_)), default=0)
