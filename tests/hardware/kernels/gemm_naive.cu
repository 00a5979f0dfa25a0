// gemm_naive.cu -- one thread per element of C, whole numbers
//
// Computes  C[M,N] = A[M,K] @ B[K,N], int8 in, int32 out
// Idea      the three loops, two of them made of threads
// Launch    grid (ceil(N/16), ceil(M/16)), block (16, 16)
extern "C" __global__ void gemm_naive(int M, int N, int K, const signed char* A, const signed char* B, int* C) {
    const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    int sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
