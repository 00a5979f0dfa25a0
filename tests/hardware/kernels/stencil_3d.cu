// stencil_3d.cu -- seven points in space, plane after plane
//
// Computes  y = sum of x and its six neighbours, inside; edges are left alone
// Idea      the planes above and below stay in registers
// Launch    grid (ceil(nx/16), ceil(ny/4)), block (16, 4)
extern "C" __global__ void stencil_3d(int nx, int ny, int nz, const double* x, double* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    const int plane = nx * ny, at = j * nx + i;
    double below = x[at], here = x[plane + at];
    for (int k = 1; k < nz - 1; ++k) {
        const int p = k * plane + at;
        const double above = x[p + plane];
        y[p] = below + here + above + x[p - 1] + x[p + 1] + x[p - nx] + x[p + nx];
        below = here;
        here = above;
    }
}
