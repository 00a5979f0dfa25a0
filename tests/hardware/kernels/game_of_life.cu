// game_of_life.cu -- 32 cells a word
//
// Computes  one generation on a torus of rows x 32 columns
// Idea      bit arithmetic counts neighbours of 32 cells at once
// Launch    grid 1, block rows
extern "C" __global__ void game_of_life(int rows, const unsigned* cells, unsigned* next) {
    const int r = threadIdx.x;
    if (r >= rows) return;
    unsigned one = 0, two = 0, four = 0;
    auto count = [&](unsigned w) {
        const unsigned c1 = one & w;
        one ^= w;
        const unsigned c2 = two & c1;
        two ^= c1;
        four |= c2;
    };
    for (int d = -1; d <= 1; ++d) {
        const unsigned w = cells[(r + d + rows) % rows];
        count(__funnelshift_l(w, w, 1));
        count(__funnelshift_r(w, w, 1));
        if (d) count(w);
    }
    next[r] = two & ~four & (one | cells[r]);
}
