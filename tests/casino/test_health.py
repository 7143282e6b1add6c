"""The house says whether it is open, and which part of it is not."""

import json
import urllib.request

import psycopg
import pytest
from django.db import connection
from django.test import Client

from tests.processes import Web


@pytest.mark.django_db
def test_healthy(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"database": True, "redis": True}


@pytest.mark.django_db
def test_names_the_one_that_does_not_answer(client: Client, settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    response = client.get("/healthz")
    assert response.status_code == 503
    assert response.json() == {"database": True, "redis": False}


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
        assert json.load(response) == {"database": True, "redis": True}


def test_roles(app_connection: psycopg.Connection, owner_connection, superuser_connection) -> None:
    who = [
        one.execute("SELECT current_user").fetchone()[0]
        for one in (app_connection, owner_connection, superuser_connection)
    ]
    assert who == ["casino_app", "casino_owner", "postgres"]
