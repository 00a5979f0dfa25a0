"""Write docs/modules.md: every file of the library.

The line of each file is the first sentence of its docstring, or of its first comment.
"""

import ast
import re
from pathlib import Path

from tools import ROOT
from tools.pages import page_command

PAGE = ROOT / "docs" / "modules.md"
LIBRARY = ROOT / "course_lib"
HEAD = """# Every file of `course_lib`

Written by `python -m tools page modules` from the first sentence of each file.
[architecture.md](architecture.md) says how they work together.
"""
PLAIN = ("kernels", "kernels/host", "data")        # their .cu, .c and .json files have pages of their own


def sentence(path: Path) -> str:
    """Return the first sentence of a file's docstring or first comment; "" where there is none."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        said = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
    else:
        said = re.sub(r"^// *(?:[\w.]+ +-- +)?", "", text.partition("\n")[0])
    said = " ".join(said.split())
    return re.match(r".*?[.:](?= |$)|.*", said)[0].rstrip(":")          # type: ignore[index]  # it always matches


def packages() -> dict[str, list[Path]]:
    """Return each folder of the library with its files, in alphabetical order."""
    found: dict[str, list[Path]] = {}
    for path in sorted(LIBRARY.rglob("*")):
        folder = path.parent.relative_to(LIBRARY).as_posix()
        wanted = (".py",) if folder in PLAIN else (".py", ".cuh", ".cu", ".js")
        if path.suffix in wanted and path.name != "__init__.py":
            found.setdefault(folder, []).append(path)
    return found


def page(_: str = "") -> str:
    """Return the page's text."""
    lines = [HEAD]
    for folder, paths in packages().items():
        package = LIBRARY / folder / "__init__.py"
        title = "course_lib" if folder == "." else folder
        lines += [f"## {title}", "", sentence(package) if package.exists() else "", "", "| file | |", "|---|---|"]
        lines += [f"| `{path.name}` | {sentence(path).replace('|', chr(92) + '|')} |" for path in paths]
        lines.append("")
    return "\n".join(lines)


command = page_command(PAGE, page)
