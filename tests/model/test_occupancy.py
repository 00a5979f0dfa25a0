"""Occupancy: NVIDIA's own header as the judge, and the figures of the course's sources."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from course_lib.arch import DEVICES, LIMITS, device
from course_lib.errors import CourseError
from course_lib.model import occupancy
from course_lib.toolchain.headers import include_directories

FACTORS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8}      # bits of cudaOccLimitingFactor
BARRIERS = 16       # one for each block of the most there can be, so that "blocks" says it already
PER_CAPABILITY = {d.cc: d for d in DEVICES.values() if d.cc[0] >= 3}         # the header knows no older one
JUDGE = r"""
#include <cstdio>
#include <climits>
#include "cuda_occupancy.h"
int main() {
    int major, minor, threads_block, warps, registers_sm, block, registers;
    long shared_sm, shared_block, optin, reserved, shared;
    while (std::scanf("%d %d %d %d %d %ld %ld %ld %ld %d %d %ld", &major, &minor, &threads_block, &warps, &registers_sm,
                      &shared_sm, &shared_block, &optin, &reserved, &block, &registers, &shared) == 12) {
        cudaOccDeviceProp p;
        p.computeMajor = major; p.computeMinor = minor; p.maxThreadsPerBlock = threads_block;
        p.maxThreadsPerMultiprocessor = 32 * warps; p.regsPerBlock = 65536; p.regsPerMultiprocessor = registers_sm;
        p.warpSize = 32; p.sharedMemPerBlock = shared_block; p.sharedMemPerMultiprocessor = shared_sm; p.numSms = 1;
        p.sharedMemPerBlockOptin = optin; p.reservedSharedMemPerBlock = reserved;
        cudaOccFuncAttributes a;
        a.maxThreadsPerBlock = INT_MAX; a.numRegs = registers; a.sharedSizeBytes = 0; a.numBlockBarriers = 1;
        a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; a.maxDynamicSharedSizeBytes = shared;
        cudaOccDeviceState s;
        s.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
        cudaOccResult r;
        int status = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, block, shared);
        std::printf("%d %d %u\n", status, r.activeBlocksPerMultiprocessor, r.limitingFactors);
    }
}
"""


def judge(folder, questions):
    """Compile NVIDIA's header with the host's compiler and ask it; skip when either is missing."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    headers = [path for path in include_directories(13) if Path(path, "cuda_occupancy.h").exists()]
    if not compiler:
        pytest.skip("there is no C++ compiler for NVIDIA's cuda_occupancy.h: install one (`sudo apt install g++`)")
    if not headers:
        pytest.skip("cuda_occupancy.h is missing: install the wheel nvidia-cuda-runtime (`make dev`)")
    source, program = folder / "judge.cpp", folder / "judge"
    source.write_text(JUDGE)
    subprocess.run([compiler, "-O1", "-w", f"-I{headers[0]}", source, "-o", program], check=True, timeout=120)
    text = "\n".join(" ".join(map(str, question)) for question in questions)
    answer = subprocess.run([program], input=text, capture_output=True, text=True, check=True, timeout=120).stdout
    return [tuple(map(int, line.split())) for line in answer.splitlines()]


