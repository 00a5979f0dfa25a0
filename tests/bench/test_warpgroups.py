"""The race by warpgroups, on a GPU that the simulator acts: what is launched, what is held to float64, whose turn it is."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import gpu, simt
from course_lib.bench import command, race, warpgroups
from course_lib.bench.__main__ import parser
from course_lib.errors import CourseError
from course_lib.gpu import Timing
from course_lib.kernels import get
from course_lib.model.number_formats import from_bf16, from_e4m3, to_bf16
from course_lib.run.accuracy import reference


@pytest.fixture
def calls(acted, monkeypatch):
    """Act what the race asks of the GPU; return whose turn it was, "library" or the kernel."""
    done = []

    def prepare(compiled, entry, shared):
        def function(grid, block, args, shared_mem):
            done.append(entry)
            simt.launch(compiled.ptx, entry, grid, block, args, dynamic_shared=shared_mem)
        return function

    def bind(A, B, C, alpha, beta, transposed, stream):
        assert (alpha, beta, transposed) == (1.0, 0.0, (False, A.dtype == np.uint8))

        def call():
            done.append("library")
            product = reference(A, B.T if transposed[1] else B)
            C[...] = to_bf16(product) if C.dtype == np.uint16 else product
        return call

    def time_call(call, **options):
        call(SimpleNamespace(ptr=0))
        return Timing.of([1e-3 if done[-1] == "library" else 2e-3], warmup=0)

    monkeypatch.setattr(warpgroups, "prepare_function", prepare)
    monkeypatch.setattr(warpgroups, "arguments", lambda given, there: given)
    monkeypatch.setattr(warpgroups, "bind_product", bind)
    monkeypatch.setattr(warpgroups, "call_once", lambda call: call(SimpleNamespace(ptr=0)))
    for module in (warpgroups, race):
        monkeypatch.setattr(module, "time_call", time_call)
    monkeypatch.setattr(race, "library_version", lambda: "13.1.0")
    monkeypatch.setattr(gpu, "live_device", lambda: SimpleNamespace(sms=3))
    return done


@pytest.mark.parametrize("discipline", warpgroups.DISCIPLINES)
def test_a_product_is_held_to_float64_and_takes_turns(discipline, calls, monkeypatch):
    monkeypatch.setattr(warpgroups, "TURNS", 2)
    rows = list(warpgroups.run_heat(warpgroups.Arrays(race.Heat(discipline, 144, 80, 96)), 4))
    assert [row["kernel"] for row in rows] == list(warpgroups.DISCIPLINES[discipline])
    row = rows[0]
    assert (row["wrong"], row["ratio"], row["library"], row["ours"]) == (0, 0.5, 1e-3, 2e-3)
    assert row["parameters"]["blocks"] == 2, "two tiles, or a pair"
    assert 0 < row["error"] < (2**-8 if "to" in discipline else 2e-6)
    last = rows[-1]["kernel"]
    ours = ["split_parts", "split_parts", last] if discipline == "three parts" else [last]
    assert calls[-2 * (2 + 2 * len(ours)):] == ["library", *ours, *ours, "library"] * 2


def test_what_is_wrong_is_counted(calls):
    arrays = warpgroups.Arrays(race.Heat("bfloat16", 16, 32, 16))
    product = reference(arrays.A, arrays.B)

    def call(stream):
        arrays.C[...] = product
        arrays.C[3, 5], arrays.C[7, 9] = np.nan, product[7, 9] + 1

    wrong, _ = arrays.judged(call, "bf16")
    assert wrong == 2
    assert np.array_equal(from_bf16(arrays.A), arrays.there.A), "the reference has the rounded numbers"
    assert arrays.judged(lambda stream: None)[0] == 16 * 32, "what is not written is wrong"


def test_a_wrong_sum_of_eights_is_counted(calls):
    """Their bound would excuse a product without its last term; sums of whole numbers do not."""
    arrays = warpgroups.Arrays(race.Heat("FP8 to bfloat16", 32, 48, 64))
    assert np.array_equal(from_e4m3(arrays.A), arrays.there.A)
    assert np.array_equal(from_e4m3(arrays.B).T, arrays.there.B)
    before = arrays.A.copy()
    right, short = (lambda stream, K=K: arrays.C.__setitem__(..., to_bf16(reference(arrays.A[:, :K], arrays.B[:, :K].T))) for K in (64, 63))
    assert arrays.judged(right, "e4m3")[0] == 0
    assert 0.3 * 32 * 48 < arrays.judged(short, "e4m3")[0] < 0.6 * 32 * 48, "four of nine products of -1, 0 and 1 are not 0"
    assert arrays.judged(lambda stream: None, "e4m3")[0] == 2 * 32 * 48
    assert np.array_equal(arrays.A, before)


def test_the_command_runs_both_and_keeps_the_readings(calls, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(warpgroups, "TURNS", 2)
    monkeypatch.setattr(warpgroups, "RUNS", 2)
    monkeypatch.setattr(command, "choose_backend", lambda wanted: wanted)
    out = tmp_path / "race.json"
    assert command.run(parser().parse_args(["race", "--warpgroups", "--sizes", "64", "--out", str(out)])) == 0
    rows, printed = json.loads(out.read_text())["rows"], capsys.readouterr().out
    assert [(row["dtype"], row["kernel"], row["N"]) for row in rows] == [
        (discipline, name, 64) for discipline, kernels in warpgroups.DISCIPLINES.items() for name in kernels]
    assert all(len(row["runs"]) == 2 and row["runs"][1]["device"] == row["runs"][0]["device"] for row in rows)
    assert rows[0]["runs"][0].keys() == {"device", "date", "clocks", "library", "ours", "ratio", "low", "high"}
    assert "sbgemm_tma squares               0.500 of cuBLAS's speed over 1" in printed
    assert "sgemm_parts squares" in printed
    assert "three parts    64 ×    64 ×    64" in printed
    assert "error" in printed
    assert "race --warpgroups; cuBLAS 13.1.0" in printed


@pytest.mark.parametrize(("name", "N", "BN", "blocks"), [
    ("sbgemm_tma", 4096, 256, 128), ("sbgemm_tma", 513, 128, 25), ("sbgemm_clusters", 4096, 256, 128), ("sbgemm_clusters", 8192, 128, 128),
    ("sgemm_parts", 4096, 128, 128), ("sbgemm_wide_stores", 8192, 256, 128)])
def test_no_block_has_more_tiles_than_with_all_multiprocessors(name, N, BN, blocks):
    """As few blocks as share the tiles so: 4096 × 4096 is 512 tiles of 128 × 256, four for each of 128 blocks."""
    parameters = {"BN": BN} if name != "sgemm_parts" else {}
    assert warpgroups.blocks_of(get(name), parameters, N, N, 132) == blocks


def test_sizes_that_would_need_padding_are_refused():
    with pytest.raises(CourseError, match="1001 × 1001 × 1001: in this race sizes are multiples of 16"):
        warpgroups.Arrays(race.Heat("bfloat16", 1001, 1001, 1001))


def test_all_that_is_tried_obeys_the_rules():
    for kernels in warpgroups.DISCIPLINES.values():
        assert all(get(name).problems(**parameters) == () for name, tried in kernels.items() for parameters in tried)
