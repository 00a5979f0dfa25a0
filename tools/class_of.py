"""Grade a made-up class, and tell what that took.

Its submissions of one exercise are honest, wrong, hostile and late ones.

The class is made in a temporary folder, or in `--folder`, where the same command goes on after an interruption. It is graded by the
instructor's own commands. The exit status is 1 when somebody did not get the marks that they must get, by points or after being late.
"""

import collections
import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import psutil

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import Classroom, read_notebook, write
from tools import ROOT, from_tests

class_members, hostile_class = from_tests("grading", "class_members"), from_tests("grading", "hostile_class")

SECRET = "what-nobody-may-read"
DUE = datetime(2030, 11, 20, 22, 59, tzinfo=UTC)
RULES = """[due]
{} = 2030-11-20T23:59:00+01:00
[late]
grace_minutes = 15
per_day = 0.1
at_most = 0.5
"""
LATE = {-30: 1, -1: 1, 0.1: 1, 3: 0.9, 30: 0.8, 300: 0.5}          # hours after it was due -> what is left of the points


@dataclass
class Peak:
    """The largest resident memory seen, in bytes: of one process outside the sandboxes, of all of those, of everything."""

    one: int = 0
    trusted: int = 0
    everything: int = 0
    processes: int = 0

    def look(self, process: int) -> None:
        """Count a process and all below it; a page that several of them share counts for each."""
        trusted: list[int] = []
        boxed: list[int] = []
        for found, inside in _tree(process):
            (boxed if inside else trusted).append(found)
        self.one = max(self.one, *trusted, 0)
        self.trusted = max(self.trusted, sum(trusted))
        self.everything = max(self.everything, sum(trusted) + sum(boxed))
        self.processes = max(self.processes, len(trusted) + len(boxed))


def _tree(process: int) -> Iterator[tuple[int, bool]]:
    """Yield (resident bytes, whether it is below a bwrap) of a process and all below it; those that end meanwhile are left out."""
    try:
        below = psutil.Process(process).children(recursive=True)
    except psutil.NoSuchProcess:
        return
    boxes = set()
    for found in [psutil.Process(process), *below]:
        try:
            inside = found.name() == "bwrap" or found.ppid() in boxes
            if inside:
                boxes.add(found.pid)
            yield found.memory_info().rss, inside
        except psutil.Error:
            continue


@dataclass
class Measured:
    """What the commands took."""

    seconds: dict = field(default_factory=dict)
    peak: Peak = field(default_factory=Peak)


def make(classroom: Classroom, exercise: str, members: Sequence[Any], missing: int) -> None:
    """Write a class: submissions with their times, the roster with `missing` more students, the rules, and a secret."""
    for name in ("exercises", "solutions"):
        if not (classroom.root / name).exists():
            (classroom.root / name).symlink_to(ROOT / name)
    write(classroom.root / "secret.txt", SECRET)
    write(classroom.folder / "gradebook.db", SECRET)
    write(classroom.folder / "class.toml", RULES.format(exercise))
    students = [*(member.student for member in members), *(f"missing{i + 1}" for i in range(missing))]
    write(classroom.folder / "roster.csv", "student,name\n" + "".join(f"{name},The {name}\n" for name in students))
    honest = next(member.student for member in members if member.kind == "honest")
    for member in members:
        path = classroom.submission(member.student, exercise)
        if os.path.lexists(path.parent):
            continue
        if member.what in hostile_class.FOLDERS:
            hostile_class.make_folder(classroom, exercise, member.what, member.student, honest)
        else:
            hostile_class.hand_in(classroom, exercise, member.student, member.case, member.notebook)
        if not path.parent.is_symlink():
            write(path.with_name("timestamp.txt"), f"{(DUE + timedelta(hours=member.hours)).isoformat()}\n")


def run(classroom: Classroom, words: Sequence[str], measured: Measured) -> None:
    """Run one of the instructor's commands, its lines into a file; look at its memory meanwhile.

    Raises
    ------
    CourseError
        When it fails.
    """
    command, begin = words[0], time.monotonic()
    log = classroom.root / f"{command}.log"
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen([sys.executable, "-m", "course_lib.grading", "--root", str(classroom.root), *words],
                                   cwd=ROOT, stdout=file, start_new_session=True)
        try:
            while process.poll() is None:
                measured.peak.look(process.pid)
                time.sleep(0.2)
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGINT)          # as Ctrl-C would: it keeps what is finished
            process.wait()
            raise
    measured.seconds[command] = time.monotonic() - begin
    if process.returncode:
        raise CourseError(f"`{command}` ended with {process.returncode}:\n{log.read_text(encoding='utf-8')[-2000:]}")


