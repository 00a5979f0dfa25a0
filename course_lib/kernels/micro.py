"""The clock-based microbenchmarks: one small thing done STEPS times between two readings of the multiprocessor's clock."""

from collections.abc import Iterator

from course_lib.arch import MAX_REGISTERS_PER_BLOCK, WARP
from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_STATIC_SHARED, Parameter, Rule
from course_lib.kernels.rules import WHY_SHARED

KIB = 1024
TABLE = (1, 32, 64, 128, 192, 256, 384, 512, 768, 1024)      # threads of a block, as in Chien's Tables 2 and 3 and up to today's most
THREADS = Parameter("threads", "threads of the block", 32, choices=TABLE)
STEPS = Parameter("STEPS", "steps between the two readings of the clock", 256, high=1024, choices=(32, 64, 128, 256, 512))
REGISTERS = Parameter("REGISTERS", "registers that a multiply-add reads", 3, low=2, high=3, choices=(2, 3))
FEWER_STEPS = Parameter("STEPS", "steps between the two readings of the clock", 64, high=512, choices=(32, 64))
CHAINS = Parameter("CHAINS", "chains of each thread that do not wait for each other", 4, high=8, choices=(1, 2, 4, 8))
SPREAD = Parameter("spread", "words from the slot of one thread to that of the next", 1, low=0, high=1024, choices=(0, 1, 2, 4, 8, 16, 32))
SLOTS = Parameter("SLOTS", "words of the ring", 4096, high=MAX_STATIC_SHARED // 4, choices=(1024, 4096))
RING = (
    Parameter("footprint", "bytes of the ring", 4 * KIB, low=8, high=2**30, choices=tuple(KIB * 4**i for i in range(1, 10))),
    Parameter("stride", "bytes from one slot to the next", 128, low=8, high=2**30, choices=(8, 32, 64, 128, 256, 512)),
    Parameter("jump", "slots from one hop to the next", 1, high=2**20, choices=(1, 3, 33, 1025)),
    Parameter("WARM", "hops before those that are measured", 8192, low=0, high=2**20, choices=(0, 1024, 8192)),
)
LOADS = Parameter("LOADS", "independent loads of each thread", 8, high=48, choices=(1, 2, 4, 8))
WIDE = (Parameter("threads", "threads of a block", 256, choices=TABLE),
        Parameter("blocks", "blocks of the grid", 1, high=2**20, choices=(1, 66, 132, 264)),
        Parameter("footprint", "bytes of the array; the loads are at its start", 4 * KIB * KIB, low=256, high=2**30,
                  choices=(4 * KIB * KIB, 256 * KIB * KIB)))
OUTER = (
    Parameter("threads", "threads of a block", 256, choices=(32, 256)),
    Parameter("blocks", "blocks of the grid", 1, high=2**20, choices=(1, 132, 264)),
    Parameter("STEPS", "outer products between the two readings of the clock", 256, high=2**16, choices=(256,)),
    Parameter("TM", "rows of the sums of a thread", 8, high=16, choices=(8, 12, 16)),
    Parameter("TN", "columns of the sums of a thread", 8, high=16, choices=(8,)),
    Parameter("SERPENTINE", "1: every other row runs backwards", 0, low=0, high=1, choices=(0, 1)),
)
SPARE = 32                 # registers of a thread beside the sums and their factors: addresses, the clock, the counter
WHY_REGISTERS = "the sums and their factors stay in registers, of which an SM has 65,536 and a thread at most 255"
WHY_SLOTS = "a slot holds an address of 8 bytes at a multiple of 8, and the ring is made of whole slots"
WHY_FRESH = "the measured words must not have been read before, so a block reads others in each of its two passes"


def slots_rule() -> Rule:
    """Return the rule that slots are whole addresses.

    >>> slots_rule().problem({"footprint": 64, "stride": 128})
    'stride = 128 with footprint = 64: the stride must be a multiple of 8 and no larger than the footprint'
    """
    return Rule("stride % 8 == 0 and stride <= footprint", WHY_SLOTS, lambda p: p["stride"] % 8 == 0 and p["stride"] <= p["footprint"],
                lambda p: f"stride = {p['stride']} with footprint = {p['footprint']}: the stride must be a multiple of 8 and no larger "
                "than the footprint")


def loads_fit_rule() -> Rule:
    """Return the rule that the loaded words of a block fit in static shared memory."""
    def size(p):
        return 4 * p["LOADS"] * p["threads"]

    def says(p):
        return (f"{p['LOADS']} words of {p['threads']} threads take {size(p)} bytes, but at most {MAX_STATIC_SHARED} (48 KiB) of shared "
                f"memory are allowed: with threads = {p['threads']}, LOADS can be up to {MAX_STATIC_SHARED // (4 * p['threads'])}")
    return Rule(f"4 * LOADS * threads <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)


def loaded_rule() -> Rule:
    """Return the rule that the array holds the words of all blocks, twice."""
    def size(p):
        return 8 * p["blocks"] * p["LOADS"] * ceil_div(p["threads"], WARP) * WARP
    return Rule("8 * blocks * LOADS * (threads in whole warps) <= footprint", WHY_FRESH, lambda p: size(p) <= p["footprint"],
                lambda p: f"two passes read {size(p)} bytes, but footprint = {p['footprint']}: take a footprint of {size(p)} or more")


def registers_rule() -> Rule:
    """Return the rule that a thread's sums and factors fit into its registers.

    >>> registers_rule().problem({"TM": 16, "TN": 8, "threads": 512})
    'TM = 16 with TN = 8 takes 184 registers of a thread, but of 512 threads each can have 128: take a smaller TM or TN, or fewer threads'
    """
    def taken(p):
        return p["TM"] * p["TN"] + p["TM"] + p["TN"] + SPARE

    def had(p):
        return min(255, MAX_REGISTERS_PER_BLOCK // (ceil_div(p["threads"], 4 * WARP) * 4 * WARP) // 8 * 8)

    def says(p):
        return (f"TM = {p['TM']} with TN = {p['TN']} takes {taken(p)} registers of a thread, but of {p['threads']} threads each can have "
                f"{had(p)}: take a smaller TM or TN, or fewer threads")
    return Rule(f"TM * TN + TM + TN + {SPARE} <= registers of a thread", WHY_REGISTERS, lambda p: taken(p) <= had(p), says)


def kernels() -> Iterator[Kernel]:
    """Yield the microbenchmarks: arithmetic, shared memory, global memory, registers."""
    yield _kernel("micro_fma", "a chain of multiply-adds with operands in registers", (THREADS, STEPS, REGISTERS), ("STEPS", "REGISTERS"))
    yield _kernel("micro_chains", "chains of multiply-adds that do not wait for each other", (THREADS, FEWER_STEPS, CHAINS),
                  ("STEPS", "CHAINS"))
    yield _kernel("micro_fma_shared", "a chain of multiply-adds with one operand in shared memory", (THREADS, STEPS), ("STEPS",),
                  shared=lambda p: 4 * p["STEPS"])
    yield _kernel("micro_shared", "a ring of addresses in shared memory", (THREADS, STEPS, SPREAD, SLOTS), ("STEPS", "SLOTS"),
                  shared=lambda p: 4 * p["SLOTS"])
    yield _kernel("micro_global", "a ring of addresses in global memory", (THREADS, STEPS, *RING), ("STEPS", "WARM"), (slots_rule(),))
    yield _kernel("micro_loads", "independent loads against active threads", (*WIDE, LOADS), ("LOADS", "threads"),
                  (loads_fit_rule(), loaded_rule()), lambda p: 4 * p["LOADS"] * p["threads"])
    yield _kernel("micro_outer", "outer products of registers, row by row or in serpentine order", OUTER,
                  ("STEPS", "TM", "TN", "SERPENTINE", "threads"), (registers_rule(),), lesson="15_closing_in")


def _kernel(name, idea, parameters, passes, rules=(), shared=lambda p: 0, lesson="12_measuring"):
    return Kernel(name, FOLDER / f"{name}.cu", name, idea=idea, lesson=lesson, parameters=parameters, rules=rules, passes=passes,
                  passes_as={"threads": "THREADS"}, kind="micro", block_of=lambda p: (p["threads"], 1, 1),
                  grid_of=lambda p: (p.get("blocks", 1), 1, 1), shared_of=shared)
