# Everything a developer runs. `make` alone lists the targets.
#
# The environment is .venv, filled by uv from requirements/dev.txt (hashes, no index addresses).

# Otherwise each process compiles what it imports: 14 s of CPU for torch and all that it imports.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NIGHTLY := build/nightly-torch
NIGHTLY_TESTS ?= tests/unit/exporter/torch_internals tests/seeds
AUDIT := build/audit
LOCKS ?= operator exporter exporter-cpu
UV_VERSION := 0.13.8
# The lock is universal: one file for every Python and platform; uv takes what this machine needs.
COMPILE = PIP_FIND_LINKS= $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock"

# One process of pytest more than there are CPUs, because tests of the cluster wait more than they
# compute; but never more than memory is likely to last for.
PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PYTEST = $(BIN)/python -m pytest --numprocesses $(PROCESSES) --maxprocesses 4

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-nightly lint format lock crds testbed docs reference pictures bench bench-latency bench-batch bench-operator profile coverage coverage-nightly nightly-torch mutants kernels fuzz operators chaos release release-check scan audit clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

setup: $(VENV)/.ready ## Prepare .venv with everything that development needs

$(VENV)/.ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ModelExport needs Python 3.11 or newer; say which with: make PYTHON=python3.12 …"; exit 1; }
	test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip --quiet install "uv==$(UV_VERSION)"; }
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	@touch $@

demo: setup ## Train a small CNN, export and verify it, show the verdict (no cluster, no S3)
	@$(BIN)/python examples/digits/train.py
	@$(BIN)/modelexport run examples/digits/modelexport.yaml
	@echo
	@echo "Your own model:  $(BIN)/modelexport export CHECKPOINT [--factory MODULE:CALLABLE]"
	@echo "As modelexport:  source $(BIN)/activate"

test: setup ## Run the tests; what this machine cannot run is skipped and says how to get it
	$(PYTEST) $(PYTEST_ARGS)

test-fast: PROCESSES = auto
test-fast: setup ## Run the unit tests, with fewer random examples: the inner loop
	$(PYTEST) tests/unit --hypothesis-profile fast $(PYTEST_ARGS)

test-nightly: setup ## Run all tests, and the sweeps that take hours
	$(PYTEST) -m "nightly or not nightly" $(PYTEST_ARGS)

lint: setup ## ruff, mypy --strict, import-linter, private names of torch
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/private_names.py

format: setup ## Format the code and sort the imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

crds: setup ## Generate crds/ and the chart's copy from api/
	$(BIN)/python -m modelexport_api.crds

docs: setup ## Build the documentation site in build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs --quiet build --strict
	@echo "build/site/index.html"

reference: setup ## Generate docs/reference/ from the types, the parser and the chart's values
	PYTHONPATH=tests $(BIN)/python -m documentation reference

pictures: testbed ## Draw terminal, report and dashboard in docs/pictures/, from real runs
	PYTHONPATH=tests $(BIN)/python -m documentation pictures
	PYTHONPATH=tests $(BIN)/python -m documentation dashboard

lock: ## Resolve the dependencies again (requirements/*.txt)
	test -x $(BIN)/uv || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip --quiet install "uv==$(UV_VERSION)"; }
	$(COMPILE) pyproject.toml --extra dev -o requirements/dev.txt
	$(COMPILE) pyproject.toml --extra operator --extra tracing -c requirements/dev.txt -o requirements/operator.txt
	$(COMPILE) pyproject.toml --extra exporter --extra models --extra tracing -c requirements/dev.txt -o requirements/exporter.txt
	$(COMPILE) pyproject.toml --extra exporter-cpu --extra models --extra tracing -c requirements/dev.txt \
		--excludes requirements/cuda-packages.txt -o requirements/exporter-cpu.txt
	$(COMPILE) pyproject.toml --extra without-cuda -c requirements/dev.txt -o requirements/without-cuda.txt
	$(COMPILE) --group build -c requirements/dev.txt -o requirements/build.txt
	$(COMPILE) pyproject.toml --extra audit -o requirements/audit.txt
	$(COMPILE) pyproject.toml --extra mlflow -o requirements/mlflow.txt

testbed: setup ## Install and build what cluster tests need (root on Debian, Go; about 15 minutes once)
	PYTHONPATH=tests $(BIN)/python -m bed install

bench: testbed ## Measure the pipeline against the script that people write by hand
	PYTHONPATH=tests $(BIN)/python -m benchmarks.pipeline --rounds 3 --write

