// tail_unguarded.cu -- no guard where a tile sticks out
//
// Part             swap
// Must fail for    out of bounds
#define TILE 32
#define ROWS 8
extern "C" __global__ void
transposed_in_place(int n, float* A, int lda) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE, col = blockIdx.x * TILE;     // of this block's tile
    __shared__ float mine[TILE][TILE + 1], other[TILE][TILE + 1];   // odd row lengths: a column lies in all banks
    if (row > col) return;                     // the block on the other side of the diagonal does both tiles
    const bool pair = row < col;               // a tile on the diagonal is its own partner
    for (int i = ty; i < TILE; i += ROWS) {
        if (true) mine[i][tx] = A[(row + i) * lda + col + tx];
        if (pair && col + i < n && row + tx < n) other[i][tx] = A[(col + i) * lda + row + tx];
    }
    __syncthreads();                           // nobody writes to A before both tiles are safe
    const float (*partner)[TILE + 1] = pair ? other : mine;
    for (int i = ty; i < TILE; i += ROWS) {
        if (true) A[(row + i) * lda + col + tx] = partner[tx][i];
        if (pair && col + i < n && row + tx < n) A[(col + i) * lda + row + tx] = mine[tx][i];
    }
}
