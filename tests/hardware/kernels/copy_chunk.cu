// copy_chunk.cu -- blocks of 8 KiB into shared memory by memcpy_async
//
// Computes  y = 2 x, both multiples of 2048 elements
// Idea      a large chunk, 16 bytes a copy, many in flight
// Launch    grid n / 2048, block 128
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>

extern "C" __global__ void copy_chunk(const int* x, int* y) {
    __shared__ __align__(16) int chunk[2048];
    const auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, chunk, x + blockIdx.x * 2048, cuda::aligned_size_t<16>(sizeof chunk));
    cooperative_groups::wait(block);
    for (int i = threadIdx.x; i < 2048; i += 128) y[blockIdx.x * 2048 + i] = 2 * chunk[i];
}
