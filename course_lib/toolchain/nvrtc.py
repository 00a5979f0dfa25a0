"""CUDA C to PTX and cubin with NVRTC, NVIDIA's compiler as a library: no GPU, no driver, no toolkit needed."""

import functools
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from course_lib.errors import CourseError
from course_lib.toolchain.diagnostics import CompileError, Diagnostic, parse_log
from course_lib.toolchain.headers import include_directories

_ARCH = re.compile(r"(sm|compute)_(\d+)[af]?")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ALWAYS = ("-lineinfo", "--std=c++17", "--ptxas-options=-v")
_PTXAS_INFO = re.compile(r"ptxas (?:info| +\.).*")
_INCLUDES = re.compile(r"^\s*#\s*include\b", re.MULTILINE)


@dataclass(frozen=True)
class Compiled:
    """What NVRTC made of one source text.

    Attributes
    ----------
    name, arch, source : str
        As they were given to `compile_cuda`.
    ptx : str
        The portable assembly; `.loc` lines lead back to the source.
    cubin : bytes
        Machine code for `arch`, an ELF file; empty for a virtual architecture (`compute_90`).
    log : str
        The compiler's messages; a compilation that succeeds may have warnings.
    ptxas_log : str
        What the assembler tells about registers and spills; `resources` reads it.
    nvrtc_version : tuple of int
        (major, minor).
    """

    name: str
    arch: str
    source: str = field(repr=False)
    ptx: str = field(repr=False)
    cubin: bytes = field(repr=False)
    log: str = field(repr=False)
    ptxas_log: str = field(repr=False)
    nvrtc_version: tuple[int, int]

    @property
    def warnings(self):
        """Return the warnings, a tuple of `Diagnostic`."""
        return tuple(d for d in parse_log(self.log, self.source, self.name) if d.severity == "warning")


def compile_cuda(source, *, name="kernel.cu", arch="sm_90", defines=None, options=()):
    """Compile CUDA C, with line numbers, as C++17.

    Takes about 30 ms; the same request again is answered from memory. Safe to call from several threads.

    Parameters
    ----------
    source : str
        CUDA C text. NVIDIA's headers are found when their pip wheels are installed.
    name : str
        What messages call the text, usually the file's name.
    arch : str
        `sm_90` for PTX and machine code, `compute_90` for PTX alone.
    defines : mapping of str to int, float, str or bool, optional
        Macros, passed with -D; True and False become 1 and 0.
    options : sequence of str
        Further options, as NVRTC takes them.

    Returns
    -------
    Compiled

    Raises
    ------
    CompileError
        When the compiler refuses the text; holds its messages with the reader's own line numbers.
    CourseError
        When NVRTC is not there, or does not know the architecture or an option.

    Source: NVRTC documentation, "Supported Compile Options" and "Thread Safety".

    >>> compiled = compile_cuda('extern "C" __global__ void one(float* x) { *x = ONE; }', defines={"ONE": 1})
    >>> ".visible .entry one(" in compiled.ptx, compiled.cubin[:4]
    (True, b'\\x7fELF')
    """
    _check_texts(source, name)
    _check_arch(arch)
    version = nvrtc_version()
    wanted = [*_ALWAYS, f"-arch={arch}", *_define_options(defines or {}), *_plain_options(options)]
    if _INCLUDES.search(source):
        wanted += [f"-I{folder}" for folder in include_directories(version[0])]
    return _compile(source, str(name), arch, tuple(wanted), version)


def nvrtc_version():
    """Return NVRTC's (major, minor) version.

    >>> nvrtc_version() >= (12, 9)
    True
    """
    return _library()[1]


def supported_architectures():
    """Return the compute capabilities that NVRTC makes code for, as two- or three-digit numbers.

    >>> 90 in supported_architectures()
    True
    """
    nvrtc, _ = _library()
    return tuple(_checked(nvrtc, nvrtc.nvrtcGetSupportedArchs()))


@functools.cache
def _library():
    """Load NVRTC once; a failure is not kept, so that installing it helps without a restart."""
    try:
        from cuda.bindings import nvrtc
        version = _checked(nvrtc, nvrtc.nvrtcVersion())
    except (ImportError, RuntimeError, OSError) as error:
        raise CourseError(f"NVRTC, NVIDIA's CUDA compiler, cannot be loaded: {_how_to_get_it()}",
                          reason=str(error)) from error
    return nvrtc, tuple(version)


