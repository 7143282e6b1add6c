"""Reports, lists and files are read from a real hot standby: it bears what the dealers' database would have to, says
how old it is, and where it cannot serve nothing is read from the dealers' database instead."""

from __future__ import annotations

import io
import os
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import AsyncClient, Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from casino.database_address import settings_of
from casino.embedded.servers import APPLICATION, OWNER, SUPERUSER, ServerSet
from casino.ops import metrics
from ledger import replica
from ledger.connection_pools import Lane, lane
from ledger.models import Book, LogEntry
from tables.audit import condition
from tables.audit.downloads import AS_OF
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import policies
from tables.state import table_state
from tests import floor, load, processes
from tests.database import database_url
from tests.floor import Hand, dealt
from tests.patience import eventually
from tests.standby import Standby
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)


READER = f"casino_reader_{os.getpid()}"  # of this run: roles are the server's


@pytest.fixture(scope="module")
def reader(django_db_setup: None) -> Iterator[str]:
    """The role of deploy/reader.sql."""
    script = Path(settings.BASE_DIR, "deploy", "reader.sql").read_text().replace(':"reader_role"', READER)
    with psycopg.connect(database_url(SUPERUSER), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {READER} LOGIN")
        with psycopg.connect(database_url(OWNER)) as owner:
            owner.execute(script)
        yield READER
        admin.execute(f"DROP OWNED BY {READER}")
        admin.execute(f"DROP ROLE {READER}")


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def standby(reader: str, database_server: ServerSet) -> Iterator[Standby]:
    server = Standby(database_server)
    server.make()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def with_replica(standby: Standby, monkeypatch: pytest.MonkeyPatch) -> Iterator[Standby]:
    """A house that reads it; after the test it plays back as it should."""
    url = standby.url(READER, connection.settings_dict["NAME"])
    monkeypatch.setattr(settings, "DATABASE_REPLICA", settings_of("DATABASE_REPLICA_URL", url, is_read_only=True))
    yield standby
    standby.resume()


@dataclass
class Queries:
    """What went to which server."""

    primary: list[str] = field(default_factory=list)
    replica: list[str] = field(default_factory=list)


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch, standby: Standby) -> Queries:
    """Every statement of this process, whichever way it is sent."""
    queries, execute = Queries(), CursorWrapper._execute

    def noting(cursor: Any, sql: str, params: Any, *rest: Any) -> Any:
        host = cursor.db.settings_dict["HOST"]
        is_replica = host == settings.DATABASE_REPLICA.get("HOST")
        (queries.replica if is_replica else queries.primary).append(str(sql))
        return execute(cursor, sql, params, *rest)

    monkeypatch.setattr(CursorWrapper, "_execute", noting)
    return queries


@pytest.fixture
def hands() -> tuple[Hand, Hand]:
    """A dealer and a pit boss at a table with a round behind it."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    return dealer, boss


def pages(patterns: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from pages(pattern.url_patterns, f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix)
        elif pattern.name:
            yield f"{prefix}{pattern.name}", pattern


ON_REPLICA = {
    name: pattern
    for name, pattern in pages(get_resolver().url_patterns)
    if getattr(pattern.callback, "reads_replica", False)
}
BACKEND = "django.contrib.auth.backends.ModelBackend"


def browser(viewer: Staff) -> Client:
    client = Client()
    client.force_login(viewer, backend=BACKEND)
    return client


def read(viewer: Staff, name: str, query: dict[str, str] | None = None, **kwargs: int) -> tuple[Any, bytes]:
    """An answer, read as the server would send it."""

    async def sent() -> tuple[Any, bytes]:
        client = AsyncClient()
        await client.aforce_login(viewer, backend=BACKEND)
        response: Any = await client.get(reverse(name, kwargs=kwargs), query)
        if not response.streaming:
            return response, response.content
        return response, b"".join([part async for part in response.streaming_content])

    return async_to_sync(sent)()


ACTED_ON = {"pit:restored-csv", "limit-grid-csv", "limit-history-csv"}
"""Lists by which a table is opened again, or limits are changed: as the primary has them."""


@pytest.mark.django_db
def test_every_list_as_a_file_is_read_there() -> None:
    """Harm: a new list is written, and whoever takes it out at the floor's busiest hour takes it from the dealers."""
    missing = [
        name
        for name, pattern in pages(get_resolver().url_patterns)
        if name.endswith("-csv") and name not in ON_REPLICA.keys() | ACTED_ON and not name.startswith("admin:")
    ]
    assert missing == []


