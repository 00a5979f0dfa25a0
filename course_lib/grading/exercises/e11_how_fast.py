"""Exercise 11, "What limits this kernel?": Wang and Jin's q, Koppelman's interval analysis of three kernels, and what an SM holds.

q, by hand. Memory of gb_s brings gb_s / element_bytes elements, so `gflops` need gflops · element_bytes / gb_s operations for each:
1370 · 8 / 240 = 45.67 (printed 45.6), 1370 · 8 / 154 = 71.17 and 693 · 8 / 154 = 36 (printed 72.1 and 36.5, through 19 for 19.25).
For each k a tile takes TA + TB elements and makes 2 · TA · TB operations of them: 64 for 64 × 64.

Intervals, M = N = 16, L_M = 400, L_2 = 200, L_F = 6 cycles. K0 loads N elements first, one in 2 cycles, and the first has come after
L_M: from max(L_M, 2 N) on it issues MN multiply-adds and M stores, 400 + 256 + 16 = 672. Koppelman's formula has L_M there whatever
N is. In the order of the source 2 loads miss and 14 hit, each is waited for: 800 + 2800 + 272 = 3872. One output a thread is a chain:
400 + 16 · 6 + 1 = 497. Bytes off the chip: 4 (M + N) = 128 for a vector, shared by 16 threads in the last kernel, 8.
P = rate · L / d, and Q = L / (n_IF / 128 + n_IM / 64): 672 / 2.5 = 268.8, 3872 / 2.5 = 1548.8, 497 / (16 / 128 + 17 / 64) = 1272.32.

An SM of an H200: 64 warps, 65,536 registers, 228 KiB. 256 threads of 65 registers: a warp's 65 · 32 = 2080 are given as 2304, a block's 8
warps take 18,432, 3 blocks fit: 24 warps. Needed: 679 cycles · 18 bytes a cycle / (32 · 4 bytes a warp) = 95.5, so 96. Blocks have
a multiple of 128 threads, so that it does not matter that the registers are in four quarters.
"""

from fractions import Fraction
from math import ceil, floor, isclose

from course_lib.arch import KIB, WARP, device
from course_lib.grading.judge.function_spec import FunctionSpec, PrintedValue
from course_lib.model import interval, occupancy, operations_per_element
from course_lib.model.figures import figures

EXERCISE = "11_how_fast"
H200 = device("H200")
STORES = ("That takes two cycles for a store, as the homework's text says; the 672 that it prints takes one. Count one, so that "
          "there is one answer")
WORDS = "That takes M + N for the bytes; so many floats are 4 · (M + N) bytes"
# The arguments that Wang and Jin's figures belong to, and what `model.figures` calls them.
WANG = {(1370, 240, 8): "q at the knee, operations a double", (1370, 154, 8): "q at the knee with 154 GB/s",
        (693, 154, 8): "q at 693 GFLOP/s with 154 GB/s"}


def _near(value, other):
    return isclose(value, other, rel_tol=1e-9)


def _guessing(expected, mistakes, also=lambda *arguments: None):
    """Return a `guess`: names the first number that is wrong, and its mistake.

    `mistakes` takes the arguments and the right numbers, and returns for each number its name and {mistake: what it gives}.
    """
    def guess(given, got):
        right, printed = expected(*given), also(*given)
        others = printed.value if printed else right
        for value, exact, other, (name, known) in zip(got, right, others, mistakes(*given, *right), strict=True):
            if _near(value, exact) or other is not None and isclose(value, other, rel_tol=1e-9, abs_tol=printed.within if printed else 0):
                continue
            rounded = any(_near(value, to) for to in (round(exact), round(exact, 1), round(exact, 2), ceil(exact), floor(exact)))
            unknown = f"Look at {name}: rounded, and it shall be as it comes" if rounded else f"Look at {name} first"
            return next((says for says, wrong in known.items() if _near(value, wrong)), unknown)
        return ""
    return guess


def _q(gflops, gb_s, element_bytes, TA, TB):
    return operations_per_element(gflops, gb_s, element_bytes), 2 * TA * TB / (TA + TB)


def _q_printed(gflops, gb_s, element_bytes, TA, TB):
    what = WANG.get((gflops, gb_s, element_bytes))
    if what is None:
        return None
    figure = next(figure for figure in figures("W") if figure.what == what)
    return PrintedValue((float(figure.value), None), f"Wang and Jin print {figure.printed}: {figure.remark}", float(figure.unit) / 2)


