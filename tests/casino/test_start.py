"""What `manage.py check` imports: every management command waits for at least as much."""

import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions

from casino.embedded.servers import BASE_DIR

OWN = {"casino", "dealer_ui", "ledger", "tables"}
ALLOWED = {
    *("django", "asgiref", "sqlparse", "psycopg", "psycopg_binary", "psycopg_pool", "msgspec", "argon2"),
    *("_argon2_cffi_bindings", "_cffi_backend", "cryptography", "prometheus_client", "segno", "whitenoise"),
    *("csp", "packaging", "django_htmx", "unfold", "environ"),
    "_distutils_hack",  # setuptools hooks it into every interpreter
    # Django REST framework and drf-spectacular, and what they import where it is installed.
    *("rest_framework", "drf_spectacular", "inflection", "jsonschema", "uritemplate", "yaml", "_yaml"),
    *("requests", "urllib3", "charset_normalizer", "idna", "certifi", "pygments", "typing_extensions", "zstandard"),
}
"""Packages that are installed, by the name that is imported. What is slow to import and has few users stays out: NumPy,
numba, Celery, redis, webauthn, openpyxl."""
_LINE = re.compile(r"import time:\s*\d+ \|\s*\d+ \|(?P<indent> +)(?P<module>\S+)")


def imports() -> list[tuple[int, str]]:
    """The modules in the order in which their import ended, each with its depth."""
    command = [sys.executable, "-X", "importtime", "manage.py", "check"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "casino.settings"}
    process = subprocess.run(command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=True)
    return [(len(line["indent"]), line["module"]) for line in _LINE.finditer(process.stderr)]


def chain(modules: list[tuple[int, str]], number: int) -> str:
    """Which module imported which, down to the module of this number; an importer ends after what it imports."""
    depth, name = modules[number]
    names = [name]
    for its_depth, its_name in modules[number + 1 :]:
        if its_depth < depth:
            depth = its_depth
            names.append(its_name)
    return " > ".join(reversed(names))


def test_a_command_imports_only_what_all_commands_need() -> None:
    """Harm: each command, worker and test process starts a second later, for a library that one page in a hundred
    needs."""
    modules, installed = imports(), packages_distributions().keys() - OWN - ALLOWED
    assert any(name == "tables.urls" or name.startswith("dealer_ui.") for _, name in modules), (
        "the screens are imported"
    )
    others = {name.partition(".")[0]: number for number, (_, name) in reversed(list(enumerate(modules)))}
    assert {name: chain(modules, number) for name, number in others.items() if name in installed} == {}
