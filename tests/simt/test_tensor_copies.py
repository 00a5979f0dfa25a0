"""Bulk copies of boxes of a tensor: the bytes of each form by a plain statement in NumPy, edges, swizzles, reductions, and the errors."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.simt.host.counters import BULK_ONCE
from course_lib.tensor_maps import TensorMap, Tiles

ROOM = 16384
PTX = """.version 8.7
.target sm_90a
.address_size 64
.const .align 64 .b8 fixed[128];
.global .align 64 .b8 loose[192];
.visible .entry k(.param .align 64 .b8 map[128], .param .align 4 .b8 at[20], .param .u64 raw, .param .u32 start, .param .u32 bytes) {
    .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    .shared .align 1024 .b8 s[16384]; .shared .align 8 .b8 object[8]; .local .align 64 .b8 own[128];
    mov.b64 %rd1, map;
    cvta.param.u64 %rd1, %rd1;
    ld.param.u32 %r1, [at]; ld.param.u32 %r2, [at+4]; ld.param.u32 %r3, [at+8]; ld.param.u32 %r4, [at+12]; ld.param.u32 %r5, [at+16];
    ld.param.u64 %rd2, [raw];
    ld.param.u32 %r10, [start];
    ld.param.u32 %r11, [bytes];
    mov.u32 %r12, s;
    add.u32 %r13, %r10, %r12;
    mov.b64 %rd5, 0;
    mov.b64 %rd4, object;
    mbarrier.init.shared.b64 [%rd4], 1;
    fence.mbarrier_init.release.cluster;
BODY
    ret;
}
"""
WAIT = """mbarrier.arrive.expect_tx.shared.b64 _, [%rd4], %r11;
AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [%rd4], 0;
@!%p1 bra AGAIN;
"""
OUT = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
IN_RAW = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd2], %r11, [%rd4];\n" + WAIT
OUT_RAW = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r12], 16384;\n" + OUT
LOAD = "cp.async.bulk.tensor.{}d.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.{}d.global.shared::cta.bulk_group"
RNG = np.random.default_rng(7)


def coordinates(rank):
    return f"{{{', '.join(f'%r{i + 1}' for i in range(rank))}}}"


def launch(body, given, at, raw, start=0, nbytes=0, **how):
    at = tuple(np.int32(n) for n in (*at[::-1], *[0] * 5)[:5])
    return simt.launch(PTX.replace("BODY", body), "k", 1, 1, [given, at, raw, np.uint32(start), np.uint32(nbytes)], **how)


def part(array, at, box, steps):
    """Return for each axis the numbers of a box's elements in the tensor, and which of them are there."""
    numbers = [first + step * np.arange(n // step) for first, n, step in zip(at, box, steps)]
    return numbers, [(n >= 0) & (n < size) for n, size in zip(numbers, array.shape)]


def taken(array, at, box, steps, fill):
    """Return the elements of a box; what lies outside of the tensor is `fill`."""
    numbers, inside = part(array, at, box, steps)
    found = np.full([len(n) for n in numbers], fill, array.dtype)
    found[np.ix_(*inside)] = array[np.ix_(*(n[there] for n, there in zip(numbers, inside)))]
    return found


def places(start, nbytes, width):
    """Return where each piece of 16 bytes lies that would lie at `start` and behind, without the swizzle."""
    at = start + np.arange(0, nbytes, 16)
    return at ^ (at >> 7 & max(width // 16, 1) - 1) << 4


def swizzled(data, start, width):
    """Return 16 KB in which a box lies as the copy leaves it, with zeros around and between rows narrower than the swizzle."""
    rows = np.frombuffer(data.tobytes(), np.uint8).reshape(-1, data.shape[-1] * data.itemsize)
    raw = np.pad(rows, ((0, 0), (0, max(width - rows.shape[1], 0)))).ravel()
    room = np.zeros((ROOM // 16, 16), np.uint8)
    room[places(start, raw.size, width) // 16] = raw.reshape(-1, 16)
    return room.ravel()


def sectors(array, at, box, steps):
    """Return the L2 sectors of a box, row by row; addresses of arrays begin at multiples of 256."""
    numbers, inside = part(array, at, box, steps)
    rows = [n[there] for n, there in zip(numbers, inside)]
    found, size = [], array.dtype.itemsize
    for outer in np.stack(np.meshgrid(*rows[:-1], indexing="ij"), -1).reshape(-1, array.ndim - 1) if array.ndim > 1 else [()]:
        line = sum(i * stride for i, stride in zip(outer, array.strides))
        if len(rows[-1]):
            found += range((line + rows[-1][0] * size) // 32, (line + rows[-1][-1] * size + size - 1) // 32 + 1)
    return len(set(found))


# shape, type, box, where, what else the map says, and where the box begins in shared memory
BOXES = {
    "a row": ((200,), np.uint8, (64,), (32,), {}, 0),
    "a row over its end": ((50,), np.float64, (20,), (42,), {"fill": "nan"}, 128),
    "a tile": ((40, 64), np.float32, (16, 32), (8, 16), {"swizzle": 128}, 0),
    "a tile that begins inside the pattern": ((40, 64), np.float32, (16, 32), (8, 16), {"swizzle": 128}, 3 * 128),
    "negative coordinates": ((40, 64), np.float16, (16, 16), (-5, -8), {"swizzle": 32, "fill": "nan"}, 0),
    "over both ends": ((21, 48), np.uint16, (16, 32), (13, 32), {"swizzle": 64}, 256),
    "a tile that does not touch the tensor": ((21, 48), np.int16, (8, 8), (3, 48), {"fill": "zeros"}, 0),
    "larger than the tensor": ((5, 16), np.uint64, (9, 18), (-2, -2), {}, 0),
    "rows that share sectors": ((20, 12), np.float32, (4, 12), (5, 0), {}, 0),
    "rows narrower than the swizzle": ((40, 64), np.float32, (16, 8), (30, 60), {"swizzle": 128}, 128),
    "narrow rows on three axes": ((6, 10, 24), np.int32, (3, 4, 4), (1, -2, 20), {"swizzle": 32}, 0),
    "three axes": ((6, 10, 24), np.int32, (3, 4, 8), (4, -2, 20), {"swizzle": 32, "promotion": 128}, 0),
    "every other row": ((6, 10, 24), np.int32, (4, 9, 8), (2, -1, 4), {"element_strides": (2, 3, 1)}, 0),
    "four axes": ((3, 4, 5, 32), np.int64, (2, 2, 3, 16), (1, 3, -1, 20), {"swizzle": 128}, 0),
    "five axes": ((3, 2, 4, 5, 32), np.float16, (2, 2, 3, 2, 32), (-1, 1, 2, 4, 16), {"swizzle": 64, "fill": "nan"}, 0),
}


def example(name):
    shape, dtype, box, at, how, start = BOXES[name]
    array = RNG.integers(1, 200, shape).astype(dtype)
    return array, box, at, how, start, how.get("element_strides", (1,) * len(shape))


@pytest.mark.sampled(test=9, slow=26)
@pytest.mark.parametrize("racecheck", [False, True])
@pytest.mark.parametrize("name", BOXES)
def test_a_box_comes_to_shared_memory(name, racecheck):
    array, box, at, how, start, steps = example(name)
    fill = np.frombuffer(bytes.fromhex("f77f" * 4), array.dtype)[0] if how.get("fill") == "nan" else 0
    wanted, raw = taken(array, at, box, steps, fill), np.zeros(ROOM, np.uint8)
    clear = "mov.b32 %r15, 0;\nCLEAR: add.u32 %r14, %r12, %r15;\nst.shared.u64 [%r14], %rd5;\nadd.u32 %r15, %r15, 8;\n" \
            "setp.lt.u32 %p2, %r15, 16384;\n@%p2 bra CLEAR;\nfence.proxy.async;\n"
    load = f"{LOAD.format(array.ndim)} [%r13], [%rd1, {coordinates(array.ndim)}], [%rd4];\n"
    report = launch(clear + load + WAIT + OUT_RAW, TensorMap(array, box, **how), at, raw, start, wanted.nbytes, racecheck=racecheck)
    assert (raw == swizzled(wanted, start, how.get("swizzle", 0))).all()
    assert (report.hazards, report.async_findings) == ((), ())
    assert report.counters[BULK_ONCE["ld"]] == sectors(array, at, box, steps)
    assert report.level[BULK_ONCE["ld"]] == "PTX level"


@pytest.mark.sampled(test=6, slow=13)
@pytest.mark.parametrize("name", BOXES)
def test_a_box_goes_to_global_memory_without_what_lies_outside(name):
    array, box, at, how, start, steps = example(name)
    at = tuple(max(first, 0) for first in at)
    values = RNG.integers(1, 200, [n // step for n, step in zip(box, steps)]).astype(array.dtype)
    numbers, inside = part(array, at, box, steps)
    wanted = array.copy()
    wanted[np.ix_(*(n[there] for n, there in zip(numbers, inside)))] = values[np.ix_(*inside)]
    raw = swizzled(values, start, how.get("swizzle", 0))[start:]
    nbytes = values.nbytes // values.shape[-1] // values.itemsize * max(values.shape[-1] * values.itemsize, how.get("swizzle", 0))
    store = f"{STORE.format(array.ndim)} [%rd1, {coordinates(array.ndim)}], [%r13];\n"
    found = array.copy()
    report = launch(IN_RAW + store + OUT, TensorMap(found, box, **how), at, raw, start, nbytes)
    assert (found == wanted).all()
    assert report.counters[BULK_ONCE["st"]] == sectors(array, at, box, steps)
    assert report.counters[BULK_ONCE["ld"]] == nbytes // 32 + (nbytes % 32 > 0)


@pytest.mark.sampled(test=5, slow=13)
@pytest.mark.parametrize("name", BOXES)
def test_a_box_reads_nothing_that_lies_outside(name):
    """Nobody has written the box: racecheck counts the words of it that go into the tensor."""
    array, box, at, how, start, steps = example(name)
    at = tuple(max(first, 0) for first in at)
    ones = np.frombuffer(b"\xff" * array.nbytes, array.dtype).reshape(array.shape)
    words = swizzled(taken(ones, at, box, steps, 0), start, how.get("swizzle", 0)).view(np.uint32)
    store = f"{STORE.format(array.ndim)} [%rd1, {coordinates(array.ndim)}], [%r13];\n"
    report = launch(store + OUT, TensorMap(array, box, **how), at, np.zeros(1, np.uint8), start, racecheck=True)
    found = [h for h in report.hazards if h.kind == "uninitialised"]
    assert sum(h.count for h in found) == np.count_nonzero(words)


KINDS = {"u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64, "f16": np.float16, "f32": np.float32}
HOW = {"add": (np.add, ("u32", "s32", "u64", "f16", "f32")), "min": (np.minimum, ("u32", "s32", "u64", "s64", "f16")),
       "max": (np.maximum, ("u32", "s32", "u64", "s64", "f16")), "and": (np.bitwise_and, ("u32", "s64")),
       "or": (np.bitwise_or, ("s32", "u64")), "xor": (np.bitwise_xor, ("u32", "u64")),
       "inc": (lambda old, b: np.where(old >= b, 0, old + 1), ("u32",)),
       "dec": (lambda old, b: np.where((old == 0) | (old > b), b, old - 1), ("u32",))}


@pytest.mark.sampled(test=6, slow=27)
@pytest.mark.parametrize(("op", "kind"), [(op, kind) for op, (_, kinds) in HOW.items() for kind in kinds])
def test_a_reduction_of_each_element_that_lies_inside(op, kind):
    array, values = (RNG.integers(-50 * (kind[0] != "u"), 50, shape).astype(KINDS[kind]) for shape in ((20, 16), (8, 16)))
    wanted = array.copy()
    wanted[15:, 8:] = HOW[op][0](array[15:, 8:], values[:5, :8])
    reduce = f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.bulk_group [%rd1, {{%r1, %r2}}], [%r13];\n"
    report = launch(IN_RAW + reduce + OUT, TensorMap(array, (8, 16)), (15, 8), values, nbytes=values.nbytes)
    assert (array == wanted).all()
    assert report.counters[BULK_ONCE["red"]] == sectors(array, (15, 8), (8, 16), (1, 1))


@pytest.mark.sampled(test=2, slow=6)
@pytest.mark.parametrize(("op", "kind"), [("add", "s64"), ("add", "f64"), ("add", "u8"), ("min", "f32"), ("and", "f32"), ("inc", "s32")])
def test_a_reduction_that_there_is_not(op, kind):
    array = np.zeros((20, 16), {"u8": np.uint8, "f64": np.float64}.get(kind) or KINDS[kind])
    reduce = f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{op}.bulk_group [%rd1, {{%r1, %r2}}], [%r13];\n"
    with pytest.raises(simt.InvalidOperand, match=rf"reduces with \.{op}, which there is not for the elements"):
        launch(reduce, TensorMap(array, (8, 16)), (0, 0), np.zeros(1, np.uint8))


def test_other_ways_to_write_the_same():
    """Tile mode named, a shared address of 64 bits, literals, policies, prefetches; bytes are not there before a wait."""
    array, raw = RNG.integers(0, 200, (40, 64)).astype(np.float32), np.zeros(ROOM, np.uint8)
    tile = LOAD.replace("global", "global.tile").replace("cluster", "cta").format(2)
    body = f"""prefetch.tensormap [%rd1];
        prefetch.param.tensormap [map];
        cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {{%r1, 8}}];
        cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint [%rd1, {{%r1, %r2}}], %rd5;
        cvta.shared.u64 %rd6, s; cvta.shared.u64 %rd7, object;
        {tile}.L2::cache_hint [s+1024], [%rd1+0, {{%r1, 8}}], [object], %rd5;
        ld.shared.u32 %r6, [s+1024];
        st.global.u32 [%rd2], %r6;
        {WAIT}{OUT_RAW}"""
    launch(body, TensorMap(array, (16, 32)), (8, 16), raw, nbytes=2048)
    assert (raw[1024:1024 + 2048] == np.frombuffer(array[8:24, 16:48].tobytes(), np.uint8)).all()


@pytest.mark.parametrize("name", ["fixed", "loose"])
def test_a_map_in_constant_and_in_global_memory(name):
    array, raw = RNG.integers(0, 200, (40, 64)).astype(np.float32), np.zeros(ROOM, np.uint8)
    space = {"fixed": "const", "loose": "global"}[name]
    body = f"mov.u64 %rd1, {name};\ncvta.{space}.u64 %rd1, %rd1;\n{LOAD.format(2)} [s], [%rd1, {{0, 32}}], [%rd4];\n{WAIT}{OUT_RAW}"
    launch(body, TensorMap(np.zeros(64, np.uint8), 16), (0, 0), raw, nbytes=2048, constants={name: TensorMap(array, (16, 32))})
    assert (raw[:2048] == np.frombuffer(taken(array, (32, 0), (16, 32), (1, 1), 0).tobytes(), np.uint8)).all()


def test_the_source_is_read_late_and_what_nobody_waits_for_is_poison():
    tile = np.zeros((8, 4), np.uint32)
    store = f"{STORE.format(2)} [%rd1, {{0, 0}}], [s];\ncp.async.bulk.commit_group;\n"
    body = f"st.shared.u32 [s], 5;\nfence.proxy.async;\n{store}st.shared.u32 [s], 6;\n"
    body += "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [s], 7;\n"
    report = launch(body + OUT, TensorMap(tile, (8, 4)), (0, 0), np.zeros(1, np.uint8), racecheck=True)
    assert tile[0, 0] == 6
    assert "WAR" in {h.kind for h in report.hazards}
    report = launch(f"st.shared.u32 [s], 5;\n{store}", TensorMap(tile, (8, 4)), (7, 2), np.zeros(1, np.uint8))
    assert tile[0, 0] == 0x7FBADBAD
    assert [f.kind for f in report.async_findings] == ["unawaited"]


MOVE = f"{LOAD.format(2)} [%r13], [%rd1, {{%r1, %r2}}], [%rd4];"
GRID = TensorMap(np.zeros((40, 64), np.float32), (16, 32))
ERRORS = {
    "a box at no multiple of 128": (MOVE.replace("%r13", "%r13+64"), GRID, simt.Misaligned, "no multiple of 128"),
    "a box behind shared memory": (MOVE.replace("%r13", "%r13+15360"), GRID, simt.OutOfBounds, "shared memory"),
    "another number of axes": (f"{LOAD.format(1)} [%r13], [%rd1, {{%r1}}], [%rd4];", GRID, simt.InvalidOperand,
                               "is for 1 dimensions, and its tensor map has 2"),
    "no mbarrier": (MOVE.replace("%rd4]", "%r12]"), GRID, simt.MbarrierMisuse, "finds no mbarrier"),
    "a map at no multiple of 64": ("mov.u64 %rd1, loose+16;\n" + MOVE, GRID, simt.InvalidOperand, "no multiple of 64"),
    "a copy of the map": ("mov.u64 %rd1, own;\ncvta.local.u64 %rd1, %rd1;\n" + MOVE, GRID, simt.InvalidOperand, "const __grid_constant__"),
    "no map": ("mov.u64 %rd1, loose;\n" + MOVE, GRID, simt.InvalidOperand, "is for 2 dimensions, and its tensor map has 1"),
    "128 bytes of something": (f"mov.u64 %rd1, loose;\n{LOAD.format(1)} [%r13], [%rd1, {{%r1}}], [%rd4];", GRID, simt.InvalidOperand,
                               "finds no tensor map"),
    "nothing there": (MOVE.replace("%rd1", "%rd5"), GRID, simt.InvalidOperand, "finds no memory"),
    "half a piece": (MOVE.replace("%r1,", "-6,"), GRID, simt.InvalidOperand, "begins -24 bytes from the beginning of its rows"),
    "a store from before the tensor": (f"{STORE.format(2)} [%rd1, {{4, -1}}], [%r13];", GRID, simt.InvalidOperand,
                                       "begins at the coordinate -1: a load may begin outside"),
    "a read-only array": (f"{STORE.format(2)} [%rd1, {{%r1, %r2}}], [%r13];", None, simt.OutOfBounds, "read-only"),
    "im2col": (MOVE.replace("global.", "global.im2col."), GRID, simt.UnsupportedInstruction, "boxes of a convolution"),
    "gather": (MOVE.replace("global.", "global.tile::gather4."), GRID, simt.UnsupportedInstruction, "rows by their numbers"),
    "a coordinate too few": (MOVE.replace(", %r2", ""), GRID, simt.PtxSyntaxError, "it takes 2 coordinates in braces"),
    "a coordinate of 64 bits": (MOVE.replace("%r2", "%rd5"), GRID, simt.PtxSyntaxError, "a register of 32 bits"),
}


@pytest.mark.sampled(test=8, slow=16)
@pytest.mark.parametrize("name", ERRORS)
def test_errors_name_line_and_reason(name):
    text, given, kind, words = ERRORS[name]
    if given is None:
        array = np.zeros((40, 64), np.float32)
        array.flags.writeable = False
        given = TensorMap(array, (16, 32))
    with pytest.raises(kind) as caught:
        launch(f".loc 1 9 0\n{text}", given, (0, 0), np.zeros(1, np.uint8))
    assert words in str(caught.value)
    assert caught.value.line == 9


def test_a_map_where_the_kernel_takes_something_else():
    with pytest.raises(simt.LaunchError, match=r"takes 8 bytes; a TensorMap has 128: declare it as const __grid_constant__"):
        launch("", GRID, (0, 0), GRID)


def test_a_map_of_more_than_the_array_has():
    """Its bytes are made by hand, for the first array of the launch: the copy names the place, and what lies inside is copied."""
    array, raw = np.arange(40 * 64, dtype=np.float32).reshape(40, 64), np.zeros((40, 64), np.float32)
    given = np.frombuffer(Tiles("f32", 1 << 40, (64, 80), (256,), (32, 16), (1, 1)).encode(), "V128")[0]
    body = f"{MOVE}\n{WAIT}{STORE.format(2)} [%rd1, {{0, 0}}], [%r13];\n{OUT}"
    raw[:] = array
    launch(body, given, (24, 32), raw, nbytes=2048)
    assert (raw[:16, :32] == array[24:, 32:]).all()
    with pytest.raises(simt.OutOfBounds, match=r"raw\[2560\]") as caught:
        launch(MOVE, given, (25, 32), raw)
    assert caught.value.array == "raw"


def test_a_kernel_may_read_the_map_whose_address_it_takes():
    """By its generic address, or by `ld.param` with the address in a register: NVRTC writes either."""
    head = PTX[:PTX.index(".const")]
    body = """.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {
        .reg .b32 %r<2>; .reg .b64 %rd<8>;
        mov.b64 %rd1, map;
        ADDRESS
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 8;
        add.s64 %rd3, %rd1, %rd2;
        LOAD.u64 %rd4, [%rd3];
        ld.param.u64 %rd5, [out];
        add.s64 %rd6, %rd5, %rd2;
        st.global.u64 [%rd6], %rd4;
        ret;
    }"""
    tensor = TensorMap(np.zeros((40, 64), np.float16), (8, 64))
    for address, load in (("cvta.param.u64 %rd1, %rd1;", "ld"), ("", "ld.param")):
        found = np.zeros(16, np.uint64)
        simt.launch(head + body.replace("ADDRESS", address).replace("LOAD", load), "k", 1, 16, [tensor, found])
        assert found[1:].tobytes() == tensor.encode(0)[8:]
