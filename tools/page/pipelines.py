"""Write the table of broken pipelines in docs/found.md.

Only what stands between its marks is written, from what `gpu check --only pipelines` recorded.
"""

import json
from typing import Any

from tools import ROOT
from tools.pages import Part, page_command

PAGE, RECORD = ROOT / "docs" / "found.md", ROOT / "tests" / "data" / "gpu_pipelines.json"
TABLE = Part("<!-- pipelines: written by python -m tools page pipelines -->", "<!-- end of pipelines -->")
TOOLS = ("memcheck", "racecheck", "synccheck")


def page(text: str) -> str:
    """Return the page's text with the table written anew."""
    return TABLE.renewed(text, table(json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else None))


def cell(found: dict[str, Any] | None) -> str:
    """Return what one of compute-sanitizer's tools reported of a kernel, and whether the kernel had to be ended under it."""
    if found is None:
        return "not run"
    words = found["found"].split(" at __shared__")[0].removeprefix("Error: ") or "nothing"
    return words + "; ended" * found["launch"].startswith("hangs")


def sums(rows: list[dict[str, Any]]) -> str:
    """Return how many of the mistakes, and of the right kernels, are reported."""
    broken, right = ([row for row in rows if row["mistake"] is mistake] for mistake in (True, False))
    by_tools = [row["name"] for row in rows if any(row.get(tool, {}).get("found") for tool in TOOLS)]
    ours, theirs = ([sum(row["simulator"] != "nothing" for row in group) for group in (broken, right)],
                    [sum(row["name"] in by_tools for row in group) for group in (broken, right)])
    unseen = sum(row["plain"].startswith("right") and row["name"] not in by_tools for row in broken)
    return (f"Of {len(broken)} mistakes the simulator reports {ours[0]} and the tools {theirs[0]}; {unseen} of the others do not show in "
            f"the answer, either. Of {len(right)} right kernels the simulator reports {ours[1]} and the tools {theirs[1]}.")


def table(record: dict[str, Any] | None) -> str:
    """Return the table, the mistakes first, and above it what was recorded where; without a record, that there is none."""
    if record is None:
        return "No GPU has been asked yet."
    found, date = record["sections"]["pipelines"], record["date"]
    lines = [f"Recorded on {found['device']}, {date}, driver {found['driver']}; compute-sanitizer {found['sanitizer'].split()[1]}. Alone, "
             f"each kernel was launched {found['launches']} times, under each tool once; what did not end within {found['seconds']} s "
             f"was ended. {sums(found['rows'])}", "",
             "| mistake | simulator | alone on the GPU | memcheck | racecheck | synccheck |", "|---|---|---|---|---|---|"]
    for row in sorted(found["rows"], key=lambda row: not row["mistake"]):
        cells = [row["name"], row["simulator"], row.get("plain", "not run"), *(cell(row.get(tool)) for tool in TOOLS)]
        lines.append("| " + " | ".join(text.replace("|", "/") for text in cells) + " |")
    return "\n".join(lines)


command = page_command(PAGE, page)
