"""CUDA C to PTX and cubin with NVRTC, NVIDIA's compiler as a library: no GPU, no driver, no toolkit needed.

What it made is stored on disk (`compile_cache.py`). Where it cannot be loaded, as on macOS, this course's texts are answered from the
precompiled archive (`archive.py`), and every other text is refused with a sentence that says what to do.
"""

import functools
import re
import sys
from collections.abc import Mapping, Sequence

from course_lib.errors import CourseError
from course_lib.kernels.complete import HEADERS
from course_lib.toolchain import archive
from course_lib.toolchain.compile_cache import cached_compilation
from course_lib.toolchain.compiled import Compiled
from course_lib.toolchain.diagnostics import CompileError, Diagnostic, parse_log
from course_lib.toolchain.forks import NO_FORK
from course_lib.toolchain.headers import include_directories
from course_lib.toolchain.request import NAME, Request
from course_lib.toolchain.source_text import check_text, define_options

_ARCH = re.compile(r"(sm|compute)_(\d+)[af]?")
ALWAYS = ("-lineinfo", "--std=c++17", "--ptxas-options=-v")
NAME_EXPRESSION = "--name-expression="     # how a wanted instance stands among the options, which are part of every key
_PTXAS_INFO = re.compile(r"ptxas (?:info| +\.).*")
_FOLDERS = re.compile(r"""(?m)(^\t\.file\t\d+ ")(?:[^"\n]*[/\\])?(?=[^"\n]*")""")
_ASKS_FOR_ITS_NAME = re.compile(r"(?<!static_)assert|__FILE__")
_INCLUDES = re.compile(r"^\s*#\s*include\b", re.MULTILINE)


def compile_cuda(source: str, *, name: str = "kernel.cu", arch: str = "sm_90",
                 defines: Mapping[str, int | float | str | bool] | None = None, options: Sequence[str] = (),
                 kernels: Sequence[str] = ()) -> Compiled:
    """Compile CUDA C, with line numbers, as C++17.

    Takes about 30 ms; the same request again is answered from memory, or by a later process from disk. Safe to call from several threads.

    Parameters
    ----------
    source
        CUDA C text. NVIDIA's headers are found when their pip wheels are installed, and those of `kernels/` always.
    name
        What messages call the text, usually the file's name.
    arch
        `sm_90` for PTX and machine code, `compute_90` for PTX alone.
    defines
        Macros, passed with -D; True and False become 1 and 0.
    options
        Further options, as NVRTC takes them.
    kernels
        Names such as `sgemm<64, 8>`: instances of templates to be made, which `Compiled.symbols` then names as PTX does.

    Raises
    ------
    CompileError
        When the compiler refuses the text; holds its messages with the reader's own line numbers.
    CourseError
        When NVRTC does not know the architecture or an option; or when it is not there, and the text is none of those in the
        precompiled archive.

    Source: NVRTC documentation, "Supported Compile Options" and "Thread Safety".

    >>> compiled = compile_cuda('extern "C" __global__ void one(float* x) { *x = ONE; }', defines={"ONE": 1})
    >>> ".visible .entry one(" in compiled.ptx, compiled.cubin[:4]
    (True, b'\\x7fELF')
    """
    check_text(source, name, "CUDA C")
    _check_arch(arch)
    options = (*define_options(defines or {}), *_plain_options(options), *(NAME_EXPRESSION + kernel for kernel in kernels))
    return answer(Request(source, str(name), arch, options))


def answer(request: Request) -> Compiled:
    """Compile, or look in the precompiled archive where there is no compiler; every compilation of the course passes here.
    """
    return compile_here(request) if nvrtc_is_there() else _from_archive(request)


def compile_here(request: Request) -> Compiled:
    """Ask NVRTC, or the disk for what NVRTC said to an earlier process.

    Raises
    ------
    CourseError
        As `compile_cuda`.
    """
    with NO_FORK:
        return _from_nvrtc(request, _library()[1])


