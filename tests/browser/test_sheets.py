"""The style sheets themselves, as a browser reads them."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dealer_ui

HOME = Path(dealer_ui.__file__).parent
SHEETS = HOME / "static" / "dealer_ui"
TEMPLATES = HOME / "templates"

RULES = """(sheets) => Object.entries(sheets).flatMap(([sheet, text]) => {
  const parsed = new CSSStyleSheet();
  parsed.replaceSync(text);
  const rules = (group, media) => [...group].flatMap((rule) => {
    if (rule instanceof CSSMediaRule) return rules(rule.cssRules, rule.conditionText);
    if (!(rule instanceof CSSStyleRule)) return [];
    return [{ sheet, media, selector: rule.selectorText, declarations: rule.style.cssText.split("; ").sort() }];
  });
  return rules(parsed.cssRules, "");
})"""


@dataclass(frozen=True)
class Rule:
    sheet: str
    media: str
    selector: str
    declarations: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.sheet}: {self.selector}"

    @property
    def classes(self) -> set[str]:
        return set(re.findall(r"\.([a-zA-Z][\w-]*)", self.selector))


@pytest.fixture
def rules(browser: Any) -> list[Rule]:
    texts = {str(path.relative_to(SHEETS).with_suffix("")): path.read_text() for path in SHEETS.rglob("*.css")}
    page = browser.new_page()
    parsed = page.evaluate(RULES, texts)
    page.close()
    assert len({rule["sheet"] for rule in parsed}) >= len(texts) - 1, "tokens alone may be no rule of a class"
    return [Rule(**rule | {"declarations": tuple(rule["declarations"])}) for rule in parsed]


def repeated(rules: Iterable[Rule], what: Any) -> list[str]:
    """Rules that are alike in something."""
    alike = defaultdict(list)
    for rule in rules:
        alike[what(rule)].append(str(rule))
    return [" = ".join(group) for group in alike.values() if len(group) > 1]


def test_a_selector_has_one_rule(rules: list[Rule]) -> None:
    """Harm: somebody changes how something looks, and another rule for just that, in another place, undoes it."""
    assert repeated(rules, lambda rule: (rule.media, rule.selector)) == []


def test_no_rule_is_written_twice(rules: list[Rule]) -> None:
    """Harm: what looks alike is changed in one place and not in the other."""
    large = [rule for rule in rules if len(rule.declarations) >= 3]
    assert repeated(large, lambda rule: (rule.media, rule.declarations)) == []
    pairs = [rule for rule in rules if len(rule.declarations) == 2]
    assert repeated(pairs, lambda rule: (rule.sheet, rule.media, rule.declarations)) == []


def test_every_rule_says_something(rules: list[Rule]) -> None:
    """Harm: a property is misspelt, and the browser drops it without a word."""
    assert [str(rule) for rule in rules if not any(rule.declarations)] == []


# --- Classes -----------------------------------------------------------------------------------------------------


@cache
def markup() -> str:
    """Everything that puts classes on a page."""
    scripts = (path for path in SHEETS.rglob("*.js") if path.parent != SHEETS or path.name == "print.js")
    paths = [*TEMPLATES.rglob("*.html"), *scripts, *(HOME / "templatetags").glob("*.py")]
    return "\n".join(path.read_text() for path in paths)


def is_used(name: str) -> bool:
    """Whether a page has this class; of ``seat--won``, that may be written ``seat--{{ ... }}``."""
    base, dashes, _ = name.partition("--")
    composed = dashes and re.search(rf"(?<![\w-]){re.escape(base)}--\{{", markup())
    return bool(composed or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", markup()))


def test_every_class_of_a_sheet_is_on_some_page(rules: list[Rule]) -> None:
    """Harm: styles that nothing wears are kept in step for years."""
    assert sorted(name for name in set().union(*(rule.classes for rule in rules)) if not is_used(name)) == []


def graph(template: str) -> set[str]:
    """A template, with all that it extends and includes."""
    reached, waiting = set(), [template]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += re.findall(r'{% (?:include|extends) "([^"]+)"', (TEMPLATES / name).read_text())
    return reached


def classes_of(text: str) -> set[str]:
    tags = re.compile(r"{%.*?%}|{{.*?}}")
    values = re.findall(r'class="((?:[^"{]|{%.*?%}|{{.*?}})*)"', text)
    return {name for value in values for name in re.findall(r"[\w-]+", tags.sub(" ", value))}


OF_THE_ADMIN = "dealer_ui/operator/"
"""The folder of pages with the frame and the sheets of the admin."""
PAGES = sorted(
    name
    for path in TEMPLATES.rglob("*.html")
    if not path.name.startswith("_") and not (name := str(path.relative_to(TEMPLATES))).startswith(OF_THE_ADMIN)
)


def test_a_page_has_the_sheets_of_what_is_on_it(rules: list[Rule]) -> None:
    """Harm: a list on another page stands there without its looks."""
    homes = defaultdict(set)
    for rule in rules:
        for name in rule.classes:
            homes[name].add(rule.sheet)
    missing = {}
    for page in PAGES:
        text = "\n".join((TEMPLATES / name).read_text() for name in graph(page))
        sheets = set(" ".join(re.findall(r'{% sheets "([^"]+)" %}', text)).split())
        missing |= {(page, name): homes[name] for name in classes_of(text) if homes[name] and not homes[name] & sheets}
    assert missing == {}
