// clusters.cuh -- thread block clusters: blocks that run together, and their barrier ("PTX ISA", barrier.cluster)

// A thread that comes to the barrier goes on; one that waits goes on when all threads of the cluster that have not ended have come. The
// barrier is a thread's own affair: lanes of a warp may come one by one; with .aligned they wait for each other, and all must come. A thread that ends does not keep
// the others, whether it came or waited. What the manual leaves undefined, to come twice or to wait without having come, is an error here.

__device__ __forceinline__ u32 cluster_fault(Warp* w, u32 why, const Bar* b, u32 lanes) {
    return fault(w, CLUSTER_MISUSE, b->number, lowest(lanes), why);
}

// Racecheck: a thread comes with .relaxed: it hands on which mbarriers it has made, if fence.mbarrier_init stands behind that, and no more;
// to other blocks, which know warps alone, also what its warp did before.
__device__ __noinline__ void give_objects(Worker* k, u32 thread) {
    const Async* a = async_of(k);
#pragma unroll 1
    for (u32 i = 0; i < a->objects; ++i) {
        const Object* o = &a->object[i];
        u32* known = &clock_row(k, cluster_row(k, 0))[a->threads + i];
        if (o->made_by != thread + 1 || !o->released) continue;
        *known = max(*known, o->first + 1);
        u32* far = &clock_row(k, cluster_row(k, 0))[far_column(k, k->rank, thread / LANES)];
        if (a->far) *far = max(*far, o->made_at);
    }
}

// barrier.cluster.arrive.
__device__ u32 come_to_cluster(Warp* w, const Bar* b, u32 lanes) {
    const u32 again = lanes & (w->arrived | w->met);
    if (again) return cluster_fault(w, ARRIVED_TWICE, b, again);
    if (w->traced) record(w, b->number, 1, 0);
    w->arrived |= lanes;
    w->barrier = b->number;
    Worker* k = (Worker*)w->worker;
    if (!k->clocks) return 0;
#pragma unroll 1
    for (u32 left = lanes; left; left &= left - 1) {
        const u32 thread = w->index * LANES + lowest(left);
        b->relaxed ? give_objects(k, thread) : give_clock(k, cluster_row(k, 0), thread);
    }
    ++k->epoch;
    return 0;
}

// Racecheck: lanes that went through the barrier know what those knew who came with .release.
__device__ __noinline__ void learn_cluster(const Warp* w, u32 lanes) {
    Worker* k = (Worker*)w->worker;
#pragma unroll 1
    for (u32 left = k->clocks ? lanes : 0; left; left &= left - 1) take_clock(k, cluster_row(k, 1), w->index * LANES + lowest(left));
}

// barrier.cluster.wait: lanes for which the barrier has opened go on; the others are left in `lanes`.
__device__ u32 wait_for_cluster(Warp* w, const Bar* b, u32* lanes, u32 next) {
    const u32 strange = *lanes & ~(w->arrived | w->met), free = b->cluster == 2 ? 0 : *lanes & w->met;
    if (strange) return cluster_fault(w, NOT_ARRIVED, b, strange);
    *lanes &= ~free;
    w->met &= ~free;
    if (!free) return 0;
    if (w->traced && !*lanes) record(w, b->number, 1, 0);
    learn_cluster(w, free);
    wait_at(w, next, free);
    return 0;
}

// The lanes of a warp that wait go on if the barrier has opened, for all of them at once.
__device__ void leave_cluster(Warp* w) {
    if (w->bar_lanes & ~w->met) return;
    w->met &= ~w->bar_lanes;
    learn_cluster(w, w->bar_lanes);
    w->state = READY;
}

// No lane of the warp is left that could still come: with .aligned, all that lived when the first came must be here.
__device__ u32 whole_at_cluster(Warp* w) {
    const Bar* b = (const Bar*)w->bar;
    if (b->cluster == 2 && w->bar_lanes != w->bar_true) return cluster_fault(w, PART_OF_A_WARP, b, w->bar_lanes);
    if (!b->arrive) return leave_cluster(w), 0;
    w->state = READY;
    return come_to_cluster(w, b, w->bar_lanes);
}

__device__ __forceinline__ Worker* block_of(const Cluster* c, u32 rank) { return (Worker*)c->worker[rank]; }

__device__ __forceinline__ Warp* warp_of(const Worker* k, u32 index) {
    return (Warp*)(k->warps + index * ((const Launch*)k->launch)->warp_bytes);
}

// The warps of a block whose lanes have all come that live; ~0 when lanes of another one have not.
__device__ __noinline__ u32 warps_there(const Worker* k, const Launch* L) {
    u32 there = 0;
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        const Warp* w = warp_of(k, i);
        if (w->state == DONE) continue;
        if (w->alive & ~w->arrived) return ~0u;
        ++there;
    }
    return there;
}

// The barrier opens: the warps of a block that wait go on.
__device__ __noinline__ void open_block(Worker* k, const Launch* L) {
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = warp_of(k, i);
        w->met |= w->arrived;
        w->arrived = 0;
        if (w->state == WAITING && w->bar_id == AT_CLUSTER) leave_cluster(w);
    }
}

