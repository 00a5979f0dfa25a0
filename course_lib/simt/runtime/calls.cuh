// calls.cuh -- device functions: each thread has a stack of its own
//
// A thread's frames lie one behind the other in its local memory. What a call must remember lies on a second stack, out of
// reach of the kernel: the registers that a recursive caller still needs, then the numbers of the call and of the callee.

typedef int (*Print)(u64 warp, u64 lane, u64 format, u64 arguments);

enum { NOWHERE = 0xffffffffu, FUNCTIONS_AT = 0xf00000 };
enum Builtin { CODE, PRINT, ASSERT, ALLOCATE, FREE };

struct Stack { u32 top[LANES], depth[LANES]; };   // behind it: STACK bytes a lane

__device__ __forceinline__ u64 local_of(const Warp* w, u32 lane) {
    return w->local + lane * ((((const Launch*)w->launch)->local_bytes + 15) & ~15ull);
}

__device__ __forceinline__ u64 saved_of(const Warp* w, u32 lane) {
    return w->stack + sizeof(Stack) + (u64)lane * ((const Launch*)w->launch)->stack_bytes;
}

__device__ __noinline__ void clear_stack(Warp* w) {
    const Launch* L = (const Launch*)w->launch;
    if (!L->stack_bytes) return;
    Stack* s = (Stack*)w->stack;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) {
        s->top[l] = L->kernel_frame;
        s->depth[l] = 0;
        write_slot(w, L->frame_slot, 8, l, 0);
    }
}

// Where the byte at a generic address lies on the host, as this lane sees it, and how many follow it there; 0: nowhere.
extern "C" __device__ u64 host_of(Warp* w, u32 lane, u64 address, u64* left) {
    const Launch* L = (const Launch*)w->launch;
    const u32 space = space_for(w, address);
    const u64 at = address - window_of(w, space);
    if (space == SHARED__CLUSTER) return *left = 0;
    u64 host = space == SHARED ? w->shared : space == LOCAL ? local_of(w, lane) : w->constants;
    u64 size = space == SHARED ? L->shared_bytes : space == LOCAL ? L->local_bytes : L->constant_bytes;
    if (space == GLOBAL) {
        const Array* a = find(L, address, 1);
        *left = a ? a->hi - address : 0;
        return a ? a->host + (address - a->lo) : 0;
    }
    *left = at < size ? size - at : 0;
    return at < size ? host + at : 0;
}

// The callee at an address, if it takes and returns what this call passes.
__device__ __noinline__ u32 callee_at(const Launch* L, const Call* c, u64 address) {
    const u64 which = (address - FUNCTIONS_AT) / 16;
    if (address < FUNCTIONS_AT || address % 16 || which >= L->callee_count) return NOWHERE;
    const Callee* f = &((const Callee*)L->callees)[which];
    if (f->block == NOWHERE && f->builtin == CODE || f->returns != c->returns || f->params != c->params) return NOWHERE;
    const u32 *here = (const u32*)L->call_data + 2 * c->data, *there = (const u32*)L->call_data + 2 * f->data;
#pragma unroll 1
    for (u32 i = 0; i < c->returns + c->params; ++i)
        if (here[2 * i + 1] != there[2 * i + 1]) return NOWHERE;
    return which;
}

__device__ __noinline__ u32 call_builtin(Warp* w, const Call* c, const Callee* f, u32 lane) {
    const Launch* L = (const Launch*)w->launch;
    const u64 frame = local_of(w, lane) + read_slot(w, L->frame_slot, 8, lane);
    if (f->builtin == ASSERT) return fault(w, ASSERTION, c->number, lane, frame);
    const u32* part = (const u32*)L->call_data + 2 * c->data;
    if (f->builtin == ALLOCATE) {
        *(u64*)(frame + part[0]) = heap_take(L, *(const u64*)(frame + part[2]));
        return 0;
    }
    if (f->builtin == FREE) return heap_give(w, c, lane, *(const u64*)(frame + part[0]));
    const u64 format = *(const u64*)(frame + part[2 * c->returns]), given = *(const u64*)(frame + part[2 * c->returns + 2]);
    const int answer = ((Print)L->print)((u64)w, lane, format, given);
    if (c->returns) *(int*)(frame + part[0]) = answer;
    return 0;
}

__device__ __forceinline__ void copy_bytes(u64 to, u64 from, u32 n) {
#pragma unroll 1
    for (u32 i = 0; i < n; ++i) *(u8*)(to + i) = *(const u8*)(from + i);
}

// One lane enters a function: save, open its frame, pass the parameters.
__device__ __noinline__ u32 enter(Warp* w, const Call* c, u32 which, u32 index, u32 lane) {
    const Launch* L = (const Launch*)w->launch;
    const Callee* f = &((const Callee*)L->callees)[which];
    Stack* s = (Stack*)w->stack;
    const u64 frame = read_slot(w, L->frame_slot, 8, lane), fresh = frame + c->frame;
    const u32* part = (const u32*)L->call_data + 2 * c->data;
    const u32* there = (const u32*)L->call_data + 2 * f->data;
    if (fresh + f->frame + s->depth[lane] + 8 * c->saved + 8 > L->kernel_frame + L->stack_bytes)
        return fault(w, STACK_OVERFLOW, c->number, lane, fresh - L->kernel_frame + s->depth[lane]);
    u64 at = saved_of(w, lane) + s->depth[lane];
    const u32* keep = part + 2 * (c->returns + c->params);
#pragma unroll 1
    for (u32 i = 0; i < c->saved; ++i, at += 8) {
        const u32 slot = keep[2 * i], bytes = keep[2 * i + 1];   // 0 bytes: a predicate
        *(u64*)at = bytes ? read_slot(w, slot, bytes, lane) : *(const u32*)(w->registers + slot) >> lane & 1;
    }
    *(u32*)at = index;
    *(u32*)(at + 4) = which;
    s->depth[lane] += 8 * c->saved + 8;
    s->top[lane] = fresh + f->frame;
    const u64 base = local_of(w, lane);
#pragma unroll 1
    for (u32 i = c->returns; i < c->returns + c->params; ++i)
        copy_bytes(base + fresh + there[2 * i], base + frame + part[2 * i], part[2 * i + 1]);
    write_slot(w, L->frame_slot, 8, lane, fresh);
    wait_at(w, f->block, 1u << lane);
    return 0;
}

