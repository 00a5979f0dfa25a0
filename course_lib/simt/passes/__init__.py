"""From parsed PTX to a `Program`: the passes, and `pipeline.py`, which lists them in their order."""
