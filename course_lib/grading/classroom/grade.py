"""Grade a class: the instructor's own submission first, then every student's, each in a sandbox, with results stored one by one.

A result stays as long as its submission, the exercise, the seed and the library are the same: interrupted, the command goes on
where it was.
"""

import contextlib
import functools
import hashlib
import json
import os
import platform
import stat
from collections.abc import Callable
from concurrent import futures
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tqdm import tqdm

from course_lib.errors import CourseError
from course_lib.grading.classroom import judging, workers
from course_lib.grading.classroom.folders import Classroom, write
from course_lib.grading.classroom.normalise import MOST_BYTES, SubmittedAnswers, answers, questions
from course_lib.grading.classroom.results import PartResult, Result, read_result
from course_lib.grading.classroom.roster import CANARY
from course_lib.grading.classroom.variants import mismatch
from course_lib.grading.sandbox import bubblewrap
from course_lib.grading.sandbox.sandboxed import SECONDS
from course_lib.toolchain import disk


@functools.cache
def library_hash() -> str:
    """Return a hash of the library's files and of the versions that a verdict depends on."""
    files = sorted(path for pattern in ("*.py", "*.cuh") for path in bubblewrap.LIBRARY.rglob(pattern))
    return hashlib.sha256(b"\0".join([repr(workers.versions()).encode(), *(path.read_bytes() for path in files)])).hexdigest()


@dataclass(frozen=True)
class GradingJob:
    """All that grading one submission needs: bytes and numbers, so that any process on any machine can do it."""

    student: str
    exercise: str
    data: bytes = field(repr=False)
    problem: str                     # why there are no bytes
    released: bytes = field(repr=False)
    seed: int = field(repr=False)
    cache: str                       # a folder that need not be on every machine
    seconds: float
    unsafe: bool
    fills_cache: bool = False
    library: str = field(default_factory=lambda: library_hash())

    @property
    def key(self) -> str:
        """Return a hash of everything that the result depends on."""
        parts = (self.exercise, self.problem, self.seed, self.seconds, self.unsafe, self.library)
        return hashlib.sha256(b"\0".join((self.data, self.released, repr(parts).encode()))).hexdigest()

    @property
    def longest(self) -> float:
        """Return the seconds after which a process that still grades it is stuck: its own limits have all passed by then."""
        return judging.longest(len(questions(self.released)), self.seconds)


def grade(classroom: Classroom, exercise: str, *, executor: futures.Executor | None = None, unsafe: bool = False, seconds: float = SECONDS,
          show: Callable[[str], None] = print, quiet: bool = False) -> dict[str, Result]:
    """Grade every submission of an exercise.

    Parameters
    ----------
    executor
        Where to work; default: a pool of as many processes as there are CPU cores.
    unsafe
        Do without a sandbox where there is none.
    seconds
        Limit for each part of a submission.
    show
        Gets a line for each student.
    quiet
        No progress bar.

    Returns
    -------
    dict
        Student -> result, those stored before included.

    Raises
    ------
    CourseError
        Without a sandbox; or when the instructor's own submission does not get full marks: then nothing is graded.
    """
    bubblewrap.demand(unsafe)
    make = functools.partial(_job, classroom, exercise, released=classroom.released(exercise), seed=classroom.seed(),
                             cache=_cache(classroom), seconds=seconds, unsafe=unsafe)
    _demand_full_marks(make(CANARY, data=classroom.solved(exercise), fills_cache=True), show)
    jobs = {student: make(student) for student in classroom.submitted(exercise)}
    results = {student: stored for student, job in jobs.items() if (stored := _stored(classroom, job))}
    waiting = [job for student, job in jobs.items() if student not in results]
    if results:
        show(f"{len(results)} results are stored already, {len(waiting)} submissions to grade")
    pool = futures.ProcessPoolExecutor(os.cpu_count()) if executor is None else contextlib.nullcontext(executor)
    with pool as working, contextlib.ExitStack() as stack, tqdm(total=len(waiting), unit="submission", disable=quiet or None) as bar:
        done = stack.enter_context(contextlib.closing(_graded(waiting, working, own=executor is None)))
        for result in done:
            write(classroom.result(result["student"], exercise), json.dumps(result, indent=1))
            results[result["student"]] = result
            bar.update()
            with tqdm.external_write_mode():
                show(line(result))
    return results


def line(result: Result) -> str:
    """Return what is printed for a student.

    >>> line({"student": "ada", "points": 2, "maximum": 10, "problem": "", "parts": [{"part": "tile", "points": 0, "kind": "gate"}]})
    'ada: 2 of 10 (tile: gate)'
    """
    words = result["problem"] or "; ".join(f"{part['part']}: {part['kind']}" for part in result["parts"] if part["kind"])
    return f"{result['student']}: {result['points']:g} of {result['maximum']:g}{f' ({words})' if words else ''}"


