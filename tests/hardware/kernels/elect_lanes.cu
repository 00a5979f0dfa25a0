// elect_lanes.cu -- elect.sync chooses one lane of a mask
//
// Computes  y[i][lane] = 2 * leader + (this lane is it), for lanes in mask i; 0 for the others
// Idea      the manual leaves open which lane is elected; a GPU says
// Launch    grid 1, block 32
extern "C" __global__ void elect_lanes(int masks, const unsigned* mask, unsigned* y) {
    const unsigned lane = threadIdx.x;
    for (int i = 0; i < masks; ++i) {
        unsigned leader = 0, elected = 0;
        if (mask[i] >> lane & 1)
            asm volatile("{ .reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(elected) : "r"(mask[i]));
        __syncwarp();
        y[32 * i + lane] = 2 * leader + elected;
    }
}
