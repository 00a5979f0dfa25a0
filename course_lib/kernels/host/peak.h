// peak.h -- the two roofs of a CPU: multiply-adds that wait for nothing, and reading that computes almost nothing
//
// Computes  multiply_add: n times CHAINS independent vectors x*a + b;  read_all: times the sum of n elements
// Idea      a multiply-add takes some 4 cycles, and 2 to 4 can begin in each: at least 8 to 16 must be under way, so CHAINS is 12 or 24
// Vectors   of VB bytes; with few registers 24 of them do not fit, so both numbers of chains are tried
// Lesson    notebooks/02_cpu.ipynb
#include <string.h>
#ifndef REAL
#define REAL float
#endif
#ifndef VB
#define VB 32
#endif
#ifndef CHAINS
#define CHAINS 12
#endif
typedef REAL vec __attribute__((vector_size(VB)));
enum { LANES = VB / sizeof(REAL) };

void multiply_add(long long n, REAL a, REAL b, REAL* out) {         // out: CHAINS * LANES elements
    vec x[CHAINS];
    memcpy(x, out, sizeof x);
    for (long long i = 0; i < n; ++i)
        for (int c = 0; c < CHAINS; ++c)
            x[c] = x[c] * a + b;
    memcpy(out, x, sizeof x);
}

void read_all(long long times, long long n, const REAL* data, REAL* out) {      // n: a multiple of CHAINS * LANES
    vec sum[CHAINS] = {{0}};
    for (long long t = 0; t < times; ++t)
        for (long long i = 0; i < n; i += CHAINS * LANES) {
            for (int c = 0; c < CHAINS; ++c) {
                vec x;
                memcpy(&x, &data[i + c * LANES], sizeof x);
                sum[c] += x;
            }
        }
    memcpy(out, sum, sizeof sum);
}
