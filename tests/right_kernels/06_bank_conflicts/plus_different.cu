// plus_different.cu -- another right solution of variant b: B waits in registers, the tile is stored turned, 3 words of padding
//
// Part             turn-b
#define TILE 32
#define ROWS 8
extern "C" __global__ void
turned_plus(int rows, int cols, float alpha, const float* A, int lda, const float* B, int ldb, float* C, int ldc) {
    __shared__ float tile[TILE][TILE + 3];
    const int lane = threadIdx.x;
    float added[TILE / ROWS];
#pragma unroll
    for (int s = 0; s < TILE / ROWS; ++s) {
        const int i = s * ROWS + threadIdx.y;
        const int row = blockIdx.y * TILE + i, col = blockIdx.x * TILE + lane;          // of A
        if (row < rows && col < cols) tile[lane][i] = A[row * lda + col];
        const int c = blockIdx.x * TILE + i, r = blockIdx.y * TILE + lane;              // of B and C
        added[s] = c < cols && r < rows ? B[c * ldb + r] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < TILE / ROWS; ++s) {
        const int i = s * ROWS + threadIdx.y, c = blockIdx.x * TILE + i, r = blockIdx.y * TILE + lane;
        if (c < cols && r < rows) C[c * ldc + r] = added[s] + alpha * tile[i][lane];
    }
}
