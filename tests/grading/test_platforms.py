"""What Canvas, Moodle and Brightspace export becomes the roster, and comes back as their import with the marks filled in.

The samples are made up, in the forms that the platforms describe: Canvas in "How do I import grades in the Gradebook?" and "How do I export
grades in the Gradebook?", Moodle in "Grade import" and "Grade export", D2L in "Importing grades" (Brightspace).
"""

import codecs
import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.grading.__main__ import main
from course_lib.grading.classroom.collect import collect
from course_lib.grading.classroom.corrections import correct
from course_lib.grading.classroom.enrolment import enrol
from course_lib.grading.classroom.feedback import feedback
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.grades import grades
from course_lib.grading.classroom.imports import Mark, write_imports
from course_lib.grading.classroom.platforms import read_export
from course_lib.grading.classroom.sheets import harmless, read_table, to_csv

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
CANVAS = '''Student,ID,SIS User ID,SIS Login ID,Section,Notes,04 Tiling (4711),05 Coalescing (4712),Assignments Current Score,Final Grade
,,,,,,Manual Posting,,,
    Points Possible,,,,,,100.00,10.00,(read only),(read only)
"Lovelace, Ada",101,M1,ada,"GPU, group 1",,,9.00,90,A
"Babbage, Bob",102,M2,bob,GPU,,55.00,,,
"Charisse, Cyd ""Tula""",103,M3,cyd,GPU,,,,,
"Müller, Anna",105,M5,anna1,GPU,,,,,
"Müller, Anna",106,M6,anna2,GPU,,,,,
"Student, Test",999,,5f0a,GPU,,,,,
'''
MOODLE = '''First name,Last name,ID number,Email address,Assignment: 04_tiling (Real),Assignment: 04_tiling (Feedback),\
Assignment: 04_tiling (Percentage),Course total (Real),Last downloaded from this course
Ada,Lovelace,ada,ada@uni.example,-,,-,12.50,1700000000
Bob,Babbage,bob,bob@uni.example,-,,-,12.50,1700000000
Cyd,Charisse,,cyd@uni.example,-,,-,12.50,1700000000
Anna,Müller,anna1,anna1@uni.example,-,,-,,1700000000
Anna,Müller,anna2,anna2@uni.example,-,,-,,1700000000
'''
BRIGHTSPACE = '''OrgDefinedId,Username,Last Name,First Name,04 Tiling Points Grade <Numeric MaxPoints:20 Weight:5>,04 Tiling Grade Symbol,\
Calculated Final Grade Numerator,End-of-Line Indicator
#M1,#ada,Lovelace,Ada,,,5,#
#M2,#bob,Babbage,Bob,,,5,#
#M3,#cyd,Charisse,Cyd,,,5,#
#M5,#anna1,Müller,Anna,,,5,#
#M6,#anna2,Müller,Anna,,,5,#
'''
SAMPLES = {"canvas": CANVAS, "moodle": MOODLE, "brightspace": BRIGHTSPACE}
RULES = '''zone = "Europe/Vienna"
[due]
04_tiling = 2020-11-20T23:59:00+01:00
[late]
grace_minutes = 15
per_day = 0.1
at_most = 0.5
'''
ENCODINGS = {
    "UTF-8": lambda text: text.encode(), "UTF-8 with a mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "Windows, semicolons": lambda text: separated(text, ";").replace("\n", "\r\n").encode("cp1252"),
    "a line for Excel": lambda text: b"sep=;\r\n" + separated(text, ";").encode(),
    "Excel's Unicode text": lambda text: codecs.BOM_UTF16_LE + separated(text, "\t").replace("\n", "\r\n").encode("utf-16-le"),
    "UTF-16, big end first": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-le"),
}


def separated(text, separator):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator="\n").writerows(csv.reader(io.StringIO(text)))
    return file.getvalue()


