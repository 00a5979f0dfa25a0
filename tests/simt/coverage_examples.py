"""An instruction for each form of the table of coverage: registers as wide as the manual wants, and a kernel around them."""

import random
import re

import numpy as np

from course_lib import simt
from course_lib.simt.isa import coverage
from course_lib.simt.model.types import width
from course_lib.tensor_maps import TensorMap

MEMORY = ("ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "applypriority")
TEXT = """.version 8.7
.target sm_90
.address_size 64
.const .align 16 .b8 fixed[64];
.func callee(.param .b32 x) { .reg .b32 %y; ld.param.b32 %y, [x]; ret; }
.visible .entry k(.param .u64 a, .param .align 16 .b8 given[16], .param .align 8 .b8 images[64],
.param .align 64 .b8 maps[640]) {
.reg .pred %p<5>; .reg .b16 %h<20>; .reg .b32 %r<230>; .reg .b64 %d<22>; .reg .b128 %q<3>; .reg .b64 %i<8>; .reg .b64 %m<6>;
.shared .align 128 .b8 tile[8192]; .shared .align 8 .b8 objects[256]; .local .align 16 .b8 own[64];
.param .align 16 .b8 passed[16];
mov.u32 %r30, %laneid;
ld.param.u64 %d10, [a];
mad.wide.u32 %d11, %r30, 16, %d10;
mov.u64 %d12, tile;
mad.wide.u32 %d12, %r30, 16, %d12;
mov.u64 %d13, own;
mov.u64 %d14, fixed;
mov.u64 %d15, tile;
cvta.shared.u64 %d16, %d15;
mov.u64 %d20, objects;
cvta.shared.u64 %d21, %d20;
setp.eq.u32 %p4, %r30, 0;
setp.eq.u32 %p1, %r30, %r30;
setp.ne.u32 %p2, %r30, %r30;
mov.b32 %r31, 8;
mov.b32 %r32, 0;
mov.b16 %h19, 1;
""" + "\n".join(f"ld.param.u64 %i{i}, [images+{8 * i}];" for i in range(8)) + "\nmov.u64 %m0, maps;\n" + \
    "".join(f"add.u64 %m{n}, %m0, {128 * (n - 1)};\n" for n in range(1, 6))
IMAGES = [(dtype, n) for dtype in ("f32", "s32", "u32") for n in (1, 2)]
SPACES = {"global": "%d11", "shared": "%d12", "local": "%d13", "const": "%d14"}


def arguments():
    """Return arguments of the kernel: an array, 16 bytes, a texture of each kind of number and dimension, two surfaces, tensor maps."""
    shapes = {1: (64, 4), 2: (8, 8, 4)}
    textures = [simt.Texture(np.ones(shapes[n], {"f32": "f4", "s32": "i4", "u32": "u4"}[dtype]), channels=4) for dtype, n in IMAGES]
    surfaces = [simt.Surface(np.zeros(shapes[n], "f4"), channels=4) for n in (1, 2)]
    maps = tuple(TensorMap(np.zeros((4,) * n, np.uint32), (*(1,) * (n - 1), 4)) for n in range(1, 6))
    return [np.zeros(8192, np.uint32), np.zeros(1, "V16")[0], (*textures, *surfaces), maps]


def sample(pattern, rng, few=30, tries=400, pairs=False):
    """Return forms of a row: all of them when they are few, else enough that every word (every two words) stands in one."""
    tree = coverage.parsed(iter(pattern))
    if count(tree) <= few:
        return list(coverage.forms_of(pattern))
    found, seen = [], set()
    for _ in range(tries):
        form = draw(tree, rng)
        words = form.split(".")
        now = {(i, a, b) for i, a in enumerate(words) for b in words} if pairs else {(len(words) - i, w) for i, w in enumerate(words)}
        if not now <= seen:
            found.append(form)
            seen |= now
    return list(dict.fromkeys(found))


def count(tree):
    total = 0
    for parts in tree:
        product = 1
        for part in parts:
            product *= 1 if isinstance(part, str) else count(part)
        total += product
    return total


def draw(tree, rng):
    return "".join(part if isinstance(part, str) else draw(part, rng) for part in rng.choice(tree))


class Registers:
    """Hands out result registers; sources are the same ones always."""

    def __init__(self):
        self.given = 0

    def result(self, bits):
        if bits == 1:
            return "%p3"
        self.given = (self.given + 1) % 6
        return {16: "%h{}", 32: "%r{}", 64: "%d{}", 128: "%q{}"}[bits].format(self.given if bits < 128 else 1)

    @staticmethod
    def source(bits, number=0):
        return {1: "%p1", 16: f"%h{number + 10}", 32: f"%r{number + 10}", 64: f"%d{number + 17}", 128: "%q2"}[bits]


def bits_of(kind):
    return 1 if kind == "pred" else 32 if re.fullmatch("[us][24]", kind) else max(width(kind), 16)


def instructions(form, operands):
    """Return PTX for a form whose row has these operands."""
    name, *parts = form.split(".")
    for make in (clusters, objects, bulk, control, images, matrices, warpgroup, memory, moves):
        text = make(form, name, parts, operands)
        if text is not None:
            return text
    return f"@%p1 {form} {arithmetic(name, parts, operands)};"


def arithmetic(name, parts, operands):
    """The operands of an instruction that computes, with the widths that its types have."""
    wanted = widths(name, parts)
    joined = any(p in ("and", "or", "xor") for p in parts[1:]) and name in ("set", "setp")
    operands = re.sub(r"\[, c\]", ", c" if joined else "", operands)
    operands = operands.replace("[|q]", "|q" if len(parts) % 2 else "").replace("[!]", "!").replace("[|p]", "|p")
    operands = re.sub(r"\[, (\w+)\]", r", \1" if len(parts) % 2 else "", operands)
    registers = Registers()

    def register(found):
        letter = found.group()
        if letter in ("p", "q"):
            return {"p": "%p3", "q": "%p1" if name == "lop3" and found.start() else "%p0"}[letter]
        bits = wanted.get(letter, wanted["all"])
        return registers.result(bits) if letter == "d" else registers.source(bits, "abce".index(letter))

    return re.sub(r"(?<![\w%])[abcdepq](?!\w)", register, operands).replace("imm", "5")


def widths(name, parts):
    """Return {operand's letter: bits}; "all" stands for the others."""
    kind = next((p for p in reversed(parts) if re.fullmatch(r"pred|tf32|[bus]\d+|b?f\d+(x2)?|[us]16x2|e\dm\dx2", p)), "b32")
    all_of = {"all": bits_of(kind)}
    if name in ("mul", "mad") and "wide" in parts:
        return all_of | {"d": 2 * all_of["all"], "c": 2 * all_of["all"]}
    if name == "set":
        return all_of | {"d": bits_of(parts[-2]), "c": 1}
    if name == "cvt":
        return {"all": 32} if "pack" in parts else all_of | {"d": bits_of(parts[-2])}
    if name == "slct":
        return {"all": bits_of(parts[-2]), "c": 32}
    special = {"setp": {"c": 1}, "selp": {"c": 1}, "shl": {"b": 32}, "shr": {"b": 32}, "bfe": {"b": 32, "c": 32},
               "bfi": {"c": 32, "e": 32}, "popc": {"d": 32}, "clz": {"d": 32}, "bfind": {"d": 32}, "vote": {"a": 1, "b": 32},
               "isspacep": {"all": 64}, "nanosleep": {"all": 32}, "match": {"d": 32, "b": 32}, "bar": {"c": 1, "d": 32},
               "barrier": {"c": 1, "d": 32}}
    return all_of | special.get(name, {}) | ({"all": 32} if name in ("bar", "barrier") else {})


def moves(form, name, parts, operands):
    if name == "mov" and "{" in operands:
        count = operands[operands.index("{"):operands.index("}")].count(",") + 1
        bits = int(parts[-1][1:]) // count
        items = ", ".join(Registers.source(bits, i) for i in range(count))
        whole = {32: "%r1", 64: "%d1", 128: "%q1"}[int(parts[-1][1:])]
        if operands.startswith("{"):
            return f"@%p1 {form} {{{', '.join([Registers().result(bits), *items.split(', ')[1:]])}}}, {whole};"
        return f"@%p1 {form} {whole}, {{{items}}};"
    return None


def clusters(form, name, parts, operands):
    """What a block that is a cluster by itself does: it maps addresses to its own rank, and comes to the barrier before it waits."""
    if name in ("mapa", "getctarank"):
        bits = int(parts[-1][1:])
        place = {32: "%r33", 64: "%d15" if "shared::cluster" in parts else "%d16"}[bits]
        first = "" if bits == 64 else f"cvt.u32.u64 %r33, {'%d15' if 'shared::cluster' in parts else '%d16'}; "
        return first + (f"{form} {'%r1' if bits == 32 else '%d1'}, {place}, %r32;" if name == "mapa" else f"{form} %r1, {place};")
    if name == "barrier" and parts[:1] == ["cluster"]:
        return f"barrier.cluster.arrive; {form};" if "wait" in parts else f"{form};\nbarrier.cluster.wait;"
    if name in ("st", "red") and "async" in parts:
        count, bits = int(next((p[1:] for p in parts if p in ("v2", "v4")), 1)), width(parts[-1])
        data = ", ".join(Registers.source(bits, i) for i in range(count))
        to, told = ("%d15", "%d20") if "shared::cluster" in parts else ("%d16", "%d21")
        label, nbytes = f"S{abs(hash(form))}", count * bits // 8
        return (f"@!%p4 bra E{label};\nmbarrier.init.shared.b64 [%d20+128], 1;\n"
                f"{form} [{to}+4096], {f'{{{data}}}' if count > 1 else data}, [{told}+128];\n"
                f"mbarrier.arrive.expect_tx.shared.b64 _, [%d20+128], {nbytes};\n"
                f"{label}: mbarrier.try_wait.parity.shared.b64 %p3, [%d20+128], 0;\n@!%p3 bra {label};\n"
                f"mbarrier.inval.shared.b64 [%d20+128];\nE{label}:")
    return None


def objects(form, name, parts, operands):
    """An mbarrier of the first lane: made before the instruction, and ended behind it, unless copies are to tell it."""
    if name == "elect":
        return f"{form} %r1|%p3, -1;"
    copies = name == "cp" and parts[:2] == ["async", "mbarrier"]
    if name != "mbarrier" and not copies:
        return None
    shared = next((p for p in parts if p.startswith("shared")), "")
    at = 8 * (1 + 3 * ("noinc" in parts) + ["", "shared", "shared::cta"].index(shared)) if copies else 0
    made, place = f"[%d20+{at}]", f"[{'%d20' if shared else '%d21'}+{at}]"
    remote = "_" if shared == "shared::cluster" else "%d1"
    token = "1" if "parity" in parts else "%d2"
    text = {"init": f"{place}, 3", "inval": place, "expect_tx": f"{place}, 16", "complete_tx": f"{place}, 16",
            "arrive": f"{remote}, {place}, 2", "arrive_drop": f"{remote}, {place}, 2", "test_wait": f"%p3, {place}, {token}",
            "try_wait": f"%p3, {place}, {token}, 100", "pending_count": "%r1, %d2"}
    first = [] if parts[0] == "init" else [f"mbarrier.init.shared.b64 {made}, 4", f"mbarrier.arrive.shared.b64 %d2, {made}"]
    last = [] if copies or parts[0] == "inval" else [f"mbarrier.inval.shared.b64 {made}"]
    return " ".join(f"@%p4 {ins};" for ins in (*first, f"{form} {place if copies else text[parts[0]]}", *last))


def bulk(form, name, parts, operands):
    """A bulk copy by the first lane; those into shared memory tell an mbarrier each."""
    if name != "cp" or "bulk" not in parts:
        return None
    if "commit_group" in parts or "wait_group" in parts:
        return f"{form} {'0' if operands else ''};"
    policy = ", %d1" if "L2::cache_hint" in parts else ""
    mask = ", %h19" if "multicast::cluster" in parts else ""
    if "tensor" in parts:
        return box(form, parts, mask + policy)
    if "prefetch" in parts:
        return f"@%p4 {form} [%d10], 16{policy};"
    if "bulk_group" in parts:
        return f"@%p4 {form} [%d10], [%d15], 16{policy};"
    at = 64 + 8 * ((parts[2] == "shared::cta") + 2 * bool(policy) + 4 * (parts[3] != "global") + 5 * ("multicast::cluster" in parts))
    source = "%d10" if parts[3] == "global" else "%d15"
    return f"@%p4 mbarrier.init.shared.b64 [%d20+{at}], 1;\n@%p4 {form} [%d15+4096], [{source}], 16, [%d20+{at}]{mask}{policy};"


def box(form, parts, more):
    """A copy of 16 bytes of a tensor by the first lane, which waits for it at an mbarrier that it makes and ends."""
    n = int(parts[parts.index("tensor") + 1][0])
    tensor, label = f"[%m{n}, {{{', '.join(['%r32'] * n)}}}]", f"BOX{abs(hash(form))}"
    if "bulk_group" in parts or "prefetch" in parts:
        return f"@%p4 {form} {tensor}{', [%d15]' if 'bulk_group' in parts else ''}{more};"
    return (f"@!%p4 bra PAST{label};\nmbarrier.init.shared.b64 [%d20+248], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [%d20+248], 16;\n"
            f"{form} [%d15+4096], {tensor}, [%d20+248]{more};\n{label}: mbarrier.try_wait.parity.shared.b64 %p3, [%d20+248], 0;\n"
            f"@!%p3 bra {label};\nmbarrier.inval.shared.b64 [%d20+248];\nPAST{label}:")


def control(form, name, parts, operands):
    simple = {"bra": "{0} L{1};\nL{1}:", "ret": "@%p2 {0};", "exit": "@%p2 {0};", "trap": "@%p2 {0};", "brkpt": "@%p2 {0};",
              "brx": "mov.b32 %r1, 0;\nT{1}: .branchtargets M{1};\n{0} %r1, T{1};\nM{1}:",
              "call": "{{ .param .b32 x; st.param.b32 [x], %r1; {0} callee, (x); }}"}
    if name in simple:
        return simple[name].format(form, abs(hash(form)))
    if name in ("bar", "barrier") and "warp" not in parts:
        arrive = "arrive" in parts
        text = operands.replace("[!]c", "!%p1").replace("[, b]", ", 32" if len(form) % 2 else "")
        text = text.replace("d", "%r1").replace("p,", "%p3,", 1)
        text = re.sub(r"\ba\b", "2", text)
        text = re.sub(r"\bb\b", "64", text)
        return f"{form} {text};" + (f"\n{name}.sync 2, 64;" if arrive else "")
    if form == "bar.warp.sync":
        return f"{form} -1;"
    if name in ("shfl", "match", "vote", "redux"):
        sync = "-1"
        text = {"shfl": "%r1|%p3, %r11, 1, 31", "vote": f"{'%r1' if 'ballot' in parts else '%p3'}, !%p1",
                "redux": "%r1, %r11", "match": f"%r1{'|%p3' if 'all' in parts else ''}, {'%d17' if parts[-1] == 'b64' else '%r11'}"}[name]
        return f"{form} {text}{', ' + sync if 'sync' in parts else ''};"
    return None


def images(form, name, parts, operands):
    """A fetch, or an access to the first bytes of a surface."""
    if name not in ("tex", "tld4", "suld", "sust"):
        return None
    n = 2 if "2d" in parts else 1
    where = f"{{{', '.join(['%r32'] * n)}}}"
    if name in ("tex", "tld4"):
        handle = f"%i{IMAGES.index((parts[-2], n))}"
        return f"@%p1 {form} {{%r1, %r2, %r3, %r4}}, [{handle}, {where}]{', %r32' if 'level' in parts else ''};"
    bits, count = max(width(parts[-2]), 16), int(next((p[1:] for p in parts if p in ("v2", "v4")), 1))
    data = f"{{{', '.join({16: '%h{}', 32: '%r{}', 64: '%d{}'}[bits].format(i + 1) for i in range(count))}}}"
    return f"@%p1 {form} {data}, [%i{5 + n}, {where}];" if name == "suld" else f"@%p1 {form} [%i{5 + n}, {where}], {data};"


def place(parts):
    """Return the address operand for the space that a form names."""
    space = next((p.partition("::")[0] for p in parts if p.partition("::")[0] in (*SPACES, "param")), None)
    return ("passed" if any(p == "param::func" for p in parts) else "given") if space == "param" else SPACES.get(space, "%d11")


def memory(form, name, parts, operands):
    if form.startswith("cp.async") and "global" in parts:
        policy = ", %d1" if "L2::cache_hint" in parts else ""
        return f"@%p1 {form} [%d12], [%d11], 16{policy};"
    if name not in MEMORY:
        return None
    where, policy = f"[{place(parts)}]", ", %d1" if "L2::cache_hint" in parts else ""
    if name == "st" and "given" in where:
        where = "[passed]"
    if name.startswith(("prefetch", "apply")):
        return f"{form} {operands.replace('[a]', where)};"
    bits = max(width(parts[-1]), 16)
    items = int(next((p[1:] for p in parts if p in ("v2", "v4", "v8")), 1))
    if name in ("ld", "ldu", "st"):
        found = [{16: "%h{}", 32: "%r{}", 64: "%d{}"}[bits].format(i + 1) for i in range(items)]
        data = f"{{{', '.join(found)}}}" if items > 1 else found[0]
        guard = "" if "param" in where else "@%p1 "
        return f"{guard}{form} {where}, {data}{policy};" if name == "st" else f"@%p1 {form} {data}, {where}{policy};"
    found = [{16: "%h{}", 32: "%r{}", 64: "%d{}", 128: "%q{}"}[bits].format(i) for i in range(1, items + 1)]
    data = f"{{{', '.join(found)}}}" if items > 1 else found[0]
    values = ", ".join([data] * (2 if "cas" in parts else 1))
    result = f"{data}, " if name == "atom" else ""
    return f"@%p1 {form} {result}{where}, {values}{policy};"


def registers(count, kind, first):
    letter = {"f64": "d"}.get(kind, "r")
    return "{" + ", ".join(f"%{letter}{first + i}" for i in range(count)) + "}"


def fragment(elements, kind, doubled=False):
    """Return how many registers of a lane hold these elements; `doubled`: a factor of wmma in half precision, always eight."""
    if doubled:
        return 8
    return elements // 32 if kind == "f64" else elements * {"tf32": 32}.get(kind, width(kind)) // 1024


def shape(parts):
    return next(tuple(map(int, re.findall(r"\d+", p))) for p in parts if re.fullmatch(r"m\d+n\d+k\d+", p))


def matrices(form, name, parts, operands):
    if name in ("ldmatrix", "stmatrix"):
        data = registers(int(next(p for p in parts if p in ("x1", "x2", "x4"))[1:]), "b16", 1)
        where = "[%d12]" if any(p.startswith("shared") for p in parts) else "[%d19]"
        address = "" if where == "[%d12]" else "cvta.shared.u64 %d19, %d12;\n"
        return address + (f"{form} {data}, {where};" if name == "ldmatrix" else f"{form} {where}, {data};")
    if name == "movmatrix":
        return f"{form} %r1, %r2;"
    if name not in ("mma", "wmma"):
        return None
    m, n, k = shape(parts)
    kinds = [p for p in parts if re.fullmatch(r"f16|bf16|tf32|f32|f64|[su]8|s32", p)]
    if name == "mma" or parts[0] == "mma":
        d, a, b, c = kinds if len(kinds) == 4 else (kinds[0], "f16", "f16", kinds[1])
        doubled = name == "wmma" and a == "f16"
        data = (registers(fragment(size, t, doubled and t == "f16" and i in (1, 2)), t, 1)
                for i, (size, t) in enumerate(((m * n, d), (m * k, a), (k * n, b), (m * n, c))))
        return f"{form} {', '.join(data)};"
    size = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}[parts[1]]
    data = registers(fragment(size, kinds[0], kinds[0] == "f16" and parts[1] in "ab"), kinds[0], 1)
    where = "%d15" if any(p.startswith("shared") for p in parts) else "%d10"
    return f"{form} {data}, [{where}], 32;" if parts[0] == "load" else f"{form} [{where}], {data}, 32;".replace("], {", "], {")