def machine_code(compiled: Compiled) -> bytes:
    """Return the cubin of a Compiled as bytes.

    Raises
    ------
    CourseError
        When only its text is here, because it came from the precompiled archive.
    """
    if isinstance(compiled.cubin, bytes):
        return compiled.cubin
    raise CourseError(f"{compiled.name} needs NVRTC, NVIDIA's CUDA compiler, for code that a GPU can run: {_how_to_get_it()}",
                      name=compiled.name)


def nvrtc_is_there() -> bool:
    """Tell whether NVRTC can be loaded; without it only texts in the precompiled archive have PTX."""
    try:
        _library()
    except CourseError:
        return False
    return True


def nvrtc_version() -> tuple[int, int]:
    """Return the (major, minor) version of the NVRTC that is here, or of the one that made the precompiled archive.

    >>> nvrtc_version() >= (12, 9)
    True
    """
    return _library()[1] if nvrtc_is_there() else tuple(_archive_index()["nvrtc"])


def supported_architectures() -> tuple[int, ...]:
    """Return the compute capabilities that NVRTC makes code for, as two- or three-digit numbers.

    >>> 90 in supported_architectures()
    True
    """
    if not nvrtc_is_there():
        return tuple(_archive_index()["architectures"])
    nvrtc, _ = _library()
    return tuple(_checked(nvrtc, nvrtc.nvrtcGetSupportedArchs()))


@functools.cache
def _library():
    """Load NVRTC once; a failure is not cached, so that installing it helps without a restart."""
    try:
        with NO_FORK:
            from cuda.bindings import nvrtc
            version = _checked(nvrtc, nvrtc.nvrtcVersion())
    except (ImportError, RuntimeError, OSError) as error:
        raise CourseError(f"NVRTC, NVIDIA's CUDA compiler, cannot be loaded: {_how_to_get_it()}",
                          reason=str(error)) from error
    return nvrtc, tuple(version)


def _how_to_get_it():
    if sys.platform == "darwin":
        return "use the dev container (.devcontainer/) or GitHub Codespaces: NVIDIA makes no NVRTC for macOS"
    return "run `pip install cuda-bindings nvidia-cuda-nvrtc` in the course's environment (`make lab` does it)"


def _checked(nvrtc, answer):
    """Take the status off an answer; return its one value, or the tuple of several, or None."""
    status, *values = answer
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CourseError(f"NVRTC failed with {status.name}", status=status.name)
    return values[0] if len(values) == 1 else tuple(values) or None


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


def _plain_options(options):
    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise CourseError(f'options must be a sequence of strings, like ["-use_fast_math"], not {options!r}')
    return options


@functools.lru_cache(maxsize=512)
def _from_nvrtc(request, version):
    """Return what NVRTC makes of this request. A text is compiled once, whatever it is called, unless it asks for its own name."""
    name = request.name if _ASKS_FOR_ITS_NAME.search(request.source) else NAME
    found, cubin = _compile(request.source, name, request.arch, (*ALWAYS, f"-arch={request.arch}", *request.options), version, request.key)
    return _named(request, found, cubin, version)


@functools.lru_cache(maxsize=512)
def _compile(source, name, arch, options, version, key):
    """Return (log, PTX and status of a failure, machine code) from the disk, or compile now; `key` is written with it."""
    folders = (*include_directories(version[0]), HEADERS) if _INCLUDES.search(source) else ()
    headers = tuple(f"-I{folder}" for folder in folders)
    return cached_compilation(lambda: _compile_now(source, name, arch, options + headers), source, name, arch, options, version, key)