def _q_mistakes(gflops, gb_s, element_bytes, TA, TB, needed, counted):
    return (("the operations needed", {
        f"That is operations for each byte; an element has {element_bytes}": gflops / gb_s,
        "That is upside down: elements for an operation, not operations for an element": 1 / needed,
        "gb_s / element_bytes is rounded on the way, as Wang and Jin did; that counts for their inputs alone":
            gflops / (round(gb_s / element_bytes) or 1),
        f"That is for elements of 8 bytes; here they have {element_bytes}": gflops / gb_s * 8,
        f"That is for elements of 4 bytes; here they have {element_bytes}": gflops / gb_s * 4,
    }), ("the operations counted", {
        "That counts multiply-adds; each is two operations, as in gflops": counted / 2,
        "That is upside down: elements for an operation, not operations for an element": 1 / counted,
        "For one k the tile takes TA elements of A and TB of B, not TA · TB": 2.0,
        "That is the operations for one k; TA + TB elements share them": 2 * TA * TB,
    }))


def _k0(M, N, miss, rate, threads):
    """Return (L, P, share), with L counted instruction by instruction."""
    cycles, _ = interval.schedule(interval.program_loaded_first(M, N), miss=miss)
    return _of_k0(cycles, M, N, rate, threads)


def _of_k0(cycles, M, N, rate, threads):
    P = rate * cycles / (4 * (M + N))
    return cycles, P, min(1.0, threads / P)


def _k0_printed(M, N, miss, rate, threads):
    """Return what Koppelman's formula gives where his condition holds and it is not exact: L_M from N / 2 up, but below 2 N."""
    if not (N >= interval.ARITHMETIC and N / 2 <= miss < 2 * N):
        return None
    cycles = interval.loaded_first(M, N, miss).latency
    return PrintedValue(_of_k0(cycles, M, N, rate, threads),
                   f"Koppelman's formula has L = {cycles:,}, as if all {N} loads were issued within {miss} cycles")


def _k0_mistakes(M, N, miss, rate, threads, cycles, P, share):
    return (("L", {
        STORES: cycles + M,
        "The M stores are missing": cycles - M,
        "Each load waits for the one before it; K0 issues all of them before it needs the first": N * miss + M * N + M,
        "The loads are issued while the first is on its way: their issue hides behind its latency": miss + 2 * N + M * N + M,
        "The M · N multiply-adds are missing": cycles - M * N,
    }), ("P", {
        WORDS: 4 * P,
        "The M outputs cross the chip's boundary, too: d = 4 · (M + N)": rate * cycles / (4 * N),
        "P is upside down: threads · d / L is the bytes of a cycle": 1 / P,
    }), ("the share", {
        "More threads than P do not get more than all of the bandwidth: the share ends at 1": threads / P,
        "That is upside down: threads over P": P / threads,
        "A share is between 0 and 1, not per cent": 100 * share,
        "A share is between 0 and 1, not bytes a cycle": rate * share,
    }))


def _analysed(found, rate):
    return found.latency, found.threads_for_bandwidth(rate), found.threads_for_issue()


def _order(M, N, miss, hit, rate):
    return _analysed(interval.in_order(M, N, miss, hit), rate)


def _issue_mistakes(cycles, fp, memory):
    """Return wrong derivations of Q, for a thread with so many multiply-adds, and loads and stores."""
    return {
        "Q takes loads and stores as fast as multiply-adds: they are 64 a cycle, not 128": cycles / ((fp + memory) / 128),
        "The rates 128 and 64 are exchanged: 128 multiply-adds a cycle, 64 loads and stores": cycles / (fp / 64 + memory / 128),
        "Q leaves out the loads and stores": cycles / (fp / 128),
        "That is warps; Q counts threads, as the rates do": cycles / (fp / 128 + memory / 64) / WARP,
        "That takes the rates of one of the four schedulers, 32 and 16": cycles / (fp / 32 + memory / 16),
    }


