// groups.cu -- cooperative groups
//
// Computes  sums over tiles of 8 threads, running sums over 16, and one atomic per group of odd numbers
// Idea      a group is an object: its size, its rank, its barrier, its reductions
// Launch    grid 2, block 64
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void groups(int n, const int* x, int* y, int* odd) {
    const cg::thread_block block = cg::this_thread_block();
    const auto eight = cg::tiled_partition<8>(block);
    const auto sixteen = cg::tiled_partition<16>(block);
    const int i = block.group_index().x * block.size() + block.thread_rank(), v = x[i];
    y[i] = cg::reduce(eight, v, cg::plus<int>());
    y[n + i] = cg::inclusive_scan(sixteen, v);
    y[2 * n + i] = eight.shfl(v, 7 - eight.thread_rank()) + eight.any(v > 90);
    block.sync();
    if (v & 1) {
        const cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(odd, (int)active.size());
    }
}
