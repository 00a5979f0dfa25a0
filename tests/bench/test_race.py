"""The race: what is run, that every contestant is right, and what was recorded."""

import numpy as np
import pytest

from course_lib import data
from course_lib.bench.race import CONTESTANTS, Heat, candidates, groups, heats, line, mean, table
from course_lib.bench.tuned import TUNED_SIZES
from course_lib.kernels import get
from course_lib.kernels.stages import RUNGS
from course_lib.run import run
from course_lib.toolchain import inner_loop
from tools.record import rungs

ROWS = data.readings("race").rows
FIELDS = tuple(Heat.__dataclass_fields__)
CASES = [(name, tile) for name, _, tiles in CONTESTANTS.values() for tile in tiles] + [
    (name, tile) for name in RUNGS for tile in CONTESTANTS["float32"][2][-4::3]]


def test_every_heat_was_recorded_once_and_every_answer_was_right():
    assert [Heat(**{name: row[name] for name in FIELDS}) for row in ROWS] == list(heats())
    assert {row["wrong"] for row in ROWS} == {0}
    assert all(row["low"] <= row["ratio"] <= row["high"] for row in ROWS)
    assert all(row["library"] / row["ours"] == pytest.approx(row["ratio"], rel=0.09) for row in ROWS), "medians of the same turns"


def test_what_was_recorded_is_among_the_candidates():
    for row in ROWS:
        assert row["parameters"] in list(candidates(Heat(**{name: row[name] for name in FIELDS}), 132)), line(row)


def test_the_recorded_means():
    found = {name: (len(rows), round(mean(rows), 2)) for name, rows in groups(ROWS).items()}
    assert found["float32 squares"] == (len(TUNED_SIZES), 1.05)
    assert found["float64 squares"] == (len(TUNED_SIZES), 1.03)


@pytest.mark.parametrize("heat", [Heat("float32", 257, 64, 31), Heat("float32", 256, 64, 31), Heat("float32", 31, 64, 256, TRANSA=1),
                                  Heat("float64", 100, 37, 64), Heat("float64", 5, 6, 8, TRANSB=1), Heat("float32", 1, 1, 1)])
def test_candidates_fit_the_matrices(heat):
    kernel = get(CONTESTANTS[heat.dtype][0])
    found = list(candidates(heat, 132))
    assert found
    assert all(kernel.sizes_of(heat.M, heat.N, heat.K, p) is None for p in found)
    whole = [p for p in found if p["WIDE"] > 1]
    assert len(whole) in (0, len(found))
    lengths = (heat.M if heat.TRANSA else heat.K, heat.K if heat.TRANSB else heat.N, heat.N)
    assert bool(whole) == all(length % CONTESTANTS[heat.dtype][1] == 0 for length in lengths)


def test_a_table_names_the_worst_and_counts_what_is_wrong():
    row = {"kernel": "sgemm_stream_k", "dtype": "float32", "M": 8, "N": 8, "K": 8, "TRANSA": 0, "TRANSB": 0, "beta": 0,
           "parameters": {"BM": 1}, "library": 1e-6, "ours": 2e-6, "ratio": 0.5, "low": 0.4, "high": 0.6, "wrong": 3}
    assert "WRONG: 3 elements" in line(row)
    assert "WRONG" not in line(row | {"wrong": 0})
    text = table([row, row | {"N": 9, "ratio": 2.0, "wrong": 0}, row | {"beta": 1}])
    assert "float32 squares                  0.500 of cuBLAS's speed over 1; least 0.500 at 8 × 8 × 8; wrong 1" in text
    assert "float32 other shapes             2.000" in text
    assert "beta = 1" in text


@pytest.mark.slow
@pytest.mark.sampled(slow=10)
@pytest.mark.parametrize(("name", "tile"), CASES, ids=[f"{name}-{t['BM']}x{t['BN']}x{t['BK']}" for name, t in CASES])
@pytest.mark.parametrize("transposed", [(0, 0), (1, 1)])
@pytest.mark.parametrize("wide", [False, True])
def test_every_contestant_and_rung_is_right_without_hazards(name, tile, transposed, wide):
    kernel = get(name)
    dtype, most = kernel.dtype, 16 // np.dtype(kernel.dtype).itemsize
    rng = np.random.default_rng(7)
    M, N, K = (132, 68, 84) if wide else (131, 67, 83)
    A = rng.standard_normal((K, M) if transposed[0] else (M, K)).astype(dtype)
    B = rng.standard_normal((N, K) if transposed[1] else (K, N)).astype(dtype)
    C = rng.standard_normal((M, N)).astype(dtype)
    for blocks in ({"blocks": 1}, {"blocks": 5}) if kernel.workspace() else ({},):
        result = run(name, A, B, C, alpha=1.5, beta=-0.5, racecheck=True, backend="sim", TRANSA=transposed[0], TRANSB=transposed[1],
                     WIDE=most if wide else 1, **blocks, **tile)
        left, right = (X.T if turn else X for X, turn in zip((A, B), transposed, strict=True))
        exact = 1.5 * left.astype(float) @ right.astype(float) - 0.5 * C
        assert np.abs(result.C - exact).max() < (1e-4 if dtype == "float32" else 1e-12)
        assert result.hazards == ()
        assert result.stray_writes == 0


def test_the_page_says_of_the_rungs_what_was_recorded():
    found = data.readings("rungs")
    assert not any(row["wrong"] for row in found.rows)
    time = {(row["tile"], row["N"], row["kernel"], row["parameters"].get("blocks")): row["median_s"] for row in found.rows}
    apart = {(tile, N): {name: seconds for (t, n, name, blocks), seconds in time.items()
                         if (t, n) == (tile, N) and blocks in (None, (-(-N // 128)) ** 2)} for tile, N, *_ in time}
    whole = [one["sgemm_wide_stores"] / one["sgemm_stream_k"] for one in apart.values()]
    assert round(100 * (1 - min(whole))) == 9
    assert all(one["sgemm_wide_stores"] > one["sgemm_serpentine"] for (_, N), one in apart.items() if N == 1025)
    fewest = {pair: one["sgemm_stream_k"] / min(s for (t, n, name, _), s in time.items() if (t, n, name) == (*pair, "sgemm_stream_k"))
              for pair, one in apart.items()}
    assert all(gain > 2 if N == 512 else gain < 1.02 if N > 2000 else gain > 1.4 for (_, N), gain in fewest.items())


@pytest.mark.slow
@pytest.mark.parametrize("tile", [0, 1])
def test_there_and_back_saves_no_instruction_but_reuses_more_operands(tile):
    given = rungs.TILES[tile] | rungs.AHEAD[tile] | {"WIDE": 4}
    loops = [inner_loop(name, **given).loop.instructions for name in ("sgemm_stages", "sgemm_serpentine")]
    assert abs(len(loops[0]) - len(loops[1])) <= 2      # NVRTC 13.5 allocates registers now this way, now that
    before, after = ("".join(i.text for i in loop if i.opcode.startswith("FFMA")).count(".reuse") for loop in loops)
    assert after > 1.1 * before