def _order_mistakes(M, N, miss, hit, rate, cycles, P, issue):
    rest = M * N + M
    return (("L", {
        "That is K0's: here an element is loaded, waited for and used before the next one is loaded": miss + rest,
        STORES: cycles + M,
        "The M stores are missing": cycles - M,
        "The M · N multiply-adds are missing": cycles - M * N,
        "Each load misses the L2 there; of the 8 elements of a sector one does, and seven hit": N * miss + rest,
        "One load of the whole vector misses there; each sector of 8 elements has a miss of its own": miss + (N - 1) * hit + rest,
        "Misses and hits are exchanged": N // 8 * hit + 7 * N // 8 * miss + rest,
        "The hits are missing: they take `hit` cycles each, and each is waited for": N // 8 * miss + rest,
    }), ("P", {
        WORDS: 4 * P,
        "The seven hits of a sector cross no boundary of the chip: d = 4 · (M + N), as for K0": rate * cycles / (32 * N + 4 * M),
        "The M outputs cross the chip's boundary, too: d = 4 · (M + N)": rate * cycles / (4 * N),
    }), ("Q", _issue_mistakes(cycles, M * N, M + N)))


def _output(M, N, miss, arithmetic, rate):
    return _analysed(interval.output_per_thread(M, N, miss, arithmetic), rate)


def _output_mistakes(M, N, miss, arithmetic, rate, cycles, P, issue):
    return (("L", {
        "Each multiply-add needs the sum of the one before it: a chain, `arithmetic` cycles a link": miss + N + 1,
        "That is K0's: a thread computes one output here, N multiply-adds and one store": miss + M * N + M,
        STORES: cycles + 1,
        "The store is missing": cycles - 1,
        "Each load waits for the one before it; here all are issued before the first is needed": N * miss + N * arithmetic + 1,
    }), ("P", {
        "M neighbours load the same vector: a thread's share of it is N / M elements": rate * cycles / (4 * (N + 1)),
        "A thread handles an M-th of a vector and of its output: d = 4 · (M + N) / M": P / M,
        "That counts words; floats have 4 bytes": 4 * P,
    }), ("Q", {
        "A thread issues all N of its loads, whoever else loads the same: n_IM = N + 1": cycles / (N / 128 + (N / M + 1) / 64),
        "A thread computes one output: n_IF = N": cycles / (M * N / 128 + (N + 1) / 64),
        "Those are K0's instructions: here n_IF = N and n_IM = N + 1": cycles / (M * N / 128 + (M + N) / 64),
    } | _issue_mistakes(cycles, N, N + 1)))


