// generic_pointers.cu -- one pointer to several memories
//
// Computes  y[i] = sum of four numbers that lie in global, shared, local or constant memory
// Idea      lanes of one warp read from different spaces through one instruction
// Launch    grid 2, block 64
__constant__ int table[4] = {1000, 2000, 3000, 4000};

__device__ __noinline__ int total(const int* p, int step) { return p[0] + p[step] + p[2 * step] + p[3 * step]; }

extern "C" __global__ void generic_pointers(int n, const int* x, int* y) {
    __shared__ int tile[64 * 4];
    const int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x;
    for (int k = 0; k < 4; ++k) tile[k * 64 + t] = x[i] * k;
    __syncthreads();                           // the tile is complete
    int mine[4] = {t, t * t, -t, i};
    const int* p = tile + (63 - t);
    int step = 64;
    if (i % 4 == 1) p = x + i, step = n;
    if (i % 4 == 2) p = mine, step = 1;
    if (i % 4 == 3) p = table, step = 1;
    y[i] = total(p, step);
    int* q = i & 1 ? y + 128 + i : &tile[t];
    *q += total(mine, 1);
    __syncthreads();                           // all have changed their place
    y[256 + i] = tile[t];
}
