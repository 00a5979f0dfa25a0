"""Write constraints.txt anew: the newest versions that fit together, for every platform and Python we support.

Run it as `.venv/bin/python tools/lock.py [NAME==VERSION ...]`; the arguments hold single packages at a version. Then
run `make test`, look at the diff and commit it. Needs the package index; nothing else in the course runs this.
"""
import itertools
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = (("linux", "Linux", "posix"), ("win32", "Windows", "nt"), ("darwin", "Darwin", "posix"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")       # the first, its .0 release, decides which versions fit
HEADER = """\
# Every version the course is tested with, and the only place that names one. Written by tools/lock.py.
"""


def resolve(requirements, held, *options):
    """Ask pip what it would install, and return its report's entries."""
    with tempfile.TemporaryDirectory() as folder:
        report, constraints = Path(folder, "report.json"), Path(folder, "held.txt")
        constraints.write_text("\n".join(held))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
                        "--python-version", PYTHONS[0], "--only-binary=:all:", "--target", folder,
                        "--report", report, "-c", constraints, *options, *requirements], check=True)
        return [entry["metadata"] for entry in json.loads(report.read_text())["install"]]


def elsewhere(metadata):
    """Yield (name, marker) of what this package needs only on another platform or Python than this one."""
    for text in metadata.get("requires_dist", ()):
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            continue
        for (sys_platform, system, os_name), python in itertools.product(PLATFORMS, PYTHONS):
            if requirement.marker.evaluate({"extra": "", "sys_platform": sys_platform, "platform_system": system,
                                            "os_name": os_name, "python_version": python}):
                yield canonicalize_name(requirement.name), f'sys_platform == "{sys_platform}"'
                break


def main(held):
    """Resolve the course, the two GPU extras, then what only other platforms need; write the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    pins, markers, seen = {}, {}, []
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    for group in (project["dependencies"] + extras["dev"] + build + ["pip"], extras["gpu13"], extras["gpu12"]):
        seen += resolve(group, held + [f"{name}=={version}" for name, version in pins.items()])
        pins |= {canonicalize_name(m["name"]): m["version"] for m in seen}
    for name, marker in itertools.chain.from_iterable(map(elsewhere, list(seen))):
        if name not in pins:
            markers[name] = marker
    for name, marker in markers.items():
        (metadata,) = resolve([name], held, "--no-deps",
                              "--platform", "win_amd64" if "win32" in marker else "macosx_14_0_arm64")
        pins[name] = metadata["version"]
    lines = [f"{name}=={pins[name]}" + (f' ; {markers[name]}' if name in markers else "") for name in sorted(pins)]
    (ROOT / "constraints.txt").write_text(HEADER + "\n".join(lines) + "\n")
    print(f"constraints.txt: {len(lines)} packages")


if __name__ == "__main__":
    main(sys.argv[1:])
