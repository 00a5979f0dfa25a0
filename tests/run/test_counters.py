"""The counters of a run equal a count of the kernels' own addresses, made here without the simulator."""

import numpy as np
import pytest
from accesses import direct, tiled

from course_lib.kernels import get
from course_lib.model.banks import shared_wavefronts
from course_lib.model.coalescing import sectors
from course_lib.run import run


def counted(accesses):
    """Count requests and sectors, or wavefronts, of each kind of access."""
    found = {}
    for kind, addresses, active in accesses:
        if not active.any():
            continue
        shared = kind.startswith("shared")
        cost = (shared_wavefronts(addresses, 4, active, kind="store") if shared else sectors(addresses, 4, active))
        requests, total = found.get(kind, (0, 0))
        found[kind] = requests + 1, total + cost
    return found


def inputs(M, N, K, pads):
    rng = np.random.default_rng(5)
    shapes = ((M, K), (K, N), (M, N))
    return [rng.standard_normal((r, c + pad)).astype(np.float32)[:, :c] for (r, c), pad in zip(shapes, pads, strict=True)]


def run_and_count(name, shape, pads, values, beta=0.5):
    A, B, C = inputs(*shape, pads)
    result = run(name, A, B, C, beta=beta, backend="sim", **values)
    facts = (*shape, result.lda, result.ldb, result.ldc, beta)
    if name == "sgemm_tiled":
        p = result.parameters
        return result, counted(tiled(p["BM"], p["BN"], p["BK"], result.grid, *facts))
    return result, counted(direct(name, result.block, result.grid, *facts))


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize(("name", "values"), [
    ("sgemm_swapped", {}), ("sgemm_swapped", {"bx": 7, "by": 5}), ("sgemm_swapped", {"bx": 32, "by": 1}),
    ("sgemm_naive", {}), ("sgemm_naive", {"bx": 7, "by": 5}), ("sgemm_naive", {"bx": 3, "by": 50}),
    ("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16}), ("sgemm_tiled", {"BM": 8, "BN": 16, "BK": 24}),
    ("sgemm_tiled", {"BM": 5, "BN": 7, "BK": 3}), ("sgemm_tiled", {}),
])
@pytest.mark.parametrize(("shape", "pads"), [
    ((32, 32, 32), (0, 0, 0)), ((17, 1, 33), (0, 0, 0)), ((33, 31, 19), (0, 0, 0)), ((16, 24, 40), (3, 1, 5)),
])
def test_global_requests_and_sectors(name, values, shape, pads):
    result, expected = run_and_count(name, shape, pads, values)
    for kind in ("load", "store"):
        assert (result.count("requests", kind), result.count("sectors", kind)) == expected[kind]


@pytest.mark.parametrize("values", [{"BM": 16, "BN": 16, "BK": 16}, {"BM": 8, "BN": 16, "BK": 24},
                                    {"BM": 5, "BN": 7, "BK": 3}, {}])
@pytest.mark.parametrize("shape", [(32, 32, 32), (33, 31, 19)])
def test_shared_stores(values, shape):
    result, expected = run_and_count("sgemm_tiled", shape, (0, 0, 0), values)
    assert (result.count("shared instructions", "store"), result.count("wavefronts", "store")) == expected["shared store"]
    assert result.count("conflicts", "store") == expected["shared store"][1] - expected["shared store"][0]


def test_beta_zero_does_not_read_c():
    with_c, _ = run_and_count("sgemm_naive", (16, 16, 16), (0, 0, 0), {}, beta=0.5)
    without, _ = run_and_count("sgemm_naive", (16, 16, 16), (0, 0, 0), {}, beta=0.0)
    assert with_c.count("requests") - without.count("requests") == 8        # one for each warp


def test_lesson_03_swapped_against_naive():
    """8.5 against 2 sectors a request with 16 × 16 blocks, whatever N is, as long as it is a multiple of 16."""
    A, B, _ = inputs(64, 64, 64, (0, 0, 0))
    loads = {name: run(name, A, B, backend="sim", bx=16, by=16).sectors_per_request() for name in
             ("sgemm_swapped", "sgemm_naive")}
    assert loads == {"sgemm_swapped": 8.5, "sgemm_naive": 2.0}


@pytest.mark.parametrize("tile", [8, 16, 32])
def test_lesson_04_each_element_is_loaded_n_over_tile_times(tile):
    N = 64
    A, B, _ = inputs(N, N, N, (0, 0, 0))
    result = run("sgemm_tiled", A, B, backend="sim", BM=tile, BN=tile, BK=tile)
    assert result.count("sectors") * 8 == 2 * N * N * (N // tile)      # a sector holds 8 floats, none is wasted


def test_counts_per_line_add_up():
    A, B, _ = inputs(40, 33, 70, (0, 0, 0))
    for name in ("sgemm_swapped", "sgemm_naive", "sgemm_tiled"):
        result = run(name, A, B, backend="sim")
        source = get(name).source.splitlines()
        for counter, total in result.counters.items():
            if "global" in counter or "shared" in counter:
                assert sum(line.get(counter, 0) for line in result.lines.values()) == total
        loading = [n for n, line in result.lines.items() if line.get("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")]
        assert all("A[" in source[n - 1] or "B[" in source[n - 1] for n in loading)
