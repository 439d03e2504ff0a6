# Two commands set up everything: `make run` and `make test`. The first of each fills .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check format bench load picture goldens weights test-torch

run: .venv/app  ## the tutor in a browser
	OPENBLAS_NUM_THREADS=1 $(BIN)/streamlit run app.py

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
.venv/torch: requirements-torch.txt requirements-dev.txt requirements.txt | .venv
.venv/app .venv/dev .venv/torch:
	$(BIN)/python -m pip install --disable-pip-version-check --requirement $<
	touch $@

.venv:
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Another one: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }
