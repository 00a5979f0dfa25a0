"""Every kernel compiles alone, and the compiler holds the same tile rules as the catalog."""

import pytest

from course_lib.kernels import KERNELS, get
from course_lib.toolchain import CompileError, compile_cuda, resources


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_file_compiles_alone_without_a_word(kernel):
    compiled = compile_cuda(kernel.source, name=kernel.path.name)
    assert compiled.log.strip() == ""
    assert kernel.entry in resources(compiled.cubin)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_file_alone_has_the_catalogs_defaults(kernel):
    alone, launched = (compile_cuda(kernel.source, defines=d).ptx for d in ({}, kernel.defines()))
    assert alone == launched


@pytest.mark.parametrize(("BM", "BN", "BK"), [(32, 32, 32), (5, 7, 3), (16, 64, 153), (1, 1, 6144), (32, 32, 192)])
def test_shared_memory_is_what_the_catalog_says(BM, BN, BK):
    tiled = get("sgemm_tiled")
    values = {"BM": BM, "BN": BN, "BK": BK}
    found = resources(compile_cuda(tiled.source, defines=tiled.defines(**values)).cubin)["sgemm_tiled"]
    assert found.static_shared_bytes == tiled.shared_bytes(**values)
    assert found.local_bytes == 0


@pytest.mark.parametrize("values", [
    {"BM": 32, "BN": 33, "BK": 8}, {"BM": 64, "BN": 64, "BK": 4}, {"BM": 32, "BN": 32, "BK": 193},
    {"BM": 1, "BN": 1, "BK": 6145},
])
def test_what_the_catalog_refuses_the_compiler_refuses_too(values):
    tiled = get("sgemm_tiled")
    assert tiled.problems(**values)
    with pytest.raises(CompileError, match="static assert|static_assert"):
        compile_cuda(tiled.source, defines=values)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_block_of_1024_threads_has_enough_registers(kernel):
    found = resources(compile_cuda(kernel.source, defines=kernel.defines()).cubin)[kernel.entry]
    assert found.registers * 1024 <= 65536


def test_the_inner_loop_is_unrolled_and_has_no_guard():
    ptx = compile_cuda(get("sgemm_tiled").source).ptx
    inner = ptx.split("bar.sync")[1]
    assert inner.count("ld.shared.f32") == 64        # 32 of As and 32 of Bs: the loop over k is unrolled
    assert "bra" not in inner
