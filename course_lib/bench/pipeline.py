"""What a step of `dgemm_stages` waits for: copies alone, products alone, and both, timed by the GPU's own cycle counter.

The kernel is changed in one thing at a time (`variant`), and launched so that each multiprocessor has one block, on one multiprocessor or
on all, with matrices in the L2 or in DRAM. Lesson 17 holds Little's law to what was recorded.
"""

import datetime
import itertools
import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.bench.on_gpu import ProductInputs, inputs
from course_lib.data.readings import Readings
from course_lib.gpu.launch import prepare_function
from course_lib.kernels import get
from course_lib.kernels.parameters import MAX_DYNAMIC_SHARED
from course_lib.run.types import Array

KERNEL = "dgemm_stages"
SMALL = {"BM": 64, "BN": 64, "BK": 16, "WM": 32, "WN": 32}
LARGE = {"BM": 128, "BN": 128, "BK": 16, "WM": 64, "WN": 32}
TILES = {"64 × 64": SMALL, "64 × 64, 8 warps": SMALL | {"WN": 16}, "64 × 64, 16 warps": SMALL | {"WM": 16, "WN": 16}, "128 × 128": LARGE}
READER, READERS_TILE = "32 × 32, the reader's", {"BM": 32, "BN": 32, "BK": 16, "WM": 16, "WN": 16}      # the kernel of lesson 17's cell
READERS_STAGE = 9728           # bytes of its static shared memory for each stage
STAGES = range(1, 7)
K, SKIP = 1024, 8              # steps at the beginning and at the end that are not timed: there the pipeline fills and empties
GRID = (12, 11)                # blocks along M and N that fill an H200's 132 multiprocessors
ALONE = 120 * 1024             # bytes of shared memory with which a block has a multiprocessor to itself
FLUSH = 200 * 2**20            # bytes that are read between launches, so that the L2 holds nothing of the matrices
TURNS = 9

LOOP = "    for (int step = 0; step * BK < K; ++step) {\n"
READERS_BEGIN = "    fetch(0);\n    fetch(1);\n    for (int step = 0; step < steps; ++step) {\n"
READERS_FETCH = {"real": "        fetch(step + STAGES - 1);\n", "zeros": "        fetch(steps + step);\n"}
FETCH, PRODUCT = "        fetch(step + STAGES - 1);\n", "for (int k = 0; k < BK; k += 8) {"
PRODUCTS = {"whole": PRODUCT, "none": PRODUCT.replace("k = 0", "k = BK")}
COPIES = {"real": FETCH, "zeros": "        fetch(K / BK + step);\n",
          "none": '        asm volatile("cp.async.commit_group;" ::: "memory");\n'}
READ = f"""        if (step == {SKIP}) cycles = clock64(), ns = nanoseconds();
        if ((step + {SKIP}) * BK == K) cycles = clock64() - cycles, ns = nanoseconds() - ns;
"""
CLOCKS = """    const auto nanoseconds = [] { long long ns; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)); return ns; };
    long long cycles = 0, ns = 0;
"""
CLOCK = CLOCKS + LOOP + READ
TELL = "    if (threadIdx.x == 0) for (int n = 0; n < 2; ++n) C[(size_t)block_row * ldc + block_col + n] = n ? ns : cycles;\n}\n"


