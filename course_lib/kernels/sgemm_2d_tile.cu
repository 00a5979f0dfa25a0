// sgemm_2d_tile.cu -- one thread computes TM x TN elements of C
//
// Computes  C[M,N] = alpha * A[M,K] @ B[K,N] + beta * C[M,N]       row-major float32
// Idea      TM + TN elements, once in registers, serve TM * TN multiply-adds: an outer product for each k
// Launch    grid (ceil(N/BN), ceil(M/BM)), block (BN/TN, BM/TM)
// Shared    4 * (BM*BK + BK*BN) bytes per block
// Strides   lda, ldb, ldc: elements from one row to the next
// Edges     any M, N, K below 2^31 elements a matrix; tiles are filled up with 0, stores are guarded
// Lesson    notebooks/08_register_blocking.ipynb
#ifndef BM            // the launcher passes all five with -D, or none
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#endif
#define THREADS ((BN / TN) * (BM / TM))
static_assert(BM % TM == 0, "a column of the tile is divided among BM/TM threads");
static_assert(BN % TN == 0, "a row of the tile is divided among BN/TN threads");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");
static_assert(TM * TN <= 128, "a thread keeps its TM*TN sums in registers, of which it has 255");
static_assert(BM * BN <= 32768, "the sums of a block fill at most half of the 65536 registers it can have");
static_assert(4 * (BM * BK + BK * BN) <= 48 * 1024, "As and Bs share the 48 KiB of static shared memory of a block");

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_2d_tile(int M, int N, int K, float alpha, const float* A, int lda,
              const float* B, int ldb, float beta, float* C, int ldc) {
    __shared__ float As[BM][BK];
    __shared__ float Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int thread = ty * (BN / TN) + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;      // of the tile's corner in C
    float acc[TM][TN] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {       // slide both tiles along K
        for (int done = 0; done < BM * BK; done += THREADS)            // the threads fill As together, row by row
            if (const int e = done + thread; BM * BK % THREADS == 0 || e < BM * BK) {
                const int i = e / BK, k = e % BK;
                As[i][k] = row0 + i < M && k0 + k < K ? A[(row0 + i) * lda + k0 + k] : 0.0f;
            }
        for (int done = 0; done < BK * BN; done += THREADS)
            if (const int e = done + thread; BK * BN % THREADS == 0 || e < BK * BN) {
                const int k = e / BN, j = e % BN;
                Bs[k][j] = k0 + k < K && col0 + j < N ? B[(k0 + k) * ldb + col0 + j] : 0.0f;
            }
        __syncthreads();                       // nobody reads before both tiles are complete

        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            #pragma unroll                     // arrays are in registers only when their indices are known to the compiler
            for (int i = 0; i < TM; ++i)
                a[i] = As[ty + i * (BM / TM)][k];
            #pragma unroll
            for (int j = 0; j < TN; ++j)
                b[j] = Bs[k][tx + j * (BN / TN)];      // neighbouring lanes, neighbouring banks
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();                       // nobody overwrites before all have read
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i)               // the thread's rows lie BM/TM apart, its columns BN/TN
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + ty + i * (BM / TM), col = col0 + tx + j * (BN / TN);
            if (row < M && col < N) {
                float* c = &C[row * ldc + col];
                *c = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *c);   // beta 0: C is not read, so NaN there does no harm
            }
        }
}
