"""Pictures beside the sliders that are for any kernel: the roofline's point, one access, machine code, errors."""

import numpy as np

from course_lib.arch import SECTOR_BYTES, device
from course_lib.errors import CourseError
from course_lib.model import memory_roofs, peak
from course_lib.plots import (
    bars,
    describe_limits,
    describe_roofline,
    describe_shares,
    describe_steps,
    draw_limits,
    linked_code,
    requests,
    roofline,
    share_bars,
    shares,
    step_bars,
    style,
)
from course_lib.plots.errors import draw_spread, relative_errors
from course_lib.run import RunResult, VectorsResult, bound_of, limits_of, one_block
from course_lib.run.accuracy import tolerance
from course_lib.toolchain import whole_step
from course_lib.widgets.accesses import draw
from course_lib.widgets.compute import evaluate, inputs
from course_lib.widgets.pictures import SMALL

FORMATS = {"tf32": "TF32", "bf16": "bfloat16", "bf16x3": "split"}       # by `Kernel.inputs`
LIMITS = {"fma": "the multiply-adds", "tensor": "tensor cores", "issue": "issuing instructions", "shared": "shared memory",
          "L1": "the L1's data path", "L1 banks": "the L1's banks", "L2": "the L2", "DRAM": "memory",
          "latency": "latency"}                                          # the terms of `model.bound`


def roofline_point(result, bound=None):
    """Return where a product lies under the roofs: (operations a byte of all global requests, GFLOP/s, label, what binds).

    On a GPU the speed is the measured one; else the most that `model.lower_bound` lets it be.
    """
    moved = SECTOR_BYTES * (result.count("sectors") + result.count("sectors", "store"))
    bound = bound or bound_of(result)
    if result.gflops:
        return result.flops / moved, result.gflops, result.label, bound.binds
    return result.flops / moved, result.flops / bound.seconds / 1e9, "at most, modelled", bound.binds


def roofline_picture(result):
    """Draw where a product lies under the roofs of the device: memory's, and the caches' next to the multiprocessors.

    The traffic is that of all global requests. A point above the memory's roof is served by caches in part.
    """
    return _draw_roofs(result, bound_of(result), style.axes(**SMALL))


def _draw_roofs(result, bound, ax, *, small=False):
    """Draw the roofline of a result into Axes, in a small panel without memory's roof; return (Axes, alternative text)."""
    on = device(result.device)
    cache = memory_roofs(on)["L1 caches"]
    roofs = {f"L1 caches, {cache:,.0f} GB/s": cache} | ({} if small else {f"memory, {on.bandwidth_gb_s:,.0f} GB/s": on.bandwidth_gb_s})
    x, y, label, binds = roofline_point(result, bound)
    points = {f"{label}: {y:,.0f} GFLOP/s": (x, y)}
    options = {"double": result.kernel.dtype == "float64", "bandwidths": roofs}
    title = f"Limit: {LIMITS[binds]}" if small else f"{on.name}: limited by {LIMITS[binds]}"
    ax = roofline(on, points, ax, title=title, traffic="of all requests", **options)
    ax.set(xlim=(min(x, 1 / 8), max(x, 128)), ylim=(min(y / 2, 128), 2 * peak(on, options["double"])))     # the point moves, not the axes
    ax.legend(loc="upper center", bbox_to_anchor=(0.42, -0.28 if small else -0.17), fontsize=10)      # below: the point may lie anywhere
    if small:
        ax.set_title(ax.get_title(loc="left"), fontsize=14)
        ax.tick_params(labelsize=10)
        ax.set_xlabel("operations per byte\nof all requests", fontsize=12)
        ax.set_ylabel("GFLOP/s", fontsize=12)
    return ax, f"{describe_roofline(on, points, **options)} Modelled limit: {LIMITS[binds]}."