def _room(threads, registers, shared, latency, rate, width):
    return occupancy(H200, threads, registers, shared).warps, -(-latency * rate // (WARP * width))


def _room_mistakes(threads, registers, shared, latency, rate, width, warps, needed):
    a_block = threads // WARP

    def fit(of_a_warp=-(-registers * WARP // 256) * 256, of_a_block=-(-(shared + KIB) // 128) * 128):
        return min(64 // a_block, 65536 // of_a_warp // a_block, 228 * KIB // of_a_block if of_a_block else 64) * a_block

    every = Fraction(latency * rate, WARP * width)
    return (("the warps that fit", {
        "That is blocks; asked are warps": warps // a_block,
        "That is threads; asked are warps": warps * WARP,
        "Registers are given out in portions: those of a warp are rounded up to a multiple of 256": fit(of_a_warp=registers * WARP),
        "The system takes 1 KiB of shared memory for each block": fit(of_a_block=-(-shared // 128) * 128),
        "Registers keep some of these out": min(64 // a_block, 228 * KIB // (shared + KIB)) * a_block,
        "Shared memory keeps some of these out": fit(of_a_block=0),
        "Blocks fit whole or not at all": min(64, 65536 // (-(-registers * WARP // 256) * 256)),
    }), ("the warps needed", {
        "That is threads; 32 of them are a warp": -(-latency * rate // width),
        "That takes bytes for loads: a thread loads `width` bytes at once": -(-latency * rate // WARP),
        "That is rounded down: a part of a warp's load needs a warp, too": floor(every),
        "That is rounded to the nearest: a part of a warp's load needs a warp, too": round(every),
        "That is no whole number of warps: round it up": every,
    }))


def _drawn_q(rng):
    for element_bytes in (8, 4, 8):
        yield (int(rng.integers(500, 60_000)), int(rng.integers(100, 5000)) * 2 + 1, element_bytes,
               16 * int(rng.integers(1, 9)), 16 * int(rng.integers(1, 9)))


def _drawn_k0(rng):
    for times in (0.1, 0.3, 1.3):                     # N over L_M: the last has loads that take longer than the latency
        miss = int(rng.integers(200, 500))
        yield int(rng.integers(6, 20)), max(6, int(times * miss)), miss, float(rng.integers(50, 3000)), int(rng.integers(100, 100_000))


def _drawn_order(rng):
    for _ in range(3):
        miss = int(rng.integers(300, 900))
        yield int(rng.integers(6, 40)), 8 * int(rng.integers(1, 6)), miss, int(rng.integers(100, miss)), float(rng.integers(50, 3000))


def _drawn_output(rng):
    for _ in range(3):
        M, N, arithmetic = (int(rng.integers(*limits)) for limits in ((2, 40), (6, 40), (3, 9)))
        yield M, N, int(rng.integers(300, 900)), arithmetic, float(rng.integers(50, 3000))


def _drawn_room(rng):
    """Draw launches of which each rule decides one: warps, portions of registers, the system's KiB, portions of shared memory."""
    few, blocks, odd = int(rng.integers(17, 29)), int(rng.integers(3, 8)), int(rng.choice((5, 7)))       # 5 and 7 do not divide 228 KiB
    many = rng.choice([n for n in range(65, 129) if 65536 // (128 * n) != 65536 // (1024 * -(-n // 8))])
    each = ((128 * int(rng.integers(1, 3)), few, 256 * int(rng.integers(0, 8))), (128, int(many), 0),
            (128, few, 228 * KIB // blocks - int(rng.integers(1, 1000))), (128, few, 228 * KIB // odd // 128 * 128 + int(rng.integers(1, 70)) - KIB))
    for launch, width in zip(each, (4, 8, 16, 4), strict=True):
        yield *launch, int(rng.integers(200, 900)), int(rng.integers(5, 60)), width


GTX, M2200, ON_H200 = 184.65, 85.04, 2424.24          # bytes a cycle, `interval.bytes_per_cycle` with two decimals
PARTS = (
    FunctionSpec(EXERCISE, "q", "Part 1: Wang and Jin's q, and the tile's", "q", ("gflops", "gb_s", "element_bytes", "TA", "TB"),
                 cases=((693, 240, 8, 64, 64), (1370, 240, 8, 64, 64), (1370, 154, 8, 64, 64), (693, 154, 8, 64, 64),
                        (14460, 4225, 8, 64, 64), (66908, 4800, 4, 128, 64)),
                 drawn=_drawn_q, expected=_q, tolerance=1e-9, guess=_guessing(_q, _q_mistakes, _q_printed), also=_q_printed),
    FunctionSpec(EXERCISE, "k0", "Part 2: K0, and problem (a)", "k0", ("M", "N", "miss", "rate", "threads"),
                 cases=((16, 16, 400, GTX, 640), (16, 16, 400, GTX, 20480), (20, 20, 400, GTX, 640), (32, 8, 679, ON_H200, 16896),
                        (8, 24, 400, M2200, 256), (8, 300, 400, GTX, 250)),
                 drawn=_drawn_k0, expected=_k0, tolerance=1e-9, guess=_guessing(_k0, _k0_mistakes, _k0_printed), also=_k0_printed),
    FunctionSpec(EXERCISE, "order", "Part 3: problem (b)", "in_order", ("M", "N", "miss", "hit", "rate"),
                 cases=((16, 16, 400, 200, GTX), (8, 32, 400, 200, M2200), (32, 8, 679, 240, ON_H200), (20, 24, 500, 180, GTX)),
                 drawn=_drawn_order, expected=_order, tolerance=1e-9, guess=_guessing(_order, _order_mistakes)),
    FunctionSpec(EXERCISE, "output", "Part 4: problem (c)", "one_output", ("M", "N", "miss", "arithmetic", "rate"),
                 cases=((16, 16, 400, 6, GTX), (8, 32, 400, 6, M2200), (32, 8, 679, 4, ON_H200), (1, 20, 400, 6, GTX)),
                 drawn=_drawn_output, expected=_output, tolerance=1e-9, guess=_guessing(_output, _output_mistakes)),
    FunctionSpec(EXERCISE, "room", "Part 5: room and waiting", "room", ("threads", "registers", "shared", "latency", "rate", "width"),
                 cases=((256, 64, 8192, 679, 18, 4), (256, 65, 8192, 679, 18, 16), (256, 32, 33 * KIB, 679, 18, 8),
                        (1024, 65, 0, 240, 38, 4), (256, 50, 0, 240, 38, 4), (128, 104, 5000, 240, 38, 16), (384, 40, 0, 400, 16, 4),
                        (512, 32, 57 * KIB, 400, 16, 8), (128, 32, 2048, 400, 9, 4)),
                 drawn=_drawn_room, expected=_room, guess=_guessing(_room, _room_mistakes)),
)
