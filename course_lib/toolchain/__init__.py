"""NVIDIA's compiler and disassembler, without a GPU: CUDA C to PTX, cubin, SASS and resource use."""

from course_lib.toolchain.diagnostics import CompileError, Diagnostic, parse_log
from course_lib.toolchain.loops import Loop, count, loops
from course_lib.toolchain.nvrtc import Compiled, compile_cuda, nvrtc_version, supported_architectures
from course_lib.toolchain.resources import Resources, resources
from course_lib.toolchain.sass import SassInstruction, sass

__all__ = [
    "CompileError",
    "Compiled",
    "Diagnostic",
    "Loop",
    "Resources",
    "SassInstruction",
    "compile_cuda",
    "count",
    "loops",
    "nvrtc_version",
    "parse_log",
    "resources",
    "sass",
    "supported_architectures",
]
