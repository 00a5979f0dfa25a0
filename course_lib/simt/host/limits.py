"""What a launch may be asked for: each value is checked and put into the runtime's form, or refused in one sentence."""

import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from course_lib import arch
from course_lib.simt.errors import LaunchError
from course_lib.simt.isa import special
from course_lib.simt.passes.pipeline import Program

Triple = tuple[int, int, int]
Extent = SupportsIndex | Sequence[SupportsIndex]      # of a grid or a block, along x, y, z
TracedWarp = tuple[Extent, SupportsIndex]
WarpOrder = str | SupportsIndex
Progress = Callable[[int, int], object]

MOST_BLOCKS = (2**31 - 1, 65535, 65535)  # along x, y, z; CUDA C++ Programming Guide, "Compute Capabilities"
MOST_THREADS, MOST_Z = 1024, 64  # a block: threads, threads along z
MAX_STEPS, LARGEST = 50_000_000, 2**62  # warp instructions of one warp
STEPS_WORDS = "a positive number of warp instructions, or None for 50,000,000"
WORKERS_WORDS = "a positive integer, or None for one for each CPU core"


def integer(value: Any) -> int | None:
    """Return an int, or None for what is none; a bool is none."""
    try:
        return None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        return None


def positive(value: Any, name: str, words: str) -> int:
    """Return an int above 0.

    >>> positive(np.int8(3), "workers", "a positive integer")
    3
    """
    number = integer(value)
    if number is None or number < 1:
        raise LaunchError(f"{name} is {reprlib.repr(value)}; it must be {words}.", value=value)
    return number


def most_steps(value: Any) -> int:
    """Return how many warp instructions a warp may execute."""
    return MAX_STEPS if value is None else min(positive(value, "max_steps", STEPS_WORDS), LARGEST)


def triple(value: Any, name: str) -> Triple:
    """Return (x, y, z) of a launch dimension.

    >>> triple((16, np.int32(8)), "block")
    (16, 8, 1)
    """
    values = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) and np.ndim(value) else (value,)
    numbers = [n for n in map(integer, values) if n is not None and n > 0]
    if not 1 <= len(values) <= 3 or len(numbers) < len(values):
        raise LaunchError(f"{name} is {reprlib.repr(value)}; it must be one to three positive integers, e.g. (16, 16).", value=value)
    x, y, z = *numbers, *(1,) * (3 - len(numbers))
    return x, y, z


def check_kinds(source: Any, entry: Any, arch: Any, progress: Any) -> None:
    """Refuse a source, a kernel's name or an architecture that is no text, and a progress that cannot be called."""
    if progress is not None and not callable(progress):
        raise LaunchError(f"progress must be a function of (blocks done, blocks in all), not {reprlib.repr(progress)}.")
    if not isinstance(source, str | Path):
        raise LaunchError(f"source must be CUDA C or PTX text or a path, not a {type(source).__name__}.")
    if not isinstance(arch, str):
        raise LaunchError(f'arch must be an architecture like "sm_90", not {reprlib.repr(arch)}.', arch=arch)
    if not isinstance(entry, str):
        raise LaunchError(f"entry must be the name of a kernel, not {reprlib.repr(entry)}.", entry=entry)
    try:
        str(source).encode()
    except UnicodeEncodeError:
        raise LaunchError("The source holds half a character (a lone surrogate); it was decoded wrongly.") from None


def compiler_options(options: Any) -> tuple[str, ...]:
    """Return the options for the compiler as a tuple."""
    if isinstance(options, str | bytes) or not isinstance(options, Iterable):
        raise LaunchError(f'options must be a sequence of strings, like ["-use_fast_math"], not {reprlib.repr(options)}.')
    options = tuple(options)
    if not all(isinstance(option, str) for option in options):
        raise LaunchError(f'options must be a sequence of strings, like ["-use_fast_math"], not {reprlib.repr(options)}.')
    return options


def macros(defines: Any) -> dict[str, str]:
    """Return the macros as a dict of texts, in which 1, 1.0 and True differ as far as the compiler sees them differ."""
    if defines is None:
        return {}
    if not isinstance(defines, Mapping) or not all(isinstance(name, str) for name in defines):
        raise LaunchError(f'defines must map names to values, like {{"BM": 32}}, not {reprlib.repr(defines)}.')
    return {name: str(int(value) if isinstance(value, bool | np.bool_) else value) for name, value in defines.items()}


