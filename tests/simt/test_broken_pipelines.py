"""Pipelines of bulk copies and mbarriers: right ones are quiet, and each mistake is reported for its reason, if the answer is right too."""

import pytest
from bulk_kernels import COPYING, LOADING, RIGHT, STORING, line_of, run

from course_lib import simt

ORDERS = ("forward", "reverse", "interleaved")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kernel", RIGHT, ids=["loading", "storing", "copying"])
def test_a_right_pipeline_is_right_and_quiet(kernel, order):
    right, report = run(kernel, warp_order=order)
    assert right
    assert (report.hazards, report.async_findings, report.stray_shuffles) == ((), (), ())
    right, report = run(kernel, warp_order=order, racecheck=False)
    assert right
    assert report.async_findings == ()


LABELS = r"""ASM("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
    "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"
    :: "r"(at(&full[s])), "r"(phase) : "memory")""".replace("\n    ", " ")       # as libraries write it
QUIET = {
    "a loop of PTX": (LOADING, {"WAIT_FULL": LABELS}),
    "one lane waits for its warp": (LOADING, {"WAIT_FULL": "if (t % 32 == 0) WAIT(&full[s], phase); __syncwarp()"}),
    "one warp waits for both": (LOADING, {"WAIT_FULL": 'if (t < 64) WAIT(&full[s], phase); ASM("bar.sync 1, 64;" ::: "memory")'}),
    "one lane arrives for its warp": (LOADING, {"EMPTY_COUNT": "2", "RELEASE": "__syncwarp(); if (t % 32 == 0) ARRIVE(&empty[s])"}),
    "one warp arrives for both": (LOADING, {"EMPTY_COUNT": "32", "RELEASE":
                                            'ASM("bar.sync 1, 64;" ::: "memory"); if (t < 64) ARRIVE(&empty[s])'}),
    "bytes are expected for each half": (LOADING, {"FULL_COUNT": "2", "TELL": "EXPECT(&full[s], 256); EXPECT(&full[s], 256)"}),
    "a fence of the copying thread behind the barrier": (STORING, {"PROXY": "", "LATE_FENCE": "FENCE"}),
    "a fence of the copying thread behind an mbarrier": (STORING, {
        "FREE_SYNC": "__shared__ u64 filled; if (i == 0 && t == 0) INIT(&filled, 64); __syncthreads()", "PROXY": "", "LATE_FENCE": "FENCE",
        "READY_SYNC": "ARRIVE(&filled); if (t == 0) WAIT(&filled, i & 1)"}),
    "fence.mbarrier_init": (LOADING, {"INIT_FENCE": 'ASM("fence.mbarrier_init.release.cluster;" ::: "memory")'}),
    "all threads fence before they wait": (LOADING, {"INIT_FENCE": "", "INIT_SYNC": "FENCE; __syncthreads()"}),
    "a wait for the writing too": (STORING, {"WAIT_BUFFER": "WAIT_ALL", "LAST_WAIT": "WAIT_ALL"}),
}


@pytest.mark.parametrize("name", QUIET)
def test_other_ways_to_say_the_same_are_quiet(name):
    kernel, changed = QUIET[name]
    right, report = run(kernel, **changed)
    assert right
    assert (report.hazards, report.async_findings) == ((), ())


# What is broken -> the kernel, its other statement, and whether the answer is right all the same; then the findings: of hazards
# {kind: (words of the first line, words of the second)}, of the others the same.
FULL, READ, COPY = "LOAD(buffer[s], ", "y[128 * i + j] =", "LOAD(buffer[s]"
HALF = "LOAD(buffer[s] + 64"
HAZARDS = {
    "the parity of the other phase": (LOADING, {"WAIT_FULL": "WAIT(&full[s], phase ^ 1)", "tiles": 2}, False, ("RAW", None, READ)),
    "one half of the bytes expected": (LOADING, {"TELL": "EXPECT(&full[s], 256)"}, False, ("RAW", HALF, READ)),
    "no bytes expected": (LOADING, {"TELL": "ARRIVE(&full[s])"}, False, ("RAW", FULL, READ)),
    "an atomic where a copy is under way": (LOADING, {"EARLY": "if (i == 0) atomicAdd(&buffer[1][t], 1.0f)", "tiles": 2}, None,
                                            ("WAW", "LOAD(buffer[s]", "EARLY")),
    "no wait for the data": (LOADING, {"WAIT_FULL": "", "tiles": 2}, False, ("RAW", FULL, READ)),
    "one attempt instead of a loop": (LOADING, {"WAIT_FULL": "u32 done; TRY(done, &full[s], phase)"}, False, ("RAW", None, READ)),
    "only one lane waits": (LOADING, {"WAIT_FULL": "if (t % 32 == 0) WAIT(&full[s], phase)"}, False, ("RAW", FULL, READ)),
    "the buffer given back before it is read": (LOADING, {"EARLY": "ARRIVE(&empty[s])", "RELEASE": ""}, None, ("WAR", READ, FULL)),
    "too few arrivals for the buffer": (LOADING, {"EMPTY_COUNT": "1", "RELEASE": "if (t == 32) ARRIVE(&empty[s])"}, None,
                                        ("WAR", READ, FULL)),
    "one lane arrives for a warp that it did not wait for": (
        LOADING, {"EMPTY_COUNT": "2", "RELEASE": "if (t % 32 == 0) ARRIVE(&empty[s])"}, True, ("WAR", READ, FULL)),
    "nobody waits for the init": (LOADING, {"INIT_SYNC": ""}, True, ("RAW", "INIT(&full", "WAIT_FULL")),
    "no wait before the buffer is written again": (STORING, {"WAIT_BUFFER": ";"}, None, ("WAR", "STORE(y", "b[j ^ 1]")),
    "a wait for too few groups": (STORING, {"WAIT_BUFFER": "WAIT_READ(2)"}, None, ("WAR", "STORE(y", "b[j ^ 1]")),
    "nobody is told that the buffer is free": (STORING, {"FREE_SYNC": ""}, None, ("WAR", "STORE(y", "b[j ^ 1]")),
    "no barrier between stores and copy": (STORING, {"READY_SYNC": ""}, None, ("RAW", "b[j ^ 1]", "STORE(y")),
    "an arrival that does not wait for the copies": (COPYING, {"HANDED": "ARRIVE(&full[i % 2])"}, False, ("RAW", "COPY4", "y[64 * i")),
}


