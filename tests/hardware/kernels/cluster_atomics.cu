// cluster_atomics.cu -- every kind of atomic on another block's shared memory
//
// Computes  box of the neighbour: add, max, and, or, xor, inc, exch, cas and add.f32 from 32 threads each
// Idea      whether subnormal sums survive, as they do in the own shared memory, and what the old values are of one thread alone
// Launch    grid 2, block 32, clusters of 2
extern "C" __global__ void __cluster_dims__(2) cluster_atomics(unsigned* y) {
    __shared__ unsigned box[12];
    unsigned rank, b, old = 0;
    const unsigned t = threadIdx.x;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (t < 12) box[t] = t == 8 ? 0x00200000u : 100 + t;       // a subnormal number at 8
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"((unsigned)__cvta_generic_to_shared(box)), "r"(rank ^ 1));
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(b), "r"(t) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.max.s32 [%0+4], %1;" ::"r"(b), "r"(10 * t) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.and.b32 [%0+8], %1;" ::"r"(b), "r"(t + 70) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.or.b32 [%0+12], %1;" ::"r"(b), "r"(t << 8) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.xor.b32 [%0+16], %1;" ::"r"(b), "r"(t * t) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.inc.u32 [%0+20], 110;" ::"r"(b) : "memory");
    if (t == 5) asm volatile("atom.relaxed.cluster.shared::cluster.exch.b32 %0, [%1+24], 77;" : "=r"(old) : "r"(b) : "memory");
    if (t == 6) asm volatile("atom.relaxed.cluster.shared::cluster.cas.b32 %0, [%1+28], 107, 88;" : "=r"(old) : "r"(b) : "memory");
    if (t == 7) asm volatile("red.relaxed.cluster.shared::cluster.add.f32 [%0+32], %1;" ::"r"(b), "f"(__uint_as_float(0x00100000u)) : "memory");
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");
    if (t < 12) y[blockIdx.x * 44 + t] = box[t];
    y[blockIdx.x * 44 + 12 + t] = old;
}
