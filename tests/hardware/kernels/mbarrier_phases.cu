// mbarrier_phases.cu -- what one thread sees of an mbarrier: phases, pending arrivals, bytes
//
// Computes  18 numbers: answers of test_wait by parity and by token, and pending counts of tokens
// Idea      a phase is over when no arrival and no byte is missing
// Launch    grid 1, block 1
typedef unsigned long long u64;
__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ u64 arrive(const void* bar, unsigned count) {
    u64 token;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(at(bar)), "r"(count) : "memory");
    return token;
}
__device__ __forceinline__ unsigned over(const void* bar, u64 token) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "l"(token) : "memory");
    return done;
}
__device__ __forceinline__ unsigned parity_over(const void* bar, unsigned parity) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
    return done;
}
__device__ __forceinline__ unsigned pending(u64 token) {
    unsigned count;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}

extern "C" __global__ void mbarrier_phases(unsigned* y) {
    __shared__ u64 bar, early;
    u64 token;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 5;" ::"r"(at(&bar)) : "memory");
    y[0] = parity_over(&bar, 0);
    y[1] = parity_over(&bar, 1);
    token = arrive(&bar, 2);
    y[2] = pending(token);
    y[3] = over(&bar, token);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(at(&bar)) : "memory");
    token = arrive(&bar, 3);
    y[4] = pending(token);
    y[5] = over(&bar, token);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at(&bar)) : "memory");
    y[6] = over(&bar, token);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(at(&bar)) : "memory");
    y[7] = over(&bar, token);
    y[8] = parity_over(&bar, 0);
    y[9] = parity_over(&bar, 1);
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], 2;" : "=l"(token) : "r"(at(&bar)) : "memory");
    y[10] = pending(token);
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(token) : "r"(at(&bar)) : "memory");
    y[11] = pending(token);
    token = arrive(&bar, 2);
    y[12] = over(&bar, token);
    token = arrive(&bar, 1);
    y[13] = pending(token);
    y[14] = over(&bar, token);
    y[15] = parity_over(&bar, 1);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&early)) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at(&early)) : "memory");
    arrive(&early, 1);
    y[16] = parity_over(&early, 0);            // the bytes have come before they were expected
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at(&early)) : "memory");
    y[17] = parity_over(&early, 0);
}
