"""Change a kernel's PTX so that something it counts on is missing, or another, to see whether its result is made of it."""

import itertools
import re
from collections.abc import Callable, Mapping

_LOAD = re.compile(r"(@!?%\w+\s+)?\bld((?:\.(?!global|param|local|const|v[24]\b)[\w:]+){0,9}?)(?:\.v[24])?\.[bfsu](16|32|64)"
                   r"\s+(\{[^{};]{0,400}\}|%\w+)\s*,\s*\[\s*(%?\w+)[^\];]{0,80}\]\s*;")
_GLOBAL = re.compile(r"\bld(?!\.(?:volatile\.)?(?:shared|param|const|local))(?:\.[\w:]+){0,9}\.[fb]32"
                     r"\s+(\{[^{};]{0,400}\}|%\w+)\s*,\s*\[\s*(%\w+)\s*(?:\+\s*(-?\d+))?\s*\]\s*;")
_MATRIX = re.compile(r"\b(?:wmma\.)?mma\.[\w.:]{0,120}\s+\{([^{};]{0,400})\}\s*,\s*\{[^{};]{0,400}\}\s*,\s*\{[^{};]{0,400}\}\s*,"
                     r"\s*\{([^{};]{0,400})\}\s*;")
_COPY = re.compile(r"\b(cp\.async\.c[ag]\.shared[\w.:]{0,80}\s+\[[^\];]{0,80}\]\s*,\s*\[[^\];]{0,80}\]\s*,\s*\w+)(?:\s*,\s*(%?\w+))?\s*;")
# Products of a warpgroup: the sums, which are also the result, and whether they are added to: 1, 0 or a predicate.
_WARPGROUP = re.compile(r"\bwgmma\.mma_async\.[\w.:]{0,120}\s+\{([^{};]{0,4000})\}\s*,\s*(?:\{[^{};]{0,400}\}|%\w+)\s*,\s*%\w+\s*,"
                        r"\s*(%?\w+)[^;{}]{0,80};")
_BOX = re.compile(r"\b(cp\.async\.bulk\.tensor\.[\w:.]{0,120}\s+\[[^\];]{0,80}\]\s*,\s*\[\s*%?\w+\s*,\s*)\{([^{};]{0,400})\}")
_FAR = "0x40000000"             # a row or column that no matrix has
_DECLARED = """
.reg .pred %lost_now, %lost_here;
.reg .b32 %lost_seen, %lost_at, %lost_x, %lost_y;
.reg .b32 %lost_b32_<16>;
.reg .b64 %lost_b64_<16>;
"""
# %lost_at: which of its operations a thread loses. {unit} counts threads of a block: all of one warp lose the same matrix instruction.
_BEGIN = """
mov.u32 %lost_seen, 0;
mov.u32 %lost_x, %tid.y;
mov.u32 %lost_y, %ntid.x;
mov.u32 %lost_at, %tid.x;
mad.lo.u32 %lost_at, %lost_x, %lost_y, %lost_at;
div.u32 %lost_at, %lost_at, {unit};
mov.u32 %lost_x, %ctaid.x;
mad.lo.u32 %lost_at, %lost_x, 7919, %lost_at;
mov.u32 %lost_x, %ctaid.y;
mad.lo.u32 %lost_at, %lost_x, 104729, %lost_at;
mad.lo.u32 %lost_at, %lost_at, 0x9E3779B1, {seed};
shr.u32 %lost_x, %lost_at, 15;
xor.b32 %lost_at, %lost_at, %lost_x;
mul.lo.u32 %lost_at, %lost_at, 0x85EBCA6B;
shr.u32 %lost_x, %lost_at, 13;
xor.b32 %lost_at, %lost_at, %lost_x;
rem.u32 %lost_at, %lost_at, {most};
"""
# One lane of one of the warps that read loses something in each block; %lost_at of all others lies beyond all that they do.
_ONE_LANE = """
mov.u32 %lost_x, %ctaid.x;
mul.lo.u32 %lost_x, %lost_x, 0x85EBCA6B;
mov.u32 %lost_y, %ctaid.y;
mad.lo.u32 %lost_x, %lost_y, 0xC2B2AE35, %lost_x;
add.u32 %lost_x, %lost_x, {seed};
shr.u32 %lost_y, %lost_x, 16;
xor.b32 %lost_x, %lost_x, %lost_y;
rem.u32 %lost_x, %lost_x, {lanes};
shr.u32 %lost_y, %lost_x, 5;
and.b32 %lost_x, %lost_x, 31;
{of_warps}
add.u32 %lost_x, %lost_x, %lost_b32_0;
rem.u32 %lost_at, %lost_at, %lost_b32_1;
mov.u32 %lost_y, %tid.y;
mov.u32 %lost_b32_0, %ntid.x;
mov.u32 %lost_b32_1, %tid.x;
mad.lo.u32 %lost_b32_1, %lost_y, %lost_b32_0, %lost_b32_1;
setp.ne.u32 %lost_now, %lost_x, %lost_b32_1;
@%lost_now mov.u32 %lost_at, 0xFFFFFFFF;
"""
_OF_WARP = """setp.eq.u32 %lost_now, %lost_y, {number};
@%lost_now mov.u32 %lost_b32_0, {first};
@%lost_now mov.u32 %lost_b32_1, {reads};"""


