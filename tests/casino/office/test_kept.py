"""The database's grants keep a head office's records as they arrived."""

import psycopg
import pytest


def test_the_application_cannot_change_what_arrived(transactional_db: None, app_connection: psycopg.Connection) -> None:
    """Harm: somebody at the head office rewrites what a house sent."""
    for table in ("house", "pin", "arrival", "verdict", "refusal", "day", "tableday"):
        for deed in (f"DELETE FROM office_{table}", f"UPDATE office_{table} SET id = id"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app_connection.execute(deed)
            app_connection.rollback()
