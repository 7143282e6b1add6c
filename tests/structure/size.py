"""Measure `size`: files and functions of the product and of the tests, and their lengths.

- The product is every tracked Python file in casino, ledger, tables and dealer_ui, without migrations. The tests are
  every tracked Python file below tests/.
- The length of a file is the number of its lines, blank ones and comments included.
- The length of a function, a method or a nested function is the number of lines from ``def`` to its end, without its
  decorators and its docstring.
- p90 is the 90th percentile by nearest rank.
"""

import ast
from collections.abc import Sequence

from tests.structure.sources import Function, Source, functions, product, spread, tests
from tests.structure.text_table import text_table

HEADS = ("", "files", "lines", "file median / p90 / max", "functions", "function median / p90 / max")


def report(*, listed: bool) -> str:
    table = text_table(HEADS, [_row("product", product()), _row("tests", tests())])
    return f"{table}\n\n{_longest(product())}" if listed else table


def length(function: Function) -> int:
    """Lines of a function without its docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    is_docstring = ast.get_docstring(function, clean=False) is not None
    return lines - ((first.end_lineno or first.lineno) - first.lineno + 1) if is_docstring else lines


def _row(title: str, sources: Sequence[Source]) -> tuple[object, ...]:
    lines = [source.lines for source in sources]
    lengths = [length(function) for source in sources for function in functions(source)]
    return title, len(lines), sum(lines), spread(lines), len(lengths), spread(lengths)


def _longest(sources: Sequence[Source], count: int = 10) -> str:
    """The longest files and functions of the product."""
    files = sorted(((source.lines, source.path) for source in sources), reverse=True)[:count]
    named = (
        (length(each), f"{source.path}:{each.lineno} {each.name}") for source in sources for each in functions(source)
    )
    longest = [*files, *sorted(named, reverse=True)[:count]]
    return text_table(("longest files and functions", "lines"), [(place, lines) for lines, place in longest])
