// layers.cu -- what a small network does between its matrix products, on data that stay on the GPU
//
// Computes  activate: H = max(H + bias, 0)         judge: D = (softmax(Y + bias) - labels) / rows, and each row's loss
//           gate: G = 0 where H is 0               lower: bias -= rate * sums of D's columns
// Launch    activate, gate: a thread per element; judge: a thread per row; lower: blocks of 32 x 32, 32 columns each
// Shared    lower: 4 * 32*33 bytes per block
// Strides   none: all matrices are row-major float32 without padding
// Edges     any rows, cols below 2^31 elements a matrix

extern "C" __global__ void activate(int rows, int cols, float* H, const float* bias) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    const float h = H[i] + bias[i % cols];
    H[i] = h < 0.0f ? 0.0f : h;                // NaN stays NaN; fmaxf would hide it
}

extern "C" __global__ void gate(int rows, int cols, float* G, const float* H) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols && !(H[i] > 0.0f)) G[i] = 0.0f;
}

extern "C" __global__ void judge(int rows, int cols, const float* Y, const float* bias, const int* labels, float* D, float* losses) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* y = Y + row * cols;
    float* d = D + row * cols;
    float largest = y[0] + bias[0], sum = 0.0f;
    for (int c = 1; c < cols; ++c)
        largest = fmaxf(largest, y[c] + bias[c]);
    for (int c = 0; c < cols; ++c)             // the largest becomes exp(0): nothing overflows
        sum += expf(y[c] + bias[c] - largest);
    for (int c = 0; c < cols; ++c)
        d[c] = (expf(y[c] + bias[c] - largest) / sum - (c == labels[row] ? 1.0f : 0.0f)) / rows;
    losses[row] = logf(sum) + largest - (y[labels[row]] + bias[labels[row]]);
}

extern "C" __global__ void __launch_bounds__(1024)
lower(int rows, int cols, float rate, const float* D, float* bias) {
    __shared__ float part[32][33];
    const int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int row = ty; col < cols && row < rows; row += 32)
        sum += D[row * cols + col];
    part[ty][tx] = sum;
    __syncthreads();                           // all parts of a column are there
    if (ty != 0 || col >= cols) return;
    for (int i = 1; i < 32; ++i)
        sum += part[i][tx];
    bias[col] -= rate * sum;
}
