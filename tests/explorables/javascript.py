"""Run a function of an explorable's module, as it is on a page: in Node where that is installed, else in Chromium."""

import json
import shutil
import subprocess

import pytest

from course_lib.explorables.explorable import module_text


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
    module = page.with_suffix(".mjs")
    module.write_text(module_text(page.stem))
    if node := shutil.which("node"):
        page.with_name("data.json").write_text(json.dumps(data))
        script = page.with_name("evaluate.mjs")
        script.write_text(f"""import * as module from "./{module.name}";
import {{ readFileSync }} from "node:fs";
const found = ({function})(module, JSON.parse(readFileSync(new URL("./data.json", import.meta.url))));
console.log(JSON.stringify(found));""")
        done = subprocess.run([node, script], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    lab_browser = pytest.importorskip("tools.browser", reason="without Node this test needs playwright")
    if not (chromium := lab_browser.find_chromium()):
        pytest.skip("this test needs Node or Chromium, and neither is installed")
    with lab_browser.playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=lab_browser.FLAGS)
        tab = browser.new_page()
        tab.goto(page.as_uri())
        found = tab.evaluate(f"""async ([source, data]) => ({function})(
            await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }}))), data)""", [module.read_text(), data])
        browser.close()
        return found
