"""Pictures of the sweeps that an exercise shows: points alone before the answer, then with the two lines that an answer's numbers make."""

import math
import numbers
from collections.abc import Callable, Mapping

from course_lib.arch import WARP
from course_lib.grading.judge.function_spec import FunctionSpec
from course_lib.model import ThreadSweep
from course_lib.plots import Picture, describe_sweeps, render, thread_sweeps

WORD = 4                     # bytes of a thread's load, where the sweep is one over threads


def sweep_picture(spec: FunctionSpec, names: Mapping[str, int], answer: Callable | None = None, *, label: str = "") -> Picture | str:
    """Draw sweeps of a part's shown inputs, and what a function reads from them.

    Parameters
    ----------
    spec
        Its inputs are (steps, warps or threads, cycles of a block).
    names
        What a sweep is called, and which input it is.
    answer
        (steps, warps, cycles) -> (operations per cycle, knee in warps), or (steps, threads, cycles) -> (bytes per cycle, knee in threads).
    label
        Where the points are from.

    Returns
    -------
    Picture or str
        A sentence when the answer does not return two positive numbers.
    """
    in_threads = spec.parameters[1] == "threads"
    measured, read = {}, {}
    for name, number in names.items():
        steps, active, cycles = given = spec.cases[number]
        measured[name] = {n if in_threads else WARP * n: c / steps for n, c in zip(active, cycles, strict=True)}
        if answer:
            pair = _pair(answer, given)
            if pair is None:
                return f"No lines yet: {spec.entry} does not return two positive numbers for {name}."
            per_warp = WARP * (WORD if in_threads else 1) / pair[0]
            read[name] = ThreadSweep(per_warp * pair[1] / (WARP if in_threads else 1), per_warp)
    title = "What your two numbers say, as lines" if answer else None
    return render(thread_sweeps(measured, read, title=title, label=label), describe_sweeps(measured, read, label))


def _pair(answer, given):
    """Return two positive numbers that a function returned, or None."""
    try:
        pair = tuple(answer(*given))
        fine = len(pair) == 2 and all(isinstance(one, numbers.Real) and 0 < float(one) < math.inf for one in pair)
    except Exception:                    # whatever is wrong with it, the check says so
        return None
    return pair if fine else None
