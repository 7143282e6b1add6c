"""The house says whether it is open, and which part of it is not."""

import psycopg
import pytest
from django.db import connection
from django.test import Client

pytestmark = pytest.mark.usefixtures("broker")


@pytest.mark.django_db
def test_healthy(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"database": True, "redis": True, "watch": True}


@pytest.mark.django_db
def test_without_redis_tables_go_on_dealing_and_the_house_says_what_is_away(client: Client, settings) -> None:
    """Harm: a balancer takes the floor down for want of something that dealing does not need."""
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"database": True, "redis": False, "watch": True}


@pytest.mark.django_db(transaction=True)
def test_without_its_database_the_house_is_closed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a balancer sends dealers to a process that can write nothing."""
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"database": False, "redis": True, "watch": False}


def test_each_connection_has_its_role(
    app_connection: psycopg.Connection, owner_connection: psycopg.Connection, superuser_connection: psycopg.Connection
) -> None:
    """Harm: the tests connect as the owner of the database and do not notice a privilege that the application lacks."""
    roles = [
        role_connection.execute("SELECT current_user, session_user").fetchone()
        for role_connection in (app_connection, owner_connection, superuser_connection)
    ]
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, session_user")
        roles.append(cursor.fetchone())
    assert roles == [(role, role) for role in ("casino_app", "casino_owner", "postgres", "casino_app")]
