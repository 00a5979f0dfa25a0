"""Run CUDA kernels without a GPU: NVIDIA's compiler, our execution of its PTX, a profiler's counters.

    report = simt.launch(source, "kernel", grid, block, args)

`docs/simulator.md` tells how a warp runs on a CPU.
"""

from course_lib.simt.async_report import AsyncFinding, Pipeline, ProductFinding
from course_lib.simt.errors import (
    AssertionFailed,
    BarrierDeadlock,
    ClusterMisuse,
    CompileError,
    DivergentBarrier,
    InactiveLane,
    InvalidMask,
    InvalidOperand,
    InvalidTarget,
    KernelTrap,
    LaunchError,
    MbarrierMisuse,
    Misaligned,
    OutOfBounds,
    PartialWarp,
    PtxSyntaxError,
    SimtError,
    StackOverflow,
    StepBudgetExceeded,
    UnsupportedInstruction,
)
from course_lib.simt.host.ahead import prepare_runtime, translate_ahead
from course_lib.simt.host.images import Surface, Texture
from course_lib.simt.launch import launch
from course_lib.simt.report import BarrierMeeting, DeviceArray, Hazard, LostAlignment, Report, SharedVariable, StrayShuffle, TraceRecord
from course_lib.tensor_maps import TensorMap

__all__ = [
    "AssertionFailed", "AsyncFinding", "BarrierDeadlock", "BarrierMeeting", "ClusterMisuse", "CompileError", "DeviceArray",
    "DivergentBarrier", "Hazard", "InactiveLane", "InvalidMask", "InvalidOperand", "InvalidTarget", "KernelTrap", "LaunchError",
    "LostAlignment", "MbarrierMisuse", "Misaligned", "OutOfBounds", "PartialWarp", "Pipeline", "ProductFinding", "PtxSyntaxError", "Report",
    "SharedVariable", "SimtError", "StackOverflow", "StepBudgetExceeded", "StrayShuffle", "Surface", "TensorMap", "Texture", "TraceRecord",
    "UnsupportedInstruction", "launch", "prepare_runtime", "translate_ahead",
]
