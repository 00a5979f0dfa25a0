"""Move 32 lanes between registers and memory: apart (neighbours), same (a broadcast), or any (gather, scatter).

`starts` are the offsets of lanes 0, 8, 16 and 24: what holds inside each group of eight decides the way.
"""


class Moves:
    """Emits loads and stores of whole vectors for MemoryGroups; `width` is in bits, `count` elements lie side by side."""

    def __init__(self, code, pairs):
        self.code, self.pairs = code, pairs

    def lane(self, value, width, number):
        """Return one lane of a vector."""
        return self.code.op(f"extractelement <32 x i{width}> {value}, i32 {number}")

    def at(self, place, start):
        return place if start == "0" else self.code.op(f"getelementptr i8, ptr {place}, i64 {start}")

    def together(self, group, size):
        """Say whether all 32 lanes are known to lie one behind the other."""
        lanes = group.pair.lanes
        return lanes[0] == "const" and all(lanes[1][i + 1] - lanes[1][i] == size for i in range(31))

    def load_apart(self, group, starts, place, width, count):
        code = self.code
        parts = [(self.at(place, starts[0]), 32)] if self.together(group, width // 8 * count) else \
            [(self.at(place, s), 8) for s in starts]
        loaded = [code.op(f"load <{n * count} x i{width}>, ptr {p}, align {width // 8}") for p, n in parts]
        n = parts[0][1]
        results = []
        for item in range(count):
            picked = loaded
            if count > 1:
                mask = ", ".join(f"i32 {item + count * lane}" for lane in range(n))
                picked = [code.op(f"shufflevector <{n * count} x i{width}> {v}, <{n * count} x i{width}> poison, <{n} x i32> <{mask}>")
                          for v in loaded]
            while len(picked) > 1:
                picked = [self.join(a, b, n * (4 // len(picked)), width) for a, b in zip(picked[::2], picked[1::2])]
            results.append(picked[0])
        return results

    def join(self, a, b, n, width):
        mask = ", ".join(f"i32 {i}" for i in range(2 * n))
        return self.code.op(f"shufflevector <{n} x i{width}> {a}, <{n} x i{width}> {b}, <{2 * n} x i32> <{mask}>")

    def load_same(self, group, starts, place, width, count):
        code, results = self.code, []
        for item in range(count):
            few, seen = "poison", {}
            for i, start in enumerate(starts):
                if start not in seen:
                    at = self.at(self.at(place, start), str(item * width // 8))
                    seen[start] = (i, code.op(f"load i{width}, ptr {at}"))
                    few = code.op(f"insertelement <4 x i{width}> {few}, i{width} {seen[start][1]}, i32 {i}")
            mask = ", ".join(f"i32 {seen[starts[lane // 8]][0]}" for lane in range(32))
            results.append(code.op(f"shufflevector <4 x i{width}> {few}, <4 x i{width}> poison, <32 x i32> <{mask}>"))
        return results

    def pointers(self, group, place, shift):
        pair = group.pair
        at = self.at(place, str(shift))
        return self.code.op(f"getelementptr i8, ptr {at}, <32 x i{pair.bits}> {self.pairs.vector(pair.lanes, pair.bits)}")

    def load_any(self, group, starts, place, width, count):
        every = "<32 x i1> splat (i1 true)"
        return [self.code.op(f"call <32 x i{width}> @llvm.masked.gather.v32i{width}.v32p0(<32 x ptr> "
                             f"{self.pointers(group, place, i * width // 8)}, i32 {width // 8}, {every}, <32 x i{width}> poison)")
                for i in range(count)]

    def store_apart(self, group, starts, place, width, values):
        code, count = self.code, len(values)
        pieces = [(0, 32)] if self.together(group, width // 8 * count) else [(8 * i, 8) for i in range(4)]
        for first, n in pieces:
            both = self.interleave(values, first, n, width)
            code.do(f"store <{n * count} x i{width}> {both}, ptr {self.at(place, starts[first // 8])}, align {width // 8}")

    def interleave(self, values, first, n, width):
        """Lanes [first, first + n) of one, two or four vectors, element by element."""
        code = self.code
        mask = ", ".join(f"i32 {first + i}" for i in range(n))
        parts = [code.op(f"shufflevector <32 x i{width}> {v}, <32 x i{width}> poison, <{n} x i32> <{mask}>") for v in values]
        while len(parts) > 1:
            parts = [self.weave(parts[i], parts[i + len(parts) // 2], n * len(values) // len(parts), width) for i in range(len(parts) // 2)]
        return parts[0]

    def weave(self, a, b, n, width):
        mask = ", ".join(f"i32 {i}, i32 {n + i}" for i in range(n))
        return self.code.op(f"shufflevector <{n} x i{width}> {a}, <{n} x i{width}> {b}, <{2 * n} x i32> <{mask}>")

    def store_same(self, group, starts, place, width, values):
        """All lanes of an eighth write one place: the last one stays."""
        for i, start in enumerate(starts):
            for item, value in enumerate(values):
                at = self.at(self.at(place, start), str(item * width // 8))
                self.code.do(f"store i{width} {self.lane(value, width, 8 * i + 7)}, ptr {at}")

    def store_any(self, group, starts, place, width, values):
        every = "<32 x i1> splat (i1 true)"
        for i, value in enumerate(values):
            self.code.do(f"call void @llvm.masked.scatter.v32i{width}.v32p0(<32 x i{width}> {value}, <32 x ptr> "
                         f"{self.pointers(group, place, i * width // 8)}, i32 {width // 8}, {every})")
