"""Pure arithmetic about GPUs; no kernel runs here. An independent reference for the simulator."""

from course_lib.model import gt200, interval, lee, matvec, number_formats
from course_lib.model.banks import Service, conflicts, phases, services, shared_wavefronts
from course_lib.model.bound import Bound, Work, busiest, l1_wavefronts, lower_bound, memory_roofs, product_sectors
from course_lib.model.coalescing import sectors
from course_lib.model.device_peaks import Balance, balance
from course_lib.model.inputs import InputError
from course_lib.model.latency import bytes_in_flight, round_cycles, staged_cycles, threads_in_flight, warps_to_hide
from course_lib.model.mma_rate import mma_seconds
from course_lib.model.occupancy import Occupancy, occupancy
from course_lib.model.old_banks import bank_table, half_warp_steps, kepler_wavefronts
from course_lib.model.operands import OperandReads, operand_reads
from course_lib.model.roofline import attainable, elements_per_second, knee, operations_per_element, peak
from course_lib.model.segments import bus_bytes, column_efficiencies, effective_bandwidth, padded, transactions
from course_lib.model.speedup import amdahl, least_share, saved_ms, serial_share
from course_lib.model.sweep import ThreadSweep, read_sweep
from course_lib.model.tiles import blocks
from course_lib.model.timeline import Issue, Timeline, timeline

__all__ = [
    "Balance",
    "Bound",
    "InputError",
    "Issue",
    "Occupancy",
    "OperandReads",
    "Service",
    "ThreadSweep",
    "Timeline",
    "Waves",
    "Work",
    "amdahl",
    "attainable",
    "balance",
    "bank_table",
    "blocks",
    "bus_bytes",
    "busiest",
    "bytes_in_flight",
    "column_efficiencies",
    "conflicts",
    "effective_bandwidth",
    "elements_per_second",
    "gt200",
    "half_warp_steps",
    "interval",
    "kepler_wavefronts",
    "knee",
    "l1_wavefronts",
    "least_share",
    "lee",
    "lower_bound",
    "matvec",
    "memory_roofs",
    "mma_seconds",
    "number_formats",
    "occupancy",
    "operand_reads",
    "operations_per_element",
    "padded",
    "peak",
    "phases",
    "product_sectors",
    "read_sweep",
    "round_cycles",
    "saved_ms",
    "sectors",
    "services",
    "serial_share",
    "shared_wavefronts",
    "staged_cycles",
    "threads_in_flight",
    "timeline",
    "transactions",
    "warps_to_hide",
    "waves",
]
