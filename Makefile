# Two commands set up everything: `make run` and `make test`. The first of each fills .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check format bench load soak clinic-accuracy picture goldens weights test-torch
.PHONY: serve lock audit load-nginx

run: .venv/app  ## the tutor in a browser
	OPENBLAS_NUM_THREADS=1 $(BIN)/streamlit run app.py --server.address=localhost --client.showErrorDetails=full

serve: .venv/app  ## for a class in the same network: everybody who knows the address
	$(BIN)/python -m deploy.serve --server.address=0.0.0.0

test: .venv/dev  ## all tests, in a real browser too
	$(BIN)/python -m pytest

check: .venv/dev  ## lint, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/ty check --python .venv

format: .venv/dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

picture: .venv/dev  ## docs/walk.png, from the running app
	$(BIN)/python -m docs.picture

bench: .venv/torch  ## docs/measured/bench.md: speed, as ratios to what stands beside it in the same run
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks

load: .venv/dev  ## a class on one process: 1, 10, 30 and 50 sessions; about eight minutes
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.load --keep

soak: .venv/dev  ## half an hour of anything: memory, errors, what is left
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.soak --keep

clinic-accuracy: .venv/dev  ## docs/measured/clinic.md: what the clinic names, accuses and refuses; about an hour
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.clinic_accuracy
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.clinic_fuzz

load-nginx: .venv/dev  ## one process and two behind nginx
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.nginx_throughput --keep

lock: .venv/supply  ## deploy/requirements.lock: exact versions with hashes, for Linux, macOS and Windows
	cd deploy && ../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate requirements.in --output-file requirements.lock

audit: .venv/supply  ## known faults in what a served copy installs; fails too if one package cannot be asked about
	$(BIN)/pip-audit --strict --require-hashes --disable-pip --requirement deploy/requirements.lock

test-torch: .venv/torch  ## what PyTorch itself must confirm
	$(BIN)/python -m pytest tests/torch

goldens: .venv/torch  ## tests/golden, by PyTorch
	$(BIN)/python -m tests.golden.make_attention
	$(BIN)/python -m tests.golden.make_labs
	$(BIN)/python -m tests.golden.make_tiny_model

weights: .venv/torch  ## train the tiny model again, one to three minutes
	$(BIN)/python -m training.train
	$(BIN)/python -m tests.golden.make_tiny_model
	$(BIN)/python -m training.report

# One stamp for each list of requirements: a list that changed is installed again, nothing else is.
.venv/app: requirements.txt | .venv
.venv/dev: requirements-dev.txt requirements.txt | .venv
.venv/supply: requirements-supply.txt | .venv
.venv/torch: requirements-torch.txt requirements-dev.txt requirements.txt | .venv
.venv/app .venv/dev .venv/torch .venv/supply:
	$(BIN)/python -m pip install --disable-pip-version-check --requirement $<
	touch $@

.venv:
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Another one: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }
