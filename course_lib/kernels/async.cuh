// async.cuh -- elements on their way: to shared memory without waiting, or through registers
//
// Used by   copy_tile.cuh, dgemm_stream_k.cu; compute capability 8.0 and up
#pragma once
// BYTES (4, 8 or 16) from global to shared memory, without a register and without waiting; 0 where they are outside the matrix.
template <int BYTES, typename T>
__device__ __forceinline__ void copy_async(unsigned to, const T* from, bool inside) {
    if constexpr (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(to), "l"(from), "r"(inside ? BYTES : 0), "n"(BYTES));
}

// COUNT elements from here to there, through registers: one, or 16 bytes at once.
template <int COUNT, typename T>
__device__ __forceinline__ void move(T* to, const T* from) {
    if constexpr (COUNT == 4) *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(from);
    else if constexpr (COUNT == 2) *reinterpret_cast<double2*>(to) = *reinterpret_cast<const double2*>(from);
    else *to = *from;
}
