"""A database that may move to its standby: the house is given both hosts, and finds the one that takes writes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from urllib.parse import quote

import psycopg
from django.test import Client

from casino.embedded.servers import APPLICATION
from dealer_ui.live import notifications
from tables.roles import Role
from tests import floor, processes
from tests.database import database_url
from tests.patience import eventually
from tests.settings import HOUSE


def with_a_standby(url: str) -> str:
    """The same database, named after a host that does not answer."""
    here = quote(str(HOUSE.sockets), safe="")
    return (
        url.replace(f"@{here}/", f"@{quote('/nowhere', safe='')}:5433,{here}:5432/")
        + "?target_session_attrs=read-write"
    )


def test_the_house_and_its_live_screens_find_the_host_that_answers(
    own_web: Callable[..., processes.Web], superuser_connection: psycopg.Connection
) -> None:
    """Harm: after a failover the house does not start, or deals with screens that stand still."""
    url = with_a_standby(database_url(APPLICATION))
    assert "," in url
    boss = floor.staff(Role.PIT_BOSS, "bea")
    client = Client()
    client.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")
    cookie = {"Cookie": f"sessionid={client.cookies['sessionid'].value}", "Accept": "text/event-stream"}
    web = own_web(DATABASE_URL=url)
    with urllib.request.urlopen(f"{web.url}/healthz") as answer:
        assert json.load(answer)["database"]
    stream = urllib.request.urlopen(urllib.request.Request(f"{web.url}/live/", headers=cookie), timeout=20)
    assert stream.readline().startswith(b"retry")
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s"
    eventually(lambda: superuser_connection.execute(count, [notifications.NAME]).fetchone() == (1,), "nobody listens")
    stream.close()
