"""Grading on other processes and machines: the same grades as here, whoever dies, and no worker that would grade differently."""

import dataclasses
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from concurrent import futures
from pathlib import Path

import distributed
import pytest

from course_lib.errors import CourseError
from course_lib.grading.__main__ import main
from course_lib.grading.classroom import watch, workers
from course_lib.grading.classroom.folders import Classroom
from course_lib.grading.classroom.grade import GradingJob, grade, grade_one
from course_lib.grading.classroom.isolation import isolated, packed
from course_lib.grading.sandbox import bubblewrap
from course_lib.toolchain import disk
from tools import required

ROOT = Path(__file__).parents[2]
EXERCISE = "04_tiling"
RELEASED = (ROOT / f"exercises/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()
SOLVED = (ROOT / f"solutions/{EXERCISE}/{EXERCISE}.ipynb").read_bytes()


def with_line(old, new):
    """Return the worked solution with a text replaced where it first stands."""
    old, new = (json.dumps(text)[1:-1].encode() for text in (old, new))
    assert SOLVED.count(old) >= 1
    return SOLVED.replace(old, new, 1)


# what is submitted -> the points it must get of 10: 2 for the first part, 6 for the second, 2 for the third
CLASS = {
    "honest_1": (SOLVED, 10), "honest_2": (SOLVED.replace(b"k0", b"first"), 10),
    "starter": (RELEASED, 0),
    "wrong": (with_line("acc += As[ty]", "acc -= As[ty]"), 8),
    "endless": (with_line("    float acc = 0.0f;", "    float acc = 0.0f; for (volatile int i = 0; i < 1; ) {}"), 8),
    "reads_a_file": (with_line("#define BM 16", '%:include "/etc/passwd"\n#define BM 16'), 8),
    "broken": (SOLVED[:-20], 0),
    "shell": (with_line("%%cuda tiled", "%%bash tiled"), 4),
}


@pytest.fixture
def classroom(tmp_path):
    return class_in(tmp_path / "class")


def class_in(folder):
    folder.mkdir()
    for name in ("exercises", "solutions"):
        (folder / name).symlink_to(ROOT / name)
    classroom = Classroom(folder)
    for student, (data, _) in CLASS.items():
        hand_in(classroom, student, data)
    (classroom.folder / "seed").write_text("20301120\n", encoding="ascii")
    return classroom


def hand_in(classroom, student, data):
    path = classroom.submission(student, EXERCISE)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)


@pytest.fixture
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


def facts(**changed):
    return {"versions": {"Python": "3.11.1", "numpy": "2.0"}, "library": "a", "problem": None} | changed


@pytest.mark.parametrize(("worker", "words"), [
    (facts(library="b"), "worker tcp://far:1 has another version of the course's library"),
    (facts(versions={"Python": "3.11.1", "numpy": "2.1"}), r"has numpy 2\.1, and here it is 2\.0"),
    (facts(versions={"Python": "3.11.1"}), "has numpy None"),
    (facts(problem="bubblewrap is missing"), "has no sandbox for submissions: bubblewrap is missing"),
    (TimeoutError(), "does not answer within 120 s: end it"),
    (ModuleNotFoundError("No module named 'course_lib'"), "cannot load the course's library")])
def test_a_worker_that_would_grade_differently_is_refused_in_a_sentence(worker, words):
    with pytest.raises(CourseError, match=words):
        workers.demand_equal(facts(), {"tcp://near:1": facts(), "tcp://far:1": worker})


def test_workers_that_are_as_this_process_are_taken():
    workers.demand_equal(facts(), {"tcp://near:1": facts(), "tcp://far:1": facts()})
    workers.demand_equal(facts(), {"tcp://far:1": facts(problem="bubblewrap is missing")}, unsafe=True)
    here = workers.facts()
    assert here["versions"]["Python"] == sys.version.split()[0]
    assert (here["problem"], here["library"]) == (bubblewrap.problem(), job().library)


