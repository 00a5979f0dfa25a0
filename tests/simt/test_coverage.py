"""The table of coverage, both ways: all that is listed runs, and nothing runs that is not listed."""

import random
import subprocess
import sys
from pathlib import Path

import coverage_examples
import ptx_text
import pytest

from course_lib import simt
from course_lib.simt.isa import coverage, hints, operations
from course_lib.simt.passes import pipeline
from course_lib.simt.ptx import parser
from course_lib.simt.ptx.ir import KINDS, Instruction

ROOT = Path(__file__).parents[2]
TOGETHER = 400  # forms in a kernel


def run(rows):
    """Launch kernels that hold these forms; return how many instructions were executed."""
    executed = 0
    for first in range(0, len(rows), TOGETHER):
        part = rows[first:first + TOGETHER]
        text, threads = coverage_examples.kernel(part), coverage_examples.threads(part)
        report = simt.launch(text, "k", 1, threads, coverage_examples.arguments(), workers=1)
        executed += report.counters["smsp__inst_executed.sum"]
    return executed


@pytest.mark.sampled(test=1, slow=4)
@pytest.mark.parametrize("section", coverage.SECTIONS)
def test_each_listed_form_runs(section):
    """All forms of small rows; of large ones enough that every word of the row stands in one."""
    rows = coverage_examples.chosen(section)
    assert run(rows) >= len(rows)


@pytest.mark.slow
@pytest.mark.sampled(slow=5)
@pytest.mark.parametrize("section", coverage.SECTIONS)
def test_every_listed_form_runs(section):
    """All forms of rows with up to 1100; of loads, stores and atomics enough that all pairs of words stand in one."""
    rows = coverage_examples.chosen(section, few=1100, tries=1500, pairs=True)
    assert run(rows) >= len(rows)


def test_each_opcode_that_the_code_knows_is_listed():
    inner = {name for name in operations.OPS if "." in name}  # names of their own for forms that normal.py rewrites
    known = {*operations.OPS, *KINDS, *hints.NOTHING, "bar", "barrier", "cp", "addc", "subc", "madc"}
    assert known - inner == set(coverage.rows())


def test_what_is_refused_is_not_listed():
    assert not set(coverage.refused()) & set(coverage.rows())


def test_a_row_names_its_opcodes_and_fits_its_own_forms():
    for pattern, _ in (row for rows in coverage.SECTIONS.values() for row in rows):
        form = next(iter(coverage_examples.sample(pattern, random.Random(1), tries=1)))
        assert form.partition(".")[0] in coverage.opcodes_of(pattern)
        assert coverage.covers(form)


