"""Chien's cost model of SGEMM on GT200 (CC 1.3), and the resources his methods take.

Source of everything here: Chien, "Hand-Tuned SGEMM on GT200 GPU", 2010; sections and tables as named. Cycles are of the
cores' clock. He measures throughput in cycles per warp: the issue of one instruction for 32 threads.
"""

from dataclasses import dataclass
from fractions import Fraction

from course_lib.arch import WARP, Device
from course_lib.model.inputs import InputError, whole
from course_lib.model.occupancy import occupancy

SMS = 30
CLOCK_GHZ = 1.3                 # Tesla C1060 as printed; NVIDIA's board specification says 1.296
MEMORY_LATENCY = 530            # cycles, g_L of 1.1.3.1
MAD, MAD_SHARED, MOV = 4, 6, 4  # cycles a warp; Table 5
PARAMETER_BYTES = 80            # shared memory of the arguments: b[16][17] starts at 0x50 (4.2, Step 3)
FLOAT = 4                       # bytes


@dataclass(frozen=True)
class Method:
    """One of his kernels.

    Attributes
    ----------
    threads, registers
        Of a block; of a thread (Table 12).
    vectors
        Vectors of A that share one element of B; a thread adds up `vectors` rows of C.
    block_y
        BLOCK_SIZE_Y, columns of C a block computes, b_N.
    vector_length
        Rows that one vector covers: the threads of a block.
    moves
        Elements of B go to a register first ("variant"); else multiply-adds read shared memory.
    argument_bytes
        Shared memory that the arguments take.
    """

    name: str
    threads: int
    registers: int
    vectors: int
    block_y: int
    moves: bool
    argument_bytes: int = PARAMETER_BYTES

    @property
    def rows(self) -> int:
        """Rows of C a block computes, b_M."""
        return self.threads * self.vectors

    @property
    def shared_bytes(self) -> int:
        """Bytes of b[16][BLOCK_SIZE_Y + 1] and of the arguments; Table 12."""
        return FLOAT * 16 * (self.block_y + 1) + self.argument_bytes

    def active_threads(self, device: Device) -> int:
        """Return the threads that an SM of `device` holds at a time."""
        return occupancy(device, self.threads, self.registers, self.shared_bytes).blocks * self.threads

    def operations(self) -> dict[str, Fraction]:
        """Return the operations per multiply-add as Fractions: Tables 8 and 12.

        >>> {name: str(count) for name, count in METHODS["method 2"].operations().items()}
        {'load A': '1/24', 'load B': '1/256', 'shared to register': '1/2', 'MAD shared': '0', 'MAD': '1'}
        """
        return {"load A": Fraction(1, self.block_y), "load B": Fraction(1, self.rows),
                "shared to register": Fraction(self.moves, self.vectors),
                "MAD shared": Fraction(not self.moves), "MAD": Fraction(self.moves)}

    def cycles_per_mad(self) -> Fraction:
        """Return the issue cycles per multiply-add of a warp, without loads of A and B.

        >>> {name: str(m.cycles_per_mad()) for name, m in METHODS.items()}
        {'volkov': '6', 'volkov_variant': '8', 'method 1 by nvcc': '6', 'method 1': '6', \
'method 2': '6', 'method 3': '6', 'method 4': '5'}
        """
        cost = self.operations()
        return MAD_SHARED * cost["MAD shared"] + MAD * cost["MAD"] + MOV * cost["shared to register"]


METHODS = {method.name: method for method in (
    Method("volkov", 64, 30, 1, 16, False),
    Method("volkov_variant", 64, 32, 1, 16, True),      # registers as printed in 3.4
    Method("method 1 by nvcc", 64, 47, 2, 16, False),   # registers as printed in section 4
    Method("method 1", 64, 48, 2, 16, True),            # from here on the variants that move
    Method("method 2", 128, 63, 2, 24, True),
    Method("method 3", 64, 64, 2, 24, True),
    Method("method 4", 64, 80, 4, 16, True, argument_bytes=88),    # 1176 bytes as printed
)}


def cycles_per_thread(instructions: int, active_threads: int, latency: float = MEMORY_LATENCY) -> Fraction:
    """Return what one thread pays for a load or store: its share of the latency, and its instructions' issue (3.1).

    >>> round(float(cycles_per_thread(1, 512)), 2), round(float(cycles_per_thread(2, 512)), 2)
    (1.16, 1.29)
    """
    active = whole("active_threads", active_threads, 1, 1024, "an SM of GT200 holds")
    return Fraction(latency) / active + Fraction(MOV * instructions, WARP)


def cycles_per_multiply_add(method: Method | str, active_threads: int, latency: float = MEMORY_LATENCY) -> dict[str, Fraction]:
    """Return what one multiply-add costs a thread in his model, part by part, as Fractions of cycles (3.1).

    Parameters
    ----------
    active_threads
        On one SM.
    latency
        Cycles of a load from global memory.

    Returns
    -------
    "waiting for loads", each thread's share of their latency; "issuing loads"; "multiply-adds", with what moves from shared memory.

    Raises
    ------
    InputError, a ValueError
        For an unknown method or a number of threads that no SM holds.

    >>> {name: round(float(cycles), 4) for name, cycles in cycles_per_multiply_add("volkov", 512).items()}
    {'waiting for loads': 0.0809, 'issuing loads': 0.0117, 'multiply-adds': 0.1875}
    """
    if not isinstance(method, Method):
        if method not in METHODS:
            raise InputError(f"there is no method {method!r}: there are {', '.join(METHODS)}", method=method)
        method = METHODS[method]
    loads = ((1, method.block_y), (2, method.rows))     # of A: to a register; of B: on to shared memory
    waiting = sum((cycles_per_thread(0, active_threads, latency) / served for _, served in loads), Fraction(0))
    issuing = sum((Fraction(MOV * instructions, WARP * served) for instructions, served in loads), Fraction(0))
    return {"waiting for loads": waiting, "issuing loads": issuing, "multiply-adds": Fraction(method.cycles_per_mad()) / WARP}


