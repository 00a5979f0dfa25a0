// setmaxnreg_order.cu -- do two warpgroups wait for the registers that the third gives back?
//
// Computes  order[3]: as which of the three each warpgroup came past its setmaxnreg
// Launch    one block of 384 threads, which begin with 168 registers each
extern "C" __global__ void __launch_bounds__(384, 1) setmaxnreg_order(int* order, const int* wait) {
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();                           // everybody counts from 0
    const int group = threadIdx.x / 128;
    if (group == 2) {
        const long long start = clock64();
        while (clock64() - start < *wait) {}   // the others have come to their instruction
        if (threadIdx.x % 128 == 0) order[group] = atomicAdd(&next, 1);
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        if (threadIdx.x % 128 == 0) order[group] = atomicAdd(&next, 1);
    }
}
