"""Registers of all lanes, copied and compared at once, as LLVM code: what `runtime/control.cuh` calls when a warp changes its code."""

SPREAD = """
define void @"spread_BYTES"(i64 %slot, i64 %base, i64 %lanes) nounwind {
entry:
  %to = inttoptr i64 %slot to ptr
  VALUE
  %head = insertelement <32 x TYPE> poison, TYPE %value, i32 0
  %all = shufflevector <32 x TYPE> %head, <32 x TYPE> poison, <32 x i32> zeroinitializer
  %once = icmp eq i64 %lanes, 0
  br i1 %once, label %same, label %split
same:
  store <32 x TYPE> %all, ptr %to, align 4
  ret void
split:
  %from = inttoptr i64 %lanes to ptr
  %parts = load <32 x TYPE>, ptr %from, align 4
  %sum = add <32 x TYPE> %all, %parts
  store <32 x TYPE> %sum, ptr %to, align 4
  ret void
}
"""

HELD = """
define i32 @"holds_BYTES"(i64 %slot, i64 %base, i64 %lanes) nounwind {
entry:
  %at = inttoptr i64 %slot to ptr
  VALUE
  %head = insertelement <32 x TYPE> poison, TYPE %value, i32 0
  %all = shufflevector <32 x TYPE> %head, <32 x TYPE> poison, <32 x i32> zeroinitializer
  %held = load <32 x TYPE>, ptr %at, align 4
  %once = icmp eq i64 %lanes, 0
  br i1 %once, label %compare, label %split
split:
  %from = inttoptr i64 %lanes to ptr
  %parts = load <32 x TYPE>, ptr %from, align 4
  %sum = add <32 x TYPE> %all, %parts
  br label %compare
compare:
  %wanted = phi <32 x TYPE> [%all, %entry], [%sum, %split]
  %differ = icmp ne <32 x TYPE> %held, %wanted
  %bits = bitcast <32 x i1> %differ to i32
  %none = icmp eq i32 %bits, 0
  %result = zext i1 %none to i32
  ret i32 %result
}
"""


def functions() -> dict[str, str]:
    """Return the functions by name, for `scalar.lower_module`; BYTES are those of a register in a lane."""
    found = {}
    for size in (4, 8):
        kind = f"i{8 * size}"
        value = "%value = trunc i64 %base to i32" if size == 4 else "%value = add i64 %base, 0"
        for name, text in (("spread", SPREAD), ("holds", HELD)):
            text = text.replace("VALUE", value)
            found[f"{name}_{size}"] = text.replace("BYTES", str(size)).replace("TYPE", kind)
    return found
