"""Compile what may soon be run, in the background: neighbours of a slider's position, and then all its other positions.

    python -m course_lib.run.ahead     compile the simulator's runtime and every position of the catalog, at the lowest priority, as
                                       long as the calling program runs

`make lab` starts that beside JupyterLab: by the time a reader comes to a lesson, its kernels are compiled.
"""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from course_lib import gpu, kernels, simt
from course_lib.errors import CourseError
from course_lib.run.launch import choose_backend, simulated_arch
from course_lib.run.product import resolve
from course_lib.run.types import KernelLike
from course_lib.toolchain import ahead, background
from course_lib.toolchain.nvrtc import define_options
from course_lib.toolchain.request import Request

MOST = 1000             # positions that the sliders of one widget may have
_offered: "list[Offer]" = []           # what every widget of this process offers


@dataclass(frozen=True)
class Offer:
    """Where the sliders of a widget can go.

    Attributes
    ----------
    names
        The kernels to choose from.
    choices
        The values of each slider.
    start
        Where the sliders begin; and the parameters that have none.
    """

    names: tuple[str, ...]
    choices: Mapping[str, tuple[int, ...]]
    start: Mapping[str, int]

    def requests(self) -> Iterator[Request]:
        """Yield what is compiled for each position that can run, those near the start first.

        Raises
        ------
        CourseError
            When there are more than `MOST` positions.
        """
        arch = _arch()
        positions = sorted(itertools.product(*(range(len(values)) for values in self.choices.values())), key=self._distance)
        if len(positions) > MOST:
            raise CourseError(f"sliders of {', '.join(self.names)} with {len(positions)} positions: offer at most {MOST}")
        for name in self.names:
            kernel = kernels.get(name)
            for at in positions:
                moved = {name: values[i] for (name, values), i in zip(self.choices.items(), at, strict=True)}
                values = {k: v for k, v in (dict(self.start) | moved).items() if any(k == p.name for p in kernel.parameters)}
                if not kernel.problems(**values):
                    yield Request(kernel.source, kernel.file_name, arch, tuple(define_options(kernel.defines(**values))))

    def _distance(self, position: tuple[int, ...]) -> int:
        starts = [values.index(self.start[name]) for name, values in self.choices.items()]
        return sum(abs(at - start) for at, start in zip(position, starts, strict=True))


def offer(names: tuple[str, ...], choices: Mapping[str, tuple[int, ...]], start: Mapping[str, int]) -> Offer:
    """Say where the sliders of a widget can go; `compile_offered` compiles it all."""
    _offered.append(Offer(tuple(names), dict(choices), dict(start)))
    return _offered[-1]


def compile_ahead(offered: Offer) -> None:
    """Have every position of a widget's sliders compiled in the background."""
    ahead.compile_ahead(offered.requests())


def compile_offered() -> None:
    """Compile every position of every widget of this process now."""
    for offered in _offered:
        ahead.compile_all(offered.requests())


def catalog_requests(names: Iterable[str] = ()) -> Iterator[Request]:
    """Yield what is compiled for every position of the catalog's kernels, or of those named, in the order of the lessons."""
    arch = _arch()
    chosen = [kernels.ALL[name] for name in names or kernels.ALL]
    for kernel in sorted(chosen, key=lambda kernel: kernel.lesson or "~"):
        for values in kernel.positions():
            yield Request(kernel.source, kernel.file_name, arch, tuple(define_options(kernel.defines(**values))))


def _arch() -> str:
    """Return the architecture that a kernel is compiled for when it runs here."""
    return gpu.probe().arch if choose_backend() == "gpu" else simulated_arch()


def compile_catalog() -> None:
    """Compile the catalog, a few texts at a time, until it is done or the calling program has ended."""
    parent = os.getppid()
    requests = catalog_requests()
    while some := list(itertools.islice(requests, ahead.BATCH)):
        if os.getppid() != parent:
            return
        ahead.compile_all(some)


def translate_ahead(kernel: KernelLike, parameters: Mapping[str, int], given_up: Callable[[], bool] = lambda: False) -> bool:
    """Have a kernel compiled and translated by another process; wait until that is done.

    On a GPU nothing is done: a kernel is compiled in a moment there.

    Parameters
    ----------
    kernel
        As for `run`.
    parameters
        Of the kernel.
    given_up
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


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(background.NICE)
    simt.prepare_runtime(say=lambda: None)          # the first launch needs it: after an update of the course it is not there
    compile_catalog()
