"""Which names a PTX text has declared, scope by scope.

Braces open a scope; a name means the innermost declaration around it. So that names stay distinct behind the parser, a register or label
of an inner scope becomes `name@number`, and a variable whose name is taken `name.number`: no name of PTX contains these marks.
"""

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from course_lib.simt.ptx.ir import Reg, Vec

SPECIAL = re.compile(r"%(n?tid|n?ctaid|n?clusterid|laneid|n?warpid|warpsize|n?smid|gridid|is_explicit_cluster|cluster_\w+|lanemask_\w+"
                     r"|clock\w*|globaltimer\w*|pm\d\w*|envreg\d+|reserved_smem\w*|\w+_smem_size|current_graph_exec)")
ELEMENTS = {letter: at for letters in ("xyzw", "rgba") for at, letter in enumerate(letters)}


@dataclass(frozen=True)
class Named:
    """A variable: its name behind the parser, its space, the bytes of an element, and how many dimensions it has."""

    name: str
    space: str = ""
    element: int = 0
    dimensions: int = 0


Meaning: TypeAlias = Reg | Vec | Named


@dataclass(frozen=True)
class Range:
    """Registers declared together, `%r<9>`: those from 0 to `count` - 1, each a vector of `parts` where that is not 1."""

    prefix: str
    count: int
    kind: str
    parts: int


@dataclass
class Scope:
    """What one pair of braces declares. `mark` is what its registers' names get behind the parser."""

    mark: str = ""
    names: dict[str, Meaning] = field(default_factory=dict)
    ranges: list[Range] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)

    def member(self, word: str) -> Range | None:
        """Return the range that a register belongs to: one with the name before its last digits.

        >>> scope = Scope(ranges=[Range("%r", 9, "b32", 1), Range("a1", 20, "b32", 1)])
        >>> [scope.member(w) is not None for w in ("%r8", "%r9", "%r08", "%r", "a112")]
        [True, False, True, False, False]
        """
        stem, number = split(word)
        return next((found for found in self.ranges if found.prefix == stem and number < found.count), None) if number >= 0 else None

    def has(self, word: str) -> bool:
        """Say whether a name is declared here already."""
        return word in self.names or word in self.labels or self.member(word) is not None


class Names:
    """The scopes around the place where the parser is, the module's first, and all names of variables given so far."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = [Scope()]
        self.taken: set[str] = set()
        self.count = 0

    def unique(self, name: str) -> str:
        """Return a name for a variable that no other one has."""
        found = name
        if name in self.taken:
            self.count += 1
            found = f"{name}.{self.count}"
        self.taken.add(found)
        return found

    def find(self, word: str, registers: dict[str, str]) -> Meaning | None:
        """Return what a name means here, or None where nothing declares it; note the type of a register of a range in `registers`."""
        for scope in reversed(self.scopes):
            if word in scope.names:
                return scope.names[word]
            found = scope.member(word) if scope.ranges else None
            if found is not None:
                stem, number = split(word)      # `%r08` is `%r8`
                scope.names[word] = declare(own(f"{stem}{number}", scope.mark), found.kind, found.parts, registers)
                return scope.names[word]
        return None


def split(word: str) -> tuple[str, int]:
    """Return what a register of a range begins with, and its number; -1 where it has none.

    >>> split("%r12"), split("%tid.x")
    (('%r', 12), ('%tid.x', -1))
    """
    stem = word.rstrip("0123456789")
    digits = word[len(stem):]
    return stem, int(digits) if 0 < len(digits) < 10 else -1


def plain(name: str) -> str:
    """Return the name of a variable as the text has it.

    >>> plain("tile.3"), plain("tile")
    ('tile', 'tile')
    """
    return name.partition(".")[0]


def written(register: str) -> str:
    """Return a register as the text has it.

    >>> [written(name) for name in ("%r1", "%r1@3", "v@2@x", "%tid.x", "%laneid@own")]
    ['%r1', '%r1', 'v.x', '%tid.x', '%laneid']
    """
    name, _, mark = register.partition("@")
    element = mark.rpartition("@")[2]
    return f"{name}.{element}" if element in ELEMENTS else name


def own(name: str, mark: str) -> str:
    """Return a register's name behind the parser; one that is declared with the name of a special register is none.

    >>> own("%r1", ""), own("%r1", "@3"), own("%laneid", "")
    ('%r1', '%r1@3', '%laneid@own')
    """
    return f"{name}{mark or ('@own' if SPECIAL.fullmatch(name) else '')}"


def declare(name: str, kind: str, parts: int, registers: dict[str, str]) -> Reg | Vec:
    """Note the type of a register, or of the elements of a vector register, in `registers`; return it."""
    if parts == 1:
        registers[name] = kind
        return Reg(name)
    items = tuple(Reg(f"{name}@{letter}") for letter in "xyzw"[:parts])
    registers.update({item.name: kind for item in items})
    return Vec(items)
