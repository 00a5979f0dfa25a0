"""Every kernel compiles alone, into as much shared memory as the catalog says and without a spill."""

import math
import re

import pytest

from course_lib.kernels import ALL, get
from course_lib.toolchain import compile_cuda, resources


@pytest.mark.sampled(test=15, slow=16)
@pytest.mark.parametrize("kernel", ALL.values(), ids=ALL)
def test_the_file_compiles_alone_without_a_word(kernel):
    compiled = compile_cuda(kernel.source, name=kernel.path.name)
    assert compiled.log.strip() == ""
    assert kernel.entry in resources(compiled.cubin)


@pytest.mark.parametrize("path", sorted({k.path for k in ALL.values()}), ids=lambda path: path.stem)
def test_the_file_alone_has_the_defaults_of_one_of_its_kernels(path):
    written = dict(re.findall(r"(?m)^#define (\w+) ([^\s/]+)", path.read_text(encoding="utf-8")))
    defaults = [{name: str(value) for name, value in k.defines().items()} for k in ALL.values() if k.path == path]
    assert any(default == {name: written.get(name) for name in default} for default in defaults), (written, defaults)


THREAD_TILES = [
    ("sgemm_1d_tile", {}), ("sgemm_1d_tile", {"BM": 15, "BN": 7, "BK": 5, "TM": 3}), ("sgemm_1d_tile", {"BM": 128, "BN": 1, "TM": 128}),
    ("sgemm_1d_tile", {"BM": 32, "BN": 1024, "BK": 4, "TM": 32}), ("sgemm_1d_tile", {"BM": 32, "BN": 32, "BK": 192, "TM": 1}),
    ("sgemm_2d_tile", {}), ("sgemm_2d_tile", {"BM": 15, "BN": 14, "BK": 5, "TM": 3, "TN": 7}),
    ("sgemm_2d_tile", {"BM": 256, "BN": 128}), ("sgemm_2d_tile", {"BM": 128, "BN": 128, "BK": 48}),
    ("sgemm_2d_tile", {"BM": 16, "BN": 8, "TM": 16}), ("sgemm_2d_tile", {"BM": 32, "BN": 32, "TM": 1, "TN": 1}),
    ("sgemm_volkov", {}), ("sgemm_method2", {}), ("sgemm_method4", {}), ("sgemm_method8", {}), ("sgemm_outer_rows", {"ROWS": 32}),
    ("mxv_vls", {"threads": 512}), ("mxv_sh", {"threads": 512}), ("mxv_sh_ochunk", {}), ("sgemm_padded", {}),
    ("sgemm_padded", {"TILE": 32, "PAD": 16}), ("sgemm_unrolled", {"UNROLL": 1}), ("sgemm_uncoalesced", {}),
    ("sgemm_vectorized", {}), ("sgemm_vectorized", {"BM": 256, "BN": 128}), ("sgemm_vectorized", {"BK": 44}),
    ("sgemm_prefetched", {}), ("sgemm_warp_tile", {}), ("sgemm_double_buffered", {}), ("sgemm_warp_tile", {"WM": 64, "WN": 64, "TM": 16}),
    ("sgemm_wmma", {}), ("sgemm_mma", {}), ("sgemm_bf16", {}), ("sgemm_split", {}), ("sgemm_split", {"BK": 32}),
    ("sgemm_mma", {"BM": 16, "BN": 16, "BK": 16, "WM": 16, "WN": 8}),
    ("sgemm_ilp", {"OUT": 16}), ("dgemm_ilp", {"OUT": 8}), ("sgemm_outputs", {"bx": 8, "by": 8}), ("dgemm_outputs", {}),
    ("dgemm_outputs", {"TA": 128, "TB": 64, "TW": 32, "by": 32}), ("sgemm_outputs", {"TA": 128, "TB": 128, "TW": 48}),
]


@pytest.mark.sampled(test=3, slow=12)
@pytest.mark.parametrize(("name", "values"), THREAD_TILES)
def test_sums_are_in_registers_and_tiles_in_shared_memory(name, values):
    kernel = get(name)
    found = resources(compile_cuda(kernel.source, defines=kernel.defines(**values)).cubin)[kernel.entry]
    assert found.static_shared_bytes == kernel.shared_bytes(**values)
    assert found.local_bytes == 0, "nothing is spilled"
    assert found.max_threads == math.prod(kernel.block(**values))


@pytest.mark.parametrize(("BM", "BN", "BK"), [(32, 32, 32), (5, 7, 3), (16, 64, 153), (1, 1, 6144), (32, 32, 192)])
def test_shared_memory_is_what_the_catalog_says(BM, BN, BK):
    tiled = get("sgemm_tiled")
    values = {"BM": BM, "BN": BN, "BK": BK}
    found = resources(compile_cuda(tiled.source, defines=tiled.defines(**values)).cubin)["sgemm_tiled"]
    assert found.static_shared_bytes == tiled.shared_bytes(**values)
    assert found.local_bytes == 0


@pytest.mark.sampled(test=4)
@pytest.mark.parametrize("kernel", ALL.values(), ids=ALL)
def test_the_largest_block_has_enough_registers(kernel):
    found = resources(compile_cuda(kernel.source, defines=kernel.defines()).cubin)[kernel.entry]
    threads = math.prod(kernel.block()) if kernel.passes else 1024
    assert found.registers * threads <= 65536


def test_the_inner_loop_is_unrolled_and_has_no_guard():
    ptx = compile_cuda(get("sgemm_tiled").source).ptx
    inner = ptx.split("bar.sync")[1]
    assert inner.count("ld.shared.f32") == 64        # 32 of As and 32 of Bs: the loop over k is unrolled
    assert "bra" not in inner
