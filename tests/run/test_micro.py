"""The microbenchmarks: the chain is whole, in the answer and in the machine code, and a counter is not called a time."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib.data.readings import Readings
from course_lib.errors import CourseError
from course_lib.kernels import ALL, KERNELS
from course_lib.run import loop_reads, micro, run, run_micro
from course_lib.toolchain import compile_cuda, count, sass

NAMES = [name for name, kernel in ALL.items() if kernel.kind == "micro"]
SMALL = {"micro_global": {"WARM": 8}, "micro_loads": {"LOADS": 4}, "micro_outer": {"TM": 4, "TN": 3, "STEPS": 64}}


def between_the_clocks(name, **values):
    kernel = ALL[name]
    code = sass(compile_cuda(kernel.source, defines=kernel.defines(**values)))
    first, last = (i for i, one in enumerate(code) if one.base == "CS2R" and "CLOCK" in one.text)
    return code[first + 1:last]


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize(("name", "wanted", "others"), [
    ("micro_fma", {"FFMA": 256}, 0), ("micro_chains", {"FFMA": 256}, 0),
    ("micro_fma_shared", {"FFMA": 256, "LDS.32": 256}, 3), ("micro_shared", {"LDS.32": 256}, 5),
    ("micro_global", {"LDG.64": 256}, 5), ("micro_loads", {"LDG.32": 8, "STS.32": 8}, 4)])
def test_the_machine_code_between_the_clocks_is_the_chain(name, wanted, others):
    found = count(between_the_clocks(name))
    assert {what: found[what] for what in wanted} == wanted
    assert found["instructions"] <= sum(wanted.values()) + others


def test_nothing_interrupts_the_chain_with_a_shared_operand():
    """Once begun it is LDS and FFMA alone. NVRTC 13.5 puts nothing else between the clocks; 13.0 puts three uniform instructions
    before the chain (S2UR, UMOV, ULEA), which work out where shared memory begins."""
    code = between_the_clocks("micro_fma_shared")
    first = next(i for i, one in enumerate(code) if one.base == "LDS")
    assert {one.base for one in code[:first]} <= {"S2UR", "UMOV", "ULEA"}
    assert {one.base for one in code[first:]} == {"LDS", "FFMA"}
    assert len(code) - first == 512


@pytest.mark.sampled(test=3)
@pytest.mark.parametrize(("TM", "TN", "order"), [(8, 8, 0), (8, 8, 1), (16, 8, 0), (16, 8, 1), (12, 8, 0), (12, 8, 1), (1, 1, 0),
                                                 (3, 5, 1)])
def test_an_outer_product_is_in_registers_and_in_the_order_that_is_asked_for(TM, TN, order):
    """Nothing but multiply-adds and the loop; each factor of a is named TN times running, and b's order turns or does not."""
    kernel = ALL["micro_outer"]
    values = {"TM": TM, "TN": TN, "SERPENTINE": order}
    compiled = compile_cuda(kernel.source, defines=kernel.defines(**values))
    assert count(sass(compiled))["LDL"] == count(sass(compiled))["STL"] == 0
    (loop, reads), = loop_reads("micro_outer", **values)
    chain = [[word.partition(".")[0] for word in one.operands] for one in loop.instructions if one.base == "FFMA"]
    assert reads.multiply_adds == len(chain) == TM * TN
    assert loop.counts["instructions"] - len(chain) <= 4
    assert len({words[0] for words in chain}) == TM * TN
    assert all(words[0] == words[3] for words in chain)
    pairs = [frozenset(words[1:3]) for words in chain]
    kept = sum(bool(one & two) for one, two in zip(pairs, pairs[1:], strict=False))
    assert len(set(pairs)) == TM * TN
    assert kept == (TM * TN - 1 if order or TN == 1 else TM * (TN - 1)), "neighbours share a factor; at a row's end only in serpentine"


def outer(p, values):
    """Return what micro_outer takes, and the exact result in float64."""
    a, b = values[:p["TM"]].astype(np.float64), values[p["TM"]:].astype(np.float64)
    weights = 1 + np.arange(p["TM"] * p["TN"]).reshape(p["TM"], p["TN"])
    exact, scale = (np.einsum("ij,it,jt->t", weights, x, y) * 2 * p["STEPS"] for x, y in ((a, b), (abs(a), abs(b))))
    return exact, scale


