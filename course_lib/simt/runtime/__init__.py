"""The runtime around the generated code, in CUDA C: scheduler, memory, counters, races; `abi.py` holds its structures for Python."""
