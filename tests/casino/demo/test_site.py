"""The demo's house as it was seeded: a newcomer can sign in, deal at every table and prove everything."""

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client, override_settings

from ledger import cage
from ledger.inspection import inspect_house
from ledger.models import Account, Book, LogEntry
from tables.audit import checkpoints, proofs, protections, witness_delivery
from tables.games.catalog import DEALT, GAMES
from tables.games.protocol import AskBet
from tables.management.commands import seed_demo
from tables.management.commands.seed_demo import PASSWORD, STAFF, TABLES
from tables.models import Denomination, ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies, table_settings
from tables.state import table_state
from tests.floor import Hand

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture(scope="module")
def demo(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """What a first run prints. It is run once; each test begins with the house as it was then."""
    printed = StringIO()
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(CASINO_ENV="demo"):
            call_command("seed_demo", "--address", "http://house.example:8000/", stdout=printed)
        yield printed.getvalue()
        transaction.set_rollback(True)


def test_everyone_printed_can_sign_in(demo: str) -> None:
    """Also by badge and PIN, through the link printed below them."""
    for member in STAFF:
        assert re.search(rf"{member.role.label} .*{member.username} +{PASSWORD}", demo)
        answer = Client().post("/sign-in/", {"username": member.username, "password": PASSWORD})
        assert answer.status_code == 302, member.username
    browser = enrolled(demo)
    for member in STAFF:
        if member.role == Role.DEALER:
            assert browser.post("/sign-in/", {"badge": member.badge, "pin": member.pin}).status_code == 302, (
                member.username
            )


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
    balances = {str(account): cents for account, cents in cage.balances(house.pk).items()}
    assert balances["players"] > 0
    assert balances["cage"] > 0
    for table in Table.objects.all():
        rack = Account.objects.get(book=table.book, place="rack")
        rack_cents = sum(value * count for value, count in seed_demo.rack_of(TABLES[table.name]))
        assert 45 * table.max_cents < rack_cents <= 60 * table.max_cents
        assert cage.balance(rack) == table_state.of(table).opening_rack_cents == rack_cents
    assert inspect_house() == []


@pytest.mark.parametrize("name", [name for name, terms in TABLES.items() if terms.game in DEALT])
def test_a_round_can_be_dealt_at_every_table_at_once(demo: str, name: str) -> None:
    """The five minutes of the README start at any of them."""
    table = Table.objects.get(name=name)
    client = enrolled(demo)
    client.post("/sign-in/", {"badge": "101", "pin": "135731"})
    client.post(f"/tables/{table.pk}/take")
    dora = Hand(table, Staff.objects.get(username="dora"))
    if table.source == "house":
        dora("load_shoe")
    else:
        dora.ready_shoe()
    if GAMES[table.game].kind == "banked":
        for seat, cents in ((1, table.min_cents), (2, table.max_cents)):
            ask = next(ask for ask in dora.board.prompts if isinstance(ask, AskBet) and ask.seat == seat)
            dora("bet", seat=seat, amount_cents=cents, wager=ask.wager)
        dora("close_bets")
        begin(dora)
    else:
        for seat in GAMES[table.game].seat_counts:
            dora("buy_in", seat=seat, amount_cents=table.min_cents)
        dora("start_game")
    assert dora.board.round_open
    assert proofs.verify(table.book).fault is None


def begin(dora: Hand) -> None:
    """The first cards; where they lie facedown, the first decision."""
    if dora.board.due == "deal":
        dora("deal")
    elif dora.board.side_by_side and dora.board.due == "card":
        for card in "567":
            dora("standard_card", card=card)
    elif dora.board.due == "choose":
        dora("choose", seat=1, choice="play")
    else:
        dora.cards(5, 6, 7)


def test_the_log_says_who_did_it(demo: str) -> None:
    """The demo's house is kept like any other."""
    by = {entry.by for entry in LogEntry.objects.exclude(subject="staff")}
    fillers = {"201 Bella Brandt", "301 Cara Conti", "401 Sam Silva", "102 Dan Duarte", "202 Boris Blom"}
    assert by == {"701 Omar Okafor", "801 Carla Costa", "the house", *fillers}
    bodies = b"".join(bytes(entry.body) for entry in LogEntry.objects.all())
    assert PASSWORD.encode() not in bodies
    assert all(entry.content is not None for entry in LogEntry.objects.all())
    for book in proofs.books():
        assert proofs.verify(book).fault is None


def test_a_second_run_keeps_later_changes(demo: str, settings: Any) -> None:
    """Harm: the next start of a demo resets a week of work in it."""
    settings.CASINO_ENV = "demo"
    before = LogEntry.objects.exclude(subject="terminal").count()
    Table.objects.filter(name="Rocket 1").update(min_cents=2_000)
    call_command("seed_demo", stdout=StringIO())
    assert LogEntry.objects.exclude(subject="terminal").count() == before
    assert Table.objects.get(name="Rocket 1").min_cents == 2_000
    assert (Staff.objects.count(), Table.objects.count(), Denomination.objects.count()) == (len(STAFF), len(TABLES), 7)


def test_the_demo_has_dual_control_and_grows_under_it(demo: str) -> None:
    """Harm: the demo shows a site on which one operator raises limits alone; or dual control stops the demo itself."""
    omar = Staff.objects.get(username=seed_demo.OPERATOR.username)
    table = Table.objects.select_related("book").get(name="Rocket 1")
    with pytest.raises(Refused, match="takes two people"):
        table_settings.change_table(table, {"max_cents": 10**6}, by=omar)
    seed_demo.open_table("Rocket 40", TABLES["Rocket 1"], omar)
    seed_demo.hire("floor1", {"name": "Ana Adler", "role": "dealer", "badge": "2001"}, omar)
    for book in Book.objects.filter(name__in=("house", "Rocket 40")):
        assert proofs.verify(book).fault is None


def test_the_reader_of_the_demo_has_one_table_one_token_and_no_more(demo: str, settings: Any, tmp_path: Path) -> None:
    """Harm: each start of a demo makes another token, until there are too many; or every visitor can read the token."""
    from casino.demo import card_reader

    settings.CASINO_ENV = "demo"
    token_file = tmp_path / "reader-token"
    table = card_reader.prepare(token_file)
    token = token_file.read_text()
    assert card_reader.prepare(token_file) == table
    assert (token_file.read_text(), oct(token_file.stat().st_mode)[-3:]) == (token, "600")
    account = ServiceAccount.objects.get()
    assert (account.scopes, account.tables, account.tokens.count()) == (["enter:cards"], [table.name], 1)


def test_the_demo_has_a_witness(demo: str, settings: Any, tmp_path: Path) -> None:
    """Harm: a newcomer takes a site without a witness for the recommendation; or each start begins another
    tree, which the witness refuses."""
    from casino.demo import witness

    settings.CHECKPOINT_KEY_FILE = str(tmp_path / "checkpoint-key.pem")
    for _ in range(2):
        witness.prepare(tmp_path)
        policies.forget()
    [named] = witness_delivery.witnesses()
    tree = checkpoints.current_tree()
    assert tree is not None
    assert (named.name, named.shows_heads, tree.origin) == (witness.NAME, True, witness.ORIGIN)
    options = (tmp_path / "witness-options").read_text().split("\n")
    assert options[-1] == named.address.rpartition(":")[2]
    assert str(tree.key) in options
    assert LogEntry.objects.filter(subject="checkpoint").count() == 1
    assert "witness" not in [protection.name for protection in protections.off()]
    assert proofs.verify(Book.objects.get(name="house")).fault is None
