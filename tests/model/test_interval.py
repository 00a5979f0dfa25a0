"""Interval analysis: every closed formula against a thread's instructions, issued one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.arch import device
from course_lib.model import InputError, interval

GTX = device("GTX 1080")
sizes = st.integers(6, 40)


@given(sizes, sizes)
def test_k0_as_issued(M, N):
    assert interval.schedule(interval.program_loaded_first(M, N))[0] == interval.loaded_first(M, N).latency


@given(sizes, sizes)
def test_the_order_of_the_source_as_issued(M, N):
    end, _ = interval.schedule(interval.program_in_order(M, N), issue_memory=1)
    assert end == interval.in_order(M, N).latency


@given(st.integers(1, 40))
def test_an_output_per_thread_as_issued(N):
    end, _ = interval.schedule(interval.program_output_per_thread(N))
    assert end == interval.output_per_thread(8, N).latency


def test_where_the_formula_ends():
    """The homework asks for N >= L_F and L_M >= N/2; what it needs is M >= L_F and L_M >= 2N."""
    def end(M, N):
        return interval.schedule(interval.program_loaded_first(M, N))[0]

    assert end(5, 40) > interval.loaded_first(5, 40).latency        # N is 40, but the next column waits for the first
    assert end(8, 200) == interval.loaded_first(8, 200).latency     # L_M = 2N
    assert end(8, 300) > interval.loaded_first(8, 300).latency      # L_M >= N/2 still, but the loads take 600 cycles
    assert end(16, 16) == 672
    assert interval.schedule(interval.program_loaded_first(16, 16), issue_store=2)[0] == 688


def test_the_homeworks_pipeline():
    program = [("miss", f"L{i}", ()) for i in range(3)]
    program += [("fp", f"F{i}", ("L0",)) for i in range(8)] + [("fp", "F8", ("L1", "F0"))]
    _, issued = interval.schedule(program)
    assert issued == [0, 2, 4, *range(400, 409)]


def test_the_thread_counts_by_hand():
    k0 = interval.loaded_first()
    theta = 320e9 / 1733e6
    assert k0.threads_for_bandwidth(interval.bytes_per_cycle(GTX)) == pytest.approx(theta * 672 / 128)
    assert k0.threads_for_issue() == pytest.approx(672 / (256 / 128 + 32 / 64))
    assert interval.in_order().latency == 2 * 400 + 14 * 200 + 256 + 16
    assert interval.output_per_thread().latency == 400 + 16 * 6 + 1


@pytest.mark.parametrize("miss", [100, 400, 900])
def test_the_fewest_threads_are_needed_at_the_root_of_the_latency(miss):
    best = interval.best_square(miss)
    needed = {n: interval.loaded_first(n, n, miss).threads_for_bandwidth(1) for n in range(6, 80)}
    assert min(needed, key=needed.get) == best


@pytest.mark.parametrize("call", [
    lambda: interval.loaded_first(0, 16), lambda: interval.in_order(16, 2.0),
    lambda: interval.loaded_first().threads_for_bandwidth(0),
])
def test_bad_input_is_named(call):
    with pytest.raises(InputError):
        call()


@given(st.integers(1, 30), st.integers(1, 30), st.integers(50, 800))
def test_pieces_lie_end_to_end_and_hold_every_instruction(M, N, miss):
    for program in (interval.program_loaded_first(M, N), interval.program_in_order(M, N), interval.program_output_per_thread(N)):
        program = list(program)
        pieces = interval.spans(program, miss=miss, hit=miss // 2)
        assert [start for _, start, _ in pieces] == [0, *(end for _, _, end in pieces[:-1])]
        assert pieces[-1][2] == interval.schedule(program, miss=miss, hit=miss // 2)[0]
        spent = {what: sum(end - start for name, start, end in pieces if name == what) for what in ("loads", "multiply-adds", "stores")}
        kinds = [kind for kind, _, _ in program]
        assert spent == {"loads": 2 * (kinds.count("miss") + kinds.count("hit")), "multiply-adds": kinds.count("fp"),
                         "stores": kinds.count("store")}


def test_the_speed_rises_to_the_bandwidth_and_stays():
    k0 = interval.loaded_first()
    enough = k0.threads_for_bandwidth(interval.bytes_per_cycle(GTX)) / GTX.sms
    assert k0.reached_gb_s(GTX, enough / 2) == pytest.approx(160)
    assert k0.reached_gb_s(GTX, enough) == pytest.approx(320) == k0.reached_gb_s(GTX, 2 * enough)
    by_hand = 24 * 20 * 128 / (672 / 1733e6) / 1e9                  # bytes of all threads in the time of an interval
    assert k0.reached_gb_s(GTX, 24) == pytest.approx(by_hand)


def test_other_latencies_reach_the_needs():
    needs = interval.needs(GTX, miss=700, hit=250, arithmetic=4, memory_per_cycle=32)
    assert needs["K0"][0] == 700 + 272
    assert needs["mxv_o_lbuf"][0] == 2 * 700 + 14 * 250 + 272
    assert needs["mxv_o_per_thd"][0] == 700 + 64 + 1
    assert needs["K0"][3] == pytest.approx(972 / (2 + 1))
