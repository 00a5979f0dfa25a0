// crc32.cu -- a checksum of each row of bytes
//
// Computes  sums[i] = CRC-32 of bytes[i][0 .. length[i])
// Idea      a table in shared memory, looked up by data
// Launch    grid 2, block 64; 256 words of shared memory
extern "C" __global__ void crc32(int rows, int pitch, const int* length, const unsigned char* bytes, unsigned* sums) {
    __shared__ unsigned table[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
        unsigned r = k;
        for (int j = 0; j < 8; ++j)
            r = r & 1 ? r >> 1 ^ 0xEDB88320u : r >> 1;
        table[k] = r;
    }
    __syncthreads();                           // the table is complete
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    unsigned sum = ~0u;
    for (int k = 0; k < length[i]; ++k)
        sum = table[(sum ^ bytes[i * pitch + k]) & 255] ^ sum >> 8;
    sums[i] = ~sum;
}
