"""The table of choices: which products it is made from, that its costs are found again, and how it is judged."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_lib import data, gpu
from course_lib.arch import DEFAULT_DEVICE
from course_lib.bench import __main__, choices, race, shapes, tried
from course_lib.bench.choices import choices_of, judge
from course_lib.bench.least import least_seconds
from course_lib.bench.race import CONTESTANTS, Heat, candidates
from course_lib.bench.tasks import task
from course_lib.bench.tune import BoundPruner
from course_lib.model.busiest_work import cost_terms
from course_lib.model.stream_k import block_counts, sharing
from course_lib.run.choice import cost_names

ROOT = Path(__file__).parents[2]
FIELDS = ("dtype", "M", "N", "K", "TRANSA", "TRANSB")
SMS = DEFAULT_DEVICE.sms


def true_costs(dtype, number):
    """Return made-up costs of a tile: the more work in a step, the longer it takes, but not in proportion."""
    tile = CONTESTANTS[dtype][2][number]
    work = tile["BM"] * tile["BN"] * tile["BK"]
    names = {name for fixed in choices.OPERANDS for name in cost_names(fixed).values()}
    busy = {name: 2e-12 * work**0.95 * (1 + 0.1 * i) for i, name in enumerate(sorted(n for n in names if n.startswith("busy")))}
    return {"launch": 3e-6, "alone": 1e-7 * (1 + number), "pieces wide": 4e-7, "pieces narrow": 5e-7, "pieces alone": 3e-7,
            "joined": 6e-7} | busy


def seconds_of(heat, parameters):
    tiles = list(CONTESTANTS[heat.dtype][2])
    costs, names = true_costs(heat.dtype, tiles.index(tried.tile_of(parameters))), cost_names(parameters)
    shape = parameters["BM"], parameters["BN"], parameters["BK"]
    terms = cost_terms(sharing(heat.M, heat.N, heat.K, shape, parameters["blocks"]), parameters["RESIDENT"], SMS)
    return sum(costs[names[name]] * count for name, count in terms.items())


@pytest.fixture
def acted(monkeypatch):
    """A GPU whose times follow `true_costs`."""
    class Arrays:
        def __init__(self, heat):
            self.heat = heat

        def ours(self, parameters):
            return seconds_of(self.heat, parameters)

        def library(self):
            return 1e-5

        def wrong(self, call):
            return 0
    for module in (tried, race):
        monkeypatch.setattr(module, "Arrays", Arrays)
    monkeypatch.setattr(race, "trial", float)
    monkeypatch.setattr(tried, "trial", float)
    monkeypatch.setattr(race, "time_call", lambda call, **options: SimpleNamespace(median_s=call))
    for module in (tried, race):
        monkeypatch.setattr(module, "compile_texts", lambda texts, arch: len(list(texts)))
    monkeypatch.setattr(gpu, "probe", lambda: gpu.GpuStatus(True, "acted", "NVIDIA X", (9, 0), "sm_90", "13.0", "1.2"))
    monkeypatch.setattr(gpu, "live_device", lambda: DEFAULT_DEVICE)
    monkeypatch.setattr("course_lib.bench.command.choose_backend", lambda backend=None: "gpu")
    for module in (tried, race):
        monkeypatch.setattr(module, "library_version", lambda: "13.1")


def test_shapes_are_the_same_for_a_seed_and_held_out_ones_are_others():
    first, second = shapes.tuned(), shapes.held_out()
    assert first == shapes.tuned()
    assert (len(first), len(second)) == (2 * shapes.TUNED, 2 * shapes.HELD_OUT)
    assert len(set(first + second)) == len(first) + len(second)
    assert shapes.held_out(3) != second
    for heat in first + second:
        assert shapes.LEAST_WORK <= heat.M * heat.N * heat.K <= shapes.MOST_WORK
    seen = {(heat.TRANSA, heat.TRANSB, heat.M % 8 == 0) for heat in first}
    assert len(seen) == 8, "every kind of operands, with wide copies and with narrow ones"
    assert {heat.M == heat.N == heat.K for heat in second} == {True, False}


def test_held_out_shapes_are_never_tuned_ones():
    drawn = shapes.shapes(shapes.TUNED_SEED, 12, ("float32",), avoid=shapes.tuned())
    assert not set(drawn) & set(shapes.tuned()), "the same seed draws the same ones first, and they are left out"


def test_costs_are_found_again_and_choices_follow(acted):
    found = tried.try_all(tried.wanted(), say=lambda text: None)
    assert [row["kind"] for row in found.rows].count("tuned") == 64
    table = choices_of(found)
    for row in table.find(kind="tile"):
        p = row["parameters"]
        for heat in (Heat(row["dtype"], 500, 700, 900), Heat(row["dtype"], 333, 3001, 77, TRANSA=1)):
            for parameters in candidates(heat, SMS):
                if tried.tile_of(parameters) == p:
                    names, shape = cost_names(parameters), (p["BM"], p["BN"], p["BK"])
                    terms = cost_terms(sharing(heat.M, heat.N, heat.K, shape, parameters["blocks"]), p["RESIDENT"], SMS)
                    estimate = sum(row["costs"][names[name]] * count for name, count in terms.items())
                    assert estimate == pytest.approx(seconds_of(heat, parameters), rel=0.05)
    judged = judge(found, table)
    assert len(judged) == 24
    assert all(row["ratio"] > 0.98 for row in judged)
    assert {"tuned", "held out"} == {row["kind"] for row in found.rows if "M" in row}


def test_held_out_products_take_no_part(acted):
    found = tried.try_all(tried.wanted(), say=lambda text: None)
    spoiled = tuple(row | {"times": [[t, b, 1.0] for t, b, _ in row["times"]]} if row["kind"] == "held out" else row for row in found.rows)
    assert choices_of(found).rows == choices_of(replace(found, rows=spoiled)).rows


def test_a_table_that_is_wrong_is_judged_so(acted):
    found = tried.try_all(tried.wanted(), say=lambda text: None)
    table = choices_of(found)
    first = [row | {"costs": dict.fromkeys(row["costs"], 1.0 + 1e6 * (row["tile"] > 0))} for row in table.find(kind="tile")]
    slow = replace(table, rows=(*first, *table.find(kind="product")))
    assert min(row["ratio"] for row in judge(found, slow)) < 0.8


def test_the_commands_measure_choose_and_judge(acted, tmp_path, capsys):
    out, raced = tmp_path / "tried.json", tmp_path / "race.json"
    assert __main__.main(["shapes", "--held-out", "2", "--seed", "5", "--dtypes", "float64", "--out", str(out)]) == 0
    assert "texts are compiled" in capsys.readouterr().out
    rows = json.loads(out.read_text())["rows"]
    assert [row["kind"] for row in rows].count("held out") == 2
    assert __main__.main(["race", "--held-out", "5", "--count", "3", "--dtypes", "float64", "--out", str(raced)]) == 0
    said = capsys.readouterr().out
    assert "of the best known, least" in said
    rows = json.loads(raced.read_text())["rows"]
    assert len(rows) == 3
    for row in rows:
        best = min(seconds_of(Heat(**{name: row[name] for name in FIELDS}), p) for p in candidates(
            Heat(**{name: row[name] for name in FIELDS}), SMS))
        assert row["to_best"] == pytest.approx(best / row["ours"])
        assert row["to_best"] <= 1 + 1e-9
    assert __main__.main(["race", "--chosen", "--sizes", "300", "--dtypes", "float32", "--out", str(raced)]) == 0
    row, = json.loads(raced.read_text())["rows"]
    assert row["parameters"] == race.choice(Heat("float32", 300, 300, 300))
    assert "best" not in row


def test_the_carried_table_is_what_the_readings_give():
    assert choices_of(data.readings("tried")).rows == data.readings("choices").rows


def test_what_was_tried_are_all_candidates_and_every_answer_was_right():
    found = data.readings("tried")
    products = [row for row in found.rows if row["kind"] != "tile"]
    assert {tuple(row[name] for name in FIELDS) for row in products} == {
        tuple(getattr(heat, name) for name in FIELDS) for heat in (*shapes.tuned(), *shapes.held_out())}
    for row in products:
        counts = [[tile["tile"], blocks] for tile in found.find(kind="tile", dtype=row["dtype"]) for blocks in block_counts(
            row["M"], row["N"], row["K"], tuple(tile["parameters"][n] for n in ("BM", "BN", "BK")), tile["parameters"]["RESIDENT"], SMS)]
        assert [entry[:2] for entry in row["times"]] == counts
        assert row["wrong"] == 0


@pytest.mark.slow
def test_no_bound_is_above_a_time_that_was_tried():
    found = data.readings("tried")
    tiles = {(row["dtype"], row["tile"]): row["parameters"] for row in found.find(kind="tile")}
    for row in found.rows:
        if row["kind"] != "tile":
            for number, blocks, seconds in row["times"]:
                p = {**tiles[row["dtype"], number], "WIDE": row["wide"], "TRANSA": row["TRANSA"], "TRANSB": row["TRANSB"], "blocks": blocks}
                one = task(row["kernel"], (row["M"], row["N"], row["K"]), p, backend="gpu")
                assert 0 < least_seconds(one, DEFAULT_DEVICE) < seconds, (row["M"], row["N"], row["K"], p)


def test_a_product_on_one_line():
    row = {"kind": "held out", "dtype": "float32", "M": 8, "N": 9, "K": 10, "TRANSA": 0, "TRANSB": 1, "library": 2e-6, "wrong": 3,
           "times": [[0, 4, 5e-6], [1, 6, 4e-6]]}
    assert tried.line(row) == "held out float32 8 × 9 × 10 NT: 4.0 µs, cuBLAS 2.0; tile 1 of 2, 6 blocks  WRONG: 3 elements"


def pruned_of(row, tiles):
    """Return how many candidates of a product that was tried a search would prune; check that none of them was the fastest."""
    fixed = {"WIDE": row["wide"], "TRANSA": row["TRANSA"], "TRANSB": row["TRANSB"]}
    times = {}
    for number, blocks, seconds in row["times"]:
        p = {**tiles[row["dtype"], number], **fixed, "blocks": blocks}
        one = task(row["kernel"], (row["M"], row["N"], row["K"]), p, backend="gpu")
        times[one.identity] = one, seconds
    limits = {identity: least_seconds(one, DEFAULT_DEVICE) for identity, (one, _) in times.items()}
    pruner, pruned = BoundPruner(limits), 0
    for identity in sorted(times, key=limits.__getitem__):
        one, seconds = times[identity]
        if pruner.reason(one):
            pruned += 1
        else:
            pruner.learn(one.record(median_s=seconds))
    assert list(pruner.best.values()) == [min(seconds for _, seconds in times.values())], row
    return pruned


@pytest.mark.slow
def test_pruning_loses_nothing_of_what_was_tried():
    found = data.readings("tried")
    tiles = {(row["dtype"], row["tile"]): row["parameters"] for row in found.find(kind="tile")}
    products = [row for row in found.rows if row["kind"] != "tile"]
    pruned = sum(pruned_of(row, tiles) for row in products)
    assert pruned > 0.15 * sum(len(row["times"]) for row in products)
    page = " ".join((ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8").split())
    assert f"{pruned} of their {sum(len(row['times']) for row in products):,} candidates" in page
