"""Controls on Chien's cost model of GT200, and the pure functions behind them."""

from dataclasses import dataclass

from matplotlib.axes import Axes

from course_lib.arch import WARP
from course_lib.model import gt200
from course_lib.plots import bars, style
from course_lib.widgets.explore import Control, Explore

ACTIVE = (128, 192, 256, 320, 384, 512)
CLOCKS = (1.0, 1.2, 1.296, 1.3, 1.476)      # the Tesla C1060's as its board says and as he prints it; the GTX 285's


@dataclass(frozen=True)
class SpeedPrediction:
    """What the model says of a method: cycles a warp for each part of a multiply-add; GFLOP/s if waiting is added, and if it overlaps."""

    method: str
    parts: dict[str, float]
    added: float
    overlapped: float


def predict_speed(method: str, active: int, latency: float = gt200.MEMORY_LATENCY, clock_ghz: float = gt200.CLOCK_GHZ,
                  sms: int = gt200.SMS) -> SpeedPrediction:
    """Work out Chien's model, and the same with loads that overlap the work.

    >>> round(predict_speed("volkov", 512).added, 2)
    278.48
    """
    parts = {name: float(WARP * cycles) for name, cycles in gt200.cycles_per_multiply_add(method, active, latency).items()}
    added, overlapped = (gt200.predicted_gflops(method, active, clock_ghz, sms, latency, overlap=overlap) for overlap in (False, True))
    return SpeedPrediction(method, parts, added, overlapped)


def model_facts(found: SpeedPrediction) -> dict[str, str]:
    """Return what the table shows of a prediction, as a mapping of label to text."""
    shown = {f"{name}, cycles a warp": f"{cycles:.2f}" for name, cycles in found.parts.items()}
    return shown | {"all, cycles a warp": f"{sum(found.parts.values()):.2f}", "GFLOP/s, waiting added (Chien)": f"{found.added:.2f}",
                    "GFLOP/s, waiting overlaps (ours)": f"{found.overlapped:.2f}"}


def model_picture(found: SpeedPrediction) -> tuple[Axes, str]:
    """Draw the parts of a prediction; return (Axes, alternative text)."""
    ax = bars(found.parts, style.axes(width=6.2, height=3.2), unit="cycles a warp for each multiply-add, modelled",
              title=f"{found.method}: {found.added:.1f} GFLOP/s")
    ax.set_xlim(0, 13)
    return ax, ("Cycles a warp for each multiply-add: " + ", ".join(f"{name} {value:.2f}" for name, value in found.parts.items())
                + f". Predicted: {found.added:.1f} GFLOP/s.")


def cost_sliders(method: str = "volkov", active: int = 512) -> Explore:
    """Put controls on the method and on the inputs of the model."""
    controls = (Control("method", "whose loads and multiply-adds are counted", tuple(gt200.METHODS), method),
                Control("threads", "active threads on a multiprocessor", ACTIVE, active),
                Control("latency", "cycles of a load from global memory", (100, 200, 330, 430, 530, 630), gt200.MEMORY_LATENCY),
                Control("GHz", "clock of the multiprocessors", CLOCKS, gt200.CLOCK_GHZ),
                Control("SMs", "multiprocessors", (10, 20, 24, 30, 60), gt200.SMS))
    return Explore(controls, predict_speed, facts=model_facts, picture=model_picture, doing="computing", done="computed")
