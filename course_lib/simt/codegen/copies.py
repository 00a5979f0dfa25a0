"""Addresses of all lanes, made and compared at once, as LLVM code: what `runtime/async.cuh` calls for a copy of a whole warp.

Addresses are 32 integers of 64 bits in memory. A set of lanes is the bits of an i32.
"""

ADDRESSES = """
define void @"addresses_BYTES"(i64 %slot, i64 %offset, i64 %out) nounwind {
entry:
  %at = inttoptr i64 %slot to ptr
  %to = inttoptr i64 %out to ptr
  %values = load <32 x TYPE>, ptr %at, align 4
  %part = trunc i64 %offset to i32
  %head = insertelement <32 x TYPE> poison, TYPE PART, i32 0
  %all = shufflevector <32 x TYPE> %head, <32 x TYPE> poison, <32 x i32> zeroinitializer
  %sums = add <32 x TYPE> %values, %all
  %wide = WIDEN
  store <32 x i64> %wide, ptr %to, align 8
  ret void
}
"""

INSIDE = """
define i32 @lanes_inside(i64 %addresses, i64 %low, i64 %span) nounwind {
entry:
  %at = inttoptr i64 %addresses to ptr
  %values = load <32 x i64>, ptr %at, align 8
  %low.head = insertelement <32 x i64> poison, i64 %low, i32 0
  %low.all = shufflevector <32 x i64> %low.head, <32 x i64> poison, <32 x i32> zeroinitializer
  %span.head = insertelement <32 x i64> poison, i64 %span, i32 0
  %span.all = shufflevector <32 x i64> %span.head, <32 x i64> poison, <32 x i32> zeroinitializer
  %behind = sub <32 x i64> %values, %low.all
  %good = icmp ult <32 x i64> %behind, %span.all
  %bits = bitcast <32 x i1> %good to i32
  ret i32 %bits
}
"""

ALIGNED = """
define i32 @lanes_aligned(i64 %addresses, i64 %odd) nounwind {
entry:
  %at = inttoptr i64 %addresses to ptr
  %values = load <32 x i64>, ptr %at, align 8
  %head = insertelement <32 x i64> poison, i64 %odd, i32 0
  %all = shufflevector <32 x i64> %head, <32 x i64> poison, <32 x i32> zeroinitializer
  %rest = and <32 x i64> %values, %all
  %good = icmp eq <32 x i64> %rest, zeroinitializer
  %bits = bitcast <32 x i1> %good to i32
  ret i32 %bits
}
"""

EQUAL = """
define i32 @lanes_equal(i64 %slot, i32 %value) nounwind {
entry:
  %at = inttoptr i64 %slot to ptr
  %values = load <32 x i32>, ptr %at, align 4
  %head = insertelement <32 x i32> poison, i32 %value, i32 0
  %all = shufflevector <32 x i32> %head, <32 x i32> poison, <32 x i32> zeroinitializer
  %good = icmp eq <32 x i32> %values, %all
  %bits = bitcast <32 x i1> %good to i32
  ret i32 %bits
}
"""

REPEATS = """
define i32 @repeats_pattern(i64 %site, i64 %addresses, i64 %first, i32 %mask) nounwind {
entry:
  %at = inttoptr i64 %addresses to ptr
  %held = inttoptr i64 %site to ptr
  %values = load <32 x i64>, ptr %at, align 8
  %old = load <32 x i64>, ptr %held, align 8
  %head = insertelement <32 x i64> poison, i64 %first, i32 0
  %all = shufflevector <32 x i64> %head, <32 x i64> poison, <32 x i32> zeroinitializer
  %lanes = bitcast i32 %mask to <32 x i1>
  %distance = sub <32 x i64> %values, %all
  %pattern = select <32 x i1> %lanes, <32 x i64> %distance, <32 x i64> zeroinitializer
  %differ = icmp ne <32 x i64> %old, %pattern
  %bits = bitcast <32 x i1> %differ to i32
  %same = icmp eq i32 %bits, 0
  %result = zext i1 %same to i32
  store <32 x i64> %pattern, ptr %held, align 8
  ret i32 %result
}
"""

READY = """
define i32 @lanes_ready(i64 %groups, i64 %committed, i32 %left) nounwind {
entry:
  %at = inttoptr i64 %groups to ptr
  %now = inttoptr i64 %committed to ptr
  %group = load <32 x i32>, ptr %at, align 4
  %count = load <32 x i32>, ptr %now, align 4
  %head = insertelement <32 x i32> poison, i32 %left, i32 0
  %all = shufflevector <32 x i32> %head, <32 x i32> poison, <32 x i32> zeroinitializer
  %enough = add <32 x i32> %group, %all
  %good = icmp ult <32 x i32> %enough, %count
  %bits = bitcast <32 x i1> %good to i32
  ret i32 %bits
}
"""

COMMIT = """
define void @commit_lanes(i64 %committed, i32 %mask) nounwind {
entry:
  %at = inttoptr i64 %committed to ptr
  %count = load <32 x i32>, ptr %at, align 4
  %lanes = bitcast i32 %mask to <32 x i1>
  %one = zext <32 x i1> %lanes to <32 x i32>
  %sum = add <32 x i32> %count, %one
  store <32 x i32> %sum, ptr %at, align 4
  ret void
}
"""

NARROW = """
define void @narrow_lanes(i64 %to, i64 %from) nounwind {
entry:
  %at = inttoptr i64 %from to ptr
  %there = inttoptr i64 %to to ptr
  %values = load <32 x i64>, ptr %at, align 8
  %low = trunc <32 x i64> %values to <32 x i32>
  store <32 x i32> %low, ptr %there, align 4
  ret void
}
"""

ROW = """
define void @copy_row_BYTES(i64 %to, i64 %from) nounwind {
entry:
  %at = inttoptr i64 %from to ptr
  %there = inttoptr i64 %to to ptr
  %all = load <COUNT x i32>, ptr %at, align 4
  store <COUNT x i32> %all, ptr %there, align 4
  ret void
}
"""


def functions() -> dict[str, str]:
    """Return the functions by name, for `scalar.lower_module`; BYTES are those of a register, or of a copy, in a lane."""
    found = {"lanes_inside": INSIDE, "lanes_aligned": ALIGNED, "lanes_equal": EQUAL, "repeats_pattern": REPEATS, "lanes_ready": READY,
             "commit_lanes": COMMIT, "narrow_lanes": NARROW}
    widened = {4: ("i32", "%part", "zext <32 x i32> %sums to <32 x i64>"),
               8: ("i64", "%offset", "add <32 x i64> %sums, zeroinitializer")}
    for size, (kind, part, widen) in widened.items():
        text = ADDRESSES.replace("TYPE", kind).replace("PART", part).replace("WIDEN", widen)
        found[f"addresses_{size}"] = text.replace("BYTES", str(size))
    for size in (4, 8, 16):
        found[f"copy_row_{size}"] = ROW.replace("BYTES", str(size)).replace("COUNT", str(8 * size))
    return found
