"""The self-check at the end of a lesson: five questions, an answer to each that outlives the kernel."""

import html
import re
from collections.abc import Callable
from pathlib import Path

import ipywidgets

from course_lib.errors import CourseError
from course_lib.widgets import questions
from course_lib.widgets.answers import UNSAVED, Answers
from course_lib.widgets.numbers import parse_number, short, understood
from course_lib.widgets.static import StaticBox

# A radio group of ipywidgets loses its arrow keys to JupyterLab, so that options are buttons: Tab, then Space or Enter.
# Their text may need several lines, which ipywidgets does not give a button.
STYLE = ("<style>.wbw-quiz .wbw-option{height:auto;min-height:28px;line-height:1.4;white-space:normal;text-align:left;padding:4px 10px}"
         ".wbw-quiz button:focus-visible{outline:2px solid #0072B2;outline-offset:1px}</style>")
WIDE = {"width": "auto", "max_width": "760px"}


class Asked(ipywidgets.VBox):
    """One question with its field or options, a button, and what was said about the answer. Made by `Quiz`."""

    def __init__(self, question: questions.Question, number: int, key: str, answers: Answers, told: Callable[[], None]) -> None:
        self.question, self._key, self._answers, self._told = question, key, answers, told
        self.judged: questions.Judged | None = None         # the latest
        title = f"Question {number} of {questions.COUNT}"
        ask = ipywidgets.HTML(f'<div style="line-height:1.5"><b>{title}.</b> {inline(question.text)}</div>', layout=WIDE)
        self.says = ipywidgets.HTML(layout=WIDE)
        row = self._field(title, question) if isinstance(question, questions.NumberQuestion) else self._buttons(title, question)
        super().__init__([ask, *row, self.says], layout={"margin": "0 0 10px 0"})

    def _buttons(self, title: str, question: questions.ChoiceQuestion) -> list[ipywidgets.Widget]:
        self.buttons = [ipywidgets.Button(description=option.text, tooltip=f"{title}: {option.text}", layout=WIDE)
                        for option in question.options]
        for button in self.buttons:
            button.add_class("wbw-option")
            button.on_click(lambda pressed: self.answer(pressed.description))
        stored = self._answers.recall_words(self._key)
        if stored is not None and (judged := question.judge(stored)):
            self._say(stored, judged)
        return self.buttons

    def _field(self, title: str, question: questions.NumberQuestion) -> list[ipywidgets.Widget]:
        stored = self._answers.recall(self._key)
        self.field = ipywidgets.Text(value="" if stored is None else short(stored), placeholder="your number", description="answer",
                                     tooltip=f"{title}: {question.text}", continuous_update=False,
                                     style={"description_width": "initial"}, layout={"max_width": "100%"})
        self.field.observe(lambda change: self.answer(change["new"]) if change["new"].strip() else None, "value")
        self.button = ipywidgets.Button(description="Check", tooltip=f"{title}: check my number", layout={"width": "90px"})
        self.button.on_click(lambda _: self.answer(self.field.value))
        if stored is not None:
            self._say(short(stored), question.judge(stored))
        return [ipywidgets.HBox([self.field, ipywidgets.Label(question.unit), self.button], layout={"flex_flow": "row wrap"})]

    def answer(self, given: str) -> None:
        """Judge and store what the reader pressed or wrote."""
        if isinstance(self.question, questions.NumberQuestion):
            try:
                number = parse_number(given.replace("%", "") if self.question.unit == "%" else given)
            except CourseError as error:
                self.says.value = _told(html.escape(str(error)))
                return
            self._conclude(number, given.strip() + understood(given, number), self.question.judge(number))
        elif judged := self.question.judge(given):
            self._conclude(given, given, judged)

    def _conclude(self, answer: float | str, said: str, judged: questions.Judged) -> None:
        stored = self._answers.keep(self._key, answer)
        self._say(said, judged, "" if stored else f" {UNSAVED}")
        self._told()

    def _say(self, said: str, judged: questions.Judged, more: str = "") -> None:
        self.judged = judged
        said_of = inline(said.removesuffix("."))
        colour, word = ("#009E73", "✓ Right.") if judged.right else ("#D55E00", "✗ Not yet.")
        self.says.value = _told(f"<i>{said_of}</i>: <b>{word}</b> {inline(judged.feedback)}{html.escape(more)}", colour)
        for button in getattr(self, "buttons", ()):
            pressed = button.description == said
            button.icon = ("check" if judged.right else "times") if pressed else ""
            button.style.font_weight = "bold" if pressed else "normal"


class Quiz(StaticBox):
    """The self-check of a lesson. Made by `quiz`."""

    def __init__(self, lesson: str, *, answers: Answers | None = None, folder: str | Path = questions.FOLDER) -> None:
        self.lesson, self.questions = lesson, questions.load(lesson, folder)
        answers = answers or Answers()
        self._file = answers.path
        self.progress = ipywidgets.HTML(layout=WIDE)
        self.asked = tuple(Asked(question, number, f"quiz-{lesson}-{question.key}", answers, self._count)
                           for number, question in enumerate(self.questions, 1))
        self._count()
        super().__init__([ipywidgets.HTML(STYLE + "<b>Check yourself</b>"), *self.asked, self.progress])
        self.add_class("wbw-quiz")

    def _count(self):
        judged = [asked.judged for asked in self.asked if asked.judged]
        right = sum(judgement.right for judgement in judged)
        text = f"{len(judged)} of {questions.COUNT} answered, {right} right."
        saved = f" Your answers are saved on this computer only, in {self._file}." if judged and self._file.exists() else ""
        self.progress.value = _told(text + (" That is all of them." if right == questions.COUNT else "") + html.escape(saved))

    def static_html(self) -> str:
        asked = "".join(f"<li>{inline(q.text)}{_offered(q)}</li>" for q in self.questions)
        return f"<p><b>Check yourself</b> (run this cell to answer)</p><ol>{asked}</ol>"

    def static_text(self) -> str:
        lines = ["Check yourself (run this cell to answer)"]
        for number, question in enumerate(self.questions, 1):
            lines.append(f"{number}. {question.text}")
            lines += [f"   ( ) {option.text}" for option in getattr(question, "options", ())]
            lines += [f"   ____ {question.unit}"] if isinstance(question, questions.NumberQuestion) else []
        return "\n".join(lines)


def _offered(question):
    if isinstance(question, questions.NumberQuestion):
        return f"<br>____ {html.escape(question.unit)}"
    return "<ul>" + "".join(f"<li>{html.escape(option.text)}</li>" for option in question.options) + "</ul>"


def inline(text: str) -> str:
    """Return text as HTML; what stands between backticks becomes code.

    >>> inline("`a < b` & c")
    '<code>a &lt; b</code> &amp; c'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def _told(text, colour="transparent"):
    """Return HTML that a screen reader announces when it changes; colour marks it for the others."""
    return (f'<div role="status" aria-live="polite" style="border-left:6px solid {colour};padding:2px 12px;line-height:1.5">'
            f"{text}</div>")


def quiz(lesson: str) -> Quiz:
    """Ask the five questions of a lesson's self-check.

    A wrong answer is told what is wrong with it and may be changed; answers are stored in the reader's own folder. The right
    answers stand in `questions_NN.toml` of the lesson's package, not in the notebook.

    Parameters
    ----------
    lesson
        Its number in two digits, "04".

    Raises
    ------
    CourseError
        When the lesson has no questions.
    """
    return Quiz(lesson)
