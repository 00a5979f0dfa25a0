// device_functions.cu -- functions that are called, not inlined
//
// Computes  y[i] = dot and cross product of two vectors, through calls
// Idea      parameters and results by value, by structure and by pointer
// Launch    grid 2, block 64
struct Vec { float x, y, z; };

__device__ __noinline__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

__device__ __noinline__ Vec cross(const Vec& a, const Vec& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

__device__ __noinline__ void add_to(float* target, float value, int flags) {
    if (flags & 1) *target += value;
    else *target -= value;
}

extern "C" __global__ void device_functions(int n, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Vec a{x[3 * i], x[3 * i + 1], x[3 * i + 2]}, b{x[3 * (n - 1 - i)], x[3 * (n - 1 - i) + 1], x[3 * (n - 1 - i) + 2]};
    const Vec c = cross(a, b);
    float sum = dot(a, b);
    add_to(&sum, c.x, i);
    y[i] = sum;
    add_to(&y[n + i], c.y * c.z, i >> 1);
}
