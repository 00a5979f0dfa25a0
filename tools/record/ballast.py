"""Record what needless instructions cost on a GPU.

A tiled product gets instructions, or wavefronts of shared memory, that it does not need.

Takes half a minute. ballast.json then holds, for every variant of `course_lib/lessons/unrolling/ballast.cu`, its machine instructions per
multiply-add and its time. If the time of UNROLL = 16 does not rise before many instructions are added, and that of UNROLL = 1 with the
first, then instructions are what only the latter waits for.
"""

from pathlib import Path
from typing import Any

import click
import numpy as np

from course_lib import gpu
from course_lib.bench.fingerprint import fingerprint
from course_lib.lessons.unrolling import ballast
from tools.options import out_option
from tools.recordings import usable_gpu, write_recording

SIZES = (1024, 4096)


def arguments(N: int) -> tuple[Any, ...]:
    """Return the kernel's arguments, the matrices on the GPU."""
    import cupy

    rng = np.random.default_rng(7)
    A, B = (cupy.asarray(rng.standard_normal((N, N), dtype=np.float32)) for _ in "AB")
    n, one, zero = np.int32(N), np.float32(1), np.float32(0)
    return n, n, n, one, A, n, B, n, zero, cupy.zeros((N, N), np.float32), n, one


def measured(values: dict[str, int], N: int) -> dict[str, Any]:
    """Return a row: the variant, its instructions per multiply-add, its time, and whether its product was right."""
    code, given = ballast.compiled(values, gpu.probe().arch), arguments(N)
    time = gpu.time_kernel(code, ballast.ENTRY, (N // 16, N // 16), (16, 16), given, budget_s=0.2)
    A, B, C = given[4], given[6], given[9]
    right = bool(abs(C[:, :8] - A.astype(np.float64) @ B[:, :8]).max() < 1e-5 * N)
    return values | {"N": N, "instructions": ballast.per_multiply_add(code), "nvrtc": ".".join(map(str, code.nvrtc_version)),
                     "median_s": time.median_s, "low_s": time.low_s, "high_s": time.high_s, "right": right}


@click.command()
@out_option("ballast")
def command(out: Path) -> None:
    """Measure all variants and write the file."""
    record(out)


def record(out: Path) -> None:
    """Measure all variants and write the file."""
    status = usable_gpu()
    rows = [measured(values, N) for N in SIZES for values in ballast.plan()]
    for row in rows:
        told = ("N", "UNROLL", "EXTRA", "WAYS", "instructions", "right")
        print(*(f"{name} {row[name]}" for name in told), f"{1e3 * row['median_s']:.3f} ms", flush=True)
    sources = {"ballast": fingerprint(ballast.FILE.read_text(encoding="utf-8"))}
    write_recording(out, "ballast", rows, sources, "record ballast", status.name, status.driver)
