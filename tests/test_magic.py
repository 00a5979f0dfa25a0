"""`%%cuda`: the text lands under its name, and a message names the line of the cell."""

import re
from html import unescape

import pytest
from cpu_tools import matrices, needs_c
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

from course_lib import kernels, magic
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.grading import check as graded
from course_lib.grading import part
from course_lib.plots import highlight
from course_lib.run import count_lines, mismatch, run_cpu
from course_lib.toolchain import CompileError
from course_lib.unwritten import NotWritten

NAIVE = kernels.get("sgemm_naive").source
CELL = 'extern "C" __global__ void one(float* x) { *x = 1.0f; }\n'


@pytest.fixture
def shell():
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext course_lib.magic")
    yield shell
    InteractiveShell.clear_instance()


def test_a_cell_becomes_a_text_and_one_line_is_printed(shell, capsys):
    assert shell.run_cell("%%cuda one\n" + CELL).success
    assert capsys.readouterr().out == "one: compiled, 8 registers a thread, no shared memory\n"
    assert shell.user_ns["one"] == "// %%cuda one\n" + CELL
    assert magic.from_cell("%%cuda one\n" + CELL) == ("one", shell.user_ns["one"])


@pytest.mark.parametrize(("text", "says"), [
    ("// write it here", "the kernels in it: none"), (NAIVE.replace("acc = 0.0f", "acc = zero"), 'identifier "zero" is undefined')])
def test_the_check_of_an_exercise_fails_without_a_kernel(shell, capsys, text, says):
    """It may stand for points: other than a lesson's cells, it does not pass over what is missing."""
    shell.run_cell(f"%%cuda tiled\n{text}")
    shell.run_cell("from course_lib.grading import check, part\nverdict = check(tiled, part('04_tiling', 'tile'))")
    assert not shell.user_ns["verdict"].passed
    assert says in repr(shell.user_ns["verdict"])
    assert not shell.run_cell("verdict.require()").success


def test_shared_memory_is_counted(capsys):
    body = CELL.replace("{ *x", "{ __shared__ float s[96]; s[threadIdx.x] = *x; __syncthreads(); *x = s[5]; *x")
    magic.cuda("mine", body.replace("*x = 1.0f;", ""), {})
    assert "mine, kernel one: compiled" in (out := capsys.readouterr().out)
    assert "384 bytes of shared memory a block" in out


def test_an_error_names_the_line_of_the_cell_and_hides_the_library(shell, capsys):
    assert shell.run_cell("%%cuda one\n" + CELL).success
    assert shell.run_cell("%%cuda one\n// a comment\n" + CELL.replace("1.0f", "y")).success, "the cells below can say what is missing"
    shown = capsys.readouterr().out
    assert "line 3: error" in shown
    assert "*x = y" in shown
    assert "Traceback" not in shown
    with pytest.raises(NotWritten, match="one does not compile yet: its cell shows what the compiler says"):
        check(shell.user_ns["one"])


@pytest.mark.parametrize(("line", "says"), [
    ("", "needs a name"), ("two words", "one name, then --list"), ("class", "one name"), ("--list", "one name"),
    ("mine --lst", "'--lst' is none of them"), ("mine --run A", "two matrices"), ("mine --run A B C D", "two matrices"),
    ("mine BM=16", "neither is asked for"), ("mine --check BM=x", "'BM=x' is none")])
def test_a_name_that_is_none(line, says):
    with pytest.raises(CourseError, match=says):
        magic.cuda(line, CELL, {})


def test_a_text_without_a_kernel():
    with pytest.raises(CourseError, match="holds no kernel"):
        magic.cuda("nothing", "__device__ int x;", {})


def test_a_cell_that_is_no_kernel():
    with pytest.raises(CourseError, match="begins with %%cuda NAME"):
        magic.from_cell("print(1)")


LOOPS = "for (int i = 0; i < M; ++i)\n    for (int k = 0; k < K; ++k)\n        C(i, 0) += A(i, k) * B(k, 0);\n"


@needs_c
def test_a_cell_of_c_becomes_a_program_for_the_cpu(shell, capsys):
    assert shell.run_cell("%%c mine\n" + LOOPS).success
    assert capsys.readouterr().out == "mine: compiled\n"
    assert shell.user_ns["mine"] == "// %%c mine\n" + LOOPS
    assert magic.from_cell("%%c mine\n" + LOOPS) == ("mine", shell.user_ns["mine"])
    A, B, _ = matrices(3, 1, 5)
    assert mismatch(run_cpu(shell.user_ns["mine"], A, B, timed=False).C, A, B) is None


@needs_c
def test_an_error_in_c_names_the_line_of_the_cell(shell, capsys):
    shell.run_cell("%%c mine\n" + LOOPS.replace("B(k, 0)", "b"))
    assert "mine does not compile (1 error)\nline 4: error" in capsys.readouterr().out