def warpgroup(form, name, parts, operands):
    """A product whose operands are the first 128 bytes of shared memory again and again, with its group and a wait; or another step."""
    if name not in ("wgmma", "setmaxnreg"):
        return None
    if parts[0] != "mma_async":
        return f"{form}{' 168' if name == 'setmaxnreg' else ' 0' if 'wait_group' in parts else ''};"
    n = int(re.search(r"m64n(\d+)", form)[1])
    d = registers(n // 4 if parts[-3] == "f16" else n // 2, "b32", 100)
    a = registers(4, "b32", 10) if "{a}" in operands else "%d8"
    literals = (", 1", ", 1", ", 0", ", 0")[:operands.count("imm")]
    return (f"shr.u64 %d8, %d15, 4;\n{form} {d}, {a}, %d8, %p1{''.join(literals)};\n"
            "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;")


def threads(rows):
    """Return how many threads a block needs for these (form, operands)."""
    return 128 if rows[0][0].startswith(("wgmma", "setmaxnreg")) else 32


def kernel(rows):
    """Return PTX of a kernel that runs these (form, operands)."""
    head = TEXT.replace("sm_90", "sm_90a") if threads(rows) == 128 else TEXT
    body = [text for number, (form, operands) in enumerate(rows) for text in (f".loc 1 {number + 1} 0", instructions(form, operands))]
    return head + '\n'.join(body) + "\nexit;\n}\n.file 1 \"forms\"\n"


def chosen(section, few=30, tries=400, pairs=False):
    """Return (form, operands) of the rows of a section, a sample of those with many forms."""
    rng = random.Random(5)
    return [(form, operands) for pattern, operands in coverage.SECTIONS[section] for form in sample(pattern, rng, few, tries, pairs)]
