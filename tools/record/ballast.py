"""Record what needless instructions cost on a GPU.

A tiled product gets instructions, or wavefronts of shared memory, that it does not need.

Takes half a minute. ballast.json then holds, for cuBLAS and for every variant of `course_lib/lessons/unrolling/ballast.py`, the time of
a product, each launched once per round, and for the variants their machine instructions per multiply-add. If the time of UNROLL = 16
hardly rises with the first additions, and that of UNROLL = 1 does, then instructions are what only the latter waits for.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import gpu
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.bench.race import Arrays, Heat
from course_lib.gpu.launch import prepare_function
from course_lib.gpu.library import library_version
from course_lib.kernels import get
from course_lib.lessons.unrolling import ballast
from course_lib.lessons.unrolling.counts import KERNEL, TILE
from course_lib.toolchain import nvrtc_version
from tools.options import out_option
from tools.recordings import usable_gpu, write_recording

N = 4096
LIBRARY = {"UNROLL": 0, "EXTRA": 0, "WAYS": 0}           # cuBLAS


def launches(arrays: Arrays) -> list[tuple[dict[str, Any], Callable[[Any], object]]]:
    """Return what is known of each variant, cuBLAS first, and its call on a stream."""
    n, one, zero = np.int32(N), np.float32(1), np.float32(0)
    given = (n, n, n, one, arrays.A, n, arrays.B, n, zero, arrays.C, n)
    found: list[tuple[dict[str, Any], Callable[[Any], object]]] = [(LIBRARY, arrays.library())]
    for values in ballast.plan():
        code = ballast.compiled(values, gpu.probe().arch)
        function = prepare_function(code, KERNEL, 0)
        found.append((values | {"instructions": ballast.per_multiply_add(code)},
                      lambda stream, function=function: function((N // TILE, N // TILE), (TILE, TILE), given)))
    return found


def in_turns(calls: list[Callable[[Any], object]]) -> list[list[float]]:
    """Return the seconds of each call in every round: the second of two launches, because the first finds another's data in the caches."""
    import cupy

    stream, found = cupy.cuda.Stream(non_blocking=True), [[] for _ in calls]
    with stream:
        for _ in range(ballast.ROUNDS):
            for call, seconds in zip(calls, found, strict=True):
                start, stop = cupy.cuda.Event(), cupy.cuda.Event()
                call(stream)
                start.record(stream)
                call(stream)
                stop.record(stream)
                stop.synchronize()
                seconds.append(cupy.cuda.get_elapsed_time(start, stop) / 1e3)
    return found


@click.command()
@out_option("ballast")
def command(out: Path) -> None:
    """Measure all variants and write the file."""
    record(out)


def record(out: Path) -> None:
    """Measure all variants and write the file."""
    status, arrays = usable_gpu(), Arrays(Heat("float32", N, N, N))
    every = launches(arrays)
    wrong = [arrays.wrong(call) for _, call in every]
    rows = []
    for (facts, _), elements, seconds in zip(every, wrong, in_turns([call for _, call in every]), strict=True):
        low, median, high = (float(f"{s:.5g}") for s in np.percentile(seconds, [25, 50, 75]))
        rows.append(facts | {"N": N, "median_s": median, "low_s": low, "high_s": high, "right": not elements})
        print(facts, f"{1e3 * median:.3f} ms", flush=True)
    made_by = f"record ballast; NVRTC {'.'.join(map(str, nvrtc_version()))}; cuBLAS {library_version()}"
    write_recording(out, "ballast", rows, {KERNEL: fingerprint_of(get(KERNEL))}, made_by, status.name, status.driver)