// Racecheck: what those knew who came. A block's own threads are known one by one, those of others warp by warp.
__device__ __noinline__ void join_cluster(const Cluster* c) {
#pragma unroll 1
    for (u32 r = 0; r < c->blocks; ++r)
#pragma unroll 1
        for (u32 other = 0; other < c->blocks; ++other) {
            Worker *k = block_of(c, r), *h = block_of(c, other);
            if (h == k) join_row(k, cluster_row(k, 1), cluster_row(k, 0)), join_row(k, cluster_row(k, 1) + 1, cluster_row(k, 0) + 1);
            else join_far(k, cluster_row(k, 1), h, cluster_row(h, 0)), join_far(k, cluster_row(k, 1) + 1, h, cluster_row(h, 0) + 1);
        }
}

// Open the barrier if all threads have come that live, and one at least.
__device__ __noinline__ u32 open_cluster(const Cluster* c, const Launch* L) {
    u32 there = 0;
#pragma unroll 1
    for (u32 r = 0; r < c->blocks; ++r) {
        const u32 here = warps_there(block_of(c, r), L);
        if (here == ~0u) return 0;
        there += here;
    }
    if (there && block_of(c, 0)->clocks) join_cluster(c);
#pragma unroll 1
    for (u32 r = 0; there && r < c->blocks; ++r) open_block(block_of(c, r), L);
    return there != 0;
}

// No warp of a block can run: name the first one that waits at the cluster's barrier.
__device__ __noinline__ u32 stuck_at_cluster(Worker* k, const Launch* L) {
#pragma unroll 1
    for (u32 i = 0; i < L->warps; ++i) {
        Warp* w = warp_of(k, i);
        if (w->state == WAITING && w->bar_id == AT_CLUSTER) return fault(w, CLUSTER_MISUSE, w->barrier, lowest(w->bar_lanes), STUCK_CLUSTER);
    }
    return 0;
}

// A block without a cluster is one by itself.
__device__ u32 open_alone(Worker* k, const Launch* L) {
    if (warps_there(k, L) == ~0u) return stuck_at_cluster(k, L);
    if (k->clocks) join_row(k, cluster_row(k, 1), cluster_row(k, 0)), join_row(k, cluster_row(k, 1) + 1, cluster_row(k, 0) + 1);
    open_block(k, L);
    return 0;
}

// The number of the block with a rank in a cluster: ranks count along x first.
__device__ __forceinline__ u64 block_in(const Launch* L, u64 cluster, u32 rank) {
    const u64 across = L->grid[0] / L->cluster[0], down = L->grid[1] / L->cluster[1];
    const u64 x = cluster % across * L->cluster[0] + rank % L->cluster[0];
    const u64 y = cluster / across % down * L->cluster[1] + rank / L->cluster[0] % L->cluster[1];
    const u64 z = cluster / across / down * L->cluster[2] + rank / L->cluster[0] / L->cluster[1];
    return (z * L->grid[1] + y) * L->grid[0] + x;
}

__device__ __noinline__ void start_cluster(const Cluster* c, const Launch* L, u64 number) {
#pragma unroll 1
    for (u32 r = 0; r < c->blocks; ++r) {
        Worker* k = block_of(c, r);
        k->rank = r;
        start_block(k, L, block_in(L, number, r));
        k->turn = GO_ON;
        k->ended = 0;
    }
}

// Run the blocks of one cluster in turn until all have ended. Returns 0, or 1 + the rank of the block with a fault.
__device__ __noinline__ u64 run_cluster(const Cluster* c, const Launch* L) {
    u32 left = c->blocks;
#pragma unroll 1
    while (left) {
        u32 ready = 0;
#pragma unroll 1
        for (u32 r = 0; r < c->blocks; ++r) {
            Worker* k = block_of(c, r);
            if (k->turn == ENDED) continue;
            k->turn = take_turns(k, L);
            if (k->turn == STUCK) return 1 + r;
            if (k->turn != ENDED) continue;
            end_sources(c, k);
            k->ended = 1;
            --left;
        }
        ready = open_cluster(c, L);
#pragma unroll 1
        for (u32 r = 0; r < c->blocks && !ready; ++r)
#pragma unroll 1
            for (u32 i = 0; i < L->warps && !ready; ++i) ready = warp_of(block_of(c, r), i)->state == READY;
#pragma unroll 1
        for (u32 r = 0; r < c->blocks && left && !ready; ++r)
            if (stuck_at_cluster(block_of(c, r), L)) return 1 + r;
    }
    return 0;
}

// Run the clusters [first, last) of a grid.
extern "C" __device__ u64 run_clusters(const Cluster* c, u64 first, u64 last) {
    const Launch* L = (const Launch*)block_of(c, 0)->launch;
#pragma unroll 1
    for (u64 number = first; number < last; ++number) {
        start_cluster(c, L, number);
        const u64 failed = run_cluster(c, L);
        if (failed) return failed;
    }
    return 0;
}
