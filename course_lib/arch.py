"""The constants of the machine, and a table of devices with the source of each figure.

Limits per compute capability come from the "CUDA C++ Programming Guide", table "Technical Specifications per Compute
Capability", and from `cuda_occupancy.h`; those of CC 1.3 from NVIDIA's occupancy calculator of 2009. What a chip has
comes from NVIDIA's data sheet or white paper that its row names. Peaks are computed here, never typed in.
"""

import re
from dataclasses import dataclass

from course_lib.errors import CourseError

CONSTANT_BYTES = 65536     # of `__constant__` memory; all CUDA devices
WARP = 32                  # threads that execute together; all CUDA devices
SECTOR_BYTES = 32          # unit of global memory traffic between L1 and L2; since Maxwell (CC 5.0)
BANKS = 32                 # banks of shared memory; 16 before Fermi (CC 2.0)
BANK_BYTES = 4             # width of a bank
KIB = 1024
STATIC_SHARED = 48 * KIB   # the most that `__shared__` arrays of fixed size may take of a block; 16 KiB on CC 1.3


@dataclass(frozen=True)
class ChipLimits:
    """What every chip of one compute capability allows; sizes in bytes, registers of 4 bytes.

    Attributes
    ----------
    warps, blocks, registers, shared
        Of one SM.
    threads_per_block, registers_per_thread
        The most.
    register_unit
        Registers are handed out in multiples of this: per warp, on CC 1.3 per block.
    warp_unit
        Sub-partitions of an SM, over which its warps and registers are spread; on CC 1.3 warps are rounded up to it.
    shared_per_block
        The most a block may ask for; beyond 48 KiB it must do so at launch (CC 7.0 and up).
    shared_unit, shared_reserved
        A block's shared memory is a multiple of the first, and the system takes the second of each block.
    """

    warps: int
    blocks: int
    threads_per_block: int
    registers: int
    registers_per_thread: int
    register_unit: int
    warp_unit: int
    shared: int
    shared_per_block: int
    shared_unit: int
    shared_reserved: int

    @property
    def static_shared(self) -> int:
        """Bytes of `__shared__` arrays of fixed size that a block may have."""
        return min(STATIC_SHARED, self.shared_per_block)


LIMITS = {
    #                  SM:           block:  SM:      thread: units:    SM:        block:     unit: reserved:
    #                  warps blocks  threads registers regs   regs warp shared     shared     shared shared
    (1, 3):  ChipLimits(32,  8,      512,    16384,   124,    512, 2,   16 * KIB,  16 * KIB,  512,  0),
    (3, 0):  ChipLimits(64,  16,     1024,   65536,   63,     256, 4,   48 * KIB,  48 * KIB,  256,  0),
    (3, 5):  ChipLimits(64,  16,     1024,   65536,   255,    256, 4,   48 * KIB,  48 * KIB,  256,  0),
    (3, 7):  ChipLimits(64,  16,     1024,   131072,  255,    256, 4,   112 * KIB, 48 * KIB,  256,  0),
    (5, 2):  ChipLimits(64,  32,     1024,   65536,   255,    256, 4,   96 * KIB,  48 * KIB,  256,  0),
    (6, 1):  ChipLimits(64,  32,     1024,   65536,   255,    256, 4,   96 * KIB,  48 * KIB,  256,  0),
    (7, 0):  ChipLimits(64,  32,     1024,   65536,   255,    256, 4,   96 * KIB,  96 * KIB,  256,  0),
    (7, 5):  ChipLimits(32,  16,     1024,   65536,   255,    256, 4,   64 * KIB,  64 * KIB,  256,  0),
    (8, 0):  ChipLimits(64,  32,     1024,   65536,   255,    256, 4,   164 * KIB, 163 * KIB, 128,  KIB),
    (8, 6):  ChipLimits(48,  16,     1024,   65536,   255,    256, 4,   100 * KIB, 99 * KIB,  128,  KIB),
    (8, 9):  ChipLimits(48,  24,     1024,   65536,   255,    256, 4,   100 * KIB, 99 * KIB,  128,  KIB),
    (9, 0):  ChipLimits(64,  32,     1024,   65536,   255,    256, 4,   228 * KIB, 227 * KIB, 128,  KIB),
    (12, 0): ChipLimits(48,  24,     1024,   65536,   255,    256, 4,   100 * KIB, 99 * KIB,  128,  KIB),
}


