// leaves_every_piece.cu -- stores the sums of every piece in memory
//
// Part             main
// Must fail for    gate: tiles of partial sums
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

__device__ float pieces[12][TILE * TILE];

extern "C" __global__ void ragged(int products, const int* sizes, const float* A, const float* B, float* C,
                                  float* partial, int* ready) {
    const int thread = TILE * threadIdx.y + threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
    int units = 0;
    for (int i = 0; i < products; ++i) {
        const Product p = product(sizes, i, A, B, C);
        units += tiles_of(p) * steps_of(p);
    }
    const auto begins = [&](int who) { return units / blocks * who + min(units % blocks, who); };
    const int begin = begins(block);
    int end = begins(block + 1);

    while (begin < end) {
        int i = 0, before = 0;               // the product of unit end - 1, and the units before that product
        Product p = product(sizes, 0, A, B, C);
        while (before + tiles_of(p) * steps_of(p) < end) {
            before += tiles_of(p) * steps_of(p);
            p = product(sizes, ++i, A, B, C);
        }
        const int steps = steps_of(p), tile = (end - 1 - before) / steps, zero = before + tile * steps;
        const int first = max(begin - zero, 0), last = end - zero;
        float sum = products_of(p, tile, first, last);
        pieces[block][thread] = sum;
        if (last < steps) {                  // a later block ends this tile
            leave(partial, ready, thread, sum);
        } else {
            int who = block;
            while (begins(who) > zero) --who;
            for (; who < block; ++who) sum += collect(partial, ready, thread, who);
            store(p, tile, sum);
        }
        end = zero + first;
    }
}
