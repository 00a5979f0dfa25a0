"""The images of deploy/Dockerfile and the values for Kubernetes agree with the checkout and with each other; no student gets a solution."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

from course_lib.grading.classroom.release import TAKEN

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
VALUES = yaml.safe_load((ROOT / "deploy/kubernetes/values.yaml").read_text(encoding="utf-8"))


def stages():
    """Return stage -> its instructions (word, rest), those of the stages that it is made from first."""
    found, name = defaultdict(list), ""
    lines = re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    for word, _, rest in (line.partition(" ") for line in lines if line):
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            found[name] = [*found.get(base, [])]
        found[name].append((word, rest.strip()))
    return found


def copied(stage):
    """Return what a stage copies from the checkout."""
    return [source for word, rest in stages()[stage] if word == "COPY" and not rest.startswith("--from") for source in rest.split()[:-1]]


def test_no_image_runs_as_root_and_each_says_how_it_is():
    assert list(stages())[-1] == "course"
    for stage in ("course", "grader"):
        words = dict(stages()[stage])
        assert words["USER"] == "1000:100"
        assert words["HEALTHCHECK"]


def test_versions_are_those_of_constraints_and_no_registry_is_named():
    assert "PIP_CONSTRAINT=/build/constraints.txt" in dict(stages()["library"])["ENV"]
    assert "constraints.txt" in copied("library")
    assert not re.search(r"(?<!localhost)(?<!127\.0\.0\.1):\d+/|https?://(?!127\.0\.0\.1)|\w\.(io|com|org)/", TEXT)


def test_students_get_what_the_bundle_has_and_no_solution():
    assert {source.split("/")[0] for source in copied("course")} <= set(TAKEN)
    assert "solutions" in copied("grader")


@pytest.mark.parametrize("stage", ["library", "course", "grader"])
def test_what_is_copied_is_there_and_sent_along(stage):
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")}
    for source in copied(stage):
        assert (ROOT / source).exists()
        assert source in sent


def test_what_is_not_copied_is_not_sent_along():
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "*"
    assert {line[1:] for line in lines if line.startswith("!")} == {source for stage in stages() for source in copied(stage)}


def test_kubernetes_gives_a_volume_to_the_user_and_the_home_of_the_image():
    single = VALUES["singleuser"]
    words = " ".join(rest for word, rest in stages()["course"] if word == "RUN")
    assert f"--uid {single['uid']} --gid {single['fsGid']} " in words
    assert dict(stages()["course"])["WORKDIR"] == single["storage"]["homeMountPath"]
    assert single["lifecycleHooks"]["postStart"]["exec"]["command"][2] in dict(stages()["course"])["CMD"]


def test_nobody_gets_in_by_default_and_no_server_may_more_than_it_needs():
    assert VALUES["hub"]["config"]["JupyterHub"]["authenticator_class"] == "null"
    assert VALUES["singleuser"]["allowPrivilegeEscalation"] is False
    assert VALUES["hub"]["config"]["KubeSpawner"]["container_security_context"]["runAsNonRoot"] is True
    default = [profile["slug"] for profile in VALUES["singleuser"]["profileList"] if profile.get("default")]
    assert default == ["simulator"]
