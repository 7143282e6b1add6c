# Shorthand for ./run, and the one thing it does not do: pinning requirements anew.
.PHONY: demo test bench fix requirements

demo test:
	./run $@

bench:
	./run bench engine
	./run bench record

fix:
	./run install
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

requirements:
	./run install
	for name in uv app dev patroni; do .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --no-header --quiet \
	    requirements/$$name.in --output-file requirements/$$name.txt || exit 1; done
