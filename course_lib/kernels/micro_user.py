"""A microbenchmark of the reader's own: CUDA text that reads the clock around a chain of multiply-adds, launched like micro_fma."""

import dataclasses
from pathlib import Path

from course_lib.kernels.catalog import get
from course_lib.kernels.parameters import Parameter
from course_lib.kernels.user import UserKernel, written_values

LIKE = "micro_fma"
TAKES = ("const float* in", "float b", "float c", "long long* begin", "long long* end", "float* out")
STEPS, CHAINS = 256, 1          # of a text that sets neither by #define


def own_chain(source: str | Path) -> UserKernel:
    """Make a microbenchmark of CUDA text or of the path of a file.

    The text takes what micro_fma takes, and its chain is right when out[t] is what micro_fma's would be: in[t] after two passes of
    STEPS steps a = a * b + c. With CHAINS of them, chain j begins with in[t] + j, and out[t] is the sum of all.
    STEPS (256) and CHAINS (1) are what the text sets by `#define`.

    Raises
    ------
    CourseError
        When there is no such file, no kernel in it, or one that takes other arguments.

    >>> text = ("#define STEPS 64\\n"
    ...         'extern "C" __global__ void mine(const float* in, float b, float c, long long* begin, long long* end, float* out) {}')
    >>> own_chain(text).check(threads=64)
    {'threads': 64, 'STEPS': 64, 'CHAINS': 1}
    """
    kernel = UserKernel.from_source(source, like=LIKE, takes=TAKES)
    written = written_values(kernel.source)
    fixed = (_fixed("STEPS", "steps between the two readings of the clock", written.get("STEPS", STEPS)),
             _fixed("CHAINS", "chains of each thread", written.get("CHAINS", CHAINS)))
    threads, = (p for p in get(LIKE).parameters if p.name == "threads")
    return dataclasses.replace(kernel, parameters=(threads, *fixed), passes=())


def _fixed(name, meaning, value):
    """Return a parameter that the text sets, and nobody else."""
    return Parameter(name, f"{meaning}, as the text has it", value, low=value, high=value, choices=(value,))
