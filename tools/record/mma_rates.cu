// mma_rates.cu -- matrix instructions alone, with all operands in registers: what mma.sync gives at most
//
// Computes  out[thread] = sum of all elements of SUMS accumulators after TURNS products each, of tiles filled with a and b
// Launch    any grid, block a multiple of 32 up to 512; KIND says which instruction; SUMS independent accumulators hide its latency
#ifndef KIND            // the launcher passes all three with -D, or none
#define KIND 3
#define SUMS 8
#define TURNS 2048
#endif
#define D4 "{%0,%1,%2,%3}"
#if KIND == 0           // bfloat16, two in a register
typedef float Sum;
typedef unsigned Operand;
#define STEP(c) asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " D4 ",{%4,%4,%4,%4},{%5,%5}," D4 ";" \
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b))
#elif KIND == 1         // TF32
typedef float Sum;
typedef unsigned Operand;
#define STEP(c) asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " D4 ",{%4,%4,%4,%4},{%5,%5}," D4 ";" \
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b))
#else                   // float64, by the depth of the tile
typedef double Sum;
typedef double Operand;
#if KIND == 2
#define STEP(c) asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" \
    : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b))
#elif KIND == 3
#define STEP(c) asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " D4 ",{%4,%4},{%5}," D4 ";" \
    : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a), "d"(b))
#elif KIND == 4
#define STEP(c) asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " D4 ",{%4,%4,%4,%4},{%5,%5}," D4 ";" \
    : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a), "d"(b))
#elif KIND == 5
#define STEP(c) asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 " D4 ",{%4,%4,%4,%4,%4,%4,%4,%4},{%5,%5,%5,%5}," D4 ";" \
    : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a), "d"(b))
#endif
#endif

extern "C" __global__ void __launch_bounds__(512) mma_rates(Operand a, Operand b, Sum* out) {
    Sum c[SUMS][4] = {}, all = 0;
    for (int turn = 0; turn < TURNS; ++turn)
#pragma unroll
        for (int n = 0; n < SUMS; ++n) STEP(c[n]);
    for (int n = 0; n < SUMS; ++n)
        for (int i = 0; i < 4; ++i) all += c[n][i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
}
