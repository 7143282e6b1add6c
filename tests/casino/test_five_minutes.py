"""The newcomer's five minutes, step by step as docs/five-minutes.md has them, in a real browser."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from casino.embedded import servers
from tests.casino.demo.test_demo import Demo
from tests.processes import free_port

PAGE: Final = servers.BASE_DIR / "docs" / "five-minutes.md"
LINKS: Final = ("first", "second")
STEP: Final = re.compile(
    r"Open the \*\*(?P<link>first|second) enrolment link\*\*"
    r"|[Pp]ress \*\*(?P<press>[^*]+)\*\*"
    r"|[Pp]ress the key `(?P<key>[^`]+)`"
    r"|[Tt]ype `(?P<text>[^`]+)` as \*\*(?P<field>[^*]+)\*\*"
    r"|See \*\*(?P<see>[^*]+)\*\*"
)
"""What the page tells somebody to do; the rest of its numbered lines explains."""


def steps(section: str) -> list[dict[str, str]]:
    """The steps of a section, in order."""
    numbered = "\n".join(re.findall(r"^\d+\. .*$", section, re.MULTILINE))
    return [{name: text for name, text in found.groupdict().items() if text} for found in STEP.finditer(numbered)]


def sections() -> list[list[dict[str, str]]]:
    """The steps of each section."""
    return [found for section in PAGE.read_text().split("\n## ")[1:] if (found := steps(section))]


def take(page: Any, step: dict[str, str], links: list[str]) -> None:
    match step:
        case {"link": which}:
            page.goto(links[LINKS.index(which)])
        case {"press": words}:
            buttons = page.locator("button:visible, a:visible, summary:visible")
            beginning = buttons.filter(has_text=re.compile(rf"^\s*{re.escape(words)}\b"))
            beginning.last.wait_for()
            exact = buttons.filter(has_text=re.compile(rf"^\s*{re.escape(words)}\s*$"))
            (exact if exact.count() else beginning).last.click()
        case {"key": key}:
            page.keyboard.press(key)
        case {"text": text, "field": label}:
            page.get_by_label(label, exact=True).filter(visible=True).fill(text)
        case {"see": words}:
            page.get_by_text(words).first.wait_for()
        case _:
            raise AssertionError(step)


def walk(browser: Any, links: list[str]) -> None:
    """Every section; one that begins with a link has a browser of its own."""
    for section in sections():
        if "link" in section[0]:
            context = browser.new_context(viewport={"width": 1366, "height": 900})
            context.set_default_timeout(60_000)
            page = context.new_page()
        for step in section:
            take(page, step, links)


def test_the_page_has_steps_and_the_readme_leads_to_it() -> None:
    """Harm: the page is worded otherwise, and the test of it does nothing."""
    assert [len(section) >= 7 for section in sections()] == [True, True, True]
    assert "docs/five-minutes.md" in (servers.BASE_DIR / "README.md").read_text()


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(900)
def test_a_newcomer_can_do_what_the_page_says(browser: Any, tmp_path: Path) -> None:
    """Harm: the first thing that somebody tries does not work as it is written."""
    with Demo(tmp_path, port=free_port()) as demo:
        demo.opened(seconds=300)
        walk(browser, re.findall(r"http://\S+/enrol/\S+", demo.said))
