"""The course's kernels on the simulator: right at awkward shapes, and counted as their addresses say."""

import numpy as np
import pytest
import sgemm_addresses

from course_lib import kernels, simt

NAMES = {
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum",
    "executed": "smsp__sass_inst_executed_op_shared_{}.sum", "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum",
}
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
BLOCKS = [(24, 3), (7, 5), (32, 1), (1, 32), (16, 16), (8, 4)]
TILES = [(32, 32, 32), (16, 16, 16), (8, 4, 16), (5, 7, 3), (3, 24, 7), (16, 8, 32), (4, 32, 6)]  # BM, BN, BK
PADDING = np.float32(-77.25)


class Problem:
    """A, B, C of a product with padded rows; C is NaN, or numbers when beta is not 0."""

    def __init__(self, M, N, K, pad=(0, 0, 0), alpha=1.0, beta=0.0, seed=0):
        rng = np.random.default_rng(seed)
        self.M, self.N, self.K, self.alpha, self.beta = M, N, K, alpha, beta
        self.lda, self.ldb, self.ldc = K + pad[0], N + pad[1], N + pad[2]
        self.A = self.matrix(rng, M, K, self.lda, np.nan)
        self.B = self.matrix(rng, K, N, self.ldb, np.nan)
        self.C = self.matrix(rng, M, N, self.ldc, PADDING)
        if beta == 0:
            self.C[:, :N] = np.nan
        self.before = self.C.copy()

    @staticmethod
    def matrix(rng, rows, cols, pitch, padding):
        found = np.full((rows, pitch), padding, np.float32)
        found[:, :cols] = rng.standard_normal((rows, cols))
        return found

    def launch(self, name, parameters, **how):
        kernel = kernels.get(name)
        block = kernel.block_of(parameters)
        grid = kernel.grid_of(self.M, self.N, parameters)
        defines = {p: parameters[p] for p in kernel.passes}
        i, f = np.int32, np.float32
        args = [i(self.M), i(self.N), i(self.K), f(self.alpha), self.A, i(self.lda), self.B, i(self.ldb), f(self.beta), self.C, i(self.ldc)]
        self.A.flags.writeable = self.B.flags.writeable = False
        report = simt.launch(kernel.source, kernel.entry, grid, block, args, defines=defines, **{"workers": 1, **how})
        return report, grid, block

    def check(self):
        """C against float64, with the error bound of a sum of K products; padding untouched."""
        A, B, old = (m.astype(float) for m in (self.A[:, :self.K], self.B[:, :self.N], self.before[:, :self.N]))
        exact, size = self.alpha * (A @ B), abs(self.alpha) * (abs(A) @ abs(B))
        if self.beta:
            exact, size = exact + self.beta * old, size + abs(self.beta * old)
        error = abs(self.C[:, :self.N] - exact)
        assert (error <= (self.K + 3) * 2**-24 * size).all()
        assert (self.C[:, self.N:] == PADDING).all()


def found(report):
    return {f"{what} {op}": report.counters[name.format(op)] for what, name in NAMES.items() for op in ("ld", "st")}


def parameters_of(name, shape):
    return dict(zip(("BM", "BN", "BK") if name == "sgemm_tiled" else ("bx", "by"), shape))


CASES = [(name, block) for name in ("sgemm_naive", "sgemm_swapped") for block in BLOCKS] + [("sgemm_tiled", tile) for tile in TILES]


