"""The inner loops of a tensor core's sums, eight columns of the result at a time, as LLVM code that `runtime/products.cuh` calls.

`runtime/fused.cuh` says what a sum is; these functions compute the same for finite numbers. A number is a significand, as a float, and an
exponent in two arrays; a zero has an exponent so low that it never decides where the sum is cut off. All products of a sum, shifted, fit
into 31 bits.
"""

GUARD, GUARD_OF_EIGHTS, ZERO = 25, 13, -4096  # bits that a sum keeps behind its point (of factors of 8 bits); the exponent of zeros

UNPACK = """
define i32 @"unpack_parts"(i64 %from, i64 %sizes, i64 %exponents, i32 %count, i32 %fraction, i32 %width) nounwind {
entry:
  %raw = inttoptr i64 %from to ptr
  %s = inttoptr i64 %sizes to ptr
  %e = inttoptr i64 %exponents to ptr
  %last = sub i32 %width, 1
  %field = sub i32 %last, %fraction
  %one = shl i32 1, %fraction
  %low = sub i32 %one, 1
  %full = shl i32 1, %field
  %most = sub i32 %full, 1
  %bias = lshr i32 %most, 1
SPLATS
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %odd = phi <8 x i1> [zeroinitializer, %entry], [%odder, %loop]
  %here = getelementptr i32, ptr %raw, i32 %i
  %bits = load <8 x i32>, ptr %here, align 4
  %shifted = lshr <8 x i32> %bits, %v.fraction
  %given = and <8 x i32> %shifted, %v.most
  %m = and <8 x i32> %bits, %v.low
  %signs = lshr <8 x i32> %bits, %v.last
  %sign = and <8 x i32> %signs, splat (i32 1)
  %special = icmp eq <8 x i32> %given, %v.most
  %odder = or <8 x i1> %odd, %special
  %small = icmp eq <8 x i32> %given, zeroinitializer
  %whole = or <8 x i32> %m, %v.one
  %size = select <8 x i1> %small, <8 x i32> %m, <8 x i32> %whole
  %minus = sub <8 x i32> zeroinitializer, %sign
  %flipped = xor <8 x i32> %size, %minus
  %signed = sub <8 x i32> %flipped, %minus
  %least = select <8 x i1> %small, <8 x i32> splat (i32 1), <8 x i32> %given
  %exponent = sub <8 x i32> %least, %v.bias
  %none = icmp eq <8 x i32> %size, zeroinitializer
  %final = select <8 x i1> %none, <8 x i32> splat (i32 ZERO), <8 x i32> %exponent
  %s.here = getelementptr i32, ptr %s, i32 %i
  %float = sitofp <8 x i32> %signed to <8 x float>
  store <8 x float> %float, ptr %s.here, align 4
  %e.here = getelementptr i32, ptr %e, i32 %i
  store <8 x i32> %final, ptr %e.here, align 4
  %next = add i32 %i, 8
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  %any = bitcast <8 x i1> %odder to i8
  %result = zext i8 %any to i32
  ret i32 %result
}
"""

SUM = """
define i32 @"NAME"(i64 %as, i64 %ae, i64 %bs, i64 %be, i64 %cs, i64 %ds, i64 %tops, i32 %depth, i32 %stride, i32 %shift) nounwind {
entry:
  %a.s = inttoptr i64 %as to ptr
  %a.e = inttoptr i64 %ae to ptr
  %b.s = inttoptr i64 %bs to ptr
  %b.e = inttoptr i64 %be to ptr
  %c.p = inttoptr i64 %cs to ptr
  %d.p = inttoptr i64 %ds to ptr
  %t.p = inttoptr i64 %tops to ptr
SPLATS
  %c = load <8 x i32>, ptr %c.p, align 4
  %c.shifted = lshr <8 x i32> %c, splat (i32 FRACTION)
  %c.given = and <8 x i32> %c.shifted, splat (i32 MOST)
  %c.m = and <8 x i32> %c, splat (i32 LOW)
  %c.special = icmp eq <8 x i32> %c.given, splat (i32 MOST)
  %c.bits = bitcast <8 x i1> %c.special to i8
  %special = zext i8 %c.bits to i32
  %c.small = icmp eq <8 x i32> %c.given, zeroinitializer
  %c.whole = or <8 x i32> %c.m, splat (i32 ONE)
  %c.size = select <8 x i1> %c.small, <8 x i32> %c.m, <8 x i32> %c.whole
  %c.least = select <8 x i1> %c.small, <8 x i32> splat (i32 1), <8 x i32> %c.given
  %c.exponent = sub <8 x i32> %c.least, splat (i32 BIAS)
  %c.none = icmp eq <8 x i32> %c.size, zeroinitializer
  %c.final = select <8 x i1> %c.none, <8 x i32> splat (i32 ZERO), <8 x i32> %c.exponent
  %top.0 = call <8 x i32> @llvm.smax.v8i32(<8 x i32> %c.final, <8 x i32> splat (i32 -126))
  switch i32 %depth, label %by.LAST [ CHOICES ]
BODIES
between:
  %top = phi <8 x i32> TOPS
  %sum = phi <8 x i32> SUMS
  %c.far = sub <8 x i32> %top, %c.final
  %c.by = call <8 x i32> @llvm.umin.v8i32(<8 x i32> %c.far, <8 x i32> splat (i32 31))
  %c.high = MAKE_ROOM <8 x i32> %c.size, splat (i32 ROOM)
  %c.cut = lshr <8 x i32> %c.high, %c.by
  %c.up = shl <8 x i32> %c, splat (i32 UP)
  %c.minus = ashr <8 x i32> %c.up, splat (i32 31)
  %c.flipped = xor <8 x i32> %c.cut, %c.minus
  %c.part = sub <8 x i32> %c.flipped, %c.minus
TAIL
  ret i32 %special
}
"""

