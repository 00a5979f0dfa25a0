// coalescing.cu -- copies with stride 1 that differ in one thing each, for python -m tools record coalescing
//
// Computes  out = in, or in from OFFSET on                                             float32
// Launch    grid (n / floats per block), block (256): a thread moves VEC * LOADS floats; n is a multiple of what a block moves
#ifndef VEC
#define VEC 1           // floats of one load
#define LOADS 1         // loads of a thread
#define TOGETHER 1      // 1: all loads before the first store. 0: one load and its store after another
#define OFFSET 0
#endif
struct alignas(4 * VEC) Vector { float x[VEC]; };

extern "C" __global__ void __launch_bounds__(256) copy_loads(const float* in, float* out) {
    const Vector* from = reinterpret_cast<const Vector*>(in);
    Vector* to = reinterpret_cast<Vector*>(out);
    const int j = blockIdx.x * 256 * LOADS + threadIdx.x;
#if TOGETHER
    Vector v[LOADS];
    #pragma unroll
    for (int i = 0; i < LOADS; ++i) v[i] = from[j + 256 * i];
    #pragma unroll
    for (int i = 0; i < LOADS; ++i) to[j + 256 * i] = v[i];
#else
    #pragma unroll 1
    for (int i = 0; i < LOADS; ++i) to[j + 256 * i] = from[j + 256 * i];
#endif
}

// Four loads of 32 bits with stride 4 each, and one store of 128 bits: the sectors of a request as with VEC = 4, four times as many requests.
extern "C" __global__ void __launch_bounds__(256) copy_quads(const float* in, float* out) {
    const int j = blockIdx.x * 256 + threadIdx.x;
    const float a = in[4 * j], b = in[4 * j + 1], c = in[4 * j + 2], d = in[4 * j + 3];
    reinterpret_cast<float4*>(out)[j] = make_float4(a, b, c, d);
}

// ld.global.cg: the L1 keeps nothing, so that the fifth sector of a shifted request is fetched twice.
extern "C" __global__ void __launch_bounds__(256) copy_past_l1(const float* in, float* out) {
    const int j = blockIdx.x * 256 + threadIdx.x;
    out[j] = __ldcg(&in[OFFSET + j]);
}
