"""The roofline of a CPU: a slanted roof for each working set that was measured, the flat one of its arithmetic, programs."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from course_lib.errors import CourseError
from course_lib.plots import style
from course_lib.run import CpuPeak

Points = Mapping[str, tuple[float, float]]           # programs: label -> (operations a byte, GFLOP/s)


@style.styled
def cpu_roofline(peak: CpuPeak, points: Points | None = None, ax: Axes | None = None, *, title: str | None = None) -> Axes:
    """Draw what reading and arithmetic allow, on logarithmic axes.

    Parameters
    ----------
    peak
        From `cpu_peak`.
    points
        Programs.

    Raises
    ------
    CourseError
        When a program is faster than the peak: a roof that something exceeds is none.
    """
    points = points or {}
    if above := peak.above({label: gflops for label, (_, gflops) in points.items()}):
        raise CourseError(f"{' and '.join(above)}: faster than the peak of {peak.gflops:,.0f} GFLOP/s, which is then none. The CPU was "
                          "slower when the peak was measured: measure it again, at the same time as the programs")
    ax = style.axes(ax, width=9.4, height=5.4)
    corners = [peak.gflops / rate for rate in peak.bandwidth.values()]
    spots = [*corners, *(x for x, _ in points.values())]
    ends = min(spots) / 8, max(spots) * 4
    for i, (size, rate) in enumerate(peak.bandwidth.items()):
        here = np.array([ends[0], peak.gflops / rate, ends[1]])
        ax.plot(here, np.minimum(peak.gflops, here * rate), color=style.CYCLE[i % len(style.CYCLE)], linewidth=2,
                linestyle=("-", "--", "-.", ":")[i % 4], label=f"{_size(size)}: {rate:,.0f} GB/s")
    for i, (label, (intensity, gflops)) in enumerate(points.items()):
        ax.plot([intensity], [gflops], linestyle="none", marker=style.MARKERS[i % len(style.MARKERS)], markersize=11,
                color=style.CYCLE[(i + 4) % len(style.CYCLE)], markeredgecolor=style.INK, label=label)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    if points:
        ax.set_ylim(bottom=min(gflops for _, gflops in points.values()) / 4)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.3g}" if value >= 1 else f"1/{1 / value:,.0f}")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.3g}")
    ax.grid(True)
    ax.set(xlabel="operations per byte", ylabel="GFLOP/s",
           title=title or f"{peak.gflops:,.0f} GFLOP/s with {peak.threads} thread{'s' * (peak.threads != 1)}, {peak.label}")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def describe_cpu_roofline(peak: CpuPeak, points: Points | None = None) -> str:
    """Return the alternative text of `cpu_roofline`.

    >>> from course_lib.run import CpuPeak
    >>> describe_cpu_roofline(CpuPeak("float32", 1, 100.0, 32, {24: 200.0, 98304: 10.0}, "here"), {"ikj": (0.5, 20.0)})
    'Roofline: 100 GFLOP/s at most; reading gives 200 GB/s from 24 KiB and 10 GB/s from 96 MiB. ikj: 20 GFLOP/s at 0.5 operations a byte.'
    """
    rates = [f"{rate:,.0f} GB/s from {_size(size)}" for size, rate in peak.bandwidth.items()]
    said = [f" {label}: {gflops:,.3g} GFLOP/s at {x:.3g} operations a byte." for label, (x, gflops) in (points or {}).items()]
    return f"Roofline: {peak.gflops:,.0f} GFLOP/s at most; reading gives {' and '.join(rates)}.{''.join(said)}"


def _size(kib: int) -> str:
    return f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB"
