"""A strided copy: what a warp's addresses alone cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.arch import SECTOR_BYTES
from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.run.inputs import contiguous
from course_lib.run.launch import KernelLaunch, execute, take_options
from course_lib.run.result import LaunchResult
from course_lib.run.types import Rows

MOST_ELEMENTS = 2**31 - 1      # the kernel indexes with int


@dataclass(frozen=True, repr=False)
class GatherResult(LaunchResult):
    """What a strided copy gave.

    Attributes, beside those of every launch
    ----------------------------------------
    n
        Floats copied.
    out
        (n,).
    """

    n: int
    out: NDArray[np.float32] = field(repr=False)

    @property
    def bytes(self) -> int:
        """Return 8 n, the bytes that are wanted: each float is read once and written once."""
        return 8 * self.n

    @property
    def gb_s(self) -> float | None:
        """Return 10**9 wanted bytes a second, or None without a measured time."""
        return self.bytes / self.time.median_s / 1e9 if self.time else None

    @property
    def useful_share(self) -> float | None:
        """Return the wanted part of the bytes that load requests fetch; None without counters."""
        return None if self.counters is None else 4 * self.n / (SECTOR_BYTES * self.count("sectors"))

    def head_rows(self) -> Rows:
        """Return the rows on what was copied."""
        rows = [("copied", f"{self.n} floats, {self.label}"), ("launch", f"{self.grid[0]} blocks of {self.block[0]} threads")]
        if self.time:
            rows.append(("time", f"{self.time}, {self.gb_s:.1f} GB/s"))
        if self.counters is not None:
            rows.append(("efficiency", f"{self.useful_share:.1%} of the fetched bytes are wanted"))
        return tuple(rows)


def needed(n: int, stride: int = 1, offset: int = 0, VEC: int = 1) -> int:
    """Return how many floats a copy of n floats reaches over.

    >>> needed(4), needed(4, stride=3), needed(6, stride=2, offset=8, VEC=4)
    (4, 10, 18)
    """
    last = (n - 1) // VEC                                  # the last vector, of which perhaps not all is there
    return offset + last * VEC * stride + (n - 1) % VEC + 1


def run_gather(kernel: str | Kernel, values: NDArray[np.float32], n: int | None = None, **options: Any) -> GatherResult:
    """Copy n floats from `values`, a stride apart from an offset on.

    Parameters
    ----------
    kernel
        A kernel of this kind: `copy_strided`.
    values
        One-dimensional.
    n
        Default: as many as there are, in whole vectors.
    **options
        As for `run`, and parameters of the kernel: stride, offset, VEC, threads.

    Raises
    ------
    CourseError
        For everything that a reader can get wrong: a value that breaks a rule, an array that is too short.

    >>> run_gather("copy_strided", np.arange(12, dtype=np.float32), 4, stride=3, offset=1, backend="sim").out.tolist()
    [1.0, 4.0, 7.0, 10.0]
    """
    kernel = get(kernel) if isinstance(kernel, str) else kernel
    if kernel.kind != "gather":
        raise CourseError(f"{kernel.name} is not for this: its kind is {kernel.kind!r}, not 'gather'", kernel=kernel.name)
    values = contiguous("values", values, 1)
    launch = take_options(options)
    p = kernel.check(**options)
    far = {name: p[name] for name in ("stride", "offset", "VEC")}
    n = _as_many(len(values), far) if n is None else n
    if n < 1 or needed(n, **far) > len(values):
        raise CourseError(f"{n} floats with stride {p['stride']} from offset {p['offset']} on reach over {needed(max(n, 1), **far)}, "
                          f"but values has {len(values)}: take a smaller n or stride")
    if needed(n, **far) > MOST_ELEMENTS:
        raise CourseError(f"the copy reaches over {needed(n, **far)} floats, but the kernel indexes at most {MOST_ELEMENTS}: take fewer")
    out = np.full(n, np.nan, np.float32)
    arguments = (np.int32(n), values, np.int32(p["offset"]), np.int32(p["stride"]), out)
    done = execute(KernelLaunch(kernel, p, arguments, (4,), kernel.grid(n, **p), kernel.block(**p)), **launch)
    return GatherResult(n=n, out=done.outputs[0], **done.facts)


def _as_many(length: int, far: Mapping[str, int]) -> int:
    """Return the most floats that can be copied in whole vectors, 0 when there is no room for one."""
    room = length - far["offset"] - far["VEC"]
    return 0 if room < 0 else far["VEC"] * (room // (far["VEC"] * far["stride"]) + 1)
