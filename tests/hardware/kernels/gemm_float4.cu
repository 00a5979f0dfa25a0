// gemm_float4.cu -- 4 x 4 elements a thread, 16 bytes a load
//
// Computes  C[M,N] = A[M,K] @ B[K,N], M and N multiples of 64, K of 16
// Idea      float4 from global memory to shared, from shared to registers, from registers to global
// Launch    grid (N/64, M/64), block 256
extern "C" __global__ void __launch_bounds__(256)
gemm_float4(int M, int N, int K, const float* A, const float* B, float* C) {
    __shared__ __align__(16) float As[16][64 + 4], Bs[16][64];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float4 sum[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        const float4 a = *reinterpret_cast<const float4*>(&A[(row0 + t / 4) * K + k0 + t % 4 * 4]);
        const int k = t % 4 * 4;
        As[k][t / 4] = a.x, As[k + 1][t / 4] = a.y, As[k + 2][t / 4] = a.z, As[k + 3][t / 4] = a.w;
        *reinterpret_cast<float4*>(&Bs[ty][tx * 4]) = *reinterpret_cast<const float4*>(&B[(k0 + ty) * N + col0 + tx * 4]);
        __syncthreads();                       // both tiles are complete
#pragma unroll 4
        for (int p = 0; p < 16; ++p) {
            const float4 l = *reinterpret_cast<const float4*>(&As[p][ty * 4]), r = *reinterpret_cast<const float4*>(&Bs[p][tx * 4]);
            const float rows[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
                sum[i].x += rows[i] * r.x, sum[i].y += rows[i] * r.y, sum[i].z += rows[i] * r.z, sum[i].w += rows[i] * r.w;
        }
        __syncthreads();                       // all have read them
    }
    for (int i = 0; i < 4; ++i)
        *reinterpret_cast<float4*>(&C[(row0 + ty * 4 + i) * N + col0 + tx * 4]) = sum[i];
}
