"""The database's grants keep a head office's records as they arrived."""

import psycopg
import pytest


def test_the_application_cannot_change_received_data(
    transactional_db: None, app_connection: psycopg.Connection
) -> None:
    """Harm: a user at the head office rewrites what a property sent, or the application's role reads the password of
    every property's export database."""
    tables = ("house", "pin", "arrival", "verdict", "refusal", "day", "tableday")
    for statement in (
        *(f"DELETE FROM office_{table}" for table in tables),
        *(f"UPDATE office_{table} SET id = id" for table in tables),
        "UPDATE office_piece SET number = 1",
        "INSERT INTO office_piece (bundle, start, number, size, content) VALUES ('b', 0, 1, 9, '')",
        "SELECT subconninfo FROM pg_subscription",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app_connection.execute(statement)
        app_connection.rollback()
