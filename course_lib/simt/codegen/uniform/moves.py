"""Move 32 lanes between registers and memory: contiguous, broadcast (all at one address), or general (gather, scatter).

`starts` are the offsets of lanes 0, 8, 16 and 24: what holds inside each group of eight decides which code runs.
"""

from collections.abc import Callable, Sequence

from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.groups import Group
from course_lib.simt.codegen.uniform.roots import Roots

NEAR = 128  # bytes: two of the CPU's widest registers, from which one instruction picks any elements
SCATTERED = -1  # stride of lanes that follow no rule
CONTIGUOUS, BROADCAST, GENERAL = "contiguous", "broadcast", "general"


class Moves:
    """Emits loads and stores of whole vectors; `width` is in bits, the elements of a lane lie side by side."""

    def __init__(self, context: Context, roots: Roots) -> None:
        self.code, self.roots = context.code, roots

    def load(self, group: Group, place: str, width: int, count: int) -> list[str]:
        """Load `count` elements per lane, which begin at `place` plus the lane part; return a vector for each."""
        emit = {CONTIGUOUS: self._load_contiguous, BROADCAST: self._load_broadcast, GENERAL: self._load_general}
        return self._by_stride(group, width // 8 * count, lambda how, starts: emit[how](group, starts, place, width, count),
                               f"<32 x i{width}>", count)

    def store(self, group: Group, place: str, width: int, values: Sequence[str]) -> None:
        """Store a vector for each element of a lane; see `load`."""
        emit = {CONTIGUOUS: self._store_contiguous, BROADCAST: self._store_broadcast, GENERAL: self._store_general}

        def one(how, starts):
            emit[how](group, starts, place, width, values)
            return []
        self._by_stride(group, width // 8 * len(values), one, "", 0)

    def _by_stride(self, group: Group, size: int, emit: Callable[[str, list[str]], list[str]], t: str, count: int) -> list[str]:
        """Call `emit(how, starts)` for the code that fits the lanes; decided here when V is constant, else at run time."""
        code, bits, fixed, root = self.code, group.value.bits, group.value.constant, group.value.root
        if fixed is not None:
            step = stride(fixed)
            how = CONTIGUOUS if step == size else BROADCAST if step == 0 else GENERAL
            return emit(how, [str(fixed[i]) for i in (0, 8, 16, 24)])
        assert root is not None
        starts = [self.roots.field(root, bits, "segment", "i64", i) for i in range(4)]
        self.roots.vector(root, bits)  # loaded here, so that every branch may use it
        known_step = self.roots.field(root, bits, "stride", "i32")
        labels = {how: code.fresh(how) for how in (CONTIGUOUS, BROADCAST, GENERAL)}
        done = code.fresh("done")
        code.do(f"switch i32 {known_step}, label %{labels[GENERAL]} [ i32 {size}, label %{labels[CONTIGUOUS]} "
                f"i32 0, label %{labels[BROADCAST]} ]")
        found = []
        for how, label in labels.items():
            code.label(label)
            values = emit(how, starts)
            last = code.fresh("end")
            code.do(f"br label %{last}")
            code.label(last)
            code.do(f"br label %{done}")
            found.append((last, values))
        code.label(done)
        return [code.op(f"phi {t} " + ", ".join(f"[ {values[i]}, %{last} ]" for last, values in found)) for i in range(count)]

    def lane(self, value: str, width: int, number: int) -> str:
        """Return one lane of a vector."""
        return self.code.op(f"extractelement <32 x i{width}> {value}, i32 {number}")

    def _at(self, place, start):
        return place if start == "0" else self.code.op(f"getelementptr i8, ptr {place}, i64 {start}")

    def _together(self, group, size):
        """Say whether all 32 lanes are known to lie one behind the other."""
        fixed = group.value.constant
        return fixed is not None and all(fixed[i + 1] - fixed[i] == size for i in range(31))

    def _load_contiguous(self, group, starts, place, width, count):
        code = self.code
        parts = [(self._at(place, starts[0]), 32)] if self._together(group, width // 8 * count) else \
            [(self._at(place, s), 8) for s in starts]
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
                picked = [self._join(a, b, n * (4 // len(picked)), width) for a, b in zip(picked[::2], picked[1::2])]
            results.append(picked[0])
        return results

    def _join(self, a, b, n, width):
        mask = ", ".join(f"i32 {i}" for i in range(2 * n))
        return self.code.op(f"shufflevector <{n} x i{width}> {a}, <{n} x i{width}> {b}, <{2 * n} x i32> <{mask}>")

    def _load_broadcast(self, group, starts, place, width, count):
        code, results = self.code, []
        for item in range(count):
            few: str = "poison"
            seen: dict[str, tuple[int, str]] = {}
            for i, start in enumerate(starts):
                if start not in seen:
                    at = self._at(self._at(place, start), str(item * width // 8))
                    seen[start] = (i, code.op(f"load i{width}, ptr {at}"))
                    few = code.op(f"insertelement <4 x i{width}> {few}, i{width} {seen[start][1]}, i32 {i}")
            mask = ", ".join(f"i32 {seen[starts[lane // 8]][0]}" for lane in range(32))
            results.append(code.op(f"shufflevector <4 x i{width}> {few}, <4 x i{width}> poison, <32 x i32> <{mask}>"))
        return results

    def _pointers(self, group, place, shift):
        value = group.value
        at = self._at(place, str(shift))
        return self.code.op(f"getelementptr i8, ptr {at}, <32 x i{value.bits}> {self.roots.vector(value.lanes, value.bits)}")

    def _load_general(self, group, starts, place, width, count):
        near = self._load_near(group.value.constant, place, width, count)
        if near is not None:
            return near
        every = "<32 x i1> splat (i1 true)"
        return [self.code.op(f"call <32 x i{width}> @llvm.masked.gather.v32i{width}.v32p0(<32 x ptr> "
                             f"{self._pointers(group, place, i * width // 8)}, i32 {width // 8}, {every}, <32 x i{width}> poison)")
                for i in range(count)]

    def _load_near(self, fixed, place, width, count):
        """Read all bytes from the first lane's to the last one's and pick the lanes from them; None where they are too many."""
        size, code = width // 8, self.code
        if fixed is None:
            return None
        words, odd = divmod(max(fixed) - min(fixed) + size * count, size)
        if odd or words & (words - 1) or words * size > NEAR or any((v - min(fixed)) % size for v in fixed):
            return None
        t = f"<{words} x i{width}>"
        whole = code.op(f"load {t}, ptr {self._at(place, str(min(fixed)))}, align {size}")
        masks = [", ".join(f"i32 {(v - min(fixed)) // size + i}" for v in fixed) for i in range(count)]
        return [code.op(f"shufflevector {t} {whole}, {t} poison, <32 x i32> <{mask}>") for mask in masks]

    def _store_contiguous(self, group, starts, place, width, values):
        code, count = self.code, len(values)
        pieces = [(0, 32)] if self._together(group, width // 8 * count) else [(8 * i, 8) for i in range(4)]
        for first, n in pieces:
            both = self._interleave(values, first, n, width)
            code.do(f"store <{n * count} x i{width}> {both}, ptr {self._at(place, starts[first // 8])}, align {width // 8}")

    def _interleave(self, values, first, n, width):
        """Lanes [first, first + n) of one, two or four vectors, element by element."""
        code = self.code
        mask = ", ".join(f"i32 {first + i}" for i in range(n))
        parts = [code.op(f"shufflevector <32 x i{width}> {v}, <32 x i{width}> poison, <{n} x i32> <{mask}>") for v in values]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [self._weave(parts[i], parts[i + half], n * len(values) // len(parts), width) for i in range(half)]
        return parts[0]

    def _weave(self, a, b, n, width):
        mask = ", ".join(f"i32 {i}, i32 {n + i}" for i in range(n))
        return self.code.op(f"shufflevector <{n} x i{width}> {a}, <{n} x i{width}> {b}, <{2 * n} x i32> <{mask}>")

    def _store_broadcast(self, group, starts, place, width, values):
        """All lanes of a quarter write to one address: the last one stays."""
        for i, start in enumerate(starts):
            for item, value in enumerate(values):
                at = self._at(self._at(place, start), str(item * width // 8))
                self.code.do(f"store i{width} {self.lane(value, width, 8 * i + 7)}, ptr {at}")

    def _store_general(self, group, starts, place, width, values):
        every = "<32 x i1> splat (i1 true)"
        for i, value in enumerate(values):
            self.code.do(f"call void @llvm.masked.scatter.v32i{width}.v32p0(<32 x i{width}> {value}, <32 x ptr> "
                         f"{self._pointers(group, place, i * width // 8)}, i32 {width // 8}, {every})")


def stride(lanes: Sequence[int]) -> int:
    """Return the step between neighbours when it is the same in each group of 8 lanes, else SCATTERED."""
    steps = {lanes[i + 1] - lanes[i] for i in range(31) if i % 8 != 7}
    return steps.pop() if len(steps) == 1 else SCATTERED
