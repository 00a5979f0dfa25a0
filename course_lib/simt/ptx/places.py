"""Which line of the reader's file an instruction belongs to: `.loc` directives, and the calls through which code was inlined."""

import re

FILE = re.compile(r'(?m)^\s*\.file\s+(\d+)\s+"([^"\n]*)"')
Place = tuple[int, int, int]      # file, line, column


class Places:
    """Follows the `.loc` directives of a text.

    `line` is the line of the reader's file (0: unknown), `header` is "name.h, line 80" where the code itself stands in another file.

    The compiler names only the nearest call: `.loc 3 80 1, inlined_at 2 120 5`. Where line 120 of file 2 was called from, it has said
    before, once: `.loc 2 120 5, inlined_at 7 9 3`. So every place is remembered with the line of the reader's file that led there last.
    """

    def __init__(self, text: str, source: str | None) -> None:
        self.files = {int(number): name.replace("\\", "/").rpartition("/")[2] for number, name in FILE.findall(text)}
        self.main = next((number for number, name in self.files.items() if name == source), 1)
        self.forget()

    def forget(self) -> None:
        """Begin a function, whose instructions belong to no line before its first `.loc`."""
        self.line, self.header = 0, ""
        self.called_from: dict[Place, int] = {}

    def move(self, here: Place, outer: Place | None) -> None:
        """Go to a place, whose code was inlined at `outer`; line 0 is no place."""
        number, line, _ = here
        if not line:
            return
        if number == self.main:
            self.line, self.header = line, ""
        else:
            caller = self.line if outer is None else outer[1] if outer[0] == self.main else self.called_from.get(outer, 0)
            self.line, self.header = caller, f"{self.files.get(number, f'file {number}')}, line {line}"
        self.called_from[here] = self.line
