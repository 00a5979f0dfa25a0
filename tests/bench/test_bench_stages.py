"""What copying ahead is worth: what is measured, that it was, of these kernels, and that every answer was right."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from course_lib import data
from course_lib.bench import pipeline
from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.bench.pipeline import Probe, probes, variant
from course_lib.bench.stages import SIZES, Contestant, contestants
from course_lib.kernels import UserKernel, get
from course_lib.run import footprint, run
from course_lib.widgets.compute import inputs

CELLS = json.loads((Path(__file__).parents[2] / "notebooks" / "17_stages.ipynb").read_text(encoding="utf-8"))["cells"]
READERS = "".join(next(cell["source"] for cell in CELLS if cell["id"] == "mine")).partition("\n")[2]
FOUND, PIPELINE = data.readings("stages"), data.readings("pipeline")


def test_every_contestant_was_recorded_at_every_size_and_was_right():
    assert [(row["N"], Contestant(row["kernel"], row["stages"])) for row in FOUND.rows] == [
        (size, one) for size in SIZES for one in contestants()]
    assert {row["wrong"] for row in FOUND.rows} == {""}
    assert all(0 < row["low_s"] <= row["median_s"] <= row["high_s"] < 1.1 * row["low_s"] for row in FOUND.rows)
    assert all(1000 < row["clock_mhz"] <= 1980 for row in FOUND.rows)


def test_what_was_recorded_are_these_kernels():
    assert FOUND.sources == {name: fingerprint_of(get(name)) for name in ("dgemm_mma", "dgemm_stages")}
    assert PIPELINE.sources == {"dgemm_stages": fingerprint_of(get("dgemm_stages")), "pipelined": fingerprint(READERS)}


def test_every_probe_that_fits_was_recorded_and_was_right():
    names = [field.name for field in fields(Probe)]
    found = [Probe(**{name: row[name] for name in names}) for row in PIPELINE.rows]
    assert len(found) == len(set(found))
    assert set(found) == {*probes(), *pipeline.readers_probes()}
    assert {row["wrong"] for row in PIPELINE.rows} == {""}
    assert all(0 < row["low"] <= row["median"] <= row["high"] < 1.12 * row["low"] for row in PIPELINE.rows)
    assert all(1800 < row["mhz"] <= 1990 for row in PIPELINE.rows)


@pytest.mark.slow
@pytest.mark.sampled(test=6)
@pytest.mark.parametrize("one", {(one.tile, one.stages): one for one in probes()}.values(), ids=str)
def test_one_block_fits_by_shared_memory_and_no_more(one):
    kernel = get("dgemm_stages")
    assert kernel.problems(**one.parameters) == ()
    assert one.dynamic >= kernel.dynamic_bytes(**one.parameters)
    a_block = one.dynamic + footprint("dgemm_stages", **one.parameters).resources.static_shared_bytes + 1024
    assert a_block <= 228 * 1024 < 2 * a_block


@pytest.mark.slow
@pytest.mark.parametrize("stages", [1, 3])
def test_a_variant_leaves_out_what_it_says(stages, monkeypatch):
    """Without its clock, which the simulator does not have."""
    monkeypatch.setattr(pipeline, "CLOCK", "    const double cycles = 7, ns = 9;\n" + pipeline.LOOP)
    A, B, _ = inputs(64, 64, 256, "float64")
    found = {}
    for product, copies in (("whole", "real"), ("none", "real"), ("whole", "zeros"), ("whole", "none")):
        kernel = UserKernel.from_source(variant(product, copies), like="dgemm_stages")
        found[product, copies] = run(kernel, A, B, backend="sim", **pipeline.SMALL, STAGES=stages)
    dmma = {key: one.counters["smsp__inst_executed_pipe_tensor_op_dmma.sum"] for key, one in found.items()}
    assert [dmma[key] / dmma["whole", "real"] for key in found] == [1, 0, 1, 1]
    sectors = {key: one.count("sectors", "load") for key, one in found.items()}
    first = (stages - 1) / (256 / 16)          # of what is copied: the steps that are ordered before the loop
    assert [sectors[key] / sectors["whole", "real"] for key in found] == [1, 1, first, first]
    C = found["whole", "real"].C
    assert C[0, :2].tolist() == [7, 9]
    assert abs(C - A @ B)[1:].max() < 1e-12


@pytest.mark.slow
@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("stages", [2, 5])
def test_the_readers_kernel_is_timed_without_other_changes(stages, monkeypatch):
    """Without its clock, which the simulator does not have."""
    monkeypatch.setattr(pipeline, "CLOCKS", "    const double cycles = 7, ns = 9;\n")
    monkeypatch.setattr(pipeline, "READ", "")
    A, B, _ = inputs(64, 64, 256, "float64")
    found = {key: run(UserKernel.from_source(pipeline.readers_variant(READERS, stages, *key), like="dgemm_mma"), A, B, backend="sim",
                      **pipeline.READERS_TILE) for key in (("whole", "real"), ("none", "real"), ("whole", "zeros"))}
    dmma = [one.counters["smsp__inst_executed_pipe_tensor_op_dmma.sum"] for one in found.values()]
    assert dmma == [dmma[0], 0, dmma[0]]
    sectors = [one.count("sectors", "load") for one in found.values()]
    assert sectors == [sectors[0], sectors[0], sectors[0] * (stages - 1) / (256 / 16)]
    C = found["whole", "real"].C
    assert C[0, :2].tolist() == [7, 9]
    assert abs(C - A @ B)[1:32].max() < 1e-12
    assert abs(C - A @ B)[33:].max() < 1e-12
    assert found["whole", "real"].resources.static_shared_bytes == pipeline.READERS_STAGE * stages
