"""The demo pit: seeded once, in a demo only, and such that a newcomer can deal at every table."""

import json
import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from ledger import cage
from ledger.inspection import inspect_house
from ledger.models import Account, Book, LogEntry
from tables import standing
from tables.audit import proofs
from tables.games.catalog import GAMES
from tables.management.commands.seed_demo import CHIPS, PASSWORD, STAFF, TABLES
from tables.models import Denomination, Staff, Table
from tables.roles import Role
from tests.floor import Hand

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(settings: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """What a first run prints."""
    settings.CASINO_ENV = "demo"
    call_command("seed_demo", "--address", "http://house.example:8000/")
    return capsys.readouterr().out


def test_nothing_but_a_demo_gets_logins_that_everybody_knows(settings: Any) -> None:
    """One wrong command on a real server would open it to the world."""
    settings.CASINO_ENV = "production"
    with pytest.raises(CommandError, match="only a demo"):
        call_command("seed_demo")
    assert not Staff.objects.exists()


def test_nor_a_house_that_has_staff_of_its_own(settings: Any) -> None:
    """Even if somebody calls it a demo."""
    settings.CASINO_ENV = "demo"
    Staff.objects.create_superuser("olga", name="Olga")
    with pytest.raises(CommandError, match="staff of its own"):
        call_command("seed_demo")
    assert Staff.objects.count() == 1


def test_a_second_run_keeps_what_was_changed_since(demo: str) -> None:
    """Whoever plays with a demo for a week wants it as it was."""
    before = LogEntry.objects.exclude(subject="terminal").count()
    Table.objects.filter(name="Rocket 1").update(min_cents=2_000)
    call_command("seed_demo")
    assert LogEntry.objects.exclude(subject="terminal").count() == before
    assert Table.objects.get(name="Rocket 1").min_cents == 2_000
    assert (Staff.objects.count(), Table.objects.count(), Denomination.objects.count()) == (len(STAFF), len(TABLES), 6)


def test_a_run_that_was_cut_short_is_finished_by_the_next(settings: Any) -> None:
    """Ctrl-C in the first seconds must not leave half a house for good."""
    settings.CASINO_ENV = "demo"
    Staff.objects.create_superuser("omar", PASSWORD, name="Omar Okafor")
    Denomination.objects.create(value_cents=CHIPS[0][0], colour=CHIPS[0][1], face=CHIPS[0][2])
    call_command("seed_demo")
    assert Staff.objects.count() == len(STAFF)
    assert Table.objects.count() == len(TABLES)


def test_everyone_printed_can_sign_in(demo: str) -> None:
    """Also by badge and PIN, through the link printed below them."""
    for one in STAFF:
        assert re.search(rf"{one.role.label} .*{one.username} +{PASSWORD}", demo)
        answer = Client().post("/sign-in/", {"username": one.username, "password": PASSWORD})
        assert answer.status_code == 302, one.username
    browser = enrolled(demo)
    for one in STAFF:
        if one.role == Role.DEALER:
            assert browser.post("/sign-in/", {"badge": one.badge, "pin": one.pin}).status_code == 302, one.username


def enrolled(demo: str) -> Client:
    """The dealer's browser, in which the first of the two printed links was opened."""
    links = re.findall(r"http://house\.example:8000(/enrol/\S+)", demo)
    assert len(links) == 2
    browser = Client()
    assert browser.post(links[0]).status_code == 302
    return browser


def test_chips_are_in_the_racks_and_with_the_players_and_all_came_from_the_house(demo: str) -> None:
    """A table that opens without chips cannot pay its first winner."""
    house = Book.objects.get(name="house")
    found = {str(account): cents for account, cents in cage.balances(house.pk).items()}
    assert found["players"] > 0
    assert found["cage"] > 0
    for table in Table.objects.all():
        rack = Account.objects.get(book=table.book, place="rack")
        assert cage.balance(rack) == 60 * table.max_cents
        assert standing.of(table).opening_rack_cents == 60 * table.max_cents
    assert inspect_house() == []


@pytest.mark.parametrize("name", TABLES)
def test_a_round_can_be_dealt_at_every_table_at_once(demo: str, name: str) -> None:
    """The five minutes of the README start at any of them."""
    table = Table.objects.get(name=name)
    client = enrolled(demo)
    client.post("/sign-in/", {"badge": "101", "pin": "1357"})
    client.post(f"/tables/{table.pk}/take")
    dora = Hand(table, Staff.objects.get(username="dora"))
    if table.source == "house":
        dora("load_shoe")
    else:
        dora.ready_shoe()
    if table.is_banked:
        dora.bets(seat1=table.min_cents, seat2=table.max_cents)
        dora("deal") if table.source == "house" else dora.cards(5, 6, 7)
    else:
        for seat in GAMES[table.game].seat_counts:
            dora("buy_in", seat=seat, amount_cents=table.min_cents)
        dora("start_game")
    assert dora.board.round_open
    assert proofs.verify(table.book).fault is None


def test_the_log_says_who_did_it(demo: str) -> None:
    """The demo's house is kept like any other."""
    by = {entry.by for entry in LogEntry.objects.exclude(subject="staff")}
    fillers = {"201 Bella Brandt", "301 Cara Conti", "401 Sam Silva", "102 Dan Duarte", "202 Boris Blom"}
    assert by == {"omar Omar Okafor", *fillers}
    bodies = b"".join(bytes(entry.body) for entry in LogEntry.objects.all())
    assert PASSWORD.encode() not in bodies
    assert all(json.loads(bytes(entry.body)) for entry in LogEntry.objects.all())
    for book in proofs.books():
        assert proofs.verify(book).fault is None
