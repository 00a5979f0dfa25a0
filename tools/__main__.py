"""The command `python -m tools`: its groups are the subpackages, its commands the modules that define `command`."""

import ast
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent


def told(path: Path) -> tuple[str, bool]:
    """Return the first line of a module's docstring, and whether the module defines `command`; nothing is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {name.id for node in tree.body if isinstance(node, ast.Assign) for name in node.targets if isinstance(name, ast.Name)}
    named |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return (ast.get_docstring(tree) or "").partition("\n")[0].rstrip("."), "command" in named


class Lazy(click.Group):
    """A group of the modules and subpackages of a folder, each of which is imported when it is run or asked for help."""

    def __init__(self, folder: Path, **how: Any) -> None:
        super().__init__(folder.name, help=told(folder / "__init__.py")[0] + ".", **how)
        self.folder = folder

    def lines(self) -> dict[str, str]:
        """Return command -> what it does, in a line."""
        found = {path.stem: told(path) for path in sorted(self.folder.glob("[a-z]*.py"))}
        return {name.replace("_", "-"): line for name, (line, is_command) in found.items() if is_command}

    def groups(self) -> dict[str, "Lazy"]:
        """Return the groups inside this one by their names."""
        return {path.parent.name: Lazy(path.parent) for path in sorted(self.folder.glob("*/__init__.py"))}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of groups, then of commands."""
        return [*self.groups(), *self.lines()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a group, or import a command."""
        if cmd_name in self.groups():
            return self.groups()[cmd_name]
        if cmd_name not in self.lines():
            return None
        name = ".".join([*self.folder.relative_to(HERE.parent).parts, cmd_name.replace("-", "_")])
        module = importlib.import_module(name)
        module.command.help = inspect.cleandoc(module.__doc__ or "")
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List every command with its line, group by group."""
        sections = {f"{name}: {group.help}": {f"{name} {command}": line for command, line in group.lines().items()}
                    for name, group in self.groups().items()}
        sections["Commands" if not sections else "other commands"] = self.lines()
        for title, lines in sections.items():
            with formatter.section(title.rstrip(".")):
                formatter.write_dl(list(lines.items()), col_max=30)


cli = Lazy(HERE, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 140})


def main() -> None:
    """Run the command line; an error of the course or of a tool is a sentence, and exit status 2."""
    try:
        cli(prog_name="python -m tools")
    except Exception as error:
        from course_lib.errors import CourseError
        from tools import ToolError
        if not isinstance(error, CourseError | ToolError):
            raise
        click.echo(error, err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