def without_products(ptx: str) -> str:
    """Return PTX whose matrix instructions add nothing: each gives back the sums that it was given."""
    return _WARPGROUP.sub(_kept, _MATRIX.sub(lambda found: _moved(_names(found[1]), _names(found[2]), _bits(found[0])), ptx))


def without_copies(ptx: str) -> str:
    """Return PTX whose asynchronous copies write zeros: boxes of tensor maps lie outside of their matrix."""
    return _BOX.sub(lambda found: f"{found[1]}{{{', '.join(_FAR for _ in _names(found[2]))}}}", _COPY.sub(r"\1, 0;", ptx))


def without_shared_words(ptx: str, entry: str) -> str:
    """Return PTX that reads zeros from shared memory."""
    def zeroed(found):
        guard, space, bits, names, base = found.groups()
        shared = ".shared" in space
        if not (shared or base.startswith("%")):
            return found[0]
        asks, when = ("", guard or "") if shared else (f"isspacep.shared %lost_here, {base};\n", "@%lost_here ")
        return f"{asks}{found[0]}" + "".join(f"\n{when}mov.b{bits} {name}, 0;" for name in _names(names))

    return _in_entry(ptx, entry, "", lambda body: _LOAD.sub(zeroed, body))


def losing_words(ptx: str, entry: str, *, most: int, seed: int, instead: str = "mov.b{bits} {name}, 0;") -> str:
    """Return PTX in which each thread reads one word of shared memory as 0, and all others as they are.

    Parameters
    ----------
    most
        How many words a thread reads; which of them it loses is drawn.
    seed
        Of what is drawn.
    instead
        What happens to that word.
    """
    return _in_entry(ptx, entry, _BEGIN.format(unit=1, seed=seed % 2**31, most=max(most, 1)),
                     lambda body: _losing(body, instead, whole=False))


def losing_a_read(ptx: str, entry: str, *, reads: Mapping[int, int], seed: int) -> str:
    """Return PTX in which in each block one lane, drawn, has one read of shared memory that gives 0; `reads`: warp -> how many it has."""
    of_warps = "\n".join(_OF_WARP.format(number=number, first=32 * warp, reads=count) for number, (warp, count) in enumerate(reads.items()))
    begin = _BEGIN.format(unit=1, seed=seed % 2**31, most=2**32 - 1)
    begin += _ONE_LANE.format(seed=seed % 2**31, lanes=32 * len(reads), of_warps=of_warps)
    return _in_entry(ptx, entry, begin, lambda body: _losing(body, "mov.b{bits} {name}, 0;", whole=True))


def _losing(body, instead, whole):
    """Return a body with something done `instead` of read, or word, number %lost_at; a read of four words is one read `whole`."""
    def counted(found):
        guard, space, bits, names, base = found.groups()
        shared = ".shared" in space
        if not (shared or base.startswith("%") and not guard):
            return found[0]
        here = (guard or "").strip("@ ") if shared else "%lost_here"
        asks = "" if shared else f"isspacep.shared %lost_here, {base};"
        asked = f"setp.eq{'.and' if here else ''}.u32 %lost_now, %lost_seen, %lost_at{f', {here}' if here else ''};"
        step = f"{f'@{here} ' if here else ''}add.u32 %lost_seen, %lost_seen, 1;"
        lost = [f"@%lost_now {instead.format(bits=bits, name=name)}" for name in _names(names)]
        each = [asked, *lost, step] if whole else [line for one in lost for line in (asked, one, step)]
        return "\n".join((asks, found[0], *each))

    return _LOAD.sub(counted, body)


