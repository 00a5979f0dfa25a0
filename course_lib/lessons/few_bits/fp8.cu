// fp8.cu -- a product of E4M3 by a warpgroup, with fresh sums every so many terms
//
// Computes  C[64,8] = A[64,K] @ B[8,K]^T, A and B rounded to E4M3                row-major float32
// Idea      with factors of 8 bits a tensor core keeps few digits of its sums; float32 additions in between keep more
// Launch    grid 1, block 128: the four warps of a warpgroup
// Shared    2304 bytes: 32 columns of A and of B
// Edges     K a multiple of TERMS, TERMS of 32; compile for sm_90a
// Lesson    notebooks/20_few_bits.ipynb
#ifndef TERMS
#define TERMS 128
#endif
typedef unsigned long long u64;
static_assert(TERMS % 32 == 0, "an instruction is 32 deep");

// Where a matrix lies whose pieces of 8 rows by 16 bytes are blocks; `leading` bytes are from 16 columns to the next 16.
__device__ u64 descriptor(const void* at, u64 leading) {
    return (unsigned)__cvta_generic_to_shared(at) >> 4 | leading >> 4 << 16 | 128ull >> 4 << 32;
}

// Round 32 columns of `rows` rows to E4M3, two at a time, and lay them out in blocks.
__device__ void fetch(unsigned short* to, const float* from, int rows, int K, int k0) {
    for (int n = threadIdx.x; n < rows * 16; n += blockDim.x) {
        const int row = n / 16, k = n % 16 * 2;
        unsigned short pair;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(from[row * K + k0 + k + 1]), "f"(from[row * K + k0 + k]));
        to[(k / 16 * (rows / 8) + row / 8) * 64 + row % 8 * 8 + k % 16 / 2] = pair;
    }
}

extern "C" __global__ void __launch_bounds__(128) fp8(int K, const float* A, const float* B, float* C) {
    __shared__ __align__(128) unsigned short a[64 * 16], b[8 * 16];
    const int t = threadIdx.x;
    float c[4] = {};
    for (int k0 = 0; k0 < K; k0 += TERMS) {
        float d[4] = {};                       // of the tensor core
        for (int k = k0; k < k0 + TERMS; k += 32) {
            fetch(a, A, 64, K, k);
            fetch(b, B, 8, K, k);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();                   // both operands are there
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a, 1024)), "l"(descriptor(b, 128)));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            __syncthreads();                   // the product has read them
        }
        for (int i = 0; i < 4; ++i) c[i] += d[i];          // in float32
    }
    for (int i = 0; i < 4; ++i) C[(t / 32 * 16 + t % 32 / 4 + i / 2 * 8) * 8 + t % 4 * 2 + i % 2] = c[i];
}
