"""Record what the end of a tile costs, and two cures.

sbgemm_tma has a producer, and each lane stores 8 bytes at a time; sbgemm_wide_stores has none, and each lane stores 16. Two variants differ
from both in one of these: sbgemm_tma with wide stores, and without its producer (sbgemm_no_producer.cu). All take turns with cuBLAS;
matrices of bfloat16, float32 sums, the same tiles, stages and blocks.

Writes stores.json into the output folder: for each kernel and size what `record short` writes, and cycles from the clock of a
multiprocessor, of a copy that reads it: for a step along K, and for storing a tile, on average over tiles and blocks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.kernels import Kernel, get
from tools import ToolError
from tools.options import out_option
from tools.record.roles import NO_PRODUCER, changed, without_producer
from tools.record.short import Contestant, Matrices, measured, prepared
from tools.recordings import usable_gpu, write_recording

SIZES, PARAMETERS = (4096, 8192), {"BN": 256, "STAGES": 4, "GROUP": 16, "blocks": 128}            # blocks have four tiles, or sixteen
PAIRS_BEGIN, FOURS_BEGIN, INCLUDE = "// Thread t has two neighbours", "// A lane has two neighbours", '#include "tma.cuh"'
SUMS = "float c[BN / 2] = {};"
WARMUP = 20                     # launches before the cycles are read


def end_of_tile(kernel: Kernel) -> str:
    """Return the lines of a kernel that store a tile, without those that close its loops."""
    text = kernel.path.read_text(encoding="utf-8")
    begin = next(mark for mark in (PAIRS_BEGIN, FOURS_BEGIN) if mark in text)
    lines = text[text.index(begin):].rstrip().splitlines()
    while lines[-1].strip() == "}" and len(lines[-1]) - 1 < text[:text.index(begin)].rsplit("\n", 1)[1].count(" "):
        lines.pop()
    return "\n".join(lines)


def variants() -> Iterator[tuple[str, bool, bool, Kernel]]:
    """Yield a name, whether there is a producer, whether lanes store 16 bytes, and the kernel."""
    tma, wide = get("sbgemm_tma"), get("sbgemm_wide_stores")
    yield "sbgemm_tma", True, False, tma
    both = changed(tma, "sbgemm_tma with wide stores", (end_of_tile(tma), end_of_tile(wide)), (INCLUDE, f'#include "fours.cuh"\n{INCLUDE}'),
                   (SUMS, f"{SUMS}\n            const bool aligned = ldc % 4 == 0;"))
    yield both.name, True, True, both
    yield NO_PRODUCER.stem, False, False, without_producer()
    yield "sbgemm_wide_stores", False, True, wide


def timing_itself(name: str, kernel: Kernel) -> Kernel:
    """Return a copy that counts cycles: C's first elements get each warpgroup's, of products and of stores, and how many tiles it had."""
    end = end_of_tile(kernel)
    first = end.splitlines()[0]
    loop = "for (int n = blockIdx.x; n < rows * cols; n += gridDim.x) {\n"
    text = kernel.path.read_text(encoding="utf-8")
    # The consumers' loop over tiles is the last one.
    head, _, body = text.rpartition(loop)
    timed = (f"{head}long long products = 0, stores = 0; int tiles_done = 0;\n"
             f"{loop}const long long begun = clock64(); ++tiles_done;\n{body}")
    timed = timed.replace(first, "const long long multiplied = clock64(); products += multiplied - begun;\n" + first)
    closed = timed.index(end.splitlines()[-1], timed.index(first)) + len(end.splitlines()[-1])
    rest = timed[closed:]
    after = rest.index("}\n") + 2
    put = ("if (t == 0) { float* to = C + blockIdx.x * 16 + group * 8; to[0] = products; to[1] = stores; to[2] = tiles_done; }\n")
    timed = timed[:closed] + "\nstores += clock64() - multiplied;\n" + rest[:after] + put + rest[after:]
    return changed(kernel, f"{name} with a clock", (text, timed))


def cycles(kernel: Kernel, n: int, arch: str, sms: int) -> dict[str, float]:
    """Return the cycles of a step and of storing a tile."""
    there = Matrices(n)
    launch, values = prepared(Contestant("bf16", kernel.name, PARAMETERS, text=kernel), there, arch, sms)
    for _ in range(WARMUP):
        launch()
    found = there.C.ravel()[:values["blocks"] * 16].get().reshape(-1, 8)[:, :3]
    products, stores, tiles = found.sum(axis=0).tolist()
    if not 0 < tiles <= 2 * n * n / (128 * values["BN"]):
        raise ToolError(f"{kernel.name} says that it computed {tiles} tiles")
    return {"cycles_of_a_step": round(products / tiles / (n / 64), 1), "cycles_of_stores": round(stores / tiles)}


@click.command()
@out_option("stores")
def command(out: Path) -> None:
    """Record every kernel at every size."""
    from course_lib import gpu
    status, sms = usable_gpu(), gpu.live_device().sms
    rows: list[dict[str, Any]] = []
    for n in SIZES:
        known = list(variants())
        contestants = [Contestant("bf16", "cuBLAS"), *(Contestant("bf16", name, PARAMETERS, text=kernel) for name, *_, kernel in known)]
        library, *found = measured(contestants, status.arch, sms, n)
        rows.append(library)
        for (name, producer, wide, kernel), row in zip(known, found, strict=True):
            counted = cycles(timing_itself(name, kernel), n, status.arch, sms)
            of = name if wide and not producer else "sbgemm_tma"           # the other three are its text, or variants of it
            rows.append(row | {"kernel": of, "producer": producer, "wide": wide,
                               "code": fingerprint(kernel.path.read_text(encoding="utf-8"))} | counted)
            print(n, name, f"{row['tflops']} of cuBLAS's {library['tflops']} TFLOP/s, {row['wrong']} wrong", counted)
    sources = {name: fingerprint_of(get(name)) for name in ("sbgemm_tma", "sbgemm_wide_stores")}
    write_recording(out, "stores", rows, sources, "record stores", status.name, status.driver)
