"""What reading operands costs in real machine code: against another way to count, and against speeds measured on an H200."""

import re

import pytest

from course_lib.data import readings
from course_lib.errors import CourseError
from course_lib.kernels import ALL, KERNELS
from course_lib.model.operands import MEASURED, MEASURED_CYCLES, PEAK_TFLOPS, WITHIN, operand_reads
from course_lib.run import bound_of, kernel_reads, loop_reads
from course_lib.toolchain import compile_cuda, inner_loop, loops, sass, whole_step
from course_lib.widgets.compute import evaluate

FFMA = tuple(name for name, kernel in KERNELS.items() if kernel.dtype == "float32" and not kernel.inputs)

# The loops that were timed for `model.operands.MEASURED`: registers only, 256 threads, the factors never change.
TIMED = r"""
extern "C" __global__ void __launch_bounds__(256) outer(float* out, const float* in) {
    float a[TM], b[TN], c[TM][TN] = {}, sum = 0.0f;
    for (int i = 0; i < TM; ++i) a[i] = in[i + threadIdx.x];
    for (int j = 0; j < TN; ++j) b[j] = in[j + 99 + threadIdx.x];
    #pragma unroll 1
    for (int k = 0; k < 4096; ++k)
        #pragma unroll
        for (int i = 0; i < TM; ++i)
            #pragma unroll
            for (int n = 0; n < TN; ++n) {
                const int j = SERPENTINE && i % 2 ? TN - 1 - n : n;
                asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(c[i][j]) : "f"(a[i]), "f"(b[j]));
            }
    for (int e = 0; e < TM * TN; ++e) sum += c[e / TN][e % TN];
    out[threadIdx.x] = sum;
}
"""


def ticked(instructions):
    """Count the cycles of a turn from its text: a bank hands out a register a tick, and an FFMA starts a tick."""
    texts, slots, ticks = [i.text for i in instructions if i.base == "FFMA"], {}, {"issue": 0, "02468": 0, "13579": 0}
    for number, text in enumerate([*texts, *texts]):         # the second turn knows what the first one left, and is the one that counts
        words = text.partition("FFMA")[2].split(", ")[1:]
        names = [re.search(r"(?<![A-Z])R\d+", word) for word in words]
        waiting = {found[0] for slot, found in enumerate(names) if found and slots.get(slot) != found[0]}
        for bank in ticks:
            ticks[bank] += (number >= len(texts)) * (1 if bank == "issue" else sum(r[-1] in bank for r in waiting))
        slots = {slot: found[0] for slot, (found, word) in enumerate(zip(names, words, strict=True)) if found and ".reuse" in word}
    return max(ticks.values())


@pytest.mark.slow
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("name", FFMA)
def test_every_kernel_of_multiply_adds_another_way(name):
    found, loop = kernel_reads(name), inner_loop(name).loop
    assert (found.inner.multiply_adds, found.inner.cycles) == (loop.counts["FFMA"], ticked(loop.instructions))
    assert 1 <= found.inner.per_multiply_add <= 2, "three registers in two banks, of which the compiler never puts all into one"
    step = whole_step(name)
    if step is None or not step.rolled:
        assert found.step == found.inner
    else:
        assert found.step.multiply_adds >= step.multiply_adds
        assert found.step.multiply_adds - step.turns * found.inner.multiply_adds == step.outer.counts["FFMA"] - step.inner.counts["FFMA"]
        assert found.step.cycles >= step.turns * found.inner.cycles
    assert found.inner in [reads for _, reads in loop_reads(name)]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, kernel in ALL.items() if kernel.kind != "product"])
def test_the_loops_of_all_other_kernels_can_be_read(name):
    for loop, reads in loop_reads(name):
        assert (reads.multiply_adds, reads.cycles) == (loop.counts["FFMA"], ticked(loop.instructions))


def test_the_warp_tile_is_capped_at_58():
    found = kernel_reads("sgemm_warp_tile")
    assert round(found.step.per_multiply_add, 2) == 1.15
    assert round(found.step.tflops()) == 58
    assert kernel_reads("sgemm_naive").step.per_multiply_add >= 1.5, "three registers, nothing kept"