@pytest.fixture
def classroom(tmp_path):
    for folder in ("exercises", "solutions"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    made = Classroom(tmp_path)
    write(made.folder / "class.toml", RULES)
    return made


def put(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def roster(classroom):
    return (classroom.folder / "roster.csv").read_text(encoding="utf-8")


def taken(classroom, text, **options):
    return enrol(classroom, put(classroom.root / "export.csv", text), **options)


def graded(classroom, student, points, when="2020-11-20T20:00:00+00:00"):
    """Store a result as grading does: 2, 6 and 2 points at most."""
    write(classroom.submission(student, EXERCISE), "{}")
    write(classroom.submission(student, EXERCISE).with_name("timestamp.txt"), f"{when}\n")
    parts = [{"part": name, "name": name, "points": mine, "maximum": most, "passed": mine == most, "text": "", "kind": "", "told": "",
              "html": ""} for name, mine, most in zip(("stage", "tile", "wide"), points, (2, 6, 2))]
    write(classroom.result(student, EXERCISE), json.dumps(
        {"student": student, "exercise": EXERCISE, "key": "k", "graded": "2020", "points": sum(points), "maximum": 10, "problem": "",
         "notes": [], "parts": parts}))


def imported(classroom, platform):
    return (classroom.folder / f"import_{EXERCISE}_{platform}.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("platform", SAMPLES)
def test_an_export_is_read_however_a_spreadsheet_saved_it(tmp_path, platform, encoding):
    export = read_export(put(tmp_path / "export.csv", ENCODINGS[encoding](SAMPLES[platform])), "export.csv")
    assert export.platform.name == platform
    people = export.people()
    assert [person.name for person in people[3:]] == ["Anna Müller", "Anna Müller"]
    assert [person.surname_first for person in people[:2]] == ["Lovelace, Ada", "Babbage, Bob"]
    assert [person.ids[0] for person in people] == ["ada", "bob", "cyd@uni.example" if platform == "moodle" else "cyd", "anna1", "anna2"]


CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(st.tuples(CELLS, CELLS, st.just("x")), max_size=5), encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
       separator=st.sampled_from(",;\t"))
def test_a_table_that_was_written_is_read_as_it_was(tmp_path_factory, rows, encoding, separator):
    path = put(tmp_path_factory.getbasetemp() / "table.csv", to_csv(("student", "name", "last"), rows, separator).encode(encoding))
    table = read_table(path, "table.csv")
    assert table.header == ("student", "name", "last")
    assert [row.cells for row in table.rows] == [tuple(map(harmless, row)) for row in rows]


@given(text=st.text(st.sampled_from("=+-@＝ab ,;|\t\r\n\"'"), max_size=12) | CELLS)
def test_no_cell_begins_with_a_formula_wherever_a_spreadsheet_cuts_the_line(text):
    written = to_csv(("name", "why"), [(text, text)])
    assert not [piece for piece in re.split("[,;|\t\r\n\"]", written) if re.match(r"\s*[=+\-@＝＋－＠]", piece)]
    assert harmless(harmless(text)) == harmless(text)


def test_a_roster_is_made_from_an_export_and_not_made_twice(classroom):
    lines = taken(classroom, CANVAS)
    assert roster(classroom) == '''student,name,platform
ada,Ada Lovelace,"Lovelace, Ada"
bob,Bob Babbage,"Babbage, Bob"
cyd,"Cyd ""Tula"" Charisse","Charisse, Cyd ""Tula"""
anna1,Anna Müller (anna1),"Müller, Anna 105"
anna2,Anna Müller (anna2),"Müller, Anna 106"
'''
    assert lines[-1] == ("Canvas: 5 students, 5 of them new; they are in grading/roster.csv, and `make grades` fills in "
                         "grading/export_canvas.csv")
    before = roster(classroom)
    assert len(taken(classroom, CANVAS)) == 1
    assert roster(classroom) == before


def test_what_canvas_calls_files_is_whose_they_are_on_the_new_roster(classroom):
    taken(classroom, CANVAS)
    inbox = classroom.root / "inbox"
    inbox.mkdir()
    for name in ("lovelaceada_101", "mülleranna_105", "mülleranna_late_106"):
        put(inbox / f"{name}_77_{EXERCISE}.ipynb", name)
    list(collect(classroom, inbox))
    assert [classroom.submission(student, EXERCISE).read_text() for student in ("ada", "anna1", "anna2")] == [
        "lovelaceada_101", "mülleranna_105", "mülleranna_late_106"]


def test_lines_by_hand_stay_with_their_columns_and_order_and_what_is_empty_is_filled_in(classroom):
    hand = '''name,student,group,platform
"Tutor, the",zoe,9,
Bob B.,bob,2,
,ada,1,
Anna-2,anna2,3,mine
'''
    put(classroom.folder / "roster.csv", hand)
    lines = taken(classroom, CANVAS)
    assert roster(classroom) == '''name,student,group,platform
"Tutor, the",zoe,9,
Bob B.,bob,2,"Babbage, Bob"
Ada Lovelace,ada,1,"Lovelace, Ada"
Anna-2,anna2,3,mine
"Cyd ""Tula"" Charisse",cyd,,"Charisse, Cyd ""Tula"""
Anna Müller (anna1),anna1,,"Müller, Anna 105"
'''
    assert "zoe: is on the roster and not in export.csv; the line stays" in lines
    assert "bob: platform 'Babbage, Bob' filled in" in lines


def test_a_roster_that_has_everybody_is_filled_in_once_and_then_stays_to_the_byte(classroom):
    put(classroom.folder / "roster.csv", "student\nada\nbob\ncyd\nanna1\nanna2\n")
    taken(classroom, CANVAS)
    assert roster(classroom).startswith("student,name,platform\nada,Ada Lovelace,")
    hand = put(classroom.folder / "roster.csv", roster(classroom).replace("\n", "\r\n").replace("bob", '"bob"'))
    before = hand.read_bytes()
    assert len(taken(classroom, CANVAS)) == 1
    assert hand.read_bytes() == before


def test_a_line_by_hand_is_found_by_a_name_that_only_one_student_has(classroom):
    put(classroom.folder / "roster.csv", "student,name\nal,Lovelace Ada\nam,Anna Müller\n")
    taken(classroom, MOODLE)
    assert roster(classroom).splitlines()[:3] == ["student,name,platform", "al,Lovelace Ada,Ada Lovelace", "am,Anna Müller,"]
    assert [line.split(",")[0] for line in roster(classroom).splitlines()[3:]] == ["bob", "cyd@uni.example", "anna1", "anna2"]


def test_a_roster_is_read_however_a_spreadsheet_saved_it(classroom):
    for encode in ENCODINGS.values():
        put(classroom.folder / "roster.csv", encode("student,name,platform\nada,Ada Müller,\nbob,Bob,\n"))
        assert [student.name for student in classroom.roster().values()] == ["Ada Müller", "Bob"]
    put(classroom.folder / "roster.csv", "id,name\nada,Ada\n")
    with pytest.raises(CourseError, match="needs a first line that names its columns"):
        classroom.roster()


def test_namesakes_whose_files_nothing_tells_apart_are_said(classroom):
    assert not [line for line in taken(classroom, CANVAS, dry_run=True) if "several" in line]
    assert ("anna1: several are called 'Anna Müller'; write what the names of their files begin with, such as 'Anna Müller 4711', into "
            "`platform`") in taken(classroom, MOODLE)


@pytest.mark.parametrize("text", [
    "LastName,FirstName,ID,SIS Login ID,Section,04 Tiling (1)\n    Points Possible,,,,,10\nLovelace,Ada,101,ada,GPU,\n",
    "Student,ID,SIS Login ID,Integration ID,Root Account,Section,04 Tiling (1)\n    Points Possible,,,,,,10\n"
    "\"Lovelace, Ada\",101,ada,,u,GPU,\n",
    "Identifier,Full name,Username,Email address,Status,Grade,Maximum grade,Last modified (grade),Feedback comments\n"
    "Participant 101,Ada Lovelace,ada,a@u.example,Submitted,,10,-,\n",
    "Username,04 Tiling Points Grade,Last Name,First Name,End-of-Line Indicator\n#ada,,Lovelace,Ada,#\n"])
def test_other_forms_of_the_exports_are_filled_in_too(classroom, text):
    taken(classroom, text)
    assert roster(classroom).splitlines()[1].startswith("ada,Ada Lovelace,")
    lines = write_imports(classroom, EXERCISE, {"ada": Mark(7.5)}, 10)
    assert ": 1 marks for" in lines[0]
    path, = classroom.folder.glob("import_*")
    again = read_export(path, "import.csv")
    person, = again.people()
    assert person.row.cells[again.marks(EXERCISE, None)] == "7.5"


def test_canvas_own_number_is_nobodys_matriculation_number(classroom):
    put(classroom.folder / "roster.csv", "student,name\n101,Zoe\n")
    assert "101: is on the roster and not in export.csv; the line stays" in taken(classroom, CANVAS)
    assert "\nada,Ada Lovelace," in roster(classroom)


def test_a_dry_run_says_the_same_and_writes_nothing(classroom):
    before = sorted(classroom.folder.iterdir())
    said = taken(classroom, CANVAS, dry_run=True)
    assert sorted(classroom.folder.iterdir()) == before
    assert said[:-1] == taken(classroom, CANVAS)[:-1]


def test_who_has_no_id_is_named_and_the_others_are_taken(classroom, capsys):
    path = put(classroom.root / "export.csv", MOODLE + "Otto,Ohne,,,-,,-,,\n\"Zo\",Zed,\"../zo\",zo@uni.example,-,,-,,\n")
    assert main(["--root", str(classroom.root), "roster", str(path)]) == 1
    assert "NOT ADDED 'Otto Ohne', row 7: has no Username or ID number or Email address that can be an id here" in capsys.readouterr().out
    assert "zo@uni.example,Zo Zed," in roster(classroom)


def test_names_on_the_roster_are_no_formulas(classroom):
    taken(classroom, MOODLE.replace("Ada,Lovelace", "\"=HYPERLINK(\"\"x\"\")\",Lovelace"))
    assert "\nada,\"'=HYPERLINK(" in roster(classroom)


@pytest.mark.parametrize(("text", "told"), [
    ("student,name,platform\nada,Ada,\n", "is no export of a platform that the course knows: its first row must have Student, ID and"),
    ("", "is no export of a platform"), (b"PK\3\4rest", "is a workbook: save it as CSV"), (b"a\0\0b\0\0", "is no text"),
    (CANVAS.replace("Section", "Group"), "from Canvas, has no column Section: export the gradebook anew"),
    (MOODLE.replace("ID number,Email address", "Institution,City"), "has no column Username or ID number or Email address: export anew"),
    (CANVAS.replace("M2,bob", "M2,ADA"), "export.csv: rows 4 and 5 have the same SIS Login ID, 'ada': delete the one that is wrong"),
    (BRIGHTSPACE.replace("#M2", "#M1"), "rows 2 and 3 have the same OrgDefinedId, '#m1'"),
    (CANVAS.replace("M2,bob", "ada,bob2"), "rows 4 and 5 could all be ada of grading/roster.csv"),
    (CANVAS.replace("M1,ada", "zoe,ada"), "row 4, could be ada or zoe of grading/roster.csv"),
    (CANVAS.replace("M2,bob", "M2,a.b").replace("M3,cyd", "M3,ab"), "cannot be told from"),
])
def test_what_cannot_be_taken_is_one_sentence_and_changes_nothing(classroom, capsys, text, told):
    hand = "student,name\nada,\nzoe,\n"
    put(classroom.folder / "roster.csv", hand)
    path = put(classroom.root / "export.csv", text)
    assert main(["--root", str(classroom.root), "roster", str(path)]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1
    assert roster(classroom) == hand
    assert not list(classroom.folder.glob("export_*"))


@pytest.fixture
def class_of_five(classroom):
    """Three platforms' exports; ada has all, bob is a day late, cyd is not graded yet, anna1 got no points, anna2 submitted nothing."""
    for text in SAMPLES.values():
        taken(classroom, text)
    put(classroom.folder / "roster.csv", "student,name,platform\nada,,\nbob,,\ncyd,Cyd Charisse,\nanna1,,\nanna2,,\n")
    graded(classroom, "ada", (2, 6, 2))
    graded(classroom, "bob", (2, 6, 0), "2020-11-21T23:10:00+00:00")
    write(classroom.submission("cyd", EXERCISE), "{}")
    graded(classroom, "anna1", (0, 0, 0))
    return classroom


def test_each_platform_gets_its_own_columns_with_the_marks(class_of_five):
    lines = grades(class_of_five, EXERCISE)
    assert imported(class_of_five, "canvas") == '''Student,ID,SIS User ID,SIS Login ID,Section,04 Tiling (4711)
,,,,,Manual Posting
    Points Possible,,,,,100.00
"Lovelace, Ada",101,M1,ada,"GPU, group 1",100
"Babbage, Bob",102,M2,bob,GPU,64
"Müller, Anna",105,M5,anna1,GPU,0
"Müller, Anna",106,M6,anna2,GPU,0
'''
    assert imported(class_of_five, "brightspace") == '''\
OrgDefinedId,Username,04 Tiling Points Grade <Numeric MaxPoints:20 Weight:5>,End-of-Line Indicator
#M1,#ada,20,#
#M2,#bob,12.8,#
#M5,#anna1,0,#
#M6,#anna2,0,#
'''
    assert imported(class_of_five, "moodle") == '''\
First name,Last name,ID number,Email address,Assignment: 04_tiling (Real),Assignment: 04_tiling (Feedback)
Ada,Lovelace,ada,ada@uni.example,10,stage 2/2; tile 6/6; wide 2/2
Bob,Babbage,bob,bob@uni.example,6.4,"stage 2/2; tile 6/6; wide 0/2. 24.2 hours late: 80 % of the points count \
(10 % less for each day begun, 50 % at most; up to 15 minutes cost nothing)"
Anna,Müller,anna1,anna1@uni.example,0,stage 0/2; tile 0/6; wide 0/2
Anna,Müller,anna2,anna2@uni.example,0,Nothing was submitted.
'''
    said = "\n".join(lines)
    assert "4 marks for '04 Tiling (4711)', out of 100 points, each mark times 10" in said
    assert "out of 10 points; grading/export_moodle.csv does not say what it is worth there, which must be that too" in said
    assert said.count("    not in it: cyd (not graded yet)") == 3


@pytest.mark.parametrize("due", ["2090-11-20T23:59:00+01:00", None])
def test_no_submission_is_no_mark_before_it_was_due(class_of_five, due):
    write(class_of_five.folder / "class.toml", f"[due]\n{EXERCISE} = {due}\n" if due else "")
    said = "\n".join(grades(class_of_five, EXERCISE))
    assert "anna1" in imported(class_of_five, "canvas")
    assert "anna2" not in imported(class_of_five, "canvas")
    assert f"not in it: anna2 (submitted nothing{' yet' if due else ', and class.toml has no due time'})" in said


def test_an_extension_counts_for_the_mark_and_for_who_submitted_nothing(class_of_five):
    times = {"bob": "2020-11-22T00:10:00+01:00", "anna2": "2090-01-01T00:00:00Z"}
    write(class_of_five.folder / "class.toml",
          RULES + "".join(f"[extension.{student}]\n{EXERCISE} = {time}\n" for student, time in times.items()))
    grades(class_of_five, EXERCISE)
    assert "bob,GPU,80\n" in imported(class_of_five, "canvas")
    assert "anna2" not in imported(class_of_five, "canvas")


def test_corrections_by_hand_are_in_the_marks(class_of_five):
    correct(class_of_five, EXERCISE, "anna1", "tile", 3, "=shown at the blackboard", "N. N.")
    correct(class_of_five, EXERCISE, "bob", "wide", 1, "nearly", "N. N.")
    correct(class_of_five, EXERCISE, "anna2", "", 7, "submitted on paper", "N. N.")
    grades(class_of_five, EXERCISE)
    assert [line.rsplit(",", 1)[1] for line in imported(class_of_five, "canvas").splitlines()[-2:]] == ["30", "70"]
    assert "3 points instead of 0, by N. N." in imported(class_of_five, "moodle")
    assert "cost nothing). wide: 1 points instead of 0, by N. N." in imported(class_of_five, "moodle")


def test_who_is_excused_or_has_no_such_assignment_is_left_alone(class_of_five):
    text = CANVAS.replace("bob,GPU,,55.00", "bob,GPU,,EX").replace("anna1,GPU,,,", "anna1,GPU,,N/A,")
    put(class_of_five.folder / "export_canvas.csv", text)
    said = "\n".join(grades(class_of_five, EXERCISE))
    assert "bob" not in imported(class_of_five, "canvas")
    assert "anna1" not in imported(class_of_five, "canvas")
    assert "bob (is excused there)" in said
    assert "anna1 (does not have this assignment there)" in said


def test_an_id_that_is_a_formula_gets_no_row(class_of_five):
    put(class_of_five.folder / "export_canvas.csv", CANVAS.replace("M2,bob", "=M2,bob"))
    said = "\n".join(grades(class_of_five, EXERCISE))
    assert "bob" not in imported(class_of_five, "canvas")
    assert "bob (has an id that a spreadsheet would run as a formula; enter this mark by hand)" in said


def test_a_file_is_written_as_the_platform_writes_them(class_of_five):
    text = separated(MOODLE.replace("12.50", '"12,50"'), ";")
    put(class_of_five.folder / "export_moodle.csv", codecs.BOM_UTF8 + text.encode())
    grades(class_of_five, EXERCISE)
    written = imported(class_of_five, "moodle")
    assert written.startswith("\ufeffFirst name;Last name;")
    assert "bob@uni.example;6,4;" in written
    put(class_of_five.folder / "export_moodle.csv", separated(MOODLE.replace(",ada,", ',"1,2",').replace("12.50", ""), ";"))
    grades(class_of_five, EXERCISE)
    assert "bob@uni.example;6.4;" in imported(class_of_five, "moodle")


def test_only_moodle_does_without_a_column_and_others_say_how_to_get_one(class_of_five):
    for platform, text in SAMPLES.items():
        put(class_of_five.folder / f"export_{platform}.csv", re.sub("04.[Tt]iling", "Homework 4", text))
    lines = grades(class_of_five, EXERCISE)
    assert [line.split(",")[0] for line in lines if line.startswith("nothing")] == ["nothing for Canvas", "nothing for Brightspace"]
    assert imported(class_of_five, "moodle").startswith("First name,Last name,ID number,Email address,04_tiling,04_tiling (Feedback)\n")
    for named, platform in (("Homework 4 (4711)", "canvas"), ("Homework 4 Points Grade <Numeric MaxPoints:20 Weight:5>", "brightspace")):
        write(class_of_five.folder / "class.toml", RULES + f'[columns]\n{EXERCISE} = "{named}"\n')
        lines = grades(class_of_five, EXERCISE)
        assert f",{named}" in imported(class_of_five, platform).splitlines()[0]
        assert sum(line.startswith("NOT WRITTEN") and "has no column 'Homework 4" in line for line in lines) == 2


@pytest.mark.parametrize(("platform", "was", "becomes", "told"), [
    ("canvas", "05 Coalescing", "04 Tiling 2", "has 2 columns that could be 04_tiling, '04 Tiling (4711)', '04 Tiling 2 (4712)': name one"),
    ("canvas", "100.00", "(read only)", "Canvas lets nobody change the column '04 Tiling (4711)'"),
    ("canvas", "M2,bob", "M2,ada", "rows 4 and 5 have the same SIS Login ID"),
    ("brightspace", "Username", "04 Tiling Points Grade", "has 2 columns that could be 04_tiling"),
])
def test_a_file_that_cannot_be_right_is_not_written_and_an_older_one_goes(class_of_five, capsys, platform, was, becomes, told):
    grades(class_of_five, EXERCISE)
    put(class_of_five.folder / f"export_{platform}.csv", SAMPLES[platform].replace(was, becomes))
    assert main(["--root", str(class_of_five.root), "grades", EXERCISE]) == 1
    line, = [line for line in capsys.readouterr().out.splitlines() if line.startswith("NOT WRITTEN")]
    assert told in line
    assert not (class_of_five.folder / f"import_{EXERCISE}_{platform}.csv").exists()
    assert (class_of_five.folder / f"import_{EXERCISE}_moodle.csv").exists()


def test_no_file_is_written_while_nobody_has_a_mark(class_of_five):
    lines = write_imports(class_of_five, EXERCISE, {"ada": Mark(0, "not graded yet")}, 10)
    assert sum(line.endswith("as nobody has a mark for '04 Tiling (4711)'") for line in lines) == 1
    assert not list(class_of_five.folder.glob("import_*"))


STUDENTS = ("ada", "bob", "cyd", "anna1", "anna2")
WORTH = {"canvas": 100, "moodle": 10, "brightspace": 20}


@pytest.fixture(scope="module")
def classroom_of_five(tmp_path_factory):
    """Three platforms' exports and nothing else."""
    made = Classroom(tmp_path_factory.mktemp("class"))
    for platform, text in SAMPLES.items():
        put(made.folder / f"export_{platform}.csv", text)
    put(made.folder / "roster.csv", "student,name\nada,\nbob,\ncyd,Cyd Charisse\nanna1,\nanna2,\n")
    return made


@settings(deadline=None, max_examples=20)
@given(points=st.lists(st.floats(0, 10), min_size=5, max_size=5))
def test_marks_are_read_from_an_import_as_they_were_given_to_half_a_hundredth(classroom_of_five, points):
    classroom = classroom_of_five
    write_imports(classroom, EXERCISE, {student: Mark(mine) for student, mine in zip(STUDENTS, points)}, 10)
    for platform, worth in WORTH.items():
        again = read_export(classroom.folder / f"import_{EXERCISE}_{platform}.csv", "import.csv")
        at = again.marks(EXERCISE, None)
        found = {person.ids[0].split("@")[0]: float(person.row.cells[at]) for person in again.people()}
        assert found == pytest.approx(dict(zip(STUDENTS, (mine * worth / 10 for mine in points))), abs=0.005001)


def pages(classroom):
    return {path.parent.name: re.sub("<[^>]*>", " ", path.read_text(encoding="utf-8")) for path in feedback(classroom, EXERCISE)}


def test_the_page_and_the_table_say_when_it_was_due_when_it_came_and_what_that_costs(class_of_five):
    graded(class_of_five, "anna1", (2, 6, 2), "2020-11-20T23:05:00+00:00")
    write(class_of_five.folder / "class.toml", RULES + f"[extension.ada]\n{EXERCISE} = 2020-11-27T23:59:00+01:00\n")
    told = {name: " ".join(text.split()) for name, text in pages(class_of_five).items()}
    rule = "(10 % less for each day begun, 50 % at most; up to 15 minutes cost nothing)."
    assert "6.4 of 10 points : 8 for the answers, × 0.8 for being late" in told["bob"]
    assert ("due 20 Nov 2020, 23:59:00 CET submitted 22 Nov 2020, 00:10:00 CET late 24.2 hours late: 80 % of the points count "
            + rule) in told["bob"]
    assert "due 27 Nov 2020, 23:59:00 CET (extended for you) submitted 20 Nov 2020, 21:00:00 CET answer" in told["ada"]
    assert "6 minutes late: 100 % of the points count " + rule in told["anna1"]
    assert "10 of 10 points due" in told["anna1"]
    grades(class_of_five, EXERCISE)
    with (class_of_five.folder / f"grades_{EXERCISE}.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert [rows["bob"][column] for column in ("due", "submitted", "hours late", "factor", "grade", "late")] == [
        "2020-11-20 23:59:00+01:00", "2020-11-22 00:10:00+01:00", "24.18", "0.8", "6.4",
        "24.2 hours late: 80 % of the points count " + rule]
    assert rows["ada"]["due"] == "2020-11-27 23:59:00+01:00"
    assert (rows["anna2"]["due"], rows["anna2"]["status"]) == ("2020-11-20 23:59:00+01:00", "missing")


@pytest.mark.parametrize(("rules", "told"), [
    ("[extension.adda]\n04_tiling = 2030-01-01T00:00:00Z\n", "[extension.adda] names nobody"),
    ("[extension.ada@x]\n", "cannot be read"), ("[extension.ada.x]\n04_tiling = 1\n", "'x' is no exercise"),
    ("[extension.ada]\n04_tilling = 2030-01-01T00:00:00Z\n", "'04_tilling' is no exercise"),
    ("[extension]\nada = 2030-01-01T00:00:00Z\n", "needs lines such as 04_tiling"),
    ("[extension.ada]\n04_tiling = 2030-01-01\n", "must be a time with its zone"),
    ("[extension.ada]\n04_tiling = 2019-01-01T00:00:00Z\n", "must be due in [due], and not later than 2019-01-01"),
    ("[extension.ada]\n05_coalescing = 2030-01-01T00:00:00Z\n", "must be due in [due]"),
    ("[late]\nperday = 0.1\n", "[late] has no setting 'perday'; it has grace_minutes, per_day, at_most"),
    ("[late]\nper_day = 10\n", "per_day in [late] must be a number from 0 to 1, and is 10"),
    ("[late]\nper_day = true\n", "must be a number"), ("[late]\ngrace_minutes = '15'\n", "must be a number")])
def test_a_rule_that_cannot_be_meant_is_one_sentence(class_of_five, capsys, rules, told):
    write(class_of_five.folder / "class.toml", RULES.split("[late]")[0] + rules)
    for command in ("grades", "feedback"):
        assert main(["--root", str(class_of_five.root), command, EXERCISE]) == 2
        error = capsys.readouterr().err
        assert told in error
        assert len(error.splitlines()) == 1


@pytest.mark.parametrize("name", ["due", "late", "extension", "columns"])
def test_what_must_be_a_table_and_is_none_is_said(class_of_five, name):
    write(class_of_five.folder / "class.toml", f"{name} = 0.1\n")
    with pytest.raises(CourseError, match=rf"class.toml: {name} must be a table, with \[{name}\] in a line of its own"):
        class_of_five.table(name)
    try:
        said = "\n".join(grades(class_of_five, EXERCISE))
    except CourseError as error:
        said = str(error)
    assert f"{name} must be a table" in said
