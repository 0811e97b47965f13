# Every target does its own set-up: a virtual environment in .venv, and in it mfbai with its server (for the demo) or also
# with the tools of its developers (for everything else).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test check wheel dist notebook pictures bench bench-strategies bench-race bench-guarantee bench-studies bench-serve bench-gallery
.PHONY: bench-arms bench-engines bench-noise bench-control bench-pilot bench-report bench-workers docs postgresql chromium clean

demo: $(VENV)/ready
	$(BIN)/mfbai demo
	@echo "Here, that is: $(BIN)/mfbai serve --demo"

# ORDER=random shuffles the tests, and prints the seed; ORDER=12345 repeats the order of that seed.
ORDER :=
SHUFFLED = $(if $(ORDER),-p randomly $(if $(filter-out random,$(ORDER)),--randomly-seed=$(ORDER)),)
test: check postgresql chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(SHUFFLED)

# The tests of studies start a PostgreSQL server of their own.
postgresql:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends postgresql; } || \
		{ echo "the tests need a PostgreSQL server: on Debian, apt-get install postgresql"; exit 1; }

# The tests of the page use a browser without a screen, those of the documentation curl.
chromium:
	@{ command -v chromium >/dev/null || command -v chromium-browser >/dev/null; } && command -v curl >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium curl; } || \
		{ echo "the tests need a browser and curl: on Debian, apt-get install chromium curl"; exit 1; }

check: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in build/site: executes the gallery, and checks every link.
docs: $(VENV)/dev
	$(BIN)/sphinx-build --fail-on-warning --keep-going --show-traceback --jobs 2 --conf-dir docs . build/site || \
		{ rm -rf build/site/.doctrees; exit 1; }  # or the next run would not read again what it has warned of
	$(BIN)/python tools/links.py build/site
	@echo "Open build/site/index.html in a browser."

# With compiled code of all families for x86-64 in it: some four minutes on two cores.
wheel: $(VENV)/dev
	$(BIN)/python tools/wheel.py
	MFBAI_WHEEL=$$(ls dist/mfbai-*.whl) $(BIN)/python -m pytest -q tests/test_wheel.py

# A release: the wheel and the sdist, checked, and used in empty environments of each Python on the PATH.
dist: wheel
	$(BIN)/python tools/dist.py

# The pictures in docs/images: of the page, and of a decision.
pictures: $(VENV)/dev chromium
	$(BIN)/python tools/pictures.py
	$(BIN)/python tools/decision.py

bench: $(VENV)/dev
	$(BIN)/python bench/run.py

bench-strategies: $(VENV)/dev
	$(BIN)/python bench/strategies.py

bench-race: $(VENV)/dev
	$(BIN)/python bench/race.py

bench-arms: $(VENV)/dev
	$(BIN)/python bench/arms.py

bench-pilot: $(VENV)/dev
	$(BIN)/python bench/pilot.py

bench-noise: $(VENV)/dev
	$(BIN)/python bench/noise.py
	$(BIN)/python bench/deterministic.py

bench-control: $(VENV)/dev
	$(BIN)/python bench/control.py

bench-guarantee: $(VENV)/dev
	$(BIN)/python bench/guarantee.py
	$(BIN)/python bench/contrasts.py
	$(BIN)/python bench/alarms.py
	$(BIN)/python bench/audit.py
	$(BIN)/python bench/bear.py

bench-studies: $(VENV)/dev postgresql
	$(BIN)/python bench/studies.py

bench-serve: $(VENV)/dev chromium
	$(BIN)/python bench/serve.py

bench-report: $(VENV)/dev chromium
	$(BIN)/python bench/report.py

bench-engines: $(VENV)/dev
	$(BIN)/python bench/engines.py

bench-workers: $(VENV)/dev
	$(BIN)/python bench/workers.py

# Executes the example notebook and writes its outputs into it.
notebook: $(VENV)/dev
	$(BIN)/python tools/notebook.py

bench-gallery: $(VENV)/dev
	$(BIN)/python bench/gallery.py

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mfbai needs Python 3.11 or newer: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "cannot make a virtual environment: on Debian, apt-get install python3-venv"; exit 1; }
	@touch $@

# pip shows what it does: on a slow line that takes a while.
$(VENV)/ready: $(VENV)/made pyproject.toml
	$(BIN)/pip install --disable-pip-version-check --editable '.[web]'
	@touch $@

$(VENV)/dev: $(VENV)/made pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/ready

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis
