// copy_strided.cu -- every stride-th vector of in, from offset on, to out: VEC floats with each load
//
// Computes  n floats: vector j of out is the vector of in that begins at offset + j * stride * VEC       float32
// Idea      what a warp asks for depends only on stride, offset and width; nothing else happens here
// Launch    grid ceil(ceil(n/VEC) / THREADS), block (THREADS): VEC floats per thread
// Shared    none
// Edges     any n; offset a multiple of VEC, because a vector lies at a multiple of its size; indices below 2^31
// Lesson    notebooks/05_coalescing.ipynb
#ifndef THREADS       // the launcher passes both with -D, or none
#define THREADS 256
#define VEC 1
#endif
static_assert(VEC == 1 || VEC == 2 || VEC == 4, "one load moves 32, 64 or 128 bits");

struct alignas(4 * VEC) Vector { float x[VEC]; };

extern "C" __global__ void __launch_bounds__(THREADS)
copy_strided(int n, const float* in, int offset, int stride, float* out) {
    const int j = blockIdx.x * THREADS + threadIdx.x;
    const int to = VEC * j, from = offset + VEC * stride * j;
    if (to + VEC <= n)
        *reinterpret_cast<Vector*>(&out[to]) = *reinterpret_cast<const Vector*>(&in[from]);
    else
        for (int v = 0; to + v < n; ++v)       // the last vector is not whole
            out[to + v] = in[from + v];
}
