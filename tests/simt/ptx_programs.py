"""Programs of a line or two, one for each thing that PTX's grammar allows, and texts that it does not allow.

`test_ptx_grammar.py` runs them. NVIDIA's assembler accepts every program of `RUNS` and refuses the texts of `REFUSED`, except where
a comment says otherwise.
"""

STORE = " st.global.b32 [%d8], %r1;"
INCREMENT = ".func (.param .b32 o) f (.param .b32 x) { .reg .b32 t; ld.param.b32 t, [x]; add.s32 t, t, 1; st.param.b32 [o], t; ret; }"
TABLE = ".func (.param .b32 o) f() { st.param.b32 [o], 4; ret; } .func (.param .b32 o) g() { st.param.b32 [o], 9; ret; }"
FOUR = ".global .align 32 .b32 x[4] = {7, 8, 9, 10};"

RUNS = {
    "names": [
        (".reg .b32 x, y; mov.b32 x, 5; add.s32 y, x, 2; st.global.b32 [%d8], y;", "", 7),
        (".reg .b32 x<4>; mov.b32 x0, 5; add.s32 x3, x0, 2; st.global.b32 [%d8], x3;", "", 7),
        (".reg .b64 ad; mov.b64 ad, %d8; mov.b32 %r1, 7; st.global.b32 [ad+0], %r1;", "", 7),
        (".reg .b32 $a, _b, %c, _1, a$b, $1, %_x; mov.b32 $a, 5; mov.b32 _b, $a; mov.b32 %c, _b; mov.b32 _1, %c; mov.b32 a$b, _1; "
         "mov.b32 $1, a$b; mov.b32 %_x, $1; mov.b32 %r1, %_x;" + STORE, "", 5),
        (".reg .b32 add, mov; mov.b32 add, 5; mov.b32 mov, 6; add.s32 %r1, add, mov;" + STORE, "", 11),
        (".reg .pred p, q; setp.eq.s32 p, 1, 1; setp.eq.and.s32 q, 1, 1, !p; selp.b32 %r1, 5, 6, q; @!p mov.b32 %r1, 9;" + STORE, "", 6),
        ("bra add; add: mov.b32 %r1, 3;" + STORE, "", 3),
        ("mov.b32 %r1, 5; bra %L; mov.b32 %r1, 6; %L:" + STORE, "", 5),
        (".reg .b32 %laneid; mov.b32 %laneid, 5; mov.b32 %r1, %laneid;" + STORE, "", 5),
        ("ld.global.b32 %r1, [%x]; ld.global.b32 %r2, [$x]; add.u32 %r1, %r1, %r2;" + STORE,
         ".global .b32 %x = 4; .global .b32 $x = 5;", 9),
        (".reg .b32 c<20>; mov.b32 c010, 7; mov.b32 c10, 3; st.global.b32 [%d8], c010;", "", 3),
        ("mov.b32 %r1, 3; .reg .b32 z; mov.b32 z, %r1; L: .reg .b32 y; st.global.b32 [%d8], z;", "", 3),
        (".reg .u32 i; mov.b32 i, 1; T: .branchtargets A, B; brx.idx.uni i, T; A: mov.b32 %r1, 1; bra C; B: mov.b32 %r1, 2; "
         "C:" + STORE, "", 2),
    ],
    "scopes": [
        ("mov.b32 %r1, 1; { .reg .b32 %r<4>; mov.b32 %r1, 8; }" + STORE, "", 1),
        ("mov.b32 %r1, 1; { .reg .b64 %r<4>; mov.b64 %r1, 8; { .reg .b16 %r<3>; mov.b16 %r1, 4; } st.global.b64 [%d8+8], %r1; "
         "}" + STORE, "", 1),
        ("mov.b32 %r1, 1; mov.b32 %r2, 5; { .reg .f32 %r1; mov.f32 %r1, 1.0; add.s32 %r2, %r2, 1; "
         "} add.s32 %r1, %r1, %r2;" + STORE, "", 7),
        (".reg .b32 q1; mov.b32 q1, 9; { .reg .b64 q<3>; mov.b64 q1, 8; } st.global.b32 [%d8], q1;", "", 9),
        ("mov.b32 %r1, 3; { mov.b32 %r1, 4; .reg .b32 %r1; mov.b32 %r1, 5; }" + STORE, "", 4),
        (".shared .b32 s; st.shared.b32 [s], 4; { .shared .b32 s; st.shared.b32 [s], 9; } ld.shared.b32 %r1, [s];" + STORE, "", 4),
        (".local .b32 s; st.local.b32 [s], 4; { .local .b32 s; st.local.b32 [s], 9; } ld.local.b32 %r1, [s];" + STORE, "", 4),
        ("st.global.b32 [s], 4; { .shared .b32 s; st.shared.b32 [s], 9; } ld.global.b32 %r1, [s];" + STORE, ".global .b32 s;", 4),
        ("{ .reg .b32 s; mov.b32 s, 3; mov.b32 %r1, s; }" + STORE, ".global .b32 s = 7;", 3),
        (".reg .b64 s; mov.b64 s, 3; { .shared .b32 s; st.shared.b32 [s], 9; ld.shared.b32 %r1, [s]; } cvt.u32.u64 %r2, s; "
         "add.s32 %r1, %r1, %r2;" + STORE, "", 12),
        (".shared .b32 s; st.shared.b32 [s], 9; call f; ld.shared.b32 %r1, [s];" + STORE,
         ".func f() { .shared .b32 s; st.shared.b32 [s], 3; ret; }", 9),
        ("mov.b32 %r1, 1; { bra X; mov.b32 %r1, 3; X: add.s32 %r1, %r1, 10; } bra X; mov.b32 %r1, 2; X:" + STORE, "", 11),
        ("{ mov.b32 %r2, 1; T: .branchtargets A, B; brx.idx %r2, T; A: mov.b32 %r1, 1; bra C; B: mov.b32 %r1, 2; "
         "C: } { T: .branchtargets A, B; "
         "brx.idx %r2, T; A: mov.b32 %r3, 1; bra C; B: mov.b32 %r3, 20; C: add.s32 %r1, %r1, %r3; }" + STORE, "", 22),
        ("{ .shared .b32 f; st.shared.b32 [f], 3; ld.shared.b32 %r1, [f]; } call (%r2), f, (4); "
         "add.s32 %r1, %r1, %r2;" + STORE, INCREMENT, 8),
        ("{ .reg .b32 f; mov.b32 f, 3; mov.b32 %r1, f; }" + STORE, INCREMENT, 3),
        ("{ L: { .reg .b32 L; mov.b32 L, 1; mov.b32 %r1, L; } }" + STORE, "", 1),
    ],
    "vectors": [
        (".reg .v4 .f32 v; mov.v4.f32 v, {1.0, 2.0, 3.0, 4.0}; cvt.rzi.s32.f32 %r1, v.y;" + STORE, "", 2),
        (".reg .v4 .b32 v; mov.b32 v.x, 1; mov.b32 v.g, 20; mov.b32 v.z, 300; mov.b32 v.a, 4000; add.s32 %r1, v.r, v.y; "
         "add.s32 %r1, %r1, v.b; add.s32 %r1, %r1, v.w;" + STORE, "", 4321),
        (".reg.v2.b32 %v; mov.b32 %v.x, 6; mov.b32 %v.y, 5; st.global.v2.b32 [%d8], %v;", "", 6),
        (".reg .v4 .u32 v; ld.global.v4.u32 v, [x]; mov.b32 %r1, v.z;" + STORE, FOUR, 9),
        (".reg .v2 .b32 v<3>; mov.b32 v1.x, 6; mov.b32 v2.y, 5; add.s32 %r1, v1.x, v2.y;" + STORE, "", 11),
        (".reg .v2 .b32 v, w; mov.b32 v.x, 6; mov.b32 v.y, 5; mov.v2.b32 w, v; mov.b32 %r1, w.y;" + STORE, "", 5),
        ("mov.b32 %r1, 6; mov.b32 %r2, 5; mov.v2.b32 {%r1, %r2}, {%r2, %r1}; shl.b32 %r2, %r2, 4; "
         "or.b32 %r1, %r1, %r2;" + STORE, "", 0x65),
        (".reg .v2 .b32 v; mov.b64 v, 0x500000006; mov.b32 %r1, v.y;" + STORE, "", 5),
        (".reg .v4 .u16 h; mov.b64 h, 0x4000300020001; cvt.u32.u16 %r1, h.z;" + STORE, "", 3),
        ("setp.eq.s32 %p1, 1, 1; .reg .v2 .b32 v; @%p1 mov.v2.b32 v, {3, 4}; @!%p1 mov.v2.b32 v, {5, 6}; "
         "mov.b32 %r1, v.x;" + STORE, "", 3),
        (".reg .v2 .b32 v; mov.b32 v.x, 6; mov.b32 v.y, 5; mov.b64 %d1, v; cvt.u32.u64 %r1, %d1;" + STORE, "", 6),
        (".reg .v4 .u32 v; mov.v4.u32 v, %ntid; add.u32 %r1, v.x, v.w;" + STORE, "", 1),
        ("ld.global.b32 %r1, [x+20];" + STORE, ".global.v4.b32 x[2]={{7,8,9,10},{11,12,13,14}};", 12),
        (".reg .v2 .f64 v; mov.v2.f64 v, {1.5, 0d4004000000000000}; add.f64 %g1, v.x, v.y; cvt.rzi.s32.f64 %r1, %g1;" + STORE, "", 4),
    ],
    "functions": [
        ("mov.b32 %r1, 3; call (%r1), f, (%r1, 4);" + STORE, ".func (.reg .b32 o) f (.reg .b32 x, .reg .b32 y) { add.s32 o, x, y; ret; "
         "}", 7),
        ("mov.b32 %r1, 3; call.uni f, (%d8, %r1);", ".func f (.reg .b64 p, .reg .b32 y) { st.global.b32 [p], y; }", 3),
        ("mov.b32 %r1, 3; call (%r1, %r2), f, (%r1); add.s32 %r1, %r1, %r2;" + STORE,
         ".func (.reg .b32 o, .reg .b32 q) f (.reg .b32 x) { add.s32 o, x, 1; add.s32 q, x, 10; ret; }", 17),
        ("mov.b32 %r1, 8; call (%r1), f, (%r1);" + STORE, INCREMENT, 9),
        (".param .b32 u; call (u), f, (3*2); ld.param.b32 %r1, [u];" + STORE, INCREMENT, 7),
        (".param .b32 q; st.param.b32 [q], 30; mov.b64 %d1, 7; call (%r1), f, (%d1, 3, q);" + STORE,
         ".func (.reg .b32 o) f (.reg .b64 x, .reg .b32 y, .param .b32 z) { .reg .b32 t; cvt.u32.u64 o, x; add.s32 o, o, y; "
         "ld.param.b32 t, [z]; add.s32 o, o, t; ret; }", 40),
        ("call (%r1), f, (5);" + STORE, ".func (.reg .b32 o) f (.reg .b32 x) { .reg .pred p; .reg .b32 t, u; setp.le.s32 p, x, 1; "
         "@p mov.b32 o, 1; "
         "@p ret; sub.s32 t, x, 1; call (u), f, (t); mul.lo.s32 o, u, x; ret; }", 120),
        ("mov.b32 %r1, 4; call (%r2), f, (%r1); add.s32 %r1, %r1, %r2;" + STORE,
         ".func (.reg .b32 %r1) f (.reg .b32 %r2) { add.s32 %r1, %r2, 3; mov.b32 %r2, 9; ret; }", 11),
        ("setp.eq.s32 %p1, 1, 2; mov.b32 %r1, 8; @%p1 call (%r1), f, (3); @!%p1 call (_), f, (4);" + STORE, INCREMENT, 8),
        ("call (%f1), f, (1.5); mov.b32 %r1, %f1;" + STORE, ".func (.reg .f32 o) f (.reg .f32 x) { add.f32 o, x, x; ret; }", 0x40400000),
        ("call (%r1), g, (2);" + STORE, ".visible .func (.reg .b32 o) f (.reg .b32 x) { add.s32 o, x, 3; ret; } "
         ".visible .func (.reg .b32 o) g (.reg .b32 x); .alias g, f;", 5),
        (".reg .b64 fp; mov.u64 fp, g; P: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _); call (%r1), fp, (5, 6), P;" + STORE,
         ".func (.reg .b32 o) g(.reg .b32 x, .reg .b32 y) { mul.lo.s32 o, x, y; ret; }", 30),
        ("{ .param .b32 p; .param .b32 q; st.param.b32 [p+0], 3; call.uni (q), f, (p); ld.param.b32 %r1, [q+0]; } { .param .b32 p; "
         ".param .b32 q; "
         "st.param.b32 [p+0], %r1; call.uni (q), f, (p); ld.param.b32 %r1, [q+0]; }" + STORE, INCREMENT, 5),
        ("call (%r1), f, (3);" + STORE, ".func (.reg .b32 o) f (.reg .b32 x) { .reg .b64 %_frame; .local .b32 l; mov.b64 %_frame, 77; "
         "st.local.b32 [l], x; ld.local.b32 o, [l]; ret; }", 3),
        ("call (%r1), f, (3);" + STORE, ".func (.reg .b32 o) f (.reg .b32 x) { .reg .pred p; setp.gt.s32 p, x, 2; mov.b32 o, 7; "
         "@p bra E; "
         "mov.b32 o, 8; ret; E: add.s32 o, o, 1; }", 8),
        ("call (%r1), g, (3);" + STORE, INCREMENT + ".func (.reg .b32 o) g (.reg .b32 x) { call (o), f, (x); call (o), f, (o); ret; "
         "}", 5),
        ("call f; mov.b32 %r1, 1;" + STORE, ".weak .func f { ret; } .func h() .noreturn { trap; "
         "} .extern .func e(.param .b64 a).noreturn;", 1),
        *[(f".reg .b64 fp; .param .b32 q; ld.global.u64 fp, [t+8]; {label} call (q), fp, (), {name}; ld.param.b32 %r1, [q];" + STORE,
           f"{TABLE} .global .u64 t[] = {{f, g}};", 9)
          for label, name in (("P: .callprototype (.param .b32 _) _ ();", "P"), ("P: .calltargets f, g;", "P"), ("", "t"))],
        *[(f".reg .b64 fp; ld.global.u64 fp, [t]; "
         f"{label} call (%r1), fp, (), {name};" + STORE, f"{TABLE} .global .u64 t[] = {{f, g}};", 4)
          for label, name in (("P: .callprototype (.param .b32 _) _ ();", "P"), ("P: .calltargets f, g;", "P"), ("", "t"))],
    ],
    "addresses": [
        *[(f"@%p1 st.global.b32 [%d8+{offset}], 5; mov.b32 %r1, 3;" + STORE, "", 3) for offset in (
            "4", "-4", "0x4", "04", "4U", "WARP_SZ", "2*2", "(2+2)", "2+2", "8-4", "~0", "WARP_SZ/8", "(.s64)4")],
        *[(f"ld.global.b32 %r1, {where};" + STORE, FOUR, expected) for where, expected in (
            ("[x]", 7), ("[x+4]", 8), ("[x+8-4]", 8), ("[x+WARP_SZ/4]", 9), ("[x+1*4]", 8), ("x[3]", 10), ("x[1+1]", 9))],
        *[(f"mov.u64 %d1, {where}; ld.global.b32 %r1, [%d1];" + STORE, FOUR, expected) for where, expected in (
            ("x", 7), ("x+4", 8), ("x+2*4", 9), ("x[1]", 8), ("x+8-4", 8))],
        ("ld.global.b32 %r1, [x-4+8];" + STORE, FOUR, 8),       # the assembler wants +-4
        (".local .b32 l[4]; st.local.b32 [l+4], 6; ld.local.b32 %r1, [4];" + STORE, "", 6),
        ("cvta.global.u64 %d1, x+4; ld.b32 %r1, [%d1];" + STORE, FOUR, 8),
        ("st.shared.v2.b32 [s], {4, 5}; st.shared.b32 s[1], 8; ld.shared.b32 %r1, s[1];" + STORE, ".shared .align 8 .b32 s[2];", 8),
    ],
    "initial values": [
        *[(f"ld.global.u64 %d1, [p+{at}]; ld{space}.b32 %r1, [%d1];" + STORE, f"{where} .align 8 .b32 x[4] = {{5, 6, 7, 8}}; "
         f"{value};", expected)
          for where, value, at, space, expected in (
              (".global", ".global .u64 p = x", 0, ".global", 5), (".global", ".global .u64 p = x+4", 0, ".global", 6),
              (".global", ".global .u64 p = generic(x)+8", 0, "", 7), (".global", ".global .u64 p[] = {generic(x)+8, generic(x)}", 8,
              "", 5),
              (".const", ".global .u64 p[2] = {generic(x)+8, x}", 0, "", 7), (".const", ".global .u64 p[2] = {x, x+8}", 8, ".const", 7))],
        ("ld.const.u64 %d1, [p]; ld.global.b32 %r1, [%d1];" + STORE, ".global .b32 x[4]={5,6,7,8}; .const .u64 p[2] = {x+8, x};", 7),
        ("ld.global.b32 %r1, [t+4]; mov.u64 %d1, g; cvt.u32.u64 %r2, %d1; "
         "sub.u32 %r1, %r1, %r2;" + STORE, f"{TABLE} .global .u32 t[] = {{f, g}};", 0),
        ("ld.global.b32 %r1, [x+8];" + STORE, ".global .b32 x[] = {1,2,3,4};", 3),
        ("ld.global.b32 %r1, [x+8];" + STORE, ".global .b32 x[][2] = {{1,2},{3,4}};", 3),
        ("ld.global.b32 %r1, [x+8];" + STORE, ".global .b32 x[2][2] = {{1},{3,4}};", 3),
        ("ld.global.b32 %r1, [x];" + STORE, ".global .f32 x = 0D3FF0000000000000;", 0x3F800000),
        ("ld.global.b32 %r1, [x+4];" + STORE, ".global .f32 x[3] = {1.0, -2.0, 0.5};", 0xC0000000),
        ("ld.global.b32 %r1, [x];" + STORE, ".global .s32 x = (3+4)*2;", 14),
        ("ld.global.b32 %r1, [y];" + STORE, ".global .b32 x, y = 3;", 3),
        (".shared .b32 x, y[2]; st.shared.b32 [x], 3; st.shared.b32 [y], 4; ld.shared.b32 %r1, [x];" + STORE, "", 3),
        ("ld.global.b32 %r1, [z];" + STORE, ".extern .global .b32 z; .visible .global .attribute(.managed) .align 8 .b32 z = 5;", 5),
        ("st.global.b32 [z], 6; ld.global.b32 %r1, [z];" + STORE, ".common.global .b32 z;", 6),
    ],
    "shared memory": [
        (".reg .b32 t; mov.b32 t, s; st.shared.b32 [t], 7; ld.shared.b32 %r1, [s];" + STORE, ".extern .shared .align 16 .b8 s[];", 7),
        ("st.shared.b32 [s], 7; ld.shared.b32 %r1, [s];" + STORE, ".extern .shared .b32 s;", 7),
        ("st.shared.b32 [s], 7; st.shared.b32 [z], 3; ld.shared.b32 %r1, [s];" + STORE, ".extern .shared .align 16 .b8 s[]; "
         ".shared .b32 z;", 7),
        ("st.shared.b32 [s], 7; ld.shared.b32 %r1, [t];" + STORE, ".extern .shared .align 16 .b8 s[]; "
         ".extern.shared .align 4 .b32 t[];", 7),
    ],
    "text": [
        ("mov/*x*/.b32 %r1 /* a ; */ , // ; }\n /**/7/***/;" + STORE, "", 7),
        ("mov.b32\n%r1\n,\n3\n;" + STORE, "// é → 日本\n", 3),
        ("mov .b32 %r1, %ntid .x;" + STORE, "", 1),
        ("setp.lt.s32 %p1 | %p2, 1, 2; @ ! %p2 mov.b32 %r1, 3; bra A; A: B: {}" + STORE, "", 3),
        ('.pragma "nounroll"; mov.b32 %r1, 1;' + STORE, "", 1),
    ],
    "orders": [
        (f"{ins}; mov.b32 %r1, 3;" + STORE, "", 3) for ins in (
            "st.global.volatile.b32 [%d8], 3", "ld.global.volatile.b32 %r1, [%d8]", "fma.ftz.rn.f32 %f1, %f1, %f1, %f1",
            "fma.rn.sat.ftz.f32 %f1, %f1, %f1, %f1", "setp.ftz.lt.f32 %p1, %f1, %f1", "atom.global.gpu.relaxed.add.u32 %r2, [%d8], 3")
    ],
}
VALUES = {
    "017": 15, "0x1FU": 31, "0b101U": 5, "0B11": 3, "0XaB": 0xAB, "10U": 10, "00": 0, "WARP_SZ": 32, "1+2": 3, "2+3*4": 14, "(2+3)*4": 20,
    "1<<4": 16, "-8>>1": -4, "0xFFFFFFF8>>1": 0x7FFFFFFC, "1?5:6": 5, "0?5:(1?7:8)": 7, "0?5:1?7:8": 7, "~0": -1, "!5": 0, "!!5": 1,
    "-(3)": -3,
    "- -3": 3, "--3": 3, "+3": 3, "17 % 5": 2, "-17 % 5": 4, "17/5": 3, "-17/5": -3, "0xFF&0x0F": 15, "1|6": 7, "5^1": 4, "2&&3": 1,
    "0||0": 0,
    "3==3": 1, "3!=3": 0, "1<2": 1, "1>=2": 0, "-1<0U": 0, "(.s64)5": 5, "(.u64)-1>0": 1, "(.s64)0xFFFFFFFFFFFFFFFF<0": 1,
    "1|2^3&4==4": 3,
    "1+2<<3": 24, "8-2-1": 5, "64/4/2": 8, "WARP_SZ-1": 31, "0xFFFFFFFFFFFFFFFF/2==0x7FFFFFFFFFFFFFFF": 1, "1<<64": 1, "1<<65": 2,
    "(-1)>>1": -1,
    "((~0)>>1)>>32": 0x7FFFFFFF, "((.u64)-17/5)>>32": 0x33333333, "1.5<2.0": 1, "99999999999": 99999999999, "-1>>70": -1,
}
FLOATS = {"1.5": 0x3FC00000, ".5": 0x3F000000, "1e3": 0x447A0000, "1.e3": 0x447A0000, "1.5E+2": 0x43160000, "-1.5": 0xBFC00000,
"1.5*2.0": 0x40400000,
          "0d3FF8000000000000": 0x3FC00000, "0F3f800000": 0x3F800000, "0.1*3.0": 0x3E99999A, "-(1.0/3.0)": 0xBEAAAAAB}
