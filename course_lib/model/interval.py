"""Interval analysis: how long one trip through a loop takes a thread, and how many threads hide that.

Source of everything here: Koppelman, homework on `vtx-xform-size`, Problem 2. An M x N matrix of constants multiplies S
vectors; one interval handles one vector. Symbols as in the homework: L_M and L_2 are the cycles of a load that misses or
hits the L2 cache, L_F those of an arithmetic instruction.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from course_lib.arch import SECTOR_BYTES, WARP, Device
from course_lib.model.inputs import InputError, whole

ThreadInstruction = tuple[str, str | None, Sequence[str]]      # kind, name of its result, names that must be ready
FLOAT = 4              # bytes
MISS = 400             # L_M, cycles; the homework's figure for Maxwell and Pascal
HIT = 200              # L_2, cycles
ARITHMETIC = 6         # L_F, cycles
FP_PER_CYCLE = 128     # Θ_IF, thread instructions an SM issues a cycle; Maxwell and Pascal, as printed in the homework
MEMORY_PER_CYCLE = 64  # Θ_IM, loads and stores of threads; as printed there
ISSUE_MEMORY = 2       # cycles between two loads of one warp: 16 load/store units a scheduler


@dataclass(frozen=True)
class Interval:
    """What one thread does in one interval.

    Attributes
    ----------
    latency
        L, cycles from its first load to its last store, without contention.
    offchip_bytes
        d, read from and written to the device memory.
    fp, memory
        n_IF and n_IM: multiply-adds, and loads and stores.
    """

    latency: float
    offchip_bytes: float
    fp: int
    memory: int

    def threads_for_bandwidth(self, bytes_per_cycle: float) -> float:
        """Return P, the threads (of the whole GPU, or of an SM) that saturate this off-chip bandwidth."""
        if not bytes_per_cycle > 0:
            raise InputError(f"bytes_per_cycle is {bytes_per_cycle!r}, but it is a positive number")
        return bytes_per_cycle * self.latency / self.offchip_bytes

    def reached_gb_s(self, device: Device, threads: int) -> float:
        """Return the 10^9 bytes a second that `threads` of each SM move off the chip when nobody stands in another's way.

        >>> from course_lib.arch import device
        >>> k0 = loaded_first()
        >>> [round(k0.reached_gb_s(device("GTX 1080"), threads)) for threads in (24, 48, 96)]
        [158, 317, 320]
        """
        return device.bandwidth_gb_s * min(1, threads * device.sms / self.threads_for_bandwidth(bytes_per_cycle(device)))

    def threads_for_issue(self, fp_per_cycle: int = FP_PER_CYCLE, memory_per_cycle: int = MEMORY_PER_CYCLE) -> float:
        """Return Q, the threads of one SM that keep it issuing."""
        return self.latency / (self.fp / fp_per_cycle + self.memory / memory_per_cycle)


def bytes_per_cycle(device: Device) -> float:
    """Return Θ_M of a Device: bytes of device memory a cycle of its clock.

    >>> from course_lib.arch import device
    >>> round(bytes_per_cycle(device("GTX 1080")), 1)
    184.7
    """
    return device.bandwidth_gb_s * 1e3 / device.clock_mhz


def _sizes(M, N):
    return whole("M", M, 1, 4096, "the rows of the matrix are"), whole("N", N, 1, 4096, "its columns are")


def loaded_first(M: int = 16, N: int = 16, miss: int = MISS) -> Interval:
    """Return the interval of K0: `mxv_o_lbuf` with the whole input vector loaded before any arithmetic.

    L = L_M + MN + M, one cycle for each multiply-add and store. Holds for M >= L_F and L_M >= 2 N (`schedule` shows both).

    >>> k0 = loaded_first()
    >>> k0.latency, k0.offchip_bytes, k0.threads_for_issue()
    (672, 128, 268.8)
    """
    M, N = _sizes(M, N)
    return Interval(miss + M * N + M, FLOAT * (M + N), M * N, M + N)


def in_order(M: int = 16, N: int = 16, miss: int = MISS, hit: int = HIT) -> Interval:
    """Return the interval of `mxv_o_lbuf` in the order of its source, part (b): each element is used when it comes.

    Of the 8 elements of a sector the first misses the L2 cache and the rest hit it.

    >>> in_order().latency, in_order().threads_for_issue()
    (3872, 1548.8)
    """
    M, N = _sizes(M, N)
    misses = math.ceil(N * FLOAT / SECTOR_BYTES)
    return Interval(misses * miss + (N - misses) * hit + M * N + M, FLOAT * (M + N), M * N, M + N)


def output_per_thread(M: int = 16, N: int = 16, miss: int = MISS, arithmetic: int = ARITHMETIC) -> Interval:
    """Return the interval of `mxv_o_per_thd`, part (c): one component of the output a thread, all loads first.

    N multiply-adds, each waiting for the last; M neighbours load the same vector, so a thread's share of it is 1/M.

    >>> one = output_per_thread()
    >>> one.latency, one.offchip_bytes, one.threads_for_issue()
    (497, 8.0, 1272.32)
    """
    M, N = _sizes(M, N)
    return Interval(miss + N * arithmetic + 1, FLOAT * (M + N) / M, N, N + 1)


def best_square(miss: int = MISS) -> float:
    """Return the N = M at which K0 needs fewest threads to saturate the bandwidth: the root of L_M.

    >>> best_square(), min(range(1, 100), key=lambda n: loaded_first(n, n).threads_for_bandwidth(1))
    (20.0, 20)
    """
    return math.sqrt(miss)


def registers_for_latency(interval: Interval, registers_per_thread: int) -> int:
    """Return the registers of an SM that `threads_for_issue` threads take, whole warps.

    K0 keeps N - 1 elements more in registers than the order of the source, and needs a sixth of the threads.

    >>> registers_for_latency(loaded_first(), 16 + 16), registers_for_latency(in_order(), 16 + 1)
    (9216, 26656)
    """
    warps = math.ceil(interval.threads_for_issue() / WARP)
    return warps * WARP * registers_per_thread


def intervals(M: int = 16, N: int = 16, miss: int = MISS, hit: int = HIT, arithmetic: int = ARITHMETIC) -> dict[str, Interval]:
    """Return the Interval of each of the three kernels by its name; latencies in cycles."""
    return {"K0": loaded_first(M, N, miss), "mxv_o_lbuf": in_order(M, N, miss, hit),
            "mxv_o_per_thd": output_per_thread(M, N, miss, arithmetic)}


def needs(device: Device, M: int = 16, N: int = 16, memory_per_cycle: int = MEMORY_PER_CYCLE,
          **latencies: int) -> dict[str, tuple[float, float, float, float]]:
    """Return what each of the three kernels needs on a Device of the table: the answers to (b) and (c), and the beginning of (a).

    Parameters
    ----------
    memory_per_cycle
        Loads and stores of threads that an SM issues a cycle.
    **latencies
        As for `intervals`.

    Returns
    -------
    dict of str to (L, P, P of an SM, Q)
        Cycles; threads of the GPU and of an SM that saturate the bandwidth; threads of an SM that saturate issue.

    >>> from course_lib.arch import device
    >>> for name, row in needs(device("GTX 1080")).items(): print(name, *(round(value) for value in row))
    K0 672 969 48 269
    mxv_o_lbuf 3872 5586 279 1549
    mxv_o_per_thd 497 11471 574 1272
    """
    rate = bytes_per_cycle(device)
    return {name: (i.latency, i.threads_for_bandwidth(rate), i.threads_for_bandwidth(rate) / device.sms,
                   i.threads_for_issue(memory_per_cycle=memory_per_cycle))
            for name, i in intervals(M, N, **latencies).items()}


def schedule(program: Iterable[ThreadInstruction], miss: int = MISS, hit: int = HIT, arithmetic: int = ARITHMETIC,
             issue_memory: int = ISSUE_MEMORY,
             issue_store: int = 1) -> tuple[int, list[int]]:
    """Issue the instructions of one thread in order and return the cycle at which the last one has been issued.

    Parameters
    ----------
    program : sequence of (kind, result, sources)
        `kind` is "miss", "hit", "fp" or "store"; `result` any name or None; `sources` names that must be ready.
    issue_memory, issue_store
        Cycles until the instruction after a load or a store; the homework says 2 for both and counts 1 for stores.

    Returns
    -------
    (end, issued) : int and list of int
        `issued` has the cycle of each instruction.

    >>> schedule([("miss", "a", ()), ("miss", "b", ()), ("miss", "c", ()), ("fp", "x", ("a",))])
    (401, [0, 2, 4, 400])
    """
    latency = {"miss": miss, "hit": hit, "fp": arithmetic, "store": 0}
    taken = {"miss": issue_memory, "hit": issue_memory, "fp": 1, "store": issue_store}
    now, issued = 0, []
    ready: dict[str | None, int] = {}
    for kind, result, sources in program:
        now = max([now, *(ready[name] for name in sources)])
        issued.append(now)
        ready[result] = now + latency[kind]
        now += taken[kind]
    return now, issued


def spans(program: Iterable[ThreadInstruction], **latencies: int) -> list[tuple[str, int, int]]:
    """Return what one thread does when: pieces of its interval, as (what, start, end) in cycles.

    Parameters
    ----------
    program, **latencies
        As for `schedule`.

    Returns
    -------
    "loads", "waits", "multiply-adds" or "stores", one after the other without gaps; the end of the last is `schedule`'s end.

    >>> spans(program_loaded_first(6, 2))
    [('loads', 0, 4), ('waits', 4, 400), ('multiply-adds', 400, 412), ('stores', 412, 418)]
    """
    program = list(program)
    end, issued = schedule(program, **latencies)
    taken = {"miss": latencies.get("issue_memory", ISSUE_MEMORY), "fp": 1, "store": latencies.get("issue_store", 1)}
    taken["hit"] = taken["miss"]
    names = {"miss": "loads", "hit": "loads", "fp": "multiply-adds", "store": "stores"}
    found: list[tuple[str, int, int]] = []
    for (kind, _, _), at in zip(program, issued, strict=True):
        before = found[-1][2] if found else 0
        if at > before:
            found.append(("waits", before, at))
        if found and found[-1][0] == names[kind]:
            found[-1] = (*found[-1][:2], at + taken[kind])
        else:
            found.append((names[kind], at, at + taken[kind]))
    return found if end else []


def program_loaded_first(M: int, N: int) -> Iterator[ThreadInstruction]:
    """Yield K0 for `schedule`: N loads, then MN multiply-adds column by column, then M stores."""
    yield from (("miss", f"in{c}", ()) for c in range(N))
    yield from _columns(M, range(N))
    yield from (("store", None, (f"out{r}",)) for r in range(M))


def program_in_order(M: int, N: int) -> Iterator[ThreadInstruction]:
    """Yield `mxv_o_lbuf` in the order of its source for `schedule`."""
    for c in range(N):
        yield "hit" if c * FLOAT % SECTOR_BYTES else "miss", f"in{c}", ()
        yield from _columns(M, [c])
    yield from (("store", None, (f"out{r}",)) for r in range(M))


def program_output_per_thread(N: int) -> Iterator[ThreadInstruction]:
    """Yield `mxv_o_per_thd` for `schedule`: N loads, N multiply-adds in a chain, one store."""
    yield from (("miss", f"in{c}", ()) for c in range(N))
    yield from _columns(1, range(N))
    yield "store", None, ("out0",)


def _columns(M, columns):
    for c in columns:
        for r in range(M):
            yield "fp", f"out{r}", (f"in{c}", *([f"out{r}"] if c else ()))
