"""What a product costs beside its multiply-adds, on tensor cores or without: instructions, shared memory."""

from collections.abc import Iterable
from dataclasses import dataclass

from course_lib.arch import TENSOR, UNITS, WARP, device
from course_lib.errors import CourseError
from course_lib.model.bound import SHARED_WAVEFRONTS
from course_lib.run import RunResult
from course_lib.run.table import Table
from course_lib.toolchain import tensor_step, whole_step

MATRIX = "smsp__inst_executed_pipe_tensor_op_hmma.sum"
NUMBERS = {"": "float32", "tf32": "TF32", "bf16": "bfloat16", "bf16x3": "3 bfloat16"}     # what is multiplied, by `Kernel.inputs`
PRODUCTS = {"bf16x3": 6}               # multiply-adds on tensor cores for each one of the product, where it is not one


@dataclass(frozen=True)
class Costs:
    """For 32 multiply-adds of a product, which take a kernel without tensor cores one FFMA of a warp.

    Attributes
    ----------
    kernel, numbers
        Its name; what it multiplies.
    each
        Multiply-adds of the product, for each lane, that one FFMA or one matrix instruction does.
    instructions
        Machine instructions of a warp in a step along K.
    wavefronts
        Of shared loads and stores.
    cycles
        That shared memory needs for these wavefronts while the multiply-adds take one cycle, both at their best: above 1 it is the limit.
    """

    kernel: str
    numbers: str
    each: float
    instructions: float
    wavefronts: float
    cycles: float


def costs_of(result: RunResult) -> Costs:
    """Work out the Costs of a product.

    Parameters
    ----------
    result
        With counters, float32; sizes that the tile divides, as edges are counted with the rest.

    Raises
    ------
    CourseError
        Without counters, and on a device whose tensor cores take no such numbers.

    >>> import numpy as np
    >>> from course_lib.run import run
    >>> A = np.ones((128, 128), np.float32)
    >>> costs_of(run("sgemm_mma", A, A, backend="sim")).each
    32.0
    """
    kernel = result.kernel
    if result.counters is None:
        raise CourseError("this run has no counters: run it with counters=True", kernel=kernel.name)
    work = result.M * result.N * result.K / WARP
    matrix = result.counters.get(MATRIX, 0)
    wavefronts = (result.count("wavefronts") + result.count("wavefronts", "store")) / work
    step = _step(result)
    return Costs(kernel.name, NUMBERS[kernel.inputs], work / matrix if matrix else 1.0, step, wavefronts,
                 wavefronts / SHARED_WAVEFRONTS * _rate(kernel, device(result.device)))


def _step(result):
    """Return the machine instructions of a step along K for each 32 multiply-adds of the product."""
    kernel = result.kernel
    if not kernel.inputs:
        found = whole_step(kernel, **result.parameters)
        if found is None:
            raise CourseError(f"{kernel.name} has no loop along K over whole tiles", kernel=kernel.name)
        return found.per_multiply_add
    return tensor_step(kernel, **result.parameters).per_multiply_add * PRODUCTS.get(kernel.inputs, 1)


def _rate(kernel, on):
    """Return how many times 32 multiply-adds of the product a multiprocessor does in a cycle at most."""
    if not kernel.inputs:
        return UNITS[on.cc][0] / WARP
    if on.cc not in TENSOR:
        raise CourseError(f"the tensor cores of {on.name} take no such numbers: those of compute capability 8.0 and up do", device=on.name)
    return TENSOR[on.cc][kernel.inputs != "tf32"] / WARP / PRODUCTS.get(kernel.inputs, 1)


def costs_table(costs: Iterable[Costs], label: str = "") -> Table:
    """Return Costs as a table, a row for each kernel."""
    rows = [(c.kernel, c.numbers, f"{c.each:.3g}", f"{c.instructions:.2f}", f"{c.wavefronts:.4f}", f"{c.cycles:.2f}") for c in costs]
    return Table(("kernel", "multiplies", "multiply-adds a lane / instruction", "instructions / 32 multiply-adds",
                  "wavefronts, loads and stores / 32 multiply-adds", "shared cycles / cycle of arithmetic"), rows, label)