@needs_c
def test_an_index_outside_names_the_line_of_the_cell(shell):
    shell.run_cell("%%c mine\n" + LOOPS.replace("k < K", "k <= K"))
    with pytest.raises(CourseError, match=r"mine, line 4: A\(0, 5\) does not exist"):
        count_lines(shell.user_ns["mine"], *matrices(3, 1, 5)[:2])


def test_without_a_compiler_the_text_is_kept(monkeypatch, capsys):
    monkeypatch.setattr(magic, "no_compiler", lambda: "there is no C compiler")
    names = {}
    magic.c("mine", LOOPS, names)
    assert names["mine"] == "// %%c mine\n" + LOOPS
    assert capsys.readouterr().out == "mine: kept, not compiled: there is no C compiler\n"


@pytest.fixture
def shown(monkeypatch):
    """Return what the magic displays, and run on the simulator."""
    found = []
    monkeypatch.setattr(magic, "display", found.append)
    monkeypatch.setenv("COURSE_BACKEND", "sim")
    return found


def test_a_cell_runs_on_the_backend_that_is_chosen(shown, monkeypatch):
    A, B, C = matrices(37, 21, 13)
    magic.cuda("mine --run A B bx=32 by=4", NAIVE, {"A": A, "B": B})
    result, = shown
    assert (result.backend, result.label, result.block) == ("sim", "simulated", (32, 4, 1))
    assert mismatch(result.C, A, B) is None
    magic.cuda("mine --run A B C", NAIVE, {"A": A, "B": B, "C": C})
    assert shown[1].C.shape == (37, 21)
    monkeypatch.setenv("COURSE_BACKEND", "tpu")
    with pytest.raises(CourseError, match="COURSE_BACKEND is 'tpu'"):
        magic.cuda("mine --run A B", NAIVE, {"A": A, "B": B})


def test_matrices_that_are_not_there(shown):
    with pytest.raises(CourseError, match="there is no B to run with"):
        magic.cuda("mine --run A B", NAIVE, {"A": matrices(3, 3, 3)[0]})


def test_a_cell_is_checked(shown):
    magic.cuda("mine --check", NAIVE.replace("if (row >= M || col >= N) return;", ""), {})
    report, = shown
    line = next(n for n, text in enumerate(NAIVE.splitlines(), 2) if "acc += A" in text)      # the magic is line 1
    assert (report.findings[0].kind, report.findings[0].line) == ("out of bounds", line)


def test_the_listing_has_the_lines_that_messages_name_also_when_nothing_compiles(shown):
    with pytest.raises(CompileError, match="line 3: error"):
        magic.cuda("one --list", "// a < b\n" + CELL.replace("1.0f", "y"), {})
    listing, = shown
    assert repr(listing).splitlines()[:3] == ["one", "   1  // %%cuda one", "   2  // a < b"]
    html = listing._repr_html_()
    assert "// a &lt; b" in html
    assert '   3  </span><span style="' in html
    assert html.count("user-select:none") == 3


def test_options_are_no_part_of_the_name():
    assert magic.from_cell("%%cuda mine --list\nint x;") == ("mine", "// %%cuda mine\nint x;")


def test_colours_are_readable_on_white():
    """WCAG's contrast of each colour against white."""
    colours = {c for kernel in kernels.KERNELS.values() for c in re.findall(r"color:#(\w{6})", highlight.coloured(kernel.source))}
    assert len(colours) > 5
    for colour in colours:
        parts = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        assert 1.05 / (0.05 + red * 0.2126 + green * 0.7152 + blue * 0.0722) > 4.5, colour


def test_nothing_of_a_text_is_lost_in_colour():
    for name in ("sgemm_tiled", "sgemm_vectorized"):
        source = kernels.get(name).source
        plain = unescape(re.sub(r"<[^>]+>", "", highlight.coloured(source)))
        assert plain == source


ONE_SENTENCE = [
    ("mine --check BM=" + 5000 * "9", "write a whole one with the digits 0 to 9, like BM=16"), ("mine --check BM=1e400", "like BM=16"),
    ("mine --check BM=-0", "like BM=16"), ("mine --check BM=٣", "like BM=16"), ("mine --check BM=0x10", "like BM=16"),
    ("mine --check BM=", "like BM=16"), ("mine --check BM=9999999999", "like BM=16"), ("mine --check =3", "'=3' is none of them"),
    ("mine --check BM=16 BM=32", "'BM' is given twice"), ("mine --check --check", "'--check' is given twice"),
    ("mine --run A B --run A B", "'--run' is given twice"), ("mine " + 10_000 * "x", "is none of them"), ("\ud800", "takes one name"),
    (10_000 * "x", "at most 60 letters"), ("mine\0", "takes one name"), ("   ", "needs a name")]


@pytest.mark.parametrize(("line", "says"), ONE_SENTENCE, ids=range(len(ONE_SENTENCE)))
def test_a_line_that_cannot_be_understood_is_answered_in_one_sentence(line, says):
    with pytest.raises(CourseError, match=re.escape(says)) as error:
        magic.cuda(line, CELL, {})
    assert len(str(error.value)) < 200