def check_sizes(program: Program, grid: Triple, block: Triple, dynamic_shared: Any) -> int:
    """Refuse what no GPU could launch; return the bytes of dynamic shared memory."""
    threads = block[0] * block[1] * block[2]
    limit = min(MOST_THREADS, program.max_threads)
    if threads > limit:
        why = "its __launch_bounds__" if limit < MOST_THREADS else "the hardware"
        raise LaunchError(f"A block of {'×'.join(map(str, block))} = {threads} threads is more than {why} allows ({limit}).",
                          threads=threads, limit=limit)
    for axis, blocks, most in zip("xyz", grid, MOST_BLOCKS):
        if blocks > most:
            raise LaunchError(f"A grid may have at most {most:,} blocks along {axis}, not {blocks:,}.", blocks=blocks, limit=most)
    if block[2] > MOST_Z:
        raise LaunchError(f"A block may have at most {MOST_Z} threads along z, not {block[2]}.")
    return check_shared(program, dynamic_shared)


def check_shared(program: Program, dynamic_shared: Any) -> int:
    """Refuse more shared memory than the architecture of the kernel has for a block; return the bytes of dynamic shared memory."""
    static = program.shared_bytes - special.reserved(program.slots)
    if static > arch.STATIC_SHARED:
        raise LaunchError(f"Static shared memory of {static} bytes; a block may declare at most {arch.STATIC_SHARED}.")
    dynamic = integer(dynamic_shared)
    if dynamic is None:
        raise LaunchError(f"dynamic_shared is {reprlib.repr(dynamic_shared)}; it must be a number of bytes.")
    target, known = program.target, arch.SHARED.get(arch.target_number(program.target))
    most = known.per_block if known else arch.STATIC_SHARED
    if dynamic < 0 or static + dynamic > most:
        why = "" if known else f": nothing more is known of {target or 'an architecture without a name'}"
        raise LaunchError(f"{static} static and {dynamic} dynamic bytes of shared memory; a block may have at most {most} in all"
                          f"{why or f' on {target}'}.", target=target, limit=most)
    return dynamic


def trace_pairs(trace: Any, grid: Triple, warps: int) -> tuple[NDArray[np.uint64], int]:
    """Return the traced (linear block, warp) pairs as a flat uint64 array, and how many there are."""
    if not isinstance(trace, Iterable) or isinstance(trace, str | Mapping):
        raise LaunchError(f"trace must be a list of (block, warp) pairs, not {reprlib.repr(trace)}.")
    pairs = []
    for pair in trace:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise LaunchError(f"trace must hold (block, warp) pairs, not {reprlib.repr(pair)}.")
        where, warp = pair
        given = list(where) if isinstance(where, tuple | list) else [where]
        numbers = [n for n in map(integer, (*given, warp)) if n is not None]
        if len(numbers) <= len(given) or not 1 <= len(given) <= 3:
            raise LaunchError(f"trace asks for block {reprlib.repr(where)}, warp {reprlib.repr(warp)}; a block is (x, y, z) or a number, "
                              "a warp a number.")
        *at, index = numbers
        number = sum(v * step for v, step in zip(at, (1, grid[0], grid[0] * grid[1])))
        inside = all(0 <= v < most for v, most in zip(at, grid)) if isinstance(where, tuple | list) else True
        if not inside or not 0 <= number < grid[0] * grid[1] * grid[2] or not 0 <= index < warps:
            raise LaunchError(f"trace asks for block {where}, warp {warp}; the grid has {grid} blocks of {warps} warps.")
        pairs.append((number, index))
    return np.array(pairs or [(0, 0)], np.uint64), len(pairs)


def warp_sequence(order: Any, warps: int) -> NDArray[np.uint32]:
    """Return the order in which the warps of a block take their turns."""
    sequence = np.arange(warps, dtype=np.uint32)
    if isinstance(order, str) and order in ("forward", "interleaved", "reverse"):
        return sequence[::-1].copy() if order == "reverse" else sequence
    seed = integer(order)
    if seed is None or seed < 0:
        raise LaunchError(f'warp_order is {reprlib.repr(order)}; use "forward", "reverse", "interleaved" or a number from 0 on.')
    return np.random.default_rng(seed).permutation(sequence)
