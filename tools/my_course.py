"""Make the reader's own course: a copy of every lesson and exercise in my_course/, without outputs and with blank kernel cells.

    python3 tools/my_course.py      what `make lab` does before it opens JupyterLab

A copy is made once and never overwritten. It remembers its edition, so that a newer one is put beside it and said. It needs nothing but
Python itself; any number of these may run at once, and one that is interrupted leaves whole files only.
"""
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINE = "my_course"
TAKEN = ("notebooks", "exercises")
KEY = "warp_by_warp"                 # in a notebook's metadata: from which file and edition the copy was made
STATE = ".copied.json"               # what other files were when they were copied
BEGIN, STARTER, FINISH = "BEGIN SOLUTION", "STARTER", "END SOLUTION"
WRITE, END = "// write it here", "// up to here"
LEFT_BEHIND = 3600                   # seconds after which what an interrupted run left is removed


class BadMarkers(ValueError):
    """A cell's solution markers do not pair up; the message says where."""


def blank_cell(source: str) -> tuple[str, str]:
    """Return a kernel cell as the reader gets it, and the solution that was in it; (source, "") for a cell without markers.

    A solution may carry the lines that the reader begins with, as comments behind a line `// STARTER`. They then stand in its place.

    >>> print(blank_cell("%%cuda f\\nvoid f() {\\n    // BEGIN SOLUTION\\n    g();\\n    // END SOLUTION\\n}")[0])
    %%cuda f
    void f() {
        // write it here
    }
    """
    source, starters = _take_starters(source)
    copied, solution, inside, blanks = [], [], False, 0
    for line in source.split("\n"):
        mark = re.fullmatch(rf"(\s*)// ({BEGIN}|{FINISH})\s*", line)
        if mark is None and (BEGIN in line or FINISH in line):
            raise BadMarkers(f"the line {line.strip()!r} must hold nothing but `// {BEGIN}` or `// {FINISH}`")
        if mark and inside == (mark[2] == BEGIN):
            raise BadMarkers(f"`// {mark[2]}` stands where it cannot")
        if mark and mark[2] == BEGIN:
            blanks += 1
            copied += starters.get(blanks) or [f"{mark[1]}{WRITE}"]
        elif mark:
            copied += [] if starters.get(blanks) else [(mark[1], END)]
        elif not inside:
            copied.append(line)
        solution += [line] * (mark is None)
        inside = mark[2] == BEGIN if mark else inside
    if inside:
        raise BadMarkers(f"a solution has no `// {FINISH}`")
    return _without_needless_ends(copied), "\n".join(solution) if blanks else ""


def _take_starters(source: str) -> tuple[str, dict[int, list[str]]]:
    """Return a cell without the lines that the reader begins with, and these lines by the solution's number, without comment marks."""
    copied, found, number, taking = [], {}, 0, False
    for line in source.split("\n"):
        number += f"// {BEGIN}" in line
        taking = taking and f"// {FINISH}" not in line
        if taking:
            start = re.fullmatch(r"(\s*)// ?(.*)", line)
            if not start:
                raise BadMarkers(f"the line {line.strip()!r} behind `// {STARTER}` must begin with //")
            found.setdefault(number, []).append(start[1] + start[2])
        elif line.strip() == f"// {STARTER}":
            taking = True
        else:
            copied.append(line)
    return "\n".join(copied), found


def _without_needless_ends(lines: list) -> str:
    """Return the cell's text; what is blank up to the closing brace, from the opening one on, needs no mark at its end."""
    text = []
    for i, line in enumerate(lines):
        if isinstance(line, str):
            text.append(line)
            continue
        before = [entry for entry in text[:-1] if entry.strip() and not entry.startswith("%%")]
        after = "".join(entry if isinstance(entry, str) else entry[1] for entry in lines[i + 1:])
        whole = (not before or before[-1].rstrip().endswith("{")) and not after.strip("} \t")
        text += ["", line[0] + line[1]] if not whole else []
    return "\n".join(text)


def answer_cell(solution: str, number: int) -> dict:
    """Return the cell below a blank one: the whole kernel, behind a line to click."""
    magic, _, kernel = solution.partition("\n")
    works = "a program" if magic.startswith("%%c ") else "a kernel"
    text = (f"<details>\n<summary>Show {works} that works</summary>\n\n```c++\n{kernel.strip()}\n```\n\n"
            f"Copy it below the line `{magic.strip()}` if you like, and run that cell again.\n\n</details>")
    return {"cell_type": "markdown", "id": f"answer-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}


def reader_copy(data: bytes, name: str) -> tuple[bytes, str]:
    """Return a notebook as the reader gets it.

    Parameters
    ----------
    data : bytes
        The notebook of the course.
    name : str
        Its place in the course, as notebooks/04_tiling.ipynb; told when its markers are wrong.

    Returns
    -------
    (bytes, str)
        The copy, and its edition.
    """
    notebook = json.loads(data)
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        source, solution = "".join(cell["source"]), ""
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
            if source.startswith(("%%cuda", "%%c ")):
                try:
                    source, solution = blank_cell(source)
                except BadMarkers as error:
                    raise BadMarkers(f"{name}, cell {number}: {error}") from None
        cells.append(cell | {"source": source.splitlines(keepends=True)})
        cells += [answer_cell(solution, number)] if solution else []
    notebook["cells"] = cells
    edition = hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:16]
    notebook["metadata"][KEY] = {"copy_of": name, "edition": edition}
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode(), edition


