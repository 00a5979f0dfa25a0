"""Tests of explorables run their kernels on the simulator, and find `page` by the file's PICTURE."""

from pictures import on_the_simulator, page

__all__ = ["on_the_simulator", "page"]
