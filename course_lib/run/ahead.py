"""Compile what may soon be run, in the background."""

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.run.door import resolve
from course_lib.run.launch import choose_backend, simulated_arch


def prepare(kernel, parameters, given_up=lambda: False):
    """Have a kernel compiled and translated by another process; wait until that is done.

    On a GPU nothing is done: a kernel is compiled in a moment there.

    Parameters
    ----------
    kernel : str, Kernel or what else `run` takes
    parameters : mapping
        Of the kernel.
    given_up : callable() -> bool
        Asked while it waits for others.

    Returns
    -------
    bool
        Whether a run on the simulator will find it translated. A False does no harm: the run does it.
    """
    kernel = resolve(kernel)
    if choose_backend() != "sim" or kernel.problems(**parameters):
        return False
    try:
        values = kernel.check(**parameters)
        return simt.prepare(kernel.source, kernel.entry, kernel.block(**values), defines=kernel.defines(**values),
                            arch=simulated_arch(), given_up=given_up)
    except CourseError:                             # the run will say it
        return False
