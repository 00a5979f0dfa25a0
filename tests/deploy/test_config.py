"""What deploy/ sets exists: traitlets would only warn, and a hub without its `allowed_groups` lets nobody or everybody in."""

import json
import os
from pathlib import Path

import pytest
from jupyterhub import auth, proxy, spawner
from jupyterhub.app import JupyterHub
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import Exchange
from traitlets.config import PyFileConfigLoader

from course_lib.grading.classroom.exchange import COURSE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CLASSES = {"JupyterHub": JupyterHub, "ConfigurableHTTPProxy": proxy.ConfigurableHTTPProxy, "PAMAuthenticator": auth.PAMAuthenticator,
           "Spawner": spawner.Spawner, "CourseDirectory": CourseDirectory, "Exchange": Exchange}


@pytest.fixture
def load(monkeypatch):
    def read(name, **environment):
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        return PyFileConfigLoader(name, path=str(DEPLOY)).load_config()

    return read


@pytest.mark.parametrize("name", ["jupyterhub_config.py", "etc/nbgrader_config.py"])
def test_every_setting_is_one_that_its_class_has(load, name, tmp_path):
    found = load(name, COURSE_HUB=str(tmp_path), COURSE_EXCHANGE=str(tmp_path), JUPYTERHUB_USER="ada")
    assert found
    for group, settings in found.items():
        for setting, value in settings.items():
            trait = CLASSES[group].class_traits(config=True).get(setting)
            assert trait is not None, f"{group} has no {setting}"
            if name.startswith("etc"):
                trait.validate(CLASSES[group](), value)


def test_the_hub_keeps_to_this_machine_and_to_two_groups(load, tmp_path):
    found = load("jupyterhub_config.py", COURSE_HUB=str(tmp_path), COURSE_EXCHANGE=str(tmp_path))
    for address in (found.JupyterHub.bind_url, found.JupyterHub.hub_bind_url, found.ConfigurableHTTPProxy.api_url):
        assert address.startswith("http://127.0.0.1:")
    assert (found.Spawner.ip, found.JupyterHub.authenticator_class) == ("127.0.0.1", "pam")
    assert found.PAMAuthenticator.allowed_groups == {"students", "instructors"}
    assert found.JupyterHub.db_url == f"sqlite:///{tmp_path}/jupyterhub.sqlite"
    assert "dummy" not in (DEPLOY / "jupyterhub_config.py").read_text(encoding="utf-8").lower()
    assert os.path.isfile(Path(found.Spawner.environment["JUPYTER_CONFIG_PATH"], "nbgrader_config.py"))


@pytest.mark.parametrize("missing", ["COURSE_HUB", "COURSE_EXCHANGE"])
def test_a_folder_that_is_missing_ends_the_hub_with_a_sentence(load, missing, tmp_path):
    folders = {"COURSE_HUB": str(tmp_path), "COURSE_EXCHANGE": str(tmp_path), missing: str(tmp_path / "nowhere")}
    with pytest.raises(SystemExit, match=rf"no folder .*nowhere: make it as deploy/README.md says, or name another one in {missing}\."):
        load("jupyterhub_config.py", **folders)


def test_the_course_has_one_name(load):
    there = load("etc/nbgrader_config.py", COURSE_EXCHANGE="/exchange")
    (ROOT / "nbgrader_config.py").read_text(encoding="utf-8").index(f'course_id = "{COURSE}"')
    assert there.CourseDirectory.course_id == COURSE


def test_no_server_has_the_formgrader():
    settings = json.loads((DEPLOY / "etc/jupyter_server_config.json").read_text(encoding="utf-8"))["ServerApp"]["jpserver_extensions"]
    installed = {f"nbgrader.server_extensions.{name}" for name in ("assignment_list", "course_list", "formgrader", "validate_assignment")}
    assert settings.keys() <= installed
    assert settings["nbgrader.server_extensions.formgrader"] is False


def test_the_pages_name_what_there_is():
    page = (DEPLOY / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("release", "hand-out", "collect", "grade", "feedback", "grades", "hand-back"):
        assert f"make {target}" in page
        assert f"\n{target}: dev" in makefile
    for path in DEPLOY.rglob("*.*"):
        if "__pycache__" not in path.parts and path.name != "README.md":
            assert path.relative_to(DEPLOY).as_posix() in page
