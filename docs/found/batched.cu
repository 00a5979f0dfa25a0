// batched.cu -- y[z] = the sums of the rows of matrix z; M × N matrices lie one behind the other
//
// Launch    grid (ceil(M / 32), 1, matrices), block 32: one thread a row
extern "C" __global__ void
batched(int M, int N, const float* A, float* y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.z;
    if (row >= M)
        return;
    const float* matrix = &A[z * (M + N)];
    float sum = 0.0f;
    for (int j = 0; j < N; ++j)
        sum += matrix[row * N + j];
    y[z * M + row] = sum;
}
