// stream_k.cuh -- how blocks share out the tiles of C in steps along K, and hand over the sums of a tile that several blocks compute
//
// Used by   sgemm_stream_k.cu, dgemm_stream_k.cu, which define BM, BN and BK
#pragma once
// How a product is divided: `waves` times each block computes a whole tile, and the steps of all other tiles are shared out evenly.
struct Split {
    int tiles_n, tiles;                        // tiles of C along N, and all of them
    int steps;                                 // of BK along K, for each tile
    int waves, whole_tiles, units;             // units: steps that are shared out
};

__device__ __forceinline__ Split split(int M, int N, int K, int blocks) {
    const int tiles_n = (N + BN - 1) / BN, tiles = (M + BM - 1) / BM * tiles_n, steps = max((K + BK - 1) / BK, 1);
    const int waves = max(tiles / blocks - 1, 0), whole_tiles = waves * blocks;
    return {tiles_n, tiles, steps, waves, whole_tiles, (tiles - whole_tiles) * steps};
}

// share(who): the unit at which a block's share begins; that of the next block is where it ends.
struct Share {
    const int &units, &blocks;
    __device__ __forceinline__ int operator()(int who) const { return units / blocks * who + min(units % blocks, who); }
};

// Row and column of a tile's first element. The tiles are numbered in bands of eight rows, column by column: blocks that run together
// share what they read in the L2.
__device__ __forceinline__ int2 place(int tile, int tiles, int tiles_n) {
    const int band = tile / (8 * tiles_n) * 8, high = min(8, tiles / tiles_n - band);
    return make_int2((band + tile % (8 * tiles_n) % high) * BM, tile % (8 * tiles_n) / high * BN);
}

// Tell the block that waits that this one's sums are written.
__device__ __forceinline__ void tell(int* ready, int block) {
    __threadfence();
    __syncthreads();                           // all have written before one says so
    if (threadIdx.x == 0) atomicExch(&ready[block], 1);
}

// Wait for the sums of block `who`.
__device__ __forceinline__ void await(int* ready, int who) {
    if (threadIdx.x == 0) {
        while (atomicAdd(&ready[who], 0) == 0) __nanosleep(20);
        ready[who] = 0;                        // for the next launch
        __threadfence();
    }
    __syncthreads();                           // nobody reads before they are there
}
