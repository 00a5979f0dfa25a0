"""Build, record and check the course.

Each module that defines `command` is one; the subpackages are the groups. setup.py, my_course.py, driver.py and obstacles.py run before
anything is installed and are no commands, and neither is replay/lesson.py, which runs in other people's environments.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


class ToolError(RuntimeError):
    """What stops a tool, in a sentence for whoever runs it."""


def again(*words: object) -> list[str]:
    """Return the command line of another `python -m tools`, to be run in `ROOT`."""
    return [sys.executable, "-m", "tools", *map(str, words)]


def from_tests(folder: str, name: str) -> ModuleType:
    """Import a module that tests share, from its folder in tests/.

    >>> from_tests("hardware", "hardware_catalog").__name__
    'hardware_catalog'
    """
    path = str(ROOT / "tests" / folder)
    if path not in sys.path:
        sys.path.append(path)
    return importlib.import_module(name)
