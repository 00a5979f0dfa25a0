"""What Wang and Jin would have tried next, in the machine code: where A and B come from, and what each order asks of shared memory."""

from functools import cache

import pytest

from course_lib.kernels import get
from course_lib.toolchain import compile_cuda, loops, sass


@cache
def code_of(name):
    kernel = get(name)
    return sass(compile_cuda(kernel.source, name=kernel.path.name, defines=kernel.defines()), kernel.entry)


def innermost(name):
    """Return the loops of the multiply-adds that hold no other loop."""
    fma = {"d": "DFMA", "s": "FFMA"}[name[0]]
    busy = [loop for loop in loops(code_of(name)) if loop.counts[fma]]
    return [(loop.counts["LDS"] / loop.counts[fma], loop.counts["instructions"] / loop.counts[fma]) for loop in busy
            if not any(loop.start <= other.start and other.end <= loop.end and other != loop for other in busy)]


@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("letter", "ds")
def test_reads_of_a_and_b_are_constant_loads_and_reads_of_c_are_not(letter):
    plain, marked = ([i for i in code_of(f"{letter}gemm_{idea}") if i.base == "LDG"] for idea in ("outputs", "readonly"))
    assert plain
    assert not any("CONSTANT" in i.opcode for i in plain)
    source = get(f"{letter}gemm_readonly").source.splitlines()
    constant_and_of_c = {("CONSTANT" in i.opcode, "*out = " in source[i.line - 1]) for i in marked if i.line}
    assert constant_and_of_c == {(True, False), (False, True)}


@pytest.mark.slow
@pytest.mark.parametrize("letter", "ds")
def test_the_order_decides_what_a_multiply_add_loads(letter):
    """Best of the loops (fast or guarded): loads from shared memory for each multiply-add, and instructions for each."""
    loads, instructions = ({idea: min(pair[which] for pair in innermost(f"{letter}gemm_{idea}")) for idea in ("outputs", "rank1", "dots")}
                           for which in (0, 1))
    assert loads["rank1"] < loads["outputs"] < loads["dots"] == 2
    assert instructions["rank1"] < instructions["outputs"] < instructions["dots"]
    assert {pair[0] for pair in innermost(f"{letter}gemm_dots")} == {2}, "an element of each tile for every multiply-add"
