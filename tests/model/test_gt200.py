"""Chien's cost model: his tables, and the model written out once more."""

from fractions import Fraction

import pytest

from course_lib import kernels
from course_lib.arch import device
from course_lib.model import InputError, gt200

C1060 = device("Tesla C1060")


def test_the_prediction_written_out():
    cycles = (530 / 512 + 4 / 32) / 16 + (530 / 512 + 8 / 32) / 64 + 6 / 32
    assert gt200.predicted_gflops("volkov", 512) == pytest.approx(2 * 30 * 1.3 / cycles)
    rounded = 2 * 30 * 1.3 / (1.16 / 16 + 0.02 + 0.1875)
    assert round(rounded, 2) == 278.57


def test_the_resources_of_table_12():
    printed = {"volkov": (1168, 512), "method 1": (1168, 320), "method 2": (1680, 256), "method 3": (1680, 256),
               "method 4": (1176, 192)}
    assert {name: (m.shared_bytes, m.active_threads(C1060)) for name, m in gt200.METHODS.items() if name in printed} == printed


@pytest.mark.parametrize(("name", "costs"), [
    ("volkov", (Fraction(1, 16), Fraction(1, 64), 0, 1, 0)), ("volkov_variant", (Fraction(1, 16), Fraction(1, 64), 1, 0, 1)),
    ("method 1 by nvcc", (Fraction(1, 16), Fraction(1, 128), 0, 1, 0)),
    ("method 1", (Fraction(1, 16), Fraction(1, 128), Fraction(1, 2), 0, 1)),
    ("method 3", (Fraction(1, 24), Fraction(1, 128), Fraction(1, 2), 0, 1)),
    ("method 4", (Fraction(1, 16), Fraction(1, 256), Fraction(1, 4), 0, 1)),
])
def test_the_costs_of_tables_8_and_12(name, costs):
    assert tuple(gt200.METHODS[name].operations().values()) == costs


@pytest.mark.parametrize(("model", "kernel"), [("volkov", "sgemm_volkov"), *((f"method {i}", f"sgemm_method{i}") for i in range(1, 5))])
def test_our_kernels_have_the_shapes_of_the_model(model, kernel):
    method, ours = gt200.METHODS[model], kernels.get(kernel)
    values = ours.check()
    assert (values["THREADS"], values["VECTORS"], values["COLS"]) == (method.threads, method.vectors, method.block_y)
    assert ours.shared_bytes() == method.shared_bytes - method.argument_bytes       # today arguments lie in constant memory


@pytest.mark.parametrize("active", [384, 320, 256, 192])
def test_more_shared_memory_takes_threads_away(active):
    shared = gt200.shared_bytes_for(active, C1060)
    assert shared > gt200.METHODS["volkov"].shared_bytes
    with pytest.raises(InputError, match="active threads"):
        gt200.shared_bytes_for(active + 1, C1060)


@pytest.mark.parametrize("method", gt200.METHODS)
@pytest.mark.parametrize("active", [192, 512])
def test_the_parts_of_the_model_are_its_whole(method, active):
    m = gt200.METHODS[method]
    written_out = (530 / active + 1 / 8) / m.block_y + (530 / active + 2 / 8) / m.rows + float(m.cycles_per_mad()) / 32
    assert float(sum(gt200.cycles_per_multiply_add(method, active).values())) == pytest.approx(written_out)
    assert gt200.predicted_gflops(m, active) == pytest.approx(78 / written_out)


def test_waits_that_overlap_cost_nothing_until_they_are_longer_than_the_work():
    """Table 6 looks like that: flat from 512 threads to 256, and a little less at 192."""
    assert gt200.predicted_gflops("volkov", 512, overlap=True) == gt200.predicted_gflops("volkov", 256, overlap=True)
    waits = (530 / 192) * (1 / 16 + 1 / 64)
    assert gt200.predicted_gflops("volkov", 192, overlap=True) == pytest.approx(2 * 30 * 1.3 / waits)
    assert gt200.predicted_gflops("volkov", 192, overlap=True) < gt200.predicted_gflops("volkov", 256, overlap=True)


@pytest.mark.parametrize(("gflops", "method"), [(353.234, "volkov_variant"), (430.517, "method 1")])
def test_two_measurements_cannot_be_with_the_cycles_of_table_5(gflops, method):
    issued = float(gt200.METHODS[method].cycles_per_mad())
    assert gt200.most_cycles(gflops) < issued
    assert 2 * 30 * 1.3e9 * 32 / gt200.most_cycles(gflops) == pytest.approx(gflops * 1e9)


def test_the_model_does_not_predict_what_happened():
    """He says so himself: 256 threads are predicted to be far slower than 512, and were as fast."""
    assert gt200.predicted_gflops("volkov", 256) < 0.85 * gt200.predicted_gflops("volkov", 512)


@pytest.mark.parametrize("call", [lambda: gt200.predicted_gflops("method 9", 512), lambda: gt200.predicted_gflops("volkov", 0)])
def test_bad_input_is_named(call):
    with pytest.raises(InputError):
        call()
