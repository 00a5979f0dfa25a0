"""`python -m course_lib.gpu`: try the GPU and say what was found; exit status 0 when it can be used."""

import sys

from course_lib.gpu.status import to_json, try_here

if __name__ == "__main__":
    status = try_here()
    print(to_json(status) if "--json" in sys.argv[1:] else status.reason)
    sys.exit(0 if status.usable else 1)
