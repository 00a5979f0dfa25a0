"""Launches that cannot be: one sentence that names the value and what would be right."""

import numpy as np
import pytest
from launching import FLT, INT, fault, launch

from course_lib import simt

ADD = """extern "C" __global__ void add(const float* a, float* b, int n, double x, short s) {
    if (threadIdx.x < n) b[threadIdx.x] = a[threadIdx.x] + x + s;
}"""
GOOD = [np.zeros(32, FLT), np.zeros(32, FLT), INT(32), np.float64(1), np.int16(2)]


def changed(at, value):
    return [*GOOD[:at], value, *GOOD[at + 1:]]


def test_the_good_launch_works():
    launch(ADD, GOOD, name="add")


@pytest.mark.parametrize(("args", "words"), [
    (GOOD[:-1], "takes 5 arguments, 4 were given"), ([*GOOD, INT(1)], "takes 5 arguments, 6 were given"), ([], "0 were given"),
    (changed(2, 32), "(n) is 32, a Python int"), (changed(3, 1.5), "(x) is 1.5, a Python float"),
    (changed(2, np.int64(32)), "takes 4 bytes"),
    (changed(3, np.float32(1)), "takes 8 bytes"), (changed(4, np.int32(1)), "takes 2 bytes"), (changed(2, GOOD[0]), "not a pointer"),
    (changed(0, [1.0] * 32), "(a) is"), (changed(0, None), "(a) is None"), (changed(1, "text"), "(b) is 'text'"),
])
def test_wrong_arguments(args, words):
    error = fault(simt.LaunchError, ADD, args, name="add")
    assert words in str(error)


@pytest.mark.parametrize(("how", "words"), [
    ({"block": 1025}, "1024"), ({"block": (32, 33)}, "32×33×1 = 1056"), ({"block": (1, 1, 65)}, "64"), ({"block": 0}, "block is 0"),
    ({"grid": -1}, "grid is -1"), ({"grid": (1, 2, 3, 4)}, "grid is"), ({"block": ()}, "block is ()"),
    ({"dynamic_shared": 300_000}, "300000"), ({"dynamic_shared": -4}, "-4"), ({"warp_order": "sideways"}, "'sideways'"),
    ({"trace": [(0, 5)]}, "warp 5"), ({"trace": [(9, 0)]}, "block 9"), ({"trace": [((0, 1, 0), 0)]}, "block (0, 1, 0)"),
    ({"grid": 2**31}, "2,147,483,647 blocks along x"), ({"grid": (1, 65536)}, "65,535 blocks along y, not 65,536"),
    ({"grid": (1, 1, 10**30)}, "along z"), ({"grid": True}, "grid is True"), ({"workers": -1}, "workers is -1"),
    ({"workers": 0}, "workers is 0"), ({"workers": 1.5}, "workers is 1.5"), ({"workers": "two"}, "'two'"),
    ({"grid": np.array([])}, "grid is"), ({"grid": (1, None)}, "grid is (1, None)"), ({"block": (np.float32(1),)}, "block is"),
    ({"defines": 3}, "defines must map"), ({"defines": {3: 1}}, "defines must map"), ({"defines": {"x y": 1}}, "'x y'"),
    ({"dynamic_shared": 1.5}, "dynamic_shared is 1.5"), ({"dynamic_shared": None}, "dynamic_shared is None"),
    ({"dynamic_shared": 2**70}, "at most 232448"), ({"constants": 3}, "constants must map"), ({"max_steps": 0}, "max_steps is 0"),
    ({"max_steps": -1}, "max_steps is -1"), ({"max_steps": 1.5}, "max_steps is 1.5"), ({"max_steps": True}, "max_steps is True"),
    ({"warp_order": -1}, "warp_order is -1"), ({"warp_order": None}, "warp_order is None"), ({"warp_order": [1]}, "warp_order is [1]"),
    ({"arch": "sm_1"}, "sm_90"), ({"arch": None}, "arch must be"), ({"options": "abc"}, "options must be"),
    ({"options": (3,)}, "options must be"), ({"options": None}, "options must be"), ({"options": ("--frob",)}, "--frob"),
    ({"trace": 3}, "trace must be"), ({"trace": [3]}, "not 3"), ({"trace": [(0, "a")]}, "warp 'a'"), ({"trace": [(0.5, 0)]}, "block 0.5"),
    ({"trace": [((0, 0, 0, 0), 0)]}, "(0, 0, 0, 0)"), ({"trace": [((1, -1, 0), 0)]}, "(1, -1, 0)"), ({"trace": [(-1, 0)]}, "block -1"),
    ({"progress": 3}, "progress must be"), ({"name": None}, "not None"), ({"name": b"add"}, "not b'add'"),
    ({"constants": {"nothing": 1}}, "'nothing'"), ({"name": "subtract"}, "'subtract'"),
])
def test_wrong_launches(how, words):
    error = fault(simt.LaunchError, ADD, GOOD, **{"name": "add", **how})
    assert words in str(error)


