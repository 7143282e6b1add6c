"""Passwords and PINs are hashed few at a time: a hash takes 100 MiB and a tenth of a second of one core, and a crowd
of strangers who sign in must leave both to the tables.

Strangers have one line, and everybody else another: dealers at terminals, signatures, the house's own commands. While
somebody waits or hashes, their connection is in the hands of others.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher

from ledger.connection_pools import Lane, TurnQueue, give_back, lane

CROWDED: Final = "Many people sign in just now. Nothing was recorded: in a moment, do the same again."

_door: Final = TurnQueue(places=1, queue=8, seconds=3, full=CROWDED)
_house: Final = TurnQueue(places=settings.HASHES_AT_ONCE, queue=64, seconds=10, full=CROWDED)


class Argon2(Argon2PasswordHasher):
    """Django's, in turn. One thread for a hash: with more, a single sign-in would take every core from the tables;
    for whoever guesses from a stolen hash the work is the same."""

    memory_cost = settings.ARGON2_MEMORY_MIB * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Hash a new secret."""
        with _line().turn():
            give_back()
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        """Hash a secret that is to be compared."""
        with _line().turn():
            give_back()
            return super().verify(password, encoded)


def _line() -> TurnQueue:
    return _door if lane.get() == Lane.DOOR else _house
