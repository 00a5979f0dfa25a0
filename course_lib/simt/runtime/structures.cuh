// structures.cuh -- what the runtime and Python agree on

// The runtime is written in CUDA C, compiled by NVRTC like every kernel of the course, and translated to plain host code by
// codegen/scalar.py. It runs on the host's memory. abi.py reads the enums and structures of this file, so that they are described once:
// keep to the types below, one declaration a statement. codegen/library.py joins the files of this folder.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

enum { LANES = 32, FULL = 0xffffffffu, MAX_HAZARDS = 512 };
enum { GROUP_WARPS = 4, SLOT_UNIT = 64 };   // of a warpgroup; registers begin at multiples of so many bytes
enum { COUNTS = 8 };                // per access: executed, threads, sectors, wavefronts, phases, global, guarded, guarded threads;
                                    // of a call or a jump by a table, the first: how often its lanes went to different places;
                                    // of a bulk copy, the first two: copies, one for each lane, and their bytes
enum { LINE_BYTES = 128 };          // of shared memory for which one reading is noted
enum { NOTE_BYTES = 0x40000 };       // of notes between two barriers; more are settled at once
enum { BEHIND_EXCHANGE = 0x40000000 };   // next_block: some lanes go on in the middle of a block, behind the exchange of this number
enum WaitStatus { GOES_ON, WAIT_FAILED, STOPS };   // of a wait for other warps of a warpgroup
enum Crossed { TOGETHER, WRONG, IN_PARTS };   // how an exchange went; IN_PARTS: next_block sends the lanes on
enum { SITE_BYTES = 384 };          // a Site, rounded up to 64
enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONST, FRAME, SHARED__CLUSTER };   // FRAME: parameters in local memory; SHARED__CLUSTER: shared::cluster
enum { MOST_BLOCKS = 16, RANK_SHIFT = 24 };   // of a cluster; an address of shared memory has the block's rank from this bit on
enum Window : u64 { SHARED_WINDOW = 0x10000000, LOCAL_WINDOW = 0x20000000, CONST_WINDOW = 0x30000000, WINDOW_END = 0x40000000,
                    IMAGES = 0x5e00000000000000,          // no address: the handle of the first texture or surface, the next is one more
                    HEAP = 0x6000000000,                  // what kernels allocate, up to the next
                    WORKSPACE = 0x7000000000,             // of a grid whose blocks wait for each other; %envreg1 and 2 name it
                    GLOBAL_VARIABLES = 0x8000000000 };            // of generic addresses; arrays lie above, then `__device__` variables
enum State { READY, WAITING, DONE };
enum Status { EXITED, BARRIER, DIVERGED, CONVERGED, FAILED, YIELDED, BARRIER_THEN_REFERENCE };   // the last: reference code goes on from there
enum Fault { NO_FAULT, OUT_OF_BOUNDS, MISALIGNED, DIVERGENT_BARRIER, STEP_BUDGET, READ_ONLY, BARRIER_MISMATCH, STOPPED,
             STACK_OVERFLOW, INVALID_TARGET, KERNEL_TRAP, ASSERTION, PARTIAL_WARP, LANES_DIFFER, STRIDE, COPY_SIZE,
             BARRIER_MISUSE, STUCK_LANES, HEAP_MISUSE, INACTIVE_LANE, NO_IMAGE, IMAGE_MISFIT, OUTSIDE_SURFACE, UNALIGNED_SURFACE,
             OBJECT_MISUSE, NO_WARPGROUP, PRODUCTS_DIFFER, TOO_MANY_PRODUCTS, DESCRIPTOR_OUTSIDE, STUCK_WARPGROUP, REGISTERS_MISUSE,
             MAP_MISUSE, NO_PEER, PEER_ENDED, CLUSTER_MISUSE };
