"""The programs that made the texts need the compilers themselves, which the tests do without."""

collect_ignore_glob = ["*/make.py", "*/programs.py"]
