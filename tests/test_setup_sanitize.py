"""nbval's patterns hide what depends on the machine, and nothing that a lesson promises."""
import configparser
import re
from pathlib import Path

import pytest

from course_lib.plots.picture import STYLE, img_tag

CONFIG = Path(__file__).with_name("nbval_sanitize.cfg")


def sanitize(text):
    """Replace as nbval does, section by section."""
    rules = configparser.RawConfigParser()
    rules.read(CONFIG, encoding="utf-8")
    for section in rules.sections():
        text = re.sub(rules[section]["regex"], rules[section]["replace"], text, flags=re.DOTALL)
    return text


@pytest.mark.parametrize(("one", "other"), [
    ("median 1.25 ms, spread 3 %", "median 980.4 us, spread 3 %"),
    ("took 0.03 s", "took 12 s"),
    ("<td>3,120.5 GFLOP/s</td>", "<td>17 GFLOP/s</td>"),
    ("4.6 GFLOP/s", "1.2 TFLOP/s"),
    ("at 0x7f1c22d4a000", "at 0x55d0aa100"),
    ("2.1 times as fast", "10 times as fast"),
    ("measured on NVIDIA H200", "measured on NVIDIA L4"),
    ('<img alt="x" src="data:image/png;base64,iVBORw0KGgo=">', '<img alt="x" src="data:image/png;base64,AAAA+/">'),
    ('<img alt="x" width="9" src="data:image/png;base64,iVBORw0KGgo=">',
     STYLE + '<img alt="x" class="wbw-figure" width="8" style="max-width:100%" src="data:image/svg+xml;base64,AAAA+/">'),
    ('<img alt="x" width="9" src="data:image/png;base64,iVBORw0KGgo=">', STYLE + img_tag(b"abc", "svg+xml", "x", (8, 2))),
    ("16 threads of this machine", "2 threads of this machine"),
])
def test_what_the_machine_decides_is_hidden(one, other):
    assert sanitize(one) == sanitize(other)


@pytest.mark.parametrize("text", [
    "8.5 sectors a request", "2 sectors", "110,592 hazards", "BM = 32, BN = 32", "256 threads a block", "0x1F", "34 registers",
    "requests 4096, sectors 16384", "32 × 32", "simulated", "0.25 sectors per multiply-add", "32 shared wavefronts",
    "2 stores", "1.5 GB", "line 12: As[ty][k]", '<img alt="8 sectors">', "<style>b { color: red }</style>",
])
def test_what_a_lesson_promises_is_compared(text):
    assert sanitize(text) == text


def test_the_words_of_a_picture_are_compared():
    one, other = (f'{STYLE}<img alt="{n} sectors" src="data:image/png;base64,iVBO"> then <img alt="y" src="data:image/png;base64,A">'
                  for n in (2, 8))
    assert sanitize(one) == '<img alt="2 sectors" PICTURE> then <img alt="y" PICTURE>' != sanitize(other)
