// stencil_2d.cu -- one step of heat flow on a plane
//
// Computes  y = x + 0.1 (sum of four neighbours - 4 x), edges kept
// Idea      a 16 x 16 tile with a halo of one
// Launch    grid (ceil(w/16), ceil(h/16)), block (16, 16)
extern "C" __global__ void stencil_2d(int width, int height, const float* x, float* y) {
    __shared__ float tile[18][18];
    const int tx = threadIdx.x, ty = threadIdx.y, col0 = blockIdx.x * 16 - 1, row0 = blockIdx.y * 16 - 1;
    for (int k = ty * 16 + tx; k < 18 * 18; k += 256) {
        const int row = row0 + k / 18, col = col0 + k % 18;
        tile[k / 18][k % 18] = row >= 0 && row < height && col >= 0 && col < width ? x[row * width + col] : 0.0f;
    }
    __syncthreads();                           // tile and halo are complete
    const int row = row0 + 1 + ty, col = col0 + 1 + tx;
    if (row >= height || col >= width) return;
    const float centre = tile[ty + 1][tx + 1];
    const bool edge = row == 0 || col == 0 || row == height - 1 || col == width - 1;
    const float around = tile[ty][tx + 1] + tile[ty + 2][tx + 1] + tile[ty + 1][tx] + tile[ty + 1][tx + 2];
    y[row * width + col] = edge ? centre : centre + 0.1f * (around - 4 * centre);
}