# A product of significands is exact in single precision. So is its product with the power of two that shifts it, unless it is below 1,
# where nothing of it is left after it has been cut off.
TERM = """
  %b.at.D.K = mul i32 %stride, K
  %e.D.K = call <8 x i32> @exponents(ptr %a.e, ptr %b.e, i32 K, i32 %b.at.D.K)
  %top.D.K = call <8 x i32> @llvm.smax.v8i32(<8 x i32> %e.D.K, <8 x i32> TOP)"""
PART = """
  %p.D.K = call <8 x float> @products(ptr %a.s, ptr %b.s, i32 K, i32 %b.at.D.K)
  %by.D.K = sub <8 x i32> %e.D.K, %low.D
  %field.D.K = call <8 x i32> @llvm.smax.v8i32(<8 x i32> %by.D.K, <8 x i32> zeroinitializer)
  %bits.D.K = shl <8 x i32> %field.D.K, splat (i32 23)
  %power.D.K = bitcast <8 x i32> %bits.D.K to <8 x float>
  %scaled.D.K = fmul <8 x float> %p.D.K, %power.D.K
  %part.D.K = fptosi <8 x float> %scaled.D.K to <8 x i32>
  %sum.D.K = add <8 x i32> SUM, %part.D.K"""
DEPTHS, DEPTH_OF_EIGHTS = (4, 8, 16), (32,)


def body(depth: int) -> str:
    """Return the code for sums of `depth` products: the largest exponent, and all products cut off."""
    lines = [f"by.{depth}:"]
    for k in range(depth):
        lines.append(TERM.replace("TOP", f"%top.D.{k - 1}" if k else "%top.0").replace("K", str(k)))
    lines += ["", f"  %room.D = add <8 x i32> %v.shift, splat (i32 127)\n  %low.D = sub <8 x i32> %top.D.{depth - 1}, %room.D"]
    for k in range(depth):
        lines.append(PART.replace("SUM", f"%sum.D.{k - 1}" if k else "zeroinitializer").replace("K", str(k)))
    return "".join(lines).replace("D.", f"{depth}.").replace("room.D", f"room.{depth}").replace(".D", f".{depth}") + "\n  br label %between"


HELPER = """
define internal <8 x TYPE> @NAME(ptr %a, ptr %b, i32 %i, i32 %at) alwaysinline nounwind {
  %a.at = getelementptr i32, ptr %a, i32 %i
  %b.at = getelementptr i32, ptr %b, i32 %at
  %one = load TYPE, ptr %a.at, align 4
  %head = insertelement <8 x TYPE> poison, TYPE %one, i32 0
  %all = shufflevector <8 x TYPE> %head, <8 x TYPE> poison, <8 x i32> zeroinitializer
  %row = load <8 x TYPE>, ptr %b.at, align 4
  %result = OP <8 x TYPE> %all, %row
  ret <8 x TYPE> %result
}
"""
HELPERS = "".join(HELPER.replace("NAME", name).replace("OP", op).replace("TYPE", kind)
                  for name, op, kind in (("exponents", "add", "i32"), ("products", "fmul", "float")))

