// dynamic_shared.cu -- shared memory whose size the launch decides
//
// Computes  y = x turned by `turn` within each block; bytes and doubles in one carved array
// Idea      extern __shared__, cut into parts by hand
// Launch    block n; 9 n bytes of dynamic shared memory
extern "C" __global__ void dynamic_shared(int turn, const double* x, const signed char* b, double* y, signed char* c) {
    extern __shared__ __align__(16) unsigned char memory[];
    const int n = blockDim.x, t = threadIdx.x, i = blockIdx.x * n + t, from = (t + turn) % n;
    double* numbers = reinterpret_cast<double*>(memory);
    signed char* bytes = reinterpret_cast<signed char*>(memory + 8 * n);
    numbers[t] = x[i];
    bytes[t] = b[i];
    __syncthreads();                           // both parts are complete
    y[i] = numbers[from];
    c[i] = bytes[from];
}
