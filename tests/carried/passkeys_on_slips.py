"""A cage manager's passkey in the days of a house: vouched for, demanded, used, withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tables.floor.inputs import BeginSlip, SignSlip
from tables.models import Passkey
from tables.roles import Role
from tables.staff import passkeys
from tests.software_passkey import registered
from tests.software_terminal import SoftwareTerminal, signs_on

if TYPE_CHECKING:
    from tests.carried.day import House


def sign(house: House) -> None:
    """All of it, at terminals that the house trusts by then."""
    desk, counter = SoftwareTerminal("Pit desk"), SoftwareTerminal("Cage desk")
    phone = registered(house.carla, 403, "Phone")
    counter.vouches_for(phone, house.carla)
    passkeys.demand([Role.CAGE_MANAGER], ["destruction"], by=house.olga)
    slip = str(signs_on(counter, None, house.carla, BeginSlip("deposit", ((10_000, 1),)), passkey=phone))
    signs_on(desk, None, house.second, SignSlip(slip, "approved"))
    passkeys.withdraw(Passkey.objects.get(staff=house.carla), by=house.olga)