@pytest.mark.sampled(test=5)
@pytest.mark.parametrize(("name", "shape"), CASES)
def test_results_at_awkward_shapes(name, shape):
    parameters = parameters_of(name, shape)
    BM, BN, BK = shape if len(shape) == 3 else (shape[1], shape[0], 4)
    shapes = [(1, 1, 1), (17, 17, 17), (BM - 1 or 1, BN + 1, BK), (BM + 1, BN - 1 or 1, BK + 1), (2 * BM, BN, 2 * BK - 1),
              (1, 40, 1), (37, 1, 5), (13, 29, 41), (3, 2, BK // 2 or 1)]
    for seed, (M, N, K) in enumerate(shapes):
        for pad, alpha, beta in (((0, 0, 0), 1.0, 0.0), ((3, 1, 5), -1.5, 0.5)):
            problem = Problem(M, N, K, pad, alpha, beta, seed)
            problem.launch(name, parameters)
            problem.check()


@pytest.mark.sampled(test=5)
@pytest.mark.parametrize(("name", "shape"), CASES)
def test_counters_of_a_whole_launch(name, shape):
    """Requests, sectors, shared instructions, wavefronts and conflicts from every address; multiply-adds from the shapes."""
    parameters = parameters_of(name, shape)
    for M, N, K, pad, beta in ((33, 35, 19, (0, 0, 0), 0.0), (20, 50, 8, (5, 3, 1), 2.0)):
        problem = Problem(M, N, K, pad, beta=beta)
        report, grid, block = problem.launch(name, parameters)
        layout = (M, N, K, problem.lda, problem.ldb, problem.ldc, beta)
        if name == "sgemm_tiled":
            offsets = {v.name: v.offset for v in report.shared}
            expected, ffma = sgemm_addresses.tiled(grid, *layout, **parameters, offsets=offsets)
        else:
            expected, ffma = sgemm_addresses.direct(name, grid, block, *layout)
        assert found(report) == expected
        assert report.counters[FFMA] == ffma


ORDERS = ("forward", "reverse", "interleaved", 1, 2)


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("name", "shape"), [
    ("sgemm_naive", (24, 3)), ("sgemm_swapped", (16, 16)), ("sgemm_tiled", (16, 16, 16)), ("sgemm_tiled", (5, 7, 3))])
def test_the_way_of_running_changes_nothing(name, shape):
    """Workers, order of warps, racecheck and tracing: the same bits, the same counters in total and per line."""
    reference = None
    ways = [{"workers": w} for w in (1, 2, 3)] + [{"warp_order": o} for o in ORDERS]
    ways += [{"racecheck": True}, {"racecheck": True, "workers": 2, "warp_order": "interleaved"}, {"trace": [(0, 0), (1, 0)]}]
    for how in ways:
        problem = Problem(45, 70, 33, (2, 0, 1), 1.25, -0.5)
        report, _, _ = problem.launch(name, parameters_of(name, shape), **how)
        result = problem.C.tobytes(), report.counters, report.lines, report.hazards, report.steps
        reference = reference or result
        assert result == reference, how
    problem.check()


def test_counters_per_line_add_up():
    problem = Problem(40, 40, 20)
    report, _, _ = problem.launch("sgemm_tiled", {"BM": 16, "BN": 16, "BK": 16})
    for name, total in report.counters.items():
        assert sum(line.get(name, 0) for line in report.lines.values()) == total
    source = kernels.get("sgemm_tiled").source.splitlines()
    for line, counters in report.lines.items():
        assert 0 not in counters.values()
        text = source[line - 1]
        if counters.get(NAMES["wavefronts"].format("ld")):
            assert "As[ty][k] * Bs[k][tx]" in text
        if counters.get(NAMES["sectors"].format("ld")):
            assert "A[row * lda" in text or "B[(k0 + k) * ldb" in text
        if counters.get(NAMES["sectors"].format("st")):
            assert "*c =" in text


def test_every_counter_of_the_contract_has_a_level():
    report, _, _ = Problem(4, 4, 4).launch("sgemm_naive", {"bx": 8, "by": 4})
    expected = {name.format(op) for name in NAMES.values() for op in ("ld", "st")} | {
        "smsp__inst_executed.sum", "smsp__sass_branch_targets_threads_divergent.sum",
        *(f"smsp__sass_thread_inst_executed_op_{m}_pred_on.sum" for m in ("ffma", "fadd", "fmul", "dfma"))}
    assert expected <= set(report.counters)
    assert set(report.level) == set(report.counters)
    assert set(report.level.values()) <= {"hardware", "PTX level"}
    assert all(report.level[name.format(op)] == "hardware" for name in (NAMES["requests"], NAMES["sectors"]) for op in ("ld", "st"))
    assert report.steps == report.counters["smsp__inst_executed.sum"]
