// cluster_ranks.cu -- where a block stands in its cluster, and what an address of another block's shared memory looks like
//
// Computes  y[block]: clusterid, nclusterid, place and size of the cluster, rank, an own address and one mapped to rank 3
// Idea      the order of ranks, and the bits of an address that hold one
// Launch    grid (4, 4), block 32, clusters of (2, 2)
extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_ranks(unsigned* y) {
    __shared__ unsigned box[32];
    unsigned v[12], at = (unsigned)__cvta_generic_to_shared(&box[3]);
    asm volatile("mov.u32 %0, %%clusterid.x; mov.u32 %1, %%clusterid.y;" : "=r"(v[0]), "=r"(v[1]));
    asm volatile("mov.u32 %0, %%nclusterid.x; mov.u32 %1, %%nclusterid.y;" : "=r"(v[2]), "=r"(v[3]));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x; mov.u32 %1, %%cluster_ctaid.y;" : "=r"(v[4]), "=r"(v[5]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.x; mov.u32 %1, %%cluster_nctarank;" : "=r"(v[6]), "=r"(v[7]));
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v[8]));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 3;" : "=r"(v[9]) : "r"(at));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(v[10]) : "r"(at));
    v[11] = at;
    box[threadIdx.x] = v[11];
    if (threadIdx.x == 3)
        for (int i = 0; i < 12; ++i) y[(blockIdx.y * 4 + blockIdx.x) * 12 + i] = i == 11 ? box[3] : v[i];
}
