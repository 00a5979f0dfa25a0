"""A class in which most cheat or break something: nobody gains a mark, nobody costs another one, everybody is told why.

Every submission of `HOSTILE` is made from the worked solution, so that whatever it does not break would earn marks.
"""

import json
from pathlib import Path

import pytest
import required

from course_lib.grading import judging
from course_lib.grading.classroom import Classroom
from course_lib.grading.feedback import feedback
from course_lib.grading.grade import grade
from course_lib.grading.grades import grades
from course_lib.toolchain import disk

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
SECRET = "the-instructor's-secret"
needs_sandbox = required.bubblewrap


def released():
    """Return the notebook that students get, with the worked solutions in it."""
    nb = json.loads((ROOT / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_text(encoding="utf-8"))
    solved = json.loads((ROOT / f"solutions/{EXERCISE}/{EXERCISE}.ipynb").read_text(encoding="utf-8"))
    sources = {cell["id"]: cell["source"] for cell in solved["cells"]}
    for cell in nb["cells"]:
        if cell["id"].endswith("-answer"):
            cell["source"] = "".join(sources[cell["id"]])
    return nb


def cell_of(nb, name):
    return next(cell for cell in nb["cells"] if cell["id"] == name)


def with_text(change, name="tile-answer"):
    """Return a function that changes one kernel's cell."""
    def make():
        nb = released()
        cell = cell_of(nb, name)
        changed = change(cell["source"])
        assert changed != cell["source"]
        cell["source"] = changed
        return nb

    return make


def before_kernel(text):
    return with_text(lambda source: source.replace("#define BM 16", f"{text}\n#define BM 16", 1))


def in_kernel(text):
    """Return a submission whose kernel does something first."""
    return with_text(lambda source: source.replace("    float acc = 0.0f;", f"    {text}\n    float acc = 0.0f;", 1))


def changed(change):
    """Return a function that changes the notebook."""
    def make():
        nb = released()
        return change(nb) or nb

    return make


def duplicated(nb):
    nb["cells"].append(json.loads(json.dumps(cell_of(nb, "tile-answer"))) | {"id": "again"})


def deleted(nb):
    nb["cells"].remove(cell_of(nb, "tile-answer"))


def split(nb):
    cell = cell_of(nb, "tile-answer")
    first, second = cell["source"][:400], cell["source"][400:]
    cell["source"] = first
    nb["cells"].insert(nb["cells"].index(cell) + 1, json.loads(json.dumps(cell)) | {"id": "rest", "source": second})


def points_raised(nb):
    cell_of(nb, "tile-check")["metadata"]["nbgrader"]["points"] = 600
    cell_of(nb, "tile-answer")["source"] = cell_of(nb, "tile-answer")["source"].replace("+= As[ty]", "-= As[ty]")


def checker_replaced(nb):
    cell_of(nb, "setup")["source"] = "class V:\n    passed = True\n    def require(self): pass\ncheck = lambda *a, **k: V()\npart = print"
    cell_of(nb, "tile-check")["source"] = "pass"
    cell_of(nb, "tile-answer")["source"] = cell_of(nb, "tile-answer")["source"].replace("+= As[ty]", "-= As[ty]")


def ids_swapped(nb):
    one, other = (cell_of(nb, name)["metadata"]["nbgrader"] for name in ("stage-answer", "tile-answer"))
    one["grade_id"], other["grade_id"] = other["grade_id"], one["grade_id"]


def marks_lost(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {}


def broken_metadata(nb):
    for cell in nb["cells"]:
        cell["metadata"] = ["nbgrader"] if cell["id"] != "tile-answer" else {"nbgrader": 7}


# 2^40 templates: the compiler would never end
BOMB = """template<int N, long long M> struct T { static constexpr long long v = T<N-1, 2*M>::v + T<N-1, 2*M+1>::v; };
template<long long M> struct T<0, M> { static constexpr long long v = M; };
__device__ long long w = T<40, 1>::v;"""
FILE = "SECRET_FILE"       # stands for a file of the instructor's, which each test makes
# name -> (submission, points of 10, words that its author must read). Part 2 has 6 points, and it is the one that is attacked.
HOSTILE = {
    "endless_kernel": (in_kernel("for (volatile int i = 0; i < 1; ) {}"), 4, "endless"),
    "endless_compilation": (before_kernel(BOMB), 4, ""),
    "includes_a_file": (before_kernel(f'#include "{FILE}"'), 4, "cannot open source file"),
    "includes_by_digraph": (before_kernel(f'%:include "{FILE}"'), 4, "cannot open source file"),
    "includes_by_splice": (before_kernel(f'#inc\\\nlude "{FILE}"'), 4, "cannot open source file"),
    "includes_by_macro": (before_kernel(f'#define WHERE "{FILE}"\n#include WHERE'), 4, "cannot open source file"),
    "includes_its_memory": (before_kernel('%:include "/proc/self/environ"'), 4, "cannot open source file"),
    "includes_a_device": (before_kernel('%:include "/dev/zero"'), 4, "cannot open source file"),
    "includes_the_library": (before_kernel('%:include "/course/course_lib/grading/checks.py"'), 4, "cannot open source file"),
    "asks_for_a_file": (before_kernel(f'#if __has_include("{FILE}")\n#error found it\n#endif'), 10, "passed"),
    "prints_without_end": (in_kernel('for (int i = 0; i < 1000000; ++i) printf("%d and more and more and more\\n", i);'), 4, "endless"),
    "huge_error": (before_kernel("#error " + 90_000 * "x"), 4, "xxx"),
    "huge_text": (before_kernel("//" + 200_000 * "x"), 4, "characters"),
    "wrong_name": (with_text(lambda source: source.replace("\ntiled(", "\ntilde(")), 4, "the kernels in it: tilde"),
    "nothing_in_the_cell": (with_text(lambda source: ""), 4, "missing"),
    "python_in_the_cell": (with_text(lambda source: "import os\nos._exit(0)"), 4, "begins with %%cuda"),
    "magic_of_the_shell": (with_text(lambda source: "%%bash\nrm -rf ~"), 4, "begins with %%cuda"),
    "ptx_second_kernel": (in_kernel('asm volatile("ret; } .visible .entry tiled() { ret;");'), 4, "tiled"),
    "ptx_reads_anywhere": (in_kernel('int x; asm volatile("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(140737488355328ll));'),
                           4, "out of bounds"),
    "ptx_writes_anywhere": (in_kernel('asm volatile("st.global.s32 [%0], 1;" :: "l"(4096ll));'), 4, "out of bounds"),
    "ptx_trap": (in_kernel('asm volatile("trap;");'), 4, ""),
    "ptx_includes": (in_kernel(f'asm volatile(".include \\"{FILE}\\"");'), 4, ""),
    "local_memory": (in_kernel("volatile char big[1 << 29]; big[threadIdx.x] = 1;"), 4, ""),
    "allocates": (in_kernel("for (int i = 0; i < 100000; ++i) *(volatile char*)malloc(1 << 20) = 1;"), 4, ""),
    "constructor": (before_kernel("__attribute__((constructor)) void before() {}"), 4, ""),
    "lone_surrogate": (before_kernel("// \ud800"), 4, "surrogates"),
    "nul_character": (before_kernel("// \0"), 4, "NUL"),
    "html_in_the_kernel": (before_kernel("#error <script>alert(1)</script>"), 4, "error"),
    "broken_json": (lambda: json.dumps(released())[:-20].encode(), 0, "no notebook"),
    "deep_json": (lambda: b"[" * 200_000, 0, "no notebook"),
    "no_cells": (lambda: {"cells": {"nbgrader": 1}}, 0, "format 4"),
    "a_picture": (lambda: bytes(range(256)) * 50, 0, "no notebook"),
    "enormous_file": (lambda: b" " * (21 << 20), 0, "MB"),
    "in_utf_16": (lambda: json.dumps(released(), ensure_ascii=False).encode("utf-16"), 10, "utf-16"),
    "in_latin_1": (lambda: json.dumps(released()).replace("Exercise 04", "Übung 04", 1).encode("latin-1"), 10, "latin-1"),
    "deleted_cell": (changed(deleted), 4, "missing"),
    "duplicated_cell": (changed(duplicated), 10, ""),
    "split_cell": (changed(split), 4, "compile"),
    "swapped_ids": (changed(ids_swapped), 2, "entry"),
    "marks_lost": (changed(marks_lost), 10, "found by its first line"),
    "broken_metadata": (changed(broken_metadata), 10, "found by its first line"),
    "points_raised": (changed(points_raised), 4, "wrong"),
    "checker_replaced": (changed(checker_replaced), 4, "wrong"),
}
HONEST = {"honest_ada": (released, 10, "passed"), "honest_grace": (with_text(lambda s: s.replace("16", "32")), 10, "passed"),
          "mistaken": (with_text(lambda s: s.replace("k0 + k < K && col < N", "row < M && col < N")), 4, "")}


def hand_in(classroom, student, make, secret):
    """Write a submission into its place."""
    made = make()
    data = made if isinstance(made, bytes) else json.dumps(made).encode()
    path = classroom.submission(student, EXERCISE)
    path.parent.mkdir(parents=True)
    path.write_bytes(data.replace(FILE.encode(), str(secret).encode()))


@pytest.fixture
def classroom(tmp_path):
    """Return a class of its own, in a folder that has the course's exercise."""
    for folder in ("exercises", "solutions"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    return Classroom(tmp_path)


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(f"{SECRET}\n", encoding="utf-8")
    return path


def told(result):
    return "\n".join([result["problem"], *result["notes"], *(f"{part['kind']} {part['told']}" for part in result["parts"])])


@needs_sandbox
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_nobody_gains_nobody_loses_everybody_is_told(classroom, secret):
    everybody = HOSTILE | HONEST
    for student, (make, *_) in everybody.items():
        hand_in(classroom, student, make, secret)
    other = classroom.submission("links_to_another", EXERCISE)
    other.parent.mkdir(parents=True)
    other.symlink_to(classroom.submission("honest_ada", EXERCISE))
    folder = classroom.submission("links_its_folder", EXERCISE).parent
    folder.parent.mkdir()
    folder.symlink_to(classroom.submission("honest_ada", EXERCISE).parent)
    classroom.submission("handed_in_nothing", EXERCISE).parent.mkdir(parents=True)
    results = grade(classroom, EXERCISE, seconds=45, quiet=True)
    everybody |= {"links_to_another": (None, 0, "link"), "links_its_folder": (None, 0, "link"),
                  "handed_in_nothing": (None, 0, "there is no")}
    got = {student: results[student]["points"] for student in everybody}
    assert got == {student: points for student, (_, points, _) in everybody.items()}
    unclear = {student: told(results[student]) for student, (*_, words) in everybody.items() if words not in told(results[student])}
    assert not unclear
    assert SECRET not in json.dumps(results)
    assert {path.name for path in classroom.root.iterdir()} == {"exercises", "solutions", "grading", "secret.txt"}
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in feedback(classroom, EXERCISE)}
    assert pages.keys() == everybody.keys()
    assert not [name for name, page in pages.items() if "<script" in page or "drawn input" in page or str(classroom.seed()) in page]
    grades(classroom, EXERCISE)
    table = (classroom.folder / f"grades_{EXERCISE}.csv").read_text(encoding="utf-8")
    assert len(table.splitlines()) == len(everybody) + 1


@needs_sandbox
def test_the_compiler_sees_no_file_and_the_other_parts_are_judged(secret):
    texts = {cell["id"].removesuffix("-answer"): cell["source"].partition("\n")[2]
             for cell in released()["cells"] if cell["id"].endswith("-answer")}
    texts["tile"] = f'%:include "{secret}"\n{texts["tile"]}'
    texts["wide"] = f'%:include "/course/course_lib/grading/checks.py"\n{texts["wide"]}'
    cache = disk.cache_folder().parent
    cache.mkdir(parents=True, exist_ok=True)
    results = judging.judge(texts, EXERCISE, seed=7, cache=cache.resolve())
    assert {name: result["passed"] for name, result in results.items()} == {"stage": True, "tile": False, "wide": False}
    assert all("cannot open source file" in results[name]["told"] for name in ("tile", "wide"))
    assert SECRET not in str(results)
