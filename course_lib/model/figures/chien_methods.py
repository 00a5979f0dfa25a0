"""The figures of Chien's methods: cost model, resources, transfers, guards."""

from collections.abc import Iterator
from fractions import Fraction

from course_lib.arch import device
from course_lib.data import documents
from course_lib.model import gt200
from course_lib.model.figures import CUT, OFF, ROUTE, Figure
from course_lib.model.occupancy import occupancy
from course_lib.model.segments import padded

C1060 = device("Tesla C1060")
TABLE_8 = {"volkov": "1/16 1/64 0 1 0", "volkov_variant": "1/16 1/64 1 0 1", "method 1 by nvcc": "1/16 1/128 0 1 0",
           "method 1": "1/16 1/128 1/2 0 1"}
TABLE_12 = {"volkov": "1168 512 1/16 1/64 0 1 0", "method 1": "1168 320 1/16 1/128 1/2 0 1",
            "method 2": "1680 256 1/24 1/256 1/2 0 1", "method 3": "1680 256 1/24 1/128 1/2 0 1",
            "method 4": "1176 192 1/16 1/256 1/4 0 1"}
TEXT = [    # section, threads, registers, shared bytes, active threads
    ("3.4", 64, 32, 1168, 512), ("4", 64, 47, 1168, 320), ("5", 128, 64, 1680, 256), ("6", 64, 80, 1176, 192),
    ("8.1", 64, 39, 1168, 384), ("8.2", 64, 48, 1168, 320), ("8.2", 64, 49, 1168, 256)]


def _row(place, what, printed, exact, function, **more):
    return Figure("C", place, what, printed, exact, f"model.{function}", **more)


def rows() -> Iterator[Figure]:
    """Yield the Figures."""
    yield from _costs()
    yield from _threads()
    yield from _model()
    yield from _gains()
    yield from _guards()


def _costs():
    for place, table, skip in (("Table 8", TABLE_8, 0), ("Table 12", TABLE_12, 2)):
        for name, line in table.items():
            for (cost, exact), printed in zip(gt200.METHODS[name].operations().items(), line.split()[skip:], strict=True):
                yield _row(place, f"{name}: {cost}, over mnk", printed, exact, "gt200.Method.operations")
    for name, line in TABLE_12.items():
        shared, active = line.split()[:2]
        yield _row("Table 12", f"{name}: shared memory of a block, bytes", shared, gt200.METHODS[name].shared_bytes,
                   "gt200.Method.shared_bytes")
        yield _row("Table 12", f"{name}: active threads an SM", active, gt200.METHODS[name].active_threads(C1060),
                   "gt200.Method.active_threads")
    yield _row("2.1", "volkov: load A, over mnk", "1/16", gt200.METHODS["volkov"].operations()["load A"], "gt200.Method.operations")
    yield _row("2.1", "volkov: load B, over mnk", "1/64", gt200.METHODS["volkov"].operations()["load B"], "gt200.Method.operations")


def _threads():
    for place, threads, registers, shared, active in TEXT:
        yield _row(place, f"active threads with blocks of {threads}, {registers} registers", str(active),
                   occupancy(C1060, threads, registers, shared).blocks * threads, "occupancy")
    for active in (384, 320, 256, 192):
        shared = gt200.shared_bytes_for(active, C1060)
        yield _row("Table 6", f"active threads of volkov with {shared} bytes of shared memory", str(active),
                   occupancy(C1060, 64, 30, shared).blocks * 64, "gt200.shared_bytes_for",
                   remark="the document gives no size; this is the least that does it")


def _model():
    load_a, load_b = gt200.cycles_per_thread(1, 512), gt200.cycles_per_thread(2, 512)
    yield _row("Example 1", "cycles of a thread to load an element of A", "1.16", load_a, "gt200.cycles_per_thread")
    yield _row("Example 1", "cycles of a thread to load an element of B", "0.02", load_b, "gt200.cycles_per_thread", how=ROUTE,
               route=load_b / 64, remark="1.29; 0.02 is what is left after the division by 64 that follows")
    yield _row("Example 1", "cycles of a thread for a multiply-add", "0.1875", Fraction(gt200.MAD_SHARED, 32), "gt200.MAD_SHARED")
    yield _row("Example 1", "GFLOP/s of Volkov's code", "278.57", gt200.predicted_gflops("volkov", 512), "gt200.predicted_gflops",
               how=ROUTE, route=2 * 30 * 1.3 / (1.16 / 16 + 0.02 + 0.1875), remark="from 1.16 and 0.02; exactly 278.48")
    four = gt200.METHODS["method 4"].cycles_per_mad()
    yield _row("3.2", "cycles a warp, four vectors for one element of B", "5", four, "gt200.Method.cycles_per_mad")
    yield _row("3.2", "share that saves", "1/6", 1 - four / gt200.METHODS["volkov"].cycles_per_mad(), "gt200.Method.cycles_per_mad")
    yield _row("Figure 22", "the same in percent", "16%", 1 - four / gt200.METHODS["volkov"].cycles_per_mad(),
               "gt200.Method.cycles_per_mad", how=CUT, remark="a sixth")
    plain = gt200.METHODS["volkov_variant"].cycles_per_mad()
    yield _row("3.2", "cycles a warp with a movement for each multiply-add", "8", plain, "gt200.Method.cycles_per_mad")
    yield _row("Question 1", "volkov_variant slower than volkov", "33%", plain / 6 - 1, "gt200.Method.cycles_per_mad",
               remark="a third more time, a quarter less speed")
    yield _row("Observation 3", "cycles a warp, two vectors for one element of B", "6", gt200.METHODS["method 1"].cycles_per_mad(),
               "gt200.Method.cycles_per_mad")
    yield _row("10", "transfers of method 2 over method 1", "0.81", gt200.transfer_ratio("method 1", "method 2", C1060),
               "gt200.transfer_ratio")
    yield _row("5", "loads of A, method 2 over method 1", "66%", Fraction(16, 24), "gt200.Method.operations", how=CUT, remark="two thirds")


def _gains():
    """"more than 20% performance improvement when N = 512, 1024, 2048, 4096": the smallest is printed."""
    volkov, ours = documents.CHIEN_11.column("volkov"), documents.CHIEN_11.column(320)
    smallest = min(1 - volkov[n] / ours[n] for n in (512, 1024, 2048, 4096))
    yield _row("4.3", "least gain of method1_variant from N = 512 to 4096, \"more than\"", "20%", smallest, "lee.speed_ups")


def _guards():
    yield _row("8.1", "\"check A\" over multiply-adds, times M, if it took two instructions", "1/8",
               Fraction(gt200.guard_share(2)), "gt200.guard_share")
    yield _row("8.1", "the same with the 67 lines that decuda shows", "4.1875", gt200.guard_share(67), "gt200.guard_share")
    yield _row("8.1", "cycles a warp of \"check A\"", "8", 2 * gt200.MOV, "gt200.guard_share")
    yield _row("7", "the least multiple of 64 not below m = 64, by the formula", str(64 * -(-(64 + 63) // 64)), padded(64, 64),
               "segments.padded", how=OFF, remark="the scan rounds (m + 63) / 64 up; it must round it down, as 1.2.1 does")
