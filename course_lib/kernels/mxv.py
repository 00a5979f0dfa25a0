"""The eight kernels of the LSU homework: a constant M × N matrix times S vectors."""

import math
from collections.abc import Iterator

from course_lib.kernels.kernel import FOLDER, Kernel
from course_lib.kernels.parameters import MAX_STATIC_SHARED, Parameter, Rule
from course_lib.kernels.rules import WHY_SHARED, WHY_VECTORS, WHY_WHOLE, divides_rule

CONSTANT = 64 * 1024         # bytes of constant memory; CUDA C++ Programming Guide, "Compute Capabilities"
MOST = math.isqrt(CONSTANT // 4)          # rows and columns of the largest square matrix of floats that lies there
SIZES = (
    Parameter("M", "components of an output vector", 16, high=MOST, choices=(8, 16, 32)),
    Parameter("N", "components of an input vector", 16, high=MOST, choices=(8, 16, 32)),
)
THREADS = Parameter("threads", "threads of a block", 256, choices=(128, 256, 384, 512, 640, 768, 896, 1024))
BLOCKS = Parameter("blocks", "blocks of the grid", 132, high=2**31 - 1, choices=(8, 16, 66, 132, 264))
CHUNK = Parameter("CHUNK", "components brought on chip at a time", 8, high=32, choices=(4, 8, 16))


def fours_rule() -> Rule:
    """Return the rule that a vector is made of whole loads of four."""
    return Rule("N % 4 == 0", WHY_VECTORS, lambda p: p["N"] % 4 == 0, lambda p: f"N = {p['N']} is no multiple of 4: "
                f"N can be {p['N'] // 4 * 4 or 4} or {p['N'] // 4 * 4 + 4}")


def carried_rule() -> Rule:
    """Return the rule of mxv_vls: N/4 lanes carry a vector between them."""
    return Rule("M == N and 32 % (N/4) == 0", "the 32 lanes of a warp share out whole vectors, in and out",
                lambda p: p["M"] == p["N"] and p["N"] % 4 == 0 and 32 % (p["N"] // 4) == 0,
                lambda p: f"M = {p['M']}, N = {p['N']}: both must be the same, one of 4, 8, 16, 32, 64, 128")


def whole_warps_rule() -> Rule:
    """Return the rule that a block has whole warps."""
    return Rule("threads % 32 == 0", WHY_WHOLE, lambda p: p["threads"] % 32 == 0,
                lambda p: f"threads = {p['threads']} is no multiple of 32: it can be {p['threads'] // 32 * 32 + 32}")


def chunk_rule() -> Rule:
    """Return the rule that a chunk of each of the block's vectors fits in static shared memory."""
    def size(p):
        return 4 * p["threads"] * (p["CHUNK"] + 1)

    def says(p):
        largest = MAX_STATIC_SHARED // (4 * p["threads"]) - 1
        return (f"{p['threads']} rows of CHUNK + 1 = {p['CHUNK'] + 1} floats take {size(p)} bytes, but at most {MAX_STATIC_SHARED} "
                f"(48 KiB) of shared memory are allowed: with threads = {p['threads']}, CHUNK can be up to {largest}")
    return Rule(f"4 * threads * (CHUNK + 1) <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)


def group_rule() -> Rule:
    """Return the rule that the CHUNK threads of a vector lie in one warp."""
    return Rule("32 % CHUNK == 0", WHY_WHOLE, lambda p: 32 % p["CHUNK"] == 0,
                lambda p: f"CHUNK = {p['CHUNK']} does not divide 32: it can be 1, 2, 4, 8, 16 or 32")


def kernels() -> Iterator[Kernel]:
    """Yield the eight kernels in the homework's order."""
    yield _kernel("mxv_g_only", "a thread per vector, straight from global memory")
    yield _kernel("mxv_i_lbuf", "the input vector waits in registers: all loads first")
    yield _kernel("mxv_o_lbuf", "the output vector grows in registers, an element of the input serves M sums")
    yield _kernel("mxv_o_per_thd", "a thread per output component")
    yield _kernel("mxv_vec_ld", "four components with every load", rules=(fours_rule(),))
    yield _kernel("mxv_vls", "N/4 lanes read vectors side by side and carry them to their owners",
                  rules=(carried_rule(), whole_warps_rule()), shared=lambda p: 16 * p["threads"], fixed_block=True)
    yield _kernel("mxv_sh", "chunks of all vectors of a block through shared memory", (CHUNK,),
                  (divides_rule("threads", "CHUNK"), chunk_rule()),
                  shared=lambda p: 4 * p["threads"] * (p["CHUNK"] + 1), fixed_block=True)
    yield _kernel("mxv_sh_ochunk", "CHUNK threads share a vector and divide its outputs", (CHUNK,),
                  (divides_rule("M", "CHUNK"), group_rule(), whole_warps_rule()),
                  shared=lambda p: 4 * p["threads"], fixed_block=True)


def _kernel(name, idea, extra=(), rules=(), shared=lambda p: 0, fixed_block=False):
    """A kernel of the family; `fixed_block`: the file needs to know the threads of a block."""
    passed = ("M", "N", *(("threads",) if fixed_block else ()), *(p.name for p in extra))
    return Kernel(name, FOLDER / f"{name}.cu", name, idea=idea, lesson="13_matrix_vector", parameters=(*SIZES, THREADS, BLOCKS, *extra),
                  rules=rules, passes=passed, passes_as={"threads": "THREADS"}, kind="vectors",
                  block_of=lambda p: (p["threads"], 1, 1), grid_of=lambda S, p: (p["blocks"], 1, 1), shared_of=shared)
