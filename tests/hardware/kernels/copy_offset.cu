// copy_offset.cu -- copies that begin between sectors
//
// Computes  y[b][i + b] = x[i + b] for the offset b of each block
// Idea      a warp that starts off a sector's edge touches one sector more
// Launch    grid 9, block (32, 2)
extern "C" __global__ void copy_offset(int pitch, const float* x, float* y) {
    const int i = threadIdx.y * 32 + threadIdx.x + blockIdx.x;
    y[blockIdx.x * pitch + i] = x[i];
}