def error_picture(result):
    """Draw how far the elements of C are from the product in float64, with what float32 and the kernel's own numbers allow."""
    A, B, _ = inputs(result.M, result.N, result.K, result.kernel.dtype)
    errors = np.abs(relative_errors(result, A, B))
    own = tolerance(result.K, inputs=result.kernel.inputs)
    bounds = {"bound, float32": tolerance(result.K)} | ({f"bound, {FORMATS[result.kernel.inputs]}": own} if result.kernel.inputs else {})
    title = f"{result.kernel.name}, K = {result.K}"
    said = ", ".join(f"{name} {value:.1e}" for name, value in bounds.items())
    return (draw_spread(errors, bounds, style.axes(width=5.9, height=4.2), title=title),
            f"Errors of the elements of C, {title}: median {np.median(errors):.1e}, largest {errors.max():.1e}; {said}.")


def limits_picture(result):
    """Draw what limits a product, side by side: its point under the L1's roof and the peak, the room for warps, what is under way."""
    found, said = limits_of(result), []

    def roofs(ax):
        said.append(_draw_roofs(result, found.bound, ax, small=True)[1])

    figure = draw_limits(found, roofs)
    return figure, f"{said[0]} {describe_limits(found)}"


def access_picture(array=None, *, load=True, line=None, number=0, warp=0, banks=32):
    """Return a picture for `live`: the lanes of one access of the kernel that was just run, over sectors or banks.

    Parameters
    ----------
    array : str, optional
        A matrix, or a `__shared__` array; default the first that the kernel accesses.
    load : bool
        Loads, or stores.
    line : int, optional
        Source line.
    number : int
        Which of the warp's accesses that fit, from 0.
    warp : int
        Of block (0, 0, 0).
    banks : 32 or 16

    Returns
    -------
    callable(result) -> (Axes, alternative text)
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


def retraced(result, warp=0):
    """Run the kernel of a result again with one warp of its first block traced, on no more of the data than that block needs.

    Returns
    -------
    LaunchResult
        Simulated.
    """
    if isinstance(result, RunResult) and result.kernel.layout == "row":
        return one_block(result, warps=(warp,))
    size = result.n if hasattr(result, "n") else len(result.out)
    if isinstance(result, VectorsResult):
        size = min(size, result.block[0])               # what block 0 takes first, whatever the kernel
    padding = {"lda": result.ld - size} if getattr(result, "ld", None) else {}
    return evaluate(result.kernel, size, result.parameters | padding, backend="sim", trace=[((0, 0, 0), warp)])


def used_picture(result):
    """Draw what is used of what a launch on many vectors moves: of loads, of stores, and of the bandwidth where it is known."""
    found = shares(result)
    ax = share_bars(found, style.axes(width=5.6, height=1.2 + 0.85 * len(found)), title=result.kernel.name)
    if len(found) == 2:
        ax.set_xlabel("bandwidth: recorded with M = N = 16 only", fontsize=12)
    return ax, describe_shares(found)


def code_picture(result):
    """Draw the machine instructions of the inner loop for each multiply-add, by kind."""
    code = linked_code(result.kernel, **result.parameters)
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


def unroll_picture(result):
    """Draw the machine instructions of a step along K for every UNROLL that the kernel's sliders offer; the one that ran is marked."""
    kernel, values = result.kernel, dict(result.parameters)
    if "UNROLL" not in values:
        raise CourseError(f"{kernel.name} has no parameter UNROLL", kernel=kernel.name)
    offered = {*next(p.choices for p in kernel.parameters if p.name == "UNROLL"), values["UNROLL"]}
    possible = [u for u in sorted(offered) if not kernel.problems(**values | {"UNROLL": u})]
    steps = {f"UNROLL = {u}": whole_step(kernel, **values | {"UNROLL": u}) for u in possible}
    chosen = f"UNROLL = {values['UNROLL']}"
    ax = step_bars(steps, style.axes(width=5.6, height=4.2), chosen=chosen)                  # fits beside the table
    ax.set(xlim=(0, 13), xticks=range(0, 13, 2))                                             # the same for every position of the sliders
    ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2, columnspacing=1.2, handlelength=1.2, fontsize=11)
    return ax, describe_steps(steps, chosen)