def predicted_gflops(method: Method | str, active_threads: int, clock_ghz: float = CLOCK_GHZ, sms: int = SMS,
                     latency: float = MEMORY_LATENCY, *, overlap: bool = False) -> float:
    """Return the GFLOP/s that his model predicts for large square matrices (3.1, Example 1).

    Parameters
    ----------
    method, active_threads, latency
        As for `cycles_per_multiply_add`.
    sms
        Multiprocessors.
    overlap
        False, as he has it: a warp's waiting is added to the work. True, ours: while some warps wait others work, and the longer
        of the two decides.

    Raises
    ------
    InputError, a ValueError
        For an unknown method or a number of threads that no SM holds.

    >>> round(predicted_gflops("volkov", 512), 2)      # printed: 278.57, from 1.16 and 0.02
    278.48
    >>> [round(predicted_gflops("volkov", threads, overlap=True)) for threads in (512, 256, 192)]
    [392, 392, 362]
    """
    waiting, *working = cycles_per_multiply_add(method, active_threads, latency).values()
    cycles = max(waiting, sum(working)) if overlap else waiting + sum(working)
    return 2 * sms * clock_ghz / float(cycles)


def most_cycles(gflops: float, clock_ghz: float = CLOCK_GHZ, sms: int = SMS) -> float:
    """Return the most cycles that a multiply-add of a warp can have cost at a measured speed: nothing else took any time.

    >>> round(most_cycles(353.234), 2)                 # volkov_variant, Table 7; Table 5 says 4 + 4
    7.07
    """
    return 2 * WARP * sms * clock_ghz / gflops


def transfer_ratio(first: str, second: str, device: Device) -> float:
    """Return what loads of A and B cost under `second` relative to `first`: transfers over active threads (section 10).

    >>> from course_lib.arch import device
    >>> round(transfer_ratio("method 1", "method 2", device("Tesla C1060")), 2)
    0.81
    """
    def cost(method):
        done = method.operations()
        return (done["load A"] + done["load B"]) / method.active_threads(device)

    return float(cost(METHODS[second]) / cost(METHODS[first]))


def transaction_cycles(floats: int = 16, issue: int = 2, fixed: int = 500, core_ghz: float = CLOCK_GHZ, memory_ghz: float = 0.8,
                       channel_bits: int = 64) -> float:
    """Return the cycles of one read of `floats` through one channel (1.1.3.1): issue, fixed cost, data.

    As printed, the channel moves 64 bits a memory clock; the board's 102 GB/s take two transfers a clock.

    >>> transaction_cycles(16), transaction_cycles(32, issue=4)
    (515.0, 530.0)
    """
    clocks = floats * FLOAT * 8 / channel_bits
    return issue + fixed + clocks * core_ghz / memory_ghz


def peaks(cores: int, clock_mhz: float) -> tuple[float, float, float]:
    """Return GFLOP/s with dual issue (3 a clock), without (2), and in double precision (2 on an eighth); Table 1.

    >>> [round(value, 1) for value in peaks(240, 1242)]
    [894.2, 596.2, 74.5]
    """
    return cores * clock_mhz * 3 / 1e3, cores * clock_mhz * 2 / 1e3, cores * clock_mhz * 2 / 8e3


def memory_bandwidth(memory_mhz: float, bus_bits: int) -> float:
    """Return 10^9 bytes a second of a memory that transfers twice a clock; Table 1.

    >>> [round(memory_bandwidth(*pair), 1) for pair in ((999, 448), (1242, 512), (800, 512))]
    [111.9, 159.0, 102.4]
    """
    return memory_mhz * 1e6 * 2 * bus_bits / 8 / 1e9


def guard_share(instructions: int = 67, block_y: int = 16) -> float:
    """Return "check A" over multiply-adds, times the M block rows: what each guarded load of A costs (section 8).

    >>> guard_share(2), guard_share()
    (0.125, 4.1875)
    """
    return instructions * 4 / block_y / MAD


def cubin_lines(assembly_lines: int, pairs: int) -> int:
    """Return the lines of a cubin, two 64-bit instructions each; 32-bit ones come in pairs (Remark 8).

    >>> cubin_lines(1391, 4)
    694
    """
    return -(-(assembly_lines - pairs) // 2)


def shared_bytes_for(active_threads: int, device: Device, method: str = "volkov") -> int:
    """Return the least shared memory of a block that lets only `active_threads` be active, as for Tables 6, 7 and 11.

    Raises
    ------
    InputError, a ValueError
        When no amount of shared memory gives that number.

    >>> from course_lib.arch import device
    >>> [shared_bytes_for(threads, device("Tesla C1060")) for threads in (384, 320, 256, 192)]
    [2049, 2561, 3073, 4097]
    """
    used = METHODS[method]
    for shared in range(used.shared_bytes, device.limits.shared_per_block + 1):
        found = occupancy(device, used.threads, used.registers, shared).blocks * used.threads
        if found == active_threads:
            return shared
        if found < active_threads:
            break
    raise InputError(f"{used.name} cannot run with {active_threads!r} active threads: blocks of {used.threads} threads",
                     active_threads=active_threads)
