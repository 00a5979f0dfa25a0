// dgemm_padded.cu -- double precision, A transposed in a padded tile
//
// Computes  C[M,N] = A[M,K] @ B[K,N]
// Idea      8-byte elements: two phases a request; the padding spreads the columns of A
// Launch    grid (ceil(N/16), ceil(M/16)), block (16, 16)
extern "C" __global__ void dgemm_padded(int M, int N, int K, const double* A, const double* B, double* C) {
    __shared__ double At[16][17], Bs[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    double sum = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        At[tx][ty] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0;
        __syncthreads();                       // both tiles are complete
        for (int k = 0; k < 16; ++k) sum += At[k][ty] * Bs[k][tx];
        __syncthreads();                       // all have read them
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
