"""JupyterLab in a headless Chromium: open a lesson, run it, move its sliders, take pictures.

`tests/browser/` and `python -m tools lesson` are built on this. The lesson is a copy: nothing in the checkout changes.
"""
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from playwright.sync_api import TimeoutError as TooLong
from playwright.sync_api import sync_playwright

from tools import ROOT, ToolError

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none", "autoStartDefaultKernel": True},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}
_running: list[Any] = []
STARTS, RUNS, MOVES = 90, 300, 30        # seconds of patience: the server, all cells of a lesson, one move of a slider


def find_chromium() -> str | None:
    """Return Chromium's path, or None. CHROMIUM names one that is elsewhere."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def require_chromium() -> str:
    """Return Chromium's path.

    Raises
    ------
    ToolError
        When there is none.
    """
    found = find_chromium()
    if found is None:
        raise ToolError("This needs Chromium: `apt install chromium`, or set CHROMIUM to a browser's path.")
    return found


@contextmanager
def playwright() -> Iterator[Any]:
    """Give this process's one Playwright: a second one is refused while the first runs."""
    if _running:
        yield _running[0]
        return
    with sync_playwright() as started:
        _running.append(started)
        try:
            yield started
        finally:
            _running.clear()


@contextmanager
def serve(folder: Path) -> Iterator[tuple[str, str]]:
    """Serve a folder's notebooks by JupyterLab on a free port of this machine; give the address and the token."""
    token = secrets.token_hex(16)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="lab-") as private, tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen(server_command(folder, port), cwd=folder, env=environment(Path(private), token),
                                  stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", server, log)
            yield f"http://127.0.0.1:{port}", token
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def server_command(folder: Path, port: int) -> list[str]:
    """Return the command line of the server."""
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True",
            "--ServerApp.terminals_enabled=False", *root]


def environment(private: Path, token: str) -> dict[str, str]:
    """Return the server's environment: its own settings and nobody else's, kernels on the simulator."""
    for name, values in SETTINGS.items():
        path = private / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    return {"COURSE_BACKEND": "sim"} | os.environ | {
        "JUPYTER_TOKEN": token, "JUPYTER_CONFIG_DIR": str(private / "config"), "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(private / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(private / "workspaces"),
        "IPYTHONDIR": str(private / "ipython"), "WARP_BY_WARP_HOME": str(private / "home"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    }


def wait_for(address: str, server: subprocess.Popen[bytes], log: IO[str]) -> None:
    """Wait until the server answers; when it ends instead, raise with what it wrote."""
    until = time.monotonic() + STARTS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    log.seek(0)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read()[-2000:]}")


