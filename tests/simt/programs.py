"""Random structured programs: the same tree as PTX text, and run lane by lane in NumPy.

A program works on one 32-bit register `x` a thread. Its nodes are tuples:

    ("op", a, b)               x = x * a + b
    ("if", bit, yes, no)       by a bit of x; `yes` and `no` are lists of nodes
    ("loop", mask, body)       as often as x & mask says at its beginning
    ("uniform", n, body)       n times
    ("leave", bit)             threads whose bit is set return; what they had is stored before
    ("break", bit)             threads whose bit is set leave the innermost loop
"""

import numpy as np


def draw(rng, depth=3, length=4, looping=False):
    """Return a random list of nodes."""
    nodes = []
    for _ in range(rng.randint(1, length)):
        kind = rng.choice(("op", "op", "if", "if", "loop", "uniform", "leave", "break"))
        if kind == "leave" and rng.random() < 0.6 or kind == "break" and not looping or kind not in ("op", "leave", "break") and not depth:
            kind = "op"
        if kind == "op":
            nodes.append(("op", rng.randrange(1, 1 << 32, 2), rng.randrange(1 << 32)))
        elif kind == "if":
            no = draw(rng, depth - 1, 2, looping) if rng.random() < 0.6 else []
            nodes.append(("if", rng.randrange(32), draw(rng, depth - 1, 3, looping), no))
        elif kind == "loop":
            nodes.append(("loop", rng.choice((1, 3, 7)), draw(rng, depth - 1, 3, True)))
        elif kind == "uniform":
            nodes.append(("uniform", rng.randint(0, 4), draw(rng, depth - 1, 3, True)))
        else:
            nodes.append((kind, rng.randrange(32)))
    return nodes


class Emitter:
    """Writes PTX; `%x` is the register, `%o` the address of the answer."""

    def __init__(self):
        self.lines, self.labels, self.counters = [], 0, 0

    def text(self, nodes):
        self.sequence(nodes, None)
        body = "\n".join(self.lines)
        counters = "".join(f".reg .b32 %i{n}, %n{n};" for n in range(1, self.counters + 1))
        return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 seed) {{
.reg .pred %p; .reg .b32 %x, %t, %s; .reg .b64 %o; {counters}
mov.u32 %t, %tid.x;
ld.param.u64 %o, [out];
mad.wide.u32 %o, %t, 4, %o;
ld.param.u32 %s, [seed];
mad.lo.u32 %x, %t, 2654435761, %s;
{body}
st.global.u32 [%o], %x;
ret;
}}"""

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def test(self, bit):
        self.lines += [f"and.b32 %t, %x, {1 << bit};", "setp.ne.u32 %p, %t, 0;"]

    def sequence(self, nodes, end_of_loop):
        for node in nodes:
            getattr(self, node[0] + "_")(*node[1:], end_of_loop)

    def op_(self, a, b, _):
        self.lines.append(f"mad.lo.u32 %x, %x, {a}, {b};")

    def if_(self, bit, yes, no, end_of_loop):
        other, end = self.label(), self.label()
        self.test(bit)
        self.lines.append(f"@!%p bra {other};")
        self.sequence(yes, end_of_loop)
        self.lines += [f"bra {end};", f"{other}:"]
        self.sequence(no, end_of_loop)
        self.lines.append(f"{end}:")

    def loop_(self, mask, body, _):
        self.repeat([f"and.b32 %n{self.counters + 1}, %x, {mask};"], body)

    def uniform_(self, n, body, _):
        self.repeat([f"mov.u32 %n{self.counters + 1}, {n};"], body)

    def repeat(self, count, body):
        self.counters += 1
        number, head, end = self.counters, self.label(), self.label()
        self.lines += [*count, f"mov.u32 %i{number}, 0;", f"{head}:", f"setp.ge.u32 %p, %i{number}, %n{number};", f"@%p bra {end};"]
        self.sequence(body, end)
        self.lines += [f"add.u32 %i{number}, %i{number}, 1;", f"bra {head};", f"{end}:"]

    def leave_(self, bit, _):
        self.test(bit)
        self.lines += ["@%p st.global.u32 [%o], %x;", "@%p ret;"]

    def break_(self, bit, end_of_loop):
        self.test(bit)
        self.lines.append(f"@%p bra {end_of_loop};")


class Warp:
    """Runs a program for up to 32 lanes that meet again as early as they can; counts instructions of the warp."""

    def __init__(self, threads, seed):
        self.x = (threads * np.uint32(2654435761) + np.uint32(seed)).astype(np.uint32)
        self.alive = np.ones(len(threads), bool)
        self.executed = 5
        self.divergent = 0

    def run(self, nodes):
        self.sequence(nodes, self.alive.copy(), [])
        self.step(2, self.alive)
        return self.x

    def step(self, n, mask):
        self.executed += n * bool(mask.any())

    def sequence(self, nodes, mask, loops):
        """Run nodes for the lanes of `mask`; return those that come out at the end."""
        for node in nodes:
            mask = getattr(self, node[0] + "_")(*node[1:], mask, loops)
        return mask

    def part(self, mask, taken):
        """Count a conditional branch that sends the lanes both ways."""
        self.divergent += bool((mask & taken).any() and (mask & ~taken).any())

    def op_(self, a, b, mask, _):
        self.step(1, mask)
        self.x[mask] = self.x[mask] * np.uint32(a) + np.uint32(b)
        return mask

    def if_(self, bit, yes, no, mask, loops):
        self.step(3, mask)
        taken = (self.x >> np.uint32(bit) & 1).astype(bool)
        self.part(mask, taken)
        first = self.sequence(yes, mask & taken, loops)
        self.step(1, first)
        return first | self.sequence(no, mask & ~taken, loops)

    def loop_(self, wanted, body, mask, loops):
        return self.repeat(self.x & np.uint32(wanted), body, mask)

    def uniform_(self, n, body, mask, loops):
        return self.repeat(np.full(len(self.x), n), body, mask)

    def repeat(self, counts, body, mask):
        self.step(2, mask)
        counts, left, i = counts.copy(), np.zeros(len(mask), bool), 0
        while mask.any():
            self.step(2, mask)
            self.part(mask, counts <= i)
            left |= mask & (counts <= i)
            mask = mask & (counts > i)
            broken = [np.zeros(len(mask), bool)]
            mask = self.sequence(body, mask, broken)
            left |= broken[0]
            self.step(2, mask)
            i += 1
        return left

    def leave_(self, bit, mask, _):
        self.step(2, mask)
        gone = mask & (self.x >> np.uint32(bit) & 1).astype(bool)
        self.step(1, gone)  # the guarded store
        self.step(1, mask)
        self.alive &= ~gone
        return mask & ~gone

    def break_(self, bit, mask, loops):
        self.step(3, mask)
        out = mask & (self.x >> np.uint32(bit) & 1).astype(bool)
        self.part(mask, out)
        loops[0] |= out
        return mask & ~out
