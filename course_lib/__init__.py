"""Warp by Warp: the library behind the lessons. `docs/architecture.md` is the map."""
