"""Layout checks of a page in a real browser: parts too small for a finger, overlaps, and scrolling."""

from typing import Any, Final

FINGER: Final = 48
"""Pixels that a finger needs, in each direction."""
CONTROLS: Final = "button, summary, a.button, input:not([type=hidden])"

SMALL: Final = """([selector, least]) => [...document.querySelectorAll(selector)]
  .filter((part) => part.checkVisibility())
  .map((part) => [part, part.getBoundingClientRect()])
  .filter(([, box]) => Math.round(box.width) < least || Math.round(box.height) < least)
  .map(([part, box]) => `${part.outerHTML.slice(0, 100)} ${Math.round(box.width)}x${Math.round(box.height)}`)"""
OVERLAPPING: Final = """([selector, allowed]) => {
  const boxes = [...document.querySelectorAll(selector)]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }))
    .map((part) => [`${part.className} ${part.textContent.trim().slice(0, 20)}`, part.getBoundingClientRect()]);
  const isApart = (a, b) => a.right <= b.left + allowed || b.right <= a.left + allowed
    || a.bottom <= b.top + allowed || b.bottom <= a.top + allowed;
  return boxes.flatMap(([name, a], place) =>
    boxes.slice(place + 1).filter(([, b]) => !isApart(a, b)).map(([other]) => `${name} / ${other}`));
}"""


def small(page: Any, selector: str = f"main :is({CONTROLS})", least: int = FINGER) -> list[str]:
    """Visible parts that are narrower or lower than ``least`` pixels."""
    page.wait_for_load_state()
    parts: list[str] = page.evaluate(SMALL, [selector, least])
    return parts


def overlapping(page: Any, selector: str, allowed: int = 1) -> list[str]:
    """Pairs of visible parts that overlap by more than ``allowed`` pixels."""
    page.wait_for_load_state()
    pairs: list[str] = page.evaluate(OVERLAPPING, [selector, allowed])
    return pairs


def fits_width(page: Any) -> bool:
    """Whether the page needs no scrolling sideways. A page whose stylesheets are still loading is laid out without
    them, so its load is awaited before it is measured."""
    page.wait_for_load_state()
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def fits(page: Any) -> bool:
    """Whether the page needs no scrolling at all."""
    return fits_width(page) and bool(page.evaluate("document.documentElement.scrollHeight <= innerHeight"))
