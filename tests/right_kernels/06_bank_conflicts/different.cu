// different.cu -- another right solution: swizzled tiles, and their own loops for the diagonal
//
// Part             swap
#define TILE 32
#define ROWS 4
extern "C" __global__ void
transposed_in_place(int n, float* A, int lda) {
    __shared__ float tiles[2][TILE * TILE];
    const int lane = threadIdx.x, bx = blockIdx.x, by = blockIdx.y;
    if (by > bx) return;
    const int count = by == bx ? 1 : 2;
    for (int t = 0; t < count; ++t) {          // tile 0 begins in row by, column bx of tiles; tile 1 the other way round
        const int first_row = (t ? bx : by) * TILE, first_col = (t ? by : bx) * TILE;
        for (int i = threadIdx.y; i < TILE; i += ROWS)
            if (first_row + i < n && first_col + lane < n)
                tiles[t][i * TILE + (lane ^ i)] = A[(first_row + i) * lda + first_col + lane];
    }
    __syncthreads();
    for (int t = 0; t < count; ++t) {
        const int first_row = (t ? by : bx) * TILE, first_col = (t ? bx : by) * TILE;      // where tile t goes
        for (int i = threadIdx.y; i < TILE; i += ROWS)
            if (first_row + i < n && first_col + lane < n)
                A[(first_row + i) * lda + first_col + lane] = tiles[t][lane * TILE + (i ^ lane)];
    }
}
