// count_lines_end.h -- runs PROGRAM, whose text stands above, with the counting macros of count_lines.h
//
// Returns   0, or 1 when there was no memory for the cache's lists
// Out       fetched and accesses of A, B, C; then why the program was ended: reason, matrix, row, col, line
// Trace     the first `room` accesses: matrix, row, col, line, whether it was fetched, the line that went for it or -1
static void set_up_(int m, const REAL* data, long long rows, long long cols, long long ld, long long* next) {
    matrices_[m].data = (REAL*)data;
    matrices_[m].rows = rows, matrices_[m].cols = cols, matrices_[m].ld = ld, matrices_[m].first = *next;
    matrices_[m].pending = -1;
    *next += (((rows - 1) * ld + cols) * (long long)sizeof(REAL) + cache_.line - 1) / cache_.line;
}

int run_counted(int M, int N, int K, REAL alpha, const REAL* a, int lda, const REAL* b, int ldb, REAL beta, REAL* c, int ldc,
                long long line, long long sets, long long ways, long long most, long long room, int* trace, long long* out) {
    long long lines = 0;
    trace_.rows = trace, trace_.room = room;
    cache_.line = line, cache_.sets = sets, cache_.ways = ways, cache_.left = most;
    set_up_(0, a, M, K, lda, &lines);
    set_up_(1, b, K, N, ldb, &lines);
    set_up_(2, c, M, N, ldc, &lines);
    cache_.older = malloc((size_t)lines * sizeof(int));
    cache_.newer = malloc((size_t)lines * sizeof(int));
    cache_.held = calloc((size_t)lines, 1);
    cache_.oldest = malloc((size_t)sets * sizeof(int));
    cache_.newest = malloc((size_t)sets * sizeof(int));
    cache_.count = calloc((size_t)sets, sizeof(int));
    if (!cache_.older || !cache_.newer || !cache_.held || !cache_.oldest || !cache_.newest || !cache_.count)
        return 1;
    for (long long set = 0; set < sets; ++set)
        cache_.oldest[set] = cache_.newest[set] = -1;
    if (setjmp(leave_) == 0)
        PROGRAM(M, N, K, alpha, a, lda, b, ldb, beta, c, ldc);
    finish_pending_();
    for (int m = 0; m < 3; ++m)
        out[m] = matrices_[m].fetched, out[3 + m] = matrices_[m].accesses;
    out[6] = end_.reason, out[7] = end_.matrix, out[8] = end_.row, out[9] = end_.col, out[10] = end_.line;
    return 0;
}
