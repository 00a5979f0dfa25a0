"""Lesson 21, What does a compiler write?: Triton's PTX for a product, run in the simulator and counted by line of Python."""

from course_lib.explorables import what_triton_wrote
from course_lib.kernels.triton import Setting, written
from course_lib.lessons.compiler.barriers import without_barriers
from course_lib.lessons.compiler.machine import machine_code, machine_loop
from course_lib.lessons.compiler.mask import check_mask
from course_lib.lessons.compiler.order import check_pieces, pieces
from course_lib.lessons.compiler.tables import any_size, beside_ours, by_line, code, multiplying, ptx_of, stages_compared, wavefronts
from course_lib.lessons.compiler.times import given_float16, pipe, speeds, times_as_fast, whole_pipe
from course_lib.run.triton import multiply

__all__ = [
    "Setting", "any_size", "beside_ours", "by_line", "check_mask", "check_pieces", "code", "given_float16", "machine_code",
    "machine_loop", "multiply", "multiplying", "pieces", "pipe", "ptx_of", "speeds", "stages_compared", "times_as_fast",
    "wavefronts", "what_triton_wrote", "whole_pipe", "without_barriers", "written",
]
