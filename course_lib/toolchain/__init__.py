"""NVIDIA's compiler and disassembler, without a GPU: CUDA C to PTX, cubin, SASS and resource use.

And the machine's own C compiler, for the programs that run on the CPU.
"""

from course_lib.toolchain.compiled import Compiled
from course_lib.toolchain.diagnostics import CompileError, Diagnostic, parse_log
from course_lib.toolchain.executed import COUNTED, Executed, executed
from course_lib.toolchain.guard_loops import LoopAlongK, guard_loops
from course_lib.toolchain.host import HostProgram, compile_c
from course_lib.toolchain.host_call import CrashedError, call_in_subprocess, gemm_arguments, gemm_call
from course_lib.toolchain.host_compiler import HostCompiler, host_compiler, no_compiler
from course_lib.toolchain.host_cpu import Blas, blas, blas_threads, cpu_count, cpu_family, cpu_name
from course_lib.toolchain.inner_loop import InnerLoop, inner_loop
from course_lib.toolchain.loop_paths import LoopPath, shortest_path
from course_lib.toolchain.loops import Loop, count, loops
from course_lib.toolchain.nvrtc import compile_cuda, machine_code, nvrtc_version, supported_architectures
from course_lib.toolchain.purpose import purposes
from course_lib.toolchain.resources import Resources, resources
from course_lib.toolchain.sass import SassInstruction, read_back, sass, written
from course_lib.toolchain.step_along_k import WholeStep, whole_step
from course_lib.toolchain.tensor_step import TensorStep, tensor_step
from course_lib.toolchain.timed import between_clocks

__all__ = [
    "COUNTED",
    "Blas",
    "CompileError",
    "Compiled",
    "CrashedError",
    "Diagnostic",
    "Executed",
    "HostCompiler",
    "HostProgram",
    "InnerLoop",
    "Loop",
    "LoopAlongK",
    "Resources",
    "SassInstruction",
    "TensorStep",
    "LoopPath",
    "WholeStep",
    "between_clocks",
    "blas",
    "blas_threads",
    "call_in_subprocess",
    "compile_c",
    "compile_cuda",
    "count",
    "cpu_count",
    "cpu_family",
    "cpu_name",
    "executed",
    "gemm_arguments",
    "gemm_call",
    "guard_loops",
    "host_compiler",
    "inner_loop",
    "no_compiler",
    "loops",
    "machine_code",
    "nvrtc_version",
    "parse_log",
    "purposes",
    "read_back",
    "resources",
    "sass",
    "shortest_path",
    "supported_architectures",
    "tensor_step",
    "whole_step",
    "written",
]
