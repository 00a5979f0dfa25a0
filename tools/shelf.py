"""Bring course_lib/toolchain/shelf.zip up to date: what NVRTC makes of every kernel, slider position and committed notebook.

    .venv/bin/python tools/shelf.py            compile what is missing or has changed, drop what nobody asks for any more
    .venv/bin/python tools/shelf.py --check    only say what is missing or has changed; the exit status is 1 when something is
    .venv/bin/python tools/shelf.py --all      compile everything, run every notebook

Run it after a change to a kernel, a slider's choices, `simt/runtime/`, a notebook, or NVRTC's version. It can be interrupted, and
goes on where it was. When Git finds both sides of a merge changed, take either file and run it.
"""

import argparse
import hashlib
import inspect
import json
import lzma
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path

import shelf_code
import shelf_lessons
from shelf_code import code_hash, code_texts
from tqdm import tqdm

from course_lib import data, toolchain
from course_lib.arch import DEVICES
from course_lib.errors import CourseError
from course_lib.kernels import ALL
from course_lib.simt import build
from course_lib.simt.workers import available_cores
from course_lib.toolchain import nvrtc, shelf
from course_lib.toolchain.sass import written
from course_lib.toolchain.shelf import NAME, Request

ARCH = "sm_90"          # what the simulator runs without being told otherwise
GROUP = 32              # texts packed together: a look-up unpacks one group, and neighbours have much in common
BATCH = 16              # texts compiled in a row, and disassembled with one call
JOURNAL = shelf_lessons.ROOT / "build" / "shelf"
COMMAND = "python tools/shelf.py"


def course_requests():
    """Yield (group, Request) of the runtime and of every position of the catalog's sliders, and the defaults for each device."""
    folder = Path(build.__file__).with_name("runtime")
    runtime = "\n".join((folder / f"{part}.cuh").read_text() for part in build.RUNTIME)
    yield "runtime", Request(runtime, NAME, ARCH, ("-rdc=true",))
    known = toolchain.supported_architectures()
    numbers = {10 * d.cc[0] + d.cc[1] for d in DEVICES.values()}
    others = sorted({n if n in known else min(known) for n in numbers} - {90})
    for kernel in ALL.values():
        source = kernel.source
        yield kernel.path.stem, Request(source, NAME, ARCH)
        for position in kernel.positions():
            yield kernel.path.stem, Request(source, NAME, ARCH, tuple(nvrtc.define_options(kernel.defines(**position))))
        for number in (n for n in others if n >= 10 * kernel.needs[0] + kernel.needs[1]):
            yield f"{kernel.path.stem}.devices", Request(source, NAME, f"sm_{number}", tuple(nvrtc.define_options(kernel.defines())))
    yield from _recorded_requests()


def _recorded_requests():
    """Yield what was measured with other values than the sliders offer."""
    for path in sorted(Path(data.__file__).parent.glob("*.json")):
        for record in json.loads(path.read_text(encoding="utf-8")).get("records", ()):
            kernel, values = ALL.get(record["kernel"]), record.get("parameters", {})
            if kernel and not kernel.problems(**values):
                options = tuple(nvrtc.define_options(kernel.defines(**values)))
                yield f"{kernel.path.stem}.recorded", Request(kernel.source, NAME, ARCH, options)


def make(request):
    """Compile one request; return (entry, cubin): PTX, messages, resources, hash of the machine code, or what a refusal says."""
    if len(request.key[1].split()) == len(request.options) + 1:
        request = replace(request, name=NAME)
    try:
        compiled = nvrtc.compile_anew(request)
    except CourseError as error:
        return {"status": error.status, "log": error.log, "ptx": error.ptx}, b""
    entry = {"ptx": compiled.ptx, "log": compiled.log, "ptxas_log": compiled.ptxas_log, "resources": {}, "code": ""}
    if compiled.cubin:
        entry["resources"] = {name: asdict(used) for name, used in toolchain.resources(compiled).items()}
        entry["code"] = code_hash(compiled.cubin)
    return entry, compiled.cubin


