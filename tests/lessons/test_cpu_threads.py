"""Programs by threads: what is asked for, what is said; times are made up, but for one real run."""

import threading
from types import SimpleNamespace

import pytest
from cpu_tools import needs_c

from course_lib.gpu import Timing
from course_lib.lessons.cpu import thread_scaling as cpu_threads
from course_lib.lessons.cpu.thread_scaling import (
    compare_threads,
    thread_bars,
    thread_facts,
    thread_sliders,
)


def made_up(name, threads, N):
    """Take 8 ms with one thread, and a third less than the ideal gain with more."""
    seconds = 0.008 if threads == 1 else 0.012 / threads
    return SimpleNamespace(kernel=SimpleNamespace(name=name), threads=threads, N=N, label="made up",
                           time=Timing.of([seconds, 0.5 * seconds, 2 * seconds], warmup=0), gflops=2 * N**3 / seconds / 1e9)


def test_one_thread_is_measured_once_for_each_program_and_size():
    asked = []
    compare = compare_threads(lambda *position: asked.append(position) or made_up(*position))
    for threads in (1, 2, 4, 1):
        one, many = compare("blas", threads, 64)
        assert (one.threads, many.threads) == (1, threads)
    compare("blas", 2, 128)
    assert asked == [("blas", 1, 64), ("blas", 2, 64), ("blas", 4, 64), ("blas", 1, 128), ("blas", 2, 128)]


def test_the_table_compares_with_one_thread():
    facts = thread_facts((made_up("blas", 1, 100), made_up("blas", 4, 100)))
    assert facts["times as fast as 1 thread"] == "2.67"
    assert facts["efficiency"] == "67 %"
    assert facts["threads"] == "4"
    assert facts["time"] == "3 ms"
    assert facts["GFLOP/s with 1 thread"] == "0.25"


def test_the_bars_show_what_the_ideal_would_be():
    ax, alt = thread_bars((made_up("blas", 1, 100), made_up("blas", 4, 100)))
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.25, 2 / 3, 1.0])
    assert alt == "GFLOP/s of blas at N = 100, made up: 1 thread 0.25, 4 threads 0.667, ideal of 4 threads 1."
    assert len(thread_bars((made_up("blas", 1, 100),) * 2)[0].patches) == 2


def test_the_controls_measure_only_what_is_asked_for(wait_s):
    asked = []
    box = thread_sliders("blas", 1, 128, sizes=(128, 256), measure=lambda *p: asked.append(p) or made_up(*p))
    box.boxes["threads"].value = 4
    assert box.engine.settle(wait_s)
    assert asked == [("blas", 1, 128), ("blas", 4, 128)]
    assert "program = blas, threads = 4, N = 128" in box.status.value
    assert "67 %" in box.table.value
    box.boxes["threads"].value = 1
    assert "known already" in box.status.value
    box.close()


def test_one_measurement_at_a_time(monkeypatch, wait_s):
    inside, most, gate = [], [], threading.Event()

    def run_cpu(name, A, B, **_):
        inside.append(name)
        most.append(len(inside))
        gate.wait(0.05)
        inside.remove(name)
        return name

    monkeypatch.setattr(cpu_threads, "run_cpu", run_cpu)
    workers = [threading.Thread(target=cpu_threads.speed, args=("blas", 1, 8)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(wait_s)
    assert most == [1, 1, 1, 1]


@needs_c
def test_a_real_program_is_measured():
    found = cpu_threads.speed("gemm_pthreads", 2, 40, budget_s=0.01)
    assert (found.kernel.name, found.threads) == ("gemm_pthreads", 2)
    assert found.time
