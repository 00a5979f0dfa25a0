"""What tests of clusters write their kernels with: `cooperative_groups::this_cluster()` in little, which compiles ten times as fast."""

CLUSTER = """struct Cluster {
    __device__ unsigned block_rank() const { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
    __device__ unsigned num_blocks() const { unsigned r; asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
    __device__ void sync() const { asm volatile("barrier.cluster.arrive;\\n barrier.cluster.wait;" ::: "memory"); }
    template <class T> __device__ T* map_shared_rank(T* p, unsigned rank) const {
        T* r; asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank)); return r; }
};
"""
