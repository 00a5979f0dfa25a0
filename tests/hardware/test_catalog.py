"""121 kernels on the simulator, against NumPy, against the bits an H200 computed and what Nsight Compute counted there."""

import numpy as np
import pytest
from differences import COUNTS, NANS, ULPS
from hardware_catalog import CASES, KERNELS, wrong
from hardware_catalog.diverging import PTX_LEVEL
from hardware_catalog.record import COUNTERS, RECORD, counts, simulated, ulps, unlike

NAMES = sorted(RECORD["kernels"])
DIVERGING = sorted(name for name, case in CASES.items() if case.make.__module__ == "hardware_catalog.diverging")


SLOW = {"async_zero_fill"}


@pytest.mark.sampled(test=2, slow=16)
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in CASES])
def test_computes_what_its_reference_does(name):
    args, expected, _ = simulated(name)
    for i, want in expected.items():
        assert np.shape(args[i]) == np.shape(want)
        places = wrong(args[i], want, CASES[name].tolerance)
        assert not len(places), f"argument {i}: {len(places)} wrong, first at {places[:5]}"


@pytest.mark.sampled(slow=40)
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_gives_the_hardwares_bits(name):
    found = unlike(name)
    if name in NANS:
        assert found, "the list of differences is out of date"
        assert all(np.isnan(there[places]).all() and np.isnan(here[places]).all() for places, there, here in found.values())
        return
    if name not in ULPS:
        assert not found, {i: f"{len(places)} differ, first at {places[:5]}" for i, (places, *_) in found.items()}
        return
    furthest = max(ulps(there, here) for _, there, here in found.values())
    assert furthest == ULPS[name][1], "the list of differences is out of date"


@pytest.mark.sampled(test=6, slow=20)
@pytest.mark.parametrize("name", NAMES)
def test_counts_what_nsight_compute_counted(name):
    differ = {short: pair for short, pair in counts(name).items() if pair[0] != pair[1]}
    assert differ == (COUNTS[name][1] if name in COUNTS else {})


def test_the_record_is_of_these_kernels_and_was_right():
    assert sorted(CASES) == sorted(path.stem for path in KERNELS.glob("*.cu"))
    assert sorted(CASES) == NAMES
    assert len(NAMES) >= 40
    assert (RECORD["failed"], RECORD["wrong"]) == ({}, {})
    assert {len(RECORD["kernels"][name].keys() & {theirs for theirs, _ in COUNTERS.values()}) for name in NAMES} == {8}


def test_differences_are_of_kernels_that_exist_and_have_reasons():
    assert set(COUNTS) | set(ULPS) | set(NANS) <= set(NAMES)
    assert all(len(reason) > 20 for table in (COUNTS, ULPS) for reason, _ in table.values())


@pytest.mark.slow
@pytest.mark.sampled(test=8, slow=48)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_called_the_hardwares_is_the_hardwares(name):
    level, differ = simulated(name)[2].level, COUNTS.get(name, ("", {}))[1]
    for short, (_, ours) in COUNTERS.items():
        assert short not in differ or level[ours] == "PTX level"


@pytest.mark.slow
@pytest.mark.sampled(test=4, slow=8)
@pytest.mark.parametrize("name", DIVERGING)
def test_which_counters_are_not_called_the_hardwares(name):
    level = simulated(name)[2].level
    assert {short for short, (_, ours) in COUNTERS.items() if level[ours] == "PTX level"} == set(PTX_LEVEL.get(name, ()))


@pytest.mark.exhaustive
def test_most_counters_are_called_the_hardwares():
    told = [simulated(name)[2].level for name in NAMES]
    assert sum(level[COUNTERS["sectors ld"][1]] == "hardware" for level in told) > 60
    assert sum(level[COUNTERS["wavefronts ld"][1]] == "hardware" for level in told) > 50
    assert all(set(level) == set(simulated(NAMES[0])[2].counters) for level in told)


@pytest.mark.slow
def test_the_page_tells_these_numbers():
    page = (KERNELS.parents[2] / "docs" / "simulator-hardware.md").read_text()
    pairs = [pair for name in NAMES for pair in counts(name).values()]
    exact = [name for name in NAMES if not unlike(name)]
    assert f"| {len(pairs)} counters | Nsight Compute's readings | {sum(a == b for a, b in pairs)} |" in page
    assert f"| {len(exact)} kernels; {len(NANS)} more but for which NaN it is; {len(ULPS)} call approximate functions |" in page
    assert all(f"`{name}`" in page for name in (*COUNTS, *ULPS, *NANS))
    assert all(RECORD[key] in page for key in ("driver", "date"))