HEADS = [
    "// .entry h\n.entry/* .entry h */\n// of one thread\nk(.param .u64 a) {", ".visible\n.entry\nk\n(.param .u64 a) {",
    ".visible .entry k(.param.u64 a){", ".visible.entry k(.param.u64 a){", ".entry z { ret; } .entry k(.param .u64 a) {",
    ".entry k(.param .u64 .ptr .global .align 4 a) {", ".entry k(.param .u64 .ptr.global.align 16 a){",
    '.entry k(.param .u64 a) .pragma "x"; .maxntid 32 {', ".entry k(.param .u64 a) .minnctapersm 2 .maxntid 32,1,1 .maxnreg 32 {",
    ".entry k(.param .u64 a) .maxnreg 32 .reqntid 1, 1 .minnctapersm 1 {",
    ".entry k(.param .u64 a) .maxntid 32 .reqnctapercluster 1,1,1 {",
    ".entry k(.param .u64 a) .explicitcluster .reqnctapercluster 1 .maxclusterrank 8 {",
]

REFUSED = {  # a body of one line -> what the message says
    "st.global.b32 [%d8+%d7], 5;": "a register or a variable plus a constant", "st.global.b32 [4+%d8], 5;": "expected a number, "
     "found '%d8'",
    "mov.b64 %d1, 2; ld.global.b32 %r1, x[%d1];": "array's index in a register",        # the assembler knows it
    "mov.b32 %r1, 1/0;": "divides by zero", "mov.f64 %g1, 1.0/-0.0;": "divides by zero", "mov.b32 %r1, "
     "1.5 % 2;": "takes two integers", "mov.b32 %r1, 08;": "no number",
    "mov.f64 %g1, 3*1.5;": "takes two integers, or two double-precision", "mov.f64 %g1, 1?1.5:2.5;": "are integers", "mov.f32 %f1, "
     "1;": "write 1.0",
    "{ .reg .b32 w<3>; mov.b32 w1, 8; "
     "} mov.b32 %r1, w1;": "'w1'", "mov.b32 %r9, 1;": "%r9 was not declared", ".reg .b32 %r1;": "declared twice",
    ".reg .b32 z; .reg .b64 z;": "declared twice", ".reg .b32 L; L: mov.b32 L, 5;": "declared twice", "L: .reg .b32 L;": "declared twice",
    ".reg .v2 .pred q;": "no vectors", ".reg .v4 .f64 q;": "no vectors", ".reg .v2 .b32 v; add.s32 v, v, v;": "takes d, a, b",
    ".reg .v2 .b32 v; mov.b32 v.q, 1;": "has no .q", "mov.v2.b32 {%r1, %r2}, {%r1, %r2, %r3};": "two vectors of 2",
    "{ L: mov.b32 %r1, 1; } bra L;": "no label", "bra L; { L: mov.b32 %r1, 1; }": "no label", ";": "expected a statement",
    ".reg .b32 é;": "unreadable character 'é'", "mov.b32 %r1,\u00a03;": "unreadable character", "call (%r1), nobody, "
     "(%r2);": "nothing is declared",
    "MOV.b32 %r1, 3;": "MOV.b32", "mov.u32 %r1, tid.x;": "tid.x", "mov. b32 %r1, 3;": "unreadable", "ld.global.v8.b16 %r1, "
     "[%d8];": "v8.b16",
    ".reg .b64 fp; "
     "call (%r1), fp, (3), P;": "nothing is declared", "@3 mov.b32 %r1, 1;": "expected a register", "mov.b32 %r1, (1;": "expected ')'",
    "add.s32 %r1, %r2, %r3, ;": "another operand", "mov.b64 %d1, {%r1, };": "another item",
    ".extern .shared .b32 e[];": "unknown directive",
    "ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [x];": "ld.global.v4.b64", "st.global.v8.f32 [x], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, "
     "%f1};": "v8.f32",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [x, {%f1, %f2}];": "textures",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, %r2], "
     "[%r4];": "2 coordinates in braces",
    ".local .b32 l[2] = {1, 2, 3};": "12 bytes of initial values for 8", ".global .b32 l[2] = {{1}, {2}};": "more braces",
    "mov.b32 %r1, " + "(" * 300 + "1" + ")" * 300 + ";": "nested too deeply", "mov.b32 %r1, " + "-" * 3000 + "1;": "nested too deeply",
}
REFUSED_OUTSIDE = {
    ".address_size 32": "64 bits only", ".global .f32 x = 1;": "write 1.0", ".shared .b32 s; "
     ".global .u64 p = s;": "no address that is known",
    ".global .b32 x[2] = {1, 2,};": "another item", ".global .b32 x[2] = 5;": "stands in braces", ".global .texref x;": "texref",
    ".global .b32 x = {5};": "expected the name", ".func f (.param .v4 .b32 x) { ret; }": "is a vector",
    ".global .u64 p = nobody;": "'nobody' is no variable", ".global .b64 x[1] = {generic(y)};": "'y' is no variable",
    ".global .b8 x[8] = {0xFF(y)};": "parts of an address", ".func (.reg .pred o) f (.reg .pred x) { ret; }": "predicates as parameters",
    ".entry q(.reg .b32 x) { ret; }": "in registers", ".alias f, g;": "no function", ".func f { ret; } .func f { ret; }": "defined twice",
    ".func f() .maxnreg 2*4 { ret; }": "unknown directive '*'",
    ".global .b32 x[][] = {1};": "expected a number", '.global .b8 x[4] = "abc";': "stands in braces",
}
