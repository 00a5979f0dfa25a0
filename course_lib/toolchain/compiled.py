"""What comes out of `compile_cuda`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib.toolchain.code_stand_in import CodeStandIn
from course_lib.toolchain.diagnostics import Diagnostic, parse_log


@dataclass(frozen=True)
class Compiled:
    """What NVRTC made of one source text.

    Attributes
    ----------
    name, arch, source
        As they were given to `compile_cuda`.
    ptx
        The portable assembly; `.loc` lines lead back to the source.
    cubin
        Machine code for `arch`, an ELF file; empty for a virtual architecture (`compute_90`). Where there is no compiler a stand-in,
        which `resources`, `sass` and `loops` take as well.
    log
        The compiler's messages; a compilation that succeeds may have warnings.
    ptxas_log
        What the assembler tells about registers and spills; `resources` reads it.
    nvrtc_version
        (major, minor).
    symbols
        The name in PTX of each of the `kernels` that `compile_cuda` was asked for.
    """

    name: str
    arch: str
    source: str = field(repr=False)
    ptx: str = field(repr=False)
    cubin: bytes | CodeStandIn = field(repr=False)
    log: str = field(repr=False)
    ptxas_log: str = field(repr=False)
    nvrtc_version: tuple[int, int]
    symbols: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Return the warnings, a tuple of `Diagnostic`."""
        return tuple(d for d in parse_log(self.log, self.source, self.name) if d.severity == "warning")
