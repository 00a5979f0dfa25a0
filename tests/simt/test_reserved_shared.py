"""The shared memory that the system keeps: its special registers, and tiles of more than a warp, which exchange values there."""

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import arch, simt, toolchain

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}]
GROUPS = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n"


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.sampled(test=1, slow=6)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("size", [64, 128])
def test_tiles_of_several_warps(size, how):
    source = GROUPS + """extern "C" __global__ void f(int* out) {
        __shared__ int box[256];
        extern __shared__ int more[];
        const int i = threadIdx.x;
        box[i] = 3 * i;
        if (i < 64) more[i] = 7 * i;
        auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
        const int value = tile.shfl(i, 40), sum = cg::reduce(tile, i, cg::plus<int>());
        tile.sync();
        out[i] = value + sum;
        __syncthreads();
        out[256 + i] = box[255 - i] + more[i % 64];
    }"""
    out, i = np.zeros(512, INT), np.arange(256)
    launch(source, [out], block=256, dynamic_shared=256, defines={"SIZE": size}, **how)
    tile = i // size
    assert out[:256].tolist() == (size * tile + 40 + size * size * tile + size * (size - 1) // 2).tolist()
    assert out[256:].tolist() == (3 * (255 - i) + 7 * (i % 64)).tolist()


REGISTERS = ("reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap", "reserved_smem_offset_0",
             "reserved_smem_offset_1", "total_smem_size", "aggr_smem_size", "dynamic_smem_size")


def read(*more, n=8):
    reads = "\n".join(f'asm volatile("mov.u32 %0, %{name};" : "=r"(out[{i}]));' for i, name in enumerate(REGISTERS))
    return f"""extern "C" __global__ void f(unsigned* out) {{ __shared__ int box[{n}]; box[threadIdx.x % 8] = 1;
        {reads} {' '.join(more)} out[8] = __cvta_generic_to_shared(box); out[9] = box[0]; }}"""


def test_registers_are_those_of_an_h100():
    """Recorded for 200 bytes of static and 304 of dynamic shared memory."""
    out = np.zeros(10, np.uint32)
    report = launch(read(n=50), [out], dynamic_shared=304)
    assert out.tolist() == [0, 288, 1024, 0, 0, 512, 1528, 304, 1024, 1]
    assert report.shared[0].offset == 1024


def test_the_reserved_bytes_count_against_no_limit():
    out = np.zeros(10, np.uint32)
    launch(read(n=12288), [out], dynamic_shared=232448 - 49152)
    error = fault(simt.LaunchError, read(n=12288), [out], dynamic_shared=232448 - 49152 + 1)
    assert "49152 static" in str(error)


# -- what each architecture has ------------------------------------------------------------------------------------------
HEADER = """.version 9.0
.target TARGET
.address_size 64
"""
DYNAMIC = HEADER + """.extern .shared .align 16 .b8 more[];
.visible .entry f(.param .u64 p) {
    .reg .u32 %r<4>;
    mov.u32 %r1, 7;
    st.shared.u32 [more], %r1;
    ret;
}
"""
# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": shared memory of a block
MOST = {"sm_50": 48, "sm_61": 48, "sm_70": 96, "sm_72": 96, "sm_75": 64, "sm_80": 163, "sm_86": 99, "sm_87": 163, "sm_88": 99, "sm_89": 99,
        "sm_90": 227, "sm_90a": 227, "sm_100": 227, "sm_100a": 227, "sm_103": 227, "sm_107": 227, "sm_110": 227, "sm_120": 99, "sm_121": 99,
        "sm_199": 48}


@pytest.mark.parametrize("target", MOST)
def test_a_block_has_the_shared_memory_of_its_architecture(target):
    most, text = MOST[target] * 1024, DYNAMIC.replace("TARGET", target)
    launch(text, [np.zeros(1, INT)], dynamic_shared=most)
    error = fault(simt.LaunchError, text, [np.zeros(1, INT)], dynamic_shared=most + 1)
    assert str(most) in str(error)
    assert target in str(error)
    assert (error.limit, error.target) == (most, target)


def test_every_architecture_that_the_compiler_knows_is_in_the_table():
    assert set(toolchain.supported_architectures()) <= set(arch.SHARED)


@pytest.mark.parametrize(("name", "first"), [
    ("reserved_smem_offset_begin", 80), ("reserved_smem_offset_1", 80), ("reserved_smem_offset_cap", 80), ("aggr_smem_size", 90),
    ("cluster_ctarank", 90), ("cluster_nctaid.x", 90), ("nclusterid.x", 90), ("clusterid.z", 90), ("total_smem_size", 0), ("tid.x", 0)])
def test_a_special_register_is_there_from_its_architecture_on(name, first):
    text = HEADER + f".visible .entry f(.param .u64 p) {{\n    .reg .u32 %r<4>;\n    mov.u32 %r1, %{name};\n    ret;\n}}\n"
    for target in ("sm_52", "sm_75", "sm_80", "sm_89", "sm_90a", "sm_120"):
        if int("".join(filter(str.isdigit, target))) >= first:
            launch(text.replace("TARGET", target), [np.zeros(1, INT)])
        else:
            error = fault(simt.UnsupportedInstruction, text.replace("TARGET", target), [np.zeros(1, INT)])
            assert f"{target} has no special register %{name}" in str(error)
            assert f"sm_{first}" in str(error)


def test_sizes_are_in_units_of_the_architecture():
    text = HEADER + """.visible .entry f(.param .u64 p) {
    .reg .u32 %r<4>; .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %total_smem_size;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
    for target, total in (("sm_75", 512), ("sm_80", 384)):
        out = np.zeros(1, INT)
        launch(text.replace("TARGET", target), [out], dynamic_shared=300)
        assert out.tolist() == [total]


def test_an_unknown_register_is_refused():
    source = 'extern "C" __global__ void f(int* out) { asm("mov.u32 %0, %reserved_smem_offset_7;" : "=r"(*out)); }'
    with pytest.raises((simt.UnsupportedInstruction, simt.CompileError, simt.PtxSyntaxError)):
        launch(source, [np.zeros(1, INT)])


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_dynamic_shared_memory_lies_behind_arrays_of_every_scope(how):
    source = """__shared__ int outer[64];
    __device__ __noinline__ int look(int i) { __shared__ int inside[64]; inside[i] = 5 * i; __syncthreads(); return inside[63 - i]; }
    extern "C" __global__ void f(int* out) {
        extern __shared__ int more[];
        extern __shared__ double2 same[];
        __shared__ int box[65];
        const int i = threadIdx.x;
        outer[i] = i; box[i] = 10 * i; more[i] = 7;
        __syncthreads();
        out[i] = outer[63 - i] + box[63 - i] + look(i) + more[i] + ((void*)same != (void*)more);
    }"""
    out = np.zeros(64, INT)
    report = launch(source, [out], block=64, dynamic_shared=256, **how)
    assert out.tolist() == [16 * (63 - i) + 7 for i in range(64)]
    assert max(v.offset for v in report.shared) == next(v.offset for v in report.shared if v.name == "more") == 784
    assert not report.hazards
