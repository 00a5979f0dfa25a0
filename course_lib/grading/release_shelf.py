"""The shelf for students: `course_lib/toolchain/shelf.zip` without what only the worked solutions ask of the compiler.

The repository's shelf has PTX, machine code and, in its notes on notebooks, the very text of every kernel in `solutions/`.
"""

import io
import json
import lzma
import zipfile

from course_lib.toolchain.shelf import Request

SECRET = "solutions"         # the folder whose notebooks students do not get; groups of the shelf are named after who asked first
LESSONS = "lessons.json"


def without_solutions(data):
    """Return the shelf's bytes without the texts that only worked solutions have; what kernels, lessons and starters need stays.

    Parameters
    ----------
    data : bytes
        `shelf.zip` as `tools/shelf.py` writes it.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    lessons, index = _unpack(members[LESSONS]), _unpack(members["index.json"])
    kept = {name: noted for name, noted in lessons["notebooks"].items() if not name.startswith(f"{SECRET}/")}
    asked = {Request(lessons["texts"][digest], name, arch, tuple(options)).key
             for noted in kept.values() for digest, name, arch, options in noted["requests"]}
    for group in [group for group in index["groups"] if group.startswith(f"{SECRET}.")]:
        keys = index["groups"].pop(group)
        stay = [number for number, key in enumerate(keys) if tuple(key) in asked]
        if stay:
            index["groups"][group] = [keys[number] for number in stay]
        for ending in (".json", ".sass.json"):
            entries = _unpack(members.pop(group + ending))
            if stay:
                members[group + ending] = _packed([entries[number] for number in stay])
    texts = {request[0] for noted in kept.values() for request in noted["requests"]}
    members["index.json"] = _packed(index)
    members[LESSONS] = _packed({"texts": {digest: lessons["texts"][digest] for digest in sorted(texts)}, "notebooks": kept})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:              # stored: the members are compressed already
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return file.getvalue()


def _packed(value):
    return lzma.compress(json.dumps(value, ensure_ascii=False).encode(), preset=9)


def _unpack(data):
    return json.loads(lzma.decompress(data))