@dataclass(frozen=True)
class Probe:
    """One launch: a tile of `TILES`, stages, what is left of the kernel, and where it runs.

    Attributes
    ----------
    product
        "whole" or "none".
    copies
        "real"; "zeros": they are ordered as before, but ask no memory; or "none" in the loop.
    everywhere
        Whether all multiprocessors run it, or one.
    dram
        Whether A and B come from DRAM, or lie in the L2.
    """

    tile: str
    stages: int
    product: str = "whole"
    copies: str = "real"
    everywhere: bool = True
    dram: bool = False

    @property
    def parameters(self) -> dict[str, int]:
        """Return the kernel's parameters."""
        return (READERS_TILE if self.tile == READER else TILES[self.tile]) | {"STAGES": self.stages}

    @property
    def dynamic(self) -> int:
        """Return the bytes of shared memory that a block asks for at launch."""
        if self.tile == READER:
            return ALONE - READERS_STAGE * self.stages
        return max(get(KERNEL).dynamic_bytes(**self.parameters), ALONE)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return M and N."""
        across, down = GRID if self.everywhere else (1, 1)
        return self.parameters["BM"] * across, self.parameters["BN"] * down


def variant(product: str = "whole", copies: str = "real") -> str:
    """Return the kernel's text with a clock in it, and with so much of its product and its copies as `Probe` says.

    The first two elements of a block's tile of C are the cycles and the nanoseconds of the steps that are timed.

    Raises
    ------
    ValueError
        When the text is not the one that this was written for.
    """
    changes = {LOOP: CLOCK, FETCH: COPIES[copies], PRODUCT: PRODUCTS[product]}
    return _changed(get(KERNEL).source, changes) + TELL


def readers_variant(text: str, stages: int, product: str = "whole", copies: str = "real") -> str:
    """Return the same of the kernel that lesson 17's reader writes, given the text of its cell, with a number of stages."""
    ahead = "    for (int step = 0; step < STAGES - 1; ++step) fetch(step);\n"
    read = READ.replace(f"(step + {SKIP}) * BK == K", f"step + {SKIP} == steps")
    changes = {"#define STAGES 3": f"#define STAGES {stages}", "        fetch(step + 2);\n": READERS_FETCH[copies],
               READERS_BEGIN: ahead + CLOCKS + READERS_BEGIN.splitlines(keepends=True)[-1] + read, PRODUCT: PRODUCTS[product]}
    return _changed(text, changes) + TELL.replace("(size_t)block_row", "row0").replace("block_col", "col0")


def _changed(text: str, changes: dict[str, str]) -> str:
    """Return a kernel's text with other lines, and without its last brace."""
    for old, new in changes.items():
        if text.count(old) != 1:
            raise ValueError(f"the kernel has no line {old.strip()!r}")
        text = text.replace(old, new)
    return text.rstrip().removesuffix("}")


def readers_probes() -> Iterator[Probe]:
    """Yield the launches of the kernel of lesson 17's reader."""
    for stages in range(2, 6):
        yield from (Probe(READER, stages, product, dram=dram) for product in ("none", "whole") for dram in (False, True))
        yield Probe(READER, stages, copies="zeros")


def probes() -> Iterator[Probe]:
    """Yield all launches that fit.

    >>> len(list(probes()))
    240
    """
    for tile, stages in itertools.product(TILES, STAGES):
        for product, everywhere, dram in itertools.product(("whole", "none"), (True, False), (False, True)):
            yield Probe(tile, stages, product, "real", everywhere, dram)
        yield from (Probe(tile, stages, "whole", copies) for copies in ("zeros", "none"))


def compiled(one: Probe, arch: str, reader: str = "") -> toolchain.Compiled:
    """Return a launch's kernel for an architecture; `reader`: the text of lesson 17's cell."""
    kernel = get(KERNEL)
    if one.tile == READER:
        return toolchain.compile_cuda(readers_variant(reader, one.stages, one.product, one.copies), name="pipelined.cu", arch=arch)
    text, defines = variant(one.product, one.copies), kernel.defines(**one.parameters)
    return toolchain.compile_cuda(text, name=kernel.file_name, arch=arch, defines=defines)


