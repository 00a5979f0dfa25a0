"""Read PTX text into functions, instructions and variables; nothing is interpreted here.

The grammar is the one of NVIDIA's "PTX ISA" manual. An instruction has its opcode split at the dots
(`ld.global.v2.f32` -> `("ld", "global", "v2", "f32")`), so that passes can look at the parts, and the source line that the last `.loc`
directive named.
"""

from course_lib.simt.ptx.functions import Functions
from course_lib.simt.ptx.ir import Module

LINKAGE = (".visible", ".extern", ".weak", ".common")


def parse(text: str, source: str | None = None) -> Module:
    """Parse the text of a complete PTX module.

    `source` is the file whose lines the instructions get, as a `.file` directive names it; without one, file 1 of the text.

    Raises
    ------
    PtxSyntaxError
        Names the line of the PTX text and what stands there.
    """
    return _Parser(text, source).module_items()


class _Parser(Functions):
    """Recursive descent over the tokens: the module level."""

    def module_items(self) -> Module:
        self.names.taken = self.outside()
        while self.kinds[self.at] != "end":
            word = self.take()
            if word == ".version":
                self.module.version = self.take()
            elif word == ".target":
                self.module.target = self.take()
                while self.accept(","):
                    self.take()
            elif word == ".address_size":
                if self.integer() != 64:
                    raise self.last("the simulator knows addresses of 64 bits only")
            elif word in LINKAGE:
                continue
            elif word in (".entry", ".func"):
                self.function(word == ".entry")
            elif word in (".global", ".const", ".shared"):
                for variable in self.variables(word[1:]):
                    self.module.variables[variable.name] = variable
            elif word == ".alias":
                self.alias()
            elif not self.debug_directive(word):
                raise self.last(f"unknown directive {word!r}")
        for name, at in self.addressed:
            if name not in self.module.functions and name not in self.module.variables:
                raise self.error(f"the initial value {name!r} is no variable or function of this module", self.offsets[at])
        return self.module

    def outside(self) -> set[str]:
        """Return all names that stand outside braces and parentheses: no variable inside may have one of them behind the parser."""
        depth, found = 0, set()
        for kind, word in zip(self.kinds, self.words):
            depth += (word in "{(") - (word in "})") if kind == "mark" else 0
            if kind == "word" and depth <= 0 and not word.startswith("."):
                found.add(word)
        return found

    def alias(self) -> None:
        """`.alias name, function;`: another name of a function that is defined here."""
        name = self.name("a function")
        self.take(",")
        target = self.name("a function")
        self.take(";")
        for known in (name, target):
            if known not in self.module.functions:
                raise self.last(f".alias names {known!r}, which is no function declared before")
        if not self.module.functions[target].defined or self.module.functions[name].defined:
            raise self.last(f".alias gives a function that is only declared ({name!r}) the body of one that is defined ({target!r})")
        self.module.aliases[name] = target
