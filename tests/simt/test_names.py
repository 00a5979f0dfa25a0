"""Kernels by the names that their source gives them: templates, namespaces, overloads."""

import numpy as np
import pytest

from course_lib import simt
from course_lib.errors import CourseError

FLOAT, INT = np.float32, np.int32
SOURCE = """template <int BM, int BN, typename T> __global__ void scale(const T* A, T* B, int n) {
    __shared__ T tile[BM];
    if (threadIdx.x < n) tile[threadIdx.x] = B[threadIdx.x] = A[threadIdx.x] * BM + BN;
}
namespace ns { template <int N> __global__ void inner(int* x) { x[threadIdx.x] = N; } }
__global__ void plain(int* x) { x[threadIdx.x] = 5; }
static __global__ void local(int* x) { x[threadIdx.x] = 6; }
"""


def ran(entry, source=SOURCE, **how):
    out = np.zeros(32, INT)
    return simt.launch(source, entry, 1, 32, [out], **how), out


@pytest.mark.parametrize("entry", ["scale<64,32,float>", "scale<64, 32, float>", "scale<8*8,\t32,float>"])
def test_an_instance_is_made_for_the_launch(entry):
    A, B = np.arange(32, dtype=FLOAT), np.zeros(32, FLOAT)
    report = simt.launch(SOURCE, entry, 1, 32, [A, B, INT(32)], racecheck=True)
    assert (B == A * 64 + 32).all()
    assert report.kernel == entry
    assert report.symbol.startswith("_Z5scaleILi64ELi32EfE")
    assert report.resources.static_shared_bytes >= 0
    assert report.sass
    assert report.level["smsp__sass_inst_executed_op_shared_st.sum"] == "hardware"


def test_messages_have_the_names_of_the_source():
    A, B = np.arange(32, dtype=FLOAT), np.zeros(4, FLOAT)
    with pytest.raises(simt.OutOfBounds, match=r"^scale<8, 2, float>, line 3: thread \(4, 0, 0\) .* writes B\[4\], but B has 4") as caught:
        simt.launch(SOURCE, "scale<8, 2, float>", 1, 32, [A, B, INT(32)])
    assert caught.value.facts["kernel"] == "scale<8, 2, float>"
    with pytest.raises(simt.LaunchError, match=r"^scale<8, 2, float> takes 3 arguments, 2"):
        simt.launch(SOURCE, "scale<8, 2, float>", 1, 32, [A, B])
    with pytest.raises(simt.LaunchError, match=r"Argument 2 \(n\) is an integer"):
        simt.launch(SOURCE, "scale<8, 2, float>", 1, 32, [A, B, FLOAT(32)])


def test_the_name_alone_is_enough_for_one_instance():
    one = SOURCE + "template __global__ void scale<4, 1, double>(const double*, double*, int);\n"
    A, B = np.arange(32.0), np.zeros(32)
    report = simt.launch(one, "scale", 1, 32, [A, B, INT(32)])
    assert (B == A * 4 + 1).all()
    assert report.kernel == "scale"
    with pytest.raises(simt.OutOfBounds, match=r"^scale, line 3: .* reads A\[31\]"):
        simt.launch(one, "scale", 1, 32, [A[:31], B, INT(32)])
    two = one + "template __global__ void scale<5, 1, double>(const double*, double*, int);\n"
    with pytest.raises(simt.LaunchError, match=r"'scale' names 2 kernels .*_Z5scaleILi4E.*_Z5scaleILi5E.*entry=\"scale<…>\""):
        simt.launch(two, "scale", 1, 32, [A, B, INT(32)])
    simt.launch(two, "scale<5, 1, double>", 1, 32, [A, B, INT(32)])
    assert (B == A * 5 + 1).all()


def test_namespaces_and_kernels_without_extern_c():
    assert (ran("ns::inner<7>")[1] == 7).all()
    assert (ran("plain")[1] == 5).all()
    assert (ran("_Z5plainPi")[1] == 5).all()
    assert (ran("local")[1] == 6).all()
    hidden = "namespace { namespace deep { __global__ void k(int* x) { x[threadIdx.x] = 8; } } }\n"
    assert (ran("k", hidden)[1] == 8).all()


def test_hand_written_ptx_may_be_named_so_too():
    ptx = simt.launch(SOURCE, "scale<4, 2, float>", 1, 1, [np.zeros(1, FLOAT), np.zeros(1, FLOAT), INT(1)]).ptx
    A, B = np.ones(32, FLOAT), np.zeros(32, FLOAT)
    simt.launch(ptx, "scale", 1, 32, [A, B, INT(32)])
    assert (B == 6).all()


@pytest.mark.parametrize(("entry", "words"), [
    ("scale", r"kernels: plain"), ("scale", r"entry=\"scale<…>\""), ("scale<64>", "cannot determine which instance"),
    ("nix<3>", "\"nix\" is undefined"), ("nix", "No kernel named 'nix'"), ("scale<64,", "expected an expression"),
    ("scale<nix, 1, float>", "\"nix\" is undefined"), ("plainx", "No kernel named")])
def test_what_cannot_be_named_is_said(entry, words):
    with pytest.raises(simt.LaunchError, match=words) as caught:
        ran(entry)
    assert isinstance(caught.value, CourseError)
    assert "__nv_name_map" not in str(caught.value)


def test_overloads_are_told_apart_by_their_symbol():
    text = "__global__ void f(int* x) { x[threadIdx.x] = 1; }\n__global__ void f(int* x, int n) { x[threadIdx.x] = n; }\n"
    with pytest.raises(simt.LaunchError, match="'f' names 2 kernels"):
        ran("f", text)
    assert (ran("_Z1fPi", text)[1] == 1).all()


def test_defines_and_options_reach_an_instance():
    text = "template <int N> __global__ void f(int* x) { x[threadIdx.x] = N + M; }\n"
    assert (ran("f<2>", text, defines={"M": 40})[1] == 42).all()
    assert (ran("f<M>", text, defines={"M": 40})[1] == 80).all()
    with pytest.raises(simt.CompileError, match="M"):
        ran("f<2>", text)
