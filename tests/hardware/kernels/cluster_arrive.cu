// cluster_arrive.cu -- a ring of blocks that write into each other's shared memory and arrive at each other's mbarriers
//
// Computes  y[block][t] = what the block on the left sent, by stores and arrivals, by st.async, and by a bulk copy
// Idea      three ways to tell another block that its data is there
// Launch    grid 4, block 64, clusters of 4
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned mapped(const void* p, unsigned rank) {
    unsigned r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at(p)), "r"(rank));
    return r;
}
__device__ __forceinline__ void wait(void* bar, int parity) {
    asm volatile("{ .reg .pred p;\n AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n @!p bra AGAIN; }"
                 ::"r"(at(bar)), "r"(parity) : "memory");
}

extern "C" __global__ void __cluster_dims__(4) cluster_arrive(int* y) {
    __shared__ __align__(128) int from[64], box[3][64];
    __shared__ __align__(8) unsigned long long stored, sent;
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int t = threadIdx.x;
    const unsigned next = (rank + 1) % 4;
    from[t] = 3000 + 100 * rank + t;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&stored)) : "memory");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&sent)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(at(&sent)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");    // all mbarriers are there
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mapped(&box[0][t], next)), "r"(1000 + 100 * rank + t) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapped(&stored, next)) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 ::"r"(mapped(&box[1][t], next)), "r"(2000 + 100 * rank + t), "r"(mapped(&sent, next)) : "memory");
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     ::"r"(mapped(box[2], next)), "r"(at(from)), "r"(mapped(&sent, next)) : "memory");
    wait(&stored, 0);
    wait(&sent, 0);
    for (int i = 0; i < 3; ++i) y[(blockIdx.x * 3 + i) * 64 + t] = box[i][t];
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");    // what was sent has arrived everywhere: blocks may end
}
