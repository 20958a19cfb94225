VENV := .venv
# The first Python from 3.11 on that can make an environment; PYTHON=... names another.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	$$name -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		&& echo $$name && break; done)

SAMPLE ?= 200
SEED ?= 1

.PHONY: crawl docs faults lock mutants redis replay test

# What a crawl needs: the demo is a minute away.
$(VENV)/crawls: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later with venv is missing: on Debian," \
		"apt-get install python3-venv; on macOS, brew install python" >&2; exit 1; }
	@echo "Setting up $(VENV): 300 MB of packages, once."
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --progress-bar on --editable .
	touch $@

# What all commands and the tests need besides.
$(VENV)/installed: $(VENV)/crawls requirements.txt
	@echo "Setting up the rest of $(VENV): 0.9 GB of packages, once; this takes some minutes."
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --progress-bar on \
		-r requirements.txt --editable '.[dev]'
	touch $@

# The official test cases of the URL Standard, which no package installs.
$(VENV)/whatwg.json: $(VENV)/installed
	$(VENV)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary httpx \
		--dest $(VENV) httpx==0.28.1
	tar -xzmf $(VENV)/httpx-0.28.1.tar.gz -C $(VENV) --strip-components 3 \
		httpx-0.28.1/tests/models/whatwg.json

# Google's public test cases of robots.txt, which no package installs.
$(VENV)/google_robots.py: $(VENV)/installed
	$(VENV)/bin/pip download --quiet --disable-pip-version-check --no-deps \
		--no-binary gpyrobotstxt --dest $(VENV) gpyrobotstxt==1.0.0
	tar -xzmf $(VENV)/gpyrobotstxt-1.0.0.tar.gz -C $(VENV) --strip-components 2 \
		gpyrobotstxt-1.0.0/test/test_google_only_system.py
	mv $(VENV)/test_google_only_system.py $@

# Protego's own test cases of robots.txt, which its package doesn't install.
PROTEGO := protego-0.7.0
$(VENV)/protego_google.py: $(VENV)/installed
	$(VENV)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary protego \
		--dest $(VENV) protego==0.7.0
	tar -xzmf $(VENV)/$(PROTEGO).tar.gz -C $(VENV) --strip-components 2 \
		$(PROTEGO)/tests/test_protego.py $(PROTEGO)/tests/test_on_google_spec.py
	mv $(VENV)/test_protego.py $(VENV)/protego_cases.py
	mv $(VENV)/test_on_google_spec.py $@

# Scrapy's own tests of its download handlers, which its package doesn't install, and what they need.
SCRAPY := scrapy-2.19.0
$(VENV)/scrapy_tests/lib: $(VENV)/installed
	$(VENV)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary scrapy \
		--dest $(VENV) $(subst -,==,$(SCRAPY))
	mkdir -p $(VENV)/scrapy_tests
	tar -xzmf $(VENV)/$(SCRAPY).tar.gz -C $(VENV)/scrapy_tests --strip-components 1 \
		$(SCRAPY)/tests $(SCRAPY)/conftest.py $(SCRAPY)/pyproject.toml
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --target $@ \
		pytest-twisted pytest-asyncio decorator testfixtures

crawl: $(VENV)/crawls
	$(VENV)/bin/lswc demo --fresh

# The tests of many workers run a redis-server of their own; without one they are skipped.
redis:
	@command -v redis-server >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && apt-get install -y -qq redis-server >/dev/null 2>&1; } \
		|| { [ "$$(id -u)" = 0 ] && apt-get update -qq >/dev/null 2>&1 \
			&& apt-get install -y -qq redis-server >/dev/null 2>&1; } \
		|| echo "redis-server is missing: install it with the system's package manager" >&2

# The pages of docs/ that are made from the code are made anew: what git shows of them is to be kept.
# A test starts hundreds of processes: what they are made of is compiled once, whatever the user's
# environment says. An empty value is none.
test faults: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/installed $(VENV)/whatwg.json $(VENV)/google_robots.py $(VENV)/protego_google.py redis
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/python -m lswc.cli.reference docs
	$(VENV)/bin/mypy --num-workers 2
	$(VENV)/bin/pytest -q -n 4 -m "not slow"

# The documentation as a web site with a search, in build/site. A link that leads nowhere ends it.
docs: $(VENV)/mkdocs
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

$(VENV)/mkdocs: $(VENV)/installed
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

# What replays an archive beside the live web. pywb needs older libraries than the crawl does.
REPLAYWEBPAGE := replaywebpage-2.4.6
replay: $(VENV)/pywb/bin/wayback $(VENV)/replaywebpage/package/ui.js

$(VENV)/pywb/bin/wayback: $(VENV)/installed
	$(VENV)/bin/python -m venv $(VENV)/pywb
	$(VENV)/pywb/bin/pip install --quiet --disable-pip-version-check pywb==2.10.0

$(VENV)/replaywebpage/package/ui.js: $(VENV)/installed
	@command -v npm >/dev/null || { echo "npm is missing: without it nothing tests that" \
		"ReplayWeb.page opens a WACZ file" >&2; exit 1; }
	mkdir -p $(VENV)/replaywebpage
	npm pack --silent --pack-destination $(VENV)/replaywebpage $(subst -,@,$(REPLAYWEBPAGE))
	tar -xzmf $(VENV)/replaywebpage/$(REPLAYWEBPAGE).tgz -C $(VENV)/replaywebpage

# Whole crawls, and what goes wrong around them: kills, workers, the network, Redis, disks, clocks,
# hostile pages. Such tests wait more than they work, so there are more of them than cores. A process
# loads the files that have some, not all. Scrapy's own tests have times of their own, so they run alone.
faults: $(VENV)/installed $(VENV)/scrapy_tests/lib redis
	$(VENV)/bin/pytest -q -n 6 --no-loadscope-reorder -m slow \
		$$(grep -rl --include='test_*.py' 'mark\.slow' tests | grep -v scrapy_handler | sort)
	$(VENV)/bin/pytest -q tests/faults/test_scrapy_handler.py

# All that is installed, each at one version: for who wants today's environment again.
# pip install -r requirements.lock -e .
lock: $(VENV)/installed
	$(VENV)/bin/pip install --quiet --disable-pip-version-check "uv>=0.9"
	$(VENV)/bin/uv pip compile --universal --quiet --no-annotate --no-header \
		--python-version 3.11 --extra all --output-file requirements.lock pyproject.toml

# How many small changes of a room's code its tests notice: make mutants ROOM=strategy SAMPLE=200;
# of one folder of it: ROOM=frontier PART=exchange.
mutants: $(VENV)/mutmut redis
	@test -n "$(ROOM)" || { echo "Name a room: make mutants ROOM=strategy" >&2; exit 2; }
	$(VENV)/bin/python -m benchmarks.mutants $(ROOM) $(if $(PART),--part $(PART)) --sample $(SAMPLE) --seed $(SEED)

$(VENV)/mutmut: $(VENV)/installed
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[mutants]'
	touch $@
