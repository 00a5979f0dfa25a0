// nbody.cu -- forces between bodies
//
// Computes  acceleration of each body, softened
// Idea      a tile of bodies in shared memory, read by all lanes at once, 16 bytes each
// Launch    grid ceil(n/64), block 64
extern "C" __global__ void nbody(int n, const float4* body, float4* force) {
    __shared__ float4 tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float4 me = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float4 sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += 64) {
        tile[threadIdx.x] = first + threadIdx.x < n ? body[first + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();                       // the tile is complete
        for (int k = 0; k < 64; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            const float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
            const float s = other.w / (r2 * sqrtf(r2));
            sum.x += dx * s;
            sum.y += dy * s;
            sum.z += dz * s;
            sum.w += s;
        }
        __syncthreads();                       // all have read it
    }
    if (i < n) force[i] = sum;
}