enum PeerAddress : u64 { IN_CLUSTER = 0x10000000000 };      // mark of a fault's address: it has the rank of another block
enum ClusterMisuse { ARRIVED_TWICE = 1, NOT_ARRIVED, PART_OF_A_WARP, STUCK_CLUSTER };
enum Misuse { NO_SUCH_BARRIER = 1, NO_SUCH_COUNT, MIXED_LANES, MIXED_COUNTS, PART_OF_WARP, NOT_IN_MASK };
enum { MOST_OBJECTS = 128, MOST_FLIGHTS = 2048 };   // mbarriers of a block; bulk copies and arrivals that are under way
enum { MOST_COUNT = 0xfffff };       // arrivals that an mbarrier can count, and bytes
enum ObjectUse { INIT_OBJECT, DROP_OBJECT, EXPECT_BYTES, COMPLETE_BYTES, ARRIVE_AT, WAIT_FOR, PENDING_OF };   // mbarrier.init, .inval, …
enum ObjectMisuse { NO_OBJECT = 1, LIVE_OBJECT, CHANGED_OBJECT, BAD_COUNT, BAD_BYTES, EXTRA_ARRIVAL, COMPLETES, WRONG_TOKEN, OLD_TOKEN,
                    NO_PARITY, BUSY_OBJECT, MANY_OBJECTS, NOT_IN_SHARED, DEADLOCK, BULK_BYTES, OTHER_BLOCK };
enum Seen { BY_PROXY = 1, RELEASED = 2 };                          // an init: by fence.proxy.async; by fence.mbarrier_init, which does both
enum FlightKind { INTO_SHARED, INTO_GLOBAL, ARRIVAL, VALUE };      // VALUE: of st.async and red.async
enum { MAP_BYTES = 128, MAP_ALIGNMENT = 64, TILE_ALIGNMENT = 128, MOST_AXES = 5 };   // of a tensor map; of a box in shared memory
enum MapMisuse { NO_PLACE = 1, COPIED_MAP, LOOSE_MAP, NO_MAP, OTHER_RANK, OTHER_NUMBERS, LOOSE_COLUMN, BEHIND_START, NO_REDUCTION, LOOSE_TILE };
enum WarpRole { ISSUED_COPIES = 1, ISSUED_PRODUCTS = 2 };   // bits
enum Kind { LOAD, STORE, ATOMIC };   // ATOMIC: Access.tag is the operation, items are results, b, c: `count` each
enum ByRuntime { ALL_BY_RUNTIME = 1, SHARED_BY_RUNTIME = 2 };   // accesses left to memory_access: of a traced warp; for racecheck
enum HazardKind { RAW, WAR, WAW, UNINITIALISED, MEETING, STRAY, UNFENCED, UNSEEN, OPAQUE, UNAWAITED, PROXY, PENDING, UNORDERED };
                                    // MEETING: warps met at barriers of two lines; address: its number
                                    // STRAY: a shuffle read a lane that took no part; address: the mask of the lane that read
                                    // UNFENCED, UNSEEN (an init): no proxy fence; OPAQUE: an access to an mbarrier's bytes; UNAWAITED: under way at the end
                                    // the last three: of products of a warpgroup, see readers.cuh
enum ImageUse { SAMPLE, GATHER, READ_SURFACE, WRITE_SURFACE };
enum ImageElement { OF_FLOAT, OF_SIGNED, OF_UNSIGNED, OF_HALF };    // the first three are also what a fetch asks for
enum AddressMode { ADDRESS_CLAMP, ADDRESS_BORDER, ADDRESS_WRAP, ADDRESS_MIRROR };
enum Boundary { BOUNDARY_TRAP, BOUNDARY_CLAMP, BOUNDARY_ZERO };
enum Misfit { OTHER_USE = 1, OTHER_DIMENSIONS, NOT_WRITABLE, OTHER_TYPE, NO_SUCH_CHANNEL, NO_SUCH_LEVEL, TEXELS_WANTED };
enum LiveKind { UNIFORM, SPLIT, UNIFORM_PREDICATE };

struct Array { u64 lo, hi, host; u32 writable, pad; };   // device addresses [lo, hi), host address of lo

struct Heap {                  // of a launch: `array` has an Array per allocation, by address; its pad is 1 until it is freed
    u64 array, count, most, next;         // next: the address of the next allocation
    u64 host, run, units, cursor;         // the buffer, and how it is cut into runs of 16 bytes; see heap.cuh
    u64 allocated, bytes, site_bytes;     // not freed yet; what the accesses of a worker found last (Site), in all
};

