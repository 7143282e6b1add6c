"""A primary whose standby is gone: what it commits alone is acknowledged to nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db.utils import ConnectionHandler

from casino.database_address import settings_of
from casino.embedded.servers import POSTGRESQL, SUPERUSER, ServerSet, attached
from ledger import standby_confirmation
from tests.tiers import Tier, belongs_to


@pytest.fixture
@belongs_to(Tier.TRIALS)
def house(tmp_path: Path) -> Iterator[ServerSet]:
    """A server of its own, which waits for a standby that never comes."""
    with attached(ServerSet(tmp_path / "primary", servers=(POSTGRESQL,))) as house:
        with psycopg.connect(house.database_url(SUPERUSER), autocommit=True) as superuser:
            superuser.execute("CREATE TABLE chips (cents bigint)")
            superuser.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            superuser.execute("SELECT pg_reload_conf()")
        yield house


CANCEL = """SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE wait_event = 'SyncRep' AND backend_type = 'client backend'"""


@contextmanager
def waits_cut_short(house: ServerSet) -> Iterator[None]:
    """As somebody does who sees statements hang."""
    over = threading.Event()

    def cancel() -> None:
        with psycopg.connect(house.database_url(SUPERUSER), autocommit=True) as superuser:
            while not over.wait(0.1):
                superuser.execute(CANCEL)

    thread = threading.Thread(target=cancel)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.django_db
def test_a_commit_that_no_standby_has_is_no_success(house: ServerSet) -> None:
    """Harm: somebody cancels what hangs, PostgreSQL calls the commit done, the dealer is told so, and it is gone with
    its host."""
    handler = ConnectionHandler({"default": settings_of("DATABASE_URL", house.database_url(SUPERUSER))})
    connection = handler["default"]
    connection.set_autocommit(False)
    with waits_cut_short(house), closing(connection):
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO chips VALUES (500)")
        with pytest.raises(standby_confirmation.NotConfirmed):
            connection.commit()
        with connection.cursor() as cursor:  # it is there, for whoever asks again under its key
            cursor.execute("SELECT cents FROM chips")
            assert cursor.fetchall() == [(500,)]
            cursor.execute(standby_confirmation.EARLIER)
        with pytest.raises(standby_confirmation.NotConfirmed):
            connection.commit()  # and is not answered from what one host alone has
