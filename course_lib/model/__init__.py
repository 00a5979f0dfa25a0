"""Pure arithmetic about GPUs; no kernel runs here. An independent reference for the simulator."""

from course_lib.model.banks import conflicts, phases, shared_wavefronts
from course_lib.model.coalescing import sectors
from course_lib.model.inputs import InputError
from course_lib.model.occupancy import Occupancy, occupancy
from course_lib.model.roofline import attainable, knee, peak

__all__ = [
    "InputError",
    "Occupancy",
    "attainable",
    "conflicts",
    "knee",
    "occupancy",
    "peak",
    "phases",
    "sectors",
    "shared_wavefronts",
]