@pytest.mark.parametrize("name", HAZARDS)
def test_what_nothing_orders_is_reported(name):
    kernel, changed, right, (kind, first, second) = HAZARDS[name]
    found_right, report = run(kernel, **changed)
    assert right is None or found_right == right
    lines = [(h.first_line, h.second_line) for h in report.hazards if h.kind == kind]
    wanted = tuple(words and line_of(kernel, words) for words in (first, second))
    assert any(all(w in (None, line) for w, line in zip(wanted, pair)) for pair in lines), report.hazards
    assert all("__pipeline_wait_prior" not in str(h) for h in report.hazards) or kernel is COPYING


FINDINGS = {
    "no fence behind the init": (LOADING, {"INIT_FENCE": ""}, True, ("unseen", "INIT(&full", "LOAD(buffer[s], ")),
    "no fence between stores and copy": (STORING, {"PROXY": ""}, True, ("unfenced", "b[j ^ 1]", "STORE(y")),
    "a fence before the barrier, of one thread alone": (STORING, {"PROXY": "if (t == 0) FENCE"}, True, ("unfenced", "b[j ^ 1]", "STORE(y")),
    "the last copies are not waited for": (STORING, {"LAST_WAIT": ";"}, False, ("unawaited", "STORE(y", "STORE(y")),
    "copies that belong to no group": (STORING, {"GROUP": ""}, False, ("unawaited", "STORE(y", "STORE(y")),
    "an ordinary load of an mbarrier": (LOADING, {"EARLY": "if (full[s] == 0) y[0] = 0"}, True, ("opaque", "INIT(&full", "EARLY")),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_a_missing_fence_or_wait_is_reported(name):
    kernel, changed, right, (kind, first, second) = FINDINGS[name]
    found_right, report = run(kernel, **changed)
    assert found_right == right
    wanted = kind, line_of(kernel, first), line_of(kernel, second)
    assert wanted in {(f.kind, f.first_line, f.second_line) for f in report.async_findings}
    assert {f.kind for f in report.async_findings} == {kind}


WAITS = {
    "an arrival is missing": (LOADING, {"RELEASE": ""}, "WAIT_EMPTY", "64 of 64 arrivals are missing"),
    "one arrival too many asked for": (LOADING, {"EMPTY_COUNT": "65"}, "WAIT_EMPTY", "1 of 65 arrivals are missing"),
    "more bytes expected than come": (LOADING, {"TELL": "EXPECT(&full[s], 768)"}, None, "256 bytes are expected that no copy brings"),
    "fewer bytes expected than come": (LOADING, {"TELL": "EXPECT(&full[s], 496)"}, None, "16 bytes more have come than were expected"),
    "the first phase of an empty buffer": (LOADING, {"WAIT_EMPTY": "WAIT(&empty[s], phase)"}, None, "64 of 64 arrivals are missing"),
    "arrivals that raise the count": (COPYING, {"HANDED": 'ASM("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" :: "r"(at(&full[i % 2])))'},
                                      None, "64 of 64 arrivals are missing"),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", WAITS)
def test_a_wait_that_nobody_ends_is_an_error(name, order):
    kernel, changed, words, why = WAITS[name]
    with pytest.raises(simt.BarrierDeadlock) as caught:
        run(kernel, warp_order=order, racecheck=False, **changed)
    error = caught.value
    assert why in str(error)
    assert "The other warps wait too" in str(error)
    if words:
        assert f"line {line_of(kernel, words)}" in str(error)


MISUSES = {
    "an init of what is one": (LOADING, {"INIT_FENCE": "INIT(&full[0], 1)"}, "which line 6 initialised"),
    "no init": (LOADING, {"TELL": "EXPECT(&buffer[1][0], 512)"}, "finds no mbarrier at the mbarrier at byte 512 of buffer"),
    "a count of none": (LOADING, {"FULL_COUNT": "0"}, "counts 0 arrivals"),
    "an ordinary store": (LOADING, {"INIT_FENCE": "FENCE; full[0] = 7"}, "changed by an ordinary store"),
    "more arrivals than a phase waits for": (LOADING, {"TELL": "EXPECT(&full[s], 512); ARRIVE(&full[s])"}, "for 0 more of 1 arrivals"),
    "no wait for the buffer": (LOADING, {"WAIT_EMPTY": ""}, "copies are still under way: nobody has waited for that phase"),
    "no wait for the data in more rounds": (LOADING, {"WAIT_FULL": ""}, "copies are still under way: nobody has waited for that phase"),
    "more bytes than can be counted": (LOADING, {"TELL": "EXPECT(&full[s], 1 << 20)"}, "more than 1048575 bytes"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_an_operation_that_an_mbarrier_does_not_allow_is_an_error(name):
    kernel, changed, why = MISUSES[name]
    with pytest.raises(simt.MbarrierMisuse) as caught:
        run(kernel, racecheck=False, **changed)
    assert why in str(caught.value)
    assert caught.value.line > 0
    assert caught.value.thread
