"""The structures of `runtime/`, field by field, as the Python side fills them."""

import ctypes
from ctypes import c_int64 as i64
from ctypes import c_uint8 as u8
from ctypes import c_uint32 as u32
from ctypes import c_uint64 as u64

LANES = 32
FAULTS = ("none", "out of bounds", "misaligned", "divergent barrier", "step budget", "read only",
          "barrier mismatch", "stopped", "stack overflow", "invalid target", "trap", "assertion", "partial warp", "lanes differ",
          "stride", "copy size", "barrier misuse", "stuck lanes")
HAZARDS = ("RAW", "WAR", "WAW", "uninitialised")
SPACES = {"generic": 0, "global": 1, "shared": 2, "local": 3, "const": 4, "frame": 5}
UNIFORM, SPLIT, UNIFORM_PREDICATE = range(3)
EXITED, BARRIER, DIVERGED, CONVERGED, FAILED, YIELDED, PARTED = range(7)
GLOBAL_VARIABLES = 1 << 39  # device address where `__device__` variables lie
SHARED_WINDOW, LOCAL_WINDOW, CONSTANT_WINDOW = 0x1000000, 0x2000000, 0x3000000
COUNTS = 8  # per access: executed, threads, sectors, wavefronts, phases, global, guarded, guarded threads


def structure(name, *fields):
    """Make a ctypes structure from (type, "name name …") groups; `name*3` is an array."""
    members = []
    for kind, names in fields:
        for field in names.split():
            stem, _, count = field.partition("*")
            members.append((stem, kind * int(count) if count else kind))
    return type(name, (ctypes.Structure,), {"_fields_": members})


Array = structure("Array", (u64, "lo hi host"), (u32, "writable pad"))
Access = structure(
    "Access", (u32, "kind space width count sign line number address_bytes"), (i64, "offset"),
    (u32, "address item_bytes item*4 has_address tag"),
)
Live = structure("Live", (u32, "kind bytes fast slot lanes pattern"))
Hazard = structure("Hazard", (u32, "kind first second block*3 first_thread second_thread"), (u64, "address count"))
Cell = structure("Cell", (u32, "fields*12"))
Record = structure("Record", (u32, "step block warp access mask event"), (u64, "address*32"))
Cross = structure("Cross", (u32, "kind flavour bytes number result predicate a b c mask"))
Call = structure("Call", (u32, "number next frame target slot returns params saved data spare"))
Bar = structure("Bar", (u32, "number id id_slot count count_slot counted arrive plain reduce result predicate negated"))
Callee = structure("Callee", (u32, "block frame returns params data builtin"))
Launch = structure(
    "Launch", (u32, "grid*3 block*3 threads warps blocks_of_code arrays"),
    (u64, "array masked fast block_size fastable live_start live warp_order shared_bytes local_bytes warp_bytes"),
    (u64, "pending_offset bits_offset register_offset fast_offset special specials"), (i64, "max_steps"),
    (u32, "racecheck granule_shift trace_pairs interleaved"), (u64, "trace_pair params constants constant_bytes stop"),
    (u64, "calls callees callee_count call_data stack_bytes kernel_frame print"), (u32, "entry_block frame_slot"), (u64, "polls"),
)
Worker = structure(
    "Worker", (u64, "launch warps shared local shadow executed threads dynamic fast_executed deopts"),
    (u64, "records record_limit record_count hazards hazard_count sites"),
    (u32, "fault fault_access fault_lane fault_warp fault_block*3 fault_code_block"),
    (u64, "fault_address block_number"), (u32, "epoch tracing"), (u64, "queues"),
    (u64, "epochs lines notes next_note last_note cells_used"),
    (u32, "floor named known*1024 bar_known*512 bar_arrived*16 bar_expected*16"),
)
Warp = structure(
    "Warp", (u32, "mask alive exists index state resume sync traced"),
    (u64, "launch worker functions pending bits registers fast local"), (i64, "steps"),
    (u32, "block*3 no_fast in_fast barrier slice parked parked_at careful"), (u64, "params constants shared shared_bytes stack bar"),
    (u32, "bar_id bar_count bar_true bar_lanes synced skip patience spun park_next*32 sync_next*32 sync_mask*32 sync_at*32"),
)
Pattern = structure("Pattern", (i64, "lo hi bits segment*4"), (u32, "stride spare"), (u8, "sectors*128"), (u32, "waves*8 phases*8"))
Site = structure("Site", (i64, "lane*32"), (u64, "lo span shift"), (u32, "mask waves phases row"), (u8, "sectors*32"))
Note = structure("Note", (u64, "lanes"), (i64, "base"), (u64, "access"), (u32, "sync warp"))
Tile = structure(
    "Tile", (u32, "kind number mode element neighbours distinct copies per_register register_bytes row_major turned"),
    (u32, "stride default_stride aligned slot*8"),
)
Map = structure("Map", (u32, "count"), (u8, "row*512 column*512"))
Product = structure(
    "Product", (u32, "number m n k split kind c_half d_half saturate signed_a signed_b a_registers b_registers c_registers d_registers"),
    (u32, "a*8 b*8 c*8 d*8"),
)
Copy = structure("Copy", (Access, "target source"), (u32, "number bytes from_size size_slot ignore_slot ignore_negated"))
CopyGroup = structure("CopyGroup", (u32, "kind left"))
InFlight = structure("InFlight", (u32, "mask number bytes pad group*32"), (u64, "target*32 data*64"))
Queue = structure("Queue", (u32, "committed*32 first count"), (InFlight, "copy*256"))
STRUCTURES = (Array, Access, Live, Hazard, Cell, Record, Launch, Worker, Warp, Pattern, Cross, Site, Call, Callee, Tile, Map, Product,
              Copy, CopyGroup, InFlight, Queue, Note, Bar)
SITE_BYTES = 384  # a Site, rounded up to 64
MAX_HAZARDS = 512
NOTE_BYTES = 1 << 18  # of notes between two barriers; more are settled at once
LINE_BYTES = 128  # of shared memory for which one reading is noted
# The runtime's functions that translated kernels call, in the order of the table that `Warp.functions` points to.
FUNCTIONS = ("memory_access", "next_block", "branch", "arrive", "sync_warp", "count_guarded", "lookup", "analyze",
             "pattern_sectors", "pattern_waves", "cross_lanes", "wait_lanes",
             "find_site", "count_site", "new_site",
             "call_function", "return_function", "branch_indexed", "trap", "read_clock",
             "access_tile", "multiply", "copy_async", "copy_group",
             "check_exactly", "settle", "mark_lines", "lines_read", "arrive_only")
TESTED = ("count_sectors", "count_wavefronts", "sizes", "host_of")  # further functions that Python calls


def at(field, owner=Warp):
    """Return the byte offset of a field of a structure, for IR text."""
    return getattr(owner, field).offset
