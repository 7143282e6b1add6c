"""Generates files from the API's code: `python -m casino.api_files` writes them, `--check` lists outdated ones.

The files in the repository are the list of error codes (tables/api/problem_codes.txt) and the OpenAPI description of
`/api/v1/` (docs/openapi.json). `--client FILE` writes the typed client of `/api/` instead, which is not kept in the
repository: the site itself has no use for it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import django

ROOT: Final = Path(__file__).resolve().parent.parent
ROOMS: Final = ("tables", "ledger", "casino")
CODES: Final = ROOT / "tables" / "api" / "problem_codes.txt"
DESCRIPTION: Final = ROOT / "docs" / "openapi.json"
USUAL_STATUS: Final = 422
"""The default status of ``Refused``."""
OF_THE_FRAMEWORK: Final = {
    "authentication_failed": 401,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "not_authenticated": 401,
    "not_found": 404,
    "permission_denied": 403,
    "throttled": 429,
    "too_large": 413,
}


def problem_codes() -> str:
    """One line for each error code: the code and its statuses."""
    statuses: dict[str, set[int]] = defaultdict(set)
    for code, status in OF_THE_FRAMEWORK.items():
        statuses[code].add(status)
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for code, status in _refusals(ast.parse(path.read_text())):
                statuses[code].add(status)
    return "".join(f"{code} {' '.join(map(str, sorted(statuses[code])))}\n" for code in sorted(statuses))


def _refusals(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ("Refused", "refuse_faults"):
            continue
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        status = node.args[2] if len(node.args) > 2 else named.get("status")
        number = status.value if isinstance(status, ast.Constant) else USUAL_STATUS
        for code in _words(node.args[0] if node.args else named.get("code")):
            yield code, int(str(number))


def _words(node: ast.expr | None) -> Iterator[str]:
    """The codes in an expression: a literal, or both branches of a conditional."""
    if isinstance(node, ast.Constant) and re.fullmatch("[a-z_]+", str(node.value)):
        yield str(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _words(node.body)
        yield from _words(node.orelse)


def client() -> str:
    """The source of the typed client of ``/api/``."""
    django.setup()
    from casino import api_client
    from tables.api import schema
    from tables.api.versions import UNVERSIONED

    return api_client.source(schema.document(UNVERSIONED))


def files() -> dict[Path, str]:
    """The expected content of each generated file."""
    django.setup()
    from tables.api import schema
    from tables.api.versions import V1

    description = json.dumps(schema.document(V1), indent=1, ensure_ascii=False, default=str) + "\n"
    return {CODES: problem_codes(), DESCRIPTION: description}


def main() -> int:
    """Write the outdated files, or list them with ``--check``; write the client with ``--client``. Returns the exit
    code."""
    if "--client" in sys.argv:
        Path(sys.argv[-1]).write_text(client())
        return 0
    texts = files()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: python -m casino.api_files writes it anew.")
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[path])
        print(f"{path.relative_to(ROOT)} is written anew.")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    sys.exit(main())
