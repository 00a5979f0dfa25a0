"""The catalog: every file is in it, every rule speaks, every launch covers C."""

import random
import re

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.kernels import ALL, KERNELS, get
from course_lib.kernels.chien import block_rows
from course_lib.kernels.kernel import FOLDER

HEADER = ("Computes", "Idea", "Launch", "Shared", "Edges", "Lesson")


def test_every_kernel_file_is_in_the_catalog():
    assert {k.path.name for k in ALL.values()} == {p.name for p in FOLDER.glob("*.cu")}


@pytest.mark.parametrize("kernel", ALL.values(), ids=ALL)
def test_header_is_short_and_complete(kernel):
    header = kernel.source.split("\n\n")[0].split("#ifndef")[0].split("extern")[0]
    lines = [line for line in header.splitlines() if line.startswith("//")]
    assert len(lines) <= 10
    assert lines[0].startswith(f"// {kernel.path.name} -- ")
    for word in HEADER:
        assert any(line.startswith(f"// {word} ") for line in lines), word
    if kernel.lesson:
        assert f"notebooks/{kernel.lesson}.ipynb" in header
        assert (FOLDER.parents[1] / f"notebooks/{kernel.lesson}.ipynb").is_file()
    else:
        assert "notebooks/" not in header


@pytest.mark.parametrize("kernel", ALL.values(), ids=ALL)
def test_every_barrier_says_what_it_protects(kernel):
    for line in kernel.source.splitlines():
        if "__syncthreads()" in line or "__syncwarp()" in line:
            assert re.search(r"__sync(threads|warp)\(\);\s+// \w+", line), line


@pytest.mark.parametrize("kernel", ALL.values(), ids=ALL)
def test_defaults_and_choices_are_allowed(kernel):
    assert kernel.problems() == ()
    for parameter in kernel.parameters:
        assert parameter.default in parameter.choices
        assert all(parameter.problem(choice) is None for choice in parameter.choices)


@pytest.mark.parametrize("kernel", ALL.values(), ids=ALL)
def test_positions_are_all_that_the_sliders_can_reach(kernel):
    positions = [tuple(kernel.defines(**p).items()) for p in kernel.positions()]
    assert len(set(positions)) == len(positions)
    rng = random.Random(kernel.name)
    for _ in range(200):
        chosen = {p.name: rng.choice(p.choices) for p in kernel.parameters}
        assert kernel.problems(**chosen) or tuple(kernel.defines(**chosen).items()) in positions
    assert tuple(kernel.defines().items()) in positions


