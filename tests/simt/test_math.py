"""CUDA's math library on the simulator, held to the largest errors that NVIDIA's guide gives."""

import math

import numpy as np
import pytest
from launching import launch
from math_bounds import INEXACT, LEFT_OUT, LONG, ONE, TWO

KINDS = {"float": np.float32, "double": np.float64}


def arguments(dtype, n=300):
    """Return adversarial arguments and random ones of all sizes."""
    info, rng = np.finfo(dtype), np.random.default_rng(11)
    special = [0.0, np.inf, np.nan, info.tiny, info.smallest_subnormal, info.tiny - info.smallest_subnormal, info.max, info.eps, 1, 2, 3,
               10, 0.5, 1.5, 2.5, 1 - info.epsneg, 1 + info.eps, 88.7, 88.8, 103.9, 709.7, 709.8, 745.1, 170.6, 171.7, 34.9,
               35.1, 20.5, 1e5, 105615.1,
               1e9, 2.0**40, 1e22, 3e38, math.pi, math.pi / 2, math.pi / 4, 1000 * math.pi, 2.0**23 + 0.5, 2.0**24, 2.0**52 + 0.5, 2.0**53]
    special += list(rng.uniform(0, 4, 60)) + list(10 ** rng.uniform(-3, 3, 60)) + list(2 ** rng.uniform(-126, 126, n))
    found = np.array(special, np.float64).astype(dtype)
    return np.concatenate([found, -found])


def ulps(found, exact, dtype):
    """Return the error in units of the last place of the exact result; infinite where they differ in kind."""
    if np.isnan(exact) or np.isnan(found):
        return 0.0 if np.isnan(exact) and np.isnan(found) else math.inf
    with np.errstate(over="ignore"):
        nearest = dtype(exact)
    if found == nearest:
        return 0.0 if found or np.signbit(found) == np.signbit(nearest) or abs(exact) > 0 else math.inf
    if np.isinf(found) or np.isinf(nearest):
        top = LONG(np.finfo(dtype).max)
        beyond = abs(min(abs(LONG(found)), top) - min(abs(exact), top)) / LONG(np.spacing(np.finfo(dtype).max))
        return float(beyond) + 1 if found * nearest > 0 else math.inf
    return float(abs(LONG(found) - exact) / LONG(max(np.spacing(np.abs(nearest)), np.finfo(dtype).smallest_subnormal)))


def kernel(names, kind, count):
    suffix = "f" if kind == "float" else ""
    calls = [f"out[{i} * n + k] = {name}{suffix}({', '.join('xy'[:count])});" for i, name in enumerate(names)]
    head = f'extern "C" __global__ void f({kind}* out, const {kind}* a, const {kind}* b, int n) {{'
    return "\n".join([head, "int k = blockIdx.x * blockDim.x + threadIdx.x;", "if (k >= n) return;", f"{kind} x = a[k], y = b[k];",
                      *calls, "}"])


def run(names, kind, a, b, count):
    out = np.zeros((len(names), len(a)), KINDS[kind])
    launch(kernel(names, kind, count), [out, a, b, np.int32(len(a))], grid=-(-len(a) // 128), block=128)
    return out


def worst(name, entry, row, columns, dtype):
    """Return (error, arguments) where a function is furthest from its reference."""
    kind = "float" if dtype is np.float32 else "double"
    reference, skip = entry[0], LEFT_OUT.get((name, kind), lambda *x: False)
    with np.errstate(all="ignore"):
        errors = [(ulps(y, reference(*x), dtype), x) for y, x in zip(row, zip(*columns)) if not skip(*x)]
    return max(errors, key=lambda e: e[0])


def allowed(name, entry, kind):
    return entry[1] if kind == "float" else entry[2] + (name in INEXACT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_one_argument(kind):
    a, names = arguments(KINDS[kind]), list(ONE)
    out = run(names, kind, a, a, 1)
    found = {name: worst(name, ONE[name], row, (a,), KINDS[kind]) for name, row in zip(names, out)}
    wrong = {name: at for name, at in found.items() if not at[0] <= 0.5 + allowed(name, ONE[name], kind)}
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_two_arguments(kind):
    names, values = list(TWO), arguments(KINDS[kind], 40)
    rng = np.random.default_rng(12)
    a, b = rng.permutation(np.tile(values, 4)), rng.permutation(np.tile(values, 4))
    a[:6], b[:6] = (-8, -8, -0.0, 0, 1, -1), (3, 1 / 3, -3, 0, np.nan, np.inf)
    out = run(names, kind, a, b, 2)
    found = {name: worst(name, TWO[name], row, (a, b), KINDS[kind]) for name, row in zip(names, out)}
    wrong = {name: at for name, at in found.items() if not at[0] <= 0.5 + allowed(name, TWO[name], kind)}
    assert not wrong
