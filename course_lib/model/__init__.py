"""Pure arithmetic about GPUs; no kernel runs here. An independent reference for the simulator."""

from course_lib.model.banks import conflicts, shared_wavefronts
from course_lib.model.coalescing import sectors
from course_lib.model.occupancy import Occupancy, occupancy
from course_lib.model.roofline import attainable, knee

__all__ = ["Occupancy", "attainable", "conflicts", "knee", "occupancy", "sectors", "shared_wavefronts"]
