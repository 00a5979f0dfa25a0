// bulk_add.cu -- two buffers go to global memory by bulk copies, which replace or add
//
// Computes  y = 2 x by copies, z += 2 x by cp.reduce.async.bulk, subnormal sums among them
// Idea      a thread waits until its copy of two rounds ago has read its buffer; stores, fence, barrier, copy
// Launch    grid 2, block 64
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void bulk_add(int tiles, const float* x, float* y, float* z) {
    __shared__ __align__(128) float buffer[2][128];
    const int t = threadIdx.x, first = blockIdx.x * tiles * 128;
    for (int i = 0; i < tiles; ++i) {
        float* b = buffer[i % 2];
        if (t == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();                       // the buffer is free
        for (int j = t; j < 128; j += 64) b[j] = 2 * x[first + 128 * i + j];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();                       // the buffer is full
        if (t == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(y + first + 128 * i), "r"(at(b)) : "memory");
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;"
                         ::"l"(z + first + 128 * i), "r"(at(b)) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
