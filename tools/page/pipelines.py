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
    return (found["found"].split(" at __shared__")[0].removeprefix("Error: ") or "nothing") + "; ended" * found["launch"].startswith("hangs")


def table(record: dict[str, Any] | None) -> str:
    """Return the table, the mistakes first, and above it what was recorded where; without a record, that there is none."""
    if record is None:
        return "No GPU has been asked yet."
    found, date = record["sections"]["pipelines"], record["date"]
    broken, right = ([row for row in found["rows"] if row["mistake"] is mistake] for mistake in (True, False))
    reported = [[row for row in rows if any(row.get(tool, {}).get("found") for tool in TOOLS)] for rows in (broken, right)]
    unseen = sum(row["plain"].startswith("right") and row not in reported[0] for row in broken)
    lines = [f"Recorded on {found['device']}, {date}, driver {found['driver']}; compute-sanitizer {found['sanitizer'].split()[1]}. Alone, each kernel was launched "
             f"{found['launches']} times, under each tool once; what did not end within {found['seconds']} seconds was ended. Of "
             f"{len(broken)} mistakes the simulator reports {len(broken) - sum(row['simulator'] == 'nothing' for row in broken)} and the tools "
             f"{len(reported[0])}; {unseen} of the others do not show in the answer, either. Of {len(right)} right kernels the simulator "
             f"reports {sum(row['simulator'] != 'nothing' for row in right)} and the tools {len(reported[1])}.", "",
             "| mistake | simulator | alone on the GPU | memcheck | racecheck | synccheck |", "|---|---|---|---|---|---|"]
    for row in sorted(found["rows"], key=lambda row: not row["mistake"]):
        cells = [row["name"], row["simulator"], row.get("plain", "not run"), *(cell(row.get(tool)) for tool in TOOLS)]
        lines.append("| " + " | ".join(text.replace("|", "/") for text in cells) + " |")
    return "\n".join(lines)


command = page_command(PAGE, page)