# A double holds the sum exactly: its significand is cut off to 24 bits, or, for a subnormal float, at that float's last place.
TO_FLOAT = """
  %wide = sitofp <8 x i32> %sum to <8 x double>
  %c.wide = sitofp <8 x i32> %c.part to <8 x double>
  %d = fadd <8 x double> %wide, %c.wide
  %t.wide = sext <8 x i32> %top to <8 x i64>
  %t.biased = add <8 x i64> %t.wide, splat (i64 POINT)
  %t.bits = shl <8 x i64> %t.biased, splat (i64 52)
  %scale = bitcast <8 x i64> %t.bits to <8 x double>
  %d.bits = bitcast <8 x double> %d to <8 x i64>
  %d.cut = and <8 x i64> %d.bits, splat (i64 -536870912)
  %d.short = bitcast <8 x i64> %d.cut to <8 x double>
  %scaled = fmul <8 x double> %d.short, %scale
  %float = fptrunc <8 x double> %scaled to <8 x float>
  %normal = bitcast <8 x float> %float to <8 x i32>
  %exact = fmul <8 x double> %d, %scale
  %positive = call <8 x double> @llvm.fabs.v8f64(<8 x double> %exact)
  %subnormal = fcmp olt <8 x double> %positive, splat (double 0x3810000000000000)
  %nonzero = fcmp one <8 x double> %positive, zeroinitializer
  %seldom = and <8 x i1> %subnormal, %nonzero
  %some = bitcast <8 x i1> %seldom to i8
  %usual = icmp eq i8 %some, 0
  store <8 x i32> %normal, ptr %d.p, align 4
  br i1 %usual, label %done, label %tiny.ones
done:
  ret i32 %special
tiny.ones:
  %places = fmul <8 x double> %positive, splat (double 0x4940000000000000)
  %safe = select <8 x i1> %subnormal, <8 x double> %places, <8 x double> zeroinitializer
  %m = fptosi <8 x double> %safe to <8 x i32>
  %upper = lshr <8 x i64> %d.bits, splat (i64 32)
  %upper.half = trunc <8 x i64> %upper to <8 x i32>
  %sign = and <8 x i32> %upper.half, splat (i32 -2147483648)
  %tiny = or <8 x i32> %m, %sign
  %result = select <8 x i1> %subnormal, <8 x i32> %tiny, <8 x i32> %normal
  store <8 x i32> %result, ptr %d.p, align 4"""

AS_IT_IS = """
  %wide = sext <8 x i32> %sum to <8 x i64>
  %c.wide = sext <8 x i32> %c.part to <8 x i64>
  %all = add <8 x i64> %wide, %c.wide
  store <8 x i64> %all, ptr %d.p, align 8
  store <8 x i32> %top, ptr %t.p, align 4"""


def splats(*names: str) -> str:
    """Return code that copies scalars `%name` into vectors `%v.name`."""
    return "\n".join(f"  %h.{name} = insertelement <8 x i32> poison, i32 %{name}, i32 0\n  %v.{name} = shufflevector <8 x i32> %h.{name}, "
                     "<8 x i32> poison, <8 x i32> zeroinitializer" for name in names)


def sums(name: str, fraction: int, width: int, tail: str, guard: int = GUARD, depths: tuple[int, ...] = DEPTHS) -> str:
    """Return a function that adds products to C, whose numbers have `fraction` bits of `width`, and ends with `tail`.

    It returns 0 unless some number of C is infinite or none; then what it stored means nothing.
    """
    most = (1 << (width - 1 - fraction)) - 1
    words = {"NAME": name, "SPLATS": splats("shift"), "TAIL": tail, "FRACTION": fraction, "MOST": most, "LOW": (1 << fraction) - 1,
             "ONE": 1 << fraction, "BIAS": most // 2, "MAKE_ROOM": "shl" if guard >= fraction else "lshr", "ROOM": abs(guard - fraction),
             "UP": 32 - width, "ZERO": ZERO, "POINT": 1023 - guard, "LAST": depths[-1],
             "CHOICES": " ".join(f"i32 {d}, label %by.{d}" for d in depths[:-1])}
    ends = [(f"%top.{d}.{d - 1}", f"%sum.{d}.{d - 1}", f"%by.{d}") for d in depths]
    text = SUM.replace("BODIES", "\n".join(map(body, depths)))
    text = text.replace("TOPS", ", ".join(f"[{top}, {label}]" for top, _, label in ends))
    text = text.replace("SUMS", ", ".join(f"[{total}, {label}]" for _, total, label in ends))
    for word, value in words.items():
        text = text.replace(word, str(value))
    return text


def functions() -> dict[str, str]:
    """Return the functions by name, for `scalar.lower_module`."""
    return {"unpack_parts": UNPACK.replace("SPLATS", splats("fraction", "last", "low", "most", "one", "bias")).replace("ZERO", str(ZERO)),
            "sums_of_floats": sums("sums_of_floats", 23, 32, TO_FLOAT) + HELPERS,
            "sums_of_halves": sums("sums_of_halves", 10, 16, AS_IT_IS),
            "eights_to_floats": sums("eights_to_floats", 23, 32, TO_FLOAT, GUARD_OF_EIGHTS, DEPTH_OF_EIGHTS),
            "eights_to_halves": sums("eights_to_halves", 10, 16, AS_IT_IS, GUARD_OF_EIGHTS, DEPTH_OF_EIGHTS)}
