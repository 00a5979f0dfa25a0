"""Source, PTX and SASS: every instruction with its line, no path of this machine, loops counted."""

import re

import pytest

from course_lib import kernels, toolchain
from course_lib.errors import CourseError
from course_lib.plots import linked_code, source_listing
from course_lib.plots.linked_code import ptx_lines


@pytest.fixture(scope="module")
def rolled():
    return linked_code("sgemm_unrolled", UNROLL=1)


@pytest.fixture(scope="module")
def written_out():
    return linked_code("sgemm_unrolled", UNROLL=16)


def line_of(kernel, text):
    return next(n for n, line in enumerate(kernels.get(kernel).source.splitlines(), 1) if text in line)


@pytest.mark.slow
def test_the_multiply_adds_belong_to_their_line(rolled, written_out):
    at = line_of("sgemm_unrolled", "acc += As")
    for code, times in ((rolled, 1), (written_out, 16)):
        assert code.busiest == at
        assert sum(c.line == at and c.text.startswith("fma.rn.f32") for c in code.ptx) == times
        assert sum(c.line == at and "FFMA " in c.text for c in code.sass) == times
    barriers = [c.line for c in rolled.sass if "BAR" in c.text]
    assert barriers == [n for n, text in enumerate(rolled.source, 1) if "__syncthreads" in text]


def test_it_is_the_whole_kernel_and_nothing_of_this_machine(rolled):
    assert len([c for c in rolled.ptx if c.text == "ret;"]) == 1
    assert not any(re.match(r"\.(loc|file)\b", c.text) for c in rolled.ptx)
    assert not any("/" in c.text for c in rolled.ptx)
    compiled = toolchain.compile_cuda(kernels.get("sgemm_unrolled").source, name="sgemm_unrolled.cu",
                                      defines=kernels.get("sgemm_unrolled").defines(UNROLL=1))
    assert len(rolled.sass) == len(toolchain.sass(compiled)) == sum(rolled.sass_per_line.values())


def test_lines_of_headers_and_functions():
    ptx = ('.entry k(\n\t.param .u32 a\n)\n{\n\t.reg .b32 %r<2>;\n\t.loc\t1 5 1\n\tadd.s32 %r1, %r1, 1;\n\t.loc 2 99 3\n\tmul.lo.s32 a;\n'
           '\t.loc 1 3 1, function_name $L, inlined_at 1 7 2\n\tsub.s32 b;\n\t.loc 1 0 5\n\tmov.u32 c;\n\n}\n'
           '\t.file\t1 "/home/me/k.cu"\n\t.file\t2 "/opt/cuda/x.h"\n')
    assert [(c.text.split()[0], c.line) for c in ptx_lines(ptx, "k", "k.cu")] == [
        (".reg", None), ("add.s32", 5), ("mul.lo.s32", None), ("sub.s32", 3), ("mov.u32", None)]
    assert [c.line for c in ptx_lines(ptx, "k", "x.h")] == [None, None, 99, None, None]
    with pytest.raises(CourseError, match="no kernel 'q'"):
        ptx_lines(ptx, "q", "k.cu")


@pytest.mark.slow
def test_a_step_along_k_costs_less_the_more_is_written_out(rolled, written_out):
    steps = [linked_code("sgemm_unrolled", UNROLL=u).step for u in (1, 2, 4, 8, 16)]
    assert steps == sorted(steps, reverse=True)
    inner, = [x for x in (rolled.loop,) if x.counts["FFMA"] == 1]
    outer = next(x for x in loops_of("sgemm_unrolled", UNROLL=1) if x.depth == 1)
    assert rolled.step == pytest.approx((outer.counts["instructions"] + 15 * inner.counts["instructions"]) / 16)
    assert written_out.step == written_out.per_multiply_add == written_out.loop.counts["instructions"] / 16


def loops_of(name, **parameters):
    kernel = kernels.get(name)
    return toolchain.loops(toolchain.sass(toolchain.compile_cuda(kernel.source, defines=kernel.defines(**parameters)), kernel.entry))


@pytest.mark.slow
def test_tiles_of_outputs_and_kernels_without_multiply_adds():
    small = linked_code("sgemm_2d_tile", BM=32, BN=32, BK=8, TM=4, TN=2)
    assert small.loop.counts["FFMA"] % 8 == 0
    assert small.per_multiply_add <= small.step
    assert linked_code("dgemm_block").fma == "DFMA"
    copied = linked_code("transpose")
    assert copied.loop is None
    assert copied.per_multiply_add is None
    assert copied.says() == "No loop holds FFMA."
    assert linked_code("sgemm_naive").step is None


def test_the_listing_has_the_machine_instructions(rolled):
    table = source_listing(kernels.get("sgemm_unrolled").source, {}, sass=rolled.sass_per_line)
    column = table.header.index("SASS instructions")
    found = {int(row[0]): row[column] for row in table.rows}
    assert found[rolled.busiest] == str(rolled.sass_per_line[rolled.busiest])
    assert sum(int(v) for v in found.values() if v) == len(rolled.sass)
