// different.cu -- another right solution: a flat tile with rows of 37 words, one dimension of threads taken apart anew
//
// Part             turn
#define TILE 32
#define ROWS 4
#define PITCH 37
extern "C" __global__ void
turned(int rows, int cols, const float* in, int ld_in, float* out, int ld_out) {
    __shared__ float buffer[TILE * PITCH];
    const int thread = threadIdx.y * TILE + threadIdx.x, lane = thread % 32, warp = thread / 32;
    in += blockIdx.y * TILE * ld_in + blockIdx.x * TILE;
    out += blockIdx.x * TILE * ld_out + blockIdx.y * TILE;
    const int high = min(TILE, rows - (int)blockIdx.y * TILE), wide = min(TILE, cols - (int)blockIdx.x * TILE);
    if (lane < wide)
        for (int r = warp; r < high; r += ROWS) buffer[lane * PITCH + r] = in[r * ld_in + lane];
    __syncthreads();
    if (lane < high)
        for (int c = warp; c < wide; c += ROWS) out[c * ld_out + lane] = buffer[c * PITCH + lane];
}
