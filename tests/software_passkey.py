"""Passkeys that people of tests register and use, as their browsers do it."""

from tables.models import Staff
from tests import floor
from tests.authenticator import Authenticator


def registered(owner: Staff, number: int = 1, name: str = "My phone") -> Authenticator:
    """A passkey that somebody registered, as their browser does it."""
    browser, device = floor.client(owner), Authenticator(number)
    options = browser.post("/account/passkeys/options/", {"password": floor.PASSWORD}).json()
    answer = browser.post("/account/passkeys/", {"name": name, "answer": device.make(options)})
    assert answer.status_code == 200, answer.content
    return device
