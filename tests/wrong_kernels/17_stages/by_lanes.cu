// by_lanes.cu -- the lanes multiply, and the tensor cores rest
//
// Part             main
// Must fail for    gate: multiply-adds by lanes
#define BM 32                    // a block of four warps computes BM x BN elements of C
#define BN 32
#define BK 16
#define STAGES 3
#define LDA (BK + 4)             // doubles from row to row: four rows of four doubles lie in 32 different banks
#define LDB (BN + 4)

// Start to copy a double to shared memory; a 0 where it is outside the matrix.
__device__ void copy_async(double* to, const double* from, bool inside) {
    const unsigned address = __cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(address), "l"(from), "r"(inside ? 8 : 0) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> __device__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory"); }

// d += a b. With g = lane / 4 and t = lane % 4 a lane holds, as (row, column):
//   a  16 x 8   (g, t)   (g + 8, t)    (g, t + 4)   (g + 8, t + 4)
//   b   8 x 8   (t, g)   (t + 4, g)
//   d  16 x 8   (g, 2t)  (g, 2t + 1)   (g + 8, 2t)  (g + 8, 2t + 1)
__device__ void mma(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

extern "C" __global__ void
staged(int M, int N, int K, double alpha, const double* A, int lda,
       const double* B, int ldb, double beta, double* C, int ldc) {
    const int thread = threadIdx.x, lane = thread % 32, g = lane / 4, t = lane % 4;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;          // of the block's tile of C
    const int warp_row = thread / 64 * 16, warp_col = thread / 32 % 2 * 16;      // of the warp's 16 x 16, in it
    double sum[2][4] = {};
    __shared__ double As[STAGES][BM][LDA], Bs[STAGES][BK][LDB];
    const auto fetch = [&](int step) {         // start the copies of a step into its stage; zeros where K has ended
        const int stage = step % STAGES, k0 = step * BK;
        for (int n = thread; n < BM * BK; n += 128) {
            const int i = n / BK, k = n % BK;
            copy_async(&As[stage][i][k], &A[(row0 + i) * lda + k0 + k], row0 + i < M && k0 + k < K);
        }
        for (int n = thread; n < BK * BN; n += 128) {
            const int k = n / BN, j = n % BN;
            copy_async(&Bs[stage][k][j], &B[(k0 + k) * ldb + col0 + j], k0 + k < K && col0 + j < N);
        }
        commit();
    };

    for (int step = 0; step < STAGES - 1; ++step) fetch(step);
    for (int step = 0; step * BK < K; ++step) {
        wait<STAGES - 2>();                    // this thread's copies of this step have arrived
        __syncthreads();                       // and those of all others; everyone has read the step before
        fetch(step + STAGES - 1);              // into the stage of the step before
        const int stage = step % STAGES;
        for (int k = 0; k < BK; ++k)
            for (int j = 0; j < 2; ++j)
                for (int e = 0; e < 4; ++e)
                    sum[j][e] += As[stage][warp_row + g + e / 2 * 8][k] * Bs[stage][k][warp_col + 8 * j + 2 * t + e % 2];
    }

    for (int j = 0; j < 2; ++j)
        for (int e = 0; e < 4; ++e) {
            const int row = row0 + warp_row + g + e / 2 * 8, col = col0 + warp_col + 8 * j + 2 * t + e % 2;
            if (row < M && col < N) {
                double* c = &C[row * ldc + col];
                *c = alpha * sum[j][e] + (beta == 0 ? 0 : beta * *c);
            }
        }
}