@contextmanager
def open_lesson(notebook: Path, width: int = 1280, height: int = 900) -> Iterator["Lesson"]:
    """Open a copy of a notebook, beside copies of its neighbours, and give a `Lesson`."""
    notebook = Path(notebook).resolve()
    with tempfile.TemporaryDirectory(prefix="lesson-") as place:
        folder = Path(place, "lessons")
        shutil.copytree(notebook.parent, folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        with serve(folder) as (address, token), playwright() as started:
            browser = started.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(f"{address}/lab/tree/{notebook.name}?token={token}&reset")
            yield Lesson(page)
            browser.close()


class Lesson:
    """One notebook, open in JupyterLab.

    Attributes
    ----------
    page : playwright Page
        For anything that is not here.
    errors : list of str
        What the browser's console and scripts have reported as errors since the lesson was opened.
    """

    PANEL = "window.jupyterapp.shell.currentWidget"

    def __init__(self, page: Any) -> None:
        self.page = page
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=STARTS * 1000)
        page.wait_for_function(f"{self.PANEL}?.sessionContext?.session?.kernel?.status === 'idle'", timeout=STARTS * 1000)
        self.errors: list[str] = []
        page.on("console", lambda message: self.errors.extend([message.text] if message.type == "error" else []))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.evaluate("for (const side of ['left', 'right']) window.jupyterapp.shell[`collapse${side[0].toUpperCase()}"
                      "${side.slice(1)}`]()")

    def run_all(self) -> list[tuple[int, str]]:
        """Run every cell; return what failed as (cell number, text), errors that a lesson means left out."""
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        return self.ran()

    def ran(self) -> list[tuple[int, str]]:
        """Wait until every cell has been run; return what failed as (cell number, text), errors that a lesson means left out."""
        with suppress(TooLong):          # then some were not run, and are named below
            self.page.wait_for_function(f"""{self.PANEL}.sessionContext.session.kernel.status === 'idle' && (cells => {{
                if (cells.some(cell => cell.executionState === 'running')) return false;
                const failed = cell => !(cell.getMetadata('tags') ?? []).includes('raises-exception')
                    && cell.sharedModel.outputs.some(output => output.output_type === 'error');
                return cells.some(failed) || cells.every(cell => cell.executionCount !== null || !cell.sharedModel.getSource().trim());
            }})([...{self.PANEL}.content.model.cells].filter(cell => cell.type === 'code'))""", timeout=RUNS * 1000)
        self.settle()
        return [tuple(found) for found in self.page.evaluate(f"""() => {{
            const found = [];
            [...{self.PANEL}.content.model.cells].forEach((cell, number) => {{
                if (cell.type !== 'code' || !cell.sharedModel.getSource().trim()) return;
                if (cell.executionCount === null) found.push([number, 'was not run']);
                const meant = (cell.getMetadata('tags') ?? []).includes('raises-exception');
                for (const output of cell.sharedModel.outputs)
                    if (output.output_type === 'error' && !meant) found.push([number, `${{output.ename}}: ${{output.evalue}}`]);
            }});
            return found;
        }}""")]

    def settle(self, seconds: float = 0.5) -> None:
        """Wait until the page's text has not changed for a while."""
        before, until = None, time.monotonic() + MOVES
        while time.monotonic() < until and (text := self.page.inner_text(".jp-Notebook")) != before:
            before = text
            self.page.wait_for_timeout(seconds * 1000)

    def sliders(self) -> Any:
        """Return the handles of all sliders, in the order of the page."""
        return self.page.locator(".jp-OutputArea .noUi-handle[role=slider]")

    def text_around(self, slider: Any) -> str:
        """Return the text of the output that a slider stands in."""
        return slider.locator("xpath=ancestor::*[contains(@class, 'jp-OutputArea-output')][1]").inner_text()

    def move(self, slider: Any, key: str = "ArrowRight", done: Callable[[str], bool] | None = None) -> tuple[str, str]:
        """Move a slider by a key and wait for what it does.

        Returns
        -------
        (str, str)
            The text of the output that the slider stands in, before and after. `done`, a function of that text, says
            when the move has had its effect; without one, any change that then lasts a second is waited for.
        """
        before = self.text_around(slider)
        slider.scroll_into_view_if_needed()
        slider.focus()
        self.page.keyboard.press(key)
        until = time.monotonic() + MOVES
        while time.monotonic() < until and not (done or before.__ne__)(self.text_around(slider)):
            self.page.wait_for_timeout(50)
        if done is None:
            self.settle(1)
        return before, self.text_around(slider)

    def shots(self, folder: Path, name: str, whole: bool = True) -> list[Path]:
        """Write pictures of the notebook, screen by screen, or only of what is on the screen; return their paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if not whole:
            self.page.screenshot(path=folder / f"{name}.png")
            return [folder / f"{name}.png"]
        scroller = self.page.locator(".jp-WindowedPanel-outer").first
        scroller.evaluate("element => element.scrollTo(0, 0)")
        paths: list[Path] = []
        while True:
            self.page.wait_for_timeout(200)
            paths.append(folder / f"{name}-{len(paths):02}.png")
            self.page.screenshot(path=paths[-1])
            moved = scroller.evaluate("""element => { const before = element.scrollTop;
                element.scrollBy(0, element.clientHeight * 0.92); return element.scrollTop - before; }""")
            if moved < 1:
                return paths
