"""A limit stands once, as a rule of the catalog: the static_asserts of the files refuse the same parameters, no more and no fewer."""

import random
from itertools import islice

import pytest
from limits import allowed, alone, refusals, the_compiler_sees

from course_lib.kernels import ALL

# One kernel for each file and type of number: Chien's methods have one file, Wang's kernels two types.
KERNELS = {(kernel.path.stem, kernel.dtype): kernel for kernel in ALL.values() if kernel.passes}.values()
# Rules without a static_assert in the file. Most are on registers, and spare the reader spills. To add one makes the text another, and
# the recordings of it old: a file that is recorded anew gets the static_assert, and goes from here.
THREAD, WARPS, BLOCK = "TM * TN <= 128", "32 * BM/WM * BN/WN <= 1024", "BM * BN <= 32768"
STAGES = {"STAGES * (bytes of a stage) <= 232448", "copies of a step % threads == 0"}
NOT_ASSERTED = {
    **dict.fromkeys(("sgemm_vectorized", "sgemm_warp_tile", "sgemm_double_buffered"), {THREAD, BLOCK}),
    **{f"sgemm_{idea}": {"TA * TB <= 32768", "TA/by * TB/bx <= 128"} for idea in ("outputs", "readonly", "rank1", "dots")},
    **{f"dgemm_{idea}": {"TA * TB <= 16384", "TA/by * TB/bx <= 64"} for idea in ("outputs", "readonly", "rank1", "dots")},
    **dict.fromkeys(("sgemm_stages", "sgemm_serpentine", "sgemm_wide_stores", "sgemm_stream_k"), {THREAD, WARPS, *STAGES}),
    "dgemm_stream_k": {WARPS, "WM * WN <= 2048", *STAGES},
    "dgemm_mma": {"WM * WN <= 2048"}, "dgemm_stages": {WARPS, "WM * WN <= 2048"},
    "micro_outer": {"TM * TN + TM + TN + 32 <= registers of a thread"},
}
# Sets that break the rule on warps alone, of which there are so few that the walks do not find one.
FEW_SETS = {"sbgemm_mma": {"BM": 96, "BN": 96, "BK": 96, "WM": 16, "WN": 16},
            "sbgemm_stages": {"BM": 192, "BN": 64, "BK": 192, "WM": 16, "WN": 16, "STAGES": 2}}
# Rules that no set breaks alone: what would break them breaks the even loads, the shared memory or the range of a parameter, too.
IMPLIED = {
    "sgemm_padded": {"4 * TILE * (2*TILE + PAD) <= 49152"}, "sgemm_method8": {"4 * BK * (COLS + 1) <= 49152"},
    "sgemm_outer_rows": {"4 * BK * (ROWS + 1) <= 49152"}, "sgemm_prefetched": {"BN/TN × BM/TM <= 1024"},
    **dict.fromkeys(("sgemm_warp_tile", "sgemm_double_buffered", "sgemm_wmma", "sgemm_mma", "sgemm_split", "dgemm_mma"), {WARPS}),
    **dict.fromkeys(FEW_SETS, {WARPS}),
    **dict.fromkeys(("sgemm_stages", "sgemm_serpentine", "sgemm_wide_stores", "sgemm_stream_k"), {"WM % TM == 0", "WN % TN == 0"}),
    "dgemm_stream_k": {"8 * BM * BN <= bytes of all stages, or SLICES == 1"},
}


@pytest.mark.sampled(test=4, slow=30)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_compiler_takes_what_the_rules_allow(kernel):
    tried = list(islice(allowed(kernel, random.Random(kernel.path.stem)), 16))
    assert len(tried) == 16
    for values in tried:
        assert refusals(kernel, values) == [], values


@pytest.mark.sampled(test=4, slow=30)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_compiler_refuses_what_one_rule_alone_refuses(kernel):
    for rule in kernel.rules:
        if the_compiler_sees(kernel, rule) and rule.text not in IMPLIED.get(kernel.name, ()):
            tried = list(islice(alone(kernel, rule, random.Random(rule.text)), 3))
            assert tried, f"nothing breaks {rule.text} alone"
            for values in tried:
                assert bool(refusals(kernel, values)) == (rule.text not in NOT_ASSERTED.get(kernel.name, ())), (rule.text, values)


@pytest.mark.parametrize("name", FEW_SETS)
def test_the_compiler_refuses_too_many_warps(name):
    broken = [rule.text for rule in ALL[name].rules if not rule.holds(FEW_SETS[name])]
    assert broken == [WARPS]
    assert len(refusals(ALL[name], FEW_SETS[name])) == 1


def test_no_exception_is_for_a_rule_that_is_not_there():
    rules = {kernel.name: {rule.text for rule in kernel.rules} for kernel in KERNELS}
    for table in (NOT_ASSERTED, IMPLIED):
        assert all(texts <= rules[name] for name, texts in table.items())
