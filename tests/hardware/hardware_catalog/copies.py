"""Copies and transposes: strides, gathers, vectors, structures."""

import ctypes

import numpy as np

from hardware_catalog.cases import case, floats, read_only, whole

INT, FLT = np.int32, np.float32


@case((8, 6), 64)
def copy_strided(rng):
    n, pitch = 512, 520
    x, y = floats(rng, n), np.zeros((6, pitch), FLT)
    want = y.copy()
    for s in range(1, 7):
        want[s - 1, :n:s] = x[::s]
    return [INT(n), INT(pitch), x, y], {3: want}


@case(4, 96)
def copy_gathered(rng):
    n = 370
    source = rng.permutation(n).astype(INT)
    source[rng.random(n) < 0.2] = -1
    target, x, y = read_only(rng.permutation(n).astype(INT)), read_only(rng.standard_normal(n)), np.zeros(n)
    want = y.copy()
    want[target[source >= 0]] = x[source[source >= 0]]
    return [INT(n), read_only(source), target, x, y], {4: want}


@case(9, (32, 2))
def copy_offset(rng):
    x, y = floats(rng, 80), np.zeros((9, 80), FLT)
    want = y.copy()
    for b in range(9):
        want[b, b:b + 64] = x[b:b + 64]
    return [INT(80), x, y], {2: want}


@case(3, 64)
def copy_float4(rng):
    n = 1003
    x, y = floats(rng, n), np.zeros(n + 5, FLT)
    return [INT(n), x, y], {2: np.append(2 * x, np.zeros(5, FLT))}


@case(1, 50)
def copy_vectors(rng):
    shapes = ((np.float32, 2), (np.float64, 2), (np.int8, 4), (np.int16, 2), (np.int64, 2), (np.uint8, 2), (np.uint16, 4))
    given = [read_only(rng.integers(-100, 100, (50, k)).astype(t)) for t, k in shapes]
    return [*given, *(np.zeros_like(g) for g in given)], {7 + i: g[:, ::-1] for i, g in enumerate(given)}


@case(2, 64)
def copy_bytes(rng):
    x, u = whole(rng, 0, 256, 640, dtype=np.uint8), whole(rng, -30000, 30000, 384, dtype=np.int16)
    y, v = np.zeros(384, np.uint8), np.zeros(896, np.int16)
    wants = y.copy(), v.copy()
    wants[0][::3], wants[1][::7] = x[::5], u[::3]
    return [x, y, u, v], {1: wants[0], 3: wants[1]}


@case(2, 64)
def copy_hints(rng):
    n = 128
    x, v, y = whole(rng, -1000, 1000, 6, n), rng.integers(-9, 9, n).astype(INT), np.zeros((4, n), INT)
    total = x.sum(0) + v
    return [x, v, y, INT(n)], {1: total, 2: total + np.arange(4)[:, None]}


class Point(ctypes.Structure):
    """The kernel's own structure, as a parameter."""

    _fields_ = [(name, ctypes.c_float) for name in "xyz"]


RECORD = np.dtype({"names": ["value", "key", "tag", "mark", "where", "rest"],
                   "formats": ["f8", "i4", "i2", "i1", ("f4", 3), ("u1", 5)],
                   "offsets": [0, 8, 12, 14, 16, 28], "itemsize": 40})


@case(2, 48)
def copy_structs(rng):
    n = 90
    p, s = floats(rng, n, 3), floats(rng, n, 4)
    r = np.zeros(n, RECORD)
    r["value"], r["key"], r["tag"] = rng.standard_normal(n), rng.integers(0, 1 << 30, n), rng.integers(0, 999, n)
    r["mark"], r["where"], r["rest"] = rng.integers(0, 127, n), rng.standard_normal((n, 3)), rng.integers(0, 256, (n, 5))
    raw = read_only(r.view(np.uint8).reshape(n, 40).copy())
    turned = raw[::-1].copy()
    w = turned.view(RECORD).ravel()
    w["key"] += 1
    w["where"][:, 1] *= -1
    w["rest"][:, 3] ^= w["mark"].view(np.uint8)
    plane = s[::-1].copy()
    plane[:, 3] = plane[:, 0]
    return ([INT(n), Point(2, 0.5, -1), p, np.zeros_like(p), s, np.zeros_like(s), raw, np.zeros_like(raw)],
            {3: p[::-1] * FLT([2, 0.5, -1]), 5: plane, 7: turned})


@case(3, 64, tolerance=1e-6)
def axpy_loop(rng):
    n = 777
    x, y = floats(rng, n), rng.standard_normal(n).astype(FLT)
    return [INT(n), FLT(1.7), x, y], {3: FLT(1.7).astype(float) * x + y}


def transpose(rng, rows, cols):
    x = floats(rng, rows, cols)
    return [INT(rows), INT(cols), x, np.zeros((cols, rows), FLT)], {3: x.T}


@case((3, 5), (16, 16))
def transpose_naive(rng):
    return transpose(rng, 67, 41)


@case((2, 3), (32, 8))
def transpose_shared(rng):
    return transpose(rng, 75, 50)


@case((2, 3), (32, 8))
def transpose_padded(rng):
    return transpose(rng, 75, 50)


@case(1, (32, 32))
def transpose_bytes(rng):
    x, u = whole(rng, -128, 128, 32, 32, dtype=np.int8), read_only(rng.standard_normal((32, 32)))
    return [x, np.zeros_like(x), u, np.zeros_like(u)], {1: x.T, 3: u.T}
