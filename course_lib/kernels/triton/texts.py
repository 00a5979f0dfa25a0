"""The settings at which the product was compiled, and the PTX that is kept for each."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

PROGRAM = Path(__file__).with_name("product.triton")
FOLDER = Path(__file__).parent
MASKED = ", mask=(row < M) & (a_col < K), other=0.0"      # of the load of A: what is left out in the mistake
DOT, ROUNDED = "tl.dot(a, b, sums)", "tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16), sums)"


@dataclass(frozen=True)
class Setting:
    """How the product was compiled.

    `any_size`: N and K need not be multiples of 16. `masked`: False where the load of A has lost its mask. `floats`: A and B are float32,
    and are rounded to bfloat16 before they are multiplied.
    """

    stages: int = 3
    arch: str = "sm_80"
    any_size: bool = False
    masked: bool = True
    floats: bool = False
    BM: int = 64
    BN: int = 64
    BK: int = 32
    warps: int = 4

    @property
    def name(self) -> str:
        """Return the name of the text.

        >>> Setting().name, Setting(1, any_size=True).name
        ('sm_80_3', 'sm_80_1_any_size')
        """
        return f"{self.arch}_{self.stages}" + "_any_size" * self.any_size + "_unmasked" * (not self.masked) + "_floats" * self.floats

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by their names."""
        return asdict(self)


SETTINGS = (*(Setting(stages, arch) for arch in ("sm_80", "sm_90a") for stages in (1, 2, 3, 4)),
            Setting(any_size=True), Setting(masked=False), Setting(1, floats=True), Setting(3, floats=True))


def program_of(setting: Setting) -> str:
    """Return the text of the program that was compiled at a setting."""
    text = PROGRAM.read_text(encoding="utf-8")
    text = text.replace(DOT, ROUNDED) if setting.floats else text
    return text if setting.masked else text.replace(MASKED, "")


def digest_of(setting: Setting) -> str:
    """Return a hash of the program that is compiled at a setting, by which a text that is older than the program is known."""
    return hashlib.sha256(program_of(setting).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Written:
    """What Triton wrote at a setting.

    Attributes
    ----------
    ptx
        The text, with its first line.
    facts
        That line: "program" (`digest_of` it), "triton" (its version), "entry", "shared" (bytes of a block), "registers" and "local" (bytes
        of a thread), "loop", the machine instructions of the loop by their names, and "order", some of them as they follow each other.
    """

    setting: Setting
    ptx: str
    facts: dict[str, Any]


@lru_cache
def written(setting: Setting) -> Written:
    """Return what is kept of a setting.

    Raises
    ------
    CourseError
        Where nothing is.

    >>> written(Setting()).facts["entry"]
    'product'
    """
    if setting not in SETTINGS:
        kept = ", ".join(sorted({str(s.stages) for s in SETTINGS}))
        raise CourseError(f"{setting.name}: of this setting no PTX is kept. There is num_stages = {kept} for sm_80 and sm_90a")
    text = (FOLDER / f"{setting.name}.ptx").read_text(encoding="utf-8")
    return Written(setting, text, json.loads(text.partition("\n")[0].removeprefix("// ")))