def hold(measured, loop, reads):
    """Hold the cycles per FFMA of a measured loop to the rule: never fewer, and near it when every other instruction has its own cycle."""
    assert measured >= reads.per_multiply_add
    whole = (reads.cycles + loop.counts["instructions"] - reads.multiply_adds) / reads.multiply_adds
    assert abs(whole / measured - 1) <= WITHIN
    assert measured / reads.per_multiply_add - 1 <= 0.09, "what docs/microbenchmarks.md says"


@pytest.mark.slow
@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("TM", "TN", "serpentine"), MEASURED)
def test_the_speeds_that_were_measured(TM, TN, serpentine):
    """H200, November 2026. The bound is above every one of them."""
    made = compile_cuda(TIMED, defines={"TM": TM, "TN": TN, "SERPENTINE": int(serpentine)})
    loop, = (loop for loop in loops(sass(made)) if loop.counts["FFMA"])
    reads, measured = operand_reads(loop.instructions), MEASURED[TM, TN, serpentine]
    assert reads.multiply_adds == TM * TN
    assert reads.cycles == ticked(loop.instructions)
    assert measured <= reads.tflops() <= PEAK_TFLOPS
    hold(PEAK_TFLOPS / measured, loop, reads)


@pytest.mark.slow
@pytest.mark.sampled(test=3)
@pytest.mark.parametrize(("TM", "TN", "serpentine"), MEASURED_CYCLES)
def test_the_cycles_that_were_measured(TM, TN, serpentine):
    """H200, 2026-11-24, the course's own kernel: its machine code is the same from NVRTC 13.0, which was measured, and from 13.5."""
    (loop, reads), = loop_reads("micro_outer", threads=256, STEPS=1024, TM=TM, TN=TN, SERPENTINE=int(serpentine))
    assert reads.multiply_adds == TM * TN
    assert reads.cycles == ticked(loop.instructions)
    hold(MEASURED_CYCLES[TM, TN, serpentine], loop, reads)


def test_a_chain_of_three_registers_takes_what_its_fuller_bank_needs():
    """Recorded beside other chains: two of the three registers of every FFMA are even, so no bank catches up."""
    (_, reads), = loop_reads("micro_fma")
    recorded = min(row["per_warp"] for row in readings("micro").find(kernel="micro_fma", threads=1024) if "REGISTERS" not in row)
    assert reads.per_multiply_add == 2 <= 4 * recorded <= 2.02, "four schedulers"


def test_only_innermost_loops_are_listed():
    """Here a loop over the tile stands in the loop along K; both hold all multiply-adds."""
    assert len([loop for loop in loops(sass(compile_cuda(KERNELS["sgemm_2d_tile"].source))) if loop.counts["FFMA"]]) > 1
    (loop, _), = loop_reads("sgemm_2d_tile")
    assert loop == inner_loop("sgemm_2d_tile").loop


@pytest.mark.slow
def test_the_bound_of_a_product_has_the_reads():
    terms = bound_of(evaluate("sgemm_warp_tile", 256, {}, backend="sim")).terms
    reads = kernel_reads("sgemm_warp_tile").step
    assert terms["operands"] / terms["fma"] == pytest.approx(reads.per_multiply_add) == pytest.approx(1.15, abs=0.01)
    double = bound_of(evaluate("dgemm_outputs", 128, {}, backend="sim")).terms
    assert "operands" not in double


def test_serpentine_order_helps_and_so_does_a_taller_tile():
    def cycles(**tile):
        return kernel_reads("micro_outer", **tile).inner.per_multiply_add
    assert cycles(TM=8, TN=8, SERPENTINE=1) < cycles(TM=8, TN=8)
    assert cycles(TM=16, TN=8, SERPENTINE=1) < cycles(TM=16, TN=8) < cycles(TM=8, TN=8)


def test_what_was_not_measured_is_refused():
    with pytest.raises(CourseError, match="dgemm_outputs multiplies in float64: .* not for DFMA"):
        kernel_reads("dgemm_outputs")
    with pytest.raises(CourseError, match="tensor cores"):
        kernel_reads("sgemm_mma")
    assert loop_reads("transpose") == ()
