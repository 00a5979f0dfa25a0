// atomics_on_c.cu -- adds and compares in memory, by atomics that no counter of stores has
//
// Part             main
// Must fail for    atomics: could not count it
#define TILE 32
#define ROWS 8
extern "C" __global__ void
layer(int M, int N, int K, const float* A, int lda, const float* B, int ldb, const float* bias, float* C, int ldc) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * TILE, col = blockIdx.x * TILE + tx;
    float acc[TILE / ROWS] = {};
    for (int k0 = 0; k0 < K; k0 += TILE) {
        for (int i = ty; i < TILE; i += ROWS) {
            As[i][tx] = block_row + i < M && k0 + tx < K ? A[(block_row + i) * lda + k0 + tx] : 0.0f;
            Bs[i][tx] = k0 + i < K && col < N ? B[(k0 + i) * ldb + col] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            for (int i = 0; i < TILE / ROWS; ++i)
                acc[i] += As[ty + i * ROWS][k] * Bs[k][tx];
        __syncthreads();
    }
    const float b = col < N ? bias[col] : 0.0f;
    for (int i = 0; i < TILE / ROWS; ++i)
        if (const int row = block_row + ty + i * ROWS; row < M && col < N) {
            float* c = &C[row * ldc + col];
            *c = acc[i];
            atomicAdd(c, b);
            atomicMax(reinterpret_cast<int*>(c), 0);
        }
}
