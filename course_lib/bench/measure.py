"""Carry out one task: `attempt` turns a `Task` into a `Record`, on whatever machine it runs."""

from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib import gpu, toolchain
from course_lib.bench import on_gpu
from course_lib.bench.on_gpu import answer, times
from course_lib.bench.tasks import Task
from course_lib.data import Record
from course_lib.errors import CourseError
from course_lib.run import mismatch, run, run_cpu, run_gather, run_multiply, run_sum, run_transpose, run_vectors

MOST_SIMULATED = 2**31      # multiply-adds; about a minute
MOST_COPIED = 2**24         # floats of a strided copy on the simulator


def attempt(task: Task) -> Record:
    """Measure; whatever goes wrong becomes a record with the sentence that says what."""
    if task.problem:
        return task.record(state="skipped", problem=task.problem)
    try:
        where = here(task.backend)
        found = {"gpu": on_gpu.measure, "sim": _simulate, "cpu": _on_cpu}[task.backend](task)
    except Exception as error:
        return task.record(state="failed", problem=sentence(error), date=date.today().isoformat())
    return speeds(task, task.record(**where | found))


def sentence(error: BaseException) -> str:
    """Return an exception's first line, with its type when it is none of ours.

    >>> sentence(ValueError("no")), sentence(CourseError("take a smaller tile"))
    ('ValueError: no', 'take a smaller tile')
    """
    text = str(error).strip().partition("\n")[0]
    return text if isinstance(error, CourseError) else f"{type(error).__name__}: {text}".rstrip(": ")


def here(backend: str) -> dict[str, str]:
    """Return device, driver and date of what runs in this process.

    >>> here("sim")["device"]
    'simulated'
    """
    today = {"date": date.today().isoformat()}
    if backend == "sim":
        return today | {"device": "simulated"}
    if backend == "cpu":
        return today | {"device": toolchain.cpu_name()}
    status = gpu.probe()
    if not status.usable:
        raise CourseError(f"there is no GPU to measure on: {status.reason}", reason=status.reason)
    return today | {"device": status.name, "driver": status.driver}


def speeds(task: Task, record: Record) -> Record:
    """Return the record with what follows from its time, and as failed when its answer was wrong."""
    if record.correct is False:
        record = replace(record, state="failed", median_s=None, low_s=None, high_s=None)
    if record.median_s is None:
        return record
    return replace(record, gflops=task.flops / record.median_s / 1e9 if task.flops else None,
                   gb_s=task.bytes / record.median_s / 1e9)


@lru_cache(maxsize=2)
def host_inputs(M: int, N: int, K: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B for a product, always the same ones for a size: normal numbers, so that no transposed answer passes."""
    rng = np.random.default_rng(M + N + K)
    A, B = (rng.standard_normal(shape, np.dtype(dtype)) for shape in ((M, K), (K, N)))
    return A, B


@lru_cache(maxsize=2)
def vector_inputs(S: int, M: int, N: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix and S vectors for it."""
    rng = np.random.default_rng(S)
    return rng.standard_normal((M, N), np.float32), rng.standard_normal((S, N), np.float32)


def operands(task: Task, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B as a kernel with transposed operands takes them."""
    return A.T.copy() if task.parameters.get("TRANSA") else A, B.T.copy() if task.parameters.get("TRANSB") else B


def _simulate(task: Task) -> dict[str, Any]:
    """Count on the simulator and check the answer; there is no time."""
    if task.kernel in ("cuBLAS", "copy"):
        raise CourseError(f"{task.kernel} is measured on a GPU alone: the simulator has no such kernel")
    if task.flops > 2 * MOST_SIMULATED:
        raise CourseError(f"{task.flops / 2:.1e} multiply-adds take minutes on the simulator: take N up to 1024")
    options: dict[str, Any] = {"backend": "sim", **task.parameters}
    if task.kind == "vectors":
        matrix, vectors = vector_inputs(task.N, task.parameters["M"], task.parameters["N"])
        options = {name: value for name, value in options.items() if name not in ("M", "N")}
        many = run_vectors(task.kernel, matrix, vectors, **options)
        return {"counters": many.counters, **answer(many.mismatch())}
    if task.kind == "gather":
        return _simulate_gather(task, options)
    A, B = host_inputs(task.M, task.N, task.K, task.dtype)
    if task.kind == "product":
        whole = run(task.kernel, *operands(task, A, B), **options)
        return {"counters": whole.counters, **answer(mismatch(whole.C, A, B, inputs=whole.kernel.inputs))}
    if task.kind == "multiply":
        result = run_multiply(task.kernel, A, B, **options)
        return {"counters": result.counters, **answer(mismatch(result.out, A, B))}
    P = np.ascontiguousarray(A[:, :task.N]) if task.K >= task.N else np.resize(A, (task.M, task.N))
    result = run_transpose(task.kernel, P, **options) if task.kind == "transpose" else run_sum(task.kernel, P, **options)
    right = np.array_equal(result.out, P.T if task.kind == "transpose" else P)
    return {"counters": result.counters, **answer(None if right else "an element is not what was to be moved")}


def _simulate_gather(task: Task, options: dict[str, Any]) -> dict[str, Any]:
    """Count a strided copy of the numbers 0, 1, 2, …, and check where each came from."""
    p = task.parameters
    if task.N * p["stride"] > MOST_COPIED:
        raise CourseError(f"this copy reaches over {task.N * p['stride']} floats; on the simulator take N times stride up to {MOST_COPIED}")
    place = np.arange(task.N)
    right = (p["offset"] + place // p["VEC"] * p["stride"] * p["VEC"] + place % p["VEC"]).astype(np.float32)
    result = run_gather(task.kernel, np.arange(right[-1] + 1, dtype=np.float32), task.N, **options)
    return {"counters": result.counters, **answer(None if np.array_equal(result.out, right) else "an element is not the one to copy")}


def _on_cpu(task: Task) -> dict[str, Any]:
    """Time a program on this machine's CPU and check its answer."""
    A, B = host_inputs(task.M, task.N, task.K, task.dtype)
    parameters: dict[str, Any] = task.parameters
    result = run_cpu(task.kernel, A, B, budget_s=task.budget_s, **parameters)
    return times(result.time) | answer(mismatch(result.C, A, B))