def test_nobody_at_the_address_is_said_in_a_sentence(monkeypatch, classroom, capsys):
    monkeypatch.setattr(workers, "SECONDS", 0.2)
    assert main(["--root", str(classroom.root), "grade", EXERCISE, "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
    assert main(["--root", str(classroom.root), "grade", EXERCISE, "--dask", "tls://127.0.0.1:9"]) == 2
    assert "tls://127.0.0.1:9 wants a certificate" in capsys.readouterr().err


def job(**changed):
    return dataclasses.replace(GradingJob("ada", EXERCISE, b"no notebook", "", RELEASED, 1, "", 60, unsafe=True), **changed)


@pytest.mark.slow
def test_a_job_of_another_library_is_not_graded():
    """As on a machine that joins later, or is brought up to date meanwhile."""
    assert "no notebook" in grade_one(job())["problem"]
    with pytest.raises(CourseError, match="another version of the course's library"):
        grade_one(job(library="another"))
    with pytest.raises(CourseError, match="another version of the course's library"):
        isolated(packed(grade_one, job(library="another")))
    assert job().key != job(library="another").key


@pytest.mark.slow
def test_what_ends_its_process_is_an_exception_here():
    with pytest.raises(RuntimeError, match="ended with status 7"):
        isolated(packed(os._exit, 7))
    with pytest.raises(RuntimeError, match="ValueError: .*'x'"):
        isolated(packed(int, "x"))
    assert isolated(packed(print, "printed, and no part of the answer")) is None
    with pytest.raises(RuntimeError, match="was still at it after 1 s"):
        isolated(packed(time.sleep, 60), 1)


@pytest.mark.slow
def test_a_scheduler_and_a_worker_that_pass_a_call_on_do_not_load_the_library():
    """They would answer nobody meanwhile, and seem to hang where a machine is busy."""
    code = ("import pickle, sys; from course_lib.grading.classroom.isolation import isolated; isolated(pickle.load(sys.stdin.buffer)); "
            "sys.exit(', '.join({'numpy', 'llvmlite', 'course_lib.grading.classroom.grade'} & sys.modules.keys()) or 0)")
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(packed(grade_one, job())), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@required.bubblewrap
def test_a_second_try_is_a_second_try(cluster, tmp_path):
    """Dask would answer it with what the first try gave, if it took the work for a pure function."""
    with workers.dask(cluster.scheduler_address) as executor:
        first = executor.submit(os.mkdir, str(tmp_path / "new"))
        assert first.result() is None
        with pytest.raises(RuntimeError, match="FileExistsError"):
            executor.submit(os.mkdir, str(tmp_path / "new")).result()


class Counting(futures.Executor):
    """Do at once what is submitted, and know which futures somebody still keeps."""

    def __init__(self):
        self.kept = weakref.WeakSet()

    def submit(self, work, /, *jobs, **options):
        future = futures.Future()
        future.set_result({"student": jobs[0].student, "points": 0, "maximum": 10, "problem": "none was asked for", "parts": []})
        self.kept.add(future)
        return future


@pytest.mark.slow
@required.bubblewrap
def test_a_result_that_is_stored_is_no_longer_kept_on_the_cluster(classroom):
    """A worker's death would have everything that it ever graded graded anew."""
    executor, kept = Counting(), []
    grade(classroom, EXERCISE, executor=executor, show=lambda line: kept.append(len(executor.kept)), quiet=True)
    assert kept[-len(CLASS):] == list(range(len(CLASS), 0, -1))


def without_dates(results):
    return {student: {name: value for name, value in result.items() if name != "graded"} for student, result in results.items()}


@pytest.mark.slow
@required.bubblewrap
def test_a_worker_that_hangs_before_anything_is_graded_is_refused_by_name(classroom, cluster, monkeypatch, capsys):
    monkeypatch.setattr(workers, "FACTS", 8)
    with distributed.Client(cluster, set_as_default=False) as client:
        worker, process = next(iter(client.run(os.getpid).items()))
    os.kill(process, signal.SIGSTOP)
    try:
        assert main(["--root", str(classroom.root), "grade", EXERCISE, "--dask", cluster.scheduler_address]) == 2
    finally:
        os.kill(process, signal.SIGCONT)
    assert f"nothing was graded: worker {worker} does not answer within 8 s" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(900)
@required.bubblewrap
def test_of_three_dask_workers_one_dies_one_hangs_and_the_grades_are_those_of_this_machine(classroom, tmp_path, monkeypatch, capsys):
    """What a hung worker holds is given to others long before Dask would, and the summary names both workers."""
    monkeypatch.setenv("COURSE_CACHE", str(disk.cache_folder().parent))
    monkeypatch.setattr(watch, "SILENT", 20)
    more = {f"honest_{i}": (SOLVED.replace(b"k0", f"first_{i}".encode()), 10) for i in range(3, 7)}
    for student, (data, _) in more.items():
        hand_in(classroom, student, data)
    kept, harmed = classroom.folder / "results", []
    with (distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
          distributed.Client(cluster, set_as_default=False) as client):
        (dies, process), (hangs, stopped), _ = client.run(os.getpid).items()

        def harm():
            for number, sent, pid in ((1, signal.SIGKILL, process), (3, signal.SIGSTOP, stopped)):
                while len(list(kept.glob("*/*.json"))) < number:
                    time.sleep(0.1)
                os.kill(pid, sent)
                harmed.append(pid)

        threading.Thread(target=harm, daemon=True).start()
        assert main(["--root", str(classroom.root), "grade", EXERCISE, "--dask", cluster.scheduler_address]) == 0
        assert harmed == [process, stopped], "this test tests nothing"
    told = capsys.readouterr().out
    assert f"worker {dies} was lost; " in told
    assert f"worker {hangs} sent nothing for 2" in told
    there = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in kept.glob("*/*.json")}
    assert {student: result["points"] for student, result in there.items()} == {
        student: points for student, (_, points) in (CLASS | more).items()}
    again = class_in(tmp_path / "again")
    for student, (data, _) in more.items():
        hand_in(again, student, data)
    assert without_dates(there) == without_dates(grade(again, EXERCISE, show=lambda line: None, quiet=True))


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@required.bubblewrap
def test_two_dask_workers_of_which_one_dies_give_the_grades_of_this_machine(classroom, cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_CACHE", str(disk.cache_folder().parent))
    kept = classroom.folder / "results"
    with distributed.Client(cluster, set_as_default=False) as client:
        before = client.run(os.getpid)
        assert len(set(before.values()) - {os.getpid()}) == 2

        def kill():
            while not list(kept.glob("*/*.json")):
                time.sleep(0.1)
            os.kill(next(iter(before.values())), signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        assert main(["--root", str(classroom.root), "grade", EXERCISE, "--dask", cluster.scheduler_address]) == 0
        killer.join(10)
        assert set(client.run(os.getpid).values()) != set(before.values()), "no worker was killed: this test tests nothing"
    capsys.readouterr()
    there = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in kept.glob("*/*.json")}
    assert {student: result["points"] for student, result in there.items()} == {student: points for student, (_, points) in CLASS.items()}
    here = grade(class_in(tmp_path / "again"), EXERCISE, show=lambda line: None, quiet=True)
    assert without_dates(there) == without_dates(here)


@pytest.mark.slow
@pytest.mark.timeout(900)
@required.bubblewrap
def test_a_worker_with_another_library_is_refused_and_nothing_is_graded(classroom, cluster, tmp_path, capsys):
    shutil.copytree(ROOT / "course_lib", tmp_path / "old/course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "old/course_lib/grading/checks.py").open("a", encoding="utf-8") as file:
        file.write("# as it was last week\n")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--nthreads", "1", "--no-nanny",
               "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(tmp_path)]
    with subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path / "old")}, stderr=subprocess.DEVNULL) as late:
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(3, timeout=60)
            assert main(["--root", str(classroom.root), "grade", EXERCISE, "--dask", cluster.scheduler_address]) == 2
        finally:
            late.terminate()
    assert "nothing was graded: worker tcp://127.0.0.1" in (told := capsys.readouterr().err)
    assert "another version of the course's library" in told
    assert not (classroom.folder / "results").exists()
