// loops.cuh -- runs loops written for the CPU as one thread, and writes each of their accesses down
//
// Computes  C = beta C, then whatever stands in the place of LOOPS
// Launch    one thread
// Log       an entry for each A(i, k), B(k, j), C(i, j) that the loops reach: source line, matrix (0, 1, 2), place in it
// Ends      an index outside a matrix, or a full log, ends the loops: end = reason (1, 2), matrix, row, col, line; end[5] = entries
#define REAL float
#define min(a, b) course_min(a, b)
#define A(row, col) ((const float&)course_access.element(0, row, col, __LINE__))
#define B(row, col) ((const float&)course_access.element(1, row, col, __LINE__))
#define C(row, col) (course_access.element(2, row, col, __LINE__))

__device__ __forceinline__ int course_min(int a, int b) { return a < b ? a : b; }

struct CourseAccess {
    float* data[3];
    int rows[3], cols[3], ld[3];        // as the matrices are stored
    unsigned long long* log;
    int* end;
    int room, used;

    __device__ __forceinline__ float& element(int matrix, int row, int col, int line) {
        if (row < 0 || row >= rows[matrix] || col < 0 || col >= cols[matrix] || used == room) {
            end[0] = used == room ? 2 : 1, end[1] = matrix, end[2] = row, end[3] = col, end[4] = line, end[5] = used;
            asm volatile("exit;");
        }
        const int place = row * ld[matrix] + col;
        log[used++] = (unsigned long long)line << 34 | (unsigned long long)matrix << 32 | (unsigned)place;
        return data[matrix][place];
    }
};

extern "C" __global__ void course_loops(int M, int N, int K, float alpha, const float* course_a, int course_lda, const float* course_b,
                                        int course_ldb, float beta, float* course_c, int course_ldc, const int* course_shapes,
                                        unsigned long long* course_log, int course_room, int* course_end) {
    CourseAccess course_access{{(float*)course_a, (float*)course_b, course_c}, {course_shapes[0], course_shapes[1], course_shapes[2]},
                               {course_shapes[3], course_shapes[4], course_shapes[5]}, {course_lda, course_ldb, course_ldc},
                               course_log, course_end, course_room, 0};
    for (int row = 0; row < M; ++row)
        for (int col = 0; col < N; ++col) {
            float* c = &course_c[row * course_ldc + col];
            *c = beta == 0.0f ? 0.0f : beta * *c;
        }
    [&] {                               // so that a `return` ends the loops and not the kernel
#line 1
LOOPS
    }();
    course_end[5] = course_access.used;
}