def batches(requests):
    """Cut requests into lists for `make_all`."""
    by_arch = {}
    for request in requests:
        by_arch.setdefault(request.arch, []).append(request)
    return [some[i:i + BATCH] for some in by_arch.values() for i in range(0, len(some), BATCH)]


def make_all(requests, known=()):
    """Compile requests of one architecture; return entries that hold the text of the machine code too.

    `known`: (hash of PTX, hash of machine code) -> text of the machine code, which then need not be taken apart again.
    """
    made = [make(request) for request in requests]
    new = [number for number, (entry, cubin) in enumerate(made) if cubin and _identity(entry) not in known]
    texts = dict(zip(new, code_texts([made[number][1] for number in new], requests[0].arch), strict=True))
    return [entry | {"sass": texts[number] if number in texts else known[_identity(entry)] if cubin else {}}
            for number, (entry, cubin) in enumerate(made)]


def _identity(entry):
    return hashlib.sha256(entry["ptx"].encode()).hexdigest(), entry["code"]


class Old:
    """The shelf as it is, or an empty one."""

    def __init__(self, ignore=False):
        there = shelf.FILE.is_file() and not ignore
        self.archive = zipfile.ZipFile(shelf.FILE) if there else None
        self.index = shelf.index() if there else {}
        fits = there and facts().items() <= self.index.items()
        self.groups = {name: [tuple(key) for key in keys] for name, keys in self.index["groups"].items()} if fits else {}
        self.keys = {key for keys in self.groups.values() for key in keys}
        self.lessons = self._lessons() if self.groups else {}

    def _lessons(self):
        said = _unpack(self.archive.read("lessons.json"))
        return {notebook: noted | {"requests": [Request(said["texts"][text], name, arch, tuple(options))
                                                for text, name, arch, options in noted["requests"]]}
                for notebook, noted in said["notebooks"].items()}

    def known_code(self, labels):
        """Return (hash of PTX, hash of machine code) -> text of the machine code, of the groups with these labels."""
        keys = [key for name, keys in self.groups.items() if name.rpartition(".")[0] in labels for key in keys]
        return {_identity(e): shelf.Shelved(key).sass() for key in keys if "code" in (e := shelf.entry(key))}


def facts():
    """Return what all entries have in common; when it changes, all are made anew."""
    return {"nvrtc": list(toolchain.nvrtc_version()), "wheel": metadata.version("nvidia-cuda-nvrtc"),
            "disassembler": metadata.version("nvidia-cuda-nvdisasm"), "options": list(nvrtc.ALWAYS),
            "architectures": list(toolchain.supported_architectures())}


def problems(old):
    """Return sentences on what the shelf lacks, or has and nobody asks for."""
    if not old.groups:
        return ["there is no shelf, or one that another compiler filled"]
    lessons = [f"{name} has changed, or was never run" for name in shelf_lessons.notebooks()
               if not shelf_lessons.is_current(name, old.lessons.get(name))]
    return course_problems(old) + lessons


def course_problems(old):
    """Return sentences on what the shelf lacks of the catalog, and on what is there and nobody asks for."""
    asked = {request.key: group for group, request in course_requests()}
    lessons = {request.key for noted in old.lessons.values() for request in noted["requests"]}
    missing = [f"{asked[key]}: no {key[1]} of the text {key[0]}" for key in asked if key not in old.keys]
    return missing + [f"nobody asks for {key[1]} of the text {key[0]}" for key in sorted(old.keys - asked.keys() - lessons)]


def refresh(ignore=False):
    """Write the shelf anew where something is missing or has changed; return a line on what was done."""
    old = Old(ignore)
    lessons = _lessons(old)
    asked = {}
    for group, request in course_requests():
        asked.setdefault(request.key, (group, request))
    for notebook, noted in lessons.items():
        for request in noted["requests"]:
            asked.setdefault(request.key, (Path(notebook).with_suffix("").as_posix().replace("/", "."), request))
    new = _compile([(label, request) for key, (label, request) in asked.items() if key not in old.keys], old)
    _pack(old, asked, new, lessons)
    return f"{len(asked)} texts and positions, {len(new)} of them new, {shelf.FILE.stat().st_size / 1e6:.2f} MB"