struct Access {                // one static memory instruction
    u32 kind, space, width, count;        // bytes per element, elements per lane
    u32 sign, line, number, address_bytes;
    i64 offset;
    u32 address, item_bytes, item[16];    // byte offsets in the register file; item_bytes: size of a data register
    u32 has_address, tag;                 // tag: operation of an atomic; bytes of a joined shared load, 1 if another carries it out
};

struct Cross {                 // one instruction that moves values between lanes; operands are byte offsets of registers
    u32 kind, flavour, bytes, number;
    u32 result, predicate, a, b, c, mask;   // ~0: there is none
    u32 known;                              // the mask, where it is a literal; 0: read it
};

struct Call {                  // one call instruction; its data: (offset in the frame, bytes) of results and parameters, (slot, bytes) to save
    u32 number, next, frame, target, slot, returns, params, saved, data, spare;   // target ~0: address in `slot`
};

struct Callee { u32 block, frame, returns, params, data, builtin; };   // block ~0: not defined

struct Tile {                  // one access of a whole warp to a matrix; fragments.py says what lies where
    u32 kind, number, mode, element, neighbours, distinct, copies, per_register, register_bytes, row_major, transposed;
    u32 stride, default_stride;           // register with the elements between rows, ~0: default_stride
    u32 aligned, slot[8];                 // bytes of which the start and the stride must be multiples
};

struct Map { u32 count; u8 row[512], column[512]; };   // element e of lane l at 16 * l + e

struct Product {               // one D = A * B + C
    u32 number, m, n, k, split, kind, c_half, d_half, saturate, signed_a, signed_b;
    u32 a_registers, b_registers, c_registers, d_registers, a[8], b[8], c[8], d[8];
    u32 apart;                 // no register of D is one of A's or B's, and of C's only the one of the same elements
};

struct WideProduct {           // one wgmma.mma_async; ~0: A lies in registers, scale-d is a literal
    u32 number, n, k, bits, kind_a, kind_b, half, saturate;   // bits of an element in memory; half: D holds half precision
    u32 negate_a, negate_b, across_a, across_b, a_descriptor, b_descriptor, accumulate, accumulate_negated;   // across: along M or N
    u32 registers, a[4], d[128];
};

struct Await { u32 number, kind, amount, guarded; };   // another instruction of a warpgroup

struct Issue { u64 product, a, b; u32 accumulate, group; };   // a product that a warp has issued: its descriptors

struct OwnProducts {           // what a warp knows of its products; all numbers count from the beginning of the block
    u64 shadow, held, lent, touched;      // per register: what it will hold; products that write it, that read it; its last ordinary use
    u32 issued, done, delivered, committed, fences, registers;   // done: of the warpgroup, in its first warp; registers: of a thread
    Issue issue[128];
};

struct Scratch {               // of a product: its operands, as rows of A and rows of B (along N)
    u32 words[2048], a_raw[2048], b_raw[8192], c[4096], row[256];
    u32 a_size[2048], a_exponent[2048], b_size[8192], b_exponent[8192];   // floats and numbers with a sign
};

struct ProductReading { u32 count, access, thread, epoch; };   // racecheck: products that read a granule; the last of them, and when it was done

struct Products { u64 own, scratch, readings; u32 free_registers, first_registers; };   // of a worker; own: per warp; readings: of racecheck

struct Copy {                  // one cp.async
    Access target, source;
    u32 number, bytes, from_size, size_slot, ignore_slot, ignore_negated;
};

struct CopyGroup { u32 number, kind, left; };

struct InFlight {              // a cp.async that some lanes have not waited for
    u32 mask, bytes, row, serial, group[LANES], target[LANES];   // row: the places of neighbouring lanes lie side by side
    u64 data[2 * LANES];                  // of all lanes, side by side
};

struct Queue { u32 committed[LANES], first, count, issued, unused; u8 order[256]; InFlight copy[256]; };   // a ring: order[first] is the oldest copy

