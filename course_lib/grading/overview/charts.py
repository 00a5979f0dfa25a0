"""The pictures of the page, as SVG without any script: a bar of shares, and marks over time. Their numbers stand in tables beside them."""

import statistics
from collections.abc import Sequence
from html import escape

FEWEST = 5                     # marks, or answers to a question, that are shown; with fewer, the class could tell whose they are


def bar(shares: Sequence[tuple[str, float]], width: int = 160, height: int = 14) -> str:
    """Return a bar of shares of 1, each (class of the style sheet, share); the cells beside it say the numbers.

    >>> bar([("passed", 0.5)], width=10).count("<rect")
    2
    """
    parts, x = [f'<rect class="rest" width="{width}" height="{height}"/>'], 0.0
    for name, share in shares:
        parts.append(f'<rect class="{name}" x="{x:.1f}" width="{share * width:.1f}" height="{height}"/>')
        x += share * width
    return f'<svg class="bar" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">{"".join(parts)}</svg>'


def quartiles(marks: Sequence[float]) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile of two or more numbers.

    >>> quartiles([0, 0.25, 0.5, 0.75, 1])
    (0.25, 0.5, 0.75)
    """
    low, middle, high = statistics.quantiles(marks, n=4, method="inclusive")
    return low, middle, high


def marks_over_time(rows: Sequence[tuple[str, str, Sequence[float]]]) -> str:
    """Draw for each exercise, (label, day, marks as shares of 1), the middle half of the marks as a box and the median as a line."""
    step, top, bottom, left = 44, 14, 150, 44
    width = left + step * len(rows) + 10
    parts = [f'<line class="grid" x1="{left}" x2="{width}" y1="{y:.0f}" y2="{y:.0f}"/><text x="{left - 6}" y="{y + 4:.0f}" '
             f'text-anchor="end">{percent} %</text>' for percent in (0, 25, 50, 75, 100) for y in [_y(percent / 100, top, bottom)]]
    middles = []
    for number, (label, day, marks) in enumerate(rows):
        x = left + step * (number + 0.5)
        parts.append(f'<text x="{x:.0f}" y="{bottom + 18}" text-anchor="middle">{escape(label)}</text>'
                     f'<text class="day" x="{x:.0f}" y="{bottom + 33}" text-anchor="middle">{escape(day)}</text>')
        low, middle, high = (_y(share, top, bottom) for share in quartiles(marks))
        parts.append(f'<rect class="box" x="{x - 12:.0f}" y="{high:.1f}" width="24" height="{max(low - high, 1):.1f}"/>'
                     f'<line class="middle" x1="{x - 12:.0f}" x2="{x + 12:.0f}" y1="{middle:.1f}" y2="{middle:.1f}"/>')
        middles.append(f"{x:.0f},{middle:.1f}")
    parts.append(f'<polyline class="trend" points="{" ".join(middles)}"/>')
    return (f'<svg class="chart" viewBox="0 0 {width} {bottom + 40}" width="{width}" role="img" aria-labelledby="marks-title">'
            f'<title id="marks-title">Marks of each exercise in the order of time: the middle half as a box, the median as a line. '
            f'The table below has the same numbers.</title>{"".join(parts)}</svg>')


def _y(share, top, bottom):
    return bottom - share * (bottom - top)
