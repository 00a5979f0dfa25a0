"""One step along K of a kernel for tensor cores, in machine code: its matrix instructions, and all others beside them."""

from collections import Counter
from dataclasses import dataclass, field

from course_lib.errors import CourseError
from course_lib.kernels import Kernel, get
from course_lib.toolchain.loop_paths import shortest_in
from course_lib.toolchain.loops import graph, loops
from course_lib.toolchain.nvrtc import compile_cuda
from course_lib.toolchain.sass import sass

# Rows, columns and depth, which run together in the instruction's name, or not
SHAPES = {"1684": 16 * 8 * 4, "1688": 16 * 8 * 8, "16816": 16 * 8 * 16,
          "8x8x4": 8 * 8 * 4, "16x8x4": 16 * 8 * 4, "16x8x8": 16 * 8 * 8, "16x8x16": 16 * 8 * 16}


@dataclass(frozen=True)
class TensorStep:
    """What a warp executes in one turn of the loop along K, on the shortest path through it.

    Attributes
    ----------
    multiply_adds
        On tensor cores, of the whole warp; six for each of the product's in a split.
    loads, instructions
        Loads from global memory, and all instructions.
    opcodes
        Instructions that stand in the loop, those of branches not taken too: "HMMA", "DMMA", "LDS", "LDSM", "STS", "FADD", …
    shapes
        Of the matrix instructions, as the machine code names them, each with how many there are.
    """

    multiply_adds: int
    loads: int
    instructions: int
    opcodes: Counter[str] = field(hash=False, repr=False)
    shapes: Counter[str] = field(hash=False, repr=False)

    @property
    def per_multiply_add(self) -> float:
        """Return the instructions of a warp for each 32 multiply-adds, which cost a kernel without tensor cores one FFMA."""
        return 32 * self.instructions / self.multiply_adds


def tensor_step(kernel: str | Kernel, *, arch: str = "sm_90", **parameters: int) -> TensorStep:
    """Find the loop along K of a kernel for tensor cores, and the shortest path through it that loads whole vectors.

    Parameters
    ----------
    **parameters
        Of the kernel.

    Raises
    ------
    CourseError
        For a kernel without tensor cores, or with several loops of matrix instructions.

    >>> step = tensor_step("sgemm_split")             # 64 × 32 × 16 multiply-adds of a warp, six times
    >>> step.multiply_adds // 6, step.opcodes["HMMA"], step.loads
    (32768, 96, 4)
    >>> tensor_step("dgemm_stream_k").shapes["16x8x8"]               # 64 × 32 × 16 in float64, 16 × 8 × 8 at a time
    32
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    values, base = kernel.check(**parameters), "DMMA" if kernel.dtype == "float64" else "HMMA"
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=kernel.defines(**values)), kernel.entry)
    busy = [loop for loop in loops(code) if loop.counts[base]]
    inner = [loop for loop in busy if not any(other != loop and other.within(loop) for other in busy)]
    if not inner:
        why = ("its warps have different roles, and no step that all of them make" if kernel.boxes else
               "it uses no tensor cores: inner_loop and whole_step count its instructions")
        raise CourseError(f"{kernel.name} has no step of `mma`: {why}", kernel=kernel.name)
    if len(inner) != 1:
        raise CourseError(f"{kernel.name} has {len(inner)} loops with matrix instructions in its machine code for {arch}, not one",
                          kernel=kernel.name)
    shapes = Counter(i.opcode.split(".")[1] for i in inner[0].instructions if i.base == base)
    elements = (values["BM"] + values["BN"]) * values["BK"] // kernel.block(**values)[0]      # that a thread loads
    vector = 1 if not inner[0].counts["LDG.128"] else 8 if kernel.stored else 4
    loads = 0 if inner[0].counts["LDGSTS"] else elements // vector         # or copies asynchronously
    path = shortest_in(graph(code), inner[0], base, loads)
    return TensorStep(sum(SHAPES[shape] * count for shape, count in shapes.items()), path.loads, path.instructions,
                      Counter(i.base for i in inner[0].instructions), shapes)
