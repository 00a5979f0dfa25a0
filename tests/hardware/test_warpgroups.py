"""Kernels with `wgmma` and `setmaxnreg`: the simulator beside what an H200 computed, and beside a GPU of compute capability 9.0.

What NVIDIA's manual leaves open stands here as a kernel: how sums are rounded, where a descriptor with a base offset leads, whether a
warpgroup waits for registers. `tests/simt/test_wgmma.py` holds the same to plain NumPy.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu, simt, toolchain

KERNELS = Path(__file__).parent / "kernels" / "sm_90a"
RECORD = json.loads((Path(__file__).parents[1] / "data" / "h200_warpgroups.json").read_text())
FORMS = {name: (f"wgmma.mma_async.sync.aligned.m64n8k{k}.{out}.{a}.{b}", literals, 2 if out == "f16" else 4)
         for k, literals, out, a, b in (
             (16, ", 1, 1, 0, 0", "f32", "f16", "f16"), (16, ", 1, 1, 0, 0", "f16", "f16", "f16"),
             (16, ", -1, 1, 0, 0", "f32", "bf16", "bf16"),
             (8, ", 1, 1", "f32", "tf32", "tf32"), (32, ", 1, 1", "f32", "e4m3", "e4m3"), (32, ", 1, -1", "f32", "e5m2", "e4m3"),
             (32, ", 1, 1", "f16", "e5m2", "e5m2"), (32, "", "s32", "s8", "u8"))
         for name in (f"{out}.{a}.{b}",)}
CASES = 64


def on_gpu(name, grid, args, **how):
    """Launch a kernel on the GPU with copies of its arguments, and return them; skip where there is none."""
    if os.environ.get("COURSE_BACKEND") == "sim":
        pytest.skip("COURSE_BACKEND=sim asks for the simulator")
    status = gpu.probe()
    if not status.usable or status.cc != (9, 0):
        pytest.skip(f"no GPU of compute capability 9.0 to test on: {status.reason}")
    block, dynamic_shared, given = how.pop("block", 128), how.pop("dynamic_shared", 0), [a.copy() for a in args]
    compiled = toolchain.compile_cuda((KERNELS / f"{name}.cu").read_text(), name=f"{name}.cu", arch="sm_90a", **how)
    gpu.launch(compiled, name, grid, block, given, dynamic_shared=dynamic_shared)
    return given


def simulated(name, grid, args, **how):
    given = [a.copy() for a in args]
    simt.launch(KERNELS / f"{name}.cu", name, grid, how.pop("block", 128), given, arch="sm_90a", **how)
    return given


def form(name):
    instruction, literals, registers = FORMS[name]
    return {"defines": {"FORM": f'"{instruction}"', "LITERALS": f'"{literals}"', "REGISTERS": registers}}


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def sums(name):
    """Return the arguments of wgmma_sums: random bits of all kinds, among them infinities, NaN and subnormal numbers, and plain ones."""
    rng = np.random.default_rng(len(name))
    A, B = (rng.integers(0, 256, (CASES, rows, 16), np.uint8) for rows in (128, 16))
    out, a, _ = name.split(".")
    if a in ("f16", "bf16", "tf32"):    # half of the cases: numbers of a size
        to = {"f16": np.float16, "bf16": np.float32, "tf32": np.float32}[a]
        for X in (A, B):
            values = rng.standard_normal((CASES // 2, X.shape[1], 16 // np.dtype(to).itemsize)).astype(to)
            X[:CASES // 2] = values.view(np.uint8).reshape(X[:CASES // 2].shape)
    C = rng.standard_normal((CASES, 128, 4)).astype(np.float32) * np.float32(2) ** rng.integers(-12, 12, (CASES, 128, 4)).astype(np.float32)
    C = C.astype(np.float16).view(np.uint32) if out == "f16" else C.view(np.uint32)
    return [A, B, C, np.zeros_like(C), np.int32(1)]


@pytest.mark.sampled(test=3, slow=8)
@pytest.mark.parametrize("name", FORMS)
def test_sums_are_those_of_an_h200(name):
    args = sums(name)
    for accumulate in (0, 1):
        args[4] = np.int32(accumulate)
        assert digest(simulated("wgmma_sums", CASES, args, **form(name))[3]) == RECORD["digests"][f"sums.{name}.{accumulate}"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_sums_are_the_hardwares(name):
    theirs = on_gpu("wgmma_sums", CASES, sums(name), **form(name))[3]
    assert (theirs == simulated("wgmma_sums", CASES, sums(name), **form(name))[3]).all()


def descriptors():
    """Return (descriptors, whether A is transposed): each swizzle and both directions, offsets of several sizes, base offsets."""
    found = []
    for mode, width in ((0, 16), (1, 128), (2, 64), (3, 32)):
        for across in (0, 1):
            for start in (0, 32, 128, 1024 + 384):
                for base in range(0, 8, 3):
                    leading, stride = (2048, 256) if mode == 0 else (4096, 8 * width)
                    found.append((start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | mode << 62, across))
    return np.array([d for d, _ in found], np.uint64), np.array([across for _, across in found], np.int32)


def layouts():
    where, across = descriptors()
    image = (np.arange(15360) + 0x400).astype(np.uint16)      # normal numbers in half precision, each another one
    return len(where), [where, across, image, np.zeros((len(where), 2, 128, 4), np.float32)]


def test_descriptors_lead_where_an_h200_looked():
    assert digest(simulated("wgmma_layouts", *layouts(), dynamic_shared=32768)[3]) == RECORD["digests"]["layouts"]


def test_descriptors_lead_where_the_hardware_looks():
    theirs = on_gpu("wgmma_layouts", *layouts(), dynamic_shared=32768)[3]
    assert (theirs == simulated("wgmma_layouts", *layouts(), dynamic_shared=32768)[3]).all()


def order(run, clocks):
    """Return as which of the three each warpgroup came past its instruction."""
    return run("setmaxnreg_order", 1, [np.full(3, -1, np.int32), np.full(1, clocks, np.int32)], block=384)[0].tolist()


def test_registers_are_waited_for():
    assert order(simulated, 1000)[2] == RECORD["setmaxnreg_order"][2] == 0


def test_registers_are_waited_for_on_a_gpu():
    assert order(on_gpu, 1_000_000)[2] == 0
