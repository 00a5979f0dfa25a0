"""Hand exercises out and feedback back through nbgrader's exchange, the folder that all servers of a JupyterHub share.

    EXCHANGE/COURSE/outbound/EXERCISE/…                          what students fetch
    EXCHANGE/COURSE/inbound/STUDENT+EXERCISE+TIME+RANDOM/…       what they submit; `make collect FROM=…/inbound` takes it in
    EXCHANGE/COURSE/feedback/HASH.html                           pages, each under a name that only its student can know

nbgrader itself copies and sets permissions. Its database and its autograder are not asked.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeReleaseAssignment, ExchangeReleaseFeedback
from traitlets.config import Config

from course_lib.errors import CourseError
from course_lib.grading.classroom.folders import SECRET, Classroom, demand_exchange, write

COURSE = "warp-by-warp"              # as in nbgrader_config.py


def hand_out(classroom: Classroom, exercise: str, root: str | Path) -> Path:
    """Put an exercise of the class's variant where students can fetch it; one that is there already is replaced.

    Parameters
    ----------
    root
        The exchange; it must be there.

    Returns
    -------
    Path
        The exercise's folder in the exchange.

    Raises
    ------
    CourseError
        When there is no such exercise or no exchange, or it may not be written.
    """
    demand_exchange(root)
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        path = Path(folder, exercise, f"{exercise}.ipynb")
        path.parent.mkdir()
        path.write_bytes(classroom.released(exercise))
        _run(ExchangeReleaseAssignment, root, exercise, {"release_directory": folder}, force=True)
    return Path(root, COURSE, "outbound", exercise)


def hand_back(classroom: Classroom, exercise: str, root: str | Path) -> Iterator[str]:
    """Put every page of feedback where its student can fetch it.

    Parameters
    ----------
    root
        The exchange; it must be there.

    Yields
    ------
    str
        A line for each student: handed back, or why not.

    Raises
    ------
    CourseError
        When there is no exchange, no page was written yet, or the exchange may not be written.
    """
    demand_exchange(root)
    pages = sorted((classroom.folder / "feedback").glob(f"*/{exercise}.html"))
    if not pages:
        raise CourseError(f"there is no feedback on {exercise} yet: run `make feedback`")
    with tempfile.TemporaryDirectory(prefix="feedback-") as folder:
        for page in pages:
            student = page.parent.name
            submitted = classroom.submission(student, exercise)
            beside = submitted.with_name(SECRET)
            secret = beside.read_text(encoding="ascii") if beside.exists() else ""
            if not secret:
                yield f"{student}: NOT HANDED BACK, as this submission did not come through the exchange ({page})"
                continue
            told = Path(folder, student, exercise)
            write(told / page.name, page.read_text(encoding="utf-8"))
            write(told / SECRET, secret)
            write(told / "timestamp.txt", submitted.with_name("timestamp.txt").read_text(encoding="utf-8"))
            yield f"{student}: handed back"
        _run(ExchangeReleaseFeedback, root, exercise, {"feedback_directory": folder})


def _run(step, root, exercise, folders, **options):
    """Do one of nbgrader's steps in this course's exchange."""
    config = Config({"CourseDirectory": {"course_id": COURSE, "assignment_id": exercise, **folders},
                     "Exchange": {"root": str(Path(root).resolve())}, step.__name__: options})
    try:
        step(coursedir=CourseDirectory(config=config), config=config).start()
    except (ExchangeError, OSError) as error:
        raise CourseError(f"nbgrader's exchange {root}: {error}") from error