@pytest.mark.parametrize("options", [{"threads": 40, "blocks": 3, "STEPS": 50, "TM": 5, "TN": 7, "SERPENTINE": 1},
                                     {"threads": 32, "STEPS": 33, "TM": 16, "TN": 8}, {"threads": 33, "STEPS": 1, "TM": 1, "TN": 1}])
def test_an_outer_product_is_right_against_float64(options, monkeypatch):
    """Numbers of any size, infinities and NaN: each thread's sum is within the roundings that its additions make."""
    p = ALL["micro_outer"].check(**options)
    rng = np.random.default_rng(5)
    values = (rng.standard_normal((p["TM"] + p["TN"], p["blocks"] * p["threads"])) * 10.0**rng.integers(-6, 6, (1, 1))).astype(np.float32)
    values[0, 3], values[-1, 5], values[0, 7], values[p["TM"], 7] = np.nan, np.inf, 0, -np.inf
    values[:, 9] = 1e-42                                                # subnormal
    exact, scale = outer(p, values)
    out = np.full(values.shape[1], -1, np.float32)
    monkeypatch.setitem(micro.INPUTS, "micro_outer", lambda p: ((values,), out, exact))
    found = run_micro("micro_outer", backend="sim", **options).out.astype(np.float64)
    assert np.array_equal(np.isnan(found), np.isnan(exact))
    good = np.isfinite(exact)
    assert np.array_equal(found[~good & ~np.isnan(exact)], exact[~good & ~np.isnan(exact)])
    limit = 2.0**-24 * (2 * p["STEPS"] + p["TM"] * p["TN"] + 2) * scale + 2.0**-140
    assert (abs(found[good] - exact[good]) <= limit[good]).all()


def test_the_number_of_registers_is_what_is_asked_for():
    for registers in (2, 3):
        chain = [one for one in between_the_clocks("micro_fma", REGISTERS=registers) if one.base == "FFMA"]
        assert len(chain) == 256
        assert all(sum(word.startswith("R") for word in one.operands[1:]) == registers for one in chain)


@pytest.mark.parametrize(("name", "opcode"), [("micro_fma", "FFMA"), ("micro_shared", "LDS"), ("micro_global", "LDG")])
def test_each_step_needs_the_last_ones_result(name, opcode):
    chain = [one for one in between_the_clocks(name) if one.base == opcode]
    for before, after in zip(chain, chain[1:]):
        assert before.operands[0] in after.text.partition(after.operands[0])[2], after.text


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("chains", [1, 2, 8])
def test_a_chain_waits_for_itself_alone(chains):
    code = [one for one in between_the_clocks("micro_chains", CHAINS=chains, STEPS=32) if one.base == "FFMA"]
    assert len(code) == 32 * chains
    assert len({one.operands[0] for one in code}) == chains
    for before, after in zip(code, code[chains:]):
        assert before.operands[0] == after.operands[0] == after.operands[1].removesuffix(".reuse"), after.text
    assert all(sum(word.startswith("R") for word in one.operands[1:]) == 2 for one in code)


