"""The network learns, its gradients are right, and who multiplies makes no difference but rounding."""

import itertools
import os

import numpy as np
import pytest
from sklearn.datasets import load_digits

from course_lib import gpu
from course_lib.errors import CourseError
from course_lib.run import mismatch
from course_lib.training import (
    CLOSE,
    LEARNT,
    PRODUCTS,
    STEP_CLOSE,
    Digits,
    Network,
    Setting,
    accuracy,
    digits,
    first_weights,
    loss_distance,
    place,
    scores,
    speed,
    step_error,
    train,
)
from course_lib.training.host import Host
from course_lib.training.loop import choose

SMALL = Setting(hidden=24, batch=20)
WAYS = [("library", "cpu"), ("fused", "sim"), ("separate", "sim")]
COMBINATIONS = {(False, False), (True, False), (False, True), (True, True)}


def loss_of(weights, batch):
    """Compute the mean loss in float64 by another way than the network: one picture after another."""
    pictures, labels = batch
    total = 0.0
    for y, label in zip(scores(weights, pictures.T), labels, strict=True):
        total += np.log(np.sum(np.exp(y - y[label])))
    return total / len(labels)


def started(setting, dtype="float64", seed=5):
    """Return a network on the CPU with biases that are not 0, its batch in place."""
    rng = np.random.default_rng(seed)
    weights = {name: array + 0.1 * rng.standard_normal(array.shape) for name, array in first_weights(setting).items()}
    network, batch = Network(setting, Host(), dtype, weights), next(digits().batches(setting.batch))
    network.load(*batch)
    return network, weights, batch


def test_the_digits_are_split_without_loss():
    d, all_ = digits(), load_digits()
    given = sorted(map(tuple, np.column_stack([all_.data / 16, all_.target])))
    rows = np.concatenate([np.column_stack([d.pictures, d.labels]), np.column_stack([d.test_pictures, d.test_labels])])
    assert sorted(map(tuple, rows)) == given
    assert (len(d.labels), len(d.test_labels), d.pictures.max()) == (1437, 360, 1)
    assert set(d.test_labels) == set(range(10))
    assert np.array_equal(digits.__wrapped__().pictures, d.pictures), "the split is the same every time"
    assert not np.array_equal(digits(1).pictures, d.pictures)


def test_an_epoch_has_each_picture_once_as_a_column_above_its_label():
    d, batches = digits(), list(itertools.islice(digits().batches(64, seed=3), 44))
    assert all(x.shape == (64, 64) and x.flags.c_contiguous and y.shape == (64,) for x, y in batches)
    found = {tuple(picture): label for picture, label in zip(d.pictures, d.labels, strict=True)}
    assert all(found[tuple(column)] == label for x, y in batches for column, label in zip(x.T, y, strict=True))
    first, second = (np.concatenate([x.T for x, _ in batches[start:start + 22]]) for start in (0, 22))
    assert len(np.unique(first, axis=0)) == 22 * 64
    assert not np.array_equal(first, second)
    with pytest.raises(CourseError, match="a batch has 1 to 1437"):
        next(d.batches(1438))


def test_the_digits_can_be_read_from_their_file():
    import sklearn.datasets
    path = f"{sklearn.datasets.__path__[0]}/data/digits.csv.gz"
    ours, theirs = digits.__wrapped__(path=path), digits()
    assert np.array_equal(ours.pictures, theirs.pictures)
    assert np.array_equal(ours.test_labels, theirs.test_labels)


def test_the_loss_and_the_gradients_are_those_of_finite_differences():
    network, weights, batch = started(SMALL)
    network.step()
    assert network.loss() == pytest.approx(loss_of(weights, batch), rel=1e-12)
    rng, h = np.random.default_rng(1), 1e-6
    for name in LEARNT:
        gradient = (weights[name] - network.arrays[name]) / SMALL.rate
        assert np.abs(gradient).max() > 1e-3
        for _ in range(12):
            place_ = tuple(rng.integers(0, size) for size in gradient.shape)
            moved = [{**weights, name: weights[name].copy()} for _ in range(2)]
            moved[0][name][place_] += h
            moved[1][name][place_] -= h
            slope = (loss_of(moved[0], batch) - loss_of(moved[1], batch)) / (2 * h)
            assert gradient[place_] == pytest.approx(slope, rel=1e-5, abs=1e-8), (name, place_)


