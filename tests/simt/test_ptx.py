"""The PTX parser: compilers' output, hand-written text, and text that is broken."""

import re
import struct

import pytest
from ptx_text import HEAD, entry

from course_lib import kernels, toolchain
from course_lib.simt.ptx import parser
from course_lib.simt.ptx.ir import Imm, Instruction, Mem, Pointer, Reg, Sym, Vec

CUDA = r"""
__constant__ float weights[3] = {1.5f, -2.0f, 0.25f};
__device__ int lookup[4] = {10, -20, 30, 0x7fffffff};
__device__ __forceinline__ float positive(float x) {
    return fmaxf(x, 0.0f);
}
extern "C" __global__ void f(float* p, const double2* q, short s, int n) {
    extern __shared__ float dynamic[];
    __shared__ alignas(16) float tile[8][4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x & 7][0] = positive(p[i]) + weights[i % 3];
    dynamic[threadIdx.x] = q[i].x + s + lookup[i & 3];
    __syncthreads();
    switch (i & 3) {
        case 0: p[i] = tile[0][0]; break;
        case 1: p[i] += dynamic[0]; break;
        default: p[i] = -1.0f;
    }
}
extern "C" __global__ void g() {}
"""


def statements(body, before=""):
    """Return what the body of a kernel parses to, without the last `ret`."""
    return parser.parse(entry(body, before)).functions["k"].body[:-1]


def only(body):
    found = statements(body)
    assert len(found) == 1
    return found[0]


# -- what compilers write -----------------------------------------------------------------------------------------------
SOURCES = {name: kernel.source for name, kernel in kernels.KERNELS.items()} | {"mixture": CUDA}


@pytest.fixture(scope="module", params=sorted(SOURCES))
def compiled(request):
    text = toolchain.compile_cuda(SOURCES[request.param]).ptx
    return text, parser.parse(text), SOURCES[request.param]


