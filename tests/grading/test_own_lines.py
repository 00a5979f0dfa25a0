"""A kernel keeps the lines of its cell whatever it says of them, and unusual texts and mappings that are right pass."""

import pytest
from answer_files import solved_cells

from course_lib import magic
from course_lib.check import check as check_any
from course_lib.errors import CourseError
from course_lib.grading import check, part
from course_lib.kernels.own_lines import with_own_lines

CELL = solved_cells("04_tiling")["tile-answer"]
TEXT, SPEC = magic.from_cell(CELL)[1], part("04_tiling", "tile")
LINE = TEXT.split("\n").index("    float acc = 0.0f;") + 1
DIRECTIVES = ['#line 77 "x.cu"', "#line 5", '# 1 "<stdin>"', "# 7", '  #\tline 3 "/seed"', '%:line 9 "y.cu"', "/* here */ #line 8",
    "#line __LINE__"]


def second_line(more, text=TEXT):
    first, rest = text.split("\n", 1)
    return f"{first}\n{more}\n{rest}"


@pytest.mark.parametrize("directive", DIRECTIVES)
def test_an_error_behind_a_line_directive_has_the_line_of_the_cell(directive):
    finding, = check(second_line(directive, TEXT.replace("acc = 0.0f", "acc = zero")), SPEC).findings
    assert (finding.kind, finding.line, finding.source_line) == ("compile", LINE + 1, "    float acc = zero;")
    assert finding.message == 'identifier "zero" is undefined'


@pytest.mark.slow
@pytest.mark.sampled(test=1)
@pytest.mark.parametrize("directive", DIRECTIVES[:3])
def test_a_hazard_behind_a_line_directive_has_the_lines_of_the_cell(directive):
    plain, moved = (check(text, SPEC).findings[0] for text in
                    (TEXT.replace("__syncthreads();", "", 1), second_line(directive, TEXT).replace("__syncthreads();", "", 1)))
    assert (moved.kind, moved.line, moved.source_line) == ("hazard", plain.line + 1, plain.source_line)


@pytest.mark.parametrize("directive", DIRECTIVES[:3])
def test_a_cell_that_does_not_compile_names_its_own_line(directive):
    with pytest.raises(CourseError, match=f"^tiled does not compile .1 error.\nline {LINE + 1}: error"):
        magic.cuda("tiled", second_line(directive, CELL.replace("acc = 0.0f", "acc = zero")).split("\n", 1)[1], {})


@pytest.mark.parametrize("text", ["#define S(line) \\\n#line", "#pragma unroll", "#define LINE 3", "#if 1", "x # 3", "#lines 3", "#"])
def test_what_is_no_line_directive_stays(text):
    assert with_own_lines(text) == text


@pytest.mark.parametrize("run", [lambda text: check(text, SPEC), check_any])
@pytest.mark.parametrize("odd", ["\f", "\v", "// \x85 \u2028 \x1c"])
def test_a_line_ends_where_the_compiler_ends_it(odd, run):
    first, rest = TEXT.replace("__syncthreads();", "", 1).split("\n", 1)
    finding = run(f"{first}\n{odd}\n{rest}").findings[0]
    assert (finding.kind, "acc += As" in finding.source_line) == ("hazard", True)


TILES = """    __shared__ float As[BM][BK], Bs[BK][BN];
    const int across = (N + BN - 1) / BN, tiles = across * ((M + BM - 1) / BM), t = threadIdx.y * BN + threadIdx.x;
    MAPPING
    for (int tile = FIRST; tile < tiles; tile += NEXT) {
        const int row0 = tile / across * BM, col0 = tile % across * BN, row = row0 + ty, col = col0 + tx, r = t / BN, c = t % BN;
        float acc = 0.0f;
        for (int k0 = 0; k0 < K; k0 += BK) {
            As[r][c] = row0 + r < M && k0 + c < K ? A[(row0 + r) * lda + k0 + c] : 0.0f;
            Bs[r][c] = k0 + r < K && col0 + c < N ? B[(k0 + r) * ldb + col0 + c] : 0.0f;
            __syncthreads();
            for (int k = 0; k < BK; ++k) acc += As[ty][k] * Bs[k][tx];
            __syncthreads();
        }
        if (row < M && col < N) C[row * ldc + col] = alpha * acc + (beta == 0.0f ? 0.0f : beta * C[row * ldc + col]);
    }
}
"""
PLAIN, BLOCK = "const int tx = threadIdx.x, ty = threadIdx.y;", "blockIdx.y * gridDim.x + blockIdx.x"
MAPPINGS = {
    "blocks that go on": (PLAIN, BLOCK, "gridDim.x * gridDim.y"), "the last block first": (PLAIN, f"tiles - 1 - ({BLOCK})", "tiles"),
    "blocks along z": (PLAIN, f"blockIdx.z * gridDim.x * gridDim.y + {BLOCK}", "gridDim.x * gridDim.y * gridDim.z"),
    "threads in one row": ("const int tx = t % BN, ty = t / BN;", BLOCK, "tiles"),
    "warps along columns": ("const int ty = t % BM, tx = t / BM;", BLOCK, "tiles"),
    "lanes that turn round": ("const int ty = t / BN, tx = ty % 2 ? BN - 1 - t % BN : t % BN;", BLOCK, "tiles"),
}
EXTERN = 'extern "C" __global__'
TEXTS = {
    "a text on the device": f'__device__ const char* s = "kernel {{ }} /* #define BM 8";\n{TEXT}', "no tricks": TEXT.replace("\n", "\r\n"),
    'extern "C" twice': TEXT.replace(EXTERN, f'extern "C" __device__ float f(float x) {{ return x; }}\n{EXTERN}'),
    'extern "C" around extern "C"': f'{TEXT.replace(EXTERN, f"""extern "C" {{ {EXTERN}""")}\n}}',
    "digraphs": TEXT.replace("{", "<%").replace("}", "%>").replace("[", "<:").replace("]", ":>"),
    "lines that go on": TEXT.replace("acc += As", "acc \\\n += As").replace("// of C", "// of C \\\n and on"),
    "a trigraph in a comment": TEXT.replace("// of C", "// of C ??/"),
    "a line directive in a text": f'__device__ auto s = R"(\n#line 3\n)";\n{TEXT}',
}


@pytest.mark.sampled(test=1, slow=5)
@pytest.mark.parametrize("name", [*MAPPINGS, *TEXTS])
def test_what_is_unusual_and_right_passes(name):
    text = TEXTS.get(name) or TEXT[:TEXT.index("{") + 1] + "\n" + TILES
    for word, with_what in zip(("MAPPING", "FIRST", "NEXT"), MAPPINGS.get(name, ()), strict=False):
        text = text.replace(word, with_what)
    for seed in (None, 7):
        verdict = check(text, SPEC, seed=seed)
        assert verdict.passed, verdict
