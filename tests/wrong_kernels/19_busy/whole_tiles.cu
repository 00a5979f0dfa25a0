// whole_tiles.cu -- deals out whole tiles in turn
//
// Part             main
// Must fail for    gate: k-steps of the busiest block
#define BK 16
#define TILE 16

struct Product { int M, N, K; const float *A, *B; float* C; };

// Return product p: its sizes, and where its matrices begin. Rows follow each other without gaps.
__device__ Product product(const int* sizes, int p, const float* A, const float* B, float* C) {
    const int* s = sizes + 6 * p;
    return {s[0], s[1], s[2], A + s[3], B + s[4], C + s[5]};
}
__device__ int tiles_of(Product p) { return (p.M + TILE - 1) / TILE * ((p.N + TILE - 1) / TILE); }
__device__ int steps_of(Product p) { return (p.K + BK - 1) / BK; }

// Return this thread's sum over the k-steps first <= s < last of a tile.
__device__ float products_of(Product p, int tile, int first, int last) {
    const int tiles_n = (p.N + TILE - 1) / TILE;
    const int row = tile / tiles_n * TILE + threadIdx.y, col = tile % tiles_n * TILE + threadIdx.x;
    float sum = 0.0f;
    if (row < p.M && col < p.N)
        for (int k = first * BK; k < min(last * BK, p.K); ++k)
            sum += p.A[row * p.K + k] * p.B[k * p.N + col];
    return sum;
}
__device__ void store(Product p, int tile, float sum) {
    const int tiles_n = (p.N + TILE - 1) / TILE;
    const int row = tile / tiles_n * TILE + threadIdx.y, col = tile % tiles_n * TILE + threadIdx.x;
    if (row < p.M && col < p.N) p.C[row * p.N + col] = sum;
}

// Leave this block's sums to a later block; wait for those of block `who`. As in the lesson.
__device__ void leave(float* partial, int* ready, int thread, float sum) {
    partial[TILE * TILE * blockIdx.x + thread] = sum;
    __threadfence();
    __syncthreads();
    if (thread == 0) atomicExch(&ready[blockIdx.x], 1);
}
__device__ float collect(const float* partial, int* ready, int thread, int who) {
    if (thread == 0) {
        while (atomicAdd(&ready[who], 0) == 0) __nanosleep(20);
        ready[who] = 0;
        __threadfence();
    }
    __syncthreads();
    return __ldcg(&partial[TILE * TILE * who + thread]);
}

extern "C" __global__ void ragged(int products, const int* sizes, const float* A, const float* B, float* C,
                                  float* partial, int* ready) {
    const int thread = TILE * threadIdx.y + threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
    int number = 0;                          // of a tile, among those of all products
    for (int i = 0; i < products; ++i) {
        const Product p = product(sizes, i, A, B, C);
        for (int tile = 0; tile < tiles_of(p); ++tile, ++number)
            if (number % blocks == block)
                store(p, tile, products_of(p, tile, 0, steps_of(p)));
    }
}
