"""The gradient check finds a wrong formula and names the arrays it spoils; other formulas are carried out, or refused with a sentence."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.training import LEARNT, PRODUCTS, Network, Setting, check_gradient, digits, first_weights, loss_distance, train
from course_lib.training import gradient as room
from course_lib.training.host import Host
from course_lib.training.network import matrix_shapes

SQUARE = Setting(hidden=64, batch=64)           # X and G and W1 are square: their turns change no shape
H, Y, G, W2, W1 = PRODUCTS


def with_one(place, product):
    """Return the products with one of them replaced."""
    return (*PRODUCTS[:place], product, *PRODUCTS[place + 1:])


@pytest.mark.parametrize("setting", [SQUARE, Setting(hidden=24, batch=20), Setting(hidden=5, batch=1)])
def test_the_right_products_pass(setting):
    found = check_gradient(setting=setting)
    assert tuple(s.name for s in found) == LEARNT
    assert all(s.right and s.error < room.RIGHT / 10 for s in found)


@pytest.mark.parametrize(("formulas", "wrong"), [
    (with_one(4, replace(W1, transposed=(False, True))), {"W1"}),
    (with_one(4, replace(W1, transposed=(True, False))), {"W1"}),
    (with_one(4, replace(W1, A="X", B="G", transposed=(False, False))), {"W1"}),     # the gradient itself transposed
])
def test_a_wrong_update_spoils_its_own_array(formulas, wrong):
    assert {s.name for s in check_gradient(formulas, SQUARE) if not s.right} == wrong


def test_a_wrong_product_forward_spoils_more():
    """H with X not transposed: the loss is that of other pictures, so no gradient is that of the true loss."""
    found = check_gradient(with_one(0, replace(H, transposed=(False, True))), SQUARE)
    assert {s.name for s in found if not s.right} >= {"W1", "W2"}


def test_what_spoils_g_spoils_w1_and_b1_alone(monkeypatch):
    """The self-check of lesson 14 asks this: without the gate, G is wrong, and W2 and b2 do not use it."""
    monkeypatch.setattr(Host.layers, "gate", staticmethod(lambda G, H: lambda: None))
    assert {s.name for s in check_gradient(setting=SQUARE) if not s.right} == {"W1", "b1"}


def test_a_gradient_where_the_loss_is_flat_is_wrong(monkeypatch):
    """All neurons are off: no slope, and without the gate a gradient nevertheless."""
    monkeypatch.setattr(room, "first_weights", lambda setting: first_weights(setting) | {"b1": np.full(setting.hidden, -1e3)})
    small = Setting(hidden=5, batch=4)
    assert {s.name: (s.step, s.slope, s.right) for s in check_gradient(setting=small) if s.name in ("W1", "b1")} == {
        "W1": (0, 0, True), "b1": (0, 0, True)}
    monkeypatch.setattr(Host.layers, "gate", staticmethod(lambda G, H: lambda: None))
    found = {s.name: s for s in check_gradient(setting=small)}
    assert found["b1"].error == np.inf
    assert not found["b1"].right


def test_the_element_that_is_shown_is_the_same_on_every_machine():
    """Where all agree, the largest gradient: which element rounding makes the worst is chance. Else the worst."""
    tried = {name: check_gradient(setting=SQUARE, tries=tries)[0].element for name, tries in (("few", 2), ("many", 40))}
    assert tried["few"] == tried["many"]
    wrong = check_gradient(with_one(4, replace(W1, transposed=(False, True))), SQUARE)[0]
    assert abs(wrong.step - wrong.slope) > 100 * room.RIGHT * abs(wrong.slope)


def test_a_nan_is_not_right(monkeypatch):
    true = first_weights

    def broken(setting):
        weights = true(setting)
        weights["W1"][0, 0] = np.nan
        return weights

    monkeypatch.setattr(room, "first_weights", broken)
    assert not any(s.right for s in check_gradient(setting=SQUARE))


def test_the_mean_loss_is_the_network_s_and_does_not_overflow():
    pictures, labels = next(digits().batches(20))
    weights = first_weights(Setting(hidden=8, batch=20))
    network = Network(Setting(hidden=8, batch=20), Host(), "float64", weights)
    network.load(pictures, labels)
    network.step()
    assert room.mean_loss(weights, pictures, labels) == pytest.approx(network.loss(), rel=1e-12)
    assert np.isfinite(room.mean_loss({**weights, "W2": 1e4 * weights["W2"]}, pictures, labels))


def test_the_lesson_s_mistake_learns_and_learns_worse():
    wrong = train(backend="cpu", setting=SQUARE, formulas=with_one(4, replace(W1, transposed=(False, True))))
    right = train(backend="cpu", setting=SQUARE)
    assert wrong.losses[-20:].mean() < wrong.losses[0] / 3
    assert wrong.losses[-20:].mean() > 1.5 * right.losses[-20:].mean()
    assert wrong.accuracy < right.accuracy
    assert loss_distance(train(backend="cpu", setting=SQUARE, formulas=PRODUCTS), right) == 0


@pytest.mark.parametrize("products", ["fused", "separate"])
def test_our_kernels_make_the_same_mistake(products):
    formulas = with_one(4, replace(W1, transposed=(False, True)))
    small = Setting(hidden=64, batch=64)
    ours, numpys = (train(way, backend=where, setting=small, steps=3, formulas=formulas)
                    for way, where in ((products, "sim"), ("library", "cpu")))
    assert loss_distance(ours, numpys) < 1e-5


@pytest.mark.parametrize(("formulas", "setting", "words"), [
    (with_one(4, replace(W1, transposed=(False, True))), Setting(),
     r"W1 = W1 - rate G Xᵀ: 64 × 128 times 64 × 64 cannot make W1, which is 128 × 64"),
    (with_one(1, replace(Y, transposed=(False, False))), SQUARE, r"Y = H W2: 64 × 64 times 10 × 64 cannot make Y, which is 64 × 10"),
    (with_one(2, replace(G, transposed=(True, True))), SQUARE, "turn an operand, or exchange the two"),
    (PRODUCTS[:4], SQUARE, "make H, Y, G, W2, but a step makes H, Y, G, W2, W1"), (PRODUCTS[::-1], SQUARE, "in this order")])
def test_what_cannot_be_a_step_is_said(formulas, setting, words):
    with pytest.raises(CourseError, match=words):
        train(backend="cpu", setting=setting, formulas=formulas, steps=1)


def test_the_shapes_are_those_of_the_arrays():
    setting = Setting(hidden=12, batch=7)
    network = Network(setting, Host())
    assert {name: network.arrays[name].shape for name in matrix_shapes(setting)} == matrix_shapes(setting)
