"""The figures of Koppelman's homework on `vtx-xform-size`, Quadro M2200."""

from collections.abc import Iterator
from fractions import Fraction

from course_lib.arch import device
from course_lib.data import documents
from course_lib.model import interval, matvec
from course_lib.model.device_peaks import balance
from course_lib.model.figures import INPUTS, OFF, Figure
from course_lib.model.occupancy import max_threads, occupancy

M2200 = device("Quadro M2200")
STAGED = {"mxv_vls": 4, "mxv_sh": 8 + 1, "mxv_sh_ochunk": 1}        # floats of a thread in shared memory
USEFUL = {"12.5%": 4, "50.0%": 16, "100.0%": 32}       # bytes that a thread uses of a sector: a float, a float4, all of it


def _row(place, what, printed, exact, function, **more):
    return Figure("K", place, what, printed, exact, f"model.{function}", **more)


def _timed(place, what, printed, us, rate, function):
    """Return a row whose time is printed in whole microseconds."""
    exact = rate(us * 1e-6)
    row = _row(place, what, printed, exact, function)
    if row.rounds(exact):
        return row
    return _row(place, what, printed, exact, function, how=INPUTS, low=rate((us + 0.5) * 1e-6), high=rate((us - 0.5) * 1e-6),
                remark="the time is printed in whole microseconds")


def rows() -> Iterator[Figure]:
    """Yield the Figures."""
    yield from _device()
    yield from _resources()
    yield from _launches()
    yield from _sweeps()
    yield from _problem_1_and_2()


