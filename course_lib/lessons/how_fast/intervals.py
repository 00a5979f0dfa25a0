"""Controls on Koppelman's interval analysis, and the pure functions behind them."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from course_lib.arch import Device, device
from course_lib.lessons.how_fast.interval_pictures import Span, describe_intervals, draw_intervals
from course_lib.model import interval
from course_lib.model.interval import Interval
from course_lib.widgets.explore import Control, Explore

SIZES = (6, 8, 12, 16, 20, 24, 28, 32)
CURVE = range(6, 33)
KERNELS = {"K0": "all of the vector loaded first", "mxv_o_lbuf": "each element used when it comes", "mxv_o_per_thd": "one output a thread"}
DEVICES = ("Quadro M2200", "GTX 1080", "H200")


@dataclass(frozen=True)
class IntervalAnalysis:
    """An interval analysis at M = N: `now` at N itself; time lines by N; threads of an SM by what is to be saturated, then by N."""

    kernel: str
    N: int
    miss: int
    on: Device
    now: Interval
    lines: dict[int, list[Span]]
    threads: dict[str, dict[int, float]]


def interval_of(kernel: str, N: int, miss: int) -> Interval:
    """Return the Interval of a kernel for an N × N matrix; the L2 answers in half of `miss`.

    >>> interval_of("K0", 16, 400).latency, interval_of("mxv_o_lbuf", 16, 400).latency
    (672, 3872)
    """
    return interval.intervals(N, N, miss, miss // 2)[kernel]


def _line(kernel, N, miss):
    program = {"K0": interval.program_loaded_first(N, N), "mxv_o_lbuf": interval.program_in_order(N, N),
               "mxv_o_per_thd": interval.program_output_per_thread(N)}[kernel]
    return interval.spans(program, miss=miss, hit=miss // 2)


def analyse(kernel: str, N: int, miss: int, name: str) -> IntervalAnalysis:
    """Carry out the analysis for one device of the table.

    >>> found = analyse("K0", 16, 400, "GTX 1080")
    >>> {what: round(by_n[16]) for what, by_n in found.threads.items()}
    {'for bandwidth': 48, 'for issue': 269}
    """
    on = device(name)
    rate = interval.bytes_per_cycle(on) / on.sms
    known = {n: interval_of(kernel, n, miss) for n in CURVE}
    threads = {"for bandwidth": {n: i.threads_for_bandwidth(rate) for n, i in known.items()},
               "for issue": {n: i.threads_for_issue() for n, i in known.items()}}
    return IntervalAnalysis(kernel, N, miss, on, known[N], {n: _line(kernel, n, miss) for n in SIZES}, threads)


def interval_facts(found: IntervalAnalysis) -> dict[str, str]:
    """Return what the table shows, as a mapping of label to text."""
    now = found.now
    return {"L, cycles of an interval": f"{now.latency:,g}", "d, bytes off the chip": f"{now.offchip_bytes:g}",
            "multiply-adds; loads and stores": f"{now.fp}; {now.memory}",
            f"P: threads of the {found.on.name} for bandwidth": f"{found.threads['for bandwidth'][found.N] * found.on.sms:,.0f}",
            "P / SMs": f"{found.threads['for bandwidth'][found.N]:,.1f}",
            "Q: threads of an SM for issue": f"{found.threads['for issue'][found.N]:,.1f}"}


def interval_picture(found: IntervalAnalysis) -> tuple[Figure, str]:
    """Draw an analysis; return (Figure, alternative text)."""
    asked = (found.lines, found.N, found.threads, found.on.threads_per_sm)
    title = f"{found.kernel}, {KERNELS[found.kernel]}: {found.now.latency:,g} cycles at M = N = {found.N}"
    return draw_intervals(*asked, title=title), describe_intervals(*asked)


def interval_sliders(kernel: str = "K0", N: int = 16, miss: int = interval.MISS, on: str = "GTX 1080") -> Explore:
    """Put controls on the kernel, on N = M, on the latency of memory and on the device."""
    controls = (Control("kernel", "whose loop over vectors is analysed", tuple(KERNELS), kernel),
                Control("N", "rows and columns of the matrix", SIZES, N),
                Control("L_M", "cycles of a load that misses the L2; a hit takes half", (100, 200, 400, 600, 700), miss),
                Control("device", "whose bandwidth it is", DEVICES, on))
    return Explore(controls, analyse, facts=interval_facts, picture=interval_picture, doing="computing", done="computed")
