// tma.cuh -- boxes of matrices that come by themselves: tensor maps, the copies they serve, and the barriers that count what has come
//
// Used by   sbgemm_tma.cu and the kernels after it; compute capability 9.0 and up
#pragma once
typedef unsigned long long u64;
struct alignas(64) TensorMap { u64 words[16]; };         // where a matrix lies, its rows' length and stride, the box of a copy: the launcher makes it

__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

// A barrier in shared memory goes on to its next phase when `arrivals` have arrived and all bytes that were announced have come.
__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrive, and say that so many bytes will come.
__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Wait until the phase with this parity (0, 1, 0, ...) is over.
__device__ __forceinline__ void barrier_wait(unsigned barrier, int parity) {
    asm volatile("{\n\t"
                 ".reg .pred over;\n"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n\t"
                 "@!over bra again;\n\t"
                 "}" ::"r"(barrier), "r"(parity) : "memory");
}

// The box whose first element is in column x of row y, to shared memory; the barrier counts its bytes. Outside of the matrix are zeros.
__device__ __forceinline__ void load_box(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

// The same of three matrices at once, which lie one behind the other.
__device__ __forceinline__ void load_parts(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, 0}], [%4];"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

// The box of load_box for all blocks of the cluster whose bit is set: to the same place in each, and the barrier in the same place counts there.
__device__ __forceinline__ void load_box_for_all(unsigned to, const TensorMap& map, int x, int y, unsigned barrier, int blocks) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(static_cast<unsigned short>(blocks)) : "memory");
}

// Arrive at the barrier in the same place of a block of the cluster.
__device__ __forceinline__ void barrier_arrive_at(unsigned barrier, int block) {
    asm volatile("{\n\t"
                 ".reg .b32 there;\n\t"
                 "mapa.shared::cluster.u32 there, %0, %1;\n\t"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t"
                 "}" ::"r"(barrier), "r"(block) : "memory");
}

// Wait for all threads of the cluster.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