FOR_OTHERS = {
    "pit:access-csv": Role.OPERATOR,
    "pit:bookmarks-csv": Role.AUDITOR,
    "pit:penetration-csv": Role.OPERATOR,
    "pit:shoe": Role.AUDITOR,
    "pit:shoe-csv": Role.AUDITOR,
    "pit:shoes": Role.AUDITOR,
    "pit:shoes-csv": Role.AUDITOR,
    "slips:chips-csv": Role.CAGE_MANAGER,
    "slips:counterfeit-csv": Role.CAGE_MANAGER,
}
OF_WHOEVER_ASKS = (
    "django_session",
    "tables_staff",
    "tables_role",
    "auth_",
    "tables_terminal",
    "tables_arrival",
    "pg_prepared_statements",
    "pg_current_wal",
)


def test_every_page_asks_the_primary_who_asks_and_nothing_else(
    hands: tuple[Hand, Hand], with_replica: Standby, queries: Queries
) -> None:
    """Harm: a report of a year runs beside the dealers all the same, by one query that nobody thought of; or a page
    reads what its role may not, or writes."""
    dealer, boss = hands
    shoe = LogEntry.objects.filter(book=dealer.table.book, kind="shuffled").latest("seq")
    arguments = {"pk": dealer.table.pk, "number": 1, "seq": shoe.seq}
    people = {role: floor.staff(role, f"someone {number}") for number, role in enumerate(set(FOR_OTHERS.values()))}
    assert len(ON_REPLICA) > 30
    for name, pattern in ON_REPLICA.items():
        viewer = people[FOR_OTHERS[name]] if name in FOR_OTHERS else boss.by
        del queries.primary[:], queries.replica[:]
        response, content = read(viewer, name, **{key: arguments[key] for key in pattern.pattern.converters})
        assert response.status_code in (200, 409), (name, content[:500])
        assert response.headers[AS_OF], name
        assert queries.replica, name
        elsewhere = [sql for sql in queries.primary if not any(word in sql for word in OF_WHOEVER_ASKS)]
        if name.startswith("pit:shoe"):  # the entry that says who looked, and nothing of what was looked at
            elsewhere = [sql for sql in elsewhere if "shoeaudit" in sql]
        assert elsewhere == [], name


def bet(dealer: Hand, seat: int) -> int:
    """One entry more; its number."""
    return dealer("bet", seat=seat, amount_cents=1_000).seq


def page(viewer: Staff, name: str, status: int = 200, **kwargs: int) -> str:
    response, content = read(viewer, name, **kwargs)
    assert response.status_code == status, content[:800]
    return " ".join(content.decode().split())


def rows(seq: int) -> str:
    """What the log's page has of an entry."""
    return f'id="entry-{seq}"'


def test_whoever_wrote_something_finds_it_there(hands: tuple[Hand, Hand], with_replica: Standby) -> None:
    """Harm: somebody signs the figures of a day, and the page that follows says that nobody did."""
    dealer, boss = hands
    for seat in range(1, 7):
        seq = bet(dealer, seat)
        assert rows(seq) in page(boss.by, "pit:log", pk=dealer.table.pk)