def grade_one(job: GradingJob) -> Result:
    """Grade one submission.

    Raises
    ------
    CourseError
        Where the library or a version is another than that of the process that made the job.
    """
    if job.library != library_hash():
        raise CourseError(f"{platform.node()} has another version of the course's library, or of what it computes with: "
                          "bring it to the commit and the constraints.txt of the machine where `make grade` runs")
    asked = questions(job.released)
    found, problem = SubmittedAnswers({}, {}), job.problem
    if not problem:
        try:
            found = answers(job.data, asked)
        except CourseError as error:
            problem = str(error)
    judged = {} if not found.texts else judging.judge(
        found.texts, job.exercise, seed=job.seed, cache=Path(job.cache), fills_cache=job.fills_cache,
        seconds=job.seconds, unsafe=job.unsafe)
    parts: list[PartResult] = []
    for question in asked:
        told = problem or found.missing.get(question.part, "")
        result = judged.get(question.part) or {"passed": False, "kind": "missing", "told": told, "html": ""}
        parts.append({"part": question.part, "name": question.name, "maximum": question.points, "text": found.texts.get(question.part, ""),
                      "points": question.points if result["passed"] else 0, **result})
    notes = ("" if problem else mismatch(found.variants, job.released), *found.notes)
    return {"student": job.student, "exercise": job.exercise, "key": job.key, "graded": datetime.now(UTC).isoformat(timespec="seconds"),
            "points": sum(part["points"] for part in parts), "maximum": sum(part["maximum"] for part in parts),
            "problem": problem, "notes": [note for note in notes if note], "parts": parts}


def _graded(jobs, pool, own):
    """Yield results as they come; a job whose worker dies is tried once more, alone."""
    waiting = {pool.submit(grade_one, job): job for job in jobs}
    failed = []
    try:
        for future in futures.as_completed(waiting):
            job = waiting.pop(future)          # kept, it would keep its result on a Dask worker, whose death has that graded anew
            try:
                yield future.result()
            except Exception as error:
                failed.append((job, error))
    except BaseException:
        for future in waiting:
            future.cancel()
        raise
    for job, _ in failed:
        try:
            with futures.ProcessPoolExecutor(1) if own else contextlib.nullcontext(pool) as alone:
                yield alone.submit(grade_one, job).result()
        except Exception as error:
            yield _failed(job, error)


def _failed(job, error):
    """Return the result of a submission that broke its grader twice; its key is never met, so the next run tries again."""
    words = f"grading this submission failed ({type(error).__name__}: {str(error)[:200]}): please tell your instructor"
    maximum = sum(question.points for question in questions(job.released))
    return {"student": job.student, "exercise": job.exercise, "key": "", "graded": datetime.now(UTC).isoformat(timespec="seconds"),
            "points": 0, "maximum": maximum, "problem": words, "notes": [], "parts": []}


def _demand_full_marks(job, show):
    result = grade_one(job)
    if result["points"] != result["maximum"] or not result["maximum"]:
        reasons = "\n".join(part["told"] for part in result["parts"] if not part["passed"])
        raise CourseError(f"nothing was graded: the instructor's own solution of {job.exercise} gets {result['points']:g} of "
                          f"{result['maximum']:g} points, so something is wrong here and not with the students.\n"
                          f"{reasons or result['problem']}")
    show(f"the instructor's own solution: {result['points']:g} of {result['maximum']:g}")


def _stored(classroom, job):
    """Return an earlier result that still holds, or None."""
    try:
        result = read_result(classroom.result(job.student, job.exercise))
    except CourseError:
        return None
    return result if result["key"] == job.key else None


def _job(classroom, exercise, student, data=None, **facts):
    problem = ""
    if data is None:
        try:
            data = _read(classroom.submission(student, exercise))
        except (OSError, CourseError) as error:
            data, problem = b"", _why(error, exercise)
    return GradingJob(student, exercise, data, problem, **facts)


def _read(path):
    """Return a file's bytes, of a plain file and in plain folders only: a link could name anything on this machine."""
    if path.parent.is_symlink():
        raise CourseError("the submission is a link to somewhere else, not a notebook")
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise CourseError("the submission is no plain file")
        return file.read(MOST_BYTES + 1)


def _why(error, exercise):
    if isinstance(error, CourseError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"there is no {exercise}.ipynb in this submission: keep the name that the exercise has"
    return f"the submission is a link or cannot be read ({error.strerror})"


def _cache(classroom):
    """Return the folder for translations that all launches share: $COURSE_CACHE, or one in `grading/`."""
    folder = disk.cache_folder().parent if os.environ.get("COURSE_CACHE") else classroom.folder / "cache"
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder.resolve())
