"""A house that was put back to an earlier moment: what screens and readers show, who confirms, what is proved of it."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from dealer_ui.audit import restored_tables as listing
from ledger import log
from ledger.models import Alert, LogEntry
from ledger.proof.chain import Head
from tables.audit import database_restore, tree_proof
from tables.floor import recorder, restored_tables
from tables.floor.inputs import BeginSlip, ConfirmRestored, SignOut
from tables.log.state import Restored
from tables.roles import Role
from tables.state import acknowledgement
from tables.state.acknowledgement import Acknowledged
from tests import floor
from tests.floor import CHIPS, Hand, crew, signs
from tests.tables.floor.acts import enter, refusal
from tests.tables.floor.test_card_readers import Device, proved

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@contextmanager
def loss() -> Iterator[None]:
    """What happens meanwhile is acknowledged, and then in no book: a copy from before was put back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def receipt(hand: Hand, *words: str) -> str:
    """What a screen of the table is told now."""
    return restored_tables.receipt(hand.table.book_id, hand.now, None, words)


def read(hand: Hand, document: str) -> Acknowledged:
    newest = acknowledgement.read(hand.table.book_id, document)
    assert newest is not None
    return newest


def bet(hand: Hand, document: str = "", seat: int = 1) -> recorder.Receipt:
    entered = floor.inputs.read({"do": "bet", "seat": seat, "amount_cents": 1_000})
    return recorder.record(
        hand.table, entered, by=hand.by, key=uuid.uuid4(), expected_seq=hand.now.seq,
        receipt=acknowledgement.read(hand.table.book_id, document),
    )  # fmt: skip


def confirm(hand: Hand, note: str = "two cards lie at seat 1") -> recorder.Receipt:
    return enter(hand, ConfirmRestored(note))


def waits(hand: Hand) -> Restored:
    state = hand.now.restored
    assert state is not None
    assert state.waits
    return state


@pytest.fixture
def floor_() -> tuple[Hand, Hand]:
    return floor.dealt(options={"decks": 2})


@pytest.fixture
def dealer(floor_: tuple[Hand, Hand]) -> Hand:
    return floor_[0]


@pytest.fixture
def boss(floor_: tuple[Hand, Hand]) -> Hand:
    return floor_[1]


def lose(dealer: Hand, inputs: int = 3) -> str:
    """Some bets are acknowledged and lost; what the screen keeps of them."""
    with loss():
        for seat in range(1, inputs + 1):
            bet(dealer, seat=seat)
        return receipt(dealer, "bet seat 3 amount cents 1000")


def show(dealer: Hand, document: str) -> bool:
    """Show the table what a screen has kept. Return whether the table learns something new."""
    head = log.read_head(dealer.table.book_id)
    return bool(recorder.show(dealer.table, head, read(dealer, document), dealer.by))


def test_a_screen_that_was_acknowledged_more_stops_the_table_until_a_pit_boss_has_looked(
    dealer: Hand, boss: Hand
) -> None:
    """Harm: a copy of last night is put back, and the table deals on as if its last rounds had never been."""
    ended = dealer.now.seq
    document = lose(dealer)
    answer = refusal(bet, dealer, document)
    assert answer.code == "records_restored"
    assert "3 more were acknowledged" in answer.sentence
    assert f"they end at entry {ended}" in answer.sentence

    state = waits(dealer)
    assert (state.ended, state.reach) == (ended, ended + 3)
    assert [(line.by, line.seq, line.words) for line in state.beyond] == [
        (dealer.by.signature, ended + 3, ("bet seat 3 amount cents 1000",))
    ]
    assert Alert.objects.filter(kind="book_behind", book=dealer.table.book).count() == 1
    assert dealer.board.due == "restored"
    assert not dealer.board.buttons
    assert "seat 3" in dealer.board.phrase.rule

    assert "pit boss" in refusal(bet, dealer).sentence
    closer = BeginSlip("closer", ((CHIPS[0][0], 10),))
    assert "A pit boss confirms" in refusal(signs, dealer.table, crew("received"), closer).sentence
    assert "takes a pit boss" in refusal(confirm, dealer).sentence
    confirm(boss)
    bet(dealer, document)
    bet(dealer, receipt(dealer), seat=2)
    proved(dealer)


