"""Values `u + V`, a scalar and 32 lane differences, and where the lane parts V lie: each is stored once, at its root (affine.py)."""

import ctypes
from dataclasses import dataclass

from course_lib.simt.codegen.uniform.affine import Root, constant
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.runtime import abi

PATTERN_BYTES = ctypes.sizeof(abi.Pattern)
SIZES = {"i64": 8, "i32": 4, "i8": 1}


@dataclass(frozen=True)
class SplitValue:
    """`u` is a scalar; `lanes` is None (all zero), a Root or the name of a vector value."""

    u: str
    lanes: Root | str | None
    bits: int

    @property
    def constant(self) -> tuple[int, ...] | None:
        """The lane part where it is known beforehand, else None."""
        if self.lanes is None:
            return (0,) * abi.LANES
        return self.lanes[1] if isinstance(self.lanes, tuple) and self.lanes[0] == "const" else None

    @property
    def root(self) -> Root | None:
        """The root of the lane part, None when all lanes are equal. A value with a vector of its own has no root yet."""
        assert not isinstance(self.lanes, str)
        return self.lanes


class Roots:
    """Emits what reads and writes lane parts; `loaded`: root -> vector value, inside the current chain."""

    def __init__(self, context: Context) -> None:
        self.context, self.code = context, context.code
        self.loaded: dict[Root, str] = {}

    def forget(self) -> None:
        """Begin a new chain: no vector value is at hand."""
        self.loaded = {}

    def lanes_offset(self, root: Root, bits: int) -> int:
        """Return the offset of a root's lane part in the uniform memory of a warp."""
        return self.context.allocate(("lanes", root, bits), 4 * bits, 64)

    def pattern_offset(self, root: Root, bits: int) -> int:
        """Return the offset of a root's Pattern; constant roots have none."""
        return 0 if root[0] == "const" else self.context.allocate(("pattern", root, bits), PATTERN_BYTES)

    def lanes_pointer(self, root: Root, bits: int) -> str:
        """Return a pointer to a root's lane part."""
        return self.context.pointer(self.lanes_offset(root, bits))

    def pattern_pointer(self, root: Root, bits: int) -> str:
        """Return a pointer to a root's Pattern."""
        return self.context.pointer(self.pattern_offset(root, bits))

    def field(self, root: Root, bits: int, name: str, t: str = "i64", index: int = 0) -> str:
        """Load a field of a root's Pattern."""
        offset = self.pattern_offset(root, bits) + abi.at(name, abi.Pattern) + index * SIZES[t]
        return self.code.op(f"load {t}, ptr {self.context.pointer(offset)}")

    def vector(self, lanes: Root | str | None, bits: int) -> str:
        """Return a lane part as a vector value."""
        t = f"i{bits}"
        if lanes is None:
            return "zeroinitializer"
        if isinstance(lanes, str):
            return lanes
        if lanes[0] == "const":
            return "<" + ", ".join(f"{t} {v}" for v in lanes[1]) + ">"
        if lanes not in self.loaded:
            self.loaded[lanes] = self.code.op(f"load <32 x {t}>, ptr {self.lanes_pointer(lanes, bits)}, align 64")
        return self.loaded[lanes]

    def full(self, value: SplitValue) -> str:
        """Return u + V as a plain vector."""
        base = self.code.splat(value.u, f"i{value.bits}")
        if value.lanes is None:
            return base
        return self.code.op(f"add <32 x i{value.bits}> {base}, {self.vector(value.lanes, value.bits)}")

    def narrowed(self, value: SplitValue, bits: int) -> SplitValue:
        """Return the lower `bits` bits of a value of 64 bits; a lane part that is not known beforehand gets a vector of its own."""
        u = "0" if value.u == "0" else self.code.op(f"trunc i{value.bits} {value.u} to i{bits}")
        if value.lanes is None or value.constant is not None:
            return SplitValue(u, value.lanes and constant(value.lanes[1], bits), bits)
        lanes = self.vector(value.lanes, value.bits)
        return SplitValue(u, self.code.op(f"trunc <32 x i{value.bits}> {lanes} to <32 x i{bits}>"), bits)

    def first(self, value: SplitValue) -> str:
        """Return the value in lane 0."""
        if value.constant is not None and value.constant[0] == 0:
            return value.u
        lane = self.code.op(f"extractelement <32 x i{value.bits}> {self.vector(value.lanes, value.bits)}, i32 0")
        return self.code.op(f"add i{value.bits} {value.u}, {lane}")

    def update(self, root: Root, value: SplitValue) -> None:
        """Store a lane part under its root; describe it anew only when it changed."""
        if root[0] == "const":
            return
        code, t, bits = self.code, f"<32 x i{value.bits}>", value.bits
        lanes = self.vector(value.lanes, bits)
        place = self.lanes_pointer(root, bits)
        old = code.op(f"load {t}, ptr {place}, align 64")
        differ = code.op(f"bitcast <32 x i1> {code.op(f'icmp ne {t} {old}, {lanes}')} to i32")
        changed, same = code.fresh("changed"), code.fresh("same")
        code.do(f"br i1 {code.op(f'icmp eq i32 {differ}, 0')}, label %{same}, label %{changed}")
        code.label(changed)
        code.do(f"store {t} {lanes}, ptr {place}, align 64")
        self.context.call("analyze", f"ptr {self.pattern_pointer(root, bits)}", f"ptr {place}", f"i32 {bits // 8}")
        code.do(f"br label %{same}")
        code.label(same)
        self.loaded[root] = lanes

    def bounds(self, value: SplitValue) -> tuple[str, str]:
        """Return (least, greatest) lane difference of a value with a root, as i64 values."""
        if value.constant is not None:
            return str(min(value.constant)), str(max(value.constant))
        assert value.root is not None
        return self.field(value.root, value.bits, "lo"), self.field(value.root, value.bits, "hi")
