"""A class in which most cheat or break something, graded as a whole; and the table of what happened to each in docs/grading.md.

`python -m tools page hostile` writes the table, `test_hostile.py` holds it.
"""

import hashlib
import io
import json
import stat
import zipfile

from hostile_answers import ANSWERS
from hostile_kernels import KERNELS, NOTEBOOKS
from hostile_notebook import CLASS, EXERCISE, FILE, PARTS, ROOT, Case, released, solved, with_text

from course_lib.grading.classroom.collect import collect
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.registry import all_parts

SECRET, OTHERS_SECRET, SOLUTIONS_SECRET = "the-instructor's-secret", "ada's-own-words", "how-the-worked-solution-goes"
HONEST = {
    "honest_ada": Case("nothing: right", with_text(lambda source: source.replace("// of C", f"// {OTHERS_SECRET}", 1)), 10, "passed"),
    "honest_grace": Case("nothing: right, with another tile", with_text(lambda source: source.replace("16", "32")), 10, "passed"),
    "mistaken": Case("nothing: a guard forgotten", with_text(lambda source: source.replace("k0 + k < K && col < N", "row < M && col < N")), 4),
}
FOLDERS = {
    "links_to_another": Case("a link to another student's notebook", lambda nb: None, 0, "link"),
    "links_its_folder": Case("a link to another student's folder", lambda nb: None, 0, "link"),
    "handed_in_nothing": Case("an empty folder", lambda nb: None, 0, "there is no"),
}
ARCHIVES = {                 # what a zip file holds -> words with which it is not taken
    "leads_out": ("a path that leads out of its archive", "../../{}.ipynb", "leads out of the archive"),
    "absolute": ("an absolute path in an archive", "/tmp/{}.ipynb", "leads out of the archive"),
    "link": ("a link in an archive", "link/{}.ipynb", "is a link"),
    "swollen": ("30 MB packed into 30 KB", "swollen/{}.ipynb", "30 MB"),
}
GROUPS = {"The notebook": NOTEBOOKS, "Files and folders": FOLDERS, "The kernel": KERNELS, "The Python function": ANSWERS, "Honest ones, in the same batch": HONEST}
EVERYBODY = {name: case for group in GROUPS.values() for name, case in group.items()}


def enrol(patch=None):
    """Make the exercise known to this process; `patch.setitem` when it is to be undone."""
    for spec in PARTS:
        key = spec.exercise, spec.part
        patch.setitem(all_parts(), key, spec) if patch else all_parts().__setitem__(key, spec)


def classroom_in(folder):
    """Return a class in an empty folder, with the exercise, its solution, everybody's submissions, and secrets all around them."""
    classroom = Classroom(folder)
    for name, nb in (("exercises", released()), ("solutions", solved())):
        if name == "solutions":
            nb["cells"].append({"cell_type": "markdown", "id": "note", "metadata": {}, "source": SOLUTIONS_SECRET})
        (folder / name / EXERCISE).mkdir(parents=True)
        (folder / name / EXERCISE / f"{EXERCISE}.ipynb").write_text(json.dumps(nb), encoding="utf-8")
    for path in (folder / "secret.txt", classroom.folder / "gradebook.db"):
        path.write_text(f"{SECRET}\n", encoding="utf-8")
    for student, case in EVERYBODY.items():
        if student not in FOLDERS:
            hand_in(classroom, EXERCISE, student, case, solved())
    for name in FOLDERS:
        make_folder(classroom, EXERCISE, name, name, "honest_ada")
    return classroom


def hand_in(classroom, exercise, student, case, nb):
    """Write a submission that a case makes of a right one, and the files beside it."""
    made = case.make(nb)
    data = made if isinstance(made, bytes) else json.dumps(made).encode()
    path = classroom.submission(student, exercise)
    path.parent.mkdir(parents=True)
    path.write_bytes(_placed(data, classroom))
    for name, text in case.files.items():
        (path.parent / name).parent.mkdir(exist_ok=True)
        (path.parent / name).write_text(text, encoding="utf-8")


def _placed(data, classroom):
    return data.replace(FILE.encode(), str(classroom.root / "secret.txt").encode()).replace(CLASS.encode(), str(classroom.root).encode())


def make_folder(classroom, exercise, name, student, other):
    """Write a submission of `FOLDERS` that is none, or is the `other` student's."""
    path, others = (classroom.submission(who, exercise) for who in (student, other))
    if name == "links_its_folder":
        path.parent.parent.mkdir(parents=True)
        path.parent.symlink_to(others.parent)
        return
    path.parent.mkdir(parents=True)
    if name == "links_to_another":
        path.symlink_to(others)


def collected(classroom, folder):
    """Return name -> the lines that collecting a hostile archive gives."""
    found = {}
    for name, (_, path, _) in ARCHIVES.items():
        member = zipfile.ZipInfo(path.format(EXERCISE))
        member.compress_type = zipfile.ZIP_DEFLATED
        if name == "link":
            member.external_attr = (stat.S_IFLNK | 0o777) << 16
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as file:
            file.writestr(member, bytes(30 << 20) if name == "swollen" else "/etc/passwd")
        (folder / f"{name}.zip").write_bytes(data.getvalue())
        found[name] = list(collect(classroom, folder / f"{name}.zip"))
    return found


def checksum(*folders):
    """Return a hash of all files, links and names in folders; results, and what Python and translation keep, aside."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if "__pycache__" in parts or parts[:2] in (("grading", "results"), ("grading", "cache"), ("grading", "feedback")):
                continue
            content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
            digest.update(repr((parts, oct(path.lstat().st_mode), hashlib.sha256(content).hexdigest())).encode())
    return digest.hexdigest()


def kept_alone(classroom):
    """Return the checksum of all that no submission may change: the class, and the course itself."""
    return checksum(classroom.root, ROOT / "course_lib", ROOT / "solutions", ROOT / "exercises", ROOT / "tests")


def told(result):
    """Return everything that a student reads of a result."""
    return "\n".join([result["problem"], *result["notes"], *(f"{part['kind']} {part['told']}" for part in result["parts"])])


def surprises(results):
    """Return a line for each submission with other points than it must have, or whose author does not read why."""
    return [f"{name}: {results[name]['points']} instead of {case.points}: {told(results[name])}" for name, case in EVERYBODY.items()
            if results[name]["points"] != case.points or case.says not in told(results[name])]


def table(results, lines):
    """Return what happened to each as Markdown."""
    rows = [f"{len(EVERYBODY) + len(ARCHIVES)} submissions, of which {len(HONEST)} are honest; points are out of 10, 4 for the function and "
            "6 for the kernel."]
    for title, cases in GROUPS.items():
        rows += ["", f"**{title}**", "", "| tries | points | is told |", "|---|---|---|"]
        rows += [f"| {_cut(case.tries)} | {results[name]['points']:g} | {_reason(results[name])} |" for name, case in cases.items()]
        if title == "Files and folders":
            rows += [f"| {tries} | – | not taken: {words} |" for name, (tries, _, words) in ARCHIVES.items() if words in "".join(lines[name])]
    return "\n".join(rows)


def _reason(result):
    failed = [f"{part['part']}: {part['kind']}" for part in result["parts"] if not part["passed"]]
    if result["problem"]:
        return _cut(result["problem"].split(":")[0].split(";")[0])
    return "; ".join(failed) or ("passed, with a note" if result["notes"] else "passed")


def _cut(words):
    return words.replace("|", "\\|")