def test_lost_inputs_are_listed_once_and_stop_no_table_again(dealer: Hand, boss: Hand) -> None:
    """Harm: a screen from a drawer stops the table again and again for a confirmed loss; or a table that waits for its
    pit boss allows no relief."""
    document = lose(dealer)
    assert show(dealer, document)
    entries = LogEntry.objects.filter(book=dealer.table.book).count()
    assert not show(dealer, document)
    assert LogEntry.objects.filter(book=dealer.table.book).count() == entries
    enter(dealer, SignOut())
    relief = Hand(dealer.table, floor.staff(Role.DEALER, "dan", "102"))
    recorder.sign_in(dealer.table, relief.by)
    confirm(boss)
    for _ in range(4):
        bet(relief, document)
    proved(relief)


def test_a_screen_that_comes_late_and_has_more_stops_the_table_once_more(dealer: Hand, boss: Hand) -> None:
    """Harm: a pit boss confirms what the first screen showed, and nobody hears that five more inputs were lost."""
    with loss():
        bet(dealer)
        early = receipt(dealer)
        for seat in range(2, 7):
            bet(dealer, seat=seat)
        late = receipt(dealer)
    show(dealer, early)
    confirm(boss)
    for _ in range(8):
        bet(dealer)
    assert "A pit boss confirms" in refusal(bet, dealer, late).sentence
    confirm(boss)
    bet(dealer, late)
    proved(dealer)


def test_a_history_that_grew_past_the_lost_entries_is_still_told_from_the_one_that_was_lost(
    dealer: Hand, boss: Hand
) -> None:
    """Harm: without any screen the table deals on, its numbers pass the lost ones, and nothing tells them apart."""
    document = lose(dealer, inputs=1)
    for seat in range(2, 7):
        bet(dealer, seat=seat)
    assert read(dealer, document).seq < dealer.now.seq
    assert "A pit boss confirms" in refusal(bet, dealer, document).sentence
    assert "another entry" in Alert.objects.get(kind="book_behind").message
    confirm(boss)
    proved(dealer)


def test_a_second_restore_stops_the_table_though_the_first_was_confirmed_further(dealer: Hand, boss: Hand) -> None:
    """Harm: the first loss was confirmed up to entry 40, so a second one below it is taken for the first."""
    first = lose(dealer, inputs=6)
    show(dealer, first)
    confirm(boss)
    with loss():
        bet(dealer)
        second = receipt(dealer)
    assert read(dealer, second).seq < read(dealer, first).seq
    assert "A pit boss confirms" in refusal(bet, dealer, second).sentence
    confirm(boss)
    bet(dealer, first)
    proved(dealer)


def test_what_the_house_did_not_sign_stops_nothing(dealer: Hand) -> None:
    """Harm: anybody at a screen stops any table by a number that they made up."""
    document = lose(dealer)
    seq, digest, after, words, signature = document.split(".")
    forgeries = [
        f"{int(seq) + 50}.{digest}.{after}.{words}.{signature}",
        f"{seq}.{'0' * 16}.{after}.{words}.{signature}",
        acknowledgement.sign(dealer.table.book_id + 1, int(seq), b"\1" * 32),
        f"{seq}.{digest}.{after}..{signature}",
        "9999.x.y.z",
        document + "a" * 5_000,
    ]
    for forgery in forgeries:
        assert acknowledgement.read(dealer.table.book_id, forgery) is None
        bet(dealer, forgery)


def test_a_proof_names_what_was_dealt_while_the_table_waited(dealer: Hand) -> None:
    """Harm: somebody with the database writes a round at a table that nobody confirmed, and the log bears it out."""
    document = lose(dealer)
    bet(dealer)
    show(dealer, document)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tables.floor.restored_tables.refuse_waiting", lambda scene, outcome: None)
        bet(dealer, seat=2)
    with pytest.raises(AssertionError, match="waited to be confirmed"):
        proved(dealer)


def page(hand: Hand, browser: Client) -> Any:
    return browser.get(reverse("dealer:screen", args=[hand.table.pk]))


