"""The page on which students answer the questions: one HTML file that loads nothing and knows no answers.

It asks for the name that a student has on the learning platform, so that the answers before the course and those after it can be told to
be one person's, and gives the student a small file to hand in.
"""

import base64
import hashlib
from html import escape
from pathlib import Path

from course_lib.grading.inventory.questions import UNSURE, Inventory, Question

PHASES = {"before": "before the course", "after": "after the course"}


def form(inventory: Inventory, phase: str) -> str:
    """Return the page of a phase, "before" or "after"."""
    title = f"Twelve questions, {PHASES[phase]}"
    script, style = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("form.js", "form.css"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    asked = "".join(_fieldset(question, number) for number, question in enumerate(inventory.questions, 1))
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{title}</title><style>{style}</style></head>'
            "<body><main>\n"
            f"<h1>{title}</h1>\n{_intro(phase)}"
            f'<form data-version="{inventory.version}" data-phase="{phase}" autocomplete="off">\n'
            '<p><label for="student">Your user name on the learning platform:</label><br><input type="text" id="student" name="student" '
            f'maxlength="100"></p>\n{asked}<p><button>Save my answers</button></p>\n'
            '<p id="says" role="status" aria-live="polite"></p></form>\n'
            f"<noscript><p><strong>This page needs JavaScript to save your answers.</strong></p></noscript></main><script>{script}</script>"
            "</body></html>\n")


def _intro(phase):
    again = ("The same questions come again at the end, so please keep them to yourself until then." if phase == "before"
             else "You have seen these questions at the beginning.")
    return (f"<p>Nothing here is marked. The answers tell your instructor what the course has to explain better. {again}</p>\n"
            "<p>Each question tells everything that it needs. Please answer alone, without books, the web, or a program, and do not guess: "
            "<q>I do not know yet</q> is a good answer. At the end the page gives you a small file to hand in. "
            "It sends nothing by itself.</p>\n")


def _fieldset(question: Question, number: int) -> str:
    code = f"<pre><code>{escape(question.code)}</code></pre>" if question.code else ""
    choices = [*zip(question.letters, (option.text for option in question.options), strict=True), (UNSURE, "I do not know yet.")]
    options = "".join(f'<label class="option"><input type="radio" name="{question.key}" value="{letter}">'
                      f"<span>{escape(text)}</span></label>" for letter, text in choices)
    return (f'<fieldset data-number="{number}"><legend>Question {number}</legend><p>{escape(question.text)}</p>{code}\n'
            f"{options}</fieldset>\n")