struct Object {                // an mbarrier of the block
    u64 word;                             // what stands for it in shared memory
    i64 bytes;                            // expected ones less those that have come, in this phase
    u32 at, live, expected, pending, phase, first, arriving, wanted;   // first: phase of the last init; arriving: arrivals under way
    u32 made_by, made_at, made_sync, made_in, seen;   // the thread, epoch and instruction of the init; seen: of Seen, what fences did
    u32 flying, carries, pad;             // copies under way that tell it; carries: bytes have been expected; wanted: 1 + the phase waited for
};

struct ObjectOp {              // one mbarrier instruction, or cp.async.mbarrier.arrive; operands are byte offsets of registers, ~0: none
    Access object;
    u32 number, use, result, count, count_slot, bytes, bytes_slot, phase, phase_slot;
    u32 drop, no_complete, relaxed, parity, free;   // free: the arrival of copies raises the count that it lowers
};

struct BulkCopy {              // one bulk copy; `object` counts only into shared memory
    Access shared, far, object;           // far: in global memory
    u32 number, kind, bytes, bytes_slot, change, element, width, mask_slot;   // change: 1 + a Change of atomics.cuh, 0: a copy
                                          // mask_slot: of the blocks of the cluster that a multicast goes to
};

struct BoxCopy {               // one bulk copy of a box of a tensor; at: its coordinates, the innermost first
    Access shared, map, object;
    u32 number, kind, rank, change, at[5], at_slot[5], mask_slot, spare;   // mask_slot: as BulkCopy has it
};

struct Box {                   // a part of a tensor that is on its way; axes that the tensor lacks have one element
    u64 base, host;                       // where element 0 of the tensor lies: its address, and on the host
    i64 at[5];                            // the first element along each axis, perhaps outside
    u64 extent[5], stride[5];             // of the tensor: elements, and bytes between them
    u32 size[5], step[5];                 // elements of the box, and the distance in the tensor between them
    u32 bytes, number, together, nan;     // of an element; its Number; pieces exchanged among each other; what fills edges
    u32 pitch, gaps;                      // bytes from row to row in shared memory; those of all rows that are no part of the box
};

struct BulkWait { u32 number, kind, left, reading; };   // kind: COMMIT or WAIT_GROUP; reading: only until the sources are read

struct ProxyFence { u32 number, objects; };             // objects: it makes only new mbarriers known

struct Flight {                // a bulk copy that is under way, or arrivals that wait for a warp's asynchronous copies
    u64 host, data;                       // in global memory; what has been read of a source already, 0: nothing
    u32 kind, number, thread, object, bytes, at, group, over;   // at: in shared memory; of arrivals bytes: their lanes, group: their copies
    u32 change, element, width, from;     // from: 1 + the rank of the block in whose shared memory `host` lies
    u64 value[2];                         // of a VALUE
    u32 sender, boxed;                    // 1 + the rank of the block that sent it to another, 0: the block's own;
                                          // boxed: the Box of the same place in Async.boxes says where
};

struct RemoteStore {           // one st.async or red.async; item: slots of the values, ~0: a literal
    Access target, object;
    u32 number, count, width, change, element, item[4], pad;
    u64 value[4];
};

struct Async {                 // what bulk copies and mbarriers of a block have under way
    u32 objects, flights, changes, seen_changes, quiet, ready, columns, threads;
    u32 far, pad;              // the first column of a clock that stands for a warp of the cluster; 0: there are none
    u64 data, data_bytes, data_used;      // of copies whose source was read and whose target was not written yet
    u64 boxes;                            // a Box for each flight, when the kernel copies boxes of tensors
    u32 misused, misused_in, committed[1024];    // misused_in: 1 + the rank of the block that has the mbarrier, 0: this one
    Object object[MOST_OBJECTS];
    Flight flight[MOST_FLIGHTS];
};

