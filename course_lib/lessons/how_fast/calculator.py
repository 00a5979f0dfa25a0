"""The occupancy calculator: threads, registers and shared memory of a block, on any device of the table. No kernel is needed."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from course_lib.arch import DEVICES, KIB, Device, device
from course_lib.lessons.how_fast.occupancy import describe_stairs, next_steps, occupancy_stairs
from course_lib.model import occupancy
from course_lib.model.occupancy import Occupancy
from course_lib.widgets.explore import Control, Explore

THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
REGISTERS = (16, 24, 32, 40, 48, 64, 65, 80, 96, 128, 168, 255)
SHARED_KIB = (0, 1, 2, 4, 8, 12, 16, 17, 24, 32, 33, 48, 64, 96, 128, 160, 227)


@dataclass(frozen=True)
class Fit:
    """What a block takes of a device, and how much of it fits; shared memory in bytes."""

    on: Device
    threads: int
    registers: int
    shared_bytes: int
    taken: Occupancy


def fit(name: str, threads: int, registers: int, shared_kib: int) -> Fit:
    """Work out what fits on an SM.

    Raises
    ------
    InputError, a CourseError
        When no launch on that device may ask for it; the message says why.

    >>> fit("H200", 256, 64, 8).taken.blocks
    4
    """
    on = device(name)
    return Fit(on, threads, registers, shared_kib * KIB, occupancy(on, threads, registers, shared_kib * KIB))


def fit_facts(found: Fit) -> dict[str, str]:
    """Return what the table shows of a Fit, as a mapping of label to text."""
    taken, limits = found.taken, found.on.limits
    rows = {"multiprocessor of": found.on.name}
    rows |= {"blocks at most" if name == "blocks" else f"blocks, by {name}": f"{blocks:,}" for name, blocks in taken.limits.items()}
    steps = next_steps(found.on, found.threads, found.registers, found.shared_bytes)
    return rows | {"blocks that fit": f"{taken.blocks}", "warps that fit": f"{taken.warps} of {limits.warps}",
                   "occupancy": f"{100 * taken.fraction:.0f} %", "limited by": " and ".join(taken.limiters),
                   "more would fit from": ", ".join(f"{value} {name}" for name, value in steps.items()) or "–"}


def fit_picture(found: Fit) -> tuple[Figure, str]:
    """Draw the staircases of a Fit; return (Figure, alternative text)."""
    asked = (found.on, found.threads, found.registers, found.shared_bytes)
    return occupancy_stairs(*asked), describe_stairs(*asked)


def occupancy_sliders(on: str = "H200", threads: int = 256, registers: int = 64, shared_kib: int = 8) -> Explore:
    """Put controls on a block's needs and on the device."""
    controls = (Control("device", "whose multiprocessor it is", tuple(DEVICES), on),
                Control("threads", "threads of a block", THREADS, threads),
                Control("registers", "registers of a thread", REGISTERS, registers),
                Control("KiB", "shared memory of a block", SHARED_KIB, shared_kib))
    return Explore(controls, fit, facts=fit_facts, picture=fit_picture, doing="computing", done="computed")
