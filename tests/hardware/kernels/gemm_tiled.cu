// gemm_tiled.cu -- square tiles in shared memory
//
// Computes  C[M,N] = A[M,K] @ B[K,N]
// Idea      each element that is loaded serves 16 threads
// Launch    grid (ceil(N/16), ceil(M/16)), block (16, 16)
extern "C" __global__ void gemm_tiled(int M, int N, int K, const float* A, const float* B, float* C) {
    __shared__ float As[16][16], Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();                       // both tiles are complete
        for (int k = 0; k < 16; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();                       // all have read them
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
