"""Controls of the lesson on tensor cores: a lane's elements, a number's bits, the errors of some kinds of numbers. They compute nothing."""

import math
from collections.abc import Sequence

from course_lib.kernels import Kernel
from course_lib.lessons.tensor_cores.errors import KINDS, Errors, describe_errors, draw_errors, errors_by_depth
from course_lib.lessons.tensor_cores.number_bits import NumberInFormats, describe_bits, draw_bits, in_formats
from course_lib.plots.lane_shares import INSTRUCTIONS, LaneShare, describe_lane, draw_lane, lane_share
from course_lib.simt.isa.fragments import LANES
from course_lib.widgets.explore import Control, Explore

NUMBERS = {"1/3": 1 / 3, "0.1": 0.1, "π": math.pi, "−π": -math.pi, "1 + 2⁻⁷": 1 + 2**-7, "1 + 2⁻⁸": 1 + 2**-8, "1 + 3·2⁻⁸": 1 + 3 * 2**-8,
           "1 + 2⁻¹⁰": 1 + 2**-10, "1 + 2⁻¹¹": 1 + 2**-11, "1 + 2⁻²³": 1 + 2**-23, "2 − 2⁻²³": 2 - 2**-23, "257": 257, "2049": 2049,
           "65,535": 65535, "16,777,215": 16777215, "10⁻³⁰": 1e-30, "10³⁸": 1e38}
FIRST = next(iter(INSTRUCTIONS))
HOW = (("rounded", "rounded"), ("cut off", "cut off"))
COMPARED = ("sgemm_bf16", "sgemm_mma", "sgemm_naive", "sgemm_split")


def lane_facts(share: LaneShare) -> dict[str, str]:
    """Return what the table shows of a lane's share, as a mapping of label to text."""
    return {"multiply-adds of the warp": f"{share.multiply_adds:,}",
            **{f"elements of {name}": f"{len(held)}, in {share.registers[name]} registers" for name, held in share.elements.items()},
            "lanes with factors of its C": str(len(share.sources))}


def lane_sliders(instruction: str = FIRST, lane: int = 5) -> Explore:
    """Put controls on an instruction and on the lane whose elements are marked."""
    controls = (Control("instruction", "shape and numbers", tuple(INSTRUCTIONS), instruction),
                Control("lane", "of the warp", tuple(range(LANES)), lane))
    return Explore(controls, lane_share, facts=lane_facts, picture=lambda share: (draw_lane(share), describe_lane(share)))


def bit_facts(found: NumberInFormats) -> dict[str, str]:
    """Return what the table shows of a number, as a mapping of label to text: by what share of it each format is off."""
    names = {"TF32": "TF32", "bfloat16": "bfloat16 = x0"}
    return {f"{label} is off by": f"{found.error(row):.1e} of x" for label, row in names.items()} | {
        "x0 + x1 + x2 is off by": f"{found.split_error:.1e} of x"}


def bit_sliders(number: str = "1/3", how: str = "rounded") -> Explore:
    """Put controls on a number, and on whether bits that are too many are rounded or cut off."""
    controls = (Control("what is too long is", "to the nearest number of the format, or the bits are left out", HOW, how),
                Control("x", "the number", tuple(NUMBERS.items()), NUMBERS[number]))
    names = {value: name for name, value in NUMBERS.items()}
    return Explore(controls, lambda how, x: in_formats(names[x], x, how == "cut off"), facts=bit_facts,
                   picture=lambda found: (draw_bits(found), describe_bits(found)))


def error_facts(found: Sequence[Errors]) -> dict[str, str]:
    """Return what the table shows of errors: each kernel's largest K, and its share of the bound."""
    last = max(found[0].errors)
    return {f"{e.kernel}, K = {last:,}": f"{e.errors[last]:.1e}, {100 * e.errors[last] / e.bounds[last]:.2g} % of its bound" for e in found}


def error_sliders(kind: str = KINDS[0], names: Sequence[str | Kernel] = COMPARED) -> Explore:
    """Put a control on the numbers in A and B; every position runs the kernels for five K."""
    controls = (Control("numbers", "in A and B", KINDS, kind),)
    return Explore(controls, lambda numbers: errors_by_depth(names, numbers), facts=error_facts, doing="running on the simulator",
                   done="run on the simulator", picture=lambda found: (draw_errors(found), describe_errors(found)))