def odd(classroom: Classroom, exercise: str, members: Sequence[Any], missing: int) -> list[str]:
    """Return a line for each student who did not get what they must get, and for whatever else is not as it must be."""
    with (classroom.folder / f"grades_{exercise}.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    lines = [] if len(rows) == len(members) + missing else [f"the table of grades has {len(rows)} rows"]
    for member in members:
        row = rows.get(member.student, collections.defaultdict(lambda: "none"))
        must = (member.points, round(member.points * member.factor, 4))
        if (_number(row["points"]), _number(row["grade"])) != must:
            lines.append(f"{member.student}, {member.kind}, {member.what}: points and grade {row['points']}, {row['grade']} instead of "
                         f"{must[0]}, {must[1]} ({row['status']}; {row['parts']}; {row['note']})")
        if not classroom.feedback(member.student, exercise).exists():
            lines.append(f"{member.student}: no page of feedback")
    lines += [f"{name} is missing and has {row['status']}, {row['grade']}" for name, row in rows.items()
              if name.startswith("missing") and (row["status"], row["grade"]) != ("missing", "0")]
    written = [path for folder in ("results", "feedback") for path in (classroom.folder / folder).rglob("*") if path.is_file()]
    lines += [f"{path}: holds a file's secret" for path in written if SECRET in path.read_text(encoding="utf-8")]
    return lines


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def table(classroom: Classroom, exercise: str, members: Sequence[Any], measured: Measured) -> str:
    """Return how many of each kind ended how, as Markdown."""
    ends = collections.defaultdict(collections.Counter)
    for member in members:
        result = json.loads(classroom.result(member.student, exercise).read_text(encoding="utf-8"))
        share = result["points"] / result["maximum"]
        end = "not graded" if not result["key"] else "full marks" if share == 1 else "some marks" if share else "no marks"
        ends[member.kind][end] += 1
    columns = ("full marks", "some marks", "no marks", "not graded")
    rows = ["| kind | submissions | " + " | ".join(columns) + " |", "|---|" + 5 * "---:|"]
    rows += [f"| {kind} | {sum(counts.values())} | {' | '.join(str(counts[end]) for end in columns)} |" for kind, counts in ends.items()]
    peak, minutes, now = measured.peak, measured.seconds["grade"] / 60, len(members) - graded_before(classroom)
    return "\n".join([
        *rows, "",
        f"{len(members)} submissions of {exercise}, {sum(member.factor < 1 for member in members)} late; {os.cpu_count()} CPU cores",
        f"grade     {minutes:.1f} min for {now} of them, {now / minutes:.1f} submissions/min, the instructor's own solution first",
        *(f"{name:<9} {measured.seconds[name]:.1f} s" for name in ("feedback", "grades")),
        f"memory    {peak.one >> 20} MiB the largest process that grades, {peak.trusted >> 20} MiB all of those, "
        f"{peak.everything >> 20} MiB with the sandboxes, {peak.processes} processes at most",
        "          (resident, looked at five times a second; pages that processes share count for each)"])


def graded_before(classroom: Classroom) -> int:
    """Return how many results an earlier run, interrupted, had already."""
    found = re.search(r"^(\d+) results are stored", (classroom.root / "grade.log").read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0


def enrolled(exercise: str, count: int, seed: int) -> list[Any]:
    """Return the class: `class_members.members`, each in time or late."""
    rng = random.Random(f"late {seed}")
    found = class_members.members(exercise, count, seed)
    hours = [rng.choice(list(LATE)) if member.what not in hostile_class.FOLDERS else -1 for member in found]
    return [replace(member, hours=late, factor=LATE[late]) for member, late in zip(found, hours)]


def grade_class(folder: Path, exercise: str, count: int, seed: int, dask: str | None = None) -> tuple[str, list[str]]:
    """Make, grade (with `dask`, on that scheduler's workers) and look at a class; return what to print, and what is not as it must be."""
    classroom, missing = Classroom(folder), count // 20
    read_notebook(ROOT / "solutions", exercise)                     # says which exercises there are, when there is no such
    members = enrolled(exercise, count, seed)
    make(classroom, exercise, members, missing)
    measured = Measured()
    for words in (["grade", exercise, *(["--dask", dask] if dask else [])], ["feedback", exercise], ["grades", exercise]):
        run(classroom, words, measured)
    return table(classroom, exercise, members, measured), odd(classroom, exercise, members, missing)


@click.command()
@click.option("--students", default=300, show_default=True)
@click.option("--exercise", default="04_tiling", help="Default: 04_tiling, for which there are hostile submissions.")
@click.option("--seed", default=1, help="Draws who submits what.")
@click.option("--folder", type=click.Path(path_type=Path),
              help="Keep the class here, where an interrupted run goes on (default: a temporary folder).")
@click.option("--dask", metavar="ADDRESS", help="Grade on the workers of this Dask scheduler; their memory is not in the table.")
def command(students: int, exercise: str, seed: int, folder: Path | None, dask: str | None) -> None:
    """Grade a class and print the table."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="class-") as temporary:
        there = (folder or Path(temporary)).resolve()
        there.mkdir(parents=True, exist_ok=True)
        try:
            shown, problems = grade_class(there, exercise, students, seed, dask)
        except KeyboardInterrupt:
            print("\nstopped" + ("; the same command goes on from there" if folder else ""), file=sys.stderr)
            sys.exit(130)
    print("\n".join([shown, "", *(problems or ["everybody got the marks that they must get"])]))
    sys.exit(bool(problems))
