// shuffle.cu -- y[i] = x[40503 * i % n]: a scattered sample, the same in every run
//
// Launch    grid ceil(n / 256), block 256
extern "C" __global__ void
shuffle(int n, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i * 40503 % n];
}
