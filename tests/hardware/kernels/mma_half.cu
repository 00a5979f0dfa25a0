// mma_half.cu -- 16 x 8 x 16 products by mma.sync, operands by ldmatrix
//
// Computes  C[16,8 per block] = A[16,K] @ B[K,8 N-tiles], half in, float out, K a multiple of 16
// Idea      a warp holds the tile in pieces; ldmatrix deals them out
// Launch    grid N/8, block 32
#include <cuda_fp16.h>

extern "C" __global__ void mma_half(int N, int K, const __half* A, const __half* B, float* C) {
    __shared__ __align__(16) __half As[16][16], Bs[16][8];
    const int lane = threadIdx.x, col0 = blockIdx.x * 8;
    float c[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int k = lane; k < 256; k += 32) As[k / 16][k % 16] = A[k / 16 * K + k0 + k % 16];
        for (int k = lane; k < 128; k += 32) Bs[k / 8][k % 8] = B[(k0 + k / 8) * N + col0 + k % 8];
        __syncwarp();                          // both tiles are complete
        unsigned a[4], b[2];
        const unsigned at_a = (unsigned)__cvta_generic_to_shared(&As[lane % 16][lane / 16 * 8]);
        const unsigned at_b = (unsigned)__cvta_generic_to_shared(&Bs[lane % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at_a));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(at_b));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        __syncwarp();                          // all have read them
    }
    const int row = lane / 4, col = col0 + lane % 4 * 2;
    C[row * N + col] = c[0];
    C[row * N + col + 1] = c[1];
    C[(row + 8) * N + col] = c[2];
    C[(row + 8) * N + col + 1] = c[3];
}
