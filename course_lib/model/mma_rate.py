"""What matrix instructions that a warp issues (`mma.sync`) give at most, measured with operands in registers only.

Source: `data/mma.json`: loops of eight independent instructions of each kind, without memory, on all multiprocessors of one H200 (driver
580.159.04, CUDA 13.0), 28 November 2026; the best of four numbers of warps, rounded up. Loops of 7 to 270 ms, while the clock ran at 1.80
GHz for bfloat16 and TF32 and at 1.98 GHz for float64. The tensor cores' peak is higher for bfloat16 and TF32 (989 and 495): `mma.sync`
reaches 65 % of it, and only `wgmma` the rest.
"""

from course_lib.arch import device
from course_lib.model.inputs import InputError

MEASURED_ON = "H200"
MMA_SYNC = {               # numbers, and for float64 the shape -> 10^12 operations a second, two for each multiply-add
    "bf16": 641.4, "tf32": 321.5, "f64 m8n8k4": 33.4, "f64 m16n8k4": 65.8, "f64 m16n8k8": 66.3, "f64 m16n8k16": 66.9,
}


def mma_seconds(multiply_adds: float, kind: str) -> float:
    """Return the seconds that all tensor cores of an H200 take at least for so many multiply-adds by `mma.sync`.

    Parameters
    ----------
    multiply_adds
        Of single elements.
    kind
        A key of `MMA_SYNC`.

    Raises
    ------
    InputError, a ValueError
        For a kind that was not measured.

    Source: the module's docstring.

    >>> round(1e3 * mma_seconds(8192**3, "bf16"), 2), round(mma_seconds(1e12, "f64 m8n8k4") / mma_seconds(1e12, "f64 m16n8k16"), 1)
    (1.71, 2.0)
    """
    if kind not in MMA_SYNC:
        raise InputError(f"mma.sync was not measured for {kind!r}, only for: {', '.join(MMA_SYNC)}", kind=kind)
    return 2 * multiply_adds / (MMA_SYNC[kind] * 1e12)


def limit_by_wavefronts(wavefronts: float, depth: int = 16) -> float:
    """Return how many 10^12 operations a second an H200 does at most, at its highest clock, if each `mma` needs so many wavefronts.

    The `mma` is 16 × 8 × depth: 16 for bfloat16, 8 for TF32. A multiprocessor serves a wavefront per cycle.

    >>> round(limit_by_wavefronts(2)), round(limit_by_wavefronts(40, depth=8), 1)
    (535, 13.4)
    """
    h200 = device(MEASURED_ON)
    return h200.sms * 1e6 * h200.clock_mhz / wavefronts * 2 * 16 * 8 * depth / 1e12