def test_there_are_not_more_positions_than_can_be_shipped():
    found = {(k.path.name, *k.defines(**p).items()) for k in ALL.values() for p in k.positions()}
    assert len(found) <= 2500, "offer fewer values: all combinations of a kernel's choices are compiled and shipped"


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize(("M", "N"), [(1, 1), (17, 100), (64, 64), (65, 31)])
def test_the_grid_covers_c_and_no_block_is_idle(kernel, M, N):
    grid, block, p = kernel.grid(M, N), kernel.block(), kernel.check()
    if "blocks" in p:                                 # its blocks share out all tiles, however many there are
        assert grid == (p["blocks"], 1, 1)
        return
    cols, rows = (M, N) if kernel.name == "sgemm_swapped" else (N, M)
    if kernel.layout == "column":                     # blocks run along the rows, GAP of them interleaved
        grid, (width, height, outputs) = (grid[1], grid[0] // p["GAP"]), (p["COLS"], block_rows(p), p["VECTORS"] * p["COLS"] * p["GAP"])
    elif "ROWS" in p:
        width, height, outputs = p["THREADS"], p["ROWS"], p["ROWS"]
    elif "TA" in p:
        width, height, outputs = p["TB"], p["TA"], p["TA"] // p["by"] * (p["TB"] // p["bx"])
    else:
        width, height = p.get("BN", block[0]), p.get("BM", block[1] * p.get("OUT", 1))
        outputs = p.get("TM", 1) * p.get("TN", 1) * p.get("OUT", 1)
        outputs = p["WM"] * p["WN"] // 32 if kernel.inputs or kernel.outputs_of else outputs     # those of a warp tile, on its 32 lanes
    assert cols <= grid[0] * width < cols + width
    assert rows <= grid[1] * height < rows + height
    assert block[0] * block[1] * outputs == width * height


def test_swapped_and_naive_differ_in_two_lines_of_code():
    def code(name):
        text = re.sub(r"//.*", "", get(name).source).replace(name, "name")
        return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    one, two = code("sgemm_swapped"), code("sgemm_naive")
    assert len(one) == len(two)
    assert sum(a != b for a, b in zip(one, two, strict=True)) == 2


@pytest.mark.parametrize(("name", "parameters", "words"), [
    ("sgemm_naive", {"bx": 64, "by": 33}, ["64 × 33 = 2112 threads", "1024", "bx can be up to 31"]),
    ("sgemm_naive", {"bx": 0}, ["bx = 0", "from 1 to 1024"]),
    ("sgemm_naive", {"by": 2000}, ["by = 2000", "too large"]),
    ("sgemm_naive", {"bx": 2.5}, ["bx = 2.5", "whole number"]),
    ("sgemm_naive", {"bx": True}, ["bx = True", "whole number"]),
    ("sgemm_naive", {"bx": "16"}, ["bx = '16'", "whole number"]),
    ("sgemm_naive", {"BM": 16}, ["BM is no parameter", "bx, by"]),
    ("sgemm_tiled", {"bm": 16}, ["bm is no parameter", "did you mean BM?"]),
    ("sgemm_tiled", {"BM": 64}, ["32 × 64 = 2048 threads", "BN can be up to 16"]),
    ("sgemm_tiled", {"BK": 193}, ["49408 bytes", "48 KiB", "BK can be up to 192"]),
    ("sgemm_tiled", {"BM": 1024, "BN": 1024}, ["BN can be up to 1", "BK can be up to 6"]),
    ("sgemm_1d_tile", {"TM": 7}, ["TM = 7 does not divide BM = 64", "63 or 70"]),
    ("sgemm_1d_tile", {"TM": 128}, ["TM = 128 does not divide BM = 64: BM can be 128"]),
    ("sgemm_1d_tile", {"TM": 129}, ["TM = 129 is too large"]),
    ("sgemm_1d_tile", {"TM": 1}, ["BN × BM/TM = 64 × 64 = 4096 threads", "a larger TM or"]),
    ("sgemm_1d_tile", {"BM": 1024, "TM": 64}, ["BM × BN = 1024 × 64 = 65536 sums for a block", "BN can be up to 32"]),
    ("sgemm_1d_tile", {"BK": 97}, ["49664 bytes", "BK can be up to 96"]),
    ("sgemm_1d_tile", {"TN": 4}, ["TN is no parameter of sgemm_1d_tile", "it has BM, BN, BK, TM"]),
    ("sgemm_2d_tile", {"TN": 3}, ["TN = 3 does not divide BN = 128", "126 or 129"]),
    ("sgemm_2d_tile", {"TM": 2, "TN": 2}, ["BN/TN × BM/TM = 64 × 64 = 4096 threads", "a larger TM or TN"]),
    ("sgemm_2d_tile", {"TM": 16, "TN": 16}, ["16 × 16 = 256 sums for a thread", "TN can be up to 8"]),
    ("sgemm_2d_tile", {"BM": 256, "BN": 256}, ["65536 sums for a block", "with BM = 256, BN can be up to 128"]),
    ("sgemm_2d_tile", {"BK": 49}, ["50176 bytes", "BK can be up to 48"]),
    ("sgemm_double_buffered", {"BK": 32}, ["66560 bytes", "BK can be up to 23"]),
    ("mxv_g_only", {"M": 128, "N": 128, "threads": 2048}, ["threads = 2048 is too large"]),
    ("mxv_vec_ld", {"N": 6}, ["N = 6 is no multiple of 4", "4 or 8"]),
    ("mxv_vls", {"M": 8}, ["M = 8, N = 16", "16, 32"]), ("mxv_vls", {"threads": 100}, ["it can be 128"]),
    ("mxv_sh", {"CHUNK": 12, "threads": 1024}, ["CHUNK = 12 does not divide threads = 1024"]),
    ("mxv_sh", {"CHUNK": 16, "threads": 1024}, ["69632 bytes", "CHUNK can be up to 11"]),
    ("mxv_sh_ochunk", {"CHUNK": 3}, ["CHUNK = 3 does not divide 32"]), ("mxv_sh_ochunk", {"M": 12}, ["CHUNK = 8 does not divide M = 12"]),
    ("sgemm_padded", {"TILE": 33}, ["TILE = 33 is too large"]),
    ("sgemm_unrolled", {"TILE": 8}, ["UNROLL = 16 is more than TILE = 8", "UNROLL can be up to 8"]),
    ("sgemm_vectorized", {"TN": 2}, ["TN = 2 is no multiple of 4", "4 or 4"]),
    ("sgemm_vectorized", {"BK": 52}, ["54080 bytes", "BK can be up to 47"]),
    ("sgemm_warp_tile", {"WM": 128}, ["WM/TM × WN/TN = 16 × 4 lanes", "halve WM or WN"]),
    ("sgemm_warp_tile", {"WM": 32}, ["= 4 × 4 lanes", "double WM or WN"]),
    ("sgemm_warp_tile", {"WM": 256, "BM": 256, "WN": 8}, ["32 × 1 lanes", "both must be even"]),
    ("sgemm_warp_tile", {"WM": 48}, ["WM = 48 does not divide BM = 128", "96 or 144"]),
    ("sgemm_warp_tile", {"BM": 64, "BN": 64, "BK": 4, "WM": 32, "WN": 16, "TM": 4, "TN": 4}, ["256 threads", "take a larger BK"]),
    ("sgemm_warp_tile", {"WM": 16, "WN": 32, "TM": 4, "TN": 4, "BN": 256}, ["2048 threads a block", "larger warp tiles"]),
    ("sgemm_mma", {"WM": 24}, ["WM = 24 is no multiple of 16", "16 or 32"]),
    ("sgemm_mma", {"BK": 48}, ["52736 bytes", "BK can be up to 40"]),
    ("sgemm_wmma", {"BM": 32, "BN": 128, "BK": 64}, ["49664 bytes", "BK can be up to 56"]),
    ("sgemm_bf16", {"BN": 96}, ["BN = 96 is not 16, 32 or a multiple of 64", "64 or 128"]), ("sgemm_bf16", {"BK": 8}, ["can be 16 or 32"]),
    ("sgemm_split", {"WM": 128, "WN": 64}, ["8192 sums for a warp", "WN can be up to 32"]),
    ("sgemm_split", {"BK": 64}, ["BK can be up to 32"]),
    ("sgemm_stream_k", {"WIDE": 2}, ["WIDE = 2", "1 or 4"]), ("sgemm_stream_k", {"BK": 12}, ["BK = 12 is no multiple of 8", "8 or 16"]),
    ("sgemm_stages", {"TM": 12}, ["TM = 12"]), ("sgemm_wide_stores", {"WIDE": 2}, ["WIDE = 2", "1 or 4"]),
    ("sgemm_stream_k", {"STAGES": 8, "BK": 32}, ["8 stages", "401408 bytes", "227 KiB"]),
    ("sgemm_stream_k", {"BM": 192, "BN": 192}, ["288 threads", "evenly"]),
    ("dgemm_mma", {"BK": 24}, ["BK = 24 is no multiple of 16", "16 or 32"]), ("dgemm_mma", {"BK": 32}, ["70656 bytes", "48 KiB"]),
    ("dgemm_mma", {"BM": 16, "BN": 48, "WM": 16, "WN": 8}, ["192 threads in pairs", "larger BK"]),
    ("dgemm_stages", {"STAGES": 7}, ["7 stages of tiles take 261632 bytes", "fewer stages"]),
    ("dgemm_stages", {"STAGES": 0}, ["too small"]),
    ("dgemm_stream_k", {"SLICES": 2}, ["BK = 16 with SLICES = 2", "32 or a multiple"]), ("dgemm_stream_k", {"STAGES": 1}, ["too small"]),
    ("dgemm_stream_k", {"BK": 32, "SLICES": 2, "STAGES": 2, "BM": 256}, ["262144 bytes", "take more stages"]),
])
def test_a_wrong_parameter_is_named_with_what_would_be_right(name, parameters, words):
    kernel = get(name)
    text = "\n".join(kernel.problems(**parameters))
    for word in words:
        assert word in text
    with pytest.raises(CourseError) as caught:
        kernel.check(**parameters)
    assert caught.value.problems == kernel.problems(**parameters)
    assert all(line in str(caught.value) for line in caught.value.problems)


def test_what_the_sentence_calls_right_is_right():
    tiled, naive = get("sgemm_tiled"), get("sgemm_naive")
    for BM, BN in [(1, 2), (7, 13), (32, 32), (64, 16), (3, 341)]:
        largest = 49152 // (4 * (BM + BN))
        assert tiled.problems(BM=BM, BN=BN, BK=largest) == ()
        assert f"BK can be up to {largest}" in tiled.problems(BM=BM, BN=BN, BK=largest + 1)[0]
    assert naive.problems(bx=31, by=33) == ()


def test_all_broken_rules_are_listed_with_their_reason():
    tiled = get("sgemm_tiled")
    assert len(tiled.problems(BM=64, BN=64, BK=128)) == 2
    assert len(get("sgemm_2d_tile").problems(BM=1000, BN=1000, BK=99, TM=16, TN=9)) == 6
    assert all(len(rule.why) > 40 and any(sign in rule.text for sign in ("<=", "%", "==")) for k in ALL.values() for rule in k.rules)


def test_numpy_integers_are_taken_and_become_plain():
    values = get("sgemm_tiled").check(BM=np.int8(16), BK=np.int64(8))
    assert values == {"BM": 16, "BN": 32, "BK": 8}
    assert {type(v) for v in values.values()} == {int}
    assert get("sgemm_naive").problems(bx=np.int8(64), by=np.int8(64))    # 4096 does not wrap to 0


def test_a_grid_beyond_the_hardware_is_refused():
    with pytest.raises(CourseError, match="100000 blocks along y, but a grid has at most 65535"):
        get("sgemm_naive").grid(100_000, 5, by=1)


@pytest.mark.parametrize(("name", "words"), [
    ("sgemm_tile", "did you mean sgemm_tiled"), ("SGEMM_NAIVE", "did you mean sgemm_naive?"),
    ("sgemm_2dtile", "did you mean sgemm_2d_tile"),
    ("zzz", "the kernels are sgemm_swapped, sgemm_naive, sgemm_tiled"), (3, "there is no kernel 3"),
])
def test_an_unknown_name_gets_close_matches(name, words):
    with pytest.raises(CourseError) as caught:
        get(name)
    assert words in str(caught.value)


def test_only_tile_sizes_reach_the_compiler():
    assert get("sgemm_naive").defines(bx=8) == {}
    assert get("sgemm_tiled").defines(BK=8) == {"BM": 32, "BN": 32, "BK": 8}
    assert get("sgemm_tiled").shared_bytes(BM=16, BN=8, BK=4) == 4 * (16 * 4 + 4 * 8)
