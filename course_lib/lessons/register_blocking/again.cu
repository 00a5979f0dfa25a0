// again.cu -- sgemm_2d_tile with 8 x 8 outputs per thread, which loads words of Bs again instead of keeping them in registers
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N]       row-major float32
// Idea      change one thing: how many words of shared memory a multiply-add needs; or, as often, add multiply-adds that nobody needs
// Launch    grid (N/128, M/128), block (16, 16)
// Shared    8192 bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     M and N are multiples of 128, K is a multiple of 8
// Lesson    notebooks/08_register_blocking.ipynb
#ifndef ROWS
#define ROWS 8        // after so many rows of outputs it happens again: 8 means never
#endif
#ifndef LOADS
#define LOADS 1       // 1: the eight words of Bs are loaded; 0: eight multiply-adds that nobody needs
#endif
#define BM 128        // elements of C per block
#define BN 128
#define BK 8
#define TM 8
#define TN 8

extern "C" __global__ void __launch_bounds__(256, 2)
again(int M, int N, int K, float alpha, const float* A, int lda, const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK], Bs[BK][BN];
    const volatile float (*a_words)[BK] = As;              // volatile: each read is a load of one word
    const volatile float (*b_words)[BN] = Bs;
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * (BN / TN) + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    float acc[TM][TN] = {}, more[TN] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = thread; e < BM * BK; e += 256)
            As[e / BK][e % BK] = A[(row0 + e / BK) * lda + k0 + e % BK];
        for (int e = thread; e < BK * BN; e += 256)
            Bs[e / BN][e % BN] = B[(k0 + e / BN) * ldb + col0 + e % BN];
        __syncthreads();                       // nobody reads before both tiles are complete

        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float b[TN];
            #pragma unroll
            for (int j = 0; j < TN; ++j)
                b[j] = b_words[k][tx + j * (BN / TN)];
            #pragma unroll
            for (int i = 0; i < TM; ++i) {
                const float a = a_words[ty + i * (BM / TM)][k];
                if (i > 0 && i % ROWS == 0) {
                    #pragma unroll
                    for (int j = 0; j < TN; ++j)
                        if (LOADS) b[j] = b_words[k][tx + j * (BN / TN)];
                        else asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(more[j]) : "f"(a), "f"(b[j]));
                }
                #pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a * b[j];
            }
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    float unused = 0.0f;
    for (int j = 0; j < TN; ++j)
        unused += more[j];
    if (unused == 1e30f) alpha = 0.0f;         // never: but the compiler does not know
    #pragma unroll
    for (int i = 0; i < TM; ++i)
        #pragma unroll
        for (int j = 0; j < TN; ++j)
            C[(row0 + ty + i * (BM / TM)) * ldc + col0 + tx + j * (BN / TN)] = alpha * acc[i][j];
}
