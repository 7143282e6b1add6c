"""What axe holds against a page: the rules of WCAG 2.2 AA, and what is asked for beyond."""

from collections.abc import Iterable
from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT

WCAG: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
EVERY_RULE: Final = (*WCAG, "best-practice")


RUN: Final = "options => axe.run(document, options).then(({ violations }) => violations)"


def violations(page: Any, *tags: str) -> list[dict[str, Any]]:
    """Of all rules with these tags (default: WCAG's). Axe is loaded once into each document, fetches no style sheets
    (``preload``: only an experimental rule reads them) and returns violations alone."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options = {"runOnly": list(tags or WCAG), "resultTypes": ["violations"], "preload": False}
    rules: list[dict[str, Any]] = page.evaluate(RUN, options)
    return rules


def serious(page: Any, *tags: str) -> list[str]:
    """The violations that are no trifles, in words."""
    return in_words(violations(page, *tags))


def in_words(rules: Iterable[dict[str, Any]]) -> list[str]:
    """One line for each serious or critical violation."""
    return [
        f"{rule['id']} ({rule['impact']}): {[node['html'][:200] for node in rule['nodes']][:3]}"
        for rule in rules
        if rule["impact"] in ("serious", "critical")
    ]
