"""Pictures of what the machine instructions of a step along K are for."""

from course_lib.lessons.unrolling.counts import FACTORS, same_code, step, step_of, variants
from course_lib.plots import describe_steps, render, step_bars, style
from course_lib.plots.picture import Picture
from course_lib.toolchain import WholeStep

SAME = "the same machine code"


def by_factor() -> Picture:
    """Draw what the instructions of the course's kernel are there for, per multiply-add, for every UNROLL."""
    steps = {f"UNROLL = {factor}": step(factor) for factor in FACTORS}
    return render(step_bars(steps), describe_steps(steps))


@style.styled
def beside(kernel: str) -> Picture:
    """Draw a reader's kernel beside other texts of the same loop, and mark those that became the same machine code.

    Parameters
    ----------
    kernel
        CUDA text of a product with tiles of 16 × 16, one thread per element of C.
    """
    texts = {"your kernel": kernel, **variants()}
    steps: dict[str, WholeStep] = {label: step_of(text) for label, text in texts.items()}
    same = [label for label, text in texts.items() if same_code(text, kernel)]
    ax = step_bars(steps, style.axes(width=10.4, height=4.0))
    ax.set_yticks(range(len(steps)), list(steps), ha="left", fontsize=10.5, family="DejaVu Sans Mono")
    ax.tick_params(axis="y", pad=232)
    for place, (label, found) in enumerate(steps.items()):
        if label in same and len(same) > 1:
            ax.text(found.per_multiply_add + 1.3, place, SAME, va="center", fontsize=12, weight="bold")
    told = f" {' and '.join(' '.join(label.split()) for label in same)}: {SAME}." if len(same) > 1 else ""
    return render(ax, describe_steps({" ".join(label.split()): found for label, found in steps.items()}) + told)
