"""The figures of Chien's "Hand-Tuned SGEMM on GT200 GPU": hardware, instructions, bandwidth, machine code."""

import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from course_lib.arch import device
from course_lib.data import documents
from course_lib.model import gt200
from course_lib.model.figures import ABOUT, CUT, INPUTS, OFF, ROUTE, Figure
from course_lib.model.latency import round_cycles, warps_to_hide
from course_lib.model.segments import column_efficiencies, effective_bandwidth, transactions

BOARDS = {"GTX 295": (1242, 999, 448), "GTX 285": (1476, 1242, 512), "Tesla C1060": (1300, 800, 512)}     # MHz, MHz, bits
TABLE_1 = {"GTX 295": ("894", "596.2", "74.5", "112", "7"), "GTX 285": ("1063", "708.5", "88.6", "159", "8"),
           "Tesla C1060": ("933", "624", "78", "102", "8")}


def _row(place, what, printed, exact, function, **more):
    return Figure("C", place, what, printed, exact, f"model.{function}", **more)


def rows() -> Iterator[Figure]:
    """Yield the Figures."""
    yield from _boards()
    yield from _shares_of_the_peak()
    yield from _multiply_adds()
    yield from _memory()
    yield from _bandwidth()
    yield from _machine_code()


def _boards():
    for name, (core, memory, bits) in BOARDS.items():
        with_dual, without, in_double, rate, channels = TABLE_1[name]
        values = gt200.peaks(240, core)
        wrong: dict[str, Any] = {} if name != "Tesla C1060" else {"how": ROUTE, "route": gt200.peaks(240, 1296)[0],
                                                  "remark": "933 belongs to 1.296 GHz; the table's 1.3 GHz gives 936"}
        yield _row("Table 1", f"{name}: SP peak with dual issue, GFLOP/s", with_dual, values[0], "gt200.peaks", **wrong)
        yield _row("Table 1", f"{name}: SP without dual issue, GFLOP/s", without, values[1], "gt200.peaks")
        yield _row("Table 1", f"{name}: DP, GFLOP/s", in_double, values[2], "gt200.peaks")
        yield _row("Table 1", f"{name}: memory bandwidth, GB/s", rate, gt200.memory_bandwidth(memory, bits), "gt200.memory_bandwidth")
        yield _row("Table 1", f"{name}: channels of 64 bits", channels, bits // 64, "gt200.memory_bandwidth")
        yield _row("Table 1", f"{name}: streaming processors", "240", device(name).sms * device(name).cores_per_sm, "gt200.peaks")
    dual, single, double = gt200.peaks(240, 1300)
    yield _row("1.1.1", "DP over SP with dual issue", "1/12", Fraction(double / dual).limit_denominator(1000), "gt200.peaks")
    yield _row("1.1.1", "DP over SP without dual issue", "1/8", Fraction(double / single).limit_denominator(1000), "gt200.peaks")
    faster = gt200.memory_bandwidth(1242, 512) / gt200.memory_bandwidth(800, 512) - 1
    yield _row("4.3", "bandwidth of the GTX 285 beyond the C1060's", "50%", faster, "gt200.memory_bandwidth", how=ABOUT,
               remark="55 %")
    yield _row("10", "core clock, GTX 285 over C1060", "1.135", 1476 / 1300, "gt200.peaks")


def _shares_of_the_peak():
    _, single, double = gt200.peaks(240, 1300)
    yield _row("Abstract", "440 GFLOP/s of the C1060's peak", "70%", 440 / single, "gt200.peaks", how=CUT, remark="70.5 %")
    yield _row("Abstract", "Volkov's 346 GFLOP/s of the peak", "55.45%", 346 / single, "gt200.peaks")
    yield _row("Introduction", "DGEMM's 70 GFLOP/s of the DP peak", "94%", 70 / double, "gt200.peaks", how=ROUTE,
               route=70 / gt200.peaks(240, 1242)[2], remark="94 % of the GTX 295's 74.5; of the C1060's 78 it is 90 %")
    yield _row("2.2", "350 GFLOP/s of the peak", "56%", 350 / single, "gt200.peaks")
    yield _row("10", "439.467 GFLOP/s of the peak", "70%", 439.467 / single, "gt200.peaks")
    yield _row("3.2", "share of the peak with a shared operand", "66%", Fraction(gt200.MAD, gt200.MAD_SHARED), "gt200.MAD_SHARED", how=CUT,
               remark="two thirds")
    yield _row("3.2", "that share of 624, GFLOP/s", "411.8", single * gt200.MAD / gt200.MAD_SHARED, "gt200.MAD_SHARED", how=ROUTE,
               route=624 * 0.66, remark="66 % for two thirds; exactly 416")


def _multiply_adds():
    for threads, low, high, total in documents.CHIEN_2.rows:
        yield _row("Table 2", f"cycles of one multiply-add with a shared operand, {threads} threads", total,
                   round_cycles(threads, 34.6, gt200.MAD_SHARED), "latency.round_cycles")
        if threads == 512:
            wrong = "the formula divides by 32 warps; 512 threads are 16"
            yield _row("1.1.2.1", "cycles a warp from the fastest thread", "6", low / (threads / 32), "latency.round_cycles", remark=wrong)
            yield _row("1.1.2.1", "cycles a warp from the slowest thread", "6", high / (threads / 32), "latency.round_cycles", remark=wrong)
    for threads, low, per_low, high, per_high in documents.CHIEN_3.rows:
        if per_low:
            yield _row("Table 3", f"cycles a warp, {threads} threads, fastest", per_low, low / (threads / 32), "latency.round_cycles")
            yield _row("Table 3", f"cycles a warp, {threads} threads, slowest", per_high, high / (threads / 32), "latency.round_cycles")
    yield _row("1.1.2.1", "warps that hide a multiply-add with a shared operand", "6", warps_to_hide(34.6, 6), "latency.warps_to_hide")
    yield _row("6", "warps that hide one without", "8", warps_to_hide(31.5, 4), "latency.warps_to_hide")
    yield _row("3.1", "threads that hide an addition", "192", 32 * warps_to_hide(24, 4), "latency.warps_to_hide")
    yield _row("3.1", "cycles of a thread for MOV, ADD", "1/8", Fraction(gt200.MOV, 32), "gt200.MOV")


def _memory():
    yield _row("1.1.3.1", "core cycles in a memory cycle", "1.625", 1.3 / 0.8, "gt200.transaction_cycles")
    yield _row("1.1.3.1", "memory cycles of 16 floats in one channel", "8", 16 * 4 * 8 / 64, "gt200.transaction_cycles",
               remark="at one transfer a clock; Table 1's 102 GB/s need two")
    yield _row("1.1.3.1", "core cycles of that", "13", gt200.transaction_cycles(16, 0, 0), "gt200.transaction_cycles")
    yield _row("1.1.3.1", "core cycles of 32 floats", "26", gt200.transaction_cycles(32, 0, 0), "gt200.transaction_cycles")
    yield _row("Figure 4", "cycles of one transaction of 16 floats", "515", gt200.transaction_cycles(16), "gt200.transaction_cycles")
    yield _row("Figure 5", "cycles of a warp's 32 floats", "530", gt200.transaction_cycles(32, issue=4), "gt200.transaction_cycles")
    yield _row("1.1.3.2", "occupancy of 512 threads", "50%", 512 / device("Tesla C1060").threads_per_sm, "occupancy")
    yield _row("1.1.3.2", "cycles until 16 warps have issued", "64", 16 * gt200.MOV, "gt200.MOV")
    yield _row("1.1.3.2", "cycle at which warp 0 goes on", "503", gt200.transaction_cycles(32, issue=4), "gt200.transaction_cycles",
               how=OFF, remark="the sentence before says 530: no data before cycle 530")
    yield _row("1.1.3.2", "530 cycles over 512 threads", "1.16", Fraction(530, 512), "gt200.cycles_per_thread", how=ROUTE,
               route=gt200.cycles_per_thread(1, 512), remark="1.04; 1.16 includes the issue of 1/8 (3.1)")
    yield _row("4.3", "GB/s of a thread with a float a cycle", "5.2", 4 * 1.3, "gt200.CLOCK_GHZ")
    yield _row("4.3", "GB/s of 240 cores", "1248", 240 * 4 * 1.3, "gt200.CLOCK_GHZ")
    yield _row("1.1.3.1", "floats in a partition of 256 bytes", "64", 256 // 4, "segments.FLOAT")
    yield _row("9.1", "partitions that 64 rows of A touch", "1", Fraction(64 * 4, 256), "gt200.METHODS")
    yield _row("9.1", "partitions that the 128 rows of method 6 touch", "2", Fraction(128 * 4, 256), "gt200.METHODS")
    yield _row("4.3", "floats in a segment of 128 bytes", "32", 128 // 4, "segments.SEGMENT_BYTES")
    yield _row("4.4.1", "the same, said again", "16", 128 // 4, "segments.SEGMENT_BYTES", how=OFF,
               remark="128 bytes are 32 floats, as 4.3 says")


def _bandwidth():
    for ld, place, shares in ((72, "4.4.1", "1 2/3 1 2/3"), (68, "4.4.2", "1 4/7 2/3 4/7 1 4/7 2/3 4/7")):
        for column, (share, exact) in enumerate(zip(shares.split(), column_efficiencies(ld), strict=True)):
            yield _row(place, f"useful share of column {column}, lda = 64 + {ld - 64}", share, exact, "segments.column_efficiencies")
    for column, halves in enumerate((("64", "64"), ("128", "32 32"), ("64", "64"), ("32 32", "128"))):
        found = transactions(4 * (72 * column + np.arange(32)))
        for half, sizes in enumerate(halves):
            mine = [t.size for t in found if t.half == half]
            place, which = f"Figure {44 + column}", f"column {column}, half-warp {half}"
            for number, (size, moved) in enumerate(zip(sizes.split(), mine, strict=True), 1):
                yield _row(place, f"{which}: bytes of transaction {number}", size, moved, "transactions")
            useful = Fraction(64, sum(mine))
            yield _row(place, f"{which}: effective bandwidth", "50%" if useful < 1 else "100%", useful, "transactions")
    yield _row("4.4.1", "effective bandwidth with lda = 64 + 8", "5/6", effective_bandwidth(72), "effective_bandwidth")
    yield _row("4.4.1", "the same as a decimal", "0.833", effective_bandwidth(72), "effective_bandwidth")
    yield _row("4.4.2", "effective bandwidth with lda = 64 + 4", "0.7024", effective_bandwidth(68), "effective_bandwidth")
    yield _row("Observation 4", "effective bandwidth with lda = 16 k", "1", effective_bandwidth(80), "effective_bandwidth",
               remark="said in words: 32 k + 8 \"is worse than\" 16 k \"since effective bandwidth is 5/6\"")
    yield _row("Figure 45", "effective bandwidth of column 1", "66%", column_efficiencies(72)[1], "segments.column_efficiencies", how=CUT,
               remark="two thirds")
    yield _row("Figure 47", "effective bandwidth of column 3", "66%", column_efficiencies(72)[3], "segments.column_efficiencies", how=CUT,
               remark="two thirds")


def _machine_code():
    yield _row("Remark 8", "64-bit instructions", "1387", 1391 - 4, "gt200.cubin_lines")
    yield _row("Remark 8", "lines of the cubin", "694", gt200.cubin_lines(1391, 4), "gt200.cubin_lines")
    yield _row("Table 9", "last line of Y, from assembly line 83", "41", gt200.cubin_lines(83, 1), "gt200.cubin_lines")
    yield _row("Table 9", "last line of X, from assembly line 917", "457", gt200.cubin_lines(917, 3), "gt200.cubin_lines")
    yield _row("4.2", "multiplications to replace in Volkov's code", "256", 16 * 16, "gt200.METHODS")
    yield _row("Step 3", "what 0x40800000 is", "4.0", struct.unpack(">f", bytes.fromhex("40800000"))[0], "gt200.PARAMETER_BYTES")
    yield _row("2.1", "elements of B a thread loads, \"526/64\"", "4", Fraction(16 * 16, 64), "gt200.METHODS",
               remark="526 is a slip for 256")
    for n, cublas, volkov, ratio in documents.CHIEN_4.rows:
        more: dict[str, Any] = {}
        if n in (256, 1024):
            more = {"low": (cublas - 0.005) / (volkov + 0.005), "high": (cublas + 0.005) / (volkov - 0.005), "how": INPUTS,
                    "remark": "the speeds are printed with two decimals"}
        if n == 256:
            more = {"how": OFF, "remark": "198.92 / 207.67 is 0.9579, and 4 % from 1: not \"only 2%\""}
        yield _row("Table 4", f"R, CUBLAS over Volkov at N = {n}", ratio, cublas / volkov, "lee.speed_ups", **more)
