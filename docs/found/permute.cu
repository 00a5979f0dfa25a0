// permute.cu -- reorders the 64 elements of each row in place: row[j] becomes row[order[j]]; order has numbers 0 ... 63
//
// Launch    grid ceil(rows / 64), block 64: one thread a row
extern "C" __global__ void
permute(int rows, const int* order, float* x) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= rows)
        return;
    float* row = &x[thread * 64];
    float copy[64], next[16];
    #pragma unroll 1
    for (int round = 0; round <= 4; ++round) {   // loads run one round ahead of what is done with them
        for (int k = 0; k < 16; ++k)
            copy[(round - 1) * 16 + k] = next[k];
        if (round < 4)
            for (int k = 0; k < 16; ++k)
                next[k] = row[round * 16 + k];
    }
    for (int j = 0; j < 64; ++j)
        row[j] = copy[order[j]];
}
