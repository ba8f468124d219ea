# The two commands of a newcomer: `make run` serves the bot, `make test` runs every check and test.
# A setting can be given either way: `PORT=9000 make run` or `make run PORT=9000`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test test-fast test-image test-replicas check format texts lock release clean

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--annotation-style line $(if $(UPGRADE),--upgrade)

run: $(VENV)/.compiled
	@exec $(BIN)/python -m server run

TESTS := $(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

test: $(VENV)/.dev $(VENV)/.compiled
	@$(BIN)/python .ci/system.py
	@$(MAKE) --no-print-directory $(VENV)/.node
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@echo "$(BIN)/mypy, in the time that the tests leave; its findings are at the end"
	@nice $(BIN)/mypy > $(VENV)/mypy.txt 2>&1 & types=$$!; \
	$(TESTS); tests=$$?; \
	wait $$types; types=$$?; cat $(VENV)/mypy.txt; \
	[ $$tests -eq 0 ] && [ $$types -eq 0 ]

test-fast: $(VENV)/.dev
	$(TESTS) -m "not system and not slow"

# The container image and compose.yaml, built and used for real. It needs Docker and Compose; as root on Debian it
# installs and starts them, and makes the base image from Debian's packages if none can be fetched.
test-image: $(VENV)/.dev
	@$(BIN)/python .ci/system.py image
	@$(INSTALL) --no-deps -r tests/image/requirements.txt
	$(BIN)/python -m pytest -s tests/image

# A cluster of replicas on this machine, of which each part is killed, paused and restarted under load: some minutes.
test-replicas: $(VENV)/.dev
	@$(BIN)/python .ci/system.py
	$(BIN)/python -m pytest -s tests/replicas

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Brings the translations of the dashboard up to date with its pages; what is new in them is then to be translated.
texts: $(VENV)/.dev
	@$(BIN)/python -m babel.messages.frontend --quiet extract --mapping pyproject.toml --keywords lazy --no-location --sort-output \
		--omit-header --output $(VENV)/messages.pot admin
	@for language in de es; do $(BIN)/pybabel --quiet update --no-fuzzy-matching --ignore-obsolete --no-wrap \
		--input-file $(VENV)/messages.pot --locale $$language --output-file admin/translations/$$language.po; done

$(VENV)/.run: requirements.lock requirements-models.lock | $(VENV)/.venv
	@echo "Installing what Docent needs (once; about two minutes) ..."
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --no-deps -r requirements-models.lock
	@touch $@

# Where Python may write no bytecode, each process of each start would compile the product again.
$(VENV)/.compiled: $(VENV)/.run $(shell find server crawler admin -name '*.py' 2>/dev/null)
	@$(BIN)/python -m compileall -q -j 0 server crawler admin
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	@echo "Installing what the tests need ..."
	@$(INSTALL) -r requirements-dev.lock
	@touch $@

# The types of the widget are checked by TypeScript, and it is tried with libraries that swap pages; single sign-on
# is tried with a provider. Without npm the tests that need them say so.
NPM_CI := npm ci --silent --ignore-scripts --no-audit --no-fund --prefix
$(VENV)/.node: $(wildcard tests/widget/package*.json tests/provider/package*.json) | $(VENV)/.venv
	@mkdir -p $(VENV)/node $(VENV)/provider
	@cp tests/widget/package*.json $(VENV)/node && cp tests/provider/package*.json $(VENV)/provider
	@if ! command -v npm > /dev/null; then echo "Not installed: npm, for TypeScript and a provider of single sign-on."; \
	elif $(NPM_CI) $(VENV)/node && $(NPM_CI) $(VENV)/provider; then touch $@; \
	else echo "npm could not install what the files package.json under tests/ name."; fi

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit("Docent needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@touch $@

# The lock files name every package with its hashes, for all systems and for Python 3.11 and newer. Run this after a
# change of requirements*.txt; versions that are locked stay, unless you say `make lock UPGRADE=1`.
lock: | $(VENV)/.venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $$(grep '^uv==' requirements-dev.txt)
	$(LOCK) requirements.txt -o requirements.lock
	$(LOCK) --no-deps requirements-models.txt -o requirements-models.lock
	$(LOCK) -c requirements.lock requirements-dev.txt -o requirements-dev.lock

release: $(VENV)/.run
	@$(BIN)/python .ci/release.py "$(VERSION)"

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
