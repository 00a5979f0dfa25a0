// atomics_global.cu -- every atomic operation on global memory
//
// Computes  cells[k] = the operation k over all threads' values; claimed[] = each ticket once
// Idea      whole numbers, so that the order does not show
// Launch    grid 4, block 64
extern "C" __global__ void atomics_global(const int* x, int* cells, unsigned long long* wide, float* f, double* d, int* claimed, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int v = x[i];
    atomicAdd(&cells[0], v); atomicSub(&cells[1], v); atomicMin(&cells[2], v); atomicMax(&cells[3], v);
    atomicAnd(&cells[4], v | 0xff00); atomicOr(&cells[5], v & 0xffff); atomicXor(&cells[6], v);
    atomicInc((unsigned*)&cells[7], 50); atomicDec((unsigned*)&cells[8], 77);
    atomicAdd(&wide[0], (unsigned long long)v); atomicMax(&wide[1], (unsigned long long)(unsigned)v << 20);
    atomicAdd(&f[v & 3], (float)(v & 15)); atomicAdd(&d[v & 1], (double)v);
    claimed[atomicAdd(&cells[9], 1)] = 1;
    atomicExch(&claimed[n + i], v);
    int seen = cells[10], wanted;
    do {
        wanted = seen;
        seen = atomicCAS(&cells[10], wanted, wanted + (v & 1) + 1);
    } while (seen != wanted);
}