def _device():
    found = balance(M2200)
    yield _row("device report", "peak in single precision, 10^9 multiply-adds a second", "1061", found.gfmas, "balance")
    yield _row("device report", "peak in double precision, 10^9 multiply-adds a second", "33", found.gfmas_double, "balance")
    yield _row("device report", "computation to communication, single precision", "48.2", found.per_element, "balance")
    yield _row("device report", "computation to communication, double precision", "3.0", found.per_element_double, "balance")
    yield _row("device report", "clock, GHz", "1.04", M2200.clock_mhz / 1e3, "balance")
    for what, printed, exact in (
            ("double-precision units an MP", "4", found.dp_per_sm), ("CUDA cores an MP", "128", M2200.cores_per_sm),
            ("MPs", "8", M2200.sms), ("L2, KiB", "1024", M2200.l2_bytes // 1024),
            ("shared memory a block, bytes", "49152", M2200.limits.shared_per_block),
            ("shared memory an MP, bytes", "98304", M2200.limits.shared), ("registers", "65536", M2200.limits.registers),
            ("threads a block", "1024", M2200.limits.threads_per_block)):
        yield _row("device report", what, printed, exact, "balance" if "double" in what else "occupancy")


def _resources():
    for name, shared, _, _, registers, threads in documents.KOPPELMAN_RESOURCES.rows:
        yield _row("resource usage", f"{name}: max threads with {registers} registers", str(threads),
                   max_threads(M2200, registers, shared), "occupancy.max_threads")
        if shared:
            yield _row("resource usage", f"{name}: shared memory of 1024 threads, bytes", str(shared),
                       matvec.staged_bytes(1024, STAGED[name]), "matvec.staged_bytes")
    most = max(r for r in range(256) if occupancy(M2200, 1024, r, 0).blocks)
    yield _row("Program Output", "registers beyond which a block has fewer than 1024 threads", "64", most, "occupancy")
    yield _row("Using vtx-xform-size", "vectors in a mibion", "1048576", matvec.MIBION, "matvec.MIBION")
    yield _row("Using vtx-xform-size", "mibions in a bibion", "1024", 2**30 // matvec.MIBION, "matvec.MIBION")
    yield _row("launch table", "blocks, one for each MP", "8", M2200.sms, "occupancy")


def _launches():
    for name, us, fmas, rate, _, share in documents.KOPPELMAN_LAUNCH.rows:
        yield _timed("launch table", f"{name}: GF at {us} us", fmas, us, matvec.gigafmas, "matvec.gigafmas")
        yield _timed("launch table", f"{name}: GB/s at {us} us", rate, us, matvec.gigabytes, "matvec.gigabytes")
        yield _row("launch table", f"{name}: utilisation, {USEFUL[share]} of 32 bytes", share,
                   Fraction(matvec.request_utilisation(USEFUL[share], 32)), "matvec.request_utilisation")
    yield _row("Program Output", "least I/F \"for M = N = 8\"", "1.125", matvec.least_instructions_per_fma(8, 8),
               "matvec.least_instructions_per_fma", how=OFF, remark="1.25 for 8; 1.125 belongs to M = N = 16")
    yield _row("Program Output", "least I/F for M = N = 16", "1.125", matvec.least_instructions_per_fma(),
               "matvec.least_instructions_per_fma")
    yield _row("Program Output", "I/F when 2NM instructions are executed for each vector", "2.00",
               matvec.instructions_per_fma(2 * 16 * 16, S=1), "matvec.instructions_per_fma")


def _sweeps():
    for warps, active, us, fmas, rate in documents.KOPPELMAN_SWEEP.rows:
        place = "warp sweep"
        yield _timed(place, f"FP at {warps} warps, {us} us", fmas, us, matvec.gigafmas, "matvec.gigafmas")
        yield _timed(place, f"GB/s at {warps} warps, {us} us", rate, us, matvec.gigabytes, "matvec.gigabytes")
        yield _row(place, f"active warps of an MP with one block of {warps} warps", str(active),
                   min(1, occupancy(M2200, 32 * warps, 31, 0).blocks) * warps, "occupancy")
    yield _row("p mode", "Ld eff of scattered 4-byte loads", "12.5%", matvec.request_utilisation(4, 32), "matvec.request_utilisation")
    for warps, _, us, fmas, _, l2, _, dram, rate in documents.KOPPELMAN_COUNTED.rows:
        place = "p mode"
        yield _timed(place, f"FP at {warps} warps, {us} us", fmas, us, matvec.gigafmas, "matvec.gigafmas")
        yield _timed(place, f"GB/s at {warps} warps, {us} us", rate, us, matvec.gigabytes, "matvec.gigabytes")
        yield _timed(place, f"GB/s written to the L2 at {warps} warps", l2, us, matvec.write_rate, "matvec.write_rate")
        yield _timed(place, f"GB/s written to DRAM at {warps} warps", dram, us, matvec.write_rate, "matvec.write_rate")


def _problem_1_and_2():
    k0 = interval.loaded_first()
    yield _row("Problem 1", "useful share of the off-chip bandwidth", "1/8", Fraction(4, 32), "matvec.request_utilisation")
    yield _row("Problem 2", "latency of an iteration of K0, M = N = 16, cycles", "672", k0.latency, "interval.loaded_first",
               remark="with its own \"stores every two cycles\" 688 (`interval.schedule`)")
    yield _row("Problem 2", "multiply-adds of K0 for M = N = 16", "256", k0.fp, "interval.loaded_first")
    yield _row("Problem 2", "SP FP units of a scheduler, 128 over 4", "32", interval.FP_PER_CYCLE // 4, "interval.FP_PER_CYCLE")
    yield _row("Problem 2", "LDST units of a scheduler, 64 over 4", "16", interval.MEMORY_PER_CYCLE // 4, "interval.MEMORY_PER_CYCLE")
    yield _row("Problem 2", "cycles between two loads of a warp", "2", 32 / (interval.MEMORY_PER_CYCLE // 4), "interval.ISSUE_MEMORY",
               remark="printed as \"every two cycles\"")
    yield _row("Problem 2", "N with the fewest threads", "20", interval.best_square(), "interval.best_square")
    program = [("miss", f"L{i}", ()) for i in range(3)] + [("fp", f"F{i}", ("L0",)) for i in range(8)] + [("fp", "F8", ("L1", "F0"))]
    _, issued = interval.schedule(program)
    yield _row("Problem 2", "cycles F0 stalls", "394", issued[3] - 3 * interval.ISSUE_MEMORY, "interval.schedule")
    for name, printed, exact in (("L1", "2", issued[1]), ("L2", "4", issued[2]), ("F0", "400", issued[3]), ("F8", "408", issued[-1])):
        yield _row("Problem 2", f"pipeline diagram: cycle of {name}", printed, exact, "interval.schedule")
    yield _row("Problem 2", "F0's result is there, cycles after its issue", "6", interval.ARITHMETIC, "interval.ARITHMETIC")
    enough = next(latency for latency in range(600)
                  if interval.schedule(interval.program_loaded_first(16, 16), miss=latency)[0] == latency + 256 + 16)
    yield _row("Problem 2", "L_M from which on L = L_M + MN + M holds for N = 16, \"N/2\"", "8", enough, "interval.schedule", how=OFF,
               remark="with a load every two cycles the condition is L_M >= 2N, not N/2")
