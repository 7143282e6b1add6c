"""`python -m tests.structure [--list] [MEASURE ...]`: measures the structure of the product, all measures by default.

size        files, functions and their lengths
imports     packages, layers, arrows and cycles
names       shared class names, vague names
docstrings  docstrings that the glossary would not have
comments    comments per 100 lines
card        packages and functions on the path of a dealt card

Each measure is defined in the docstring of its module. With ``--list`` it also prints what it counted, by place.
"""

import argparse
from typing import Final, Protocol

from tests.structure import card, comments, docstrings, imports, names, size


class Report(Protocol):
    """The text of a measure; ``listed`` adds what it counted, by place."""

    def __call__(self, *, listed: bool) -> str: ...


MEASURES: Final[dict[str, Report]] = {
    "size": size.report,
    "imports": imports.report,
    "names": names.report,
    "docstrings": docstrings.report,
    "comments": comments.report,
    "card": card.report,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.structure", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(MEASURES))
    parser.add_argument("--list", action="store_true", help="print what was counted, by place")
    options = parser.parse_args()
    if unknown := [name for name in options.measures if name not in MEASURES]:
        parser.error(f"No measure is called {', '.join(unknown)}. The measures are {', '.join(MEASURES)}.")
    for name in options.measures or MEASURES:
        print(f"== {name} ==\n\n{MEASURES[name](listed=options.list)}\n", flush=True)


if __name__ == "__main__":
    main()
