"""The stand-in for CuPy does what CuPy's documentation says, and refuses in one sentence what a GPU would get wrong in silence."""

import numpy as np
import pytest
from cupy_programs import PROGRAMS, run

from course_lib import cp, simt
from course_lib import run as course
from course_lib.errors import CourseError
from course_lib.simt import OutOfBounds
from course_lib.unwritten import NotWritten, Unwritten

SOURCE = PROGRAMS["product"].split('r"""')[1].split('"""')[0]


@pytest.fixture(autouse=True)
def simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


def close(found, wanted):
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_programs_of_the_documentation():
    twice = 2 * np.arange(25, dtype=np.float32).reshape(5, 5)
    close(run(PROGRAMS["add"], cp)["y"], twice)
    made = run(PROGRAMS["product"], cp)
    rng = np.random.default_rng(3)
    A, B = rng.standard_normal((33, 21)).astype(np.float32), rng.standard_normal((21, 17)).astype(np.float32)
    close(made["C"], 0.5 * A @ B)
    close(run(PROGRAMS["types"], cp)["y"], np.array([-1, 2, -3, 1 << 40, 5, np.float32(0.1), 0.1, 1]))
    assert (run(PROGRAMS["shared"], cp)["y"] == np.arange(64)[::-1]).all()


def test_arrays_are_as_cupys():
    made = run(PROGRAMS["arrays"], cp)
    assert made["shape"].tolist() == [3, 2]
    assert made["by columns"].tolist() == [True, False], "a transposed array keeps its columns' order"
    assert made["x"].dtype == np.float64
    assert made["same"].tolist() == [True, False]
    assert made["view"].tolist() == [4, 5, 100, 7]
    assert made["order"].tolist() == [8, 16]
    assert made["facts"].tolist() == [1, 4, 4, 16, 4]
    assert made["copy"].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert (made["one"], made["full"].dtype, made["zeros"].dtype) == (2.5, np.int64, np.float64)


def test_an_array_is_another_than_numpys():
    host = np.arange(4, dtype=np.float32)
    there = cp.asarray(host)
    host[0] = 7
    back = there.get()
    back[1] = 7
    assert there.get().tolist() == [0, 1, 2, 3]
    assert np.isnan(cp.empty(3, np.float32).get()).all(), "what nobody wrote shows"


def test_what_cupy_could_do_and_the_stand_in_cannot_is_refused_by_name():
    A = cp.zeros((4, 4), np.float32)
    for what, says in ((lambda: A @ A, "`@` on arrays"), (lambda: A - A.get(), "`-` on arrays"), (lambda: A.get() - A, "`-` on arrays"),
                       (lambda: A == A, "`==` on arrays"), (lambda: A.sum(), r"\.sum of an array"),
                       (lambda: cp.matmul, r"cp\.matmul is not"),
                       (lambda: np.asarray(A), r"copy it with x\.get\(\)"),
                       (lambda: cp.RawKernel(SOURCE, "product", backend="nvcc"), "backend"),
                       (lambda: cp.asarray(["a"]), "holds numbers"), (lambda: cp.zeros(3, order="K"), "order is 'K'")):
        with pytest.raises(CourseError, match=says):
            what()
    assert not hasattr(A, "sum")
    assert not hasattr(cp, "matmul")


def launch(*, grid=(2, 2), block=(16, 16), code=SOURCE, **changed):
    """Launch the product of two 32 × 32 matrices, with some arguments changed."""
    n = np.int32(32)
    args = {"M": n, "N": n, "K": n, "alpha": np.float32(1), "A": cp.asarray(np.eye(32, dtype=np.float32)),
            "B": cp.asarray(np.eye(32, dtype=np.float32)), "C": cp.empty((32, 32), np.float32)} | changed
    cp.RawKernel(code, "product")(grid, block, tuple(args.values()))
    return args["C"].get()


