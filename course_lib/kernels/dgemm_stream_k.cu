// dgemm_stream_k.cu -- float64 on tensor cores, and every multiprocessor gets as much to do as every other
//
// Computes  C[M,N] = alpha * op(A) @ op(B) + beta * C[M,N]         row-major float64; op transposes a matrix or leaves it
// Idea      whole tiles as long as there is one for every block; the rest is shared out in steps of BK, and who ends a tile adds it up
// Launch    any grid (blocks), started in the order of their numbers; block (32 * BM/WM * BN/WN * SLICES): a warp has WM/8 x WN/16 tiles of 8 x 16
// Shared    8 * STAGES * (op(A)'s and op(B)'s tiles) bytes per block, dynamic; partial: BM*BN doubles, ready: one int (0), per block
// Strides   lda, ldb, ldc: elements from one row to the next, of A as it is stored: K x M when TRANSA is 1, and B N x K
// Edges     any M, N, K below 2^31 elements a matrix, with WIDE 2 rows of even length and of 16-byte alignment; CC 9.0 and up
// Lesson    notebooks/19_busy.ipynb      Next  none
#ifndef BM            // the launcher passes all eleven with -D, or none
#define BM 128
#define BN 128
#define BK 16
#define WM 64
#define WN 32
#define SLICES 1
#define STAGES 4
#define WIDE 1
#define RESIDENT 1
#define TRANSA 0
#define TRANSB 0
#endif
#define WARPS ((BM / WM) * (BN / WN))
#define THREADS (32 * WARPS * SLICES)
#define ROWS (WM / 8)        // tiles of a warp along the rows of C
#define COLS (WN / 16)       // and along the columns
#define LDA (TRANSA ? BM + 4 : BK + 8)       // doubles from one row of As to the next, and of Bs: no bank conflicts
#define LDB (TRANSB ? BK + 4 : BN + 2)
#define AS (TRANSA ? BK * LDA : BM * LDA)    // doubles of a tile
#define BS (TRANSB ? BN * LDB : BK * LDB)
#define PAIRS (BK / 8 / SLICES)              // groups of 8 k of a slice in a step
static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles fill the block tile");
static_assert(WM % 8 == 0 && WN % 16 == 0, "the instruction multiplies 16 x 8 by 8 x 8");
static_assert(BK % (16 * SLICES) == 0, "a slice has an even number of groups of 8 k, as it has two sets of registers for B");
static_assert(WIDE == 1 || WIDE == 2, "a copy brings 8 or 16 bytes");
static_assert(STAGES >= 2, "one stage is used while another is filled");
static_assert(STAGES * (AS + BS) >= (SLICES > 1 ? BM * BN : 0), "a slice's sums fit where the tiles were");

#include "async.cuh"
#include "stream_k.cuh"

// Copy H x W doubles to a tile with LD doubles a row. p: the first of them; `rows` x `cols` of them are inside.
// One comparison a copy and no branch: so the copies can lie among the products, and the edges cost what the middle does.
template <int H, int W, int LD>
__device__ __forceinline__ void copy_tile(unsigned tile, const double* p, int ld, int rows, int cols) {
    constexpr int ALONG = THREADS < W / WIDE ? THREADS : W / WIDE, STEP = THREADS / ALONG;
    static_assert(H % STEP == 0 && W / WIDE % ALONG == 0, "all threads copy as many");
    const int i = threadIdx.x / ALONG, j = threadIdx.x % ALONG * WIDE;
    const size_t step = (size_t)STEP * ld;
    p += (size_t)i * ld + j, tile += 8 * (i * LD + j);
    for (int n = 0; n < H; n += STEP, p += step)
        for (int m = 0; m < W; m += WIDE * ALONG)
            copy_async<8 * WIDE>(tile + 8 * (n * LD + m), p + m, n < (j + m < cols ? rows - i : 0));
}

// Do `what` for each sum of a thread, with where it lies from the thread's first one on.
template <typename F>
__device__ __forceinline__ void each(double (&c)[ROWS][COLS][4], F what) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        for (int n = 0; n < COLS; ++n)
            for (int h = 0; h < 4; ++h) what(c[r][n][h], ((r * COLS + n) * 4 + h) * 32 * WARPS);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
