// count_lines.h -- A(i, k), B(k, j), C(i, j) that ask a cache for the line of each element
//
// Computes  the lines fetched for each matrix by a cache in which the least recently used line of a set goes first
// Idea      the macros that a program reaches its matrices by are replaced; the program's text stays as it is
// Matrices  lie one behind the other, each beginning with a line of its own
// Order     accesses to different matrices in a row count as simultaneous, A before B before C: how a compiler orders
//           the operands of a statement is its own choice
// Ends      an index outside a matrix, or more accesses than allowed, ends the program and is told
// Lesson    notebooks/01_triple_loop.ipynb
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>

static struct {
    REAL* data;
    long long rows, cols, ld, first, fetched, accesses, pending;    // first: line; pending: line not yet asked for, or -1
    long long row, col;             // of the element that is pending
} matrices_[3];
static struct {
    long long line, left, sets, ways;
    int *older, *newer;             // of each line: its neighbours by age in its set
    char* held;                     // of each line: whether it is in the cache
    int *oldest, *newest, *count;   // of each set
} cache_;
static struct { long long reason, matrix, row, col, line; } end_;     // reason 0: none, 1: index outside, 2: too many
static struct { int* rows; long long room, used; } trace_;            // of an access: matrix, row, col, line, fetched, evicted
static int evicted_;                                                  // line that went for the last one fetched, or -1
static jmp_buf leave_;

static void unlink_line_(long long set, int line) {
    const int older = cache_.older[line], newer = cache_.newer[line];
    *(older < 0 ? &cache_.oldest[set] : &cache_.newer[older]) = newer;
    *(newer < 0 ? &cache_.newest[set] : &cache_.older[newer]) = older;
}

static int fetch_(int line) {        // 1 when the line was not in the cache
    const long long set = line % cache_.sets;
    const int missing = !cache_.held[line];
    evicted_ = -1;
    if (cache_.newest[set] == line && !missing)
        return 0;
    if (!missing) {
        unlink_line_(set, line);
    } else if (cache_.count[set] == cache_.ways) {
        const int victim = cache_.oldest[set];
        unlink_line_(set, victim);
        cache_.held[victim] = 0;
        evicted_ = victim;
    } else {
        ++cache_.count[set];
    }
    cache_.held[line] = 1;
    cache_.older[line] = cache_.newest[set];
    cache_.newer[line] = -1;
    *(cache_.newest[set] < 0 ? &cache_.oldest[set] : &cache_.newer[cache_.newest[set]]) = line;
    cache_.newest[set] = line;
    return missing;
}

static void finish_pending_(void) {
    for (int m = 0; m < 3; ++m)
        if (matrices_[m].pending >= 0) {
            const int line = (int)matrices_[m].pending, fetched = fetch_(line);
            ++matrices_[m].accesses;
            matrices_[m].fetched += fetched;
            matrices_[m].pending = -1;
            if (trace_.used < trace_.room) {
                int* to = &trace_.rows[6 * trace_.used++];
                to[0] = m, to[1] = (int)matrices_[m].row, to[2] = (int)matrices_[m].col;
                to[3] = line, to[4] = fetched, to[5] = evicted_;
            }
        }
}

static REAL* touch_(int m, long long row, long long col, int line) {
    if (row < 0 || row >= matrices_[m].rows || col < 0 || col >= matrices_[m].cols || --cache_.left < 0) {
        end_.reason = cache_.left < 0 ? 2 : 1;
        end_.matrix = m, end_.row = row, end_.col = col, end_.line = line;
        longjmp(leave_, 1);
    }
    if (matrices_[m].pending >= 0)
        finish_pending_();
    const long long element = row * matrices_[m].ld + col;
    matrices_[m].row = row, matrices_[m].col = col;
    matrices_[m].pending = matrices_[m].first + element * (long long)sizeof(REAL) / cache_.line;
    return &matrices_[m].data[element];
}

#define A(i, k) (*(const REAL*)touch_(0, (i), (k), __LINE__))
#define B(k, j) (*(const REAL*)touch_(1, (k), (j), __LINE__))
#define C(i, j) (*touch_(2, (i), (j), __LINE__))
