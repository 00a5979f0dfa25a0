"""Ask for a number before the cell that shows it, remember it, compare."""

import html
from typing import Any

import ipywidgets

from course_lib.errors import CourseError
from course_lib.widgets.answers import UNSAVED, Answers
from course_lib.widgets.numbers import grouped, parse_number, short, understood
from course_lib.widgets.self_check import inline
from course_lib.widgets.static import StaticBox


def compare(predicted: float | None, actual: float, unit: str = "", close: float = 0.05, ask: bool = True,
            decimals: int | None = None) -> str:
    """Return a sentence that sets a prediction beside what came out.

    Parameters
    ----------
    predicted
        None when nobody answered.
    close
        The relative difference that still counts as close.
    ask
        End with a question, where the lesson does not ask one of its own.
    decimals
        How many `actual` is written with, where it stands beside others; default as many as it needs.

    >>> print(compare(2, 8.5, "sectors a request"))
    You said 2; it is 8.5 sectors a request: the answer is 4.2 times as large as your number. Where does the factor come from?
    >>> print(compare(None, 8.5))
    No prediction this time; it is 8.5.
    >>> print(compare(17, 17.0, "ms", decimals=2))
    You said 17; it is 17.00 ms: right.
    """
    is_text = f"it is {grouped(actual) if decimals is None else f'{actual:,.{decimals}f}'}{' ' + unit if unit else ''}"
    if predicted is None:
        return f"No prediction this time; {is_text}."
    said = f"You said {grouped(predicted)}; {is_text}"
    if short(predicted) == short(actual):
        return f"{said}: right."
    if abs(predicted - actual) == 1 and float(actual).is_integer() and min(predicted, actual) > 3:
        return f"{said}: one too {'many' if predicted > actual else 'few'}."
    if actual and abs(predicted - actual) <= close * abs(actual):
        return f"{said}: close.{' What makes the difference?' if ask else ''}"
    if predicted > 0 and actual > 0:
        small, large = sorted([(predicted, "your number"), (actual, "the answer")])
        factor, this, that = large[0] / small[0], large[1], small[1]
        told = f"{said}: {this} is {grouped(float(f'{factor:.2g}'))} times as large as {that}."
        return told + (" Where does the factor come from?" if ask else "")
    return f"{said}.{' Where does the difference come from?' if ask else ''}"


UNANSWERED = "You have not predicted yet. Write your number into the field above, then run this cell again."


class Comparison(StaticBox):
    """How a prediction compares with what came out. Without a front end it says the same whoever predicted what.

    Who has not predicted is asked to, and finds what came out behind a click: "Run All" must not give the answer away.
    """

    def __init__(self, sentence: str, neutral: str, answered: bool = True) -> None:
        self.sentence, self._neutral = sentence, neutral
        folded = f"{_line(UNANSWERED)}<details><summary>Show the answer</summary>{html.escape(sentence)}</details>"
        super().__init__([ipywidgets.HTML(_line(sentence) if answered else folded)])

    def static_text(self) -> str:
        return self._neutral


class Held(StaticBox):
    """Ask for the prediction in place of what would answer it. Without a front end it is what is held back."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown
        super().__init__([ipywidgets.HTML(_line(f"{UNANSWERED} To see it without a prediction, write 0."))])

    def static_html(self) -> str:
        return str(self._shown._repr_html_())

    def static_text(self) -> str:
        return repr(self._shown)


def _line(text):
    return f'<span role="status" aria-live="polite">{html.escape(text)}</span>'


class Prediction(StaticBox):
    """The question, a field and a button; `reveal` compares. Made by `predict`."""

    def __init__(self, question: str, *, key: str, unit: str = "", answers: Answers | None = None) -> None:
        self._question, self._key, self._unit = question, key, unit
        self._answers = answers or Answers()
        self.value = self._answers.recall(key)
        self.field = ipywidgets.Text(
            value="" if self.value is None else short(self.value), placeholder="your number", description="I predict",
            tooltip=question, continuous_update=False, style={"description_width": "initial"}, layout={"max_width": "100%"})
        self.button = ipywidgets.Button(description="Commit", tooltip="Save this number as my prediction",
                                        button_style="primary")
        known = "" if self.value is None else "This is your answer from last time; change it if you like."
        self.says = ipywidgets.HTML(_line(known))
        self.button.on_click(lambda _: self.commit(self.field.value))
        self.field.observe(lambda change: self.commit(change["new"]) if change["new"].strip() else None, "value")
        unit_label = ipywidgets.Label(unit)
        ask = ipywidgets.HTML(f"<b>Predict.</b> {inline(question)}")
        super().__init__([ask, ipywidgets.HBox([self.field, unit_label, self.button], layout={"flex_flow": "row wrap"}), self.says])

    def commit(self, text: str) -> None:
        """Store what the reader wrote."""
        try:
            self.value = parse_number(text)
        except CourseError as error:
            self.says.value = _line(str(error))
            return
        stored = self._answers.keep(self._key, self.value)
        said = f"{text.strip()} {self._unit}".rstrip() + understood(text, self.value)
        self.says.value = _line(f"Your prediction: {said}. Now run the next cells.{'' if stored else f' {UNSAVED}'}")

    def reveal(self, actual: float, *, ask: bool = True, decimals: int | None = None) -> Comparison:
        """Say how the prediction compares with `actual`; `ask` and `decimals` as in `compare`.

        The line below the question goes on to say what was predicted: the result stands in one place, beside what measured it.

        Returns
        -------
        Comparison
            The last line of a cell shows it.
        """
        sentence, neutral = (compare(value, actual, self._unit, ask=ask, decimals=decimals) for value in (self.value, None))
        return Comparison(sentence, neutral, answered=self.value is not None)

    def unlocks(self, shown: Any) -> Any:
        """Return `shown`, a table or a picture, once there is a prediction; before that, what asks for one."""
        return Held(shown) if self.value is None else shown

    def static_text(self) -> str:
        return f"Predict. {self._question} (Run this cell to write your number down.)"


def predict(question: str, *, key: str, unit: str = "") -> Prediction:
    """Ask the reader for a number before it is shown.

    Parameters
    ----------
    key
        Under which the number is remembered, such as "03-swapped"; the same key in another session finds it again.
    unit
        Of the number.

    Returns
    -------
    Prediction
        Call its `reveal(actual)` once the number is known. The answer is not in the call, so that it is not in sight.
    """
    return Prediction(question, key=key, unit=unit)
