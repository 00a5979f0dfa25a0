// wgmma_layouts.cu -- which byte of shared memory a matrix descriptor leads to: each element of A is fetched by a product with 1
//
// Computes  D[64,8] whose column k (of 8) is column 8 * half + k of A: B is a unit matrix; A's elements are their own places
// Idea      any descriptor may be tried: start, offsets, base offset, swizzle and transposition come as arguments
// Launch    grid of the descriptors, block 128, dynamic shared memory 32768 bytes
typedef unsigned long long u64;

template <int TRANSPOSED>
__device__ void multiply(float (&d)[4], u64 a, u64 b) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, %6, 0; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "n"(TRANSPOSED));
}

extern "C" __global__ void __launch_bounds__(128) wgmma_layouts(const u64* descriptors, const int* transposed, const unsigned short* image, float* D) {
    extern __shared__ __align__(1024) unsigned short stored[];      // 30 KiB that A may lie in, and B behind them
    const int t = threadIdx.x;
    for (int i = t; i < 15360; i += 128) stored[i] = image[i];
    const unsigned base = (unsigned)__cvta_generic_to_shared(stored);
    const u64 unit = (base + 30720) >> 4 | 128ull >> 4 << 16 | 128ull >> 4 << 32;
    const u64 a = descriptors[blockIdx.x] + (base >> 4);            // its start counts from the first stored byte
    for (int half = 0; half < 2; ++half) {
        stored[15360 + t] = t / 64 == half && t % 64 / 8 == t % 8 ? 0x3c00 : 0;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();                       // B is there
        float d[4] = {};
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        if (transposed[blockIdx.x]) multiply<1>(d, a, unit);
        else multiply<0>(d, a, unit);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        for (int i = 0; i < 4; ++i) D[((blockIdx.x * 2 + half) * 128 + t) * 4 + i] = d[i];
        __syncthreads();                       // all have read B
    }
}
