"""Record lesson 16's kernel with padded rows of A and B.

Every lane of `warp_mma` fetches its elements from global memory itself. All cases take turns; matrices of 4096 × 4096 floats. A row of
fragments.json has the two numbers of unused floats, and the median and the quartiles of the rounds.
"""

import statistics
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import toolchain
from course_lib.run.accuracy import tolerance
from tools.options import out_option
from tools.record.short import ROUNDS, kernel_of
from tools.record.together import clock_mhz, timed
from tools.recordings import usable_gpu, write_recording

N, PADS = 4096, ((0, 0), (4, 0), (8, 0), (16, 0), (32, 0), (0, 8), (0, 32), (4, 8))          # after the rows of A, and of B


@click.command()
@out_option("fragments")
def command(out: Path) -> None:
    """Measure everything and write the file."""
    import cupy

    from course_lib.gpu.launch import arguments, prepare_function
    status, kernel = usable_gpu(), kernel_of("warp_mma")
    values = kernel.check()
    compiled = toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=status.arch, defines=kernel.defines(**values))
    function, grid, block = prepare_function(compiled, kernel.entry, 0), kernel.grid(N, N, **values), kernel.block(**values)
    rng, C, n, one, zero = np.random.default_rng(N), cupy.empty((N, N), np.float32), np.int32(N), np.float32(1), np.float32(0)
    A, B = (cupy.asarray(rng.standard_normal((N, N), np.float32)) for _ in "AB")
    exact, size = A.astype(float) @ B.astype(float), abs(A).astype(float) @ abs(B).astype(float)

    def widened(x: Any, pad: int) -> Any:
        room = cupy.full((N, N + pad), np.nan, np.float32)
        room[:, :N] = x
        return room

    ready, rows = [], []
    for after_a, after_b in PADS:
        given = (n, n, n, one, widened(A, after_a), np.int32(N + after_a), widened(B, after_b), np.int32(N + after_b), zero, C, n)
        on_device = tuple(arguments(given, {}))

        def launch(on_device: tuple = on_device) -> None:
            function(grid, block, on_device)
        C[...] = np.nan
        launch()
        ready.append((launch, int((~(abs(C - exact) <= tolerance(N, inputs="tf32") * size)).sum())))
    times: list[list[float]] = [[] for _ in ready]
    for number in range(ROUNDS):
        for (launch, _), found in list(zip(ready, times, strict=True))[::-1 if number % 2 else 1]:
            found.append(timed(launch, 1))
    for (after_a, after_b), (launch, wrong), found in zip(PADS, ready, times, strict=True):
        low, median, high = statistics.quantiles(found, n=4)
        rows.append({"kernel": "warp_mma", "N": N, "after_A": after_a, "after_B": after_b, "median_s": median, "low_s": low, "high_s": high,
                     "tflops": round(2e-12 * N**3 / median, 1), "mhz": round(clock_mhz(launch, median)), "wrong": wrong})
        print(rows[-1])
    write_recording(out, "fragments", rows, {}, "record fragments", status.name, status.driver)
    sys.exit(any(row["wrong"] for row in rows))
