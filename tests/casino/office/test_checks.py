"""After an upgrade from replication, checks say what to do: in `manage.py check`, `migrate` and `doctor`."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.core import checks

from casino.embedded.servers import SUPERUSER
from tables.audit import doctor
from tests.database import database_url


def hints(*databases: str) -> dict[str, str | None]:
    """The hint of each warning, by its id."""
    return {message.id or "": message.hint for message in checks.run_checks(databases=databases)}


@pytest.mark.parametrize("is_set", [True, False])
def test_a_site_that_still_names_a_letter_box_learns_what_to_do(settings: Any, *, is_set: bool) -> None:
    """Harm: after the upgrade a site's days go nowhere, and only the head office notices that they are late."""
    settings.LETTER_BOX_IS_SET = is_set
    assert ("tables.W003" in hints()) is is_set
    assert ("LETTER_BOX_URL" in doctor._settings().says) is is_set
    if is_set:
        assert "add a channel to the head office" in str(hints()["tables.W003"])
        assert "add a channel to the head office" in doctor._settings().do


@pytest.fixture
def subscribed(transactional_db: None) -> Iterator[None]:
    """A head office whose superuser has not dropped its subscriptions yet."""
    with psycopg.connect(database_url(SUPERUSER), autocommit=True) as admin:
        for name in ("house_north", "house_south_east"):
            admin.execute(
                f"CREATE SUBSCRIPTION {name} CONNECTION 'host=/nowhere' PUBLICATION sealed_days WITH (connect = false)"
            )
        yield
        for name in ("house_north", "house_south_east"):
            admin.execute(f"ALTER SUBSCRIPTION {name} SET (slot_name = NONE)")
            admin.execute(f"DROP SUBSCRIPTION {name}")


@pytest.mark.usefixtures("subscribed")
def test_a_head_office_that_still_subscribes_learns_what_to_do() -> None:
    """Harm: pieces of bundles that no release takes fill the head office's disk."""
    assert "office.W001" not in hints()
    drop = "DROP SUBSCRIPTION house_north; DROP SUBSCRIPTION house_south_east;"
    assert drop in str(hints("default")["office.W001"])


@pytest.mark.django_db
def test_a_head_office_without_subscriptions_is_well() -> None:
    """Harm: a warning that is always there is read by no user."""
    assert "office.W001" not in hints("default")