def plain(text):
    """PTX without comments and debug sections, and without the braces of short blocks with a register of their own."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\.section[^{]*\{[^}]*\}", "", text)
    return re.sub(r"\{\s*(\.reg \.(?:b\d+ (?:__\$\d+|%tmp)|pred %now|pred over|b32 there);[^{}]*)\}", r"\1", text)


@pytest.mark.sampled(test=3)
def test_every_statement_is_there(compiled):
    text, module, _ = compiled
    bodies = re.findall(r"\.entry\s+(\w+)[^{]*\{(.*?)^\}", plain(text), re.DOTALL | re.MULTILINE)
    assert {name for name, _ in bodies} == set(module.functions)
    for name, body in bodies:
        written = [s.strip() for s in re.sub(r"(?m)^\s*(\$\w+:|again:|\.loc.*$)", "", body).split(";")]
        written = [s for s in written if s and not s.startswith(".")]
        parsed = [i for i in module.functions[name].body if isinstance(i, Instruction)]
        assert [i.name.replace("__", "::") for i in parsed] == [re.sub(r"^@!?\S+\s+", "", s).split()[0] for s in written]
        assert [len(re.findall(r"%\w+|__\$\d+|\bover\b|\bthere\b|\b_\b", s)) for s in written] == [len(registers(i)) for i in parsed]


def registers(ins):
    """All registers that an instruction names."""
    def of(operand):
        if isinstance(operand, Vec):
            return [register for item in operand.items for register in of(item)]
        operand = operand.base if isinstance(operand, Mem) else operand
        return [operand] if isinstance(operand, Reg) else []
    return ([ins.guard] if ins.guard else []) + [register for operand in ins.operands for register in of(operand)]


@pytest.mark.slow
@pytest.mark.sampled(test=4)
def test_registers_are_declared_and_branches_have_targets(compiled):
    _, module, _ = compiled
    for function in module.functions.values():
        labels = {i for i in function.body if isinstance(i, str)}
        for ins in (i for i in function.body if isinstance(i, Instruction)):
            for register in registers(ins):
                assert function.register_type(register.name) or "." in register.name or register.name == "_", register
            if ins.opcode[0] == "bra":
                assert ins.operands[0].name in labels


@pytest.mark.slow
@pytest.mark.sampled(test=12)
def test_lines_are_those_of_the_source(compiled):
    """Each arithmetic instruction on floats belongs to a line that calculates, each barrier to its call."""
    _, module, source = compiled
    lines = source.splitlines()
    for function in module.functions.values():
        for ins in (i for i in function.body if isinstance(i, Instruction)):
            text = lines[ins.line - 1] if ins.line else ""
            if ins.opcode[0] == "bar":
                assert ("__syncwarp" if "warp" in ins.opcode else "__syncthreads") in text or "bar.sync" in text
            if ins.opcode[0] == "fma" and ins.opcode[-1] == "f32":
                assert "+" in text or "*" in text
            if ins.opcode[0] in ("ld", "st") and "global" in ins.opcode:
                assert re.search(r"\[|\*(c|p|from)\b|\(from\)|(float|uint)[24]|\bput\(p", text)


def test_an_inlined_call_keeps_the_line_of_the_function_it_came_from():
    body = parser.parse(toolchain.compile_cuda(CUDA).ptx).functions["f"].body
    inner = next(i for i, line in enumerate(CUDA.splitlines(), 1) if "return fmaxf" in line)
    assert {i.line for i in body if isinstance(i, Instruction) and i.opcode[0] == "max"} == {inner}


def test_variables_and_parameters_of_the_mixture():
    module = parser.parse(toolchain.compile_cuda(CUDA).ptx)
    assert [p.nbytes for p in module.functions["f"].params] == [8, 8, 2, 4]
    assert module.functions["g"].params == []
    weights, lookup = module.variables["weights"], module.variables["lookup"]
    assert (weights.space, weights.nbytes, weights.init) == ("const", 12, struct.pack("<3f", 1.5, -2.0, 0.25))
    assert (lookup.space, lookup.init) == ("global", struct.pack("<4i", 10, -20, 30, 0x7FFFFFFF))
    sizes = {v.nbytes: v for v in (*module.variables.values(), *module.functions["f"].variables.values()) if v.space == "shared"}
    assert set(sizes) == {0, 128}
    assert sizes[128].align == 16


# -- by hand ------------------------------------------------------------------------------------------------------------
def test_opcode_operands_and_guard():
    ins = only("@!%p1 fma.rn.ftz.f32 %f1, %f2, 0f3F800000, %f3;")
    assert ins.opcode == ("fma", "rn", "ftz", "f32")
    assert ins.operands == (Reg("%f1"), Reg("%f2"), Imm(0x3F800000, 4), Reg("%f3"))
    assert ins.guard == Reg("%p1", True)
    assert only("@%p1 bra END;").guard == Reg("%p1", False)


@pytest.mark.sampled(test=13, slow=20)
@pytest.mark.parametrize(("text", "value"), [
    ("0", 0), ("-1", -1), ("0x10", 16), ("-0x10", -16), ("4294967295", 0xFFFFFFFF), ("7U", 7), ("0xffU", 255),
    pytest.param("017", 15),
    pytest.param("0b101", 5),
])
def test_integer_literals(text, value):
    assert only(f"mov.b32 %r1, {text};").operands[1] == Imm(value)


@pytest.mark.parametrize(("text", "bits"), [
    ("0f3F800000", Imm(0x3F800000, 4)), ("0F3f800000", Imm(0x3F800000, 4)), ("-0f3F800000", Imm(0xBF800000, 4)),
    ("0d3FF0000000000000", Imm(0x3FF0000000000000, 8)), ("0D7fffffffffffffff", Imm(0x7FFFFFFFFFFFFFFF, 8)),
    ("1.5", Imm(0x3FF8000000000000, 8)), ("-2.5e-1", Imm(0xBFD0000000000000, 8)), ("1.", Imm(0x3FF0000000000000, 8)),
])
def test_float_literals(text, bits):
    assert only(f"mov.f64 %d1, {text};").operands[1] == bits


@pytest.mark.parametrize(("text", "found"), [
    ("[%d1]", Mem(Reg("%d1"))), ("[%d1+4]", Mem(Reg("%d1"), 4)), ("[%d1+-4]", Mem(Reg("%d1"), -4)), ("[%d1-0x10]", Mem(Reg("%d1"), -16)),
    ("[ %d1 + 8 ]", Mem(Reg("%d1"), 8)), ("[name]", Mem(Sym("name"))), ("[name+12]", Mem(Sym("name"), 12)), ("[256]", Mem(None, 256)),
])
def test_addresses(text, found):
    assert only(f"ld.global.b32 %r1, {text};").operands[1] == found


def test_vectors_sinks_and_pairs_of_predicates():
    assert only("ld.global.v2.f32 {%f1, %f2}, [%d1];").operands[0] == Vec((Reg("%f1"), Reg("%f2")))
    assert only("mov.b64 {%r1, _}, %d1;").operands[0].items[0] == Reg("%r1")
    assert only("setp.lt.s32 %p1|%p2, %r1, -3;").operands == (Reg("%p1"), Reg("%p2"), Reg("%r1"), Imm(-3))
    assert only("mov.u64 %d1, name+8;").operands[1] == Sym("name", 8)
    assert only("mov.u32 %r1, %tid.x;").operands[1] == Reg("%tid.x")
    assert only("ld.shared::cta.b32 %r1, [%r2];").opcode[1] == "shared__cta"


def test_labels_in_any_place():
    body = statements("A: B:\nmov.b32 %r1, 1;\n$L__BB0_1:\n@%p1 bra $L__BB0_1;\nC:")
    assert [s if isinstance(s, str) else s.name for s in body] == ["A", "B", "mov.b32", "$L__BB0_1", "bra", "C"]
    assert body[4].operands == (Sym("$L__BB0_1"),)


def test_a_label_may_touch_its_instruction():
    assert [s if isinstance(s, str) else s.name for s in statements("A:mov.b32 %r1, 1;\nB:@%p1 bra A;")] == ["A", "mov.b32", "B", "bra"]


def test_lines_follow_loc_directives():
    body = statements("""
        ret; .loc 1 5 3
        ret; .loc 2 77 1
        ret; .loc 1 6 1, function_name $L__info_string0, inlined_at 1 9 2
        ret; .loc 2 80 1, function_name $L__info_string1+12, inlined_at 1 11 4
        ret; .loc 1 0 0
        ret;""")
    # a header's own lines and line 0 leave the line as it was
    assert [i.line for i in body] == [0, 5, 5, 6, 11, 11]


def test_comments_directives_and_sections_are_skipped():
    before = ('.file 1 "a.cu", 100, 200\n/* a\n comment */ .section .debug_str { .b8 1,2,3 } // end\n'
              ".extern .func (.param .b32 r) h (.param .b64 x);")
    body = statements('.pragma "nounroll";\nmov.b32 %r1, /* here */ 2; // and here', before)
    assert [i.name for i in body] == ["mov.b32"]
    module = parser.parse(entry("", before))
    assert (module.version, module.target) == ("8.0", "sm_90")
    assert not module.functions["h"].defined


def test_initial_values():
    module = parser.parse(HEAD + """
        .global .align 4 .b8 bytes[6] = {1, 2, 0xFF};
        .const .align 8 .u64 words[2] = {18446744073709551615, -1};
        .global .f32 floats[2] = {0f3F800000, 0fC0000000};
        .global .b32 one = 7;
        .global .s16 matrix[2][2] = {{1, -1}, {2, -2}};
        .global .u64 addresses[2] = {bytes, bytes+4};
        .shared .align 16 .b8 buffer[64];
        .extern .shared .align 16 .b8 dynamic[];""")
    found = {v.name: v for v in module.variables.values()}
    assert found["bytes"].init == bytes([1, 2, 255, 0, 0, 0])
    assert found["words"].init == b"\xff" * 16
    assert found["floats"].init == struct.pack("<2f", 1, -2)
    assert (found["one"].init, found["one"].nbytes) == (struct.pack("<i", 7), 4)
    assert found["matrix"].init == struct.pack("<4h", 1, -1, 2, -2)
    assert found["addresses"].pointers == (Pointer(0, "bytes", 0), Pointer(8, "bytes", 4))
    assert (found["buffer"].align, found["buffer"].nbytes, found["buffer"].init) == (16, 64, None)
    assert found["dynamic"].nbytes == 0
