"""The house says whether it is open, and which part of it is not."""

import json
import urllib.request

import psycopg
import pytest
from django.db import connection
from django.test import Client

from tests.processes import Web

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


@pytest.mark.django_db
def test_tests_run_under_the_applications_role() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, session_user")
        assert cursor.fetchone() == ("casino_app", "casino_app")


def test_the_web_process_answers_and_comes_back_after_kill(web: Web) -> None:
    web.kill()
    assert not web.alive
    web.start()
    with urllib.request.urlopen(f"{web.url}/healthz") as response:
        assert json.load(response) == {"database": True, "redis": True, "watch": True}


def test_roles(app_connection: psycopg.Connection, owner_connection, superuser_connection) -> None:
    who = [
        one.execute("SELECT current_user").fetchone()[0]
        for one in (app_connection, owner_connection, superuser_connection)
    ]
    assert who == ["casino_app", "casino_owner", "postgres"]
