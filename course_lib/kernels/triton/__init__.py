"""A product in Triton, and the PTX that Triton made of it, which lesson 21 runs."""

from course_lib.kernels.triton.texts import FOLDER, PROGRAM, SETTINGS, Setting, Written, digest_of, program_of, written

__all__ = ["FOLDER", "PROGRAM", "SETTINGS", "Setting", "Written", "digest_of", "program_of", "written"]
