"""The table of resources, held to the compiler's own summary and to what the catalog says of a kernel."""

import re

import pytest

from course_lib import kernels, toolchain
from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.lessons.matrix_vector.kernel_table import HEADER, kernel_resources
from course_lib.model import occupancy

FAMILY = ("mxv_g_only", "mxv_i_lbuf", "mxv_o_lbuf", "mxv_o_per_thd", "mxv_vec_ld", "mxv_vls", "mxv_sh", "mxv_sh_ochunk")


def rows(table):
    return {row[0]: dict(zip(HEADER[1:], row[1:], strict=True)) for row in table.rows}


def test_the_homeworks_eight_kernels():
    found = rows(kernel_resources(*FAMILY, threads=1024))
    assert list(found) == list(FAMILY)
    assert {name: found[name]["shared"] for name in FAMILY[5:]} == {"mxv_vls": 16384, "mxv_sh": 36864, "mxv_sh_ochunk": 4096}
    assert all(found[name]["shared"] == kernels.get(name).shared_bytes(threads=1024) for name in FAMILY)
    assert all(row["const"] >= 1024 for row in found.values())          # the matrix of 16 x 16 floats
    assert all(row["threads"] <= row["max threads"] <= 1024 for row in found.values())


def test_as_the_compilers_own_summary():
    kernel = kernels.get("sgemm_tiled")
    row = rows(kernel_resources("sgemm_tiled", BM=16, BN=16, BK=16))["sgemm_tiled"]
    compiled = toolchain.compile_cuda(kernel.source, arch="sm_90", defines=kernel.defines(BM=16, BN=16, BK=16))
    assert row["registers"] == int(re.search(r"Used (\d+) registers", compiled.ptxas_log)[1])
    assert (row["shared"], row["threads"], row["max threads"]) == (2048, 256, 256)
    expected = occupancy(device("H200"), 256, row["registers"], 2048)
    assert (row["warps an SM"], row["limited by"]) == (expected.warps, expected.limiter)


def test_an_older_device_and_wrong_words():
    assert "T4" in kernel_resources("sgemm_naive", on="T4").caption
    with pytest.raises(CourseError, match="BQ"):
        kernel_resources("sgemm_naive", BQ=3)
    with pytest.raises(CourseError, match="no kernel"):
        kernel_resources("sgemm_nave")
