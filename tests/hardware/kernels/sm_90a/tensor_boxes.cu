// tensor_boxes.cu -- a box of a tensor as cp.async.bulk.tensor leaves it in shared memory, and back again by a store or a reduction
//
// Computes  raw = the first ROOM bytes of shared memory after the load; `out` gets the box, or adds it, unless a coordinate is negative
// Idea      one thread does all: what the simulator's documentation calls not measured is seen in `raw` and `out`
// Launch    grid 1, block 32
// Shared    ROOM bytes, which begin at a multiple of 1024
#ifndef ROOM
#define ROOM 8192
#define START 0           // where the box begins in shared memory
#define BYTES 1024        // that the mbarrier expects
#define HOW ""            // of cp.reduce: ".add"
#define COPY "cp.async"   // or cp.reduce.async
#endif
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void tensor_boxes(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int x, int y,
                                        unsigned* raw, int* arrived) {
    __shared__ __align__(1024) unsigned s[ROOM / 4];
    __shared__ unsigned long long bar;
    for (int i = threadIdx.x; i < ROOM / 4; i += 32) s[i] = 0x11111111;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();                           // all is cleared, and the mbarrier made
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(BYTES) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(at(s) + START), "l"(&in), "r"(x), "r"(y), "r"(at(&bar)) : "memory");
        unsigned done = 0;                     // so often that a wrong number of bytes ends, too
        for (int i = 0; i < 2000 && !done; ++i)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(at(&bar)) : "memory");
        *arrived = done;
        if (x >= 0 && y >= 0) asm volatile(COPY ".bulk.tensor.2d.global.shared::cta" HOW ".bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&out), "r"(x), "r"(y), "r"(at(s) + START) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();                           // the box has come
    for (int i = threadIdx.x; i < ROOM / 4; i += 32) raw[i] = s[i];
}