struct Bar {                   // one barrier instruction of a block; operands as numbers, or in a register when its slot is not ~0
    u32 number, id, id_slot, count, count_slot, counted, arrive, plain;   // plain: __syncthreads(), the same for all threads
    u32 reduce, result, predicate, negated;                               // 0 no reduction, 1 popc, 2 and, 3 or
    u32 cluster, relaxed;                 // barrier.cluster: 1, 2 of whole warps; relaxed: the arrival orders no accesses
};

struct Image {                 // a texture or a surface of a launch
    u64 host;
    i64 pitch;                            // bytes from one row to the next
    u32 width, height, channels, dimensions, element, bytes;   // in texels; bytes of one channel
    u32 surface, writable, linear, normalized, fractions, address[2], pad;   // fractions: integers become floats from 0 or -1 to 1
};

struct Fetch {                 // one tex, tld4, suld or sust; operands are byte offsets of registers, ~0: there is none
    u32 number, use, dimensions, result, boundary, channel, channels;   // channel to gather; channels that somebody reads
    u32 texels, handle, level, at[2];     // texels: coordinates are integers
    u32 bytes, count, item_bytes, item[4];   // of a surface: bytes per element, elements per lane
};

struct Live { u32 kind, bytes, uniform, slot, lanes, pattern; };   // the last three in uniform memory; pattern 0: constant lanes

struct Pattern {               // what uniform code knows about the lane part of an address (32 differences to a uniform base)
    i64 lo, hi, bits, segment[4];         // least, greatest, all bits together; lanes 0, 8, 16, 24
    u32 stride, spare;                    // step between neighbours inside each 8 lanes, or ~0 when there is none
    u8 sectors[4][32];                    // by log2(bytes / 4) and address mod 32; 0: not counted yet
    u32 waves[2][4], phases[2][4];        // by store, log2(bytes / 4); 0: not counted yet
};

struct Site {                  // what an access of some lanes found last; codegen/reference/access.py reads it
    i64 lane[LANES];                      // address minus that of the first active lane; 0 for the others
    u64 lo, span, shift;                  // addresses [lo, lo + span) are good; host minus device address
    u32 mask, waves, phases, row;         // row: neighbouring lanes lie side by side
    u8 sectors[32];                       // by the first address mod 32; 0: not counted yet
};

struct Hazard { u32 kind, first, second, block[3], first_thread, second_thread; u64 address, count, first_in, lies_in; };
                               // 1 + the number of the first thread's block and of the one that has the memory, 0: all is the second's

struct Cell {                  // shadow of one granule of shared memory
    u32 write_epoch, write_sync, writer, write_access;
    u32 read_epoch, read_sync, reader, read_access;
    u32 reader2, read_access2, read_sync2, written;
    u32 via, proxied;          // via: 1 + the mbarrier that the last write told, write_epoch is its phase; proxied: a bulk copy wrote
    u32 object, source, source_access, source_thread;   // object: 1 + the mbarrier here; source: of so many copies that have not read it yet
};

struct Readers { u32 epoch, lanes, access, sync; };       // the last reading of a granule by a warp, where mbarriers order accesses

struct FarReading { u32 thread, epoch, access; };         // thread: 1 + its number in its block, 0: none
struct FarCell {               // shadow of a granule: what other blocks of the cluster did there; `block`: 1 + the rank of the last writer's
    u32 block, thread, epoch, access;
    FarReading reading[MOST_BLOCKS];      // of each block the last one
};

struct Note {                  // an access of a whole warp that uniform code found free of hazards; see hazards.cuh
    u64 lanes;                            // host address of the lane part; 0: it follows this note
    i64 base;
    u64 access;                           // host address of the Access
    u32 sync, warp;                       // bit 31 of warp: lanes of 8 bytes, else 4
};

struct Record { u32 step, block, warp, access, mask, event; u64 address[LANES]; };