def configurations(number, seed):
    """Yield (device, threads, registers, shared bytes), many of them at the edges."""
    random = np.random.default_rng(seed)
    devices = list(PER_CAPABILITY.values())
    for _ in range(number):
        chosen = devices[random.integers(len(devices))]
        limits = chosen.limits
        threads = int(random.integers(1, 1025) if random.random() < 0.5 else 32 * random.integers(1, 33))
        registers = int(random.integers(0, limits.registers_per_thread + 1))
        top = limits.shared_per_block
        shared = int(random.choice([0, random.integers(0, 4096), random.integers(0, top + 1), top,
                                    random.integers(0, top // 1024 + 1) * 1024]))
        yield chosen, threads, registers, shared


@pytest.mark.slow
def test_as_nvidias_header_for_20_000_configurations(tmp_path):
    cases = list(configurations(20_000, seed=20261121))
    questions = [(*d.cc, d.limits.threads_per_block, d.limits.warps, d.limits.registers, d.limits.shared,
                  d.limits.static_shared, d.limits.shared_per_block, d.limits.shared_reserved, *rest)
                 for d, *rest in cases]
    answers = judge(tmp_path, questions)
    assert len(answers) == len(cases)
    for case, (status, blocks, factors) in zip(cases, answers, strict=True):
        mine = occupancy(*case)
        assert (status, mine.blocks) == (0, blocks), (case, mine)
        if blocks:
            assert sum(FACTORS[name] for name in mine.limiters) == factors & ~BARRIERS, (case, mine)
    assert len({case[0].cc for case, answer in zip(cases, answers, strict=True) if answer[1]}) == len(PER_CAPABILITY)


def test_the_most_blocks_are_those_of_the_programming_guide():
    expected = {(3, 0): 16, (3, 5): 16, (3, 7): 16, (5, 2): 32, (6, 1): 32, (7, 0): 32, (7, 5): 16, (8, 0): 32, (8, 6): 16, (8, 9): 24,
                (9, 0): 32, (12, 0): 24}
    assert {cc: occupancy(d, 32, 0, 0).blocks for cc, d in PER_CAPABILITY.items()} == expected


# Chien, Table 12, and his text: threads a block, registers, shared bytes -> active threads an SM on GT200.
GT200 = [(64, 30, 1168, 512), (64, 48, 1168, 320), (128, 63, 1680, 256), (64, 64, 1680, 256), (64, 80, 1176, 192),
         (64, 32, 1168, 512), (64, 47, 1168, 320), (64, 49, 1168, 256), (64, 39, 1168, 384)]


@pytest.mark.parametrize(("threads", "registers", "shared", "active"), GT200)
@pytest.mark.parametrize("name", ["Tesla C1060", "GTX 285"])
def test_chiens_active_threads_on_gt200(name, threads, registers, shared, active):
    assert occupancy(device(name), threads, registers, shared).blocks * threads == active


@pytest.mark.parametrize(("name", "threads", "registers", "shared", "blocks", "limiters"), [
    ("H200", 256, 64, 0, 4, ("registers",)),
    ("H200", 1024, 32, 0, 2, ("warps", "registers")),
    ("H200", 32, 16, 0, 32, ("blocks",)),
    ("H200", 128, 32, 48 * 1024, 4, ("shared memory",)),       # 49 KiB with the reserved one, 228 in all
    ("H200", 128, 32, 227 * 1024, 1, ("shared memory",)),
    ("H200", 1024, 65, 0, 0, ("registers",)),
    ("A100 40GB", 256, 33, 0, 6, ("registers",)),              # 33 * 32 is rounded up to 1280
    ("T4", 1024, 40, 0, 1, ("warps", "registers")),
    ("GTX 690", 192, 63, 0, 5, ("registers",)),
    ("GTX 690", 256, 20, 2048, 8, ("warps",)),                 # Lee's 16 x 16 block, two tiles of floats
    ("Tesla K80", 256, 64, 16384, 7, ("shared memory",)),      # Wang and Jin's: 16 x 16 threads, two tiles of 64 x 16 doubles
    ("Tesla K80", 1024, 32, 16384, 2, ("warps",)),             # their 32 x 32 threads
    ("Tesla K80", 128, 128, 16384, 7, ("shared memory",)),     # their 16 x 8: twice the registers of a K40
    ("Tesla K40", 128, 128, 16384, 3, ("shared memory",)),
    ("Quadro M2200", 1024, 48, 16384, 1, ("registers",)),      # the homework's mxv_vls
    ("Quadro M2200", 1024, 32, 36864, 2, ("warps", "registers", "shared memory")),      # and its mxv_sh
    ("Tesla C1060", 96, 20, 0, 6, ("registers",)),             # 3 warps take the registers of 4
])
def test_known_configurations(name, threads, registers, shared, blocks, limiters):
    found = occupancy(device(name), threads, registers, shared)
    assert (found.blocks, found.limiters) == (blocks, limiters)
    assert found.limiter in limiters
    assert found.warps == blocks * -(-threads // 32)
    assert found.fraction == found.warps / device(name).limits.warps


@pytest.mark.parametrize(("arguments", "words"), [
    ((0, 32, 0), "threads_per_block is 0, but H200 allows 1 to 1024"),
    ((1025, 32, 0), "threads_per_block is 1025, but H200 allows 1 to 1024"),
    ((128, 256, 0), "registers is 256, but H200 allows a thread 0 to 255"),
    ((128, -1, 0), "registers is -1"),
    ((128, 32, 232449), "shared_bytes is 232449, but H200 allows a block 0 to 232448"),
    ((128.0, 32, 0), "threads_per_block is 128.0, but it must be a whole number"),
    ((True, 32, 0), "threads_per_block is True"),
])
def test_bad_input_is_named(arguments, words):
    with pytest.raises(CourseError) as caught:
        occupancy(device("H200"), *arguments)
    assert words in str(caught.value)


def test_every_capability_has_a_device():
    assert {d.cc for d in DEVICES.values()} == set(LIMITS)
