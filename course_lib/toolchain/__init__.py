"""NVIDIA's compiler and disassembler, without a GPU: CUDA C to PTX, cubin, SASS and resource use."""

from course_lib.toolchain.diagnostics import CompileError, Diagnostic, parse_log
from course_lib.toolchain.nvrtc import Compiled, compile_cuda, nvrtc_version, supported_architectures

__all__ = [
    "CompileError",
    "Compiled",
    "Diagnostic",
    "compile_cuda",
    "nvrtc_version",
    "parse_log",
    "supported_architectures",
]