def test_all_four_transpositions_are_in_a_step():
    assert {p.transposed for p in PRODUCTS} == COMBINATIONS
    where = place("fused", "sim")
    network = Network(SMALL, where)
    network.load(*next(digits().batches(SMALL.batch)))
    network.step()
    launched = [(bool(r.parameters["TRANSA"]), bool(r.parameters["TRANSB"])) for _, (r,) in where.launches]
    assert launched == [p.transposed for p in PRODUCTS]
    assert [r.kernel.name for _, (r,) in where.launches] == ["sgemm_op"] * 5


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("products", "backend"), [*WAYS, ("library", "gpu"), ("fused", "gpu"), ("separate", "gpu")])
def test_every_product_of_a_step_is_within_its_rounding(acted, monkeypatch, products, backend):
    where, seen = place(products, backend), []
    make = where.product

    def product(A, B, C, alpha, beta, transposed):
        call = make(A, B, C, alpha, beta, transposed)

        def checked():
            a, b = (np.array(x.T if turn else x) for x, turn in zip((A, B), transposed, strict=True))
            before = C.copy()
            call()
            seen.append((transposed, mismatch(C, a, b, before, alpha=np.float32(alpha), beta=np.float32(beta))))
        return checked

    where.product = product
    network = Network(SMALL, where)
    with where:
        network.load(*next(digits().batches(SMALL.batch)))
        network.step()
    assert seen == [(p.transposed, None) for p in PRODUCTS]


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("products", ["library", "fused", "separate"])
def test_a_step_on_the_gpu_is_the_reference_s(acted, products, graph):
    assert step_error(products, backend="gpu", setting=SMALL, graph=graph) <= STEP_CLOSE / 10
    names = acted[0].launched
    per_step = {"library": 5, "fused": 5, "separate": 16}[products] + 5
    assert len(names) == per_step * (3 if graph else 1)
    assert names.count("transpose") == (6 * (3 if graph else 1) if products == "separate" else 0)


@pytest.mark.parametrize(("products", "backend"), WAYS)
def test_a_step_elsewhere_is_the_reference_s(products, backend):
    assert step_error(products, backend=backend, setting=SMALL) <= STEP_CLOSE / 10


@pytest.mark.slow
def test_the_loss_is_the_same_whoever_multiplies():
    exact, blas = (train(backend="cpu", dtype=dtype) for dtype in ("float64", "float32"))
    assert loss_distance(exact, blas) <= CLOSE / 10
    fused, separate = (train(products, backend="sim", setting=SMALL, steps=12) for products in ("fused", "separate"))
    assert np.array_equal(fused.losses, separate.losses)
    assert all(np.array_equal(fused.weights[name], separate.weights[name]) for name in LEARNT), "the same sums in the same order"
    assert loss_distance(fused, train(backend="cpu", setting=SMALL, steps=12, dtype="float64")) <= CLOSE / 10


@pytest.mark.slow
def test_a_run_on_the_gpu_with_and_without_a_graph(acted):
    exact = train(backend="cpu", setting=SMALL, steps=4, dtype="float64")
    for products in ("fused", "separate", "library"):
        plain, graph = (train(products, backend="gpu", setting=SMALL, steps=4, graph=g) for g in (False, True))
        assert np.array_equal(plain.losses, graph.losses)
        assert loss_distance(plain, exact) <= CLOSE / 10
        assert plain.label == "measured on NVIDIA X"


def test_the_network_learns():
    run = train("library", backend="cpu")
    assert run.losses[:20].mean() > 1.5
    assert run.losses[-20:].mean() < 0.3
    assert run.accuracy > 0.93
    d = digits()
    assert run.accuracy == accuracy(run.weights, d.test_pictures, d.test_labels)
    assert accuracy(first_weights(run.setting), d.test_pictures, d.test_labels) < 0.3
    assert accuracy(run.weights, d.test_pictures, (d.test_labels + 1) % 10) < 0.05
    assert not run.interrupted


def test_ctrl_c_keeps_what_was_learnt():
    class Stopped(Digits):
        def batches(self, size, seed=0):
            yield from itertools.islice(super().batches(size, seed), 5)
            raise KeyboardInterrupt

    run = train(backend="cpu", data=Stopped(**vars(digits())), progress=True)
    assert run.interrupted
    assert np.array_equal(run.losses, train(backend="cpu", steps=5).losses)