dgemm_stream_k(int M, int N, int K, double alpha, const double* __restrict__ A, int lda, const double* __restrict__ B, int ldb,
               double beta, double* __restrict__ C, int ldc, double* partial, int* ready) {
    extern __shared__ __align__(16) double shared[];         // STAGES times As and Bs
    const unsigned shared_at = __cvta_generic_to_shared(shared);
    const int t = threadIdx.x, slice = t / (32 * WARPS), thread = t % (32 * WARPS), block = blockIdx.x, blocks = gridDim.x;
    const int g = t % 32 / 4, q = t % 4;       // of the instruction: lane 4g + q
    const int first_row = thread / 32 / (BN / WN) * WM, first_col = thread / 32 % (BN / WN) * WN;      // of the warp, in the tile

    // Whole waves of tiles first, one tile per block and wave; the steps of the other tiles are shared out evenly.
    const auto [tiles_n, tiles, steps, waves, whole_tiles, units] = split(M, N, K, blocks);
    const Share share{units, blocks};          // share(who): where a block's share begins
    const int begin = share(block);
    int end = share(block + 1);

    for (int wave = 0; wave < waves || begin < end; ++wave) {
        int tile = wave * blocks + block, first = 0, last = steps;      // steps first <= s < last of this tile are ours
        if (wave >= waves) {                   // from the end of the share to its begin: nobody waits for somebody who waits
            const int n = (end - 1) / steps;
            tile = whole_tiles + n, first = max(begin - n * steps, 0), last = end - n * steps, end = n * steps + first;
        }
        const int2 at = place(tile, tiles, tiles_n);                    // row and column
        const int block_row = at.x, block_col = at.y;
        double c[ROWS][COLS][4] = {}, a[ROWS][2], b[2][COLS][4];
        const double* next_a = TRANSA ? A + (size_t)first * BK * lda + block_row : A + (size_t)block_row * lda + first * BK;
        const double* next_b = TRANSB ? B + (size_t)block_col * ldb + first * BK : B + (size_t)first * BK * ldb + block_col;
        int left = K - first * BK, to_fetch = last - first;
        unsigned into = shared_at;
        const auto fetch = [&] {               // the next step's tiles are under way from here on; zeros after the last
            const int inside = to_fetch-- > 0 ? left : 0;
            if (TRANSA) copy_tile<BK, BM, LDA>(into, next_a, lda, inside, M - block_row);
            else copy_tile<BM, BK, LDA>(into, next_a, lda, M - block_row, inside);
            if (TRANSB) copy_tile<BN, BK, LDB>(into + 8 * AS, next_b, ldb, N - block_col, inside);
            else copy_tile<BK, BN, LDB>(into + 8 * AS, next_b, ldb, inside, N - block_col);
            next_a += TRANSA ? (size_t)BK * lda : BK, next_b += TRANSB ? BK : (size_t)BK * ldb, left -= BK;
            into = into == shared_at + 8 * (STAGES - 1) * (AS + BS) ? shared_at : into + 8 * (AS + BS);
            asm volatile("cp.async.commit_group;");
        };
        // Lane q takes k = 2q and 2q + 1 of eight, lane g the columns 2g and 2g + 1 of sixteen. The instruction names them otherwise;
        // any order is right that A, B and C have in common, and with this one two doubles lie side by side.
        int stage = 0;                         // doubles to the stage that is used
        const auto load_a = [&](int k, int r) {
            const double* As = shared + stage + (TRANSA ? 2 * q * LDA + first_row + g : (first_row + g) * LDA + 2 * q);
            const double* p = As + (TRANSA ? k * LDA + 8 * r : 8 * r * LDA + k);
            const double2 v = TRANSA ? make_double2(p[0], p[LDA]) : *reinterpret_cast<const double2*>(p);
            a[r][0] = v.x, a[r][1] = v.y;
        };
        const auto load_b = [&](int k, int which) {
            const double* Bs = shared + AS + stage + (TRANSB ? (first_col + 2 * g) * LDB + 2 * q : 2 * q * LDB + first_col + 2 * g);
            const double* p = Bs + (TRANSB ? k : k * LDB);
            for (int n = 0; n < COLS; ++n)
                for (int h = 0; h < 2; ++h) {
                    const double* w = p + (TRANSB ? 16 * n * LDB + h : h * LDB + 16 * n);
                    const double2 v = TRANSB ? make_double2(w[0], w[LDB]) : *reinterpret_cast<const double2*>(w);
                    b[which][n][2 * h] = v.x, b[which][n][2 * h + 1] = v.y;
                }
        };
        const auto arrived = [] {              // the oldest stage is complete
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
            __syncthreads();                   // nobody reads before all copies are there, nor overwrites before all have read
        };

        for (int s = 1; s < STAGES; ++s) fetch();
        arrived();
        load_b(8 * slice, 0);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) load_a(8 * slice, r);
        for (int s = first; s < last; ++s)
#pragma unroll
            for (int n8 = 0; n8 < PAIRS; ++n8) {
                const int next = ((n8 + 1) % PAIRS * SLICES + slice) * 8;
                if (n8 == PAIRS - 1) {
                    stage = stage == (STAGES - 1) * (AS + BS) ? 0 : stage + AS + BS;
                    arrived();
                }
                load_b(next, (n8 + 1) % 2);    // while the products go on
                if (n8 == 0) fetch();
#pragma unroll
                for (int r = 0; r < ROWS; ++r) {
                    for (int n = 0; n < COLS; ++n) {
                        double(&x)[4] = c[r][n], (&y)[4] = b[n8 % 2][n], (&z)[2] = a[r];
                        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                            : "+d"(x[0]), "+d"(x[1]), "+d"(x[2]), "+d"(x[3]) : "d"(y[0]), "d"(y[1]), "d"(y[2]), "d"(y[3]), "d"(z[0]), "d"(z[1]));
                    }
                    load_a(next, r);           // a row's registers are free again
                }
            }
        asm volatile("cp.async.wait_all;");
        __syncthreads();                       // nobody fills a stage before all have read

        double* sums = shared + thread;
        for (int other = 1; other < SLICES; ++other) {       // the slices' sums meet in shared memory
            if (slice == other) each(c, [&](double& x, int at) { sums[at] = x; });
            __syncthreads();                   // nobody reads before the sums are there
            if (slice == 0) each(c, [&](double& x, int at) { x += sums[at]; });
            __syncthreads();                   // nobody overwrites before they are read
        }
        if (last < steps) {                    // a later block ends this tile: leave our sums to it
            double* mine = partial + (size_t)block * BM * BN + thread;
            if (slice == 0) each(c, [&](double& x, int at) { __stcg(&mine[at], x); });
            tell(ready, block);
            continue;
        }
        int who = block;                       // the first block that has a part of this tile
        while (first > 0 && share(who) > (tile - whole_tiles) * steps) --who;
        for (; who < block; ++who) {           // in this order always: the same bits each time
            await(ready, who);
            const double* theirs = partial + (size_t)who * BM * BN + thread;
            if (slice == 0) each(c, [&](double& x, int at) { x += __ldcg(&theirs[at]); });
        }
        if (slice > 0) continue;
        const int rows = M - block_row - first_row - 2 * q, cols = N - block_col - first_col - 2 * g;     // inside, from the lane's first on
        double* out = C + (size_t)(block_row + first_row + 2 * q) * ldc + block_col + first_col + 2 * g;
#pragma unroll
        for (int r0 = 0; r0 < ROWS; r0 += 4) {
            double old[4][COLS][2][2] = {};    // all of four rows are asked for before the first is used; beta 0: C is not read
#pragma unroll
            for (int store = 0; store < 2; ++store)
                for (int r = r0; r < min(r0 + 4, ROWS); ++r)
                    for (int n = 0; n < COLS; ++n)
                        for (int h = 0; h < 2; ++h)
                            for (int j = 0; j < 2; j += WIDE) {
                                double *at = &out[(size_t)(8 * r + h) * ldc + 16 * n + j], *o = &old[r - r0][n][h][j];
                                if (8 * r + h >= rows || 16 * n + j >= cols) continue;
                                if (!store && beta != 0) move<WIDE>(o, at);
                                for (int w = 0; w < WIDE && store; ++w) o[w] = alpha * c[r][n][h + 2 * (j + w)] + beta * o[w];
                                if (store) move<WIDE>(at, o);
                            }
        }
    }
}
