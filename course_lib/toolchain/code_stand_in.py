"""What stands in for machine code that is somewhere else: in the precompiled archive, or in the sandbox."""

from abc import ABC, abstractmethod
from typing import Any


class CodeStandIn(ABC):
    """Answers what is otherwise read in a cubin; `resources`, `sass` and `loops` take it instead of a cubin."""

    @abstractmethod
    def resources(self) -> dict[str, dict[str, Any]]:
        """Return kernel -> the fields of its `Resources`."""

    @abstractmethod
    def sass(self) -> dict[str, str]:
        """Return kernel -> its instructions as `sass.written` writes them."""
