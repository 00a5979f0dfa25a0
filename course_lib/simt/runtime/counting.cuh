// counting.cuh -- sectors and wavefronts, by the rules of the hardware

// Distinct aligned 32-byte sectors over the active lanes.
extern "C" __device__ u32 count_sectors(const u64* address, u32 mask) {
    u64 seen[LANES];
    u32 n = 0;
    u64 top = 0;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u64 sector = (address[lowest(left)] >> 5) + 1;
        if (sector > top) {
            top = sector;
        } else {
            u32 i = 0;
#pragma unroll 1
            while (i < n && seen[i] != sector) ++i;
            if (i < n) continue;
        }
        seen[n++] = sector;
    }
    return n;
}

// The largest number of distinct words in one bank, over the words [address, address + bytes) of the active lanes.
__device__ __noinline__ u32 deepest_bank(const u64* address, u32 mask, u32 bytes) {
    u8 head[32], next[LANES * 4 + 1], depth[32];
    u64 word[LANES * 4 + 1];
    u32 n = 0, most = 0;
#pragma unroll 1
    for (u32 b = 0; b < 32; ++b) head[b] = depth[b] = 0;
    const u32 words = bytes < 4 ? 1 : bytes / 4;
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u64 base = address[lowest(left)] >> 2;
#pragma unroll 1
        for (u32 i = 0; i < words; ++i) {
            const u32 bank = (base + i) & 31;
            u32 at = head[bank];
#pragma unroll 1
            while (at && word[at] != base + i) at = next[at];
            if (at) continue;
            ++n;
            word[n] = base + i;
            next[n] = head[bank];
            head[bank] = n;
            const u32 d = ++depth[bank];
            most = d > most ? d : most;
        }
    }
    return most;
}

// Do all pairs of active lanes (l, l ^ distance) have equal addresses?
__device__ __noinline__ bool paired(const u64* address, u32 mask, u32 distance) {
#pragma unroll 1
    for (u32 left = mask; left; left &= left - 1) {
        const u32 l = lowest(left), other = l ^ distance;
        if ((mask >> other & 1) && address[l] != address[other]) return false;
    }
    return true;
}

// Wavefronts of one shared access of `bytes` per lane; the phases that have an active lane go to *phases.
extern "C" __device__ u32 count_wavefronts(const u64* address, u32 mask, u32 bytes, u32 load, u32* phases) {
    u32 per_phase = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    if (load && bytes > 4 && (paired(address, mask, 1) || paired(address, mask, 2))) per_phase *= 2;
    u32 total = 0, used = 0;
#pragma unroll 1
    for (u32 first = 0; first < LANES; first += per_phase) {
        const u32 part = mask & (per_phase == 32 ? FULL : ((1u << per_phase) - 1) << first);
        if (!part) continue;
        ++used;
        total += deepest_bank(address, part, bytes);
    }
    *phases = used;
    return total;
}

__device__ __forceinline__ u64 sectors_of(u64 at, u64 bytes) { return bytes ? (at + bytes - 1 >> 5) - (at >> 5) + 1 : 0; }

// A bulk copy is one instruction, to however many blocks it goes; each of them receives the sectors, which the L2 reads once.
__device__ __noinline__ void count_copy(Warp* w, u32 number, u64 received, u64 once) {
    u64* n = (u64*)((Worker*)w->worker)->dynamic + COUNTS * number;
    w->role |= ISSUED_COPIES;
    n[0] += 1;
    n[1] += received;
    n[2] += once;
}