@pytest.mark.sampled(test=4, slow=7)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 32, 33, 1024])
def test_every_thread_arrives_and_every_warp_has_a_clock(name, threads):
    result = run_micro(name, threads=threads, backend="sim", **SMALL.get(name, {}))
    assert result.right
    assert result.begin.shape == (1, -(-threads // 32))
    assert (result.end > result.begin).all()
    assert result.counts_per_step[0] >= 1          # a step is an instruction at least
    changed = np.array(result.out)
    changed.flat[-1] += 1
    assert not replace(result, out=changed).right


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize(("name", "options"), [
    ("micro_global", {"footprint": 1 << 16, "stride": 8, "jump": 1025}), ("micro_global", {"footprint": 1000, "stride": 24, "jump": 7}),
    ("micro_global", {"threads": 96, "footprint": 128}), ("micro_shared", {"spread": 32, "SLOTS": 1024}), ("micro_shared", {"spread": 0}),
    ("micro_loads", {"blocks": 3, "threads": 40, "LOADS": 5}), ("micro_fma_shared", {"STEPS": 1024}), ("micro_fma", {"STEPS": 1}),
    ("micro_fma", {"REGISTERS": 2}), ("micro_chains", {"CHAINS": 1}), ("micro_chains", {"CHAINS": 8, "STEPS": 3, "threads": 1000}),
    ("micro_outer", {"blocks": 3, "threads": 40, "TM": 5, "TN": 7, "SERPENTINE": 1}),
    ("micro_outer", {"threads": 1, "TM": 16, "STEPS": 2000}),
    ("micro_outer", {"threads": 256, "TM": 12, "blocks": 2, "STEPS": 3, "SERPENTINE": 1}), ("micro_outer", {"TM": 1, "TN": 1, "STEPS": 1})])
def test_other_parameters_arrive_too(name, options):
    assert run_micro(name, backend="sim", **({"WARM": 5} if name == "micro_global" else {}), **options).right


@pytest.mark.parametrize(("spread", "wavefronts"), [(0, 1), (1, 1), (2, 2), (32, 32)])
def test_spread_sets_the_conflicts(spread, wavefronts):
    result = run_micro("micro_shared", spread=spread, STEPS=32, backend="sim")
    assert result.count("wavefronts") == 2 * 32 * wavefronts


def test_a_counter_is_no_time():
    result = run_micro("micro_fma", backend="sim", STEPS=32)
    assert result.clock == "instructions"
    assert result.counts_per_step[0] == pytest.approx(1, abs=0.1)
    for name in ("cycles_per_step", "cycles_per_warp"):
        with pytest.raises(CourseError, match="no time"):
            getattr(result, name)
    assert "no time" in repr(result)
    assert "cycles" not in repr(result)


def test_cycles_of_a_gpu_are_the_tables_rows():
    """As if a GPU had measured 8 warps: 2048 to 2304 cycles for 256 steps."""
    base = run_micro("micro_fma", backend="sim", threads=256)
    begin = np.full((1, 8), 1000)
    there = replace(base, backend="gpu", begin=begin, end=begin + 2048 + 256 * (np.arange(8) == 5))
    assert there.cycles_per_step == (8, 9)
    assert there.cycles_per_warp == 9 / 8
    assert there.gantt()[4:6] == ((4, 0, 2048), (5, 0, 2304))
    assert "maximum time" in repr(there)


@pytest.mark.parametrize(("name", "options", "words"), [
    ("sgemm_tiled", {}, "reads no clock"), ("micro_global", {"stride": 12}, "multiple of 8"),
    ("micro_loads", {"threads": 1024, "LOADS": 13}, "LOADS can be up to 12"),
    ("micro_loads", {"blocks": 1000}, "take a footprint of"),
    ("micro_outer", {"TM": 16, "threads": 512}, "of 512 threads each can have 128"),
    ("micro_outer", {"TM": 16, "TN": 16}, "each can have 255"), ("micro_outer", {"SERPENTINE": 2}, "SERPENTINE"),
    ("micro_fma", {"thread": 3}, "did you mean threads")])
def test_what_does_not_fit_is_said(name, options, words):
    with pytest.raises(CourseError, match=words):
        run_micro(name, backend="sim", **options)


def test_products_and_microbenchmarks_are_kept_apart():
    assert not set(NAMES) & set(KERNELS)
    with pytest.raises(CourseError, match="run_micro"):
        run("micro_fma", np.ones((2, 2), np.float32), np.ones((2, 2), np.float32), backend="sim")


def test_the_page_is_what_the_tool_writes():
    from tools.page import microbenchmarks
    text = microbenchmarks.PAGE.read_text(encoding="utf-8")
    assert microbenchmarks.page(text) == text


def test_the_page_will_have_independent_chains_when_they_are_recorded():
    from tools.page import microbenchmarks
    rows = tuple({"kernel": "micro_chains", "threads": threads, "CHAINS": chains, "high": threads / 32 * chains}
                 for threads in (64, 128) for chains in (1, 2))
    table, = microbenchmarks.independent(Readings("a GPU", "1", "2026-01-01", "a test", rows))
    assert table.splitlines()[-2:] == ["| 64 | 2.0 | 4.0 |", "| 128 | 4.0 | 8.0 |"]
    assert list(microbenchmarks.independent(Readings("a GPU", "1", "2026-01-01", "a test", ()))) == []


def test_the_page_will_have_outer_products_when_they_are_recorded():
    from tools.gpu import operands
    from tools.page import microbenchmarks
    rows = tuple({"kernel": "micro_outer", "high": 2 * 64 * 1.25} | o for o in operands.plan() if o["TM"] == o["TN"] == 8)
    table, = microbenchmarks.outer_products(Readings("a GPU", "1", "2026-01-01", "a test", rows))
    found = [line.rpartition(" | ")[0] for line in table.splitlines()[-2:]]
    assert found == ["| 8 × 8 | row by row | 1.250", "| 8 × 8 | serpentine | 1.250"]
    assert list(microbenchmarks.outer_products(Readings("a GPU", "1", "2026-01-01", "a test", ()))) == []
