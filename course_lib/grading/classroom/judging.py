"""Judge the answers of one submission: the check runs here, in the grader, and whatever is the student's runs in a sandbox.

    >>> result = judge({"tile": "__device__ int x;"}, "04_tiling", seed=1, unsafe=True)["tile"]
    >>> result["passed"], result["kind"]
    (False, 'entry')
"""

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.grading.classroom.results import Judgement
from course_lib.grading.judge.checks import AnySpec, check
from course_lib.grading.registry import part
from course_lib.grading.sandbox.process import STARTS, NoSandbox
from course_lib.grading.sandbox.replies import Ended
from course_lib.grading.sandbox.sandboxed import SECONDS, Sandboxed

LONGEST = 20_000                     # characters of one verdict
MARGIN = 30                          # seconds, for what the grader itself does with an answer's text and numbers


def judge(answers: Mapping[str, str], exercise: str, *, seed: int, cache: str | Path | None = None, fills_cache: bool = False,
          seconds: float = SECONDS, unsafe: bool = False) -> dict[str, Judgement]:
    """Check the answers of one submission; one that hangs or breaks the sandbox costs the others nothing.

    Parameters
    ----------
    answers
        Part -> text.
    seed
        Draws other numbers and further inputs; it stays in this process.
    cache, fills_cache, seconds, unsafe
        As `course_lib.grading.sandbox.sandboxed.Sandboxed` takes them.

    Returns
    -------
    dict
        Part -> judgement.

    Raises
    ------
    CourseError
        Where there is no sandbox, or it does not start: that is no student's fault, and gives no result.
    """
    try:
        with Sandboxed(cache=cache, fills_cache=fills_cache, seconds=seconds, unsafe=unsafe) as engine:
            return {name: judged(text, part(exercise, name), seed, engine) for name, text in answers.items()}
    except NoSandbox as error:
        raise CourseError(str(error)) from None


def longest(parts: int, seconds: float) -> float:
    """Return how many seconds `judge` takes at most: it starts a sandbox, and checks each part once or twice.

    >>> longest(3, 60)
    960
    """
    return STARTS + parts * 2 * _most(seconds)


def judged(text: str, spec: AnySpec, seed: int, engine: Sandboxed) -> Judgement:
    """Check one answer.

    Numbers and sizes that the seed draws stay secret. An answer that passes with them has passed every input that everyone sees, and
    is told those. One that does not is checked again with the numbers that everyone has, and is told what is wrong there, or else, in
    general words, that grading draws others.
    """
    try:
        verdict = _timed(text, spec, seed, engine)
        if verdict.passed:
            shown = dataclasses.replace(verdict, findings=(), cases=verdict.cases[:verdict.shown])
            return _told(True, "", repr(shown), shown._repr_html_())
        shown = _timed(text, spec, None, engine)
    except MemoryError:
        return _told(False, "memory", "This answer needs more memory than grading allows.")
    except Ended as error:
        return _told(False, "ended", str(error))
    if not shown.passed:
        return _told(False, shown.findings[0].kind, repr(shown), shown._repr_html_())
    kinds = ", ".join(dict.fromkeys(finding.kind for finding in verdict.findings))
    return _told(False, verdict.findings[0].kind,
                 f"{spec.title}: passed on every input of the exercise, but not on those drawn for grading, which have other sizes "
                 f"and numbers ({kinds}). An answer must be right for any input that the statement allows.")


def _timed(text, spec, seed, engine):
    """Check within the engine's time, and what is done here within a margin."""
    engine.begin()
    with _alarm(_most(engine.seconds)):
        return check(text, spec, seed=seed, engine=engine)


def _most(seconds):
    """Return the seconds for one check of one answer."""
    return 2 * seconds + MARGIN


@contextlib.contextmanager
def _alarm(seconds):
    """Raise `Ended` after so many seconds, where this is a process's main thread: nobody else can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_):
        raise Ended(f"The check of this answer takes longer than {seconds:g} s.")

    started, handler = time.monotonic(), signal.signal(signal.SIGALRM, ring)
    before, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, max(before - (time.monotonic() - started), 0.001) if before else 0)


def _told(passed: bool, kind: str, text: str, html: str = "") -> Judgement:
    def cut(words):
        return words if len(words) <= LONGEST else f"{words[:LONGEST]} …"

    return {"passed": passed, "kind": kind, "told": cut(text), "html": html if len(html) <= LONGEST else ""}
