// mandelbrot.cu -- how long each point takes to escape
//
// Computes  steps[row][col] until |z| > 2, at most `most`
// Idea      lanes leave the loop one after another
// Launch    grid (ceil(w/16), ceil(h/8)), block (16, 8)
extern "C" __global__ void mandelbrot(int width, int height, int most, double step, int* steps) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= width || row >= height) return;
    const double cx = -2.1 + step * col, cy = -1.013 + step * row;
    double x = 0, y = 0;
    int k = 0;
    while (k < most && x * x + y * y <= 4.0) {
        const double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        ++k;
    }
    steps[row * width + col] = k;
}
