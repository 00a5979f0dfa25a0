// probe.cu -- a small kernel whose answer shows that a GPU works
//
// Computes  y[i] = 3 * x[j] + i, where j is i's mirror image within its block; x is 0 beyond its end
// Idea      global memory, shared memory and a barrier must all work for this answer
// Launch    grid (ceil(n/128)), block (128)
// Shared    512 bytes per block
// Edges     any n
extern "C" __global__ void __launch_bounds__(128)
probe(int n, const float* x, float* y) {
    __shared__ float slot[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    slot[threadIdx.x] = i < n ? 3.0f * x[i] : 0.0f;
    __syncthreads();                           // every slot is written before its mirror image reads it
    if (i < n) y[i] = slot[127 - threadIdx.x] + i;
}
