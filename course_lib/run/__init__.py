"""Launch a kernel: one kernel, one input, one `RunResult`, on a GPU or on the simulator.

    from course_lib.run import run
    run("sgemm_tiled", A, B, BM=16, BN=16, BK=16)

and for programs on this machine's CPU `run_cpu("gemm_packed", A, B, threads=2)` and `count_lines("gemm_ijk", A, B)`.
"""

from course_lib.model.number_formats import from_bf16, from_e4m3, to_bf16, to_e4m3
from course_lib.run.accuracy import Mismatch, matches, max_error, mismatch, reference, tolerance
from course_lib.run.ahead import Offer, compile_ahead, compile_offered, offer, translate_ahead
from course_lib.run.bound import bound_of, one_block, work_of
from course_lib.run.choice import Choice, choose, run_chosen
from course_lib.run.copies import GatherResult, run_gather
from course_lib.run.cpu import build_cpu, resolve_cpu, run_cpu
from course_lib.run.cpu_peak import CpuPeak, cpu_peak
from course_lib.run.cpu_result import CpuResult
from course_lib.run.footprint import Footprint, footprint
from course_lib.run.in_flight import CopyWait, PipelineStep, pipeline_steps, stages_in_flight
from course_lib.run.launch import KernelLaunch, choose_backend, execute
from course_lib.run.limits import LaunchLimits, UnderWay, copies_under_way, limits_of
from course_lib.run.lines import LineCount, count_lines
from course_lib.run.micro import MicroResult, run_micro
from course_lib.run.operands import KernelReads, kernel_reads, loop_reads
from course_lib.run.product import resolve, run
from course_lib.run.reads_ahead import ReadAhead, reads_ahead
from course_lib.run.result import LaunchResult, RunResult, counter_name, line_table, per_line
from course_lib.run.steps import StepResult, run_multiply, run_split, run_sum, run_transpose, run_unfused
from course_lib.run.vectors import VectorsResult, run_vectors

__all__ = [
    "Choice", "CopyWait", "CpuPeak", "CpuResult", "Footprint", "GatherResult", "KernelLaunch", "KernelReads", "LaunchLimits",
    "LaunchResult", "LineCount", "MicroResult", "Mismatch", "Offer", "PipelineStep", "ReadAhead", "RunResult", "StepResult", "UnderWay",
    "VectorsResult", "bound_of", "build_cpu", "choose", "choose_backend", "compile_ahead", "compile_offered", "copies_under_way",
    "count_lines", "counter_name", "cpu_peak", "execute", "footprint", "from_bf16", "from_e4m3", "kernel_reads", "limits_of",
    "line_table", "loop_reads", "matches", "max_error", "mismatch", "offer", "one_block", "per_line", "pipeline_steps", "reads_ahead",
    "reference", "resolve", "resolve_cpu", "run", "run_chosen", "run_cpu", "run_gather", "run_micro", "run_multiply", "run_split",
    "run_sum", "run_transpose", "run_unfused", "run_vectors", "stages_in_flight", "to_bf16", "to_e4m3", "tolerance", "translate_ahead",
    "work_of",
]
