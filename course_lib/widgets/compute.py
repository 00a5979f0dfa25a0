"""What a live widget computes: the run for one position, why a position cannot run, and the table. No widgets here."""

import contextlib
import functools
import html
import threading

import numpy as np

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.plots import Table
from course_lib.run import choose_backend, run

_timing = threading.Lock()      # two kernels on the GPU at once would spoil each other's time


@functools.lru_cache(maxsize=8)
def inputs(M, N, K):
    """Return random A (M, K), B (K, N) and C (M, N) in float32, the same ones each time; read-only.

    >>> [x.shape for x in inputs(2, 3, 4)]
    [(2, 4), (4, 3), (2, 3)]
    """
    rng = np.random.default_rng(20)
    matrices = tuple(rng.standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N), (M, N)))
    for matrix in matrices:
        matrix.flags.writeable = False
    return matrices


def explain(kernel, parameters):
    """Say which rules a choice of parameters breaks, and why the hardware has them.

    Returns
    -------
    str or None
        None when the kernel can run.

    >>> print(explain(kernels.get("sgemm_naive"), {"bx": 64, "by": 32}))
    bx × by = 64 × 32 = 2048 threads a block, but at most 1024 are allowed: with by = 32, bx can be up to 32. \
Why: a block runs on one multiprocessor, which keeps the registers of all its threads at once; every GPU since 2010 \
stops at 1024.
    """
    problems = kernel.problems(**parameters)
    if not problems:
        return None
    reasons = [rule.why for rule in kernel.rules if rule.problem({p.name: parameters.get(p.name, p.default)
                                                                   for p in kernel.parameters})]
    said = [f"{problem}. Why: {why}." for problem, why in zip(problems, reasons, strict=False)]
    return "\n".join(said + [f"{problem}." for problem in problems[len(said):]])


def evaluate(kernel, N, parameters, **options):
    """Run a kernel on N × N matrices.

    Raises
    ------
    CourseError
        With the rule that is broken and its reason, before anything is compiled.
    """
    kernel = kernels.get(kernel) if isinstance(kernel, str) else kernel
    reason = explain(kernel, parameters)
    if reason:
        raise CourseError(reason, kernel=kernel.name, parameters=parameters)
    A, B, _ = inputs(N, N, N)
    alone = _timing if choose_backend(options.get("backend")) == "gpu" else contextlib.nullcontext()
    with alone:
        return run(kernel, A, B, **options, **parameters)


def _number(value):
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if value >= 0.1 or value == 0 else f"{value:.3g}"


def facts(result):
    """Return what the table shows of a result, as a mapping of label to text."""
    mnk = result.M * result.N * result.K
    threads = int(np.prod(result.block))
    shown = {"threads a block × blocks": f"{threads:,} × {int(np.prod(result.grid)):,}"}
    if result.time is not None:
        shown["time, " + result.label] = f"{1e3 * result.time.median_s:.3g} ms"
        shown["GFLOP/s, " + result.label] = f"{result.gflops:,.0f}"
    shown |= {
        "global load requests": _number(result.count("requests")),
        "global load sectors": _number(result.count("sectors")),
        "sectors a load request": _number(result.sectors_per_request()),
        "sectors a store request": _number(result.sectors_per_request("store")),
        "load sectors / multiply-add": _number(result.count("sectors") / mnk),
    }
    if wavefronts := result.count("wavefronts"):
        shown["shared wavefronts / multiply-add"] = _number(wavefronts / mnk)
    return shown | {
        "registers a thread": _number(result.resources.registers),
        "shared bytes a block": _number(result.resources.static_shared_bytes),
        f"occupancy, modelled for {result.device}": f"{100 * result.occupancy.fraction:.0f} %",
        "limited by": str(result.occupancy.limiter),
    }


def facts_table(now, before=None, caption=""):
    """Set the facts of this position beside those of the position before it.

    Parameters
    ----------
    now, before : mapping of label to text
        From `facts`; rows that differ are marked.
    """
    if not before:
        return Table(("", "now"), list(now.items()), caption)
    rows = [(label, text, before.get(label, "")) for label, text in now.items()]
    return Table(("", "now", "before"), rows, caption, marked=[i for i, row in enumerate(rows) if row[1] != row[2]])


def alert(text):
    """Return a message as HTML that a screen reader announces.

    >>> alert("1 < 2")
    '<div role="alert" style="border-left:6px solid #D55E00;padding:6px 12px;max-width:760px;line-height:1.5">1 &lt; 2</div>'
    """
    body = html.escape(text).replace("\n", "<br>")
    style = "border-left:6px solid #D55E00;padding:6px 12px;max-width:760px;line-height:1.5"
    return f'<div role="alert" style="{style}">{body}</div>'
