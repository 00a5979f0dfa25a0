"""Lesson 16, Tensor cores: which lane holds what, and how many wavefronts feed one instruction."""

from course_lib.explorables import fragments as who_holds_what
from course_lib.explorables import matrix_load as how_ldmatrix_reads
from course_lib.lessons.tensor_cores.counts import wavefronts_from_l1, wavefronts_of_an_mma, ways_to_load
from course_lib.lessons.tensor_cores.mistake import exchanged, through_unit, with_a_mistake
from course_lib.lessons.tensor_cores.padding import paddings, speed_with_padding
from course_lib.lessons.tensor_cores.pictures import tile_of_a_warp, work_of_a_warp
from course_lib.lessons.tensor_cores.times import in_float64, scoreboard

__all__ = ["exchanged", "how_ldmatrix_reads", "in_float64", "paddings", "scoreboard", "speed_with_padding", "through_unit",
           "tile_of_a_warp", "wavefronts_from_l1", "wavefronts_of_an_mma", "ways_to_load",
           "who_holds_what", "with_a_mistake", "work_of_a_warp"]
