// wgmma_sums.cu -- one product of a warpgroup for each block: how its sums are rounded, and whether scale-d, signs and types do as we say
//
// Computes  D[64,8] = A[64,32 bytes] @ B[8,32 bytes]^T + C of each case; the -D option FORM names the instruction
// Idea      operands come without a swizzle: 8 rows of 16 bytes are a block
// Launch    grid of the cases, block 128
#ifndef FORM
#define FORM "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16"
#define LITERALS ", 1, 1, 0, 0"
#define REGISTERS 4
#endif
typedef unsigned long long u64;

__device__ u64 descriptor(const void* at, u64 leading) {
    const u64 address = (unsigned)__cvta_generic_to_shared(at);
    return address >> 4 | leading >> 4 << 16 | 128ull >> 4 << 32;
}

extern "C" __global__ void __launch_bounds__(128) wgmma_sums(const uint4* A, const uint4* B, const unsigned* C, unsigned* D, int accumulate) {
    __shared__ __align__(128) uint4 a[128], b[16];
    const int t = threadIdx.x, at = (blockIdx.x * 128 + t) * REGISTERS;
    a[t] = A[blockIdx.x * 128 + t];
    if (t < 16) b[t] = B[blockIdx.x * 16 + t];
    unsigned d[4];
    for (int i = 0; i < REGISTERS; ++i) d[i] = C[at + i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();                           // both operands are there
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#if REGISTERS == 4
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0; " FORM " {%0, %1, %2, %3}, %4, %5, p" LITERALS "; }"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(descriptor(a, 1024)), "l"(descriptor(b, 128)), "r"(accumulate));
#else
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; " FORM " {%0, %1}, %2, %3, p" LITERALS "; }"
                 : "+r"(d[0]), "+r"(d[1]) : "l"(descriptor(a, 1024)), "l"(descriptor(b, 128)), "r"(accumulate));
#endif
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < REGISTERS; ++i) D[at + i] = d[i];
}
