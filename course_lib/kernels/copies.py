"""A copy that takes its elements from wherever it is told: stride, offset and width of a load, and nothing else."""

from collections.abc import Iterator

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import Parameter, Rule
from course_lib.kernels.rules import WHY_VECTORS

PARAMETERS = (
    Parameter("stride", "vectors from one that is read to the next", 1, high=1 << 16, choices=(1, 2, 3, 4, 8, 16, 32)),
    Parameter("offset", "floats before the first that is read", 0, low=0, high=1 << 16, choices=(0, 1, 2, 4, 8, 16, 32)),
    Parameter("VEC", "floats of one load", 1, high=4, choices=(1, 2, 4)),
    Parameter("threads", "threads of a block", 256, choices=(32, 64, 128, 256, 512, 1024)),
)


def width_rule() -> Rule:
    """Return the rule that a load moves 1, 2 or 4 floats.

    >>> width_rule().problem({"VEC": 3})
    'VEC = 3: one load moves 1, 2 or 4 floats'
    """
    return Rule("4 % VEC == 0", "the machine has loads of 32, 64 and 128 bits a lane, and no others", lambda p: p["VEC"] in (1, 2, 4),
                lambda p: f"VEC = {p['VEC']}: one load moves 1, 2 or 4 floats")


def aligned_rule() -> Rule:
    """Return the rule that vectors lie at multiples of their size.

    >>> aligned_rule().problem({"VEC": 4, "offset": 6})
    'offset = 6 is no multiple of VEC = 4: offset can be any multiple of 4, for example 4 or 8'
    """
    def says(p):
        below = p["offset"] // p["VEC"] * p["VEC"]
        return (f"offset = {p['offset']} is no multiple of VEC = {p['VEC']}: offset can be any multiple of {p['VEC']}, "
                f"for example {below} or {below + p['VEC']}")
    return Rule("offset % VEC == 0", f"{WHY_VECTORS}, one of 64 bits two at a multiple of 8; the hardware refuses any other address",
                lambda p: p["offset"] % max(p["VEC"], 1) == 0, says)


def kernels() -> Iterator[Kernel]:
    """Yield the kernel."""
    yield Kernel(
        "copy_strided", FOLDER / "copy_strided.cu", "copy_strided",
        idea="copies a piece of VEC floats out of every stride pieces, one with each load", lesson="05_coalescing",
        kind="gather", parameters=PARAMETERS, rules=(width_rule(), aligned_rule()), passes=("VEC", "threads"),
        passes_as={"threads": "THREADS"}, block_of=lambda p: (p["threads"], 1, 1),
        grid_of=lambda n, p: (ceil_div(ceil_div(n, p["VEC"]), p["threads"]), 1, 1))
