"""Random structured programs: the same tree as PTX text, and run lane by lane in NumPy.

A thread has four 32-bit registers (0 and 1 begin different in every lane, 2 and 3 the same) and a flag. Nodes are tuples:

    ("op", name, d, a, b)      register d = name(register a, b); b is a register's number, or a literal as text
    ("set", number)            flag = (seed & 3) == number: the same for all lanes that come here
    ("if", test, yes, no)      test: a bit of register 0, or "flag"; `yes` and `no` are lists of nodes
    ("loop", mask, body)       as often as register 0 & mask says at its beginning
    ("uniform", n, body)       n times
    ("leave", test)            threads for which it holds store their answer and return
    ("break", test)            threads for which it holds leave the innermost loop
"""

import numpy as np

OPS = {"mov": lambda a, b: a, "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul.lo": lambda a, b: a * b,
       "xor": lambda a, b: a ^ b, "shl": lambda a, b: a << (b & np.uint32(31))}
MIX = (1, 3, 5, 7)  # the answer is the sum of the registers times these


def draw_op(rng):
    name = rng.choice(("mov", "add", "add", "sub", "mul.lo", "mul.lo", "xor", "shl"))
    literal = str(rng.randrange(1, 20)) if name == "shl" else str(rng.choice((4, 12, 128, rng.randrange(1, 1 << 32, 2))))
    b = literal if name == "shl" or rng.random() < 0.4 else rng.randrange(4)
    return ("op", name, rng.randrange(4), rng.randrange(4), b)


def draw(rng, depth=3, length=5, looping=False):
    """Return a random list of nodes."""
    nodes = []
    for _ in range(rng.randint(1, length)):
        kind = rng.choice(("op", "op", "op", "op", "set", "if", "if", "loop", "uniform", "leave", "break"))
        test = rng.choice(("flag", rng.randrange(32), rng.randrange(32)))
        if kind == "leave" and rng.random() < 0.6 or kind == "break" and not looping or kind in ("if", "loop", "uniform") and not depth:
            kind = "op"
        if kind == "op":
            nodes.append(draw_op(rng))
        elif kind == "set":
            nodes.append(("set", rng.randrange(4)))
        elif kind == "if":
            nodes.append(("if", test, draw(rng, depth - 1, 3, looping), draw(rng, depth - 1, 2, looping) if rng.random() < 0.6 else []))
        elif kind == "loop":
            nodes.append(("loop", rng.choice((1, 3, 7)), draw(rng, depth - 1, 4, True)))
        elif kind == "uniform":
            nodes.append(("uniform", rng.randint(0, 4), draw(rng, depth - 1, 4, True)))
        else:
            nodes.append((kind, test))
    return nodes


class Emitter:
    """Writes PTX. Loads that never happen make every register one that leads to an address."""

    def __init__(self):
        self.lines, self.labels, self.counters = [], 0, 0

    def text(self, nodes):
        self.sequence(nodes, None)
        counters = "".join(f".reg .b32 %i{n}, %n{n};" for n in range(1, self.counters + 1))
        never = "\n".join(f"@%z ld.shared.b32 %t, [%r{i}];" for i in range(4))
        return "\n".join([".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry k(.param .u64 out, .param .u32 seed) {",
                          f".reg .pred %p, %q, %z; .reg .b32 %r<4>, %t, %s, %y; .reg .b64 %o; {counters}",
                          "mov.u32 %t, %tid.x;", "ld.param.u64 %o, [out];", "mad.wide.u32 %o, %t, 4, %o;", "ld.param.u32 %s, [seed];",
                          "mad.lo.u32 %r0, %t, 2654435761, %s;", "shl.b32 %r1, %t, 2;", "mov.u32 %r2, %s;", "mov.u32 %r3, 0;",
                          "and.b32 %s, %s, 3;", "setp.gt.u32 %q, 0, 1;", "setp.gt.u32 %z, 0, 1;",
                          *self.lines, never, *self.answer(), "ret;", "}"])

    def answer(self, guard=""):
        sums = [f"{guard}mad.lo.u32 %y, %r{i}, {MIX[i]}, %y;" for i in range(4)]
        return [f"{guard}mov.u32 %y, 0;", *sums, f"{guard}st.global.u32 [%o], %y;"]

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def test(self, test):
        """Leave the outcome in a predicate; return its name."""
        if test == "flag":
            return "%q"
        self.lines += [f"and.b32 %t, %r0, {1 << test};", "setp.ne.u32 %p, %t, 0;"]
        return "%p"

    def sequence(self, nodes, end_of_loop):
        for node in nodes:
            getattr(self, node[0] + "_")(*node[1:], end_of_loop)

    def op_(self, name, d, a, b, _):
        kind = "b32" if name in ("xor", "shl") else "u32"
        second = f", {b if isinstance(b, str) else f'%r{b}'}" if name != "mov" else ""
        self.lines.append(f"{name}.{kind} %r{d}, %r{a}{second};")

    def set_(self, number, _):
        self.lines.append(f"setp.eq.u32 %q, %s, {number};")

    def if_(self, test, yes, no, end_of_loop):
        other, end = self.label(), self.label()
        self.lines.append(f"@!{self.test(test)} bra {other};")
        self.sequence(yes, end_of_loop)
        self.lines += [f"bra {end};", f"{other}:"]
        self.sequence(no, end_of_loop)
        self.lines.append(f"{end}:")

    def loop_(self, mask, body, _):
        self.repeat(f"and.b32 %n{self.counters + 1}, %r0, {mask};", body)

    def uniform_(self, n, body, _):
        self.repeat(f"mov.u32 %n{self.counters + 1}, {n};", body)

    def repeat(self, count, body):
        self.counters += 1
        number, head, end = self.counters, self.label(), self.label()
        self.lines += [count, f"mov.u32 %i{number}, 0;", f"{head}:", f"setp.ge.u32 %p, %i{number}, %n{number};", f"@%p bra {end};"]
        self.sequence(body, end)
        self.lines += [f"add.u32 %i{number}, %i{number}, 1;", f"bra {head};", f"{end}:"]

    def leave_(self, test, _):
        guard = f"@{self.test(test)} "
        self.lines += [*self.answer(guard), f"{guard}ret;"]

    def break_(self, test, end_of_loop):
        self.lines.append(f"@{self.test(test)} bra {end_of_loop};")


