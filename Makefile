VENV := .venv
PYTHON ?= python3.11

.PHONY: crawl test

$(VENV)/installed: requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

# The demo web is on this machine: nobody is disturbed without a delay.
crawl: $(VENV)/installed
	rm -rf crawls/demo
	$(VENV)/bin/scrapy crawl lswc -a lang=th -L WARNING \
		-s LSWC_WEB=demo -s LSWC_CRAWL=crawls/demo -s DOWNLOAD_DELAY=0

test: $(VENV)/installed
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -q -n 2
