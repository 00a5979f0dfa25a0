"""Write constraints.txt anew.

It takes the newest versions that fit together, for every platform and Python we support.

The arguments hold single packages at a version, this once. What has to be held for longer stands in HELD, with the reason, which goes into
the file. Then run `make test`, look at the diff and commit it. Needs the package index; nothing else in the course runs this.
"""
import itertools
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import ROOT

PLATFORMS = (("linux", "Linux", "posix"), ("win32", "Windows", "nt"), ("darwin", "Darwin", "posix"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")       # the first, its .0 release, decides which versions fit
# Groups of packages that are not taken at their newest version, and why; look now and then whether the reason still holds.
HELD = {
    ("ipywidgets==8.1.8", "jupyterlab-widgets==3.0.16", "widgetsnbextension==4.0.15"):
        "VS Code is reported to show no widget of the next release, ipywidgets 8.1.9 (microsoft/vscode-jupyter issue 17504, open in "
        "August 2026), and these three were released together",
}
HEADER = """\
# Every version the course is tested with, and the only place that names one. Written by python -m tools lock.
"""


def resolve(requirements: Iterable[str], held: Iterable[str], *options: str) -> list[dict[str, Any]]:
    """Ask pip what it would install, and return its report's entries."""
    with tempfile.TemporaryDirectory() as folder:
        report, constraints = Path(folder, "report.json"), Path(folder, "held.txt")
        constraints.write_text("\n".join(held))
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
                        "--python-version", PYTHONS[0], "--only-binary=:all:", "--target", folder,
                        "--report", report, "-c", constraints, *options, *requirements], check=True)
        return [entry["metadata"] for entry in json.loads(report.read_text())["install"]]


def elsewhere(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
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


def extra(project: Mapping[str, Any], name: str) -> list[str]:
    """Return an extra's requirements; those of other extras of the course that it names stand in their place."""
    found = []
    for text in project["optional-dependencies"][name]:
        requirement = Requirement(text)
        own = requirement.name == project["name"]
        found += [text for other in sorted(requirement.extras) for text in extra(project, other)] if own else [text]
    return found


def lines_of(pins: Mapping[str, str], markers: Mapping[str, str]) -> Iterator[str]:
    """Return the lines of the file: a version each, above it the reason why it is held."""
    reasons: dict[str, str] = {}
    for (first, *others), reason in HELD.items():
        reasons |= {Requirement(first).name: reason} | {Requirement(other).name: f"goes with {first}" for other in others}
    for name in sorted(pins):
        if name in reasons:
            yield f"# Held: {reasons[name]}."
        yield f"{name}=={pins[name]}" + (f" ; {markers[name]}" if name in markers else "")


@click.command()
@click.argument("held", nargs=-1, metavar="[NAME==VERSION]...")
def command(held: tuple[str, ...]) -> None:
    """Resolve the course, the two GPU extras and Triton, then what only other platforms need; write the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = [*held, *itertools.chain.from_iterable(HELD)]
    pins: dict[str, str] = {}
    markers: dict[str, str] = {}
    seen: list[dict[str, Any]] = []
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    first = project["dependencies"] + extra(project, "dev") + build + ["pip"]
    for group in (first, *(extra(project, name) for name in ("gpu13", "gpu12", "triton"))):
        seen += resolve(group, pinned + [f"{name}=={version}" for name, version in pins.items()])
        pins |= {canonicalize_name(m["name"]): m["version"] for m in seen}
    for name, marker in itertools.chain.from_iterable(map(elsewhere, list(seen))):
        if name not in pins:
            markers[name] = marker
    for name, marker in markers.items():
        (metadata,) = resolve([name], pinned, "--no-deps",
                              "--platform", "win_amd64" if "win32" in marker else "macosx_14_0_arm64")
        pins[name] = metadata["version"]
    (ROOT / "constraints.txt").write_text(HEADER + "".join(f"{line}\n" for line in lines_of(pins, markers)))
    print(f"constraints.txt: {len(pins)} packages")