class Bench:
    """One launch, ready on the GPU."""

    def __init__(self, one: Probe, there: ProductInputs, reader: str = "") -> None:
        kernel, (M, N) = get(KERNEL), one.sizes
        self.one, self.there, self.C = one, there, gpu.to_device(np.full((M, N), np.nan))
        # One function serves launches that ask for more shared memory and for less.
        entry, most = ("pipelined", one.dynamic) if one.tile == READER else (kernel.entry, MAX_DYNAMIC_SHARED)
        self.function = prepare_function(compiled(one, gpu.probe().arch, reader), entry, most)
        self.arguments = (*map(np.int32, (M, N, K)), np.float64(1), there.A, np.int32(K), there.B, np.int32(N), np.float64(0), self.C,
                          np.int32(N))
        self.grid, self.block = kernel.grid(M, N, **one.parameters), kernel.block(**one.parameters)

    def launch(self) -> None:
        """Launch it once, on the current stream."""
        self.function(self.grid, self.block, self.arguments, shared_mem=self.one.dynamic)

    def told(self) -> tuple[float, float]:
        """Return the cycles per step of a multiprocessor, as the median block had them, and the clock in MHz; waits for the launch."""
        tile, steps = self.one.parameters, K // self.one.parameters["BK"] - 2 * SKIP
        cycles, ns = (gpu.to_host(self.C[::tile["BM"], first::tile["BN"]]).ravel() for first in (0, 1))
        return float(np.median(cycles)) / steps, float(np.median(1e3 * cycles / ns))

    def wrong(self) -> str:
        """Return what is wrong with the answer of the last launch, or nothing; C's elements that hold times are not looked at."""
        if (self.one.product, self.one.copies) != ("whole", "real"):
            return ""
        exact, tile = self.there.exact()[0], self.one.parameters
        for first in (0, 1):
            self.C[::tile["BM"], first::tile["BN"]] = exact[::tile["BM"], first::tile["BN"]]
        return self.there.check(self.C) or ""


def measure(every: list[Bench], emptied: Array) -> Iterator[dict[str, Any]]:
    """Launch all in turn, several times, and yield a row for each.

    A row has the fields of its `Probe`, "kernel", "parameters", cycles per step of a multiprocessor "median",
    "low" and "high" (quartiles of the turns), "mhz" and "wrong". `emptied`: what is read so that the L2 holds nothing else.
    """
    turns: dict[Bench, list[tuple[float, float]]] = {bench: [] for bench in every}
    for _, bench in itertools.product(range(TURNS), every):
        if bench.one.dram:
            emptied.sum()
        else:
            bench.launch()
        bench.launch()
        turns[bench].append(bench.told())
    for bench, found in turns.items():
        low, median, high = statistics.quantiles([cycles for cycles, _ in found], n=4)
        yield {"kernel": "pipelined" if bench.one.tile == READER else KERNEL, **asdict(bench.one), "parameters": bench.one.parameters,
               "median": round(median, 1), "low": round(low, 1),
               "high": round(high, 1), "mhz": round(statistics.median(mhz for _, mhz in found)), "wrong": bench.wrong()}


def record(say: Callable[[str], object] = print, reader: str = "") -> Readings:
    """Measure all that `probes` yields on this machine's GPU, in some seconds and the time of the compiler.

    `reader`: the text of lesson 17's cell, which is measured, too, if it is given.
    """
    wanted = [*probes(), *(readers_probes() if reader else ())]
    every = [Bench(one, inputs(*one.sizes, K, "float64"), reader) for one in sorted(wanted, key=lambda one: one.sizes)]
    rows = []
    for row in measure(every, gpu.to_device(np.zeros(FLUSH // 8))):
        rows.append(row)
        where = f"{'all' if row['everywhere'] else 'one'} {'DRAM' if row['dram'] else 'L2'}"
        say(f"{row['tile']:18} product {row['product']:5} copies {row['copies']:5} stages {row['stages']} {where:8} "
            f"{row['median']:7.1f} ({row['low']:.1f} to {row['high']:.1f}) {row['mhz']} MHz {row['wrong']}")
    status, nvrtc = gpu.probe(), ".".join(map(str, toolchain.nvrtc_version()))
    return Readings(str(status.name), str(status.driver), datetime.date.today().isoformat(),
                    f"python -m course_lib.bench pipeline; NVRTC {nvrtc}", tuple(rows),
                    {KERNEL: fingerprint_of(get(KERNEL))} | ({"pipelined": fingerprint(reader)} if reader else {}))