@pytest.mark.parametrize(("changed", "says"), [
    ({"N": 32}, r"argument 2 of product \(int N\) is a Python int, which CuPy passes as int64, .* write np\.int32\(32\)$"),
    ({"alpha": 1.0}, r"argument 4 .* Python float, which CuPy passes as float64, .* write np\.float32\(1\.0\)$"),
    ({"alpha": np.int32(2)}, r"is int32, and the kernel reads float32 there: write np\.float32\(2\)$"),
    ({"N": np.float32(32)}, r"write np\.int32\(32\)$"),
    ({"N": np.int64(32)}, r"is int64, .* write np\.int32\(32\)$"),
    ({"A": np.eye(32, dtype=np.float32)}, r"is a NumPy array, which the GPU cannot read: .* cp\.asarray\(A\)$"),
    ({"N": np.array(32)}, r"write np\.float32\(x\) or np\.int32\(n\)$"),
    ({"A": cp.asarray(np.eye(32))}, r"holds float64, and the kernel reads float32: .* dtype=np\.float32 \(CuPy would not notice\)"),
    ({"A": cp.asarray(np.zeros((32, 32), np.float32).T)}, "does not lie row by row without gaps"),
    ({"A": cp.zeros((32, 64), np.float32)[:, :32]}, "does not lie row by row without gaps"),
    ({"A": np.float32(1)}, r"\(const float\* A\) is 1\.0, and the kernel takes an array there"),
    ({"M": cp.zeros(1, np.int32)}, r"\(int M\) is an array, and the kernel takes one number there: write np\.int32"),
    ({"C": None}, r"\(float\* C\) is None, a NoneType"),
    ({"C": "C"}, "a str; a kernel takes arrays"),
    ({"more": np.int32(1)}, r"product takes 7 arguments \(int M, .*\), and 8 were given"),
    ({"grid": 2}, r"grid is 2; CuPy takes a tuple: write \(2,\)"),
    ({"grid": [2, 2]}, r"write \(2, 2\)"),
    ({"grid": (2.0, 2)}, "divide with // and not with /"),
    ({"grid": (0, 2)}, "each at least 1"),
    ({"block": (1, 1, 1, 1)}, "one to three numbers"),
    ({"block": (64, 32)}, r"2048 threads is more than the hardware allows \(1024\)"),
    ({"code": SOURCE.replace("product", "other")}, r"holds no kernel 'product', but other"),
    ({"code": SOURCE.replace('extern "C"', "")}, 'Declare it extern "C"'),
    ({"code": SOURCE.replace("float acc = 0.0f;", "")}, 'line 6: error: identifier "acc" is undefined'),
    ({"code": SOURCE.replace("float acc", "if (threadIdx.x == 0) __syncthreads(); float acc").replace("C[row", "__syncthreads(); C[row")},
     r"waits at __syncthreads\(\) while other threads of its warp wait at the one in line 5"),
    ({"code": SOURCE.replace("k < K; ++k", "k < K;")}, "product, line 6: .* Most likely a loop never ends"),
])
def test_a_wrong_launch_is_refused_in_one_sentence(changed, says):
    assert (launch() == np.eye(32)).all()
    with pytest.raises(CourseError, match=says) as found:
        launch(**changed)
    assert "\n" not in str(found.value) or "compile" in str(found.value)
    with pytest.raises(CourseError, match="the latest launch, of product, did not end well"):
        cp.last_launch()


def test_an_access_outside_names_line_thread_and_array():
    with pytest.raises(OutOfBounds, match=r"product, line 6: .* reads A\[\d+\], but A has 512 elements"):
        launch(A=cp.zeros((16, 32), np.float32))


@pytest.mark.parametrize("args", [cp.arrays.zeros(3), "abc", 5])
def test_arguments_are_a_tuple(args):
    with pytest.raises(CourseError, match=r"write \(x,\) with its comma"):
        cp.RawKernel(SOURCE, "product")((1,), (1,), args)


@pytest.mark.parametrize(("given", "says"), [
    ((5, "product"), "takes the kernel's text, not a int"), ((SOURCE, 5), "the name of the kernel as text"),
    ((SOURCE, "product", "-DX"), "options is '-DX'; CuPy takes a tuple"), ((SOURCE, "product", ["-DX"]), "CuPy takes a tuple")])
def test_a_kernel_made_of_something_else(given, says):
    with pytest.raises(CourseError, match=says):
        cp.RawKernel(*given)


def test_pythons_numbers_pass_where_cupy_passes_them_right():
    """int is long long to CuPy, and float is double; where the text does not tell what the kernel takes, they are refused."""
    y = cp.zeros(2)
    text = 'extern "C" __global__ void f(long long n, double x, double* y) { y[0] = n; y[1] = x; }'
    cp.RawKernel(text, "f")((1,), (1,), (1 << 40, 0.1, y))
    assert y.get().tolist() == [1 << 40, 0.1]
    hidden = "#define TAKES (int n, float* y)\n" + 'extern "C" __global__ void f TAKES { y[0] = n; }'
    with pytest.raises(CourseError, match=r"argument 1 of f is a Python int, which CuPy passes as int64: write np\.int32\(3\)"):
        cp.RawKernel(hidden, "f")((1,), (1,), (3, y))


