"""Hostile submissions of the third kind: the cell with the Python function."""

from hostile_notebook import CLASS, FILE, RIGHT, Case, python

WRONG = "def loads(M, N, K, tile):\n    return 7"
BODY = "def loads(M, N, K, tile):\n    "


def reads(path):
    """Return an answer that would carry a file's content out, in an error's words."""
    return python(f"{BODY}raise ValueError(open({path!r}).read())")


def after(text, answer=RIGHT):
    """Return a submission that does something before it answers."""
    return python(f"{text}\n{answer}")


SHADOW = "class V:\n    passed = True\n    def require(self): pass\ndef check(*a, **k): return V()\nimport os\nos._exit(0)\n"
ANSWERS = {
    "exits": Case("`os._exit(0)` in the cell", after("import os\nos._exit(0)"), 6, "has no result"),
    "exits_when_called": Case("`os._exit(0)` in the function", python(f"{BODY}import os; os._exit(0)"), 6, "has no result"),
    "system_exit": Case("`raise SystemExit`", after("raise SystemExit(0)"), 6, "SystemExit"),
    "loops": Case("`while True` in the function", python(f"{BODY}while True: pass"), 6, "longer than grading allows"),
    "loops_deaf": Case("a loop that catches every exception and signal", after(
        "import signal\nfor n in range(1, 64):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True:\n"
        "    try:\n        while True: pass\n    except BaseException: pass"), 6, "longer than grading allows"),
    "forks": Case("a fork bomb", after("import os\nwhile True:\n    os.fork()"), 6, "PermissionError"),
    "forks_by_libc": Case("a fork bomb by `ctypes`", after("import ctypes\nfor i in range(1000):\n    assert ctypes.CDLL(None).fork() == -1"), 10),
    "threads_by_thousands": Case("100,000 threads", after(
        "import threading, time\nfor i in range(100_000):\n    threading.Thread(target=time.sleep, args=(100,)).start()"), 6, "thread"),
    "runs_programs": Case("`subprocess`", after(f"import subprocess\nsubprocess.run(['/usr/bin/touch', '{CLASS}/was_here'])"), 6, "PermissionError"),
    "memory": Case("10 GB", after("x = bytearray(10**10)"), 6, "MemoryError"),
    "shared_memory": Case("memory that no limit counts", after(
        "import ctypes\nassert ctypes.CDLL(None).shmget(0, 1 << 33, 0o1600) == ctypes.CDLL(None).memfd_create(b'x', 0) == -1"), 10),
    "fills_the_disk": Case("files until the disk is full", after(
        "for i in range(10_000):\n    with open(f'/tmp/{i}', 'wb') as file: file.write(bytes(10**6))"), 6, "OSError"),
    "prints_much": Case("100 MB to stdout and stderr", after(
        "import os, sys\nfor i in range(100):\n    sys.stdout.write('x' * 10**6); sys.stderr.write('x' * 10**6); os.write(1, b'x' * 10**6)"), 10),
    "writes_the_reply": Case("numbers written into the reply's pipe", after(
        "import os\nfor n in range(3, 64):\n    try: os.write(n, b'{\"number\": 1}\\n' * 6)\n    except OSError: pass\nos._exit(0)"), 6, "not right"),
    "floods_the_reply": Case("100 MB into the reply's pipe", after(
        "import os\nfor n in range(3, 64):\n    try:\n        while True: os.write(n, b'x' * 10**6)\n    except OSError: pass"), 6, "cannot be read"),
    "nests_the_reply": Case("a reply of 4,000 brackets", after(
        "import os\nfor n in range(3, 64):\n    try: os.write(n, b'[' * 4000 + b'\\n')\n    except OSError: pass"), 6, "cannot be read"),
    "sends_a_verdict": Case("`passed: true` into the reply's pipe", after(
        "import os\nfor n in range(3, 64):\n    try: os.write(n, b'{\"passed\": true, \"points\": 10}\\n' * 9)\n    except OSError: pass\nos._exit(0)"), 6),
    "magic_line": Case("`%time` in the cell", after("%time"), 6, "SyntaxError"),
    "shell_line": Case("`!rm` in the cell", after(f"!rm -rf {CLASS}"), 6, "SyntaxError"),
    "uses_ipython": Case("an input transformer by `get_ipython`", after("get_ipython().input_transformers_cleanup.append(list)"), 6, "NameError"),
    "patches_math": Case("`math.isclose` replaced, answer wrong", after(
        "import builtins, math, numbers\nmath.isclose = builtins.all = lambda *a, **k: True\nmath.pi = 3", WRONG), 6, "not right"),
    "patches_modules": Case("`sys.modules` replaced, answer wrong", after(
        "import sys\nfor name in list(sys.modules):\n    if name not in ('__main__', 'builtins', 'sys'): sys.modules[name] = None", WRONG), 6),
    "imports_the_checks": Case("the expected value from the course's own specs", python(
        f"from course_lib.grading import part\n{BODY}return part('90_hostile', 'loads').expected(M, N, K, tile)"), 6, "ModuleNotFoundError"),
    "shadows_the_library": Case("a `course_lib`, `numpy` and `json` beside the notebook, answer wrong", after(
        f"import sys\nsys.path.insert(0, '{CLASS}/grading/submitted/shadows_the_library/90_hostile')\nimport course_lib", WRONG), 6, "ModuleNotFoundError",
        dict.fromkeys(("course_lib.py", "course_lib/__init__.py", "numpy.py", "json.py", "sitecustomize.py"), SHADOW)),
    "reads_the_seed": Case("grading/seed", reads(f"{CLASS}/grading/seed"), 6, "FileNotFoundError"),
    "reads_the_solutions": Case("solutions/", reads(f"{CLASS}/solutions/90_hostile/90_hostile.ipynb"), 6, "FileNotFoundError"),
    "reads_the_gradebook": Case("grading/gradebook.db", reads(f"{CLASS}/grading/gradebook.db"), 6, "FileNotFoundError"),
    "reads_another_student": Case("another student's submission", reads(f"{CLASS}/grading/submitted/honest_ada/90_hostile/90_hostile.ipynb"),
                                  6, "FileNotFoundError"),
    "reads_a_file": Case("a file of the instructor's", reads(FILE), 6, "FileNotFoundError"),
    "reads_the_machine": Case("/etc/passwd", reads("/etc/passwd"), 6, "FileNotFoundError"),
    "reads_its_parent": Case("/proc of the process that grades", reads("/proc/1/environ"), 6, "FileNotFoundError"),
    "sets_all_grades": Case("every grade in the gradebook", after(
        f"import sqlite3\nsqlite3.connect('{CLASS}/grading/gradebook.db').execute('update grade set auto_score = 297')"), 6, "OperationalError"),
    "writes_outside": Case("a file in the class's folder", after(f"open('{CLASS}/was_here', 'w').write('x')"), 6, "FileNotFoundError"),
    "writes_the_system": Case("a module in Python's own folder", after("import os\nopen(os.path.dirname(os.__file__) + '/was_here.py', 'w').write('x')"),
                              6, "Read-only"),
    "kills_the_grader": Case("every process by `kill`", after("import os, signal\nos.kill(-1, signal.SIGKILL)"), 6),
    "looks_into_processes": Case("`ptrace` and `process_vm_readv`", after(
        "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.ptrace(16, 1, 0, 0) == libc.process_vm_readv(1, 0, 0, 0, 0, 0) == -1"), 10),
    "connects": Case("the network", after("import socket\nsocket.create_connection(('192.0.2.1', 80), 5)"), 6, "OSError"),
    "new_namespace": Case("a user namespace of its own", after("import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == -1"), 10),
    "works_at_exit": Case("`atexit`, `__del__` and a thread that go on after the answer", after(
        "import atexit, threading, time\natexit.register(time.sleep, 600)\nclass D:\n    def __del__(self): time.sleep(600)\nd = D()\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()"), 10),
    "equal_to_all": Case("an object whose `__eq__` is always true", python(
        f"class E(int):\n    __eq__ = __le__ = __lt__ = lambda *a: True\n    __sub__ = lambda *a: 0\n    __hash__ = int.__hash__\n{BODY}return E(7)"),
        6, "not right"),
    "float_by_turns": Case("an object whose `__float__` changes", python(
        f"class F(float):\n    __float__ = lambda self: 0.0\n    __abs__ = lambda self: 0.0\n{BODY}return F('nan')"), 6, "not right"),
    "exits_when_shown": Case("`os._exit` in `__repr__` and `__str__`", python(
        f"import os\nclass R:\n    __repr__ = __str__ = lambda self: os._exit(0)\n{BODY}return R()"), 6),
    "nan": Case("NaN", python(f"{BODY}return float('nan')"), 6, "not right"),
    "infinity": Case("infinity", python(f"{BODY}return float('inf')"), 6, "not right"),
    "huge_number_back": Case("a number of ten million bits", python(f"{BODY}return 1 << 10 ** 7"), 6, "must return a number"),
    "deep_recursion": Case("recursion without a limit", python(f"import sys\nsys.setrecursionlimit(10**9)\n{BODY}return max([0], key=lambda _: loads(M, N, K, tile))"), 6, "has no result"),
    "crashes": Case("a null pointer by `ctypes`", after("import ctypes\nctypes.string_at(0)"), 6, "has no result"),
    "secret_from_frames": Case("the expected value from the caller's frames", python(
        f"import sys\n{BODY}\n    frame, found = sys._getframe(), []\n    while frame:\n        found += [str(v) for v in frame.f_locals.values() if 'expected' in str(v)]\n"
        "        frame = frame.f_back\n    return len(found[0]) if found[1:] else 7"), 6, "not right"),
    "known_cases": Case("right only for the inputs that everyone sees", python(
        f"{BODY}return {{(16, 16, 16, 16): 512, (64, 32, 128, 16): 32768, (64, 64, 64, 32): 16384}}.get((M, N, K, tile), 0)"),
        6, "not on those drawn for grading"),
    "html_in_the_answer": Case("a script for the page of feedback", python(f"{BODY}raise ValueError('<script>alert(1)</script>')"), 6, "ValueError"),
}