struct Launch {
    u32 grid[3], block[3];
    u32 threads, warps, blocks_of_code, arrays;
    u64 array, reference, uniform, block_size, uniform_blocks, live_start, live, warp_order;
    u64 shared_bytes, shared_begin, local_bytes, warp_bytes, pending_offset, bits_offset, register_offset, uniform_offset;
    u64 special, specials;     // pairs (which, slot)
    i64 max_steps;
    u32 racecheck, granule_shift, trace_pairs, interleaved, strict_barriers, strict_shuffles;
    u32 together, last_first;  // all blocks are resident; the last one that can run does
    u32 stray, stray_step, stray_given;   // what a shuffle reads from a lane that takes no part, if given
    u64 poison, poison_step;   // the first 8 bytes of a new block's shared memory, and the step to the next
    u64 trace_pair;            // pairs (linear block, warp)
    u64 params, constants, constant_bytes, stop;
    u64 calls, callees, callee_count, call_data, stack_bytes, kernel_frame, print;   // stack_bytes 0: the kernel calls nothing
    u32 entry_block, frame_slot;
    u64 heap;                  // a Heap, 0 when the kernel allocates nothing
    u64 images, image_count;   // each an Image
    u64 polls;                 // per block of code: 1 when it may wait in a loop for another thread
    u32 cluster[3], cluster_blocks;       // blocks of a cluster along x, y, z, and in all
};

struct Worker {
    u64 launch, warps, shared, local, shadow, executed, threads, dynamic, uniform_executed, deopts;
    u64 records, record_limit, record_count, hazards, hazard_count, sites;
    u32 fault, fault_access, fault_lane, fault_warp, fault_block[3], fault_code_block;
    u64 fault_address, block_number;
    u32 epoch, turn;           // turn: of a block among others that are resident, see schedule.cuh
    u64 queues;                // one Queue a warp, when the kernel copies asynchronously
    u64 products;              // a Products, when the kernel has instructions of warpgroups
    u64 epochs, lines, notes, next_note, last_note, cells_used;   // racecheck, see hazards.cuh
    u64 late, clocks, readers; // an Async, and what racecheck knows with it (clocks.cuh); 0 without mbarriers and bulk copies
    u64 stages[MOST_OBJECTS];  // how many waits for bytes were over while copies for so many other mbarriers were under way
    u64 role_warps[4], role_steps[4];     // by WarpRole: warps of blocks that have ended, and their instructions
    u32 floor, named;          // accesses up to epoch `floor` lie before a barrier of all warps; named: other barriers were used
    u32 known[32 * 32], bar_known[16 * 32];   // per warp: up to which epoch it has waited for each other one; the same per barrier
    u32 bar_arrived[16], bar_expected[16];   // per barrier: threads that have come, and how many are to come
    u64 cluster;               // a Cluster, 0 where a block is a cluster by itself
    u32 rank, ended;           // of the block in it; ended: its shared memory is gone
    u64 far, far_used;         // racecheck: a FarCell per granule
};

struct Cluster { u64 worker[MOST_BLOCKS]; u32 blocks, spare; };   // of blocks that run together, by rank

struct Warp {
    u32 mask, alive, exists, index, state, resume, sync, traced;
    u64 launch, worker, functions, pending, bits, registers, uniform, local;
    i64 steps;
    u32 block[3], no_uniform;
    u32 in_uniform, barrier, slice, parked, parked_at, by_runtime;   // by_runtime: which accesses memory_access carries out
    u64 params, constants, shared, shared_bytes, stack, bar;
    u32 bar_id, bar_count, bar_true, bar_lanes;   // where the warp waits: barrier, threads (0: all), lanes with a true predicate, lanes
    u32 synced, skip, patience, spun, park_next[32], sync_next[32], sync_mask[32], sync_at[32];   // lanes at __syncwarp
    u64 sync_cross[32];        // lanes that wait at an exchange: its Cross; 0: they wait at __syncwarp
    u32 granted, role;         // lanes whose exchange has taken place; they go on behind it; role: of WarpRole, what it has issued
    u32 blocked, stalled, wait_number, wait_lane, wait_object, wait_phase;   // by an mbarrier: just now; when its turn ended
    u64 window;                // the block's rank in its cluster, where addresses of shared memory have it
    u32 arrived, met;          // lanes that came to the cluster's barrier, which has not opened yet; which has, and they have still to wait
};

__device__ __forceinline__ u32 lowest(u32 mask) { return __ffs(mask) - 1; }
