"""One question to the compiler, and the key under which its answer is found again."""

import hashlib
import re
from dataclasses import dataclass, field

NAME = "kernel.cu"         # what a text is called while it is compiled, unless it asks for its own name
_COMMENT = re.compile(r"""//(?:[^\\\n]|\\(?!\n))*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'""", re.DOTALL)    # and what may hold //
_TELLS_ITS_NAME = re.compile(r"\b(?:assert|__FILE__|__BASE_FILE__)\b|\bnamespace\s*\{")


@dataclass(frozen=True)
class Request:
    """One question to the compiler: a text, what it is called, the architecture, and the options that the caller chose.

    A text with instructions of sm_90a is compiled for it where sm_90 is asked for.

    >>> Request("int x;", "a.cu", "sm_90", ("-DN=2", "-DM=1")).key
    ('e13e332bd08e13cb', 'sm_90 -DM=1 -DN=2')
    """

    source: str = field(repr=False)
    name: str
    arch: str
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "arch", with_features(self.arch, self.source))

    @property
    def key(self) -> tuple[str, str]:
        """Return (hash of the text, what it is compiled for); the name counts only for a text that tells it at run time."""
        named = (self.name,) if _TELLS_ITS_NAME.search(self.source) else ()
        return source_hash(self.source), " ".join((*named, self.arch, *sorted(self.options)))


def with_features(arch: str, source: str) -> str:
    """Return the architecture for a text: with an "a" behind it where the text has instructions that only this very architecture has.

    >>> with_features("sm_90", 'asm("wgmma.fence.sync.aligned;");'), with_features("sm_90", "C[i] = 0;"), with_features("sm_80", "wgmma.")
    ('sm_90a', 'sm_90', 'sm_80')
    """
    return f"{arch}a" if arch == "sm_90" and re.search(r"\b(wgmma|setmaxnreg)\.", source) else arch


def without_comments(text: str, kinds: tuple[str, ...] = ("//", "/*")) -> str:
    """Return a text without its comments of these kinds; what stands in a string is none.

    >>> without_comments('f("//a");  // b'), without_comments("int /* of x */ x;")
    ('f("//a");  ', 'int  x;')
    """
    return _COMMENT.sub(lambda found: "" if found[0].startswith(kinds) else found[0], text)


def source_hash(text: str) -> str:
    """Return the first 16 digits of the SHA-256 of a text without its line comments, which change nothing that comes out.

    >>> source_hash("int x;  // one") == source_hash("int x;"), source_hash("\\n\\nint x;") == source_hash("int x;")
    (True, False)
    """
    code = without_comments(text, ("//",))
    return hashlib.sha256(re.sub(r"[ \t]+$", "", code, flags=re.MULTILINE).encode()).hexdigest()[:16]
