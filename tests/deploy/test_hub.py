"""A whole round on a real JupyterHub, as deploy/ has it: hand out, fetch, solve, submit, collect, grade, hand back, read.

Everything listens on 127.0.0.1 at free ports, and is ended by its process number, whatever happens.
"""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import requests

from tools import required

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
COURSE = "warp-by-warp"
PATIENCE = 120                                # seconds, for a server to start on a busy machine
MARK = "COURSE_TEST_OF_THE_HUB"               # in the environment of every process that belongs to the test
CONFIG = """
load_subconfig({deployed!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{public}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
# For tests alone: one password for everybody, and servers that all run as one account.
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allowed_users = {{"ada"}}
c.Authenticator.admin_users = {{"teacher"}}
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r} + "/{{username}}"
c.Spawner.environment[{mark!r}] = {value!r}
c.Spawner.args = {arguments!r}
c.Spawner.start_timeout = c.Spawner.http_timeout = {patience}
"""


class User:
    """Somebody at a browser: logged in at the hub, with a server."""

    def __init__(self, url, name, password):
        self.url, self.name, self.session = url, name, requests.Session()
        self.session.trust_env = False
        self.session.get(f"{url}/hub/login")
        form = {"username": name, "password": password, "_xsrf": self.session.cookies.get("_xsrf", path="/hub/")}
        self.login = self.session.post(f"{url}/hub/login", data=form)

    def start(self):
        """Wait until the server is there, and open it as a browser does."""
        deadline = time.monotonic() + PATIENCE
        self.session.get(f"{self.url}/hub/spawn")
        while time.monotonic() < deadline:
            answer = self.session.get(f"{self.url}/user/{self.name}/lab")
            if answer.ok and answer.url.startswith(f"{self.url}/user/{self.name}/lab"):
                return self
            time.sleep(1)
        raise TimeoutError(f"{self.name}'s server did not start: {answer.status_code} {answer.url}")

    def ask(self, method, path, **options):
        """Ask the user's server, and demand that it answers."""
        answer = self.session.request(method, f"{self.url}/user/{self.name}/{path}", headers=self._xsrf(), **options)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer

    def _xsrf(self):
        return {"X-XSRFToken": self.session.cookies.get("_xsrf", path=f"/user/{self.name}/") or ""}

    def assignments(self, action=None):
        """Do something with the exercise by nbgrader's extension, and return its list: status -> entry."""
        asked = {"course_id": COURSE, "assignment_id": EXERCISE}
        answer = self.ask("POST", f"assignments/{action}", data=asked) if action else self.ask("GET", "assignments", params=asked)
        told = answer.json()
        assert told["success"], told["value"]
        return {entry["status"]: entry for entry in told["value"]}


def free_ports(number):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [each.getsockname()[1] for each in sockets]


