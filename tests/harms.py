"""Index of harms: which harm each test prevents. `python -m tests.harms` writes it to tests/harms.tsv."""

import contextlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest

INDEX: Final = Path(__file__).with_name("harms.tsv")
HARM: Final = re.compile(r"\bHarm(?: prevented)?: (.+)", re.DOTALL)


def test_of(item: pytest.Item) -> str:
    """Node id of the test function, without the parameters of one case."""
    return item.nodeid.partition("[")[0]


def harm_of(item: pytest.Item) -> str:
    """The harm that the docstring names; without one, the docstring's first paragraph or the name of the test."""
    function = getattr(item, "function", None)
    docstring = (getattr(function, "__doc__", None) or "").strip()
    named = HARM.search(docstring)
    paragraph = (named[1] if named else docstring).split("\n\n")[0]
    return " ".join(paragraph.split()) or test_of(item).rpartition("::")[2].removeprefix("test_").replace("_", " ")


def index(items: Iterable[pytest.Item]) -> str:
    """One line per harm: the harm, and the tests that prevent it. Ordered by the first of those tests."""
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        tests[harm_of(item)].add(test_of(item))
    rows = sorted((sorted(names), harm) for harm, names in tests.items())
    return "".join(f"{harm}\t{' '.join(names)}\n" for names, harm in rows)


class Collection:
    """Pytest plugin that keeps the tests of a run that only collects."""

    items: list[pytest.Item]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def main() -> int:
    collection = Collection()
    with open(os.devnull, "w") as devnull, contextlib.redirect_stdout(devnull):
        code = pytest.main(["--collect-only"], plugins=[collection])
    if code:
        print("The tests cannot be collected: run pytest --collect-only to see why.", file=sys.stderr)
        return 1
    INDEX.write_text(index(collection.items))
    return 0


if __name__ == "__main__":
    sys.exit(main())
