#define BM 16                    // a block computes tiles of BM × BN elements, one element per thread
#define BN 16
#define BK 8                     // k of one k-step
#define BLOCKS 7                 // blocks of the grid, whatever M, N and K are

__device__ float partial[BLOCKS][BM * BN];       // for each block: the sums that it leaves to a later one
__device__ int ready[BLOCKS];                    // 1: they are there

// Return the sum over the k-steps first <= s < last, for one element of C.
__device__ float products(int M, int N, int K, const float* A, int lda, const float* B, int ldb,
                          int row, int col, int first, int last) {
    float sum = 0.0f;
    if (row < M && col < N)
        for (int k = first * BK; k < min(last * BK, K); ++k)
            sum += A[row * lda + k] * B[k * ldb + col];
    return sum;
}

// Leave this block's sums to the block that ends the tile.
__device__ void leave(int thread, float sum) {
    partial[blockIdx.x][thread] = sum;
    __threadfence();             // whoever sees the flag sees this sum, too
    __syncthreads();             // all threads have written theirs
    if (thread == 0) atomicExch(&ready[blockIdx.x], 1);
}

// Wait for what block `who` leaves, and return it.
__device__ float collect(int thread, int who) {
    if (thread == 0) {
        while (atomicAdd(&ready[who], 0) == 0) __nanosleep(20);
        ready[who] = 0;          // for the next launch
        __threadfence();         // the flag is read before the sums are
    }
    __syncthreads();             // nobody reads before it is there
    return __ldcg(&partial[who][thread]);
}

extern "C" __global__ void even(int M, int N, int K, float alpha, const float* A, int lda,
                                const float* B, int ldb, float beta, float* C, int ldc) {
    const int tx = threadIdx.x, ty = threadIdx.y, thread = BN * ty + tx, block = blockIdx.x;
    const int tiles_n = (N + BN - 1) / BN, tiles = (M + BM - 1) / BM * tiles_n, steps = (K + BK - 1) / BK;
    const int units = tiles * steps;
    const auto begins = [&](int who) { return units / BLOCKS * who + min(units % BLOCKS, who); };
    // BEGIN SOLUTION
    const int begin = begins(block);
    int end = begins(block + 1);

    while (begin < end) {        // from the end of the share to its beginning
        const int tile = (end - 1) / steps, last = end - tile * steps;
        const int first = max(begin - tile * steps, 0);
        const int row = tile / tiles_n * BM + ty, col = tile % tiles_n * BN + tx;
        float sum = products(M, N, K, A, lda, B, ldb, row, col, first, last);

        if (last < steps) {      // a later block ends this tile
            leave(thread, sum);
        } else {                 // this block ends it: add what the earlier ones have left, always in the same order
            int who = block;
            while (begins(who) > tile * steps) --who;
            for (; who < block; ++who)
                sum += collect(thread, who);
            if (row < M && col < N)
                C[row * ldc + col] = alpha * sum + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
        }
        end = tile * steps + first;
    }
    // END SOLUTION
}
