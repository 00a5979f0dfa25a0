"""The roofline of a device, with kernels on it."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from course_lib.arch import DEFAULT_DEVICE, Device, device
from course_lib.errors import CourseError
from course_lib.model import attainable, knee, peak
from course_lib.plots import style


@style.styled
def roofline(which: str | Device = DEFAULT_DEVICE, points: Mapping[str, tuple[float, float]] | None = None, ax: Axes | None = None, *,
             double: bool = False, bandwidths: Mapping[str, float] | None = None, element_bytes: int = 1, title: str | None = None,
             traffic: str = "of device memory", paired: bool = False) -> Axes:
    """Draw the most that memory and arithmetic allow together, on logarithmic axes.

    Parameters
    ----------
    which
        A name of the device table, an entry of it, or what `course_lib.gpu.live_device` returns.
    points
        Kernels by label, (intensity, GFLOP/s); intensity in the unit of the axis.
    double
        The peak in double precision.
    bandwidths
        10^9 bytes per second by label, a roof for each; default the data sheet's.
    element_bytes
        1: the axis counts operations a byte. 8: operations a double, as Wang and Jin's q.
    traffic
        What the bytes are: "of device memory", or "of all requests".
    paired
        Each point counts the bytes of the roof in its place, and has that roof's colour.

    Raises
    ------
    CourseError
        For an unknown device, a point that is not positive, or paired points that are not as many as the roofs.

    >>> wang = roofline("Tesla K80", {"N = 1024": (23.1, 693)}, double=True, element_bytes=8,
    ...                 bandwidths={"240 GB/s": 240, "154 GB/s": 154})
    >>> wang.get_legend_handles_labels()[1]
    ['240 GB/s: knee at 45.7', '154 GB/s: knee at 71.2', 'N = 1024']
    """
    d = which if isinstance(which, Device) else device(which)
    roofs = bandwidths or {f"{d.bandwidth_gb_s:g} GB/s, data sheet": d.bandwidth_gb_s}
    for label, (intensity, gflops) in (points or {}).items():
        if not (intensity > 0 and gflops > 0):
            raise CourseError(f"{label} lies at {intensity} operations and {gflops} GFLOP/s, but both are positive")
    if paired and len(points or ()) != len(roofs):
        raise CourseError(f"{len(points or ())} points cannot be paired with {len(roofs)} roofs")
    ax = style.axes(ax, width=11.0, height=5.2)
    corners = {label: knee(d, double, rate) * element_bytes for label, rate in roofs.items()}
    spots = [*corners.values(), *(x for x, _ in (points or {}).values())]
    x = np.geomspace(min(spots) / 16, max(spots) * 8, 200)
    for i, (label, rate) in enumerate(roofs.items()):
        here = np.sort(np.append(x, corners[label]))
        ax.plot(here, attainable(d, here / element_bytes, double, rate), color=style.CYCLE[i], linestyle="-" if i == 0 else "--",
                label=f"{label}: knee at {corners[label]:.1f}")
    for i, (label, (intensity, gflops)) in enumerate((points or {}).items()):
        colour = style.CYCLE[(i if paired else i + len(roofs)) % len(style.CYCLE)]
        ax.plot([intensity], [gflops], linestyle="none", marker=style.marker(i + len(roofs)), markeredgecolor=style.INK,
                markeredgewidth=0.6, color=colour, label=label, zorder=3)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.3g}" if value < 1000 else f"{value:,.0f}")
    ax.grid(True)
    unit = {1: "byte", 4: "float", 8: "double"}.get(element_bytes, f"element of {element_bytes} bytes")
    kind = "double" if double else "single"
    ax.set(xlabel=f"operations per {unit} {traffic}", ylabel="GFLOP/s",
           title=title or f"{d.name}: {peak(d, double):,.0f} GFLOP/s in {kind} precision, modelled")
    style.legend_beside(ax)
    return ax


def describe_roofline(which: str | Device = DEFAULT_DEVICE, points: Mapping[str, tuple[float, float]] | None = None, *,
                      double: bool = False, bandwidths: Mapping[str, float] | None = None, element_bytes: int = 1,
                      paired: bool = False) -> str:
    """Return the alternative text of `roofline`; parameters as there.

    >>> describe_roofline("Tesla K80", {"N = 1024": (23.1, 693)}, double=True, element_bytes=8)
    'Roofline of Tesla K80: the bound rises to 1,370 GFLOP/s at 45.7; N = 1024 at 23.1 reaches 693 GFLOP/s, 100 % of its bound.'
    """
    d = which if isinstance(which, Device) else device(which)
    roofs = list((bandwidths or {"": d.bandwidth_gb_s}).items())
    several = len(roofs) > 1
    knees = (f"{knee(d, double, rate) * element_bytes:.1f}" + f" ({roof})" * several for roof, rate in roofs)
    words = [f"Roofline of {d.name}: the bound rises to {peak(d, double):,.0f} GFLOP/s at {' and '.join(knees)}"]
    for i, (label, (intensity, gflops)) in enumerate((points or {}).items()):
        roof, rate = roofs[i if paired else 0]
        share = gflops / attainable(d, intensity / element_bytes, double, rate)
        bound = f"the bound of {roof}" if several else "its bound"
        words.append(f"{label} at {intensity:.4g} reaches {gflops:,.4g} GFLOP/s, {100 * share:.0f} % of {bound}")
    return "; ".join(words) + "."
