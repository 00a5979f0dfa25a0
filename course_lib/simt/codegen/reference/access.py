"""Loads and stores of any lanes as native code: one function per form of access, for reference code and for uniform code's regions.

Each works on the register file like the runtime's `memory_access`, does the same and counts the same, with 32 lanes at
a time. What an access found out last time (the array it hit, its lanes' pattern and what that costs) is remembered in a *site*,
one per access and worker. Whatever is out of the ordinary (a fault, a trace, racecheck, lanes in different arrays)
is left to the runtime, before anything has been changed.
"""

from dataclasses import astuple, dataclass
from typing import Any

from course_lib.simt.codegen import cache, native
from course_lib.simt.codegen.llvm import Code, declarations
from course_lib.simt.passes.fuse import ABSORBED
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.runtime import abi
from course_lib.toolchain import disk

SPACES = (abi.SPACES["global"], abi.SPACES["shared"])


@dataclass(frozen=True, order=True)
class Form:
    """What distinguishes the code of one access from another's; see abi.Access."""

    kind: int
    space: int
    width: int
    count: int
    sign: int
    address_bytes: int
    item_bytes: int
    absorbed: int


def form(access: Any) -> Form | None:
    """Return the Form of an abi.Access, or None when the runtime serves it."""
    wide_enough = access.space == SPACES[0] or access.width >= 4
    if access.kind > 1 or access.space not in SPACES or not wide_enough or not access.has_address or not access.item_bytes:
        return None
    loads = access.kind == 0
    return Form(access.kind, access.space, access.width, access.count, access.sign if loads else 0, access.address_bytes,
                access.item_bytes, int(access.tag == ABSORBED))


def forms(program: Program) -> set[Form]:
    """Return the forms of a program's accesses."""
    return {found for found in map(form, program.accesses.values()) if found is not None}


def site(program: Program, number: int) -> int:
    """Return the byte offset of an access's first site among a worker's."""
    return abi.SITE_BYTES * program.sites[number]


def name_of(shape: Form) -> str:
    """Return the name of a form's function."""
    return "access_" + "_".join(map(str, astuple(shape)))


def declared(program: Program) -> str:
    """Return IR text that declares the functions for a program's accesses."""
    return "\n".join(f"declare i32 @{name_of(shape)}(ptr, ptr, ptr)" for shape in sorted(forms(program)))


def call(code: Code, program: Program, number: int, record: str, sites: str) -> str:
    """Emit the call for one access: code that yields an i32, 1 after a fault. `record` and `sites` name pointers."""
    shape = form(program.accesses[number])
    if shape is None:
        return code.op(f"call i32 %f.memory_access(ptr %w, ptr {record})")
    place = code.op(f"getelementptr i8, ptr {sites}, i64 {site(program, number)}")
    return code.op(f"call i32 @{name_of(shape)}(ptr %w, ptr {record}, ptr {place})")


def compiled(shape: Form) -> bytes:
    """Return object code that defines `i32 @access_…(ptr warp, ptr access, ptr site)`; it returns 1 after a fault."""
    return disk.cached_object(native.cache_key("access", cache.own_source(), name_of(shape)),
                              lambda: native.compile_ir(_AccessCode(shape).text(name_of(shape))))


