// warp_votes.cu -- votes, matches and reductions of a warp
//
// Computes  a row per function over the keys
// Idea      one instruction asks all 32 lanes; some with only part of the warp
// Launch    grid 2, block 64
extern "C" __global__ void warp_votes(int n, const int* keys, unsigned* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int key = keys[i];
    int k = 0;
    auto put = [&](unsigned value) { out[k++ * n + i] = value; };
    put(__ballot_sync(~0u, key & 1)); put(__any_sync(~0u, key == 3)); put(__all_sync(~0u, key < 100)); put(__uni_sync(~0u, key & 64));
    put(__match_any_sync(~0u, key));
    int all;
    put(__match_all_sync(~0u, key / 1000, &all)); put(all);
    put(__reduce_add_sync(~0u, key)); put(__reduce_min_sync(~0u, key)); put(__reduce_max_sync(~0u, (unsigned)key));
    put(__reduce_and_sync(~0u, key)); put(__reduce_or_sync(~0u, key)); put(__reduce_xor_sync(~0u, key));
    unsigned part = 7;
    if (key & 2) part = __ballot_sync(__activemask(), key & 1) ^ __popc(__activemask());
    __syncwarp();
    put(part);
}
