"""What stands in the machine code of kernels' innermost loops, side by side."""

from course_lib import kernels
from course_lib.plots.table import Table
from course_lib.toolchain import inner_loop

HEADER = ("kernel", "multiply-adds", "LDS.32", "LDS.64", "LDS.128", "LDG", "STS", "other", "jumps",
          "LDS / multiply-add", "shared words / multiply-add", "LDG / multiply-add", "instructions / multiply-add", "factors from shared")


def inner_loops(*names, arch="sm_90", **parameters):
    """Count the instructions of each kernel's innermost loop with the most multiply-adds.

    Parameters
    ----------
    *names : str
        Kernels of the catalog; default all that multiply matrices.
    arch : str
    **parameters
        Tile sizes and the like, for every kernel named.

    Returns
    -------
    Table
        Of one turn: multiply-adds, loads from shared memory by their bits, loads from global memory, stores to shared memory, all
        others, and jumps beside the one back (with any, a turn leaves some instructions out, or repeats some). Then the same
        for each multiply-add. The last column says how many of its two factors were loaded from shared memory in this loop.

    Raises
    ------
    CourseError
        As `course_lib.toolchain.inner_loop`.

    >>> inner_loops("sgemm_volkov").rows[0][:5]
    ('sgemm_volkov', 256, 0, 0, 68)
    """
    found = [inner_loop(name, arch=arch, **parameters) for name in names or kernels.KERNELS]
    version = ".".join(map(str, found[0].nvrtc_version))
    return Table(HEADER, [_row(loop) for loop in found], f"One turn of the innermost loop, {arch}, NVRTC {version}")


def _row(found):
    counts = found.loop.counts
    per = [f"{float(value):.4f}" for value in (
        found.per_multiply_add("LDS"), found.shared_words / found.multiply_adds, found.per_multiply_add("LDG"),
        found.per_multiply_add("instructions"))]
    factors = found.factors_from("LDS") / found.multiply_adds
    return (found.kernel, found.multiply_adds, *(counts[f"LDS.{bits}"] for bits in (32, 64, 128)), counts["LDG"], counts["STS"],
            found.other, found.jumps, *per, f"{factors:g}")
