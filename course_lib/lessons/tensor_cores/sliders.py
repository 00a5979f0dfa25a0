"""The control of the lesson on tensor cores: a lane's elements. It computes nothing."""

from course_lib.plots.lane_shares import INSTRUCTIONS, LaneShare, describe_lane, draw_lane, lane_share
from course_lib.simt.isa.fragments import LANES
from course_lib.widgets.explore import Control, Explore

FIRST = next(iter(INSTRUCTIONS))


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
