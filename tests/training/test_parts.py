"""The sizes of a step's products, what fusing saves, the share of the time that products take, and rates measured or recorded."""

import os
import sys
from itertools import islice

import pytest

from course_lib import gpu
from course_lib.errors import CourseError
from course_lib.toolchain.host_cpu import blas
from course_lib.training import KINDS, PRODUCTS, Gemm, Network, Setting, Speed, digits, gemms, parts, place, rates, step_cost
from course_lib.training.host import Host

WHOLE = Setting(hidden=32, batch=64)


def modules():
    """Return the module, whose function of the same name hides it."""
    return sys.modules["course_lib.training.parts"]


def test_sizes_are_those_of_the_launches():
    setting = Setting(hidden=24, batch=20)
    where = place("fused", "sim")
    network = Network(setting, where)
    network.load(*next(islice(digits().batches(20), 1)))
    network.step()
    assert [(g.M, g.N, g.K) for g in gemms(setting)] == [(r.M, r.N, r.K) for _, (r,) in where.launches]


def test_sectors_by_hand():
    first, last = gemms(Setting(hidden=128, batch=64))[0], gemms(Setting(hidden=128, batch=64))[4]
    assert first.least_sectors == (64 * 64 + 64 * 128 + 64 * 128) // 8
    assert last.least_sectors == (128 * 64 + 64 * 64 + 2 * 128 * 64) // 8
    assert Gemm(PRODUCTS[2], 3, 5, 1).least_sectors == 1 + 1 + 2


def test_what_the_formula_saves_is_what_the_simulator_counts_when_all_is_whole():
    separate, fused = (step_cost(way, WHOLE).rows() for way in ("separate", "fused"))
    for i, g in enumerate(gemms(WHOLE)):
        saved = sum(separate[i][2:]) - sum(fused[i][2:])
        if 10 in (g.M, g.N):
            assert saved == pytest.approx(g.saved_sectors, rel=0.8)
        else:
            assert saved == g.saved_sectors


def test_nothing_moves_fewer_sectors_than_the_matrices_hold():
    for way in ("separate", "fused"):
        moved = [load + store for _, _, load, store in step_cost(way, WHOLE).rows()]
        assert all(count >= g.least_sectors for g, count in zip(gemms(WHOLE), moved, strict=True))


class Clocked(Host):
    """A host on which every product takes 3 ticks and everything else 1 tick; `ticks` counts them."""

    ticks = 0

    def product(self, *arguments):
        call = super().product(*arguments)

        def timed():
            call()
            Clocked.ticks += 3
        return timed

    def copy(self, target, source):
        super().copy(target, source)
        Clocked.ticks += 0.5            # two copies a batch


@pytest.fixture
def clocked(monkeypatch):
    def time_call(call, **_):
        before = Clocked.ticks
        call()
        return gpu.Timing.of([1e-3 * (Clocked.ticks - before)], warmup=0)
    monkeypatch.setattr(modules(), "time_call", time_call)
    monkeypatch.setattr(modules(), "place", lambda products, backend: Clocked())


def test_the_share_is_that_of_the_products(clocked):
    found = parts(backend="cpu", setting=WHOLE)
    assert (found.whole_s, found.rest_s) == (pytest.approx(16e-3), pytest.approx(1e-3))
    assert found.share == pytest.approx(15 / 16)
    assert found.label == "NumPy's BLAS on this CPU, one thread"


def test_the_blas_has_one_thread_while_it_is_measured(clocked, monkeypatch):
    seen, fake = [], modules().time_call

    def time_call(call, **options):
        seen.append(blas().threads)
        return fake(call, **options)
    monkeypatch.setattr(modules(), "time_call", time_call)
    parts(backend="cpu", setting=WHOLE)
    assert set(seen) <= {1, None}
    assert seen


def test_a_share_is_no_less_than_nothing():
    assert modules().Parts("library", "", WHOLE, 1.0, 1.1).share == 0


def test_on_a_gpu_both_are_replayed_and_the_rest_has_no_product(acted, monkeypatch):
    monkeypatch.setattr(modules(), "LAP", 1)

    def time_call(call, **_):
        call()
        return gpu.Timing.of([1.0], warmup=0)
    monkeypatch.setattr(modules(), "time_call", time_call)
    found = parts("fused", backend="gpu", setting=Setting(hidden=16, batch=16))
    assert found.label == "measured on NVIDIA X"
    names = acted[0].launched
    last = len(names) - 1 - names[::-1].index("sgemm_op")
    assert names[last + 1:].count("gate") >= 3
    assert "sgemm_op" not in names[last + 1:]


def test_the_simulator_has_no_share():
    with pytest.raises(CourseError, match="says nothing about a GPU"):
        parts("fused", backend="sim")


def test_rates_are_recorded_without_a_gpu(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    rows, label = rates()
    assert "recorded on NVIDIA" in label
    assert len(rows) == 9
    assert {r["products"] for r in rows} == set(KINDS)
    assert all(r["backend"] == "gpu" and r["graph"] for r in rows)
    only, _ = rates((Setting(512, 256),))
    assert [r["hidden"] for r in only] == [512] * 3
    assert rates((Setting(7, 7),))[0] == ()


def test_rates_are_measured_with_one(acted, monkeypatch):
    asked = []

    def speed(way, **how):
        asked.append((way, how["setting"], how["graph"]))
        return Speed(way, "gpu", "measured on NVIDIA X", how["setting"], True, 100.0, 90.0, 110.0, 5)

    monkeypatch.setattr(modules(), "choose_backend", lambda: "gpu")
    monkeypatch.setattr(modules(), "speed", speed)
    rows, label = rates()
    assert label == "measured on NVIDIA X"
    assert asked[:3] == [(way, Setting(), True) for way in KINDS]
    assert [(r["hidden"], r["batch"]) for r in rows[::3]] == [(128, 64), (512, 256), (4096, 1024)]
    assert (rows[0]["per_s"], rows[0]["low"], rows[0]["high"]) == (100, 90, 110)


@pytest.mark.parametrize("products", KINDS)
def test_the_share_on_a_real_gpu(products):
    if os.environ.get("COURSE_BACKEND") == "sim" or not gpu.probe().usable:
        pytest.skip("no GPU to test on, or COURSE_BACKEND=sim")
    small, large = (parts(products, backend="gpu", setting=s, budget_s=0.02) for s in (Setting(), Setting(4096, 1024)))
    assert small.rest_s > 0
    assert 0 < large.share < 1
