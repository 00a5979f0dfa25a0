"""Public functions and the fields of dataclasses say their types; mypy (`make lint`) says whether they are true."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted(path.relative_to(ROOT).as_posix() for folder in ("course_lib", "tools") for path in (ROOT / folder).rglob("*.py"))


def functions(tree):
    """Yield the public functions and methods of a module, those of private classes and inner functions left out."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node)


def untyped(tree):
    """Return the names of public functions without a type for each argument and the result, and of classes' bare attributes."""
    found = []
    for node in functions(tree):
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        missing = [a.arg for a in given if a and a.annotation is None and a.arg not in ("self", "cls")]
        if missing or node.returns is None:
            found.append(f"{node.name}({', '.join(missing)}){'' if node.returns else ' -> ?'}")
    return found


@pytest.mark.parametrize("module", MODULES)
def test_public_functions_say_their_types(module):
    assert untyped(ast.parse((ROOT / module).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("text", ["def f(a): pass", "def f(a: int): pass", "class A:\n    def f(self, *rest: int, **more) -> int: ..."])
def test_what_has_no_type_is_found(text):
    assert untyped(ast.parse(text))
