"""Kernel cells that are still blank, and what a notebook shows where their kernels are missing.

`tools/my_course.py` makes the reader's copy of a lesson: what stands between `// BEGIN SOLUTION` and `// END SOLUTION` becomes `WRITE`,
with `END` behind it where more of the kernel follows. `course_lib.magic` asks `is_blank` whether the reader has written something since.

Jupyter stops "Run All" at the first cell that fails, and a cell fails when it leaves an exception to IPython. So a `NotWritten` is taken
there: where IPython would show a traceback `Missing.show` shows one sentence, and when the cell has ended `Missing.after_cell` takes the
error off its result, before the kernel answers the front end. Nothing else changes: no cell is rewritten, and other errors stop as always.
"""

import ast
import re
import sys
from collections.abc import Callable
from typing import Any, Protocol

from IPython.display import display

from course_lib.errors import CourseError
from course_lib.unwritten import NOT_WRITTEN, NotWritten, Unwritten, is_unwritten

WRITE, END = "// write it here", "// up to here"
_COMMENT = re.compile(r"\A%%[^\n]*|//[^\n]*|/\*.*?\*/", re.DOTALL)         # or the line of the magic


class Shell(Protocol):
    """What is asked of an IPython shell."""

    user_ns: dict[str, Any]
    events: Any
    showtraceback: Callable[..., None]
    register_magic_function: Callable[..., Any]
    transform_cell: Callable[[str], str]
    shows_what_is_missing: "Missing"


class CellResult(Protocol):
    """What IPython says of a cell that has ended."""

    error_in_exec: BaseException | None
    info: Any


class Notice:
    """One sentence for the reader; a screen reader says it, too."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self):
        words = self.text.replace("&", "&amp;").replace("<", "&lt;")
        return f'<p role="status" style="border-left:4px solid #b36b00;padding-left:0.6em">{words}</p>'


def is_blank(text: str) -> bool:
    """Tell whether a gap where the reader is to write is still as the copy had it.

    A gap that ends with `END` is blank as long as there are only comments before that. One that does not, a whole body, is blank as long
    as there are only comments between its braces, or in the whole text.

    >>> is_blank("void f() {\\n    // write it here\\n}"), is_blank("void f() {\\n    // write it here\\n    g();\\n}")
    (True, False)
    >>> is_blank("%%c f\\n// write it here"), is_blank("%%c f\\n// write it here\\nfor (;;);")
    (True, False)
    >>> is_blank("x;\\n// write it here\\n\\n// up to here\\ny;"), is_blank("x;\\n// write it here\\nz;\\n// up to here\\ny;")
    (True, False)
    """
    begin = 0
    while (at := text.find(WRITE, begin)) >= 0:
        rest = text[at:].partition("\n")[2]
        gap, end, _ = rest.partition(END)
        before, after = (_COMMENT.sub("", part).strip() for part in (text[begin:at], gap))
        if end and not after:
            return True
        if not end and before[-1:] in ("", "{") and not after.strip("} \t\n"):
            return True
        begin = len(text) - len(rest) + len(gap) + len(end)
    return False


def bind(namespace: dict[str, Any], name: str, why: str, text: str) -> Unwritten:
    """Bind a kernel's name to an `Unwritten`; one that stands there already goes on to stand for it, and what depends on it."""
    found = namespace.get(name)
    if is_unwritten(found) and found._root is found:
        found._why, found._text, found._is_written = why, text, False
        return found
    namespace[name] = Unwritten(name, why, text)
    return namespace[name]


def bind_written(namespace: dict[str, Any], name: str, text: str) -> None:
    """Bind a kernel's name to its text; arrays that it was to fill get their names back."""
    root = namespace.get(name)
    namespace[name] = text
    if not is_unwritten(root) or root._root is not root:
        return
    root._is_written = True
    for other, value in list(namespace.items()):
        if is_unwritten(value) and value._root is root and value._original is not None:
            namespace[other] = value._original


def unwritten(namespace: dict[str, Any], name: str, text: str) -> Notice:
    """Note that a cell is blank; return what the cell shows."""
    bind(namespace, name, NOT_WRITTEN, text)
    return Notice(f"{name} {NOT_WRITTEN}: write it in this cell, where it says “{WRITE}”, and run the cell again. The answer is below it.")


def install(shell: Shell) -> None:
    """Have an IPython shell show a `NotWritten` as one sentence, and go on. A second call changes nothing."""
    if not hasattr(shell, "shows_what_is_missing"):
        shell.shows_what_is_missing = Missing(shell)


class Missing:
    """What IPython does about a `NotWritten` in one shell."""

    def __init__(self, shell: Shell) -> None:
        self.shell, self.show_other = shell, shell.showtraceback
        self.said: set[str] = set()
        shell.showtraceback = self.show
        shell.events.register("post_run_cell", self.after_cell)

    def show(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        """Show the sentence, once a cell; any other exception as ever. IPython calls this also for what fails while it is displayed."""
        error = (exc_tuple or sys.exc_info())[1]
        if not isinstance(error, NotWritten):
            self.show_other(exc_tuple, *args, **kwargs)
        elif str(error) not in self.said:
            self.said.add(str(error))
            display(Notice(str(error)))

    def after_cell(self, result: CellResult) -> None:
        """Take the error off a cell that has told it, so that the front end goes on to the next."""
        self.said.clear()
        error = result.error_in_exec
        if isinstance(error, NotWritten):
            keep_names(self.shell.user_ns, self.shell.transform_cell(result.info.raw_cell), error)
            result.error_in_exec = None
        elif isinstance(error, CourseError) and error.facts.get("in_its_cell"):
            # the compiler's message is shown; the cells after it say so, too
            result.error_in_exec = None


def keep_names(namespace: dict[str, Any], cell: str, error: NotWritten) -> None:
    """Bind what a cell that ended early has not made, and the arrays that its kernel was to fill, to an `Unwritten` each."""
    for name, value in list(namespace.items()):
        if not name.startswith("_") and any(value is array for array in error.arrays):
            namespace[name] = Unwritten(name, root=error.root, original=value)
    for name in names_from(ast.parse(cell), failing_line(error, namespace)):
        if namespace.get(name) is not error.root:
            namespace[name] = Unwritten(name, root=error.root)


def failing_line(error: NotWritten, namespace: dict[str, Any]) -> int:
    """Return the line of the cell in which an exception began, 1 when its traceback does not tell."""
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals is namespace and step.tb_frame.f_code.co_name == "<module>":
            return step.tb_lineno
        step = step.tb_next
    return 1


def names_from(tree: ast.Module, line: int) -> list[str]:
    """Return the names that a cell's statements bind, from the one in a line to the last.

    >>> names_from(ast.parse("a = 1\\nb, (c, d) = f()\\nfor e in b: g = [h for h in e]\\ndef i(): j = 1\\nimport k.l, m as n"), 2)
    ['b', 'c', 'd', 'e', 'g', 'i', 'k', 'n']
    """
    found: dict[str, None] = {}
    waiting: list[ast.AST] = [node for node in reversed(tree.body) if (node.end_lineno or 0) >= line]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = None
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= dict.fromkeys((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += reversed(list(ast.iter_child_nodes(node)))
    return list(found)

