"""Turn the times in a `gpu_check.json` (made by tools/gpu_check.py on a real GPU) into course_lib/data/ladder.json.

    python tools/record_ladder.py build/gpu_check/gpu_check.json
"""

import json
import sys
from pathlib import Path

FIELDS = ("median_s", "low_s", "high_s", "gflops")


def rounded(x):
    """Keep five significant digits: more than the spread warrants."""
    return float(f"{x:.5g}")


def main(path):
    """Write the ladder file."""
    report = json.loads(Path(path).read_text())
    probe, rows = report["sections"]["probe"], report["sections"]["time"]["times"]
    records = [{"kernel": r["kernel"], "N": r["N"], "parameters": r.get("parameters", {})} | {f: rounded(r[f]) for f in FIELDS}
               for r in rows]
    target = Path(__file__).resolve().parents[1] / "course_lib" / "data" / "ladder.json"
    head = {"device": probe["name"], "driver": probe["driver"], "date": report["date"], "made_by": "tools/gpu_check.py"}
    lines = ",\n".join(json.dumps(r) for r in records)
    target.write_text(json.dumps(head)[:-1] + ',\n"records": [\n' + lines + "\n]}\n")
    print(f"{len(records)} records in {target.name}")


if __name__ == "__main__":
    main(sys.argv[1])