@pytest.mark.parametrize(("args", "words"), [
    (changed(0, np.zeros(32, ">f4")), "other byte order (>f4)"), (changed(1, np.zeros(32, ">f4")), "(b) has the other byte order"),
    (changed(0, np.array([None] * 32)), "(a) holds object"), (changed(1, np.array([1.0] * 32, object)), "(b) holds object"),
    (changed(0, np.array(["abc"] * 32)), "(a) holds <U3"), (changed(0, np.zeros(32, "M8[s]")), "datetime64"),
    (changed(0, np.zeros(4, [("x", ">i4")])), "other byte order"), (changed(0, np.zeros(4, [("x", object)])), "holds"),
    (changed(2, np.float32(32)), "(n) is an integer in the kernel, and np.float32(32.0) was given: write np.int32"),
    (changed(3, np.int64(1)), "(x) is a floating-point number in the kernel"), (changed(4, np.float16(1)), "write np.int16"),
    (changed(2, np.array(32, INT)), "not a pointer"), (changed(2, np.bool_(True)), "takes 4 bytes"),
    (None, "args must be a list"), (3, "args must be a list"), ("abc", "args must be a list"), (np.zeros(5), "args must be a list"),
    ({"a": 1}, "args must be a list"),
])
def test_arguments_that_no_kernel_can_take(args, words):
    assert words in str(fault(simt.LaunchError, ADD, args, name="add"))


@pytest.mark.parametrize("make", [np.ma.array, lambda a: a.view(np.recarray), lambda a: a.reshape(4, 8).T])
def test_arrays_of_other_classes_are_arrays(make):
    a, b = make(np.arange(32, dtype=FLT)), np.zeros(32, FLT)
    launch(ADD, [a, b, *GOOD[2:]], name="add")
    assert (b == np.arange(32) + 3).all()


def test_any_sequence_of_arguments():
    launch(ADD, tuple(GOOD), name="add")
    launch(ADD, (a for a in GOOD), name="add")


def test_integers_of_either_sign_and_any_kind_of_block():
    launch(ADD, changed(2, np.uint32(32)), name="add", grid=np.array([1, 1]), block=(np.int8(32),))
    launch(ADD, changed(4, np.uint16(2)), name="add", grid=[1, 1, 1], block=np.uint64(32))


def test_macros_that_python_takes_for_equal():
    """1, 1.0 and True are one key of a dict, but not one text for the compiler."""
    source = 'extern "C" __global__ void f(float* out) { *out = X / 2; }'
    found = []
    for x in (1, 1.0, True, np.float32(3), "5.0f", 1):
        out = np.zeros(1, FLT)
        launch(source, [out], block=1, defines={"X": x})
        found.append(out[0])
    assert found == [0, 0.5, 0, 1.5, 2.5, 0]


@pytest.mark.parametrize("source", [None, 3, b"text", "", "\0", "int x;", ".version", ".version 8.0", "\ud800", "é", "x" * 5000])
def test_sources_that_are_none(source):
    with pytest.raises(simt.SimtError):
        launch(source, [])


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "f.cu").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "g.cu").mkdir()
    assert "cannot be read as text" in str(fault(simt.LaunchError, tmp_path / "f.cu", []))
    assert "There is no file" in str(fault(simt.LaunchError, tmp_path / "g.cu", []))


@pytest.mark.parametrize("value", [2.5, None])
def test_a_block_that_is_no_number(value):
    assert "block is" in str(fault(simt.LaunchError, ADD, GOOD, name="add", block=value))


def test_an_unknown_kernel_lists_those_there_are():
    error = fault(simt.LaunchError, ADD, GOOD, name="sub")
    assert "add" in str(error)
    assert error.entry == "sub"


def test_launch_bounds_are_a_limit():
    source = 'extern "C" __global__ void __launch_bounds__(48) f(int* out) { out[threadIdx.x] = 1; }'
    launch(source, [np.zeros(48, INT)], block=48)
    error = fault(simt.LaunchError, source, [np.zeros(64, INT)], block=(8, 8))
    assert (error.threads, error.limit) == (64, 48)


def test_too_much_static_shared_memory():
    with pytest.raises(simt.SimtError):
        launch('extern "C" __global__ void f(int* out) { __shared__ int s[12289]; s[out[0]] = 1; out[0] = s[out[1]]; }', [np.zeros(4, INT)])


def test_a_file_that_is_not_there(tmp_path):
    missing = tmp_path / "nothing.cu"
    for source in (missing, str(missing)):
        error = fault(simt.LaunchError, source, [])
        assert "nothing.cu" in str(error)
    path = tmp_path / "there.cu"
    path.write_text('extern "C" __global__ void f(int* out) { *out = 3; }')
    for source in (path, str(path)):
        out = np.zeros(1, INT)
        launch(source, [out], block=1)
        assert out[0] == 3


def test_compile_errors_show_the_readers_line():
    source = 'extern "C" __global__ void f(int* out) {\n    int x = 1\n    out[0] = x + missing;\n}\n'
    error = fault(simt.CompileError, source, [np.zeros(1, INT)])
    assert {d.line for d in error.diagnostics if d.severity == "error"} <= {2, 3}
    assert "out[0] = x + missing;" in str(error)
    assert "missing" in str(error)
