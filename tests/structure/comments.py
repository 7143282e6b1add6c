"""Measure `comments`: lines with a comment per 100 lines, by package of the product.

Directives to tools (noqa, type, fmt, pragma and others) are no comments. Ruled headings (``# --- Writing ---``) have a
column of their own and are no part of the share. A comment of three lines counts as three.
"""

import io
import re
import tokenize
from collections import Counter
from typing import Final

from tests.structure.sources import Source, product
from tests.structure.text_table import text_table

DIRECTIVE: Final = re.compile(r"#\s*(?:noqa|type:|fmt:|pragma|ruff:|mypy:|isort:|nosec)|#!")
HEADING: Final = re.compile(r"#\s*---")
HEADS: Final = ("package", "lines", "headings", "comments", "comments per 100")


def report(*, listed: bool) -> str:
    lines, headings, commented = Counter[str](), Counter[str](), Counter[str]()
    places = []
    for source in product():
        texts = comments(source)
        others = {line: text for line, text in texts.items() if not HEADING.match(text)}
        lines[source.package] += source.lines
        headings[source.package] += len(texts) - len(others)
        commented[source.package] += len(others)
        places += [f"{source.path}:{line}: {text}" for line, text in others.items()]
    rows = [_row(name, lines[name], headings[name], commented[name]) for name in sorted(lines) if lines[name]]
    table = text_table(HEADS, [*rows, _row("all", lines.total(), headings.total(), commented.total())])
    return "\n".join([table, "", *places]) if listed else table


def comments(source: Source) -> dict[int, str]:
    """Text of each comment, headings included and directives left out, by line."""
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    texts = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    return {line: text for line, text in texts.items() if not DIRECTIVE.match(text)}


def _row(title: str, lines: int, headings: int, commented: int) -> tuple[str, int, int, int, str]:
    return title, lines, headings, commented, f"{100 * commented / lines:.2f}"