// The lanes of a call or of a jump by a table go to different places: the host's `levels.py` asks for that.
__device__ __forceinline__ void count_split(Warp* w, u32 number) {
    ((u64*)((Worker*)w->worker)->dynamic)[COUNTS * number] += 1;
}

// The lanes of `lanes` call, by the number of the call; the others go on behind it. Returns 1 after a fault.
extern "C" __device__ u32 call_function(Warp* w, u32 index, u32 lanes) {
    const Launch* L = (const Launch*)w->launch;
    const Call* c = &((const Call*)L->calls)[index];
    lanes &= w->mask;
    if (w->mask & ~lanes) wait_at(w, c->next, w->mask & ~lanes);
    u32 first = NOWHERE, split = lanes && w->mask & ~lanes;
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 l = lowest(left);
        u32 which = c->target;
        if (which == NOWHERE) {
            const u64 address = read_slot(w, c->slot, 8, l);
            which = callee_at(L, c, address);
            if (which == NOWHERE) return fault(w, INVALID_TARGET, c->number, l, address);
        }
        if (first == NOWHERE) first = which;
        split |= which != first;
        const Callee* f = &((const Callee*)L->callees)[which];
        if (f->builtin == CODE) {
            if (f->block == NOWHERE) return fault(w, INVALID_TARGET, c->number, l, FUNCTIONS_AT + 16 * which);
            if (enter(w, c, which, index, l)) return 1;
        } else {
            if (call_builtin(w, c, f, l)) return 1;
            wait_at(w, c->next, 1u << l);
        }
    }
    if (split) count_split(w, c->number);
    return 0;
}

// The lanes of `lanes` return, each to where it was called from.
extern "C" __device__ void return_function(Warp* w, u32 lanes) {
    const Launch* L = (const Launch*)w->launch;
    Stack* s = (Stack*)w->stack;
    lanes &= w->mask;
    w->mask &= ~lanes;
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 l = lowest(left);
        u64 at = saved_of(w, l) + s->depth[l] - 8;
        const Call* c = &((const Call*)L->calls)[*(const u32*)at];
        const Callee* f = &((const Callee*)L->callees)[*(const u32*)(at + 4)];
        const u64 base = local_of(w, l), fresh = read_slot(w, L->frame_slot, 8, l), frame = fresh - c->frame;
        const u32* part = (const u32*)L->call_data + 2 * c->data;
        const u32* there = (const u32*)L->call_data + 2 * f->data;
#pragma unroll 1
        for (u32 i = 0; i < c->returns; ++i) copy_bytes(base + frame + part[2 * i], base + fresh + there[2 * i], part[2 * i + 1]);
        const u32* keep = part + 2 * (c->returns + c->params);
        at -= 8 * c->saved;
        s->depth[l] -= 8 * c->saved + 8;
        s->top[l] = fresh;
#pragma unroll 1
        for (u32 i = 0; i < c->saved; ++i, at += 8) {
            const u32 slot = keep[2 * i], bytes = keep[2 * i + 1];
            if (bytes) write_slot(w, slot, bytes, l, *(const u64*)at);
            else put_bit(w, slot, l, *(const u32*)at & 1);
        }
        write_slot(w, L->frame_slot, 8, l, frame);
        wait_at(w, c->next, 1u << l);
    }
}

// brx.idx: each lane goes to the block that the table names for its index.
extern "C" __device__ u32 branch_indexed(Warp* w, u32 number, u32 slot, const u32* table, u32 lanes) {
    lanes &= w->mask;
    u32 first = NOWHERE, split = lanes && w->mask & ~lanes;
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 l = lowest(left);
        const u64 index = read_slot(w, slot, 4, l);
        if (index >= table[0]) return fault(w, INVALID_TARGET, number, l, index);
        const u32 to = table[1 + index];
        if (first == NOWHERE) first = to;
        split |= to != first;
        wait_at(w, to, 1u << l);
    }
    if (split) count_split(w, number);
    return 0;
}

// trap and brkpt end the launch when any lane comes there.
extern "C" __device__ u32 trap(Warp* w, u32 number) {
    return w->mask ? fault(w, KERNEL_TRAP, number, lowest(w->mask), 0) : 0;
}

// %clock and its kin: how many instructions this warp has executed. It only ever grows; it is no time.
extern "C" __device__ void read_clock(Warp* w, u32 slot, u32 bytes, u32 first, u32 ahead) {
    const u64 now = ((const Launch*)w->launch)->max_steps - w->steps - ahead;
#pragma unroll 1
    for (u32 l = 0; l < LANES; ++l) write_slot(w, slot, bytes, l, now >> first);
}