def test_one_that_is_held_up_is_read_as_it_is_and_says_so(hands: tuple[Hand, Hand], with_replica: Standby) -> None:
    """Harm: figures of an hour ago are taken for those of now."""
    dealer, boss = hands
    before = bet(dealer, 1)
    assert "(just now).</span>" in page(boss.by, "pit:log", pk=dealer.table.pk)
    with_replica.pause()
    after = bet(dealer, 2)
    text = page(boss.by, "pit:log", pk=dealer.table.pk)
    assert rows(before) in text
    assert rows(after) not in text
    assert "s ago): what was entered since is not on this page." in text
    response, content = read(boss.by, "pit:log-csv", pk=dealer.table.pk)
    assert "-log-as-of-20" in response["Content-Disposition"]
    assert content.decode().splitlines()[1].startswith(f"{before},")
    response, content = read(boss.by, "pit:log-csv", {"as": "xlsx"}, pk=dealer.table.pk)
    about = dict(openpyxl.load_workbook(io.BytesIO(content))["About"].iter_rows(values_only=True))
    assert about["As of"] == response[AS_OF][:19] + "+00:00"
    with_replica.resume()
    assert rows(after) in page(boss.by, "pit:log", pk=dealer.table.pk)


def test_one_that_is_too_far_behind_is_not_read_and_nothing_is_read_instead(
    hands: tuple[Hand, Hand], with_replica: Standby, queries: Queries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a replica that fails at the floor's busiest hour hands its load to the dealers' database."""
    dealer, boss = hands
    monkeypatch.setattr(settings, "REPLICA_LATEST_SECONDS", 0.5)
    with_replica.pause()
    bet(dealer, 1)
    queries.primary.clear()
    assert "this house reads none that is more than 0.5 s behind" in page(boss.by, "pit:log", 503, pk=dealer.table.pk)
    assert [sql for sql in queries.primary if "ledger_logentry" in sql] == []
    assert condition._replica().state == condition.Urgency.WRONG


def test_a_floor_where_nothing_happens_is_not_late(hands: tuple[Hand, Hand], with_replica: Standby) -> None:
    """Harm: at six in the morning every report is refused, because the last chip moved an hour ago."""
    bet(hands[0], 1)
    later = timezone.now()
    eventually(lambda: replica.state().is_level)
    assert replica.state().moment > later, "it is as old as its last transaction"
    assert replica.state().seconds == 0


def test_one_that_was_killed_stops_no_table_and_is_told_in_a_sentence(
    hands: tuple[Hand, Hand], with_replica: Standby, queries: Queries
) -> None:
    """Harm: a machine for reports takes the floor down with it; or its loss is a page that says nothing."""
    dealer, boss = hands
    with_replica.stop(suddenly=True)
    try:
        queries.primary.clear()
        assert replica.AWAY in page(boss.by, "pit:reports", 503)
        assert replica.AWAY in page(boss.by, "pit:log-csv", 503, pk=dealer.table.pk)
        refused = floor.client(boss.by).get("/api/figures/")
        assert (refused.status_code, refused.json()["code"]) == (503, "replica_unavailable")
        assert [sql for sql in queries.primary if "ledger_logentry" in sql] == []
        assert bet(dealer, 1) == dealer.now.seq
        assert floor.client(boss.by).get(reverse("pit:floor")).status_code == 200
        assert b"inf" in b"".join(line for line in metrics.text().splitlines() if b"casino_replica" in line).lower()
    finally:
        with_replica.start()
    assert rows(dealer.now.seq) in page(boss.by, "pit:log", pk=dealer.table.pk)
    assert condition._replica().state == condition.Urgency.WELL


def test_a_dealers_input_never_goes_there(hands: tuple[Hand, Hand], with_replica: Standby, queries: Queries) -> None:
    """Harm: dealing waits for a machine that is there for reports."""
    dealer, boss = hands
    bet(dealer, 1)
    assert floor.client(dealer.by).get(reverse("dealer:board", args=[dealer.table.pk])).status_code == 200
    assert floor.client(boss.by).get(reverse("pit:table", args=[dealer.table.pk])).status_code == 200
    assert queries.primary
    assert queries.replica == []


def test_what_dealers_go_by_is_not_what_was_read_there(
    hands: tuple[Hand, Hand], with_replica: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a page of a minute ago leaves a process with a table, or with terms of the house, as they were then."""
    dealer, boss = hands
    with_replica.pause()
    operator = floor.staff(Role.OPERATOR, "olga")
    policies.forget()
    policies.change({"certificate_rounds": 77}, by=operator)
    seqs = [bet(dealer, seat) for seat in (1, 2, 3)]
    newest = table_state.cache.newest(dealer.table.book_id)
    page(boss.by, "pit:log", pk=dealer.table.pk)
    with replica.reading():
        assert policies.number("certificate_rounds") != 77
        assert table_state.of(Table.objects.get(pk=dealer.table.pk)).seq < seqs[0]
    assert table_state.cache.newest(dealer.table.book_id) is newest
    assert policies.number("certificate_rounds") == 77
    assert dealer.now.seq == seqs[-1]


def test_what_takes_writes_is_no_replica(
    hands: tuple[Hand, Hand], with_replica: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the address of the dealers' own database is set as the replica's, and reports run beside them."""
    primary = settings_of("DATABASE_REPLICA_URL", database_url(APPLICATION), is_read_only=True)
    monkeypatch.setattr(settings, "DATABASE_REPLICA", primary)
    assert replica.NO_REPLICA in page(hands[1].by, "pit:reports", 503)


def test_nothing_is_written_there_and_who_looked_is_written_where_dealers_write(
    hands: tuple[Hand, Hand], with_replica: Standby
) -> None:
    """Harm: a page writes, and is told in the evening of an outage that there is none."""
    with pytest.raises(replica.WrittenThere), replica.reading():
        Book.objects.create(name="nowhere")
    with replica.reading():
        with replica.on_primary():
            Book.objects.create(name="somewhere")
            assert lane.get() != Lane.REPLICA
        assert lane.get() == Lane.REPLICA
    assert Book.objects.filter(name="somewhere").exists()
    with transaction.atomic():  # what is held is held on: a bundle is made in a worker that holds its errand's lock
        Book.objects.select_for_update().get(name="somewhere")
        with replica.reading():
            assert LogEntry.objects.exists()
        assert connection.in_atomic_block


def test_a_web_process_has_connections_there_beside_those_to_the_primary(
    hands: tuple[Hand, Hand], with_replica: Standby, own_web: Callable[..., processes.Web]
) -> None:
    """Harm: reports wait for the dealers' connections, or a crowd of them takes all that the replica has."""
    _, boss = hands
    url = with_replica.url(READER, connection.settings_dict["NAME"])
    web = own_web(DATABASE_REPLICA_URL=url, REPLICA_CONNECTIONS="2", DATABASE_CONNECTIONS="6")
    cookie = browser(boss.by).cookies["sessionid"].value
    reports = urllib.request.Request(f"{web.url}/pit/reports/", headers={"Cookie": f"sessionid={cookie}"})
    assert urllib.request.urlopen(reports, timeout=60).headers[AS_OF]  # the first compiles what it reckons by
    answers = load.at_once(4, lambda _: urllib.request.urlopen(reports, timeout=60))
    assert [(answer.status, bool(answer.headers[AS_OF])) for answer in answers] == [(200, True)] * 4
    reports.full_url = f"{web.url}/pit/log.csv"
    assert urllib.request.urlopen(reports, timeout=30).read().count(b"\n") > 5
    with psycopg.connect(with_replica.url(SUPERUSER, "postgres")) as admin:
        held = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"
        count = admin.execute(held, [READER]).fetchone()
    assert count is not None
    assert 1 <= count[0] <= 2


@pytest.mark.django_db
def test_a_house_without_one_says_nothing_of_it(hands: tuple[Hand, Hand]) -> None:
    """Harm: every house wonders what its pages are as of."""
    assert "As of" not in page(hands[1].by, "pit:reports")
    response, _ = read(hands[1].by, "pit:reports-csv")
    assert AS_OF not in response.headers
    assert "as-of" not in response["Content-Disposition"]
    assert condition._replica().state == condition.Urgency.WELL
