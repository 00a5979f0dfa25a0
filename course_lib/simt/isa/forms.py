"""The rows of the table of coverage (`coverage.py`): (pattern, operands) by section of the PTX manual."""

INT = "u16|u32|u64|s16|s32|s64"
ORDER = "eq|ne|lt|le|gt|ge"
FLOAT_ORDER = f"{ORDER}|equ|neu|ltu|leu|gtu|geu|num|nan"
JOIN = "[.and|.or|.xor]"
ROUND = "[.rn|.rz|.rm|.rp]"
WHOLE = "rni|rzi|rmi|rpi"
SCOPE = "cta|cluster|gpu|sys"
ANY_INT = f"u8|s8|{INT}"

ARITHMETIC = (
    (f"(add|sub|min|max).({INT})", "d, a, b"),
    ("(add|sub).sat.s32", "d, a, b"),
    ("(add|min|max).(u16x2|s16x2)", "d, a, b"),
    ("(min|max).relu.(s32|s16x2)", "d, a, b"), ("(min|max).(s32|s16x2).relu", "d, a, b"),
    (f"mul.(lo|hi).({INT})", "d, a, b"), ("mul.wide.(u16|u32|s16|s32)", "d, a, b"),
    (f"mad.(lo|hi).({INT})", "d, a, b, c"), ("mad.wide.(u16|u32|s16|s32)", "d, a, b, c"), ("mad.hi.sat.s32", "d, a, b, c"),
    ("mul24.(lo|hi).(u32|s32)", "d, a, b"), ("mad24.(lo|hi).(u32|s32)", "d, a, b, c"), ("mad24.hi.sat.s32", "d, a, b, c"),
    (f"(div|rem).({INT})", "d, a, b"), (f"sad.({INT})", "d, a, b, c"),
    ("(abs|neg).(s16|s32|s64)", "d, a"),
    ("dp4a.(u32|s32).(u32|s32)", "d, a, b, c"), ("dp2a.(lo|hi).(u32|s32).(u32|s32)", "d, a, b, c"),
)
EXTENDED = (
    ("(add|sub).cc.(u32|s32|u64|s64)", "d, a, b"), ("(addc|subc)[.cc].(u32|s32|u64|s64)", "d, a, b"),
    ("mad.(lo|hi).cc.(u32|s32|u64|s64)", "d, a, b, c"), ("madc.(lo|hi)[.cc].(u32|s32|u64|s64)", "d, a, b, c"),
)
BITS_AND_BYTES = (
    ("(and|or|xor).(pred|b16|b32|b64)", "d, a, b"), ("not.(pred|b16|b32|b64)", "d, a"), ("cnot.(b16|b32|b64)", "d, a"),
    ("lop3.b32", "d, a, b, c, imm"), ("lop3.(or|and).b32", "d|p, a, b, c, imm, q"),
    ("shl.(b16|b32|b64)", "d, a, b"), (f"shr.(b16|b32|b64|{INT})", "d, a, b"), ("shf.(l|r).(wrap|clamp).b32", "d, a, b, c"),
    ("(popc|clz|brev).(b32|b64)", "d, a"), ("bfind[.shiftamt].(u32|s32|u64|s64)", "d, a"),
    ("bfe.(u32|s32|u64|s64)", "d, a, b, c"), ("bfi.(b32|b64)", "d, a, b, c, e"),
    ("prmt.b32[.f4e|.b4e|.rc8|.ecl|.ecr|.rc16]", "d, a, b, c"),
    ("bmsk.(clamp|wrap).b32", "d, a, b"), ("szext.(clamp|wrap).(u32|s32)", "d, a, b"), ("fns.b32", "d, a, b, c"),
)
COMPARISON = (
    (f"setp.({ORDER}).(b16|b32|b64|{INT})", "p[|q], a, b"), (f"setp.({ORDER}).(and|or|xor).(b16|b32|b64|{INT})", "p[|q], a, b, [!]c"),
    ("setp.(lo|ls|hi|hs)" + JOIN + ".(u16|u32|u64)", "p[|q], a, b[, c]"),
    (f"setp.({FLOAT_ORDER}){JOIN}[.ftz].f32", "p[|q], a, b[, c]"), (f"setp.({FLOAT_ORDER}){JOIN}.f64", "p[|q], a, b[, c]"),
    (f"setp.({FLOAT_ORDER}){JOIN}[.ftz].(f16|f16x2)", "p[|q], a, b[, c]"),
    (f"setp.({FLOAT_ORDER}){JOIN}.(bf16|bf16x2)", "p[|q], a, b[, c]"),
    (f"set.({ORDER}|lo|ls|hi|hs){JOIN}.(u32|s32|f32).(b16|b32|b64|{INT})", "d, a, b[, c]"),
    (f"set.({FLOAT_ORDER}){JOIN}[.ftz].(u32|s32|f32).(f32|f64)", "d, a, b[, c]"),
    (f"set.({FLOAT_ORDER}){JOIN}[.ftz].(u16|s16|u32|s32|f16).f16", "d, a, b[, c]"),
    (f"set.({FLOAT_ORDER}){JOIN}.(u16|s16|u32|s32|bf16).bf16", "d, a, b[, c]"),
    (f"set.({FLOAT_ORDER}){JOIN}[.ftz].(u32|s32|f16x2).f16x2", "d, a, b[, c]"),
    (f"set.({FLOAT_ORDER}){JOIN}.(u32|s32|bf16x2).bf16x2", "d, a, b[, c]"),
    (f"selp.(b16|b32|b64|{INT}|f32|f64|f16|bf16)", "d, a, b, c"),
    (f"slct.(b16|b32|b64|{INT}|f32|f64).s32", "d, a, b, c"), (f"slct[.ftz].(b16|b32|b64|{INT}|f32|f64).f32", "d, a, b, c"),
    ("testp.(finite|infinite|number|notanumber|normal|subnormal).(f32|f64)", "p, a"),
)
FLOATING = (
    (f"(add|sub|mul){ROUND}[.ftz][.sat].f32", "d, a, b"), (f"(add|sub|mul){ROUND}.f64", "d, a, b"),
    ("(fma|mad).(rn|rz|rm|rp)[.ftz][.sat].f32", "d, a, b, c"), ("(fma|mad).(rn|rz|rm|rp).f64", "d, a, b, c"),
    ("div.(rn|rz|rm|rp|approx|full)[.ftz].f32", "d, a, b"), ("div.(rn|rz|rm|rp).f64", "d, a, b"),
    ("(rcp|sqrt).(rn|rz|rm|rp|approx)[.ftz].f32", "d, a"), ("(rcp|sqrt).(rn|rz|rm|rp).f64", "d, a"),
    ("rsqrt.approx[.ftz].(f32|f64)", "d, a"), ("rcp.approx.ftz.f64", "d, a"),
    ("(sin|cos).approx[.2pi][.ftz].f32", "d, a"), ("(ex2|lg2).approx[.ftz].f32", "d, a"), ("tanh.approx.f32", "d, a"),
    ("(min|max)[.ftz][.NaN][.xorsign.abs].f32", "d, a, b"), ("(min|max)[.ftz][.NaN][.abs].f32", "d, a, b, c"), ("(min|max).f64", "d, a, b"),
    ("(abs|neg)[.ftz].f32", "d, a"), ("(abs|neg).f64", "d, a"), ("copysign.(f32|f64)", "d, a, b"),
)
HALF = (
    ("(add|sub|mul)[.rn][.ftz][.sat].(f16|f16x2)", "d, a, b"), ("(add|sub|mul)[.rn].(bf16|bf16x2)", "d, a, b"),
    ("fma.rn[.ftz][.sat].(f16|f16x2)", "d, a, b, c"), ("fma.rn[.ftz].relu.(f16|f16x2)", "d, a, b, c"),
    ("fma.rn[.relu].(bf16|bf16x2)", "d, a, b, c"),
    ("(min|max)[.ftz][.NaN][.xorsign.abs].(f16|f16x2)", "d, a, b"), ("(min|max)[.NaN][.xorsign.abs].(bf16|bf16x2)", "d, a, b"),
    ("(abs|neg)[.ftz].(f16|f16x2)", "d, a"), ("(abs|neg).(bf16|bf16x2)", "d, a"),
    ("tanh.approx.(f16|f16x2|bf16|bf16x2)", "d, a"), ("ex2.approx.(f16|f16x2)", "d, a"), ("ex2.approx.ftz.(f16|f16x2|bf16|bf16x2)", "d, a"),
)
CONVERSION = (
    (f"mov.(pred|b16|b32|b64|{INT}|f32|f64)", "d, a"), ("mov.(b32|b64|b128)", "d, {a, b}"), ("mov.(b32|b64|b128)", "{d, e}, a"),
    ("mov.b64", "d, {a, b, c, e}"),
    ("cvta[.to].(global|shared|local|const|param).(u32|u64)", "d, a"),
    (f"cvt[.sat].({ANY_INT}).({ANY_INT})", "d, a"),
    (f"cvt.({WHOLE})[.ftz][.sat].({ANY_INT}).f32", "d, a"), (f"cvt.({WHOLE})[.sat].({ANY_INT}).(f16|bf16|f64)", "d, a"),
    (f"cvt.(rn|rz|rm|rp)[.sat].(f16|f32|f64).({ANY_INT})", "d, a"), (f"cvt.(rn|rz|rm|rp).bf16.({ANY_INT})", "d, a"),
    ("cvt[.ftz][.sat].f32.(f16|f32)", "d, a"), ("cvt[.ftz].f32.bf16", "d, a"), ("cvt[.sat].f64.(f32|f64)", "d, a"),
    ("cvt[.sat].f64.(f16|bf16)", "d, a"),
    ("cvt.ftz[.sat].f64.f32", "d, a"), ("cvt[.sat].f16.f16", "d, a"), ("cvt.bf16.bf16", "d, a"),
    (f"cvt.({WHOLE})[.ftz][.sat].f32.f32", "d, a"), (f"cvt.({WHOLE})[.sat].(f64.f64|f16.f16)", "d, a"),
    (f"cvt.({WHOLE}).bf16.bf16", "d, a"),
    ("cvt.(rn|rz|rm|rp)[.ftz][.sat].f32.f64", "d, a"), ("cvt.(rn|rz|rm|rp)[.ftz][.sat].f16.f32", "d, a"),
    ("cvt.(rn|rz|rm|rp)[.sat].f16.f64", "d, a"),
    ("cvt.(rn|rz|rm|rp).bf16.(f32|f64)", "d, a"), ("cvt.(rn|rz|rm|rp)[.sat].(bf16.f16|f16.bf16)", "d, a"),
    ("cvt.(rn|rz)[.relu][.satfinite].(f16|bf16).f32", "d, a"), ("cvt.(rn|rz)[.relu][.satfinite].(f16x2|bf16x2).f32", "d, a, b"),
    ("cvt.rna[.satfinite].tf32.f32", "d, a"), ("cvt.(rn|rz)[.relu][.satfinite].tf32.f32", "d, a"),
    ("cvt.rn.satfinite[.relu].(e4m3x2|e5m2x2).f32", "d, a, b"), ("cvt.rn.satfinite[.relu].(e4m3x2|e5m2x2).f16x2", "d, a"),
    ("cvt.rn[.relu].f16x2.(e4m3x2|e5m2x2)", "d, a"),
    ("cvt.pack.sat.(u16|s16).s32", "d, a, b"), ("cvt.pack.sat.(u2|s2|u4|s4|u8|s8).s32.b32", "d, a, b, c"),
)
HINTS_OF_LOADS = "[.L1::evict_normal|.L1::evict_unchanged|.L1::evict_first|.L1::evict_last|.L1::no_allocate]" \
                 "[.L2::evict_normal|.L2::evict_first|.L2::evict_last][.L2::cache_hint]"
