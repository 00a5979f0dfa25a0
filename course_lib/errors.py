"""The one base class of every error that this library raises on purpose."""


class CourseError(Exception):
    """An error whose message tells a reader what happened and what to do.

    In a notebook it is shown as one short block, without the library's own stack frames.

    Parameters
    ----------
    message : str
        One clear sentence that names the value and what would be right; further lines may follow.
    **facts
        Everything a program may want to look at; each becomes an attribute.
    """

    def __init__(self, message, **facts):
        super().__init__(message)
        self.facts = facts
        for name, value in facts.items():
            setattr(self, name, value)

    def _render_traceback_(self):
        """Return what IPython prints instead of a stack trace."""
        return [f"{type(self).__name__}: {self}"]