class _AccessCode:
    def __init__(self, shape):
        self.store, self.shared, self.width, self.count = shape.kind == 1, shape.space == SPACES[1], shape.width, shape.count
        self.sign, self.address_bytes, self.item_bytes, self.absorbed = shape.sign, shape.address_bytes, shape.item_bytes, shape.absorbed
        self.size = self.width * self.count
        self.code = Code(lanes=None)

    # -- small things ------------------------------------------------------------------------------
    def field(self, base, owner, name, t="i64"):
        place = self.code.op(f"getelementptr i8, ptr {base}, i64 {abi.at(name, owner)}")
        return self.code.op(f"load {t}, ptr {place}")

    def put(self, owner, name, t, value):
        place = self.code.op(f"getelementptr i8, ptr %site, i64 {abi.at(name, owner)}")
        self.code.do(f"store {t} {value}, ptr {place}")

    def splat(self, value, t="i64"):
        return self.code.splat(value, t)

    def bits(self, condition):
        return self.code.op(f"bitcast <32 x i1> {condition} to i32")

    def function(self, name):
        """Return one of the runtime's functions."""
        place = self.code.op(f"getelementptr ptr, ptr %functions, i64 {abi.FUNCTIONS.index(name)}")
        return self.code.op(f"load ptr, ptr {place}")

    def slot(self, offset):
        return self.code.op(f"getelementptr i8, ptr %regs, i64 {self.code.op(f'zext i32 {offset} to i64')}")

    # -- the function ------------------------------------------------------------------------------
    def text(self, name):
        code = self.code
        code.lines += ["  %functions = load ptr, ptr %p.functions", "  %regs = load ptr, ptr %p.registers"]
        mask = code.op("load i32, ptr %p.mask")
        left = abi.ALL_BY_RUNTIME | (abi.SHARED_BY_RUNTIME if self.shared else 0)
        by_runtime = code.op(f"and i32 {code.op('load i32, ptr %p.by_runtime')}, {left}")
        self.unless(code.op(f"icmp eq i32 {mask}, 0"), "none")
        self.unless(code.op(f"icmp ne i32 {by_runtime}, 0"), "runtime")
        self.lanes = code.op(f"bitcast i32 {mask} to <32 x i1>")
        address = self.addresses()
        shift = self.check(address, mask)
        self.count_up(address, mask)
        self.move(code.op(f"add <32 x i64> {address}, {self.splat(shift)}"), mask)
        code.do("ret i32 0")
        code.label("none")
        code.do("ret i32 0")
        code.label("runtime")
        result = code.op(f"call i32 {self.function('memory_access')}(ptr %w, ptr %a)")
        code.do(f"ret i32 {result}")
        head = [f"define i32 @{name}(ptr %w, ptr %a, ptr %site) nounwind {{", "entry:"]
        head += [f"  %p.{f} = getelementptr i8, ptr %w, i64 {abi.at(f)}" for f in ("mask", "by_runtime", "registers", "functions")]
        body = "\n".join([*head, *code.lines, "}"])
        return body + "\n" + declarations(body)

    def unless(self, condition, label):
        """Go to a label if the condition holds."""
        on = self.code.fresh("on")
        self.code.do(f"br i1 {condition}, label %{label}, label %{on}")
        self.code.label(on)

    def addresses(self):
        code, t = self.code, f"i{8 * self.address_bytes}"
        place = self.slot(self.field("%a", abi.Access, "address", "i32"))
        value = code.op(f"load <32 x {t}>, ptr {place}, align 64")
        offset = self.field("%a", abi.Access, "offset")
        if t != "i64":
            offset = code.op(f"trunc i64 {offset} to {t}")
        value = code.op(f"add <32 x {t}> {value}, {self.splat(offset, t)}")
        value = value if t == "i64" else code.op(f"zext <32 x {t}> {value} to <32 x i64>")
        return code.op(f"sub <32 x i64> {value}, {self.splat(self.field('%w', abi.Warp, 'window'))}") if self.shared else value

    def check(self, address, mask):
        """Leave to the runtime what is misaligned or outside; return host minus device address."""
        code = self.code
        inside = shift = None
        if self.shared:
            limit = self.field("%w", abi.Warp, "shared_bytes")
            end = code.op(f"add <32 x i64> {address}, splat (i64 {self.size})")
            low = code.op(f"icmp ult <32 x i64> {address}, {self.splat(limit)}")
            inside = code.op(f"and <32 x i1> {low}, {code.op(f'icmp ule <32 x i64> {end}, {self.splat(limit)}')}")
            shift = self.field("%w", abi.Warp, "shared")
        odd = code.op(f"and <32 x i64> {address}, splat (i64 {self.size - 1})")
        even = code.op(f"icmp eq <32 x i64> {odd}, zeroinitializer")
        if not self.shared:
            self.all_of(even, mask, "runtime")
            return self.window(address, mask)
        self.all_of(code.op(f"and <32 x i1> {inside}, {even}"), mask, "runtime")
        return shift

    def all_of(self, condition, mask, otherwise):
        """Go to a label unless the condition holds in every active lane."""
        missing = self.code.op(f"and i32 {self.code.op(f'xor i32 {self.bits(condition)}, -1')}, {mask}")
        self.unless(self.code.op(f"icmp ne i32 {missing}, 0"), otherwise)

    def window(self, address, mask):
        """Check against the array that this access hit last; ask the runtime for another."""
        code = self.code
        def missing():
            low, span = (self.splat(self.field("%site", abi.Site, f)) for f in ("lo", "span"))
            inside = code.op(f"icmp ult <32 x i64> {code.op(f'sub <32 x i64> {address}, {low}')}, {span}")
            return code.op(f"and i32 {code.op(f'xor i32 {self.bits(inside)}, -1')}, {mask}")
        search, found = code.fresh("search"), code.fresh("found")
        code.do(f"br i1 {code.op(f'icmp eq i32 {missing()}, 0')}, label %{found}, label %{search}")
        code.label(search)
        self.spill(address)
        code.do(f"call void {self.function('find_site')}(ptr %w, ptr %a, ptr %site, ptr %spilled)")
        self.unless(code.op(f"icmp ne i32 {missing()}, 0"), "runtime")
        code.do(f"br label %{found}")
        code.label(found)
        return self.field("%site", abi.Site, "shift")

    def spill(self, address):
        """Write the addresses to memory, for the runtime."""
        if "  %spilled = alloca [32 x i64], align 64" not in self.code.lines:
            self.code.lines.insert(0, "  %spilled = alloca [32 x i64], align 64")
        self.code.do(f"store <32 x i64> {address}, ptr %spilled, align 64")

    # -- counting ----------------------------------------------------------------------------------
    def count_up(self, address, mask):
        """Compare the lanes' pattern with the last one; count it anew when it differs; add it to the counters."""
        code = self.code
        lane = code.op(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 true)")
        first = code.op(f"extractelement <32 x i64> {address}, i32 {lane}")
        distance = code.op(f"sub <32 x i64> {address}, {self.splat(first)}")
        pattern = code.op(f"select <32 x i1> {self.lanes}, <32 x i64> {distance}, <32 x i64> zeroinitializer")
        old = code.op("load <32 x i64>, ptr %site, align 64")
        differ = self.bits(code.op(f"icmp ne <32 x i64> {old}, {pattern}"))
        masks = code.op(f"xor i32 {self.field('%site', abi.Site, 'mask', 'i32')}, {mask}")
        known = code.op(f"icmp eq i32 {code.op(f'or i32 {differ}, {masks}')}, 0")
        same, fresh, counted = code.fresh("same"), code.fresh("fresh"), code.fresh("counted")
        index = code.op(f"and i64 {first}, 31")
        column = code.op(f"add i64 {index}, {abi.at('sectors', abi.Site)}")
        sectors = code.op(f"getelementptr i8, ptr %site, i64 {column}")
        code.do(f"br i1 {known}, label %{same}, label %{fresh}")
        code.label(fresh)
        code.do(f"store <32 x i64> {pattern}, ptr %site, align 64")
        self.put(abi.Site, "mask", "i32", mask)
        code.do(f"call void {self.function('new_site')}(ptr %a, ptr %site)")
        code.do(f"br label %{same}")
        code.label(same)
        if self.absorbed:
            return
        if not self.shared:
            ask, now = code.fresh("ask"), code.op(f"load i8, ptr {sectors}")
            code.do(f"br i1 {code.op(f'icmp eq i8 {now}, 0')}, label %{ask}, label %{counted}")
            code.label(ask)
            code.do(f"call void {self.function('count_site')}(ptr %site, i64 {index})")
            code.do(f"br label %{counted}")
            code.label(counted)
        lanes = code.op(f"call i32 @llvm.ctpop.i32(i32 {mask})")
        amounts = {0: "1", 1: code.op(f"zext i32 {lanes} to i64")}
        if self.shared:
            for which, name in ((3, "waves"), (4, "phases")):
                amounts[which] = code.op(f"zext i32 {self.field('%site', abi.Site, name, 'i32')} to i64")
        else:
            now = code.op(f"load i8, ptr {sectors}")
            amounts |= {2: code.op(f"zext i8 {now} to i64"), 5: "1"}
        self.add(amounts)

    def add(self, amounts):
        """Add to the counters of this access: column -> amount."""
        code = self.code
        worker = code.op(f"load ptr, ptr {code.op('getelementptr i8, ptr %w, i64 ' + str(abi.at('worker')))}")
        place = code.op(f"getelementptr i8, ptr {worker}, i64 {abi.at('dynamic', abi.Worker)}")
        dynamic = code.op(f"load ptr, ptr {place}")
        number = code.op(f"zext i32 {self.field('%a', abi.Access, 'number', 'i32')} to i64")
        row = code.op(f"getelementptr i8, ptr {dynamic}, i64 {code.op(f'mul i64 {number}, {8 * abi.COUNTS}')}")
        for column, amount in amounts.items():
            place = code.op(f"getelementptr i64, ptr {row}, i64 {column}")
            before = code.op(f"load i64, ptr {place}")
            code.do(f"store i64 {code.op(f'add i64 {before}, {amount}')}, ptr {place}")

    # -- moving data -------------------------------------------------------------------------------
    def move(self, host, mask):
        """Carry out the access at the lanes' host addresses: neighbours with one masked load or store, else one by one."""
        code = self.code
        items = [self.slot(code.op(f"load i32, ptr {self.item_place(i)}")) for i in range(self.count)]
        if self.count > 1:
            return self.scattered(host, items)
        near, far, done = code.fresh("near"), code.fresh("far"), code.fresh("done")
        row = self.field("%site", abi.Site, "row", "i32")
        code.do(f"br i1 {code.op(f'icmp ne i32 {row}, 0')}, label %{near}, label %{far}")
        code.label(near)
        lane = code.op(f"call i32 @llvm.cttz.i32(i32 {mask}, i1 true)")
        first = code.op(f"extractelement <32 x i64> {host}, i32 {lane}")
        back = code.op(f"mul i64 {code.op(f'zext i32 {lane} to i64')}, {self.width}")
        start = code.op(f"sub i64 {first}, {back}")
        self.in_a_row(code.op(f"inttoptr i64 {start} to ptr"), items[0])
        code.do(f"br label %{done}")
        code.label(far)
        self.scattered(host, items)
        code.do(f"br label %{done}")
        code.label(done)

    def item_place(self, i):
        return self.code.op(f"getelementptr i8, ptr %a, i64 {abi.at('item', abi.Access) + 4 * i}")

    def in_a_row(self, place, slot):
        t, code = f"i{8 * self.width}", self.code
        if self.store:
            value = self.register(slot)
            code.do(f"call void @llvm.masked.store.v32{t}.p0(<32 x {t}> {value}, ptr {place}, i32 {self.width}, <32 x i1> {self.lanes})")
            return
        self.receive(slot, code.op(f"call <32 x {t}> @llvm.masked.load.v32{t}.p0(ptr {place}, i32 {self.width}, "
                                   f"<32 x i1> {self.lanes}, <32 x {t}> zeroinitializer)"))

    def scattered(self, host, items):
        t, code = f"i{8 * self.width}", self.code
        for i, slot in enumerate(items):
            at = host if i == 0 else code.op(f"add <32 x i64> {host}, splat (i64 {i * self.width})")
            pointers = code.op(f"inttoptr <32 x i64> {at} to <32 x ptr>")
            if self.store:
                code.do(f"call void @llvm.masked.scatter.v32{t}.v32p0(<32 x {t}> {self.register(slot)}, <32 x ptr> {pointers}, "
                        f"i32 {self.width}, <32 x i1> {self.lanes})")
            else:
                self.receive(slot, code.op(f"call <32 x {t}> @llvm.masked.gather.v32{t}.v32p0(<32 x ptr> {pointers}, i32 {self.width}, "
                                           f"<32 x i1> {self.lanes}, <32 x {t}> zeroinitializer)"))

    def register(self, slot):
        """Return what a store writes."""
        wide, t = f"i{8 * self.item_bytes}", f"i{8 * self.width}"
        value = self.code.op(f"load <32 x {wide}>, ptr {slot}, align 64")
        return value if wide == t else self.code.op(f"trunc <32 x {wide}> {value} to <32 x {t}>")

    def receive(self, slot, value):
        """Write what was loaded to the active lanes of a register."""
        wide, t, code = f"i{8 * self.item_bytes}", f"i{8 * self.width}", self.code
        if wide != t:
            value = code.op(f"{'sext' if self.sign else 'zext'} <32 x {t}> {value} to <32 x {wide}>")
        old = code.op(f"load <32 x {wide}>, ptr {slot}, align 64")
        both = code.op(f"select <32 x i1> {self.lanes}, <32 x {wide}> {value}, <32 x {wide}> {old}")
        code.do(f"store <32 x {wide}> {both}, ptr {slot}, align 64")
