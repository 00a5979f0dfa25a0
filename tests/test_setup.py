"""The files that say what the course is made of agree with each other."""
import importlib.metadata
import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools import lock

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
ALL_NAMES = sorted({*PROJECT["dependencies"], *(name for extra in EXTRAS for name in lock.extra(PROJECT, extra))})
# What conda must bring itself: pip cannot install it, or another package of ours stands for it.
CONDA_ONLY = {"python", "pip", "c-compiler", "cupy"}
TOP_LEVEL = {"notebooks", "course_lib", "exercises", "solutions", "environment.yml", "README.md"}


def constraints():
    """Read constraints.txt: name to Requirement."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def environment():
    """Read environment.yml: what conda installs, and pip's lines."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    (pip_lines,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    return [entry for entry in entries if isinstance(entry, str)], pip_lines


@pytest.mark.parametrize("text", ALL_NAMES)
def test_pyproject_names_at_most_a_minimum_and_constraints_name_the_version(text):
    requirement = Requirement(text)
    assert {part.operator for part in requirement.specifier} <= {">="}, f"{text}: versions stand in constraints.txt alone"
    assert canonicalize_name(requirement.name) in constraints(), f"{text} has no version: run python -m tools lock"
    (version,) = constraints()[canonicalize_name(requirement.name)].specifier
    assert requirement.specifier.contains(version.version)


def test_on_macos_nothing_is_asked_for_that_nvidia_does_not_publish_there():
    asked = {requirement.name for requirement in map(Requirement, PROJECT["dependencies"])
             if requirement.marker is None or requirement.marker.evaluate({"sys_platform": "darwin"})}
    everywhere = {requirement.name for requirement in map(Requirement, PROJECT["dependencies"])}
    assert everywhere - asked == {name for name in everywhere if name.startswith(("nvidia-", "cuda-"))}
    assert {"llvmlite", "numpy", "pyelftools"} <= asked


def test_constraints_pin_exactly_sorted_and_from_no_address():
    pins = constraints()
    assert list(pins) == sorted(pins)
    for name, requirement in pins.items():
        assert re.fullmatch(r"==[\w.+!]+", str(requirement.specifier)), f"{name} is not pinned to one version"
        assert requirement.url is None, f"{name} comes from an address"


def test_constraints_cover_everything_installed():
    """What pip installed for the course, through any number of hands, has a version in the file, and that one."""
    pins, seen = constraints(), set()
    waiting = ["warp-by-warp", *(Requirement(text).name for text in lock.extra(PROJECT, "dev"))]
    while waiting:
        name = canonicalize_name(waiting.pop())
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue                                    # an extra that is not installed here, a CuPy say
        if name in seen:
            continue
        seen.add(name)
        if name != "warp-by-warp":
            assert name in pins, f"{name} is installed but has no version: run python -m tools lock"
            assert pins[name].specifier.contains(found.version), f"{name} {found.version} is not {pins[name]}"
        needed = [Requirement(text) for text in found.requires or ()]
        waiting += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    assert {"numpy", "ipywidgets", "nbgrader", "pytest"} <= seen, "the course is not installed: `make dev`"


def test_what_is_held_back_is_pinned_there_with_its_reason():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pins = {str(requirement): "" for requirement in constraints().values()}
    for group, reason in lock.HELD.items():
        assert pins.keys() >= set(group)
        assert f"# Held: {reason}.\n{group[0]}\n" in text


def test_an_extra_that_names_another_stands_for_its_packages_and_never_for_itself():
    """Otherwise python -m tools lock would ask the package index for a package that is called like the course."""
    lab, grading, hub, dev = (set(lock.extra(PROJECT, name)) for name in ("lab", "grading", "hub", "dev"))
    assert {"ipywidgets", "jupyterlab", "matplotlib"} <= lab < grading < hub < dev
    assert not any(Requirement(text).name == PROJECT["name"] for text in dev)


def test_the_simulator_alone_asks_for_none_of_what_shows_the_lessons():
    named = {Requirement(text).name for text in PROJECT["dependencies"]}
    assert not named & {Requirement(text).name for text in lock.extra(PROJECT, "dev")}


def test_conda_environment_names_what_pyproject_names():
    conda, pip_lines = environment()
    ours = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"] + lock.extra(PROJECT, "lab")}
    names = {re.split(r"[ =<>]", entry)[0]: entry for entry in conda}
    assert set(names) >= CONDA_ONLY
    assert set(names) - CONDA_ONLY <= ours, "environment.yml names a package that pyproject.toml does not"
    assert names.pop("python") == f"python {PROJECT['requires-python']}"
    assert all(name == entry for name, entry in names.items()), "versions stand in constraints.txt alone"
    assert pip_lines == ["-c constraints.txt", "-e .[lab]"]
    assert any(text.startswith("cupy") for extra in ("gpu13", "gpu12") for text in EXTRAS[extra])


def test_gpu13_asks_for_what_cupys_ctk_extra_asks_for():
    """[ctk] is cuda-toolkit's cublas, cudart, cufft, curand, cusolver, cusparse and nvrtc (CuPy 14.2)."""
    parts = {"cublas", "cuda-runtime", "cufft", "curand", "cusolver", "cusparse", "cuda-nvrtc"}
    assert set(EXTRAS["gpu13"]) == {"cupy-cuda13x", *(f"nvidia-{part}" for part in parts)}
    assert EXTRAS["gpu12"] == ["cupy-cuda12x[ctk]"]


def tracked():
    """List the files that git tracks, or skip outside a checkout."""
    asked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if asked.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in asked.stdout.splitlines() if (ROOT / name).is_file()]


def test_top_level_names_are_there():
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} >= TOP_LEVEL


def test_no_file_names_a_machine_path_or_an_index():
    hosts = re.compile("|".join(["pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.(org|com)",
                                 "deb" + r"\.debian\.org", "anaconda" + r"\.org/\S+/download"]))
    paths = re.compile(r"/(?:home|Users|root|work)/[\w.-]+|[A-Z]:\\\\?Users")
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        assert not (found := hosts.search(text)), f"{path.relative_to(ROOT)} names a package index: {found.group()}"
        if path.suffix == ".py" and "tests" in path.parts:
            continue                                    # tests name examples of what must not be shown
        assert not (found := paths.search(text)), f"{path.relative_to(ROOT)} names a machine's path: {found.group()}"


def test_devcontainer_is_json_and_calls_what_exists():
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert (ROOT / settings["postCreateCommand"].split()[1]).is_file()


def test_every_link_of_the_front_pages_leads_somewhere():
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)|<img[^>]* src=\"([^\"]+)\"", text)
        for link in filter(None, (a or b for a, b in links)):
            if not link.startswith(("http://", "https://", "mailto:")):
                assert (ROOT / link).exists(), f"{page} links to {link}, which is not there"


def test_readme_links_every_lesson_and_no_other():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\((notebooks/\d\d_[\w.]+)\)", text))
    assert linked == {path.relative_to(ROOT).as_posix() for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
