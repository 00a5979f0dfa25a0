// copy_gathered.cu -- a gather and a scatter through an index
//
// Computes  y[at[i]] = x[from[i]] where from[i] >= 0
// Idea      addresses that only the data know
// Launch    one thread per element, blocks of 96
extern "C" __global__ void copy_gathered(int n, const int* from, const int* at, const double* x, double* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && from[i] >= 0)
        y[at[i]] = x[from[i]];
}
