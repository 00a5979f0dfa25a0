"""Strangers' programs run apart: in bubblewrap, without files, network or time to waste; what comes back is numbers.

`Sandboxed` (`sandboxed.py`) is the engine that grading gives to `check`. This file imports nothing, so that the processes in the
sandbox start quickly.
"""
