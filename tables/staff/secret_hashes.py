"""Password and PIN hashing, limited to few hashes at a time.

A hash takes 100 MiB and a tenth of a second of one core, and a flood of sign-ins must leave both to the tables.
Sign-ins by unknown clients wait in one queue; dealers at terminals, signatures and commands in another. A waiting or
hashing thread returns its database connection to the pool.
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
    """Django's Argon2 hasher behind the queues, with one thread for each hash.

    With more threads a single sign-in would take every core from the tables; the work of guessing from a stolen hash
    does not change.
    """

    memory_cost = settings.ARGON2_MEMORY_MIB * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Hash a new secret."""
        with _line().turn():
            give_back()
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        """Check a secret against its hash."""
        with _line().turn():
            give_back()
            return super().verify(password, encoded)


def _line() -> TurnQueue:
    return _door if lane.get() == Lane.DOOR else _house