PREFETCH = "[.L2::64B|.L2::128B|.L2::256B]"
NARROW = "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"
DATA = f"([.v2|.v4].({NARROW})|[.v2].(b64|u64|s64|f64))"  # at most 16 bytes
SPACE = "[.global|.shared|.shared::cta|.shared::cluster|.local|.const|.param|.param::entry|.param::func]"
TO = "[.global|.shared|.shared::cta|.shared::cluster|.local|.param|.param::func]"
ANY_SCOPE = f"[.{SCOPE.replace('|', '|.')}]"
WHERE_ATOMIC = f"{ANY_SCOPE}[.global|.shared|.shared::cta|.shared::cluster]"
HOW = {"atom": f"[.relaxed|.acquire|.release|.acq_rel]{WHERE_ATOMIC}", "red": f"[.relaxed|.release]{WHERE_ATOMIC}"}
HINT = "[.L2::cache_hint]"
CHANGES = (("(and|or|xor)", "(b32|b64)", "[a], b"), ("add", "(u32|s32|u64|s64|f32|f64)", "[a], b"),
           ("(min|max)", "(u32|s32|u64|s64)", "[a], b"), ("(inc|dec)", "u32", "[a], b"))
EXCHANGES = (("exch", "(b32|b64)", "d, [a], b"), ("cas", "(b32|b64)", "d, [a], b, c"))