def _compile_now(source, name, arch, options):
    """Ask NVRTC."""
    nvrtc, _ = _library()
    program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []))
    try:
        wanted = [option.removeprefix(NAME_EXPRESSION) for option in options if option.startswith(NAME_EXPRESSION)]
        for kernel in wanted:
            _checked(nvrtc, nvrtc.nvrtcAddNameExpression(program, kernel.encode()))
        options = [option.encode() for option in options if not option.startswith(NAME_EXPRESSION)]
        status, = nvrtc.nvrtcCompileProgram(program, len(options), options)
        log, ptxas_log = _split_log(_fetch(nvrtc, program, "ProgramLog"))
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return {"status": status.name, "log": log, "ptx": _ptx_of_failure(nvrtc, program)}, b""
        ptx = _without_folders(_fetch(nvrtc, program, "PTX").rstrip(b"\0").decode())
        cubin = _fetch(nvrtc, program, "CUBIN") if arch.startswith("sm_") else b""
        symbols = {kernel: _checked(nvrtc, nvrtc.nvrtcGetLoweredName(program, kernel.encode())).decode() for kernel in wanted}
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return {"log": log, "ptx": ptx, "ptxas_log": ptxas_log, **({"symbols": symbols} if symbols else {})}, cubin


def _named(request, found, cubin, version):
    """Return what was found as the reader called it, or raise the failure."""
    log = re.sub(rf'(?m)^{re.escape(NAME)}(?=\()|(?<="){re.escape(NAME)}(?=")', lambda _: request.name, found["log"])
    ptx = found["ptx"].replace(f'"{NAME}"', f'"{request.name}"')
    if "status" in found:
        raise _failure(found["status"], log, ptx, request.source, request.name, (*ALWAYS, f"-arch={request.arch}", *request.options))
    return Compiled(request.name, request.arch, request.source, ptx, cubin, log, found["ptxas_log"], version,
                    found.get("symbols", {}))


def _without_folders(ptx):
    """Return PTX that is the same in every working directory: it names files without their folders."""
    return _FOLDERS.sub(r"\1", ptx)


@functools.lru_cache(maxsize=512)
def _from_archive(request):
    """Return what NVRTC once made of this request."""
    _archive_index()
    if archive.find(request.key) is None:
        raise _not_in_archive(request)
    cubin = archive.ArchivedCode(request.key, request) if request.arch.startswith("sm_") else b""
    return _named(request, archive.entry(request.key), cubin, nvrtc_version())


def _archive_index():
    """Return what the archive says of itself, or raise the sentence on what a machine without either can do."""
    try:
        return archive.index()
    except CourseError as error:
        raise CourseError(f"NVRTC, NVIDIA's CUDA compiler, cannot be loaded here, and {error}; to compile kernels of your own, "
                          f"{_how_to_get_it()}", **error.facts) from None


def _not_in_archive(request):
    """Return the exception that says what the archive does not have, and how to get the compiler."""
    reason = "the precompiled archive has this course's kernels and lessons, and this text is none of them: it was edited, or is newer"
    if archive.knows(request.source):
        reason = f"the precompiled archive has this text, but not for {request.key[1]}: take values that the kernel's sliders offer"
    return CourseError(f"{request.name} needs NVRTC, NVIDIA's CUDA compiler, which cannot be loaded ({reason}). To compile it, "
                       f"{_how_to_get_it()}", name=request.name, key=request.key)


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


def _ptx_of_failure(nvrtc, program):
    """Return the PTX that the assembler refused, or "" when the front end refused the text."""
    try:
        return _without_folders(_fetch(nvrtc, program, "PTX").rstrip(b"\0").decode(errors="replace"))
    except CourseError:
        return ""


def _failure(status, log, ptx, source, name, options):
    """Return the exception that says why a compilation failed; `status` is NVRTC's word for it."""
    facts = {"status": status, "log": log, "ptx": ptx}
    if status == "NVRTC_ERROR_INVALID_OPTION":
        reason = log.removeprefix("nvrtc: error: ")
        return CourseError(f"NVRTC does not take these options: {reason} (given: {' '.join(options)})", options=options, **facts)
    if status != "NVRTC_ERROR_COMPILATION":
        return CourseError(f"NVRTC failed with {status} on {name}: {log}", **facts)
    found = parse_log(log, source, name, ptx) or (Diagnostic(None, "error", log[:500], ""),)
    return CompileError.from_diagnostics(name, found, log, status=status, ptx=ptx)
