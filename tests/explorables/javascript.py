"""Run a function of an explorable's module, as it is on a page: in Node where that is installed, else in Chromium."""

import functools
import http.server
import json
import shutil
import subprocess
import threading
from contextlib import contextmanager

import pytest


@contextmanager
def served(folder):
    """Serve a folder on a free port of this machine; give its address."""
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def evaluate(page, function, data):
    """Call a JavaScript function, given as text, with the explorable's module and some data; return what it returns.

    Parameters
    ----------
    page : Path
        As `Explorable.write_page` returns it.
    function : str
        Such as `(module, data) => module.bankOf(data)`.
    data : what JSON can hold
    """
    if node := shutil.which("node"):
        script = page.with_suffix(".mjs")
        (page.parent / "package.json").write_text('{"type": "module"}')
        page.with_name("data.json").write_text(json.dumps(data))
        script.write_text(f"""import * as module from "./{page.stem}.js";
import {{ readFileSync }} from "node:fs";
const found = ({function})(module, JSON.parse(readFileSync(new URL("./data.json", import.meta.url))));
console.log(JSON.stringify(found));""")
        done = subprocess.run([node, script], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    lab_browser = pytest.importorskip("lab_browser", reason="without Node this test needs playwright")
    if not (chromium := lab_browser.find_chromium()):
        pytest.skip("this test needs Node or Chromium, and neither is installed")
    with served(page.parent) as address, lab_browser.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=lab_browser.FLAGS)
        tab = browser.new_page()
        tab.goto(f"{address}/{page.name}")
        found = tab.evaluate(f'async data => ({function})(await import("./{page.stem}.js"), data)', data)
        browser.close()
        return found