class Warp:
    """Runs a program for up to 32 lanes that meet again as early as they can; counts instructions of the warp."""

    def __init__(self, threads, seed):
        n, u = len(threads), np.uint32
        self.r = [(threads * u(2654435761) + u(seed)).astype(u), threads.astype(u) << u(2), np.full(n, seed, u), np.zeros(n, u)]
        self.seed, self.flag, self.answers = seed, np.zeros(n, bool), np.zeros(n, u)
        self.executed, self.divergent = 11, 0

    def run(self, nodes):
        left = self.sequence(nodes, np.ones(len(self.flag), bool), [])
        self.store(left)
        self.step(7, left)
        return self.answers

    def store(self, lanes):
        self.answers[lanes] = sum(r * np.uint32(m) for r, m in zip(self.r, MIX))[lanes]

    def step(self, n, mask):
        self.executed += n * bool(mask.any())

    def sequence(self, nodes, mask, loops):
        """Run nodes for the lanes of `mask`; return those that come out at the end."""
        for node in nodes:
            mask = getattr(self, node[0] + "_")(*node[1:], mask, loops)
        return mask

    def test(self, test, mask):
        self.step(0 if test == "flag" else 2, mask)
        return self.flag.copy() if test == "flag" else (self.r[0] >> np.uint32(test) & 1).astype(bool)

    def part(self, mask, taken):
        """A conditional branch; count it, and whether it sends the lanes both ways."""
        self.step(1, mask)
        self.divergent += bool((mask & taken).any() and (mask & ~taken).any())

    def op_(self, name, d, a, b, mask, _):
        self.step(1, mask)
        second = np.full(len(mask), int(b), np.uint32) if isinstance(b, str) else self.r[b]
        self.r[d] = np.where(mask, OPS[name](self.r[a], second), self.r[d])
        return mask

    def set_(self, number, mask, _):
        self.step(1, mask)
        self.flag = np.where(mask, self.seed & 3 == number, self.flag)
        return mask

    def if_(self, test, yes, no, mask, loops):
        taken = self.test(test, mask)
        self.part(mask, taken)
        first = self.sequence(yes, mask & taken, loops)
        self.step(1, first)
        return first | self.sequence(no, mask & ~taken, loops)

    def loop_(self, wanted, body, mask, loops):
        return self.repeat(self.r[0] & np.uint32(wanted), body, mask)

    def uniform_(self, n, body, mask, loops):
        return self.repeat(np.full(len(mask), n), body, mask)

    def repeat(self, counts, body, mask):
        self.step(2, mask)
        counts, left, i = counts.copy(), np.zeros(len(mask), bool), 0
        while mask.any():
            self.step(1, mask)
            self.part(mask, counts <= i)
            left |= mask & (counts <= i)
            broken = [np.zeros(len(mask), bool)]
            mask = self.sequence(body, mask & (counts > i), broken)
            left |= broken[0]
            self.step(2, mask)
            i += 1
        return left

    def leave_(self, test, mask, _):
        gone = mask & self.test(test, mask)
        self.store(gone)
        self.step(6, gone)
        self.step(1, mask)
        return mask & ~gone

    def break_(self, test, mask, loops):
        out = mask & self.test(test, mask)
        self.part(mask, out)
        loops[0] |= out
        return mask & ~out
