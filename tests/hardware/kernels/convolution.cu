// convolution.cu -- a 5 x 5 filter from constant memory
//
// Computes  y[row][col] = sum of filter[i][j] * x[row + i][col + j]
// Idea      all lanes read one coefficient; others are read by lane
// Launch    grid (ceil(w/32), ceil(h/4)), block (32, 4)
__constant__ float filter[25];
__constant__ int permutation[32];

extern "C" __global__ void convolution(int width, int height, int pitch, const float* x, float* y) {
    const int col = blockIdx.x * 32 + permutation[threadIdx.x], row = blockIdx.y * 4 + threadIdx.y;
    if (col >= width || row >= height) return;
    float sum = 0;
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
            sum += filter[5 * i + j] * x[(row + i) * pitch + col + j];
    y[row * width + col] = sum;
}