REFUSED = """
add.f32x2 %d1, %d2, %d3;
add.rna.f32 %f1, %f2, %f3;
add.sat.u32 %r1, %r2, %r3;
add.sat.f64 %d1, %d2, %d3;
mul.wide.u64 %d1, %d2, %d3;
fma.f32 %f1, %f2, %f3, %f4;
fma.rn.relu.f32 %f1, %f2, %f3, %f4;
div.approx.f64 %d1, %d2, %d3;
sin.f32 %f1, %f2;
tanh.approx.ftz.f32 %f1, %f2;
lg2.approx.f64 %d1, %d2;
cvt.rn.f32.f16 %f1, %h1;
cvt.rn.satfinite.e2m1x2.f32 %h1, %f1, %f2;
cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;
shf.r.b32 %r1, %r2, %r3, %r4;
setp.lt.relu.s32 %p1, %r1, %r2;
setp.equ.s32 %p1, %r1, %r2;
min.NaN.f64 %d1, %d2, %d3;
vadd.s32.s32.s32 %r1, %r2, %r3;
ld.global.v8.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%d1];
ld.global.L3::128B.f32 %f1, [%d1];
ld.weak.volatile.global.f32 %f1, [%d1];
st.global.nc.f32 [%d1], %f1;
ldu.shared.f32 %f1, [%d1];
atom.global.add.f16x2 %r1, [%d1], %r2;
atom.global.v2.f32.max {%f1, %f2}, [%d1], {%f3, %f4};
atom.global.exch.b16 %h1, [%d1], %h2;
atom.global.add.b128 %d2, [%d1], %d3;
atom.global.max.f32 %f1, [%d1], %f2;
atom.local.add.u32 %r1, [%d1], %r2;
red.global.exch.b32 [%d1], %r1;
red.acquire.gpu.global.add.u32 [%d1], %r1;
red.async.relaxed.cluster.u32 [%d1], %r1;
shfl.sync.idx.b64 %d1, %d2, 0, 31, -1;
vote.sync.most.pred %p1, %p2, -1;
match.all.b32 %r1, %r2, -1;
redux.sync.min.f32 %f1, %f2, -1;
redux.sync.add.u64 %d1, %d2, -1;
bar.cluster.sync 0;
bar.red.xor.pred %p1, 0, %p2;
barrier.cluster.wait.relaxed;
bar.warp.arrive -1;
membar.cluster;
fence.proxy.tensormap::generic.release.gpu;
nanosleep.u64 %d1;
prefetch.shared.L1 [%d1];
mapa.shared::cta.u32 %r1, %r2, %r3;
st.async.shared::cluster.mbarrier::complete_tx::bytes.b16 [%d1], %h1, [%d2];
tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f8}];
tex.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r5, %f6, %f7, %f8}];
tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f8}];
tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}], {%f6}, {%f7};
tex.1d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%d1, {%f5}];
tld4.r.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r5, %r6}];
suld.b.3d.b32.trap %r1, [%d1, {%r2, %r3, %r4, %r5}];
suld.b.1d.v4.b64.trap {%d2, %d3, %d4, %d5}, [%d1, {%r2}];
sust.p.2d.v4.b32.trap [%d1, {%r2, %r3}], {%r4, %r5, %r6, %r7};
sured.b.add.1d.u32.trap [%d1, {%r2}], %r3;
txq.width.b32 %r1, [%d1];
mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r1}, {%r2}, {%r3}, {%r4};
mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};
mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};
wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r1}, [%d1], 128;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r1}, %d1, %d2, %p1, 1, 1, 0, 0;
setmaxnreg.inc.sync.aligned.u32 168;
tcgen05.fence::before_thread_sync;
ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r1}, [%d1];
movmatrix.sync.aligned.m8n8.b16 %r1, %r2;
mbarrier.init.layout::v1.shared.b64 [%d1], 1;
mbarrier.arrive.noComplete.relaxed.cta.shared.b64 %d1, [%d2], 1;
mbarrier.test_wait.shared::cluster.b64 %p1, [%d1], %d2;
mbarrier.expect_tx.release.cta.shared.b64 [%d1], 16;
cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes [%d1], [%d2], 16, [%d3];
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d1], [%d2], 16;
cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r3, %r4}], [%r5], {%h1};
cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d1, {%r2, %r3}], [%r4], %h1;
cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r1];
cp.reduce.async.bulk.tensor.2d.global.shared::cta.exch.bulk_group [%d1, {%r2, %r3}], [%r1];
tensormap.replace.tile.rank.global.b1024.b32 [%d1], 2;
discard.global.L2 [%d1], 128;
stacksave.u64 %d1;
griddepcontrol.wait;
""".strip().splitlines()


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text.split()[0].rstrip(";"))
def test_what_is_not_listed_is_refused_by_name_and_line(text):
    written = text.split()[0].rstrip(";")
    with pytest.raises(simt.UnsupportedInstruction) as caught:
        pipeline.build_program(parser.parse(ptx_text.entry(f".loc 1 77 0\n{text}") + '.file 1 "refused.cu"\n'), "k")
    assert written in str(caught.value).replace("__", "::")
    assert (caught.value.opcode.replace("__", "::"), caught.value.line) == (written, 77)
    assert str(caught.value).startswith("line 77: ")


def test_the_page_is_the_table():
    found = subprocess.run([sys.executable, "-m", "tools", "page", "ptx-coverage", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("order", ["ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.x4.m8n8.shared.b16",
                                   "ldmatrix.sync.aligned.x2.trans.m8n8.shared::cta.b16", "stmatrix.sync.aligned.x1.m8n8.shared.b16"])
def test_matrices_are_named_in_any_order(order):
    """CUTLASS and others write the number of matrices before their shape, and the assembler takes it."""
    ordered = coverage.in_order(Instruction(tuple(order.replace("::", "__").split(".")), (), None, 1))
    assert ordered.opcode[3] == "m8n8"
    assert coverage.covers(ordered.name.replace("__", "::"))