def without_one_block(ptx: str, entry: str, *, array: int, nbytes: int, told: tuple[int, int]) -> str:
    """Return PTX in which one block loads zeros wherever it loads floats of an array.

    Parameters
    ----------
    array, nbytes
        Which parameter of the kernel, from 0, and how many bytes lie there.
    told
        A parameter, from 0, and the byte there at which the number of the block stands, along x.
    """
    names = re.findall(r"\.param[^,)]{0,200}?([\w$]+)\s*[,)]", ptx[ptx.index(f".entry {entry}"):][:10000])
    begin = (f"ld.param.u64 %lost_b64_0, [{names[told[0]]}];\nld.global.u32 %lost_at, [%lost_b64_0+{told[1]}];\n"
             f"mov.u32 %lost_x, %ctaid.x;\n"
             f"ld.param.u64 %lost_b64_1, [{names[array]}];\nadd.u64 %lost_b64_2, %lost_b64_1, {nbytes};\n")

    def asked(base, offset):
        return (f"add.u64 %lost_b64_3, {base}, {offset or 0};\nsetp.ge.u64 %lost_now, %lost_b64_3, %lost_b64_1;\n"
                "setp.lt.and.u64 %lost_now, %lost_b64_3, %lost_b64_2, %lost_now;\n"
                "setp.eq.and.u32 %lost_now, %lost_x, %lost_at, %lost_now;\n")

    def loaded(found):
        return found[0] + "\n" + asked(found[2], found[3]) + "".join(f"@%lost_now mov.b32 {name}, 0;\n" for name in _names(found[1]))

    def copied(found):
        base, offset = re.findall(r"\[\s*(%\w+)\s*(?:\+\s*(-?\d+))?", found[1])[1]
        size = found[2] or found[1].rsplit(",", 1)[1].strip()
        return f"{asked(base, offset)}selp.b32 %lost_seen, 0, {size}, %lost_now;\n{found[1]}, %lost_seen;"

    return _in_entry(ptx, entry, begin, lambda body: _COPY.sub(copied, _GLOBAL.sub(loaded, body)))


def losing_products(ptx: str, entry: str, *, most: int, seed: int) -> str:
    """Return PTX in which each warp, or warpgroup where these multiply, has one matrix instruction that adds nothing.

    `most`, `seed`: as in `losing_words`, per warp or warpgroup.
    """
    def counted(found):
        into, sums, bits = _names(found[1]), _names(found[2]), _bits(found[0])
        kept = [f"%lost_b{bits}_{number}" for number in range(len(into))]
        return (f"{_moved(kept, sums, bits)}\n{found[0]}\nsetp.eq.u32 %lost_now, %lost_seen, %lost_at;\n"
                f"{_moved(into, kept, bits, '@%lost_now ')}\nadd.u32 %lost_seen, %lost_seen, 1;")

    numbers = itertools.count()

    def passed_by(found):
        number = next(numbers)
        return (f"setp.ne.u32 %lost_now, %lost_seen, %lost_at;\nadd.u32 %lost_seen, %lost_seen, 1;\n@%lost_now bra $LOST_GO_{number};\n"
                f"{_kept(found)}\nbra.uni $LOST_ON_{number};\n$LOST_GO_{number}:\n{found[0]}\n$LOST_ON_{number}:\n")

    begin = _BEGIN.format(unit=128 if _WARPGROUP.search(ptx) else 32, seed=seed % 2**31, most=max(most, 1))
    return _in_entry(ptx, entry, begin, lambda body: _WARPGROUP.sub(passed_by, _MATRIX.sub(counted, body)))


def _kept(found):
    """Return what stands in the place of a warpgroup's product that adds nothing: zeros where it does not add to the sums."""
    sums, adds = found.groups()
    guard = "" if adds.isdigit() else f"@!{adds} "
    return "" if adds.isdigit() and int(adds) else "\n".join(f"{guard}mov.b32 {name}, 0;" for name in _names(sums))


def _in_entry(ptx: str, entry: str, begin: str, change: Callable[[str], str]) -> str:
    """Return PTX with a kernel's body changed, and registers and instructions put before its first one."""
    start = ptx.index("{", ptx.index(")", ptx.index(f".entry {entry}"))) + 1
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(ptx[end], 0)
        end += 1
    body = ptx[start:end]
    first = re.search(r"^\s*(?:ld\.param|mov|cvta|bra|ret|bar|@|\$L)", body, re.MULTILINE)
    at = first.start() if first else 0
    return f"{ptx[:start]}{_DECLARED}{body[:at]}{begin}{change(body[at:])}{ptx[end:]}"


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.strip("{} ").split(",")]


def _bits(instruction: str) -> int:
    return 64 if ".f64" in instruction else 32


def _moved(into, sums, bits, guard=""):
    return "\n".join(f"{guard}mov.b{bits} {a}, {b};" for a, b in zip(into, sums, strict=True) if a != b)
