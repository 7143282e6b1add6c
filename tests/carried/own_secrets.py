"""Somebody is taken on and makes a PIN and a password by codes of two people; one code is withdrawn, a PIN is reset, a
passkey is registered, used and withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables.models import Passkey, Staff
from tables.roles import Role
from tables.staff import codes, passkeys, secret_changes, staffing
from tests import floor
from tests.authenticator import Authenticator
from tests.floor import PASSWORD

if TYPE_CHECKING:
    from tests.carried.day import House


def happen(house: House) -> Staff:
    """All of it; returns who was taken on."""
    codes.withdraw(codes.ask(house.dora, "password", by=house.omar).code, by=house.boss)
    tess = staffing.add_staff(username="tess", name="Tess", role=Role.DEALER, badge="104", by=house.olga)
    trainee = secret_changes.first_secrets(
        tess, asks=house.olga, confirms=house.omar, terminal=None, password=PASSWORD, pin="258025"
    )
    secret_changes.first_secrets(trainee, asks=house.omar, confirms=house.boss, terminal=None, pin="369147")
    browser, device = floor.client(house.ada), Authenticator()
    options = browser.post("/account/passkeys/options/", {"password": PASSWORD}).json()
    browser.post("/account/passkeys/", {"name": "Stick", "answer": device.make(options)})
    passkeys.withdraw(Passkey.objects.get(), by=house.olga)
    return Staff.objects.get(username="tess")
