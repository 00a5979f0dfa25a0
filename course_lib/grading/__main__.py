"""The instructor's commands, `python -m course_lib.grading`: from the release to grades, the class at a glance and the exchange."""

import argparse
import contextlib
import getpass
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.errors import CourseError, require
from course_lib.grading.classroom import workers
from course_lib.grading.classroom.collect import collect, demand_source
from course_lib.grading.classroom.corrections import correct
from course_lib.grading.classroom.enrolment import enrol
from course_lib.grading.classroom.feedback import feedback
from course_lib.grading.classroom.folders import Classroom, demand_exchange, write
from course_lib.grading.classroom.generate import drift
from course_lib.grading.classroom.grade import grade
from course_lib.grading.classroom.grades import grades
from course_lib.grading.classroom.release import demand_target, release, tracked
from course_lib.grading.inventory import answers
from course_lib.grading.inventory.form import PHASES, form
from course_lib.grading.inventory.questions import load
from course_lib.grading.overview.writing import overview
from course_lib.grading.sandbox.sandboxed import SECONDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(_look_first(options), options)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; what was finished is stored, and the same command goes on from there", file=sys.stderr)
        return 130


def _look_first(options):
    """Return the class, or say which argument is wrong: before anything slow, and before what this machine lacks.

    Raises
    ------
    CourseError
        When there is no such repository, exercise, source, exchange or scheduler's address, or a file that cannot be written.
    """
    classroom, given = Classroom(options.root.resolve()), vars(options)
    classroom.demand_repository()
    if given.get("exercise") is not None:
        classroom.solved(options.exercise)
    for name, demand in (("source", demand_source), ("exchange", demand_exchange), ("to", demand_target), ("dask", workers.demand_address)):
        if given.get(name) is not None:
            demand(given[name])
    return classroom


def _parser():
    parser = argparse.ArgumentParser(prog="python -m course_lib.grading", description=__doc__)
    parser.add_argument("--root", type=_path, default=Path(), help="the repository (default: the current folder)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    packs = _command(commands, "release", _release, "pack what students get into a zip file")
    packs.add_argument("--to", type=_path, default=Path("build/warp-by-warp.zip"), help="default: build/warp-by-warp.zip")
    enrols = _command(commands, "roster", _roster, "take the roster from an export of Canvas, Moodle or Brightspace; `grades` fills it in")
    enrols.add_argument("export", type=_path, help="the gradebook that the platform exported, a CSV file")
    enrols.add_argument("--dry-run", action="store_true", help="say what would change, and change nothing")
    gathers = _command(commands, "collect", _collect, "put what a learning platform gave into grading/submitted")
    gathers.add_argument("source", type=_path, help="a folder, a zip file or a notebook")
    gathers.add_argument("--exercise", help="for files whose path names none")
    grades_all = _command(commands, "grade", _grade, "grade every submission of an exercise", exercise=True)
    grades_all.add_argument("--unsafe", action="store_true", help="grade without a sandbox where bubblewrap is missing")
    grades_all.add_argument("--seconds", type=_seconds, default=SECONDS, help="limit for each part (default: %(default)s)")
    grades_all.add_argument("--dask", metavar="ADDRESS", help="grade on the workers of this Dask scheduler, such as tcp://127.0.0.1:8786")
    changes = _command(commands, "correct", _correct, "change a student's points by hand; grading anew leaves them", exercise=True)
    changes.add_argument("student", help="as in grading/submitted and on the roster")
    changes.add_argument("--part", default="", help="of the exercise (default: all of it)")
    changes.add_argument("--points", type=float, help="what it is worth (default: what grading gives, which takes a correction back)")
    changes.add_argument("--why", default="", help="the reason, which the student reads")
    changes.add_argument("--by", help="who decided (default: your account's name)")
    _command(commands, "feedback", _feedback, "write a page for each student", exercise=True)
    _command(commands, "grades", _grades, "write the table of grades, what platforms import, and the report of similar kernels",
             exercise=True)
    shows = _command(commands, "class", _class, "write the class at a glance: who passed what, what was found, what it may show")
    shows.add_argument("--names", action="store_true", help="write a second page, which names students; it is not for a projector")
    _command(commands, "questions", _questions, "write the pages with twelve questions, to be answered before and after the course")
    takes = _command(commands, "answers", _answers, "put the answers to the twelve questions into grading/questions")
    takes.add_argument("source", type=_path, help="a folder, a zip file or a file that the page saved")
    for name, run, words in (("hand-out", _hand_out, "put an exercise into nbgrader's exchange"),
                             ("hand-back", _hand_back, "put the pages of feedback into nbgrader's exchange")):
        _command(commands, name, run, words, exercise=True).add_argument("exchange", type=_path, help="the exchange's folder")
    return parser


def _command(commands, name, run, words, exercise=False):
    command = commands.add_parser(name, help=words, description=words)
    command.set_defaults(run=run)
    if exercise:
        command.add_argument("exercise", help="for example 04_tiling")
    return command


def _path(text):
    """Return a path; an empty one would be the current folder, which nobody meant."""
    if not text:
        raise argparse.ArgumentTypeError("it is empty, and must name a file or a folder")
    return Path(text)


def _seconds(text):
    """Return a time limit."""
    seconds = float(text)
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"{text} must be a positive number of seconds")
    return seconds


