"""What the end of a tile costs: four kernels that differ in two things, as recorded, and as docs/race.md says."""

from pathlib import Path

import numpy as np
import pytest

from course_lib import data
from course_lib.kernels import UserKernel
from course_lib.run import run, to_bf16
from tools.record import stores

DOC = " ".join((Path(__file__).parents[2] / "docs" / "race.md").read_text(encoding="utf-8").split())
ROWS = data.readings("stores").rows


def of(n, producer, wide):
    row, = [row for row in ROWS if (row["N"], row.get("producer"), row.get("wide")) == (n, producer, wide)]
    return row


def ratio(n, producer, wide):
    library, = [row for row in ROWS if (row["N"], row["kernel"]) == (n, "cuBLAS")]
    return library["median_s"] / of(n, producer, wide)["median_s"]


@pytest.mark.slow
def test_the_four_differ_in_what_they_are_called_by_and_have_the_same_bits():
    rng = np.random.default_rng(5)
    A, B = (to_bf16(rng.standard_normal(shape).astype(np.float32)) for shape in ((150, 200), (200, 272)))
    known = list(stores.variants())
    assert [(producer, wide) for _, producer, wide, _ in known] == [(True, False), (True, True), (False, False), (False, True)]
    like = {True: "sbgemm_tma", False: "sbgemm_wide_stores"}           # with a producer's threads, and without
    texts = [UserKernel.from_source(kernel.source, like=like[producer]) for _, producer, _, kernel in known]
    found = [run(text, A, B, backend="sim", racecheck=True, BN=128, STAGES=2, blocks=2) for text in texts]
    assert all((result.C == found[0].C).all() and result.hazards == () for result in found)
    pairs, fours, same_pairs, same_fours = (one.counters["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] for one in found)
    assert (pairs, fours) == (same_pairs, same_fours)
    assert pairs == 2 * fours, "half as many stores, each of twice the bytes"


def test_every_clock_is_read_around_the_same_lines():
    for name, _, _, kernel in stores.variants():
        text = stores.timing_itself(name, kernel).source
        begin, multiplied, stored = (text.index(words) for words in ("begun = clock64()", "multiplied = clock64()", "stores += clock64()"))
        assert begin < text.index("multiply(c", begin) < text.index("products_wait<0>()", begin) < multiplied
        assert multiplied < text.index("put(C", multiplied)
        assert text.rindex("put(C") < stored


def test_the_document_says_what_was_recorded():
    for n in stores.SIZES:
        said = [f"{ratio(n, producer, wide):.3f}" for producer, wide in ((True, False), (True, True), (False, False), (False, True))]
        first, second, third, last = said
        assert (f"{first} at 4096, with wide stores {second}, without its producer {third}, with both {last}" if n == 4096 else
                f"at 8192 {first}, {second}, {third} and {last}.") in DOC
    steps, tile = of(4096, True, False)["cycles_of_a_step"], of(4096, True, False)["cycles_of_stores"]
    assert f"takes {steps:,.0f} cycles" in DOC
    assert f"takes {round(tile, -2):,} cycles, a tenth of its products' {round(64 * steps / 100) * 100:,}" in DOC
    fewer = [1 - of(4096, producer, True)["cycles_of_stores"] / of(4096, producer, False)["cycles_of_stores"] for producer in (True, False)]
    assert 0.2 < min(fewer) < max(fewer) < 0.25
    assert all(row["wrong"] == 0 for row in ROWS)
