// symmetric_different.cu -- another right solution of variant b: a thread keeps its own elements in registers
//
// Part             swap-b
#define TILE 32
#define ROWS 8
extern "C" __global__ void
symmetrised(int n, float* A, int lda) {
    __shared__ float tiles[2][TILE][TILE + 3];
    const int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x, by = blockIdx.y;
    if (by > bx) return;
    const int count = by == bx ? 1 : 2;
    float own[2][TILE / ROWS];
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int s = 0; s < TILE / ROWS; ++s) {
            const int i = ty + s * ROWS, r = (t ? bx : by) * TILE + i, c = (t ? by : bx) * TILE + tx;
            if (t < count && r < n && c < n) tiles[t][i][tx] = own[t][s] = A[r * lda + c];
        }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < 2; ++t)
#pragma unroll
        for (int s = 0; s < TILE / ROWS; ++s) {
            const int i = ty + s * ROWS, r = (t ? bx : by) * TILE + i, c = (t ? by : bx) * TILE + tx;
            if (t < count && r < n && c < n) A[r * lda + c] = (own[t][s] + tiles[count - 1 - t][tx][i]) / 2;
        }
}
