"""What a page answered, by code: its wording is the business of the tests of views and rules."""

from typing import Any


def answers(page: Any, code: str) -> None:
    """Wait until a message, a refusal or an error of a form has this code."""
    page.wait_for_selector(f'[data-code~="{code}"]:visible')


def saves(page: Any) -> None:
    """Send a form of the administration, which is taken."""
    page.click("[name=_save]")
    page.wait_for_selector("[data-level=success]")
