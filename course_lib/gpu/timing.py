"""Measure how long a kernel takes on the GPU."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.gpu.launch import CUDA_ERRORS, Size, arguments, explain, host_arrays, place, prepare_function, triple

if TYPE_CHECKING:
    from course_lib.toolchain import Compiled

SHORT = 200e-6         # seconds: below this a launch costs as much as the kernel, so many go into one graph
SAMPLE = 2e-3          # seconds that one sample of a short kernel should last; events resolve 0.5 µs
MOST_LAUNCHES = 1000   # in one graph


@dataclass(frozen=True)
class Timing:
    """How long one launch took, over several samples.

    Attributes
    ----------
    median_s, low_s, high_s
        Seconds: the middle sample, and the quartiles (half of the samples lie between low and high).
    repeats
        Samples.
    warmup
        Launches before the first sample, not counted.
    launches
        Launches in each sample; a sample is divided by it.
    graph
        Whether the launches of a sample were replayed from one CUDA graph.
    cold
        Whether the L2 was overwritten before each sample.
    """

    median_s: float
    low_s: float
    high_s: float
    repeats: int
    warmup: int
    launches: int = 1
    graph: bool = False
    cold: bool = False

    @classmethod
    def of(cls, samples: Sequence[float], **facts: Any) -> "Timing":
        """Summarise samples given in seconds.

        >>> Timing.of([3.0, 1.0, 2.0], warmup=1).median_s
        2.0
        """
        low, median, high = np.percentile(samples, [25, 50, 75])
        return cls(float(median), float(low), float(high), repeats=len(samples), **facts)

    def __str__(self):
        """Return the median and the quartiles in a unit that fits.

        >>> print(Timing.of([2e-3, 1e-3, 3e-3], warmup=1))
        2.000 ms (1.500 ms … 2.500 ms)
        """
        return f"{seconds(self.median_s)} ({seconds(self.low_s)} … {seconds(self.high_s)})"


def seconds(value: float) -> str:
    """Return a time with a unit that fits.

    >>> seconds(1.5e-6), seconds(0.25), seconds(3)
    ('1.500 us', '250.000 ms', '3.000 s')
    """
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if value * factor < 1000:
            return f"{value * factor:.3f} {unit}"
    return f"{value:.3f} s"


def time_kernel(compiled: "Compiled | bytes", entry: str, grid: Size, block: Size, args: Sequence[Any], *, dynamic_shared: int = 0,
                constants: Mapping[str, np.ndarray] | None = None, repeats: int = 25, warmup: int = 3, budget_s: float = 1.0,
                cold: bool = False) -> Timing:
    """Measure a kernel with CUDA events, after warming up.

    The data stay on the device and in its caches, as they do in a training loop; NumPy arrays are copied there
    once and the caller's are not changed. CuPy arrays are used in place.

    Parameters
    ----------
    compiled, entry, grid, block, args, dynamic_shared, constants
        As for `launch`.
    repeats
        Samples at most; 5 are taken, then more as long as `budget_s` seconds allow.
    warmup
        Launches before the first sample, fewer when they alone take `budget_s` seconds.
    cold
        Overwrite twice the L2's size before each sample, which then is a single launch: its data come from DRAM, and a
        kernel of a few microseconds is measured with the events' own 2 µs.

    Returns
    -------
    Per launch.
    """
    try:
        on_device = arguments(args, {id(a): place(a) for a in host_arrays(args)})
        function = prepare_function(compiled, entry, dynamic_shared, constants)
        return time_call(lambda stream: function(triple(grid), triple(block), on_device, shared_mem=dynamic_shared),
                         repeats=repeats, warmup=warmup, budget_s=budget_s, cold=cold)
    except CUDA_ERRORS as error:
        raise explain(error, entry, grid, block) from None


def time_call(call: Callable[[Any], object], *, repeats: int = 25, warmup: int = 3, budget_s: float = 1.0, cold: bool = False) -> Timing:
    """Measure what a callable puts on a stream; it gets the stream, which is the current one meanwhile.

    Parameters and result are as for `time_kernel`. When the work is short it is called again while the stream is captured.
    """
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.get_current_stream().synchronize()      # the caller's arrays were filled on another stream
    with stream:
        return _measure(stream, lambda: call(stream), repeats, warmup, budget_s, _flusher() if cold else None)


def call_once(call: Callable[[Any], object]) -> None:
    """Do once what `time_call` measures, and wait for it."""
    import cupy

    cupy.cuda.get_current_stream().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        call(stream)
    stream.synchronize()


def _flusher():
    """Return a callable that overwrites more memory than the L2 holds."""
    import cupy

    l2 = cupy.cuda.Device().attributes["L2CacheSize"]
    buffer = cupy.zeros(max(2 * l2, 2**25) // 4, cupy.float32)

    def flush():
        buffer.__iadd__(1)      # reads and writes every line
    return flush


def _measure(stream, once, repeats, warmup, budget_s, flush=None):
    warm: list[float] = []
    while len(warm) < max(1, warmup) and sum(warm) < budget_s:
        warm.append(_elapsed(stream, once, flush))
    first = min(warm)
    launches, graph = 1, None
    if first < SHORT and flush is None:
        launches = min(MOST_LAUNCHES, math.ceil(SAMPLE / first))
        graph = _record(stream, once, launches)
    sample = graph.launch if graph else once
    if graph:
        _elapsed(stream, sample)         # a graph's first launch uploads it
    count = min(repeats, max(5, int(budget_s / (first * launches))))
    samples = [_elapsed(stream, sample, flush) / launches for _ in range(count)]
    return Timing.of(samples, warmup=len(warm), launches=launches, graph=graph is not None, cold=flush is not None)


def _record(stream, once, launches):
    """Return a CUDA graph of several launches, so that the gaps between them are the hardware's alone."""
    stream.begin_capture()
    for _ in range(launches):
        once()
    return stream.end_capture()


def _elapsed(stream, work, flush=None):
    import cupy

    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    if flush:
        flush()
    start.record(stream)
    work()
    stop.record(stream)
    stop.synchronize()
    return max(cupy.cuda.get_elapsed_time(start, stop), 5e-4) / 1e3     # milliseconds; an event resolves 0.5 µs