def test_the_latest_launch_tells_what_the_simulator_counted():
    launch()
    found = cp.last_launch()
    assert (found.count("sectors"), found.sectors_per_request(), found.label) == (2 * 32**3 // 16, 2.0, "simulated")
    assert found.resources.registers > 0
    assert repr(found).splitlines()[:2] == ["product", "launch         grid 2 × 2, block 16 × 16, simulated"]
    A = np.eye(32, dtype=np.float32)
    padded = SOURCE.replace("A, const float* B, float* C", "A, int lda, const float* B, int ldb, float beta, float* C, int ldc")
    assert course.run(padded, A, A, bx=16, by=16).count("sectors") == found.count("sectors")


def test_options_that_the_course_sets_anyway_may_be_given():
    y = cp.zeros(1)
    text = 'extern "C" __global__ void f(double* y) { y[0] = X; }'
    cp.RawKernel(text, "f", ("-std=c++17", "-lineinfo", "-DX=5"))((1,), (1,), (y,))
    assert float(y[0]) == 5


def test_dynamic_shared_memory_is_part_of_the_tale():
    run(PROGRAMS["shared"], cp)
    assert "dynamic shared  256 bytes a block" in repr(cp.last_launch())


def test_what_a_kernel_prints_is_shown(capsys):
    cp.RawKernel('extern "C" __global__ void f() { printf("hello %d\\n", threadIdx.x); }', "f")((1,), (2,), ())
    assert capsys.readouterr().out == "hello 0\nhello 1\n"


def test_a_kernel_that_is_not_written_says_so_and_which_arrays_it_would_fill():
    mine = Unwritten("mine", text="%%cuda mine" + SOURCE)
    kernel = cp.RawKernel(mine, "product")
    A, C, n = cp.zeros(4, np.float32), cp.zeros(4, np.float32), np.int32(2)
    with pytest.raises(NotWritten, match="mine is not written yet") as found:
        kernel((1,), (1,), (n, n, n, np.float32(1), A, A, C))
    assert found.value.arrays == (C,)
    middle = Unwritten("mine", text='extern "C" __global__ void f(const float* A, float* C, float const* B) {}')
    with pytest.raises(NotWritten) as found:
        cp.RawKernel(middle, "f")((1,), (1,), (A, C, A))
    assert found.value.arrays == (C,), "not what it takes as const"
    with pytest.raises(NotWritten):
        cp.take_home(mine, (1,), (1,), ())
    with pytest.raises(NotWritten):
        cp.RawKernel(SOURCE, "product")((1,), (1,), (n, n, n, np.float32(1), A, A, Unwritten("C")))


FETCHING = """extern "C" __global__ void k(cudaTextureObject_t t, cudaSurfaceObject_t s, float* y) {
    y[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
    surf1Dwrite(2 * y[threadIdx.x], s, 4 * (int)threadIdx.x);
}"""


def test_textures_and_surfaces_of_both_kinds_of_array(monkeypatch):
    numbers = np.arange(4, dtype=np.float32)
    for x, s in ((numbers, np.zeros(4, np.float32)), (cp.asarray(numbers), cp.zeros(4, np.float32))):
        y = cp.zeros(4, np.float32)
        cp.RawKernel(FETCHING, "k")((1,), (4,), (simt.Texture(x), simt.Surface(s), y))
        assert (y.get() == numbers).all()
        assert ((s if isinstance(s, np.ndarray) else s.get()) == 2 * numbers).all()
    given = (simt.Texture(numbers), simt.Surface(np.zeros(4, np.float32)), y)
    with pytest.raises(CourseError, match="take_home writes no programs with textures"):
        cp.take_home(FETCHING, (1,), (4,), given)
    monkeypatch.setattr("course_lib.cp.arguments.choose_backend", lambda: "gpu")
    with pytest.raises(CourseError, match=r"argument 1 of k .* is a Texture of the simulator, and this kernel runs on a GPU"):
        cp.RawKernel(FETCHING, "k")((1,), (4,), given)
