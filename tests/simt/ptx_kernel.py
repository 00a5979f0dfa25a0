"""PTX kernels made for tests: one thread runs a list of instruction forms on its own operands."""

import numpy as np

from course_lib import simt
from course_lib.simt.model.types import width

HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
STEPS = (1, 4, 0, -4, 1024, 3)  # from one thread to the next, for sources that count up
PRESET = 0x5A5A5A5A5A5A5A5A  # what a destination holds before a guarded instruction


def register_bits(kind):
    """Size of the register for a kind; 8-bit values live in 16-bit registers, as compilers do it."""
    return 1 if kind.endswith("pred") else 32 if kind in ("n", "c") else max(width(kind), 16)


class Writer:
    """Collects declarations and statements of one kernel."""

    def __init__(self, n):
        self.n, self.lines, self.count = n, [], {}

    def register(self, bits):
        kind = "pred" if bits == 1 else f"b{bits}"
        self.count[kind] = self.count.get(kind, 0) + 1
        return f"%{kind}_{self.count[kind]}"

    def do(self, text):
        self.lines.append(f"    {text};")

    def text(self, parameters):
        declared = [f"    .reg .{kind} %{kind}_<{n + 1}>;" for kind, n in self.count.items()]
        return "\n".join([HEAD, f".visible .entry k({', '.join(parameters)})", "{", *declared, *self.lines,
                          "DONE:", "    ret;", "}"])

    def source(self, kind, place):
        """Load a source from "space [address]"; a predicate is a number that is not zero."""
        space, where = place.split(" ")
        register = self.register(32 if kind.endswith("pred") else register_bits(kind))
        bits = 32 if kind.endswith("pred") else register_bits(kind)
        self.do(f"ld.{space}.b{bits} {register}, {where}")
        if not kind.endswith("pred"):
            return register
        flag = self.register(1)
        self.do(f"setp.ne.u32 {flag}, {register}, 0")
        return flag

    def count_up(self, kind, start, by, thread):
        """Return a register with `start` plus `by` times the register `thread`."""
        bits = register_bits(kind)
        if by == 0 and str(start).startswith("%"):
            return start
        number, found = self.register(bits), self.register(bits)
        self.do(f"cvt.u{bits}.u32 {number}, {thread}" if bits != 32 else f"mov.b32 {number}, {thread}")
        self.do(f"mad.lo.u{bits} {found}, {number}, {by & ((1 << bits) - 1)}, {start}")
        return found

    def pretend_address(self, kind, register):
        """Add a load from `register` that never happens: what leads to an address may be translated in another way."""
        space = {32: "shared", 64: "global"}.get(register_bits(kind))
        if space:
            self.do(f"@%pred_1 ld.{space}.b32 {self.register(32)}, [{register}]")

    def preset(self, kind, register):
        if kind == "pred":
            self.do(f"setp.ne.u32 {register}, 0, 1")
        else:
            bits = register_bits(kind)
            self.do(f"mov.b{bits} {register}, {PRESET & ((1 << bits) - 1)}")

    def result(self, kind, register, place):
        if kind == "pred":
            number = self.register(32)
            self.do(f"selp.b32 {number}, 1, 0, {register}")
            kind, register = "b32", number
        self.do(f"st.global.b{register_bits(kind)} {place}, {register}")


def kernel_text(forms, n, source="global", guarded=False, turn=0):
    """Return PTX of a kernel in which thread i runs every form on the i-th operands.

    Sources come from global memory, from the kernel's parameters ("param": the same for all threads), or are a parameter
    plus a step (of STEPS, from the `turn`-th on) times the thread's number ("count"); given a list of tuples, one a form,
    literals take the place of the parameters. With `guarded` only threads whose entry in `guard` is not 0 run the instructions.
    """
    w = Writer(n)
    parameters = [".param .u64 src", ".param .u64 dst", ".param .u64 guard", ".param .u32 n"]
    at = begin(w, guarded)
    columns = rows = 0
    for number, f in enumerate(forms):
        names = {}
        for i, kind in enumerate(f.src):
            if kind[0] == "=":
                continue
            if source == "global":
                names[f"s{i}"] = w.source(kind, f"global [{at['src']}+{8 * n * columns}]")
            elif isinstance(source, list):
                names[f"s{i}"] = w.count_up(kind, source[number][i], step(kind, columns + turn), "%b32_3")
            else:
                parameters.append(f".param .u64 u{columns}")
                names[f"s{i}"] = w.source(kind, f"param [u{columns}]")
            if source == "count":
                names[f"s{i}"] = w.count_up(kind, names[f"s{i}"], step(kind, columns + turn), "%b32_4")
            columns += 1
        rows = run_form(w, f, names, guarded, f"{at['dst']}", n, rows)
        if source != "global":
            w.pretend_address(f.dst[0], names["d0"])
    return w.text(parameters)