@dataclass(frozen=True)
class SharedLimits:
    """Bytes of shared memory on one architecture.

    Attributes
    ----------
    per_block
        The most that a block may have.
    unit
        What a block takes is a multiple of it.
    reserved
        What the system takes of each block besides.
    """

    per_block: int
    unit: int
    reserved: int


# By the number in "sm_90": those of LIMITS, and those that the compiler or PTX names besides; the latter from CCCL's
# cuda/__device/arch_traits.h (13.4) and, for 7.2, the "CUDA C++ Programming Guide".
SHARED = {10 * cc[0] + cc[1]: SharedLimits(of.shared_per_block, of.shared_unit, of.shared_reserved) for cc, of in LIMITS.items()}
SHARED |= {number: SharedLimits(48 * KIB, 256, 0) for number in (50, 53, 60, 62)} | {72: SharedLimits(96 * KIB, 256, 0)}
SHARED |= {number: SharedLimits(kib * KIB, 128, KIB)
           for number, kib in {87: 163, 88: 99, 100: 227, 103: 227, 107: 227, 110: 227, 121: 99}.items()}


def target_number(target: str) -> int:
    """Return the number in the name of an architecture; 0 where there is none.

    >>> target_number("sm_90a"), target_number("compute_75"), target_number("")
    (90, 75, 0)
    """
    found = re.match(r"(?:sm|compute)_(\d+)", target)
    return int(found[1]) if found else 0


# Single- and double-precision units of an SM; "CUDA C++ Programming Guide", Arithmetic Instructions, throughput per clock.
UNITS = {
    (1, 3): (8, 1), (3, 0): (192, 8), (3, 5): (192, 64), (3, 7): (192, 64), (5, 2): (128, 4), (6, 1): (128, 4), (7, 0): (64, 32),
    (7, 5): (64, 2), (8, 0): (64, 32), (8, 6): (128, 2), (8, 9): (128, 2), (9, 0): (128, 64), (12, 0): (128, 2),
}
# Multiply-adds of an SM's tensor cores a clock, without sparsity, sums in float32: TF32, bfloat16. From the peaks in NVIDIA's white papers
# on A100, H100 (494.7 and 989.4 * 10^12 at 1830 MHz on 132 SMs), GA102, Ada and RTX Blackwell; data sheets print twice that, with sparsity.
TENSOR = {(8, 0): (512, 1024), (8, 6): (128, 256), (8, 9): (128, 256), (9, 0): (1024, 2048), (12, 0): (128, 256)}
MAX_REGISTERS_PER_BLOCK = 65536    # CC 3.0 and up; the same table


@dataclass(frozen=True)
class Device:
    """One GPU (of a card with two, one of them).

    Attributes
    ----------
    cc
        Compute capability, (major, minor).
    sms, cores_per_sm
        Multiprocessors; single-precision cores of one.
    clock_mhz
        The clock that the quoted peak is computed with: the boost clock where there is one.
    bandwidth_gb_s
        Of the device memory, by the data sheet, in 10^9 bytes a second.
    l2_bytes
        0 for GT200, whose second level caches textures only.
    dp_ratio
        Double-precision over single-precision throughput.
    source
        Where the figures are from.
    """

    name: str
    cc: tuple[int, int]
    sms: int
    cores_per_sm: int
    clock_mhz: float
    bandwidth_gb_s: float
    l2_bytes: int
    dp_ratio: float
    source: str

    @property
    def limits(self) -> ChipLimits:
        """The ChipLimits of its compute capability."""
        return LIMITS[self.cc]

    @property
    def peak_gflops(self) -> float:
        """Single-precision peak: two operations per fused multiply-add, one per core and clock, in 10^9 a second."""
        return self.sms * self.cores_per_sm * 2 * self.clock_mhz / 1e3

    @property
    def peak_gflops_double(self) -> float:
        """Double-precision peak, in 10^9 operations a second."""
        return self.peak_gflops * self.dp_ratio

    def peak_gflops_tensor(self, number: str) -> float:
        """Peak of the tensor cores for "tf32" or "bf16" in 10^9 operations a second, at `clock_mhz`; 0 where they take no such numbers.

        The H100's white paper prints it for 1830 MHz, 8 % less; data sheets print twice as much, with sparsity.

        >>> round(device("A100 40GB").peak_gflops_tensor("bf16")), device("T4").peak_gflops_tensor("tf32")
        (311869, 0.0)
        """
        rate = TENSOR.get(self.cc, (0, 0))[("tf32", "bf16").index(number)]
        return self.sms * rate * 2 * self.clock_mhz / 1e3

    @property
    def balance(self) -> float:
        """Single-precision operations that the device can do per byte it can load: the roofline's knee."""
        return self.peak_gflops / self.bandwidth_gb_s

    @property
    def threads_per_sm(self) -> int:
        """The most threads that one SM holds at a time."""
        return self.limits.warps * WARP


