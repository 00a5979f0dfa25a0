"""A recording belongs to a kernel's code: when the code changes, the test below says what to record anew."""

import dataclasses

import pytest

from course_lib import data, kernels
from course_lib.bench import fingerprint as module
from course_lib.bench.fingerprint import code_only, fingerprint, stale
from course_lib.errors import CourseError

NAMES = (*data.names(), *(name for name in data.READINGS if (data.FOLDER / f"{name}.json").exists()))


@pytest.mark.parametrize("name", NAMES)
def test_every_recording_is_of_the_code_that_is_here(name):
    assert not stale(name), "\n".join(stale(name))


def changed(tmp_path, monkeypatch, name, old, new):
    """Put a kernel into the catalog whose text differs."""
    kernel = kernels.get(name)
    assert old in kernel.source
    path = tmp_path / kernel.path.name
    path.write_text(kernel.source.replace(old, new), encoding="utf-8")
    monkeypatch.setitem(module.ALL, name, dataclasses.replace(kernel, path=path))


@pytest.mark.parametrize(("name", "files", "command"), [
    ("sgemm_tiled", {"ladder", "lee", "traffic"}, "python -m course_lib.bench record"),
    ("micro_fma", {"micro"}, "python -m tools record micro")])
def test_other_code_is_noticed_in_every_file(name, files, command, tmp_path, monkeypatch):
    changed(tmp_path, monkeypatch, name, ";", "; ;")
    found = {file: stale(file) for file in NAMES}
    assert {file for file, sentences in found.items() if sentences} >= files
    for file in files:
        sentence, = found[file]
        assert sentence.startswith(f"the code of {name} ({name}.cu) is not what {file}.json measured: record {file} anew")
    assert command in " ".join(" ".join(found[file]) for file in files)


def test_comments_do_not_count(tmp_path, monkeypatch):
    changed(tmp_path, monkeypatch, "sgemm_tiled", "// ", "// or rather:   ")
    assert not stale("ladder")


def test_a_kernel_that_is_gone_and_a_file_that_does_not_say(monkeypatch):
    monkeypatch.delitem(module.ALL, "sgemm_naive")
    assert "sgemm_naive is not in the catalog any more: leave it out of ladder.json" in stale("ladder")
    real = data.readings("micro")
    monkeypatch.setattr(data, "readings", lambda name: dataclasses.replace(real, sources={}))
    with pytest.raises(CourseError, match="does not say which text of micro_chains, micro_fma, "):
        stale("micro")


@pytest.mark.parametrize(("text", "code"), [
    ("a /* b\n c */ d", "a   d"), ("a; // b /* c\nd; // */", "a;\nd;"), ('s = "/* no */ // no";', 's = "/* no */ // no";'),
    ("c = '\"'; // \"\nd", "c = '\"';\nd"), ('s = "\\"//"; // x', 's = "\\"//";'), ("a / b; c // d", "a / b; c"), ("\n\n  a\n\n", "a"),
    ("// one \\\n still\na", "a")])
def test_what_is_a_comment(text, code):
    assert code_only(text) == code


def test_a_recorded_hash_is_of_the_code():
    assert fingerprint("a = b; // one") == fingerprint("\na = b; /* two */") != fingerprint("a = c;")
    assert fingerprint("a // b", python=True) != fingerprint("a // c", python=True)
    assert all(r.source for name in data.names() for r in data.load(name).records if r.kernel not in ("cuBLAS", "copy"))
