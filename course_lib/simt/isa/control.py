"""Branches, calls and what ends a thread: their forms. Both code generators know each of them by its kind."""

FORMS = {
    "Control": (
        ("bra[.uni]", "label"), ("brx.idx[.uni]", "a, list of labels"), ("call[.uni]", "[(results),] function[, (parameters)]"),
        ("ret[.uni]", ""), ("exit", ""), ("trap", ""), ("brkpt", ""),
    ),
}
