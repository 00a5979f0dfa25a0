"""Animated pictures in the browser, one ES module and one Python class each; docs/explorables.md says how to write one."""

from course_lib.errors import require

require("course_lib.explorables", "anywidget", "matplotlib")

from course_lib.explorables.banks import banks
from course_lib.explorables.cache_block import cache_blocks
from course_lib.explorables.coalescing import one_request, tile_load
from course_lib.explorables.few_bits import few_bits
from course_lib.explorables.fragments import fragments
from course_lib.explorables.gap import gap
from course_lib.explorables.hand_over import hand_over
from course_lib.explorables.lanes import lanes
from course_lib.explorables.matrix_load import matrix_load
from course_lib.explorables.orders import two_orders
from course_lib.explorables.overtaking import overtaking
from course_lib.explorables.race import race
from course_lib.explorables.reads import register_reads
from course_lib.explorables.roles import producer_and_consumers
from course_lib.explorables.sets import sets
from course_lib.explorables.sharing import tiles_on_multiprocessors
from course_lib.explorables.stages import tiles_on_their_way
from course_lib.explorables.threads import who_computes
from course_lib.explorables.tiling import side_by_side
from course_lib.explorables.triton import what_triton_wrote
from course_lib.explorables.unroll import unroll
from course_lib.explorables.warps import warp_timelines

__all__ = ["banks", "cache_blocks", "few_bits", "fragments", "gap", "hand_over", "lanes", "matrix_load", "one_request", "overtaking",
           "producer_and_consumers", "race", "register_reads", "sets", "side_by_side", "tile_load",
           "tiles_on_multiprocessors", "tiles_on_their_way", "two_orders", "unroll", "warp_timelines", "what_triton_wrote", "who_computes"]