def edition_of(path: Path) -> str:
    """Return the edition that a reader's notebook was made from; "" for one that is not from here or cannot be read."""
    try:
        found = json.loads(path.read_bytes())["metadata"][KEY]["edition"]
        return found if isinstance(found, str) else ""
    except (OSError, ValueError, KeyError, TypeError):
        return ""


class Copying:
    """One run: what it makes, and what it has to say."""

    def __init__(self, root: Path) -> None:
        self.root, self.mine = root, root / MINE
        self.made, self.newer, self.broken = [], [], []
        self.mine.mkdir(exist_ok=True)
        _sweep(self.mine)
        self.part = Path(tempfile.mkdtemp(prefix=".part-", dir=self.mine))
        self.state = _state(self.mine)

    def run(self) -> None:
        """Copy what is not there."""
        try:
            for name in _names(self.root):
                data = (self.root / name).read_bytes()
                if not name.endswith(".ipynb"):
                    self.file(name, data)
                    continue
                try:
                    copy = reader_copy(data, name)
                except (ValueError, KeyError, TypeError, AttributeError) as error:     # one broken file must not keep the others away
                    self.broken.append(f"{name} was not copied ({type(error).__name__}: {error}): bring it back as it was, with "
                                       f"`git checkout {name}` or from the zip file")
                else:
                    self.notebook(name, *copy)
            self.write(STATE, (json.dumps(self.state, indent=1) + "\n").encode(), replace=True)
        finally:
            shutil.rmtree(self.part, ignore_errors=True)

    def notebook(self, name: str, data: bytes, edition: str) -> None:
        """Put a notebook where none is, or beside the reader's when that is of another edition."""
        target = self.mine / name
        if not target.exists():
            self.made += [name] * self.write(name, data)
            return
        beside = sorted(target.parent.glob(f"{target.stem} (new edition*).ipynb"))
        old = edition_of(target)
        if old == edition:
            return
        found = next((path for path in beside if edition_of(path) == edition), None)
        if found is None:
            found = _free(target)
            self.write(found.relative_to(self.mine).as_posix(), data)
        self.newer.append(found.relative_to(self.mine).as_posix())

    def file(self, name: str, data: bytes) -> None:
        """Put a file that goes with a lesson; one that the reader has not changed follows the course."""
        target, digest = self.mine / name, hashlib.sha256(data).hexdigest()
        there = hashlib.sha256(target.read_bytes()).hexdigest() if target.exists() else None
        if there in (None, self.state.get(name)) and there != digest:
            self.write(name, data, replace=there is not None)
            self.state[name] = digest

    def write(self, name: str, data: bytes, replace: bool = False) -> bool:
        """Write a file in one step; without `replace` an existing one stays. Return whether it was written."""
        target = self.mine / name
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=self.part)       # a name of its own: a lesson and its exercise are called alike
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(part, 0o644)
        if replace:
            os.replace(part, target)
            return True
        try:
            os.link(part, target)
            os.remove(part)
        except FileExistsError:
            return False
        except OSError:                      # a file system without hard links
            if target.exists():
                return False
            os.rename(part, target)
        return True

    def says(self) -> list[str]:
        """Return what the reader should know, a line each."""
        lines = []
        if self.made:
            lessons = sum(name.startswith("notebooks/") for name in self.made)
            what = f"{lessons} lessons and {len(self.made) - lessons} exercises" if len(self.made) > 3 else ", ".join(self.made)
            lines.append(f"your own copies are in {MINE}/; put there now: {what}")
        if self.newer:
            one = len(self.newer) == 1
            lines.append(f"{'a newer edition lies' if one else 'newer editions lie'} beside your own, which "
                         f"{'stays as it is' if one else 'stay as they are'}: {', '.join(f'{MINE}/{name}' for name in self.newer)}")
        return lines + self.broken


def _names(root: Path) -> list[str]:
    """Return the files of the lessons and exercises, without what editors leave."""
    paths = (path for folder in TAKEN for path in sorted((root / folder).rglob("*")) if path.is_file())
    names = (path.relative_to(root) for path in paths)
    return [name.as_posix() for name in names if not any(part.startswith((".", "__")) for part in name.parts)]


def _free(target: Path) -> Path:
    """Return a name beside a notebook that nobody has taken."""
    names = (f"{target.stem} (new edition{f' {n}' * (n > 1)}).ipynb" for n in range(1, 1000))
    return next(target.with_name(name) for name in names if not target.with_name(name).exists())


def _state(folder: Path) -> dict:
    """Return what the other files were when they were copied, by name; {} when that is not known."""
    try:
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def _sweep(folder: Path) -> None:
    """Remove what runs that were interrupted long ago have left."""
    for path in folder.glob(".part-*"):
        with suppress(FileNotFoundError):        # another run has just ended
            if time.time() - path.stat().st_mtime > LEFT_BEHIND:
                shutil.rmtree(path, ignore_errors=True)


def make(root: Path = ROOT) -> list[str]:
    """Make the copies that are missing; return the lines that say what the reader should know."""
    copying = Copying(Path(root))
    copying.run()
    return copying.says()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    for said in make() or [f"your own copies are in {MINE}/, and none has a newer edition"]:
        print(said)
