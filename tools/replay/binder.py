"""Replay what Binder does.

It does the steps of .binder/ in their order, in an account made for it, then runs lessons beside a JupyterLab.

LESSONS are called as in the repository. The order is that of the Dockerfile which `jupyter-repo2docker --no-build --debug .` prints
(2026.4.0): Binder's own environment; a copy of the repository, which is the account's home; as that account `pip install -r
.binder/requirements.txt` and `.binder/postBuild`; then JupyterLab. What conda installs there, pip installs here at the versions of
repo2docker's lock file. Everything after the installation runs on one core. What a JupyterHub adds to the server is not replayed. It needs
root, to make the account and to remove it, and the package index.
"""
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import psutil

from tools import ROOT, ToolError
from tools.replay.lesson import index_variables, right, told

ACCOUNT, PORT, TOKEN = "warp-by-warp-replay", 18899, "replay"
# The Jupyter packages of repo2docker's environment.py-3.11-linux-64.lock.
BINDER = """
ipykernel==7.0.1 ipython==9.6.0 ipywidgets==8.1.7 jupyter-client==8.6.3 jupyter-core==5.8.1 jupyter-events==0.12.0 jupyter-lsp==2.3.0
jupyter-offlinenotebook==0.3.2 jupyter-resource-usage==1.2.0 jupyter-server==2.17.0 jupyter-server-terminals==0.5.3 jupyterhub==5.4.0
jupyterlab==4.4.9 jupyterlab-pygments==0.3.0 jupyterlab-server==2.27.3 jupyterlab-widgets==3.0.15 nbclient==0.10.2 nbconvert==7.16.6
nbformat==5.10.4 notebook==7.4.7 notebook-shim==0.2.4 pip==25.2 setuptools==80.9.0 tornado==6.5.2 traitlets==5.14.3
"""


class Account:
    """An account whose home is a clone of this repository, and who runs commands there with Binder's environment."""

    def __init__(self, folder: Path, python: str) -> None:
        self.environment, self.home = folder / "notebook", folder / "home"
        subprocess.run(["useradd", "--no-create-home", "--home-dir", self.home, "--shell", "/bin/bash", ACCOUNT], check=True)
        self.who = pwd.getpwnam(ACCOUNT)
        subprocess.run([python, "-m", "venv", self.environment], check=True)
        subprocess.run([self.environment / "bin/pip", "install", "--quiet", *BINDER.split()], check=True)
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), self.home], check=True)
        subprocess.run(["chown", "-R", f"{ACCOUNT}:", folder], check=True)

    def begin(self, *command: str | Path, one_core: bool = False, **how: Any) -> subprocess.Popen[str]:
        """Start a command in the home, and return its process."""
        variables = {"HOME": str(self.home), "USER": ACCOUNT, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1",
                     "PATH": f"{self.environment / 'bin'}:/usr/local/bin:/usr/bin:/bin"} | index_variables()
        pinned = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))] if one_core else []
        return subprocess.Popen([*pinned, *command], cwd=self.home, env=variables, user=self.who.pw_uid, group=self.who.pw_gid,
                                extra_groups=[], text=True, **how)

    def run(self, *command: str | Path, **how: Any) -> tuple[float, str]:
        """Run a command to its end; return (seconds, what it wrote to its standard output)."""
        begun = time.perf_counter()
        process = self.begin(*command, stdout=subprocess.PIPE, **how)
        out, _ = process.communicate()
        if process.returncode:
            raise ToolError(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{out}")
        return time.perf_counter() - begun, out

    def megabytes(self) -> float:
        """Return the memory of all its processes, pages that several share counted once (proportional set size)."""
        total = 0
        for process in psutil.process_iter(["username"]):
            if process.info["username"] == ACCOUNT:
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:
                    continue
        return total / 1e6

    def remove(self) -> None:
        """End what is left of its processes, and remove the account."""
        for process in psutil.process_iter(["username"]):
            if process.info["username"] == ACCOUNT:
                process.kill()
        subprocess.run(["userdel", ACCOUNT], check=True)


@contextmanager
def watched(account: Account) -> Iterator[list[float]]:
    """Yield a list that gets the account's memory in megabytes, five times a second."""
    seen, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            seen.append(account.megabytes())
    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


@contextmanager
def jupyterlab(account: Account) -> Iterator[float]:
    """Yield the seconds until JupyterLab answers, started by the command that is in the Dockerfile; it runs as long as the block."""
    begun = time.perf_counter()
    server = account.begin("jupyter", "notebook", "--no-browser", "--ip=127.0.0.1", f"--port={PORT}", f"--IdentityProvider.token={TOKEN}",
                           one_core=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield _answers(server) - begun
    finally:
        server.terminate()
        server.wait()


def _answers(server: subprocess.Popen[str]) -> float:
    """Wait until the page of the first lesson is served; return when that was."""
    page = f"http://127.0.0.1:{PORT}/lab/tree/notebooks/00_start_here.ipynb?token={TOKEN}"
    while time.sleep(0.1) or server.poll() is None:
        try:
            with urllib.request.urlopen(page) as answer:
                if answer.status == 200:
                    return time.perf_counter()
        except OSError:
            continue
    raise ToolError("JupyterLab ended by itself.")


def replay(account: Account, lessons: Sequence[str]) -> bool:
    """Do Binder's steps and tell of each; return whether all lessons ran."""
    size = int(subprocess.run(["du", "-sm", account.environment], capture_output=True, text=True, check=True).stdout.split()[0])
    seconds, _ = account.run(account.environment / "bin/pip", "install", "--quiet", "--no-cache-dir", "-r", ".binder/requirements.txt")
    now = int(subprocess.run(["du", "-sm", account.environment], capture_output=True, text=True, check=True).stdout.split()[0])
    print(f"pip install -r .binder/requirements.txt: {seconds:.0f} s, {now - size} MB more", flush=True)
    print(f".binder/postBuild: {account.run('./.binder/postBuild')[0]:.0f} s", flush=True)
    good = True
    with watched(account) as seen, jupyterlab(account) as seconds:
        print(f"JupyterLab serves lesson 00 after {seconds:.1f} s with {account.megabytes():.0f} MB", flush=True)
        for lesson in lessons:
            seen[:] = [0.0]
            _, out = account.run("python", "tools/replay/lesson.py", lesson, one_core=True)
            result = json.loads(out.splitlines()[-1])
            print(f"{told(result)}; at most {max(seen):.0f} MB with JupyterLab", flush=True)
            good = good and right(result)
    return good


@click.command()
@click.argument("lessons", nargs=-1, required=True)
@click.option("--python", default=sys.executable, help="That of .binder/runtime.txt, readable for every account.")
def command(lessons: tuple[str, ...], python: str) -> None:
    """Make the account, replay, and remove the account."""
    folder = Path(tempfile.mkdtemp(prefix="binder-"))
    folder.chmod(0o755)
    account = Account(folder, python)
    try:
        sys.exit(not replay(account, lessons))
    finally:
        account.remove()
        shutil.rmtree(folder)
