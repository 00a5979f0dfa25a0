// shared_boxes.cu -- a box of a tensor that one block of a cluster fetches for both
//
// Computes  came = 1 for each block whose mbarrier has completed its phase
// Idea      a probe of what a multicast counts: block 0 issues the copy, `mask` says to whom it goes
// Launch    grid 2, block 32
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void __cluster_dims__(2) shared_boxes(const __grid_constant__ CUtensorMap in, int x, int y, int bytes, int mask,
                                                            unsigned* came) {
    __shared__ __align__(1024) unsigned s[4096];
    __shared__ unsigned long long bar;
    for (int i = threadIdx.x; i < 4096; i += 32) s[i] = 0x11111111;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(mask >> blockIdx.x & 1 ? bytes : 0) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");         // both are ready
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                         ::"r"(at(s)), "l"(&in), "r"(x), "r"(y), "r"(at(&bar)), "h"((short)mask) : "memory");
        unsigned done = 0;                     // so often that a box which never comes ends, too
        for (int i = 0; i < 2000 && !done; ++i)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(&bar)) : "memory");
        came[blockIdx.x] = done;
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");         // nobody leaves before
}
