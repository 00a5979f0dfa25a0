# Warp by Warp. `make help` lists what there is to type. PYTHON picks the interpreter that .venv is made with.
PYTHON ?= python3
JOBS   ?= 2
TESTS  ?= tests course_lib tools
LESSONS ?= notebooks
EXERCISE ?= 04_tiling
FROM   ?= inbox
EXPORT ?=
EXCHANGE ?= /srv/warp-by-warp/exchange

BIN   := .venv/bin
# Tests never touch a GPU, and neither see nor change your own IPython profile, predictions and caches.
SIM   := env COURSE_BACKEND=sim COURSE_CACHE="$(CURDIR)/build/cache" WARP_BY_WARP_HOME="$(CURDIR)/build/home" \
         IPYTHONDIR="$(CURDIR)/build/ipython"
UNITS := $(SIM) MPLBACKEND=Agg $(BIN)/python -m pytest -q -p no:nbval -n $(JOBS) --dist loadfile
NBVAL := $(SIM) $(BIN)/python -m pytest -q -p no:hypothesispytest -p tools.lessons_in_c -n $(JOBS) --dist loadfile --nbval --nbval-current-env \
         --nbval-sanitize-with tests/nbval_sanitize.cfg --nbval-cell-timeout 120

STEP  := $(MAKE) --no-print-directory -s INSTALLED=1

.PHONY: help lab test test-all test-slow test-exhaustive lint units notebooks worked drift exercises release roster collect grade feedback grades class questions answers hand-out hand-back precompiled bench clean python dev
.NOTPARALLEL:

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

lab: python  ## open your own copy of the course, my_course/, in JupyterLab; installs what is missing. LAB_ARGS="--no-browser --port 8899"
	@"$(PYTHON)" tools/setup.py lab

test: dev  ## check everything on the simulator: style, imports, unit tests, every lesson, the exercises
	@echo "3/6 style and import contracts"
	@$(STEP) lint
	@echo "4/6 exercises are what solutions give"
	@$(STEP) drift
	@echo "5/6 unit tests and doctests"
	@$(STEP) units
	@echo "6/6 notebooks: every cell run, every output compared"
	@$(STEP) notebooks

test-all: test test-slow  ## `make test`, then `make test-slow`

test-slow: dev  ## the slow tests, the worked solutions, and a real browser where Chromium is installed
	$(UNITS) -m "slow and not exhaustive and not browser" tests
	@$(STEP) worked
	$(SIM) MPLBACKEND=Agg $(BIN)/python -m pytest -q -n $(JOBS) -m "browser and not exhaustive" tests/browser

test-exhaustive: dev  ## the tests that are left, before a release: every answer in the sandbox, every shipped kernel compiled anew (an hour)
	$(UNITS) -m "exhaustive and not browser" tests
	$(SIM) MPLBACKEND=Agg $(BIN)/python -m pytest -q -m "browser and exhaustive" tests/browser

lint: dev  ## ruff, the contract of which package imports which, and mypy
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy --cache-dir build/mypy

units: dev  ## only the unit tests and doctests
	$(UNITS) -m "not slow and not exhaustive and not browser" $(TESTS)

notebooks: dev  ## only the lessons: every cell run, every output compared
	@rm -rf build/home
	$(NBVAL) $(LESSONS)

worked: dev  ## only the worked solutions, in a copy
	@rm -rf build/nbval build/home && mkdir -p build/nbval && cp -R solutions build/nbval/
	$(NBVAL) build/nbval/solutions

drift: dev  ## fail when exercises/ is not what solutions/ gives
	$(BIN)/python -m course_lib.grading.classroom.generate --check

exercises: dev  ## make exercises/ anew from solutions/
	$(BIN)/python -m course_lib.grading.classroom.generate

release: dev  ## pack what students get into build/warp-by-warp.zip: no solutions, no tests
	$(BIN)/python -m course_lib.grading release

roster: dev  ## take the roster from what Canvas, Moodle or Brightspace exported, and keep that for `make grades`. EXPORT=file
	$(BIN)/python -m course_lib.grading roster "$(EXPORT)"

collect: dev  ## put what a learning platform gave into grading/submitted. FROM=folder or zip file
	$(BIN)/python -m course_lib.grading collect "$(FROM)"

grade: dev  ## grade every submission in a sandbox. EXERCISE=04_tiling GRADE_ARGS="--dask tcp://127.0.0.1:8786"
	$(BIN)/python -m course_lib.grading grade "$(EXERCISE)" $(GRADE_ARGS)

feedback: dev  ## write a page for each student into grading/feedback. EXERCISE=04_tiling
	$(BIN)/python -m course_lib.grading feedback "$(EXERCISE)"

grades: dev  ## write grading/grades_EXERCISE.csv, what the platform imports, and which kernels are suspiciously alike. EXERCISE=04_tiling
	$(BIN)/python -m course_lib.grading grades "$(EXERCISE)"

class: dev  ## write grading/class.html, the class at a glance, without names. CLASS_ARGS=--names writes another page, with them
	$(BIN)/python -m course_lib.grading class $(CLASS_ARGS)

questions: dev  ## write two pages into grading/ with twelve questions, to be answered before and after the course
	$(BIN)/python -m course_lib.grading questions

answers: dev  ## put the answers to the twelve questions into grading/questions. FROM=folder or zip file
	$(BIN)/python -m course_lib.grading answers "$(FROM)"

hand-out: dev  ## put an exercise into nbgrader's exchange. EXERCISE=04_tiling EXCHANGE=folder
	$(BIN)/python -m course_lib.grading hand-out "$(EXERCISE)" "$(EXCHANGE)"

hand-back: dev  ## put the pages of feedback into nbgrader's exchange. EXERCISE=04_tiling EXCHANGE=folder
	$(BIN)/python -m course_lib.grading hand-back "$(EXERCISE)" "$(EXCHANGE)"

precompiled: dev  ## make build/precompiled.zip, with which lessons run on machines that cannot have NVIDIA's compiler
	$(BIN)/python -m tools precompiled

bench: dev  ## measure how fast the simulator is. BENCH_ARGS="--quick --json FILE --numba-python PATH"
	$(BIN)/python -m course_lib.bench simt $(BENCH_ARGS)

clean:  ## remove .venv and everything that was built; my_course/ and your grades stay
	rm -rf .venv build .pytest_cache .ruff_cache .import_linter_cache *.egg-info
	find course_lib tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found=$$("$(PYTHON)" --version 2>&1) || found="no program that runs"; \
	  echo "The course needs Python 3.11 or newer, and '$(PYTHON)' is $$found: install a newer one and name it," \
	    "as in: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }

# `make test` installs once; the targets that it calls are told so.
dev: python
ifndef INSTALLED
	@"$(PYTHON)" tools/setup.py dev $(if $(filter test test-all,$(MAKECMDGOALS)),6)
endif
