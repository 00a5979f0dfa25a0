"""The reader's own kernel: the entry is found, the launch fits, and every slip gets a sentence."""

import pytest

from course_lib.errors import CourseError
from course_lib.kernels import UserKernel, get
from course_lib.kernels.user import SIGNATURE, is_source, written_values

MINE = 'extern "C" __global__ void mine(' + SIGNATURE + ") { /* nothing */ }\n"


def test_entry_and_launch_of_a_plain_kernel():
    mine = UserKernel.from_source("// __global__ void not_this(int x) {}\n" + MINE)
    assert (mine.entry, mine.like, mine.defines()) == ("mine", "sgemm_naive", {})
    assert mine.block(bx=8, by=4) == (8, 4, 1)
    assert mine.grid(10, 20, bx=8, by=4) == (3, 3, 1)


def test_a_kernel_with_bm_and_bn_is_launched_like_the_tiled_one():
    text = get("sgemm_tiled").source.replace("sgemm_tiled", "mine")
    mine = UserKernel.from_source(text)
    assert (mine.entry, mine.like) == ("mine", "sgemm_tiled")
    assert mine.defines() == {}, "the text sets these values itself"
    assert mine.defines(BM=16) == {"BM": 16, "BN": 32, "BK": 32}
    assert mine.problems(BM=64)


def test_the_values_written_in_the_text_are_the_defaults():
    text = get("sgemm_tiled").source.replace("#define BM 32", "#define BM 8")
    text = text.replace("#define BK 32", "#define BK 4 // k")
    mine = UserKernel.from_source(text)
    assert mine.check() == {"BM": 8, "BN": 32, "BK": 4}
    assert mine.block() == (32, 8, 1)
    assert mine.defines(BM=8) == {}


def test_values_that_the_text_leaves_open_are_passed():
    mine = UserKernel.from_source(MINE.replace("/* nothing */", "int x = BM + BN;"))
    assert mine.defines() == {"BM": 32, "BN": 32, "BK": 32}


def test_launch_bounds_restrict_and_blocks_of_extern_c():
    parameters = SIGNATURE.replace("float*", "float* __restrict__")
    text = ('extern "C" {\n__device__ float f(float x) { return x; }\n'
            f'__global__ void __launch_bounds__(1024)\nmine({parameters}) {{}}\n}}\n')
    assert UserKernel.from_source(text).entry == "mine"


def test_a_path_is_read(tmp_path):
    (tmp_path / "mine.cu").write_text(MINE)
    mine = UserKernel.from_source(tmp_path / "mine.cu")
    assert mine.source == MINE
    assert mine.path == tmp_path / "mine.cu"
    assert UserKernel.from_source(str(tmp_path / "mine.cu")).source == MINE


def test_choose_one_of_several():
    two = MINE + MINE.replace("mine", "other")
    assert UserKernel.from_source(two, entry="other").entry == "other"
    with pytest.raises(CourseError, match=r"2 kernels \(mine, other\): name the one"):
        UserKernel.from_source(two)
    with pytest.raises(CourseError, match="no kernel 'third', only mine, other"):
        UserKernel.from_source(two, entry="third")


@pytest.mark.parametrize(('text', 'words'), [
    ("int x;", "holds no kernel: write one as"),
    (MINE.replace('extern "C" ', ""), 'mine needs extern "C"'),
    ('extern "C" { int x; }\n' + MINE.replace('extern "C" ', ""), 'mine needs extern "C"'),
    (MINE.replace("int K, ", ""), "mine takes 10 arguments, not 11"),
    (MINE.replace("float alpha", "double alpha"), "argument 4 of mine is `double alpha`, not `float alpha`"),
    (MINE.replace("float* C", "float C"), "argument 10 of mine is `float C`, not `float* C`"),
    (MINE.replace("const float* B", "const double* B"), "argument 7 of mine"),
    ("/nowhere/at/all.cu", "cannot be read: No such file"),
])
def test_a_slip_gets_a_sentence(text, words):
    with pytest.raises(CourseError) as caught:
        UserKernel.from_source(text)
    assert words in str(caught.value)


VECTORS = """#define N 6
__constant__ float matrix[N][N];
extern "C" __global__ void six(int S, const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] * matrix[0][S]; }"""


def test_a_kernel_for_many_vectors_has_arguments_of_its_own():
    kernel = UserKernel.from_source(VECTORS, like="mxv_g_only")
    assert (kernel.entry, kernel.kind, kernel.check()["N"]) == ("six", "vectors", 6)
    with pytest.raises(CourseError, match=r"2 arguments, not 3: it is launched as six\(int S, const float\* in, float\* out\)"):
        UserKernel.from_source(VECTORS.replace("int S, ", ""), like="mxv_g_only")
    with pytest.raises(CourseError, match="six takes 3 arguments, not 11"):
        UserKernel.from_source(VECTORS)
    with pytest.raises(CourseError, match="mine takes 11 arguments, not 3"):
        UserKernel.from_source(MINE, like="mxv_sh")


def test_a_binary_file_is_no_kernel(tmp_path):
    (tmp_path / "a.cu").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CourseError, match="not a text file"):
        UserKernel.from_source(tmp_path / "a.cu")


def test_types_that_only_the_compiler_knows_pass():
    assert UserKernel.from_source("using real = float;\n" + MINE.replace("float alpha", "real alpha")).entry == "mine"


def test_what_counts_as_source():
    assert [is_source(k) for k in (MINE, "int x;", "a/b.cu", "sgemm_naive", 3)] == [True, True, True, False, False]
    assert written_values("// #define BM 4\n#define BM 16 /* x */\n#define S \"// 3\"\n") == {"BM": 16}


@pytest.mark.parametrize("name", ["sgemm_tiled", "sgemm_1d_tile", "sgemm_2d_tile"])
def test_a_copy_of_a_tiled_kernel_is_launched_like_it(name):
    mine = UserKernel.from_source(get(name).source.replace(name, "mine"))
    assert (mine.like, mine.block(), mine.grid(100, 200)) == (name, get(name).block(), get(name).grid(100, 200))
