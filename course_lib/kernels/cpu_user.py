"""A CPU program that the reader wrote: a whole C function, or only its loops with A(i, k), B(k, j), C(i, j)."""

import re
from typing import Any

from course_lib.errors import CourseError
from course_lib.kernels.cpu import ARGUMENTS, THREADS, CpuKernel

SIGNATURE = ", ".join(ARGUMENTS)
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_FUNCTION = re.compile(r"\b(?:void|int)\s+(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>\s*int\s+\w+\s*,[^()]*)\)\s*\{")
_OPENMP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b", re.MULTILINE)
_CELL = re.compile(r"// %%c (\w+)\n")
_FRAME = """\
#include <stddef.h>
#ifndef REAL
#define REAL float
#endif
#ifndef A
#define A(i, k) matrix_a[(size_t)(i) * stride_a + (k)]
#define B(k, j) matrix_b[(size_t)(k) * stride_b + (j)]
#define C(i, j) matrix_c[(size_t)(i) * stride_c + (j)]
#endif
static inline int min(int a, int b) { return a < b ? a : b; }
void own_loops(int M, int N, int K, REAL alpha, const REAL* restrict matrix_a, int stride_a,
               const REAL* restrict matrix_b, int stride_b, REAL beta, REAL* restrict matrix_c, int stride_c) {
    (void)alpha; (void)K; (void)matrix_a; (void)stride_a; (void)matrix_b; (void)stride_b;
    for (int row = 0; row < M; ++row)
        for (int col = 0; col < N; ++col) {
            REAL* c = &matrix_c[(size_t)row * stride_c + col];
            *c = beta == 0 ? 0 : beta * *c;
        }
"""


def is_c_source(kernel: Any) -> bool:
    """Tell C text from the name of a program.

    >>> is_c_source("C(0, 0) += 1;"), is_c_source("gemm_ikj")
    (True, False)
    """
    return isinstance(kernel, str) and any(mark in kernel for mark in "\n;{(")


def own_program(source: str, name: str | None = None) -> CpuKernel:
    """Make a CPU program from the reader's C text.

    Parameters
    ----------
    source
        Either a whole function (M, N, K, alpha, A, lda, B, ldb, beta, C, ldc[, threads]) in REAL, float or double; or
        only the loops that add A B to C, in which A(i, k), B(k, j) and C(i, j) are elements, M, N, K, alpha and
        min(a, b) are known, and C already holds beta C. A function with `#pragma omp` is compiled with OpenMP.
    name
        What messages call the text; default what a cell's `%%c NAME` says, or "your program".

    Raises
    ------
    CourseError
        When the text holds a function, but none that takes these arguments.
    """
    name = name or (_CELL.match(source) or ["", "your program"])[1]
    bare = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source)
    functions = list(_FUNCTION.finditer(bare))
    if not functions:
        return _loops(source, name)
    fitting = [(m, found) for m in functions if (found := _fits(m["parameters"])) is not None]
    if not fitting:
        raise CourseError(f"{functions[0]['name']} takes other arguments than a program gets: "
                          f"{functions[0]['name']}({SIGNATURE}[, int threads])", entry=functions[0]["name"])
    match, threads = fitting[-1]
    return CpuKernel(match["name"], match["name"], None, "your own program", "", parameters=(THREADS,) if threads else (),
                     returns_status=match.group().startswith("int"), text=source, texts={name: source}, as_written=True,
                     counted=not threads, openmp=bool(_OPENMP.search(bare)))


def _loops(body, name):
    text = f'{_FRAME}#line 1 "{name}"\n{body}\n}}\n'
    return CpuKernel("own_loops", "own_loops", None, "your own loops", "", text=text, texts={name: body}, counted=True,
                     as_written=True)


def _fits(parameters):
    """Return whether the function takes threads, or None when it is no GEMM."""
    kinds = [_kind(p) for p in parameters.split(",")]
    wanted = [_kind(p) for p in ARGUMENTS]
    return len(kinds) > len(wanted) if kinds in (wanted, [*wanted, "int"]) else None


def _kind(parameter):
    words = [w for w in re.findall(r"\w+|\*", parameter) if w not in ("const", "restrict", "__restrict__")]
    kind = {"float": "real", "double": "real", "REAL": "real", "int": "int"}.get(words[0] if words else "", "?")
    return kind + "*" * words.count("*")
