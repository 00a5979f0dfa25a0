"""Hold tensor-core arithmetic to a GPU, bit for bit.

The simulator's arithmetic and fragments are compared with a real GPU's on random and on nasty registers.

Every probe is one instruction whose registers come from arrays: `mma.sync` of each shape and type, `wmma.load` of each layout.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from tools import from_tests
from tools.options import FOLDER

CASES = 96  # warps per probe
FLOATS = [("m16n8k16", "f16", "f32", 4, 2), ("m16n8k16", "f16", "f16", 4, 2), ("m16n8k8", "f16", "f32", 2, 1),
          ("m16n8k8", "f16", "f16", 2, 1), ("m16n8k16", "bf16", "f32", 4, 2), ("m16n8k8", "bf16", "f32", 2, 1),
          ("m16n8k8", "tf32", "f32", 4, 2), ("m16n8k4", "tf32", "f32", 2, 1)]  # A's and B's registers
DOUBLES = [("m8n8k4", 1, 1, 2), ("m16n8k4", 2, 1, 4), ("m16n8k8", 4, 2, 4), ("m16n8k16", 8, 4, 4)]
BYTES = [("m8n8k16", 1, 1, 2), ("m16n8k16", 2, 1, 4), ("m16n8k32", 4, 2, 4)]
Probe = tuple[str, str, dict[str, str], list[np.ndarray], int]
FRAGMENT = r"""
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
extern "C" __global__ void k(unsigned* y, const TYPE* x) {
    wmma::fragment<wmma::USE, SHAPE, FACTOR> f;
    wmma::load_matrix_sync(f, x, 64 LAYOUT);
    const unsigned* words = (const unsigned*)f.x;
    for (int i = 0; i < int(sizeof(f.x) / 4); ++i) y[threadIdx.x * 16 + i] = words[i];
}
"""


def registers(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    """Return random registers (CASES, 32, n): of plain numbers, of close ones, of all bits, and with infinities and NaN among them."""
    size = {"f16": 2, "bf16": 2, "s8": 1, "f64": 8}.get(kind, 4)
    count = max(4, size) // size * n
    bits = rng.integers(0, 256, (CASES, 32, count * size), dtype=np.uint8).view(f"u{size}")
    if kind not in ("s8", "s32"):
        plain = rng.standard_normal(bits.shape)
        wide = plain * 2.0 ** rng.integers(-12, 4, bits.shape)
        nasty = np.where(rng.random(bits.shape) < 0.004, rng.choice([np.inf, -np.inf, np.nan, 0.0], bits.shape), plain)
        for first, values in ((0, plain), (16, wide), (48, nasty)):
            bits[first:first + 16] = encode(values[first:first + 16], kind)
        bits[64:80] &= encode(np.full(1, -np.nextafter(1.0, 0)), kind)[0]  # exponents below 1
    return np.ascontiguousarray(bits).view(np.uint64 if size == 8 else np.uint32)


def encode(values: np.ndarray, kind: str) -> np.ndarray:
    """Return the bits of numbers in a type."""
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    dtype = {"f16": np.float16, "f64": np.float64}.get(kind, np.float32)
    return values.astype(dtype).view(f"u{np.dtype(dtype).itemsize}")


def probes() -> Iterator[Probe]:
    """Yield (name, source, defines, [D, further arguments], grid)."""
    mma_kernel = from_tests("simt", "tensor_kernels").mma_kernel
    rng = np.random.default_rng(1)
    forms = [(f"{s}.row.col.{o}.{t}.{t}.{o}", (t, o), (a, b, 4 if o == "f32" else 2), "frrf" if o == "f32" else "rrrr")
             for s, t, o, a, b in FLOATS]
    forms += [(f"{s}.row.col.f64.f64.f64.f64", ("f64", "f64"), (a, b, c), "dddd") for s, a, b, c in DOUBLES]
    forms += [(f"{s}.row.col{sat}.s32.{x}.{y}.s32", ("s8", "s32"), (a, b, c), "rrrr") for s, a, b, c in BYTES
              for x, y in (("s8", "s8"), ("u8", "s8"), ("s8", "u8"), ("u8", "u8")) for sat in ("", ".satfinite")]
    for form, (kind, out), (a, b, c), letters in forms:
        A, B, C = (registers(rng, t, n) for t, n in ((kind, a), (kind, b), (out, c)))
        yield f"mma.{form}", mma_kernel(f"mma.sync.aligned.{form}", (c, a, b, c), letters), {}, [np.zeros_like(C), A, B, C], CASES
    yield from fragments()


def fragments() -> Iterator[Probe]:
    """Yield the probes of `wmma.load`."""
    types = {"f16": ("__half", "__half"), "bf16": ("__nv_bfloat16", "__nv_bfloat16"), "s8": ("signed char", "signed char"),
             "tf32": ("float", "wmma::precision::tf32"), "f64": ("double", "double"), "f32": ("float", "float"), "s32": ("int", "int")}
    wide = ["16, 16, 16", "32, 8, 16", "8, 32, 16"]
    forms = [(s, t, use) for s in wide for t in ("f16", "bf16", "s8") for use in ("matrix_a", "matrix_b")]
    forms += [(s, t, "accumulator") for s in wide for t in ("f16", "f32", "s32")]
    forms += [("16, 16, 8", "tf32", "matrix_a"), ("16, 16, 8", "tf32", "matrix_b"), ("16, 16, 8", "f32", "accumulator")]
    forms += [("8, 8, 4", "f64", use) for use in ("matrix_a", "matrix_b", "accumulator")]
    rng = np.random.default_rng(2)
    for shape, kind, use in forms:
        for order in ("row", "col"):
            layout, last = (f", wmma::{order}_major", "") if use != "accumulator" else ("", f", wmma::mem_{order}_major")
            defines = {"TYPE": types[kind][0], "FACTOR": types[kind][1] + layout, "USE": use, "SHAPE": shape, "LAYOUT": last or " "}
            x = rng.integers(0, 2**31, 8192, dtype=np.uint32)
            yield f"wmma.load {use} {shape} {kind} {order}", FRAGMENT, defines, [np.zeros((32, 16), np.uint32), x], 1


def build(folder: Path) -> None:
    """Compile the probes and run them on the simulator."""
    from course_lib import simt, toolchain
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for i, (name, source, defines, args, grid) in enumerate(probes()):
        compiled = toolchain.compile_cuda(source, name="probe.cu", arch="sm_90", defines=defines)
        (folder / f"{i}.cubin").write_bytes(compiled.cubin)
        given = [a.copy() for a in args]
        report = simt.launch(source, "k", grid, 32, given, defines=defines, workers=1)
        np.savez(folder / f"{i}.npz", *args, simulated=given[0])
        names.append((name, grid, {k: v for k, v in report.counters.items() if v}))
    (folder / "probes.json").write_text(json.dumps(names))
    print(len(names), "probes")


def check(folder: Path) -> None:
    """Run the probes on the GPU and print where the bits differ."""
    import cupy
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    wrong = 0
    for i, (name, grid, _) in enumerate(json.loads((folder / "probes.json").read_text())):
        with np.load(folder / f"{i}.npz") as found:
            args, simulated = [found[f"arr_{j}"] for j in range(len(found.files) - 1)], found["simulated"]
        given = [cupy.asarray(a) for a in args]
        cupy.RawModule(path=str(folder / f"{i}.cubin")).get_function("k")((grid,), (32,), given)
        measured = given[0].get()
        at = np.argwhere(measured != simulated)
        wrong += len(at) > 0
        said = "equal" if not len(at) else f"{len(at)} of {measured.size} differ: " + "; ".join(
            f"{tuple(map(int, p))} {device} {int(measured[tuple(p)]):#x} simulator {int(simulated[tuple(p)]):#x}" for p in at[:6])
        print(f"{name}: {said}")
    print(f"{device}: {wrong} probes differ")


@click.group()
def command() -> None:
    """Group the steps."""


@command.command("build")
@click.argument("folder", type=FOLDER)
def _build(folder: Path) -> None:
    """Compile the probes and run them on the simulator (needs no GPU)."""
    build(folder)


@command.command("check")
@click.argument("folder", type=FOLDER)
def _check(folder: Path) -> None:
    """Run them on the GPU and say where the bits differ; CuPy, NumPy and click alone are needed."""
    check(folder)
