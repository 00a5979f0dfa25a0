"""What a reader predicted and answered, stored in the reader's own folder so that it outlives a kernel and a fresh checkout.

The folder is `$WARP_BY_WARP_HOME`, or else `warp-by-warp` in Jupyter's data folder (`jupyter --data-dir`); the file
is `answers.json`. Nothing is written until a reader answers, and nothing is sent anywhere.
"""

import contextlib
import json
import os
import time
import uuid
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir


def folder() -> Path:
    """Return the reader's own folder, which may not exist yet."""
    return Path(os.environ.get("WARP_BY_WARP_HOME") or Path(jupyter_data_dir()) / "warp-by-warp")


UNSAVED = "Your answer could not be saved, and will be forgotten when you close or restart this notebook."

WAITS_S = (0, 0.02, 0.1)              # before each attempt to write: on Windows another notebook may be reading the file just now


class Answers:
    """Predictions (numbers) and answers of self-checks (numbers or words) by key, in a JSON file.

    A file that cannot be read counts as empty; one that cannot be written leaves the answers in memory, and
    `keep` says so.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path else folder() / "answers.json"
        self._memory: dict[str, float | str] = {}

    def _load(self):
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {}
        return {**(found if isinstance(found, dict) else {}), **self._memory}

    def recall(self, key: str) -> float | None:
        """Return the number stored under `key`, or None."""
        value = self._load().get(key)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def recall_words(self, key: str) -> str | None:
        """Return the words stored under `key`, or None."""
        value = self._load().get(key)
        return value if isinstance(value, str) else None

    def keep(self, key: str, value: float | str) -> bool:
        """Store a number or words under `key`; return whether it will outlive the kernel."""
        self._memory[key] = value
        for wait_s in WAITS_S:
            time.sleep(wait_s)
            if self._write():
                self._memory.clear()
                return True
        return False

    def _write(self):
        """Write all answers to the file; return whether that was possible."""
        fresh = self.path.with_suffix(f".{uuid.uuid4().hex}")      # processes in two containers may have the same number
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(self._load(), indent=1, sort_keys=True), encoding="utf-8")
            fresh.replace(self.path)          # never a half-written file, whatever happens
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink()
            return False
        return True