TEXTS = {"half a character": ("\ud800", "half a character ('\\ud800') at line 2: delete it"), "NULs": (9 * "\0",
    "NUL character at line 2: delete it"),
         "half a character below": (CELL + "// \udfff", "at line 3"), "10 MB": (10_000_000 * "x", "at most 100,000 are read"),
         "nothing": ("", "holds no"), "white space": (" \n\t\n", "holds no")}


@pytest.mark.parametrize("make", [magic.cuda, magic.c])
@pytest.mark.parametrize("name", TEXTS)
def test_a_cell_that_cannot_be_compiled_is_answered_in_one_sentence(make, name):
    text, says = TEXTS[name]
    with pytest.raises(CourseError, match=re.escape(says)) as error:
        make("mine", text, {})
    assert len(str(error.value)) < 200


@pytest.mark.timeout(20)
def test_a_long_cell_is_looked_through_once():
    with pytest.raises(CompileError):
        magic.cuda("mine", 15_000 * "int\n x", {})


def test_a_long_message_is_cut():
    with pytest.raises(CompileError) as error:
        magic.cuda("mine", f"#error {50_000 * 'x'}", {})
    assert len(str(error.value)) < 2500
    assert len(error.value.diagnostics[0].message) > 50_000


@pytest.mark.parametrize("cell", ["%%cuda mine\n\ud800", "%%cuda \ud800\nint x;", "%%cuda mine BM=" + 5000 * "9" + "\nint x;",
    "%%cuda\n\n", "%%cuda mine",
                                  "%%c mine\n\ud800", "%%cuda mine --check --check\nint x;", "%%cuda {a} $b\nint x;"], ids=range(8))
def test_a_notebook_shows_no_page_of_traceback(shell, capsys, cell):
    shell.run_cell(cell)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    assert 0 < len((shown.out + shown.err).splitlines()) <= 3


WORDS = st.sampled_from(["mine", "--check", "--list", "--run", "A", "B", "BM=16", "BM=", "=", "--", "BM=-1", "BM=１", "\ud800", "\0",
    "%%cuda", "'", "{", "\\"])
PIECES = st.sampled_from(["\0", "\ud800", "#", "\\", "\n", "/*", "*/", '"', "{", "}", "(", "__global__", 'extern "C"', "void f(",
    "#line 3", "// write it here",
                          "// up to here", "for(;;)", "ä", "\x85", "A(i, k)", ";"])


NUMBERS = st.one_of(st.text(min_size=1, max_size=4), st.integers(1, 6000).map(lambda n: n * "9"), st.floats().map(str),
    st.integers().map(str))
LINES = st.one_of(st.just(""), NUMBERS.map("--check BM={}".format), st.lists(st.one_of(WORDS, st.text(max_size=6)),
    max_size=5).map(" ".join))


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(line=LINES, cell=st.lists(st.one_of(PIECES, st.text(max_size=6), st.sampled_from("\0\ud800\udfff")), max_size=12).map("".join),
       make=st.sampled_from([magic.cuda, magic.c, magic.from_cell]))
def test_whatever_a_cell_says_is_answered_in_words(line, cell, make):
    said = ""
    try:
        if make is magic.from_cell:
            make(f"%%cuda {line}\n{cell}")
        else:
            make(f"mine {line}" if make is magic.cuda else "mine", cell, {})
    except CourseError as error:
        said = str(error)
    assert len(said.encode()) < 5000


@pytest.mark.parametrize(("give", "says"), [
    (lambda: check(NAIVE, seed=-1), "seed = -1 is none"), (lambda: check(NAIVE, seed="x"), "seed = 'x' is none"),
    (lambda: check(NAIVE, bx=10**5000), "bx is too large"), (lambda: check(NAIVE, bx=5000 * "9"), "is not a whole number"),
    (lambda: check("\ud800.cu"), "cannot be read"), (lambda: check("\0.cu"), "cannot be read"),
    (lambda: graded(NAIVE, None), "None is no part"), (lambda: graded(NAIVE, ("04_tiling", "tile")), "is no part"),
    (lambda: graded(NAIVE, part("04_tiling", "tile"), seed=1.5), "seed = 1.5 is none"), (lambda: part([], []), "there is no exercise []")])
def test_what_check_cannot_take_is_said_in_one_sentence(give, says):
    with pytest.raises(CourseError, match=re.escape(says)):
        give()


@pytest.mark.parametrize("answer", [None, 3, b"x", [], print])
@pytest.mark.parametrize("name", ["04_tiling tile", "01_triple_loop stream"])
def test_an_answer_that_is_no_text(answer, name):
    finding, = graded(answer, part(*name.split())).findings
    assert finding.kind == "entry"
    assert "run that cell" in finding.message
    repr(graded("\ud800", part(*name.split()))).encode()