def step(kind, column):
    """Amounts of shifts and lengths of fields go up one by one, so that they pass all limits."""
    return STEPS[column % len(STEPS)] if kind not in ("n", "c") else 1


def run_form(w, f, names, guarded, place, n, row):
    for i, kind in enumerate(f.dst):
        names[f"d{i}"] = w.register(register_bits(kind))
        if guarded:
            w.preset(kind, names[f"d{i}"])
    w.do(f"{'@%pred_2 ' if guarded else ''}{f.text} {f.operands.format(**names)}")
    for i, kind in enumerate(f.dst):
        w.result(kind, names[f"d{i}"], f"[{place}+{8 * n * (row + i)}]")
    return row + len(f.dst)


def begin(w, guarded):
    """The thread's number, a return for threads beyond n, and the thread's place in each array."""
    for bits in (1, 32, 32, 32, 32):
        w.register(bits)
    w.do("mov.u32 %b32_1, %ctaid.x")
    w.do("mov.u32 %b32_2, %ntid.x")
    w.do("mov.u32 %b32_3, %tid.x")
    w.do("mad.lo.s32 %b32_4, %b32_1, %b32_2, %b32_3")
    w.do("ld.param.u32 %b32_2, [n]")
    w.do("setp.ge.u32 %pred_1, %b32_4, %b32_2")
    w.do("@%pred_1 bra DONE")
    places = {}
    for name in ("src", "dst", "guard"):
        start, place = w.register(64), w.register(64)
        w.do(f"ld.param.u64 {start}, [{name}]")
        w.do(f"mad.wide.u32 {place}, %b32_4, 8, {start}")
        places[name] = place
    if guarded:
        w.register(1)
        w.do(f"ld.global.b32 %b32_1, [{places['guard']}]")
        w.do("setp.ne.u32 %pred_2, %b32_1, 0")
    return places


def table(forms, rows):
    """Return the sources as an array with a row for each register: `rows[form][thread]` are tuples of bits."""
    columns = [[operand[i] for operand in given] for f, given in zip(forms, rows) for i, kind in enumerate(f.src) if kind[0] != "="]
    return np.array(columns, np.uint64).reshape(len(columns), len(rows[0]))


def launch(forms, text, src, n, guard, block, extra=(), **how):
    dst = np.zeros((sum(len(f.dst) for f in forms), n), np.uint64)
    flags = np.zeros(n, np.uint64) if guard is None else np.asarray(guard, np.uint64)
    simt.launch(text, "k", -(-n // block), block, [src, dst, flags, np.uint32(n), *extra], workers=1, **how)
    return dst


def run(forms, rows, *, guard=None, block=96, **how):
    """Run forms, each thread on its own operands; return bits[destination][thread] as an array of uint64."""
    n = len(rows[0])
    return launch(forms, kernel_text(forms, n, guarded=guard is not None), table(forms, rows), n, guard, block, **how)


def run_uniform(forms, starts, source, n=64, turn=0):
    """Run forms on operands from parameters ("param", "count") or literals: `starts[form]` is one tuple of bits."""
    values = table(forms, [[s] for s in starts])
    parameters = [] if isinstance(source, list) else list(values[:, 0])
    return launch(forms, kernel_text(forms, n, source, turn=turn), values, n, None, n, parameters)


def counted(forms, starts, n=64, turn=0):
    """Return the operands that threads see when sources count up: rows[form][thread]."""
    columns, found = iter(range(turn, 10_000)), []
    for f, start in zip(forms, starts):
        each = [(s, 0, -1) if kind[0] == "=" else (s, step(kind, next(columns)), (1 << register_bits(kind)) - 1)
                for kind, s in zip(f.src, start)]
        found.append([tuple(s + by * thread & mask for s, by, mask in each) for thread in range(n)])
    return found