profile: testbed ## Sample where the CPU seconds of an export go, and draw flame graphs (needs ptrace)
	PYTHONPATH=tests $(BIN)/python -m benchmarks.profiling --write

bench-latency: setup ## Measure published files against those of bare torch.onnx.export
	PYTHONPATH=tests $(BIN)/python -m benchmarks.latency --write

bench-batch: testbed ## Measure batches against that script in a loop; takes an hour and 20 GB of disk
	PYTHONPATH=tests $(BIN)/python -m benchmarks.batch --write

bench-operator: testbed ## Measure 300 exports at once against bare Jobs, starts beside 10,000, and half an hour of churn
	PYTHONPATH=tests $(BIN)/python -m benchmarks.control_plane --write
	PYTHONPATH=tests $(BIN)/python -m benchmarks.many_exports --write
	PYTHONPATH=tests $(BIN)/python -m benchmarks.churn --write

coverage: setup ## Export everything the documents name, nightly cases too, and write docs/coverage.md
	MODELEXPORT_COVERAGE=all $(PYTEST) tests/seeds -m "nightly or not nightly"

coverage-nightly: setup ## Export families of real models, and write their part of docs/coverage.md
	MODELEXPORT_COVERAGE=merge $(PYTEST) tests/seeds/test_torchvision_families.py \
		tests/seeds/test_transformers_families.py tests/seeds/test_coverage.py -m "nightly or not nightly"

nightly-torch: setup ## Run the tests of private names and the seeds on the newest torch, pre-releases included
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(NIGHTLY)
	$(BIN)/uv pip install --quiet --python $(NIGHTLY) --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(NIGHTLY) --no-deps --editable .
	$(BIN)/uv pip install --python $(NIGHTLY) --prerelease allow --upgrade-package torch torch
	@new=$$($(NIGHTLY)/bin/python -c 'import importlib.metadata as m; print(m.version("torch"))'); \
	grep -q "^torch==$$new " requirements/dev.txt && \
		echo "The registry has no torch newer than the locked $$new: the tests run on that." || \
		echo "The tests run on torch $$new, which is newer than the locked one."
	$(subst $(BIN),$(NIGHTLY)/bin,$(PYTEST)) $(NIGHTLY_TESTS) $(PYTEST_ARGS)

mutants: setup ## Damage 300 exported files, ask the verification about them, and write docs/mutants.md
	PYTHONPATH=tests $(BIN)/python -m mutants

kernels: setup ## Compare onnxruntime's kernels with torch, and write docs/onnxruntime.md (3 minutes)
	PYTHONPATH=tests $(BIN)/python -m kernels

fuzz: setup ## Export CASES random models from SEED on and NETWORKS of NNSmith; write docs/fuzzing.md
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m fuzz --seed $(or $(SEED),0) --cases $(or $(CASES),5000) --networks $(or $(NETWORKS),1000) --page

chaos: setup ## Kill, cut and attack (PART of the suite, COUNT cases, SEED); write docs/reliability.md
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m chaos $(PART) \
		$(if $(COUNT),--count $(COUNT)) --seed $(or $(SEED),0); \
	held=$$?; PYTHONPATH=tests $(BIN)/python -m chaos --page; exit $$held

operators: setup ## Export every sample of torch's database of operators; write docs/operators*.md (6 hours)
	OMP_NUM_THREADS=1 PYTHONPATH=tests $(BIN)/python -m operators --page

release: setup ## Build dist/ of HEAD, or PARTS (wheels chart images sbom notices), images on BASE; check it
	PYTHONPATH=tests $(BIN)/python -m release build $(PARTS) --base "$(BASE)" \
		$(if $(IMAGES),--images $(IMAGES))

release-check: setup ## Compare dist/ with its sums, its provenance and the commit that it names
	PYTHONPATH=tests $(BIN)/python -m release check

scan: setup ## Ask the distribution of BASE which of its packages have security updates
	PYTHONPATH=tests $(BIN)/python -m release scan --base "$(BASE)"

audit: setup ## Ask pip-audit, in an environment of its own, about known vulnerabilities of what LOCKS pin
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(AUDIT)
	$(BIN)/uv pip install --quiet --python $(AUDIT) --require-hashes -r requirements/audit.txt
	@failed=0; for lock in $(LOCKS); do echo "$$lock"; \
		$(AUDIT)/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
			--requirement requirements/$$lock.txt || failed=1; done; exit $$failed

clean: ## Remove what make created inside the tree
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
