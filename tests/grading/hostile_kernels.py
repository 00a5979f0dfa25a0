"""Hostile submissions of two kinds: the notebook around the answers, and the kernel."""

import json

from hostile_notebook import (
    CLASS,
    FILE,
    Case,
    before_kernel,
    broken_metadata,
    changed,
    checker_replaced,
    deleted,
    duplicated,
    ids_swapped,
    in_kernel,
    marks_lost,
    outputs_forged,
    points_raised,
    split,
    transformed,
    with_text,
)

# 2^40 templates: the compiler would never end
BOMB = """template<int N, long long M> struct T { static constexpr long long v = T<N-1, 2*M>::v + T<N-1, 2*M+1>::v; };
template<long long M> struct T<0, M> { static constexpr long long v = M; };
__device__ long long w = T<40, 1>::v;"""
NO_FILE = "cannot open source file"
NOTEBOOKS = {
    "broken_json": Case("a file cut off", lambda nb: json.dumps(nb)[:-20].encode(), 0, "no notebook"),
    "deep_json": Case("200,000 brackets", lambda nb: b"[" * 200_000, 0, "no notebook"),
    "no_cells": Case("a notebook without cells", lambda nb: {"cells": {"nbgrader": 1}}, 0, "format 4"),
    "a_picture": Case("bytes that are no text", lambda nb: bytes(range(256)) * 50, 0, "no notebook"),
    "enormous_file": Case("21 MB of spaces", lambda nb: b" " * (21 << 20), 0, "MB"),
    "in_utf_16": Case("another encoding", lambda nb: json.dumps(nb, ensure_ascii=False).encode("utf-16"), 10, "utf-16"),
    "in_latin_1": Case("another encoding, with an umlaut",
                       lambda nb: json.dumps(nb, ensure_ascii=False).replace("// of C", "// Zeile für C", 1).encode("latin-1", "replace"), 10, "latin-1"),
    "deleted_cell": Case("the answer's cell deleted", changed(deleted), 4, "missing"),
    "duplicated_cell": Case("the answer's cell twice", changed(duplicated), 10),
    "split_cell": Case("the answer's cell split in two", changed(split), 4, "compile"),
    "swapped_ids": Case("the marks of two cells exchanged", changed(ids_swapped), 0, "begins with %%cuda"),
    "marks_lost": Case("all metadata removed", changed(marks_lost), 10, "found by its first line"),
    "broken_metadata": Case("metadata of the wrong type", changed(broken_metadata), 10, "found by its first line"),
    "points_raised": Case("600 points for its check's cell, answers wrong", changed(points_raised), 0, "wrong"),
    "checker_replaced": Case("`check` and the check's cells replaced, answers wrong", changed(checker_replaced), 0, "wrong"),
    "outputs_forged": Case("outputs that say passed, answers wrong", changed(outputs_forged), 0, "wrong"),
    "input_transformer": Case("an IPython input transformer in a cell before, answers wrong", changed(transformed), 0, "wrong"),
    "nothing_in_the_cell": Case("an empty answer cell", with_text(lambda source: ""), 4, "missing"),
    "python_in_the_cell": Case("`os._exit` in the kernel's cell", with_text(lambda source: "import os\nos._exit(0)"), 4, "begins with %%cuda"),
    "magic_of_the_shell": Case("`%%bash` in the kernel's cell", with_text(lambda source: f"%%bash\nrm -rf {CLASS}"), 4, "begins with %%cuda"),
}
KERNELS = {
    "endless_kernel": Case("a loop that never ends", in_kernel("for (volatile int i = 0; i < 1; ) {}"), 4, "endless"),
    "endless_compilation": Case("2^40 templates for the compiler", before_kernel(BOMB), 4),
    "includes_a_file": Case("`#include` of a file", before_kernel(f'#include "{FILE}"'), 4, NO_FILE),
    "includes_by_digraph": Case("`%:include` of a file", before_kernel(f'%:include "{FILE}"'), 4, NO_FILE),
    "includes_by_splice": Case("`#inc\\` `lude` over two lines", before_kernel(f'#inc\\\nlude "{FILE}"'), 4, NO_FILE),
    "includes_by_macro": Case("`#include WHERE`", before_kernel(f'#define WHERE "{FILE}"\n#include WHERE'), 4, NO_FILE),
    "includes_its_memory": Case("`%:include` of /proc/self/environ", before_kernel('%:include "/proc/self/environ"'), 4, NO_FILE),
    "includes_a_device": Case("`%:include` of /dev/zero", before_kernel('%:include "/dev/zero"'), 4, NO_FILE),
    "includes_the_library": Case("`%:include` of the course's checks", before_kernel('%:include "/course/course_lib/grading/checks.py"'), 4, NO_FILE),
    "includes_the_seed": Case("`%:include` of the seed", before_kernel(f'%:include "{CLASS}/grading/seed"'), 4, NO_FILE),
    "asks_for_a_file": Case("`__has_include` of a file", before_kernel(f'#if __has_include("{FILE}")\n#error found it\n#endif'), 10, "passed"),
    "prints_without_end": Case("a million lines by `printf`",
                               in_kernel('for (int i = 0; tx + ty + row + col == 0 && i < 1000000; ++i) printf("%d and more and more and more\\n", i);'), 4, "endless"),
    "huge_error": Case("`#error` with 90,000 characters", before_kernel("#error " + 90_000 * "x"), 4, "xxx"),
    "huge_text": Case("200,000 characters", before_kernel("//" + 200_000 * "x"), 4, "characters"),
    "huge_number": Case("a `#define` with 5,000 digits", before_kernel("#define UNUSED " + 5000 * "1"), 10, "passed"),
    "slow_comment": Case("a comment made to keep the check's patterns busy, beside a hazard", with_text(
        lambda source: "\n".join(line for line in source.replace("#define BM 16", f"// {6_500 * '__shared__ As['}\n#define BM 16").split("\n")
                                 if "nobody overwrites" not in line)), 4, "hazard"),
    "wrong_name": Case("another name for the kernel", with_text(lambda source: source.replace("\ntiled(", "\ntilde(")), 4, "the kernels in it: tilde"),
    "ptx_second_kernel": Case("a second kernel in inline PTX", in_kernel('asm volatile("ret; } .visible .entry tiled() { ret;");'), 4, "tiled"),
    "ptx_in_a_comment": Case("an entry in a PTX comment", with_text(lambda source: source.replace("\ntiled(", "\ntilde(").replace(
        "    float acc = 0.0f;", '    asm volatile("/* .entry tiled(.param .u32 x) */");\n    float acc = 0.0f;')), 4),
    "ptx_reads_anywhere": Case("a load from any address by inline PTX",
                               in_kernel('int x; asm volatile("ld.global.s32 %0, [%1];" : "=r"(x) : "l"(140737488355328ll));'), 4, "out of bounds"),
    "ptx_writes_anywhere": Case("a store to any address by inline PTX", in_kernel('asm volatile("st.global.s32 [%0], 1;" :: "l"(4096ll));'),
                                4, "out of bounds"),
    "ptx_trap": Case("`trap` by inline PTX", in_kernel('asm volatile("trap;");'), 4),
    "ptx_includes": Case("`.include` in inline PTX", in_kernel(f'asm volatile(".include \\"{FILE}\\"");'), 4),
    "writes_its_input": Case("B overwritten, so that any C would be right", in_kernel("const_cast<float*>(B)[0] = 0.0f;"), 4),
    "local_memory": Case("512 MiB of local memory a thread", in_kernel("volatile char big[1 << 29]; big[threadIdx.x] = 1;"), 4),
    "allocates": Case("100 GB by `malloc`", in_kernel("for (int i = 0; i < 100000; ++i) *(volatile char*)malloc(1 << 20) = 1;"), 4),
    "constructor": Case("`__attribute__((constructor))`", before_kernel("__attribute__((constructor)) void before() {}"), 4),
    "known_inputs": Case("right only for the inputs that everyone sees", with_text(lambda source: source.replace(
        "*c = alpha", "if (K == 16 || K == 17 || K == 32 || K == 48 || K == 15 || K == 1 || K == 37 || K == 3 || K == 41 || K == 64) *c = alpha")),
        4, "not on those drawn for grading"),
    "lone_surrogate": Case("half a character", before_kernel("// \ud800"), 4, "half a character"),
    "nul_character": Case("a NUL character", before_kernel("// \0"), 4, "NUL"),
    "html_in_the_kernel": Case("a script for the page of feedback", before_kernel("#error <script>alert(1)</script>"), 4, "error"),
}
