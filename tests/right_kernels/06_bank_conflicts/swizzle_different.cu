// swizzle_different.cu -- another right solution without padding: each row is turned round by its number instead of mixed
//
// Part             swizzle
#define TILE 32
#define ROWS 16
extern "C" __global__ void
swizzled(int rows, int cols, const float* in, int ld_in, float* out, int ld_out) {
    __shared__ float tile[TILE * TILE];
    const int lane = threadIdx.x;
    for (int step = 0; step < TILE / ROWS; ++step) {
        const int r = step * ROWS + threadIdx.y, row = blockIdx.y * TILE + r, col = blockIdx.x * TILE + lane;
        if (row < rows && col < cols) tile[r * TILE + (lane + r) % TILE] = in[row * ld_in + col];
    }
    __syncthreads();
    for (int step = 0; step < TILE / ROWS; ++step) {
        const int c = step * ROWS + threadIdx.y, row = blockIdx.x * TILE + c, col = blockIdx.y * TILE + lane;
        if (row < cols && col < rows) out[row * ld_out + col] = tile[lane * TILE + (c + lane) % TILE];
    }
}
