"""How a number is known: measured here, recorded elsewhere, modelled from a GPU's data sheet, or counted by the simulator."""

import ctypes
from collections.abc import Sequence

from course_lib import data, gpu, simt, toolchain
from course_lib.arch import SECTOR_BYTES, device
from course_lib.errors import CourseError
from course_lib.explorables.race import LIBRARY, N
from course_lib.lessons.start.climb import demand_time, recorded_product
from course_lib.plots import Table
from course_lib.run import LaunchResult

GPU = "H200"
OPERATIONS = 2 * N**3                 # of one product: a multiplication and an addition for each of N³ terms


def least_s() -> float:
    """Return the least time, in seconds, in which an H200 can do the arithmetic of one product of the race, modelled.

    >>> round(1e3 * least_s(), 2)
    2.05
    """
    return OPERATIONS / (1e9 * device(GPU).peak_gflops)


def faster(seconds: float, kernel: str) -> float:
    """Return how many times as fast as a product that takes `seconds` a kernel's was, to three digits.

    Raises
    ------
    CourseError
        When `seconds` is not positive.
    """
    demand_time(seconds)
    return float(f"{seconds / recorded_product(kernel).seconds:.3g}")


def beside(seconds: float) -> Table:
    """Return a table of this computer's product, timed by the reader, beside what an H200 took and what it needs at least.

    Raises
    ------
    CourseError
        When `seconds` is not positive.
    """
    demand_time(seconds)
    label, limit = data.load("ladder").label, f"modelled for {GPU}"
    rows = ((f"{1e3 * seconds:,.1f}", "NumPy, on this computer", f"measured on {_cpu()}"),
            (f"{1e3 * recorded_product('sgemm_naive').seconds:,.1f}", "the naive kernel, on a GPU", label),
            (f"{1e3 * recorded_product(LIBRARY).seconds:,.2f}", "cuBLAS, on the same GPU", label),
            (f"{1e3 * least_s():,.2f}", "the multiplications and additions alone, at least, without tensor cores", limit))
    return Table(("ms", "one product", "label"), rows, f"{N} × {N} matrices of float32")


def tell(times: Sequence[float]) -> None:
    """Print the reader's times of one product, in seconds, and on which CPU; say so when they differ by more than 20 %."""
    each = ", ".join(f"{seconds:.3g} s" for seconds in times)
    print(f"One product with NumPy: {each}, measured on {_cpu()}.")
    if max(times) > 1.2 * min(times):
        print("These times differ by more than 20 %: something else may have been running. Run the cell again.")


def _cpu() -> str:
    """Return the CPU's name, and on how many logical cores NumPy may calculate."""
    many = toolchain.blas().threads or toolchain.cpu_count()
    return f"{toolchain.cpu_name()}, {many} logical core{'s' * (many != 1)}"


def prepare_simulator() -> None:
    """Translate what every simulated launch needs, unless that is done already, and say so when it takes more than a moment."""
    simt.prepare_runtime(lambda: print("Preparing the simulator. The first time on a computer this takes some seconds …", flush=True))
    print("The simulator is ready.")


def prepare() -> None:
    """Make the simulator ready, and say whether a GPU works here, too."""
    prepare_simulator()
    status = gpu.probe()
    if status.usable:
        print(f"It is all that this lesson needs. A GPU works here, too: {status.reason}.")
    elif _has_driver():
        print(f"It is all that this lesson needs. A GPU is not used here: {status.reason}.")
    else:
        print("No GPU was found, and this lesson needs none.")


def _has_driver() -> bool:
    """Return whether NVIDIA's driver is installed, so that a reader may expect a GPU to be used."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def counted(launch: LaunchResult) -> Table:
    """Return a table of what a launch did: its threads, and the sectors that were loaded and stored for them, and the bytes in these.

    Raises
    ------
    CourseError
        When the launch has no counters.
    """
    if launch.counters is None:
        raise CourseError("this launch has no counters: launch the kernel with fewer threads, which the simulator runs beside a GPU")
    threads = 1
    for size in (*launch.grid, *launch.block):
        threads *= size
    rows = [("threads", threads)]
    for verb, kind in (("loaded", "load"), ("stored", "store")):
        pieces = launch.count("sectors", kind)
        rows += [(f"pieces of {SECTOR_BYTES} bytes {verb}", pieces), (f"bytes in the pieces {verb}", SECTOR_BYTES * pieces)]
    return Table(("what", "how many"), rows, f"{launch.kernel.name}, {launch.counters_label}")