def _lessons(old):
    found = {name: old.lessons.get(name) for name in shelf_lessons.notebooks()}
    stale = [name for name, noted in found.items() if not shelf_lessons.is_current(name, noted)]
    for name in tqdm(stale, desc="notebooks", disable=not stale):
        found[name] = shelf_lessons.run(name)
    return found


def journal():
    """Return the folder for what this compiler and these tools have made, until it is packed."""
    texts = [Path(file).read_text(encoding="utf-8") for file in (__file__, shelf_code.__file__, inspect.getsourcefile(written))]
    return JOURNAL / hashlib.sha256("\0".join([json.dumps(facts()), *texts]).encode()).hexdigest()[:16]


def _compile(requests, old):
    """Take (label, Request) pairs; return key -> entry. What an earlier, interrupted run made is read from the journal."""
    if not requests:
        return {}
    folder = journal()
    folder.mkdir(parents=True, exist_ok=True)
    known = old.known_code({label for label, _ in requests})
    paths = {request: folder / f"{hashlib.sha256(' '.join(request.key).encode()).hexdigest()}.json" for _, request in requests}

    def work(batch):
        for request, entry in zip(batch, make_all(batch, known), strict=True):
            part = paths[request].with_suffix(".part")
            part.write_text(json.dumps(entry), encoding="utf-8")
            part.replace(paths[request])
        return len(batch)

    missing = [request for request, path in paths.items() if not path.is_file()]
    with ThreadPoolExecutor(available_cores()) as pool, tqdm(desc="compiling", total=len(missing), disable=not missing) as bar:
        waiting = [pool.submit(work, batch) for batch in batches(missing)]
        try:
            for done in as_completed(waiting):
                bar.update(done.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {request.key: json.loads(path.read_text(encoding="utf-8")) for request, path in paths.items()}


def _pack(old, asked, new, lessons):
    """Write the file; groups in which nothing changed keep their bytes."""
    groups = {}
    for key, (group, _) in asked.items():
        groups.setdefault(group, []).append(key)
    cut = {f"{name}.{i // GROUP:02}": keys[i:i + GROUP] for name, keys in groups.items() for i in range(0, len(keys), GROUP)}
    members = {"index.json": _packed(facts() | {"groups": cut}), "lessons.json": _packed(_written_lessons(lessons))}
    for name, keys in cut.items():
        if old.groups.get(name) == keys:
            members |= {name + end: old.archive.read(name + end) for end in (".json", ".sass.json")}
            continue
        entries = [new.get(key) or shelf.entry(key) | {"sass": shelf.Shelved(key).sass()} for key in keys]
        members[name + ".json"] = _packed([{k: v for k, v in e.items() if k != "sass"} for e in entries])
        members[name + ".sass.json"] = _packed([e.get("sass", {}) for e in entries])
    part = shelf.FILE.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:         # stored: the members are compressed already
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    part.replace(shelf.FILE)


def _written_lessons(lessons):
    texts = {request.key[0]: request.source for noted in lessons.values() for request in noted["requests"]}
    books = {name: noted | {"requests": [(r.key[0], r.name, r.arch, r.options) for r in noted["requests"]]}
             for name, noted in lessons.items()}
    return {"texts": texts, "notebooks": books}


def _packed(value):
    return lzma.compress(json.dumps(value, ensure_ascii=False).encode(), preset=9)


def _unpack(data):
    return json.loads(lzma.decompress(data))


def main(arguments):
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--all", action="store_true", help="begin with an empty shelf")
    chosen = parser.parse_args(arguments)
    if not nvrtc.nvrtc_is_there():
        sys.exit("NVRTC cannot be loaded here: the shelf is filled where it can")
    if chosen.check:
        found = problems(Old())
        print("\n".join(found) or "the shelf is up to date")
        return int(bool(found))
    print(refresh(ignore=chosen.all))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