def _how_to_get_it():
    if sys.platform == "darwin":
        return "NVIDIA makes no NVRTC for macOS; use the dev container (.devcontainer/), or GitHub Codespaces"
    return "run `pip install cuda-bindings nvidia-cuda-nvrtc` in the course's environment (`make lab` does it)"


def _checked(nvrtc, answer):
    """Take the status off an answer; return its one value, or the tuple of several, or None."""
    status, *values = answer
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CourseError(f"NVRTC failed with {status.name}", status=status.name)
    return values[0] if len(values) == 1 else tuple(values) or None


def _check_texts(source, name):
    if not isinstance(source, str):
        raise CourseError(f"the source must be CUDA C text, a str, not {type(source).__name__}")
    if "\0" in source:
        raise CourseError(f"{name} holds a NUL character at line {source[:source.index(chr(0))].count(chr(10)) + 1}: "
                          "is it a text file?")
    if not str(name) or re.search(r"[\0\r\n]", str(name)):
        raise CourseError(f"the name of the source must be a single line, not {name!r}")


def _check_arch(arch):
    match = _ARCH.fullmatch(arch) if isinstance(arch, str) else None
    if match is None:
        raise CourseError(f"arch = {arch!r} is no architecture: write sm_90 for compute capability 9.0", arch=arch)
    known = supported_architectures()
    if int(match[2]) not in known:
        version = ".".join(map(str, nvrtc_version()))
        older = " (older GPUs need NVRTC 12)" if int(match[2]) < min(known) else ""
        raise CourseError(f"NVRTC {version} makes no code for {arch}{older}: it knows "
                          + ", ".join(f"sm_{n}" for n in known), arch=arch, known=known)


def _define_options(defines):
    if not isinstance(defines, Mapping):
        raise CourseError(f'defines must map names to values, like {{"BM": 32}}, not {defines!r}')
    for name, value in defines.items():
        if not (isinstance(name, str) and _IDENTIFIER.fullmatch(name)):
            raise CourseError(f"{name!r} cannot be defined: a macro's name is letters, digits and _, not a digit first")
        yield f"-D{name}={int(value) if isinstance(value, bool) else value}"


def _plain_options(options):
    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise CourseError(f'options must be a sequence of strings, like ["-use_fast_math"], not {options!r}')
    return options


@functools.lru_cache(maxsize=512)
def _compile(source, name, arch, options, version):
    """Compile; every argument is part of the cache's key."""
    nvrtc, _ = _library()
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        status, = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log, ptxas_log = _split_log(_fetch(nvrtc, program, "ProgramLog"))
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise _failure(nvrtc, program, status, log, source, name, options)
        ptx = _fetch(nvrtc, program, "PTX").rstrip(b"\0").decode()
        cubin = _fetch(nvrtc, program, "CUBIN") if arch.startswith("sm_") else b""
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return Compiled(name, arch, source, ptx, cubin, log, ptxas_log, version)


def _fetch(nvrtc, program, what):
    """Return the log, the PTX or the cubin of a program as bytes."""
    size = _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program))
    buffer = bytearray(size)
    if size:
        _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return bytes(buffer)


def _split_log(raw):
    """Separate the messages for the reader from what the assembler tells about every kernel."""
    lines = raw.rstrip(b"\0").decode(errors="replace").splitlines()
    told = [line for line in lines if _PTXAS_INFO.fullmatch(line)]
    log = "\n".join(line for line in lines if line not in told).strip("\n ")
    return log, "\n".join(line for line in told if "Compile time" not in line)     # which differs every time


def _failure(nvrtc, program, status, log, source, name, options):
    """Return the exception that says why a compilation failed."""
    if status == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
        reason = log.removeprefix("nvrtc: error: ")
        return CourseError(f"NVRTC does not take these options: {reason} (given: {' '.join(options)})",
                           options=options, log=log)
    if status != nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
        return CourseError(f"NVRTC failed with {status.name} on {name}: {log}", status=status.name, log=log)
    try:
        ptx = _fetch(nvrtc, program, "PTX").decode(errors="replace")
    except CourseError:
        ptx = ""          # the front end refused the text, so there is none
    found = parse_log(log, source, name, ptx) or (Diagnostic(None, "error", log[:500], ""),)
    return CompileError.from_diagnostics(name, found, log)