def test_a_nan_is_never_close():
    one = train(backend="cpu", setting=SMALL, steps=3)
    broken = train(backend="cpu", setting=SMALL, steps=3)
    broken.losses[1] = np.nan
    assert not loss_distance(one, broken) <= CLOSE
    with pytest.raises(CourseError, match="cannot be compared"):
        loss_distance(one, train(backend="cpu", setting=SMALL, steps=2))
    with pytest.raises(CourseError, match="cannot be compared"):
        loss_distance(one, train(backend="cpu", setting=Setting(hidden=24, batch=20, rate=0.2), steps=3))


@pytest.mark.parametrize(("rows", "cols"), [(1, 10), (33, 10), (70, 65), (5, 1)])
def test_the_layers_on_the_gpu_are_those_of_numpy(acted, rows, cols):
    rng = np.random.default_rng([rows, cols])
    Y, D, losses = (rng.standard_normal(shape).astype(np.float32) for shape in ((rows, cols), (rows, cols), (rows,)))
    Y[rows // 2] *= 400                                   # exp overflows unless the largest is subtracted
    bias, labels = rng.standard_normal(cols).astype(np.float32), rng.integers(0, cols, rows).astype(np.int32)
    found = {}
    for name in ("cpu", "gpu"):
        where = place("library", name)
        a = {key: x.copy() for key, x in (("Y", Y), ("D", D), ("losses", losses), ("b", bias), ("H", Y - 1))}
        with where:
            where.layers.judge(a["Y"], a["b"], labels, a["D"], a["losses"])()
            where.layers.activate(a["H"], a["b"])()
            where.layers.gate(a["Y"], a["H"])()
            where.layers.lower(a["D"], a["b"], 0.5)()
        found[name] = a
    assert np.isfinite(found["gpu"]["losses"]).all()
    for name, array in found["cpu"].items():
        np.testing.assert_allclose(found["gpu"][name], array, rtol=2e-6, atol=1e-6, err_msg=name)
    assert not np.array_equal(found["gpu"]["H"], Y - 1)


def test_the_layers_on_the_gpu_hide_no_nan(acted):
    where = place("library", "gpu")
    H, bias = np.float32([[1, np.nan, -2]]), np.zeros(3, np.float32)
    D, losses = np.zeros((1, 3), np.float32), np.zeros(1, np.float32)
    with where:
        where.layers.judge(H, bias, np.int32([0]), D, losses)()
        where.layers.activate(H, bias)()
    assert np.isnan(losses).all()
    assert np.isnan(D).all()
    np.testing.assert_array_equal(H, [[1, np.nan, 0]])


def test_speed_is_measured_where_time_means_something(acted):
    found = speed(backend="cpu", setting=SMALL, budget_s=0.01)
    assert 0 < found.low <= found.per_s <= found.high
    with pytest.raises(CourseError, match="says nothing about a GPU"):
        speed("fused", backend="sim")


@pytest.mark.parametrize(("call", "words"), [
    (lambda: train("fussed"), "'separate', 'fused', 'library'"), (lambda: train(backend="tpu"), "training runs on"),
    (lambda: train("fused", backend="cpu"), "do not run on the CPU"), (lambda: train("library", backend="sim"), "take backend='cpu'"),
    (lambda: train("fused", backend="sim", dtype="float64"), "float64 needs"), (lambda: Setting(hidden=0), "hidden = 0"),
    (lambda: Setting(batch=2.0), "batch = 2.0"), (lambda: Setting(rate=float("nan")), "rate = nan"),
    (lambda: Setting(rate=-1), "rate = -1")])
def test_what_cannot_be_trained_is_said(call, words):
    with pytest.raises(CourseError, match=words):
        call()


def test_who_multiplies_where(monkeypatch, acted):
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    assert [choose(products) for products in ("library", "fused", "separate")] == ["cpu", "sim", "sim"]
    monkeypatch.delenv("COURSE_BACKEND")
    assert choose("library") == "gpu", "a GPU when one works"


@pytest.fixture(scope="module")
def real():
    if os.environ.get("COURSE_BACKEND") == "sim":
        pytest.skip("COURSE_BACKEND=sim asks for the simulator")
    if not gpu.probe().usable:
        pytest.skip(f"no GPU to test on: {gpu.probe().reason}")


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("products", ["separate", "fused", "library"])
def test_a_real_gpu_learns_as_numpy_does(real, products, graph):
    exact = train(backend="cpu", steps=40, dtype="float64")
    assert loss_distance(train(products, backend="gpu", steps=40, graph=graph), exact) <= CLOSE / 10
    assert step_error(products, backend="gpu", graph=graph) <= STEP_CLOSE
    assert speed(products, backend="gpu", graph=graph, budget_s=0.01).per_s > 0