def test_the_dealers_screen_shows_what_it_keeps_and_says_why_nothing_is_dealt(dealer: Hand, boss: Hand) -> None:
    """Harm: the screen comes back after the restore, forgets what it was told, and nobody ever hears of it."""
    browser = floor.client(dealer.by)
    page(dealer, browser)
    where = reverse("dealer:input", args=[dealer.table.pk])
    with loss():
        for seat in (1, 2):
            bet_input = json.dumps({"do": "bet", "seat": seat, "amount_cents": 1_000})
            form = {"key": str(uuid.uuid4()), "seq": dealer.now.seq, "input": bet_input}
            assert browser.post(where, form, headers={"HX-Request": "true"}).status_code == 200
        assert browser.cookies["acknowledged"]["path"] == reverse("dealer:screen", args=[dealer.table.pk])
        assert browser.cookies["acknowledged"]["httponly"]
    answer = page(dealer, browser).content.decode()
    assert "2 more were acknowledged" in answer
    assert "A pit boss confirms before it opens" in answer
    assert [len(line.words) for line in waits(dealer).beyond] == [2]

    desk = floor.client(floor.staff(Role.PIT_BOSS, "bruno", "201"))
    listed = desk.get(reverse("pit:restored")).content.decode()
    assert "2 more" in listed
    assert "Seat 2 bets 10" in listed
    assert [row[0] for rows in listing.RESTORED.file(boss.by)[2] for row in rows] == [dealer.table.name]
    where = reverse("pit:confirm-restored", args=[dealer.table.pk])
    form = {"key": str(uuid.uuid4()), "seq": dealer.now.seq, "note": "Bets lie at both seats", "badge": "201"}
    assert desk.post(where, form | {"pin": "9999"}).status_code in (403, 422)
    assert waits(dealer)
    assert desk.post(where, form | {"pin": floor.PIN}).status_code == 302
    assert not page(dealer, browser).content.decode().count("A pit boss confirms before it opens")
    assert b"Bets lie at both seats" in desk.get(reverse("pit:restored")).content
    bet(dealer)
    proved(dealer)


def test_a_reader_shows_what_it_was_told(dealer: Hand, boss: Hand) -> None:
    """Harm: the only one who knows of the lost cards is a machine that nobody asks."""
    device = Device(dealer.table, floor.staff(Role.OPERATOR, "olga"))
    device.starts()
    dealer.bets(seat1=1_000)
    address, header = reverse("api:reader", args=[dealer.table.pk]), {"Authorization": f"Bearer {device.token}"}
    with loss():
        device.reads(9, 8)
        document = Client().get(address, headers=header).headers["Casino-Acknowledged"]
    assert Client().get(address, headers=header | {"Casino-Acknowledged": document}).status_code == 200
    assert [line.by for line in waits(dealer).beyond] == ["program Reader 1"]
    assert device.says(1, 9)[1]["code"] == "records_restored"
    confirm(boss)
    device.number = 0  # what it read is lost with the session's later messages: the dealer shows it the card again
    device.reads(9)
    proved(dealer)


def test_looking_at_a_table_that_was_not_put_back_asks_nothing_more(
    dealer: Hand, django_assert_num_queries: Any
) -> None:
    """Harm: every look at every table pays for a restore that never was."""
    head: Head = log.read_head(dealer.table.book_id)
    acknowledgement = read(dealer, receipt(dealer))
    with django_assert_num_queries(0):
        assert not recorder.show(dealer.table, head, acknowledgement, dealer.by)


def test_a_restore_that_is_declared_makes_every_table_wait_with_what_a_witness_saw(dealer: Hand, boss: Hand) -> None:
    """Harm: the tables whose screens stay dark deal on; what only a witness saw is told to nobody."""
    closed = floor.table("Rocket 2")
    ended = dealer.now.seq
    testimony = tree_proof.Testimony(("witness.example/w1",), heads={dealer.table.book.name: (ended + 9, "ab" * 32)})
    olga = floor.staff(Role.OPERATOR, "olga")
    assert database_restore.declare("Disk 2 failed", olga, testimony) == ["Rocket 1", "Rocket 2"]
    assert database_restore.declare("Disk 2 failed", olga, testimony) == ["Rocket 1", "Rocket 2"]
    state = waits(dealer)
    assert (state.declared, state.reach) == ("Disk 2 failed", ended + 9)
    assert [line.by for line in state.beyond] == ["witness witness.example/w1"]
    assert "A pit boss confirms" in refusal(bet, dealer).sentence
    for hand in (boss, Hand(closed, boss.by)):
        confirm(hand)
    bet(dealer)
    proved(dealer)
