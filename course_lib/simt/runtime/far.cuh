// far.cuh -- accesses to the shared memory of another block of the cluster, for racecheck

__device__ void give_far(Worker* k, u32 thread, Worker* h, u32 row) {}

__device__ void touch_far(Warp* w, Worker* h, u32 number, u32 lane, u64 at, u32 bytes, u32 kind) {}
