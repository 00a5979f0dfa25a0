// cluster_histogram.cu -- a histogram whose bins lie in the shared memories of a cluster
//
// Computes  counts[b] += how many x[i] are b, 512 bins
// Idea      each block has a quarter of the bins; atomics reach the one that has the bin
// Launch    grid 8, block 128, clusters of 4
extern "C" __global__ void __cluster_dims__(4) cluster_histogram(int n, const int* x, int* counts) {
    __shared__ int bins[128];
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    const int t = threadIdx.x;
    bins[t] = 0;
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");    // all bins are empty
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) {
        int* bin;
        asm("mapa.u64 %0, %1, %2;" : "=l"(bin) : "l"(&bins[x[i] % 128]), "r"(x[i] / 128));
        atomicAdd(bin, 1);
    }
    asm volatile("barrier.cluster.arrive;\n barrier.cluster.wait;" ::: "memory");    // all have counted
    atomicAdd(&counts[rank * 128 + t], bins[t]);
}
