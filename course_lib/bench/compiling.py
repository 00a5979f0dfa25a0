"""Compile the kernels of many tasks on all cores before the first is measured: the compiler takes seconds, a measurement less."""

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeAlias

from course_lib import toolchain
from course_lib.kernels import get

Text: TypeAlias = tuple[str, tuple[tuple[str, int | str], ...]]        # name of a kernel, what the compiler gets with -D
FEW = 4          # texts up to which no process is started, which takes a second


def compile_texts(wanted: Iterable[tuple[str, Mapping[str, int]]], arch: str) -> int:
    """Compile (kernel, parameters) for an architecture and leave the answers in the cache on the disk; return how many texts there were."""
    texts: set[Text] = {(name, tuple(get(name).defines(**parameters).items())) for name, parameters in wanted}
    if len(texts) > FEW:
        with ProcessPoolExecutor(min(os.cpu_count() or 1, len(texts)), mp_context=get_context("spawn")) as pool:
            for _ in pool.map(_compile, [(arch, *text) for text in texts]):
                pass
    return len(texts)


def _compile(order: tuple[str, str, tuple[tuple[str, int | str], ...]]) -> None:
    arch, name, defines = order
    kernel = get(name)
    toolchain.compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=dict(defines))
