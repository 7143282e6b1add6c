"""Sealed and exported days of a site with a key, and the verifier's results for their bundles."""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils import timezone

from ledger.proof import seals
from tables.audit import day_seals
from tables.audit.outside import verifier
from tables.audit.outside.bundle import Wrong
from tables.reports import gaming_hours
from tests.clock import Clock
from tests.tables.bundles import exported


@dataclass(frozen=True)
class SealedDays:
    """Ends and seals days, and exports their bundles to a folder."""

    folder: Path
    key_file: Path
    clock: Clock

    @property
    def key(self) -> Ed25519PrivateKey:
        return seals.load_key(self.key_file)

    @property
    def public(self) -> str:
        return seals.public_of(self.key)

    def end(self, day: date) -> None:
        """Let an hour pass after the end of this day, and seal the day."""
        self.clock.pass_until(gaming_hours.span(day).end + timedelta(hours=1))
        day_seals.seal_finished()

    def nightfall(self) -> Path:
        """End and seal the current day, and return its bundle."""
        today = gaming_hours.day_of(timezone.now())
        self.end(today)
        return self.bundle(today)

    def bundle(self, first: date, last: date | None = None) -> Path:
        """The bundle of these days, or of one day if no last day is given."""
        path = self.folder / f"{first}-{last or first}.zip"
        path.write_bytes(exported(first, last or first))
        return path


def verified(path: Path, **options: Any) -> list[str]:
    """The verifier's output for a valid bundle."""
    lines: list[str] = []
    verifier.verify(path, say=lines.append, **options)
    return lines


def refusal(path: Path, **options: Any) -> Wrong:
    """The verifier's finding for an invalid bundle."""
    with pytest.raises(Wrong) as wrong:
        verified(path, **options)
    return wrong.value
