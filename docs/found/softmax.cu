// softmax.cu -- y = softmax(x) of a row, one block a row: the largest element, the exponentials, their sum
//
// Launch    grid rows, block 128
extern "C" __global__ void __launch_bounds__(128)
softmax(int columns, const float* x, float* y) {
    __shared__ float part[4];                    // one number per warp, used twice
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    x += blockIdx.x * columns;
    y += blockIdx.x * columns;

    float largest = x[0];
    for (int j = thread; j < columns; j += 128)
        largest = fmaxf(largest, x[j]);
    for (int d = 16; d > 0; d /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
    if (lane == 0)
        part[warp] = largest;
    __syncthreads();                             // all four maxima are there
    for (int w = 0; w < 4; ++w)
        largest = fmaxf(largest, part[w]);

    float sum = 0.0f;
    for (int j = thread; j < columns; j += 128)
        sum += expf(x[j] - largest);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();                             // all four sums are there
    sum = 0.0f;
    for (int w = 0; w < 4; ++w)
        sum += part[w];

    for (int j = thread; j < columns; j += 128)
        y[j] = expf(x[j] - largest) / sum;
}
