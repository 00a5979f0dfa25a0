"""Pictures beside the sliders that are for any kernel: the roofline's point, one access, machine code, errors."""

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes

from course_lib.arch import SECTOR_BYTES, device
from course_lib.errors import CourseError
from course_lib.model import Bound, memory_roofs, peak
from course_lib.plots import bars, describe_roofline, linked_code, requests, roofline, style
from course_lib.run import LaunchResult, RunResult, VectorsResult, bound_of, one_block
from course_lib.widgets.accesses import draw
from course_lib.widgets.compute import evaluate
from course_lib.widgets.pictures import SMALL

LIMITS = {"fma": "the multiply-adds", "operands": "reading operands", "tensor": "tensor cores",
          "mma.sync": "mma.sync on tensor cores", "issue": "issuing instructions", "shared": "shared memory",
          "L1": "the L1's data path", "L1 banks": "the L1's banks", "L2": "the L2", "DRAM": "memory",
          "latency": "latency"}                                          # the terms of `model.bound`


def roofline_point(result: RunResult, bound: Bound | None = None) -> tuple[float, float, str, str]:
    """Return where a product lies under the roofs: (operations a byte of all global requests, GFLOP/s, label, what binds).

    On a GPU the speed is the measured one; else the most that `model.lower_bound` lets it be.
    """
    moved = SECTOR_BYTES * (result.count("sectors") + result.count("sectors", "store"))
    bound = bound or bound_of(result)
    if result.gflops:
        return result.flops / moved, result.gflops, result.label, bound.binds
    return result.flops / moved, result.flops / bound.seconds / 1e9, "at most, modelled", bound.binds


def roofline_picture(result: RunResult) -> tuple[Axes, str]:
    """Draw where a product lies under the roofs of the device: memory's, and the caches' next to the multiprocessors.

    The traffic is that of all global requests. A point above the memory's roof is served by caches in part.
    """
    return draw_roofs(result, bound_of(result), style.axes(None, **SMALL))


def draw_roofs(result: RunResult, bound: Bound, ax: Axes, *, small: bool = False) -> tuple[Axes, str]:
    """Draw the roofline of a result into Axes, in a small panel without memory's roof; return (Axes, alternative text)."""
    on = device(result.device)
    cache = memory_roofs(on)["L1 caches"]
    roofs = {f"L1 caches, {cache:,.0f} GB/s": cache} | ({} if small else {f"memory, {on.bandwidth_gb_s:,.0f} GB/s": on.bandwidth_gb_s})
    x, y, label, binds = roofline_point(result, bound)
    points = {f"{label}: {y:,.0f} GFLOP/s": (x, y)}
    double = result.kernel.dtype == "float64"
    title = f"Limit: {LIMITS[binds]}" if small else f"{on.name}: limited by {LIMITS[binds]}"
    ax = roofline(on, points, ax, title=title, traffic="of all requests", double=double, bandwidths=roofs)
    ax.set(xlim=(min(x, 1 / 8), max(x, 128)), ylim=(min(y / 2, 128), 2 * peak(on, double)))     # the point moves, not the axes
    ax.legend(loc="upper center", bbox_to_anchor=(0.42, -0.28 if small else -0.17), fontsize=10)      # below: the point may lie anywhere
    if small:
        ax.set_title(ax.get_title(loc="left"), fontsize=14)
        ax.tick_params(labelsize=10)
        ax.set_xlabel("operations per byte\nof all requests", fontsize=12)
        ax.set_ylabel("GFLOP/s", fontsize=12)
    return ax, f"{describe_roofline(on, points, double=double, bandwidths=roofs)} Modelled limit: {LIMITS[binds]}."


def access_picture(array: str | None = None, *, load: bool = True, line: int | None = None, number: int = 0, warp: int = 0,
                   banks: int = 32) -> Callable[[LaunchResult], tuple[Axes, str]]:
    """Return a picture for `live`: the lanes of one access of the kernel that was just run, over sectors or banks.

    Parameters
    ----------
    array
        A matrix, or a `__shared__` array; default the first that the kernel accesses.
    load
        Loads, or stores.
    line
        Source line.
    number
        Which of the warp's accesses that fit, from 0.
    warp
        Of block (0, 0, 0).
    banks
        32 or 16.
    """
    def picture(result):
        traced = retraced(result, warp)
        shared = {v.name for v in traced.shared}
        found = requests(traced, array=array, load=load, line=line, space="shared" if array in shared else "global")
        if number >= len(found):
            verb = "load" if load else "store"
            raise CourseError(f"warp {warp} of the first block has {len(found)} such accesses ({verb}, {array or 'any array'}), "
                              f"but number {number} was asked for")
        base = next((a.address for a in traced.arrays if a.name == array), None)
        return draw(found[number], banks, base, small=True)
    return picture


def retraced(result: Any, warp: int = 0) -> LaunchResult:
    """Run the kernel of a result again with one warp of its first block traced, on no more of the data than that block needs.

    It may be a RunResult, a StepResult, a GatherResult or a VectorsResult; the simulator runs it.
    """
    if isinstance(result, RunResult) and result.kernel.layout == "row":
        return one_block(result, warps=(warp,))
    size = result.n if hasattr(result, "n") else len(result.out)
    if isinstance(result, VectorsResult):
        size = min(size, result.block[0])               # what block 0 takes first, whatever the kernel
    padding = {"lda": result.ld - size} if getattr(result, "ld", None) else {}
    return evaluate(result.kernel, size, result.parameters | padding, backend="sim", trace=[((0, 0, 0), warp)])


def code_picture(result: LaunchResult) -> tuple[Axes, str]:
    """Draw the machine instructions of the inner loop for each multiply-add, by kind."""
    code = linked_code(result.kernel, arch="sm_90", **result.parameters)
    if code.loop is None:
        raise CourseError(f"{result.kernel.name} has no loop of multiply-adds in its machine code")
    counts, fmas = code.loop.counts, code.loop.counts[code.fma]
    known = {"multiply-adds": counts[code.fma], "loads, shared memory": counts["LDS"], "loads, global memory": counts["LDG"],
             "stores, shared memory": counts["STS"], "barriers": counts["BAR"]}
    known["addresses, tests, jumps, …"] = counts["instructions"] - sum(known.values())
    values = {name: count / fmas for name, count in known.items() if count}
    ax = bars(values, style.axes(width=5.9, height=3.8), unit=f"inner loop, {code.arch}",
              title=f"{code.per_multiply_add:.3g} instructions a multiply-add")
    return ax, f"{code.says()} " + ", ".join(f"{name} {value:.3g}" for name, value in values.items()) + " a multiply-add."
