"""The sandbox for programs that students wrote: bubblewrap, no files, no network, little time; what comes back is numbers.

`Sandboxed` (`sandboxed.py`) is the engine that grading gives to `check`. This file imports nothing, so that the processes in the
sandbox start quickly.
"""
