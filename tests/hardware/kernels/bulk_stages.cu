// bulk_stages.cu -- one thread copies tiles ahead by cp.async.bulk, 64 threads use them
//
// Computes  y = 3 x, reversed within each tile of 128
// Idea      an mbarrier per buffer says "full" when its bytes have come, another "empty" when all have read it
// Launch    grid 2, block 96
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(const void* bar, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}

extern "C" __global__ void bulk_stages(int tiles, const int* x, int* y) {
    __shared__ __align__(128) int buffer[3][128];
    __shared__ unsigned long long full[3], empty[3];
    const int t = threadIdx.x, first = blockIdx.x * tiles * 128;
    if (t == 0) {
        for (int s = 0; s < 3; ++s) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(at(&empty[s])) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();                           // nobody uses an mbarrier before it is made
    if (t == 0) {
        for (int i = 0; i < tiles; ++i) {
            const int s = i % 3;
            wait(&empty[s], (i / 3 & 1) ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(at(&full[s])) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                         ::"r"(at(buffer[s])), "l"(x + first + 128 * i), "r"(at(&full[s])) : "memory");
        }
    } else if (t >= 32) {
        for (int i = 0; i < tiles; ++i) {
            const int s = i % 3;
            wait(&full[s], i / 3 & 1);
            for (int j = t - 32; j < 128; j += 64) y[first + 128 * i + j] = 3 * buffer[s][127 - j];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[s])) : "memory");
        }
    }
}
