// epilogue.cu -- y[128 * tile + i] = x[128 * tile + 127 - i], by way of a tile in shared memory that bulk copies empty
//
// Launch    grid any, block 128
extern "C" __global__ void __launch_bounds__(128)
epilogue(int tiles, const float* x, float* y) {
    __shared__ __align__(16) float out[128];
    const unsigned from = (unsigned)__cvta_generic_to_shared(out);
    const int i = threadIdx.x;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const float value = x[128 * tile + 127 - i];         // in a matrix product: the sums of a tile
        if (i == 0)
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");       // the tile before has left `out`
        out[i] = value;
        __syncthreads();                                     // the tile is complete
        if (i == 0) {
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(y + 128 * tile), "r"(from) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
    }
    if (i == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
