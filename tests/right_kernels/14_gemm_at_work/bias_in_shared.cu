// bias_in_shared.cu -- another right solution: a warp brings the bias of the tile into shared memory, and rows of sums pass through there
//
// Part             main
#define TILE 32
#define ROWS 8
extern "C" __global__ void
layer(int M, int N, int K, const float* A, int lda, const float* B, int ldb, const float* bias, float* C, int ldc) {
    __shared__ float As[TILE][TILE], Bs[TILE][TILE], bs[TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int block_row = blockIdx.y * TILE, col = blockIdx.x * TILE + tx;
    float acc[TILE / ROWS] = {};
    if (ty == 0)
        bs[tx] = col < N ? bias[col] : 0.0f;       // read behind the barriers of the loop, or the one below it
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
    for (int i = 0; i < TILE / ROWS; ++i)
        As[ty + i * ROWS][tx] = acc[i];
    __syncthreads();                               // all sums of the tile are there, and bs where K is 0
    for (int e = ty * TILE + tx; e < TILE * TILE; e += TILE * ROWS)
        if (const int row = block_row + e / TILE; row < M && col < N) {
            const float z = As[e / TILE][tx] + bs[tx];
            C[row * ldc + col] = !(z < 0.0f) ? z : 0.0f;
        }
}
