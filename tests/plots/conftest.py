"""Small results with the shape of `run`'s, made by hand: what the pictures must draw is known exactly."""

from types import SimpleNamespace

import numpy as np
import pytest

BASES = {"A": 0x10000, "B": 0x20000, "C": 0x30000}


def record(step, block, warp, line, operation, addresses, width=4, space="global"):
    full = np.full(32, -1, dtype=np.int64)
    full[: len(addresses)] = addresses
    mask = int(sum(1 << lane for lane in range(32) if full[lane] >= 0))
    return SimpleNamespace(step=step, block=block, warp=warp, line=line, operation=operation, mask=mask,
                           addresses=full, width=width, space=space)


def result(M, N, K, block, grid, trace, parameters, shared=()):
    sizes = {"A": M * K, "B": K * N, "C": M * N}
    arrays = tuple(SimpleNamespace(name=n, address=BASES[n], nbytes=4 * sizes[n], itemsize=4) for n in "ABC")
    return SimpleNamespace(M=M, N=N, K=K, block=block, grid=grid, trace=tuple(trace), arrays=arrays,
                           shared=tuple(shared), parameters=parameters)


def one_thread_per_element(M, N, block, swapped=False):
    """Return a result whose trace holds the stores of the naive (or swapped) kernel."""
    bx, by = block
    along_x, along_y = (M, N) if swapped else (N, M)
    grid = (-(-along_x // bx), -(-along_y // by), 1)
    trace = []
    for y in range(grid[1]):
        for x in range(grid[0]):
            for warp in range(-(-bx * by // 32)):
                threads = np.arange(32 * warp, min(32 * warp + 32, bx * by))
                i, j = x * bx + threads % bx, y * by + threads // bx
                row, col = (i, j) if swapped else (j, i)
                inside = (row < M) & (col < N)
                addresses = np.where(inside, BASES["C"] + 4 * (row * N + col), -1)
                if inside.any():
                    trace.append(record(9, (x, y, 0), warp, 22, "st.global.f32", addresses))
    return result(M, N, 1, (bx, by, 1), grid, trace, {"bx": bx, "by": by})


def tiled(size=8, tile=4, barriers=(True, True)):
    """Return a result whose trace is that of block (0, 0) of the tiled kernel on square matrices."""
    shared = (SimpleNamespace(name="As", offset=0, nbytes=4 * tile * tile),
              SimpleNamespace(name="Bs", offset=4 * tile * tile, nbytes=4 * tile * tile))
    trace = []
    for warp in range(-(-tile * tile // 32)):
        thread = np.arange(32 * warp, min(32 * warp + 32, tile * tile))
        tx, ty = thread % tile, thread // tile

        def add(line, operation, addresses, space, warp=warp):
            trace.append(record(len(trace), (0, 0, 0), warp, line, operation, addresses, 4, space))

        for k0 in range(0, size, tile):
            add(33, "ld.global.f32", BASES["A"] + 4 * (ty * size + k0 + tx), "global")
            add(33, "st.shared.f32", 4 * (ty * tile + tx), "shared")
            add(36, "ld.global.f32", BASES["B"] + 4 * ((k0 + ty) * size + tx), "global")
            add(36, "st.shared.f32", shared[1].offset + 4 * (ty * tile + tx), "shared")
            if barriers[0]:
                add(37, "bar.sync", [], None)
            for k in range(tile):
                add(40, "ld.shared.f32", 4 * (ty * tile + k), "shared")
                add(40, "ld.shared.f32", shared[1].offset + 4 * (k * tile + tx), "shared")
            if barriers[1]:
                add(41, "bar.sync", [], None)
        add(46, "st.global.f32", BASES["C"] + 4 * (ty * size + tx), "global")
    return result(size, size, size, (tile, tile, 1), (size // tile, size // tile, 1), trace,
                  {"BM": tile, "BN": tile, "BK": tile}, shared)


@pytest.fixture(scope="session")
def fakes():
    """Return the makers above."""
    return SimpleNamespace(record=record, one_thread_per_element=one_thread_per_element, tiled=tiled, BASES=BASES)
