"""The shared memory that the system keeps: its special registers, and tiles of more than a warp, which exchange values there."""

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import simt

WAYS = [{}, {"racecheck": True}, {"warp_order": "interleaved"}, {"warp_order": "reverse"}]
GROUPS = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n"


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
