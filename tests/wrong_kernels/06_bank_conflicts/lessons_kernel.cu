// lessons_kernel.cu -- the lesson's kernel with one matrix for both: a block reads what another has overwritten
//
// Part             swap
// Must fail for    wrong: What lies
#define TILE 32
#define ROWS 8
extern "C" __global__ void
transposed_in_place(int n, float* A, int lda) {
    __shared__ float tile[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    for (int i = ty; i < TILE; i += ROWS)
        if (row + i < n && col + tx < n) tile[i][tx] = A[(row + i) * lda + col + tx];
    __syncthreads();
    for (int i = ty; i < TILE; i += ROWS)
        if (col + i < n && row + tx < n) A[(col + i) * lda + row + tx] = tile[tx][i];
}
