// cluster_halo.cu -- a stencil whose blocks read their neighbours' edges from shared memory
//
// Computes  y[i] = x[i - 1] + 2 * x[i] + x[i + 1], as a ring inside each cluster
// Idea      each block loads its part once; the two edges come from the neighbours' shared memory
// Launch    grid 8, block 128, clusters of 4
extern "C" __global__ void __cluster_dims__(4) cluster_halo(const float* x, float* y) {
    __shared__ float part[128];
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    part[t] = x[i];
    asm volatile("barrier.cluster.arrive.release;\n barrier.cluster.wait.acquire;" ::: "memory");    // all parts are loaded
    float *left, *right;
    asm("mapa.u64 %0, %1, %2;" : "=l"(left) : "l"(&part[(t + 127) % 128]), "r"(t ? rank : (rank + 3) % 4));
    asm("mapa.u64 %0, %1, %2;" : "=l"(right) : "l"(&part[(t + 1) % 128]), "r"(t < 127 ? rank : (rank + 1) % 4));
    y[i] = *left + 2 * part[t] + *right;
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");    // nobody reads any more: blocks may end
}