def atomics():
    """Yield the rows of atom and red; NVIDIA's C++ library writes the change before the order: `atom.add.release.cta.s32`."""
    for name, result, changes in (("atom", "d, ", CHANGES), ("red", "", CHANGES), ("atom", "", EXCHANGES)):
        for change, kinds, operands in changes:
            yield f"{name}({HOW[name]}.{change}|.{change}{HOW[name]}){HINT}.{kinds}", result + operands


MEMORY = (
    (f"ld[.weak]{SPACE}{HINTS_OF_LOADS}{PREFETCH}{DATA}", "d, [a]"),
    (f"ld[.weak]{SPACE}.(ca|cg|cs|lu|cv)[.L2::cache_hint]{PREFETCH}{DATA}", "d, [a]"),
    (f"ld.volatile{SPACE}{PREFETCH}{DATA}", "d, [a]"), (f"ld.(relaxed|acquire).({SCOPE}){SPACE}{HINTS_OF_LOADS}{PREFETCH}{DATA}", "d, [a]"),
    (f"ld.mmio.relaxed.sys[.global]{DATA}", "d, [a]"),
    (f"ld.global[.ca|.cg|.cs].nc{HINTS_OF_LOADS}{PREFETCH}{DATA}", "d, [a]"),
    (f"ldu[.global]{DATA}", "d, [a]"),
    (f"st[.weak]{TO}{HINTS_OF_LOADS}{DATA}", "[a], b"), (f"st[.weak]{TO}.(wb|cg|cs|wt)[.L2::cache_hint]{DATA}", "[a], b"),
    (f"st.volatile{TO}{DATA}", "[a], b"), (f"st.(relaxed|release).({SCOPE}){TO}{HINTS_OF_LOADS}{DATA}", "[a], b"),
    (f"st.mmio.relaxed.sys[.global]{DATA}", "[a], b"),
    *atomics(),
)
HINTS = (
    ("membar.(cta|gl|sys)", ""), (f"fence[.sc|.acq_rel|.acquire|.release].({SCOPE})", ""),
    ("fence.(proxy.alias|proxy.async|proxy.async.global|proxy.async.shared::cta)", ""),
    ("prefetch[.global|.local].(L1|L2|L2::evict_last|L2::evict_normal)", "[a]"), ("prefetchu.L1", "[a]"),
    ("applypriority[.global].L2::evict_normal", "[a], 128"),
    ("createpolicy.fractional.L2::(evict_last|evict_normal|evict_first|evict_unchanged)[.L2::evict_first|.L2::evict_unchanged].b64",
    "d[, 0f3F800000]"),
    ("isspacep.(global|local|const|shared|shared::cta|shared::cluster)", "p, a"),
    ("nanosleep.u32", "a"), ("pmevent[.mask]", "imm"),
)
CONTROL = (
    ("bra[.uni]", "label"), ("brx.idx[.uni]", "a, list of labels"), ("call[.uni]", "[(results),] function[, (parameters)]"),
    ("ret[.uni]", ""), ("exit", ""), ("trap", ""), ("brkpt", ""),
)
WARP = (
    ("bar[.cta].sync", "a[, b]"), ("bar[.cta].arrive", "a, b"), ("bar[.cta].red.popc.u32", "d, a[, b], [!]c"),
    ("bar[.cta].red.(and|or).pred", "p, a[, b], [!]c"),
    ("barrier[.cta].sync[.aligned]", "a[, b]"), ("barrier[.cta].arrive[.aligned]", "a, b"),
    ("barrier[.cta].red.popc[.aligned].u32", "d, a[, b], [!]c"), ("barrier[.cta].red.(and|or)[.aligned].pred", "p, a[, b], [!]c"),
    ("bar.warp.sync", "a"),
    ("shfl.sync.(up|down|bfly|idx).b32", "d[|p], a, b, c, e"), ("vote.sync.(all|any|uni).pred", "p, [!]a, b"),
    ("vote.sync.ballot.b32", "d, [!]a, b"), ("match.any.sync.(b32|b64)", "d, a, b"), ("match.all.sync.(b32|b64)", "d[|p], a, b"),
    ("activemask.b32", "d"), ("redux.sync.(add|min|max).(u32|s32)", "d, a, b"), ("redux.sync.(and|or|xor).b32", "d, a, b"),
)
WHERE = "[.global|.shared|.shared::cta]"
WIDE = "m16n16k16|m32n8k16|m8n32k16"
LAYOUT = "(row|col)"
TENSOR = (
    ("mma.sync.aligned.(m16n8k16|m16n8k8).row.col.(f16.f16.f16.f16|f32.f16.f16.f32|f32.bf16.bf16.f32)", "{d}, {a}, {b}, {c}"),
    ("mma.sync.aligned.(m16n8k8|m16n8k4).row.col.f32.tf32.tf32.f32", "{d}, {a}, {b}, {c}"),
    ("mma.sync.aligned.(m8n8k4|m16n8k4|m16n8k8|m16n8k16).row.col.f64.f64.f64.f64[.rn]", "{d}, {a}, {b}, {c}"),
    ("mma.sync.aligned.(m8n8k16|m16n8k16|m16n8k32).row.col[.satfinite].s32.(s8|u8).(s8|u8).s32", "{d}, {a}, {b}, {c}"),
    (f"wmma.load.(a|b).sync.aligned.{LAYOUT}.({WIDE}){WHERE}.(f16|bf16|s8|u8)", "{d}, [a], b"),
    (f"wmma.load.(a|b).sync.aligned.{LAYOUT}.(m16n16k8{WHERE}.tf32|m8n8k4{WHERE}.f64)", "{d}, [a], b"),
    (f"wmma.load.c.sync.aligned.{LAYOUT}.(({WIDE}){WHERE}.(f16|f32|s32)|m16n16k8{WHERE}.f32|m8n8k4{WHERE}.f64)", "{d}, [a], b"),
    (f"wmma.store.d.sync.aligned.{LAYOUT}.(({WIDE}){WHERE}.(f16|f32|s32)|m16n16k8{WHERE}.f32|m8n8k4{WHERE}.f64)", "[a], {b}, c"),
    (f"wmma.mma.sync.aligned.{LAYOUT}.{LAYOUT}.({WIDE}).((f16|f32).(f16|f32)|f32.bf16.bf16.f32)", "{d}, {a}, {b}, {c}"),
    (f"wmma.mma.sync.aligned.{LAYOUT}.{LAYOUT}.({WIDE}).s32.(s8.s8|u8.u8).s32[.satfinite]", "{d}, {a}, {b}, {c}"),
    (f"wmma.mma.sync.aligned.{LAYOUT}.{LAYOUT}.(m16n16k8.f32.tf32.tf32.f32|m8n8k4.f64.f64.f64.f64[.rn])", "{d}, {a}, {b}, {c}"),
    ("ldmatrix.sync.aligned.m8n8.(x1|x2|x4)[.trans][.shared|.shared::cta].b16", "{d}, [a]"),
    ("stmatrix.sync.aligned.m8n8.(x1|x2|x4)[.trans][.shared|.shared::cta].b16", "[a], {b}"),
    ("movmatrix.sync.aligned.m8n8.trans.b16", "d, a"),
)
ASYNCHRONOUS = (
    ("cp.async.(ca|cg).(shared|shared::cta).global[.L2::cache_hint][.L2::64B|.L2::128B|.L2::256B]", "[a], [b], 16"),
    ("cp.async.(commit_group|wait_all)", ""), ("cp.async.wait_group", "imm"),
)
VIDEO = (
    ("(vadd|vsub|vavrg|vabsdiff|vmin|vmax)(2|4).(u32|s32).(u32|s32).(u32|s32)[.sat|.add]", "d, a, b, c"),
    (f"vset(2|4).(u32|s32).(u32|s32).({ORDER})[.add]", "d, a, b, c"),
)
REFUSED = (
    ("tex tld4 txq istypep suld sust sured suq", "textures and surfaces"),
    ("wgmma tcgen05", "matrix instructions of single architectures (sm_90a, sm_100a)"),
    ("mapa getctarank clusterlaunchcontrol griddepcontrol setmaxnreg elect tensormap multimem",
     "clusters of blocks and other features of single architectures"),
    ("alloca stackrestore stacksave", "stack memory of a size that is not known before the launch"),
    ("vadd vsub vabsdiff vmin vmax vshl vshr vmad vset", "video instructions on one part of a word; compilers do not write them any more"),
    ("discard", "would leave memory undefined"),
)