def _release(classroom, options):
    variant = classroom.variant
    tracked(classroom.root)
    if drift(classroom.root):
        raise CourseError("nothing was packed: exercises/ is not what solutions/ gives; run `make exercises`")
    names = release(classroom.root, options.to, variant)
    print(f"{options.to}: {len(names)} files, {options.to.stat().st_size / 1e6:.1f} MB, exercises of variant {variant}")
    return 0


def _roster(classroom, options):
    lines = enrol(classroom, options.export, options.dry_run)
    print("\n".join(lines))
    return int(any(line.startswith("NOT ADDED") for line in lines))


def _collect(classroom, options):
    lines = list(collect(classroom, options.source, options.exercise))
    print("\n".join(lines) or f"{options.source} holds no notebook")
    return int(not lines or any(line.startswith("NOT TAKEN") for line in lines))


def _grade(classroom, options):
    with workers.dask(options.dask, unsafe=options.unsafe) if options.dask else contextlib.nullcontext() as executor:
        results = grade(classroom, options.exercise, executor=executor, unsafe=options.unsafe, seconds=options.seconds)
    print(f"{len(results)} submissions are graded; next: make feedback, make grades")
    return 0


def _correct(classroom, options):
    made = correct(classroom, options.exercise, options.student, options.part, options.points, options.why,
                   getpass.getuser() if options.by is None else options.by)
    print(f"{made.student}, {made.part or made.exercise}: {made.points or 'the graded'} points; grading/corrections.csv says so. "
          "Next: make feedback, make grades")
    return 0


def _feedback(classroom, options):
    pages = list(feedback(classroom, options.exercise))
    print(f"{len(pages)} pages in {pages[0].parent.parent}")
    return 0


def _grades(classroom, options):
    lines = grades(classroom, options.exercise)
    print("\n".join(lines))
    return int(any(line.startswith("NOT WRITTEN") for line in lines))


def _class(classroom, options):
    print("\n".join(overview(classroom, options.names)))
    return 0


def _questions(classroom, _):
    inventory = load(classroom.root)
    for phase in PHASES:
        path = classroom.folder / f"questions_{phase}.html"
        write(path, form(inventory, phase))
        print(f"{path}: give it to students {PHASES[phase]}")
    return 0


def _answers(classroom, options):
    lines = list(answers.collect(classroom, options.source, load(classroom.root)))
    print("\n".join(lines) or f"{options.source} holds no file of answers")
    return int(not lines or any(line.startswith("NOT TAKEN") for line in lines))


def _exchange():
    """Return the module that uses nbgrader, which the other commands do without."""
    require("The exchange", "nbgrader")
    from course_lib.grading.classroom import exchange
    return exchange


def _hand_out(classroom, options):
    print(f"{_exchange().hand_out(classroom, options.exercise, options.exchange)}: students can fetch it")
    return 0


def _hand_back(classroom, options):
    lines = list(_exchange().hand_back(classroom, options.exercise, options.exchange))
    print("\n".join(lines))
    return int(any("NOT" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