MIB = KIB * KIB
DEVICES = {d.name: d for d in (
    #      name           CC      SMs cores  MHz   GB/s    L2          dp/sp
    Device("H200",        (9, 0), 132, 128,  1980, 4800,   60 * MIB,   1 / 2,
           "NVIDIA H200 data sheet; SMs, clock and L2 as its driver reports them"),
    Device("H100 SXM",    (9, 0), 132, 128,  1980, 3350,   50 * MIB,   1 / 2,
           "NVIDIA H100 data sheet; H100 white paper"),
    Device("RTX 5090",    (12, 0), 170, 128, 2407, 1792,   96 * MIB,   1 / 64,
           "NVIDIA RTX Blackwell GPU architecture white paper"),
    Device("RTX 4090",    (8, 9), 128, 128,  2520, 1008,   72 * MIB,   1 / 64,
           "NVIDIA Ada GPU architecture white paper"),
    Device("RTX 3090",    (8, 6), 82,  128,  1695, 936,    6 * MIB,    1 / 64,
           "NVIDIA Ampere GA102 white paper"),
    Device("A100 40GB",   (8, 0), 108, 64,   1410, 1555,   40 * MIB,   1 / 2,
           "NVIDIA A100 white paper"),
    Device("T4",          (7, 5), 40,  64,   1590, 320,    4 * MIB,    1 / 32,
           "NVIDIA Turing white paper, appendix on the T4"),
    Device("V100 SXM2",   (7, 0), 80,  64,   1530, 900,    6 * MIB,    1 / 2,
           "NVIDIA Tesla V100 white paper"),
    Device("GTX 1080",    (6, 1), 20,  128,  1733, 320,    2 * MIB,    1 / 32,
           "NVIDIA GeForce GTX 1080 white paper"),
    Device("Quadro M2200", (5, 2), 8,  128,  1036, 88.1,   1024 * KIB, 1 / 32,
           "as NVIDIA's runtime reports them in Koppelman's homework; the clock, printed as 1.04 GHz, from its peak of 1061 GF"),
    Device("Tesla K40",   (3, 5), 15,  192,  745,  288,    1536 * KIB, 1 / 3,
           "NVIDIA Tesla K40 board specification; base clock"),
    Device("Tesla K80",   (3, 7), 13,  192,  823.5, 240,   1536 * KIB, 1 / 3,
           "one of two GPUs; NVIDIA Tesla K80 board specification; the clock that Wang and Jin compute with"),
    Device("GTX 690",     (3, 0), 8,   192,  1019, 192.2,  512 * KIB,  1 / 24,
           "one of two GPUs; NVIDIA GeForce GTX 690 specifications; boost clock, as on Lee's slides"),
    Device("GTX 295",     (1, 3), 30,  8,    1242, 111.9,  0,          1 / 8,
           "one of two GPUs; NVIDIA GeForce GTX 295 specifications; without the multiplication that can issue beside a multiply-add"),
    Device("GTX 285",     (1, 3), 30,  8,    1476, 159,    0,          1 / 8,
           "NVIDIA GeForce GTX 285 specifications; without the multiplication that can issue beside a multiply-add"),
    Device("Tesla C1060", (1, 3), 30,  8,    1296, 102.4,  0,          1 / 8,
           "NVIDIA Tesla C1060 board specification; without the multiplication that can issue beside a multiply-add"),
)}
DEFAULT_DEVICE = DEVICES["H200"]


def device(name: str) -> Device:
    """Return a Device by name, upper or lower case.

    Raises
    ------
    CourseError
        No such device; the message lists those there are.

    >>> device("h200").sms
    132
    """
    for known in DEVICES.values():
        if known.name.lower() == str(name).lower():
            return known
    raise CourseError(f"There is no device {name!r} in the table. Choose one of: {', '.join(DEVICES)}.", name=name)