def processes(value):
    """Return the processes that carry the test's mark."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == value:
                found.append(process)
    return found


def end(hub, value):
    """End the hub, and after it whatever it left."""
    with contextlib.suppress(ProcessLookupError):
        hub.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        hub.wait(30)
    for process in processes(value):
        with contextlib.suppress(psutil.Error):
            process.kill()
    hub.wait(10)


@pytest.fixture
def hub(tmp_path):
    """Start the hub of deploy/; yield (its address, everybody's password, the mark of its processes)."""
    public, inner, api = free_ports(3)
    password, value = secrets.token_hex(), secrets.token_hex()
    for folder in ("hub", "exchange", "homes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "exchange").chmod(0o1777)
    (tmp_path / "config.py").write_text(CONFIG.format(
        deployed=str(ROOT / "deploy/jupyterhub_config.py"), public=public, hub=inner, api=api, password=password,
        homes=str(tmp_path / "homes"), mark=MARK, value=value, patience=PATIENCE,
        arguments=["--allow-root"] if os.geteuid() == 0 else []), encoding="utf-8")
    environment = os.environ | {MARK: value, "COURSE_HUB": str(tmp_path / "hub"), "COURSE_EXCHANGE": str(tmp_path / "exchange"),
                                "PYTHONPATH": str(ROOT), "CONFIGPROXY_AUTH_TOKEN": secrets.token_hex()}
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        running = subprocess.Popen([sys.executable, "-m", "jupyterhub", "-f", str(tmp_path / "config.py")], cwd=tmp_path / "hub",
                                   env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_for(f"http://127.0.0.1:{public}/hub/api", running)
            yield f"http://127.0.0.1:{public}", password, value
        except BaseException:
            print((tmp_path / "log").read_text(encoding="utf-8")[-8000:])
            raise
        finally:
            end(running, value)
            print((tmp_path / "log").read_text(encoding="utf-8")[-8000:])
    assert processes(value) == []
    for port in (public, inner, api):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), 5)


def wait_for(url, running):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert running.poll() is None, "the hub ended"
        with contextlib.suppress(requests.ConnectionError):
            if requests.get(url, timeout=5).ok:
                return
        time.sleep(0.5)
    raise TimeoutError("the hub did not start")


def instructor(classroom, *arguments):
    """Run an instructor's command in a class's repository; return what it prints."""
    done = subprocess.run([sys.executable, "-m", "course_lib.grading", "--root", str(classroom), *map(str, arguments)],
                          cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def solved(nb):
    """Put the worked solution's answers into a notebook, as somebody who has solved it all."""
    path = ROOT / f"solutions/{EXERCISE}/{EXERCISE}.ipynb"
    sources = {cell["id"]: "".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
    answers = [cell for cell in nb["cells"] if cell["id"].endswith("-answer")]
    assert answers
    for cell in answers:
        cell["source"] = sources[cell["id"]]
    return nb


@pytest.mark.slow
@pytest.mark.timeout(900)
@required.bubblewrap
def test_a_student_fetches_and_submits_and_reads_the_feedback(hub, tmp_path):
    url, password, mark = hub
    classroom, exchange = tmp_path / "class", tmp_path / "exchange"
    classroom.mkdir()
    for name in ("exercises", "solutions"):
        (classroom / name).symlink_to(ROOT / name)
    instructor(classroom, "hand-out", EXERCISE, exchange)

    ada = User(url, "ada", password).start()
    assert ada.assignments()["released"]["assignment_id"] == EXERCISE
    assert ada.assignments("fetch")["fetched"]["course_id"] == COURSE
    notebook = f"api/contents/{EXERCISE}/{EXERCISE}.ipynb"
    nb = ada.ask("GET", notebook, params={"type": "notebook"}).json()["content"]
    assert not any("BEGIN SOLUTION" in cell["source"] for cell in nb["cells"])
    ada.ask("PUT", notebook, json={"type": "notebook", "format": "json", "content": solved(nb)})
    submission, = ada.assignments("submit")["submitted"]["submissions"]
    assert not submission["has_exchange_feedback"]

    assert f"ada {EXERCISE} 20" in instructor(classroom, "collect", exchange / COURSE / "inbound")
    assert "ada: 10 of 10" in instructor(classroom, "grade", EXERCISE)
    instructor(classroom, "feedback", EXERCISE)
    assert instructor(classroom, "hand-back", EXERCISE, exchange) == "ada: handed back\n"
    assert "1 graded" in instructor(classroom, "grades", EXERCISE)

    submission, = ada.assignments("fetch_feedback")["submitted"]["submissions"]
    assert submission["has_local_feedback"]
    page = ada.ask("GET", f"files/{submission['local_feedback_path']}/{EXERCISE}.html").text
    assert "<strong>10 of 10 points</strong>" in page

    teacher = User(url, "teacher", password).start()
    admin = teacher.session.get(f"{url}/hub/admin")
    assert (admin.status_code, ada.session.get(f"{url}/hub/admin").status_code) == (200, 403)
    assert ada.session.get(f"{url}/user/teacher/api/contents").status_code == 403
    assert teacher.session.get(f"{url}/user/teacher/formgrader").status_code == 404, "nobody autogrades by a button"
    assert not list((exchange / COURSE).glob("gradebook*")) + list(classroom.rglob("*.db")), "grading needs no database"
    ours = processes(mark)
    assert len(ours) >= 4, "hub, proxy and two servers"
    listening = {each.laddr.ip for process in ours for each in process.net_connections() if each.status == psutil.CONN_LISTEN}
    assert listening == {"127.0.0.1"}


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_who_is_not_on_the_list_does_not_get_in(hub):
    url, password, _ = hub
    assert User(url, "mallory", password).login.status_code == 403
    assert User(url, "ada", "guessed").login.status_code == 403
