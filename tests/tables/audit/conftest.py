"""A site whose days are sealed and exported."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from ledger.proof import seals
from tests.clock import travelling
from tests.tables.audit.sealed_days import SealedDays


@pytest.fixture
def days(tmp_path: Path) -> Iterator[SealedDays]:
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        yield SealedDays(tmp_path, key_file, clock)
