// philox.cu -- random numbers out of a counter
//
// Computes  out[4 i + j] = word j of Philox-4x32-10 with counter i and the given key
// Idea      no state: thread i makes the i-th number directly
// Launch    one thread per counter, blocks of 64
extern "C" __global__ void philox(int n, unsigned key0, unsigned key1, uint4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 c = make_uint4(i, 0, 0x1234, 0x5678);
    for (int round = 0; round < 10; ++round) {
        const unsigned hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
        const unsigned hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
        c = make_uint4(hi1 ^ c.y ^ key0, lo1, hi0 ^ c.w ^ key1, lo0);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    out[i] = c;
}
