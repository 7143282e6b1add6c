"""Card readers: what a device may name, in which order, and what happens where it and the dealer disagree."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ledger import log
from ledger.log import Draft, read_head
from ledger.models import Alert, Book, LogEntry
from tables.audit import proofs
from tables.floor import card_readers, recorder
from tables.floor.inputs import ReadCard, read
from tables.games.protocol import Card
from tables.log.catalog import event_of
from tables.log.entries.rounds import Played
from tables.log.message import text_of
from tables.log.reader_messages import key_of
from tables.models import ServiceAccount, Staff
from tables.roles import Role
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tables.state.table_state import read_anew
from tests import floor
from tests.floor import Hand
from tests.tables.floor.acts import fault, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


class Device:
    """A card reader as the house sees one: it sends messages, and is told a status and a body."""

    def __init__(self, table: Any, by: Staff, name: str = "Reader 1") -> None:
        self.table, self.operator = table, by
        self.session, self.number = str(uuid.uuid4()), 0
        access = Access(
            purpose="Names the cards", scopes=("enter:cards",), tables=(table.name,),
            expires=timezone.now() + timedelta(days=30),
        )  # fmt: skip
        self.account = service_accounts.set_account(name, access, by=by)
        self.token = service_tokens.make(self.account, by=by)

    def says(self, number: int, card: int | str | None = None, *, table: Any = None) -> tuple[int, dict[str, Any]]:
        body = {"session": self.session, "number": number} | ({} if card is None else {"card": card})
        answer = Client(enforce_csrf_checks=True).post(
            reverse("api:reader", args=[(table or self.table).pk]),
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}"},
        )
        return answer.status_code, answer.json()

    def starts(self) -> None:
        self.session, self.number = str(uuid.uuid4()), 0
        assert self.says(0)[0] == 200

    def reads(self, *cards: int) -> None:
        for card in cards:
            self.number += 1
            status, body = self.says(self.number, card)
            assert status == 200, body


@pytest.fixture
def dealer() -> Hand:
    return floor.dealt(options={"decks": 2})[0]


@pytest.fixture
def olga(dealer: Hand) -> Staff:
    return floor.staff(Role.OPERATOR, "olga")


@pytest.fixture
def device(dealer: Hand, olga: Staff) -> Device:
    reader = Device(dealer.table, olga)
    reader.starts()
    return reader


def betting(dealer: Hand, seats: int = 2) -> None:
    for seat in range(1, seats + 1):
        dealer("bet", seat=seat, amount_cents=1_000)
    dealer("close_bets")


def entries(dealer: Hand) -> list[tuple[str, str]]:
    rows = LogEntry.objects.filter(book=dealer.table.book).order_by("seq")
    return [(f"{row.subject} {row.kind}", row.by) for row in rows]


def proved(dealer: Hand) -> None:
    """All books hold; and whoever reads the table afresh knows the same of it as who was there."""
    head = read_head(dealer.table.book_id)
    assert read_anew([head])[head.book_id] == dealer.now
    for book in Book.objects.order_by("pk"):
        report = proofs.verify(book)
        assert report.fault is None, str(report.fault)


def code(answer: tuple[int, dict[str, Any]]) -> tuple[int, str]:
    return answer[0], answer[1]["code"]


def test_a_reader_names_the_cards_of_a_round_and_all_of_it_is_proved(dealer: Hand, device: Device) -> None:
    """Harm: a card comes in by somebody of whom the log does not say that they may."""
    betting(dealer)
    device.reads(9, 8, 4)
    assert entries(dealer)[-1] == ("round play", "program Reader 1")
    standing = dealer.now
    assert standing.reader is not None
    assert standing.reader.is_live
    assert (card_readers.latest_number(dealer.table.book_id, standing.reader), card_readers.latest_card(standing)) == (
        3,
        "4",
    )
    proved(dealer)


def test_the_same_message_again_is_answered_as_before_and_a_gap_refused(dealer: Hand, device: Device) -> None:
    """Harm: a reader that lost the answer sends the card again, and it is dealt twice; or a card is lost in transit,
    and the next one is dealt to its seat."""
    betting(dealer)
    device.reads(9)
    before = entries(dealer)
    status, body = device.says(1, 9)
    assert (status, body["again"], body["due"]) == (200, True, 2)
    assert code(device.says(1, 5)) == (409, "key_reused")
    status, body = device.says(3, 4)
    assert (status, body["code"], body["due"]) == (409, "reader_gap", 2)
    assert entries(dealer) == before


def test_a_restarted_reader_begins_a_session_and_the_old_one_is_over(dealer: Hand, device: Device) -> None:
    """Harm: a message that was long under way counts after the reader began anew."""
    betting(dealer)
    device.reads(9)
    old = device.session
    device.starts()
    device.reads(8)
    device.session = old
    assert code(device.says(2, 7)) == (409, "other_session")
    proved(dealer)


def test_a_shoe_has_one_reader_which_is_at_no_other_table(dealer: Hand, device: Device, olga: Staff) -> None:
    """Harm: each card is recorded twice; cards of one shoe are dealt at another table; or a display deals."""
    assert "Reader 1 is the card reader" in refusal(Device, dealer.table, olga, name="Reader 2").sentence
    other = floor.table("Rocket 9")
    assert code(device.says(1, 9, table=other)) == (403, "not_your_table")
    lounge = Access(purpose="Shows", scopes=("read:board",), expires=timezone.now() + timedelta(days=1))
    device.token = service_tokens.make(service_accounts.set_account("Lounge", lounge, by=olga), by=olga)
    assert code(device.says(1, 9)) == (403, "no_scope")


def test_a_reader_enters_cards_and_nothing_else(dealer: Hand, device: Device) -> None:
    """Harm: a device bets, closes bets or stands for a player, or its unclear message is dealt as a guess."""
    for card in (0, 11, "abc", -1, 2.5, True):
        assert device.says(1, card)[0] in (400, 422)  # type: ignore[arg-type]
    assert code(device.says(1)) == (400, "bad_input")
    assert key_of("a", "b", 1) != key_of("a", "b", 2)
    facts = {"key": uuid.uuid4(), "expected_seq": None}
    for fields in ({"do": "bet", "seat": 1, "amount_cents": 1_000}, {"do": "close_bets"}, {"do": "take_over_reader"}):
        assert refusal(recorder.record, dealer.table, read(fields), by=device.account, **facts).status == 403
    answer = refusal(recorder.record, dealer.table, ReadCard("x", 1, 9), by=dealer.by, **facts)
    assert "Only a card reader" in answer.sentence


def test_revoked_in_mid_round_it_names_no_further_card_and_the_keys_work_at_once(
    dealer: Hand, device: Device, olga: Staff
) -> None:
    """Harm: a reader that somebody tampered with goes on until the round is over; or the round stands still."""
    betting(dealer)
    device.reads(9)
    service_accounts.revoke(device.account, "Its seal was broken", by=olga)
    assert code(device.says(2, 8)) == (401, "token_revoked")
    dealer("card", rank=8)
    assert [kind for kind, _ in entries(dealer)[-2:]] == ["reader taken_over", "round play"]
    proved(dealer)


def test_a_card_that_cannot_be_stops_the_round_until_the_dealer_says_who_is_right(dealer: Hand, device: Device) -> None:
    """Harm: a misread card is dealt on, or the round hangs without a word."""
    dealer("bet", seat=1, amount_cents=1_000)
    assert code(device.says(1, 9)) == (409, "reader_stopped"), "bets are open: no card is due"
    assert code(device.says(1, 9)) == (409, "reader_stopped"), "again: as before"
    assert dealer.board.due == "reader"
    assert "The reader read 9" in dealer.board.phrase.do
    assert Alert.objects.filter(kind="stopped").count() == 1
    assert "which of them is right" in refusal(dealer, "close_bets").sentence
    dealer("settle_reader", right="reader")
    dealer("close_bets")
    assert device.says(2, 9)[0] == 200
    proved(dealer)


def test_a_dealer_who_keys_another_card_stops_the_round_and_both_are_named(dealer: Hand, device: Device) -> None:
    """Harm: the dealer sees a wrong card and cannot report it before play continues; or keys the card that the reader
    just read, and the next seat gets it too."""
    betting(dealer)
    assert "take over first" in refusal(dealer, "card", rank=5).sentence
    device.reads(9)
    assert "already" in refusal(dealer, "card", rank=9).sentence
    dealer("card", rank=7)
    assert dealer.board.phrase.do == "The reader read 9, you keyed 7: look."
    assert code(device.says(2, 8)) == (409, "reader_stopped")
    pit = floor.client(floor.staff(Role.PIT_BOSS, "berta", "901"))
    for address in (reverse("pit:floor"), reverse("pit:plan"), reverse("pit:table", args=[dealer.table.pk])):
        assert pit.get(address).status_code == 200, "the floor is seen while a table waits"
    assert "Reader and dealer disagree" in pit.get(address).content.decode()
    dealer("settle_reader", right="dealer")
    assert code(device.says(2, 8)) == (409, "taken_over")
    dealer("take_back")
    dealer("card", rank=7)
    dealer("give_back_reader")
    assert device.says(2, 8)[0] == 200
    proved(dealer)


def test_where_the_house_asks_for_a_pit_boss_nobody_at_the_table_settles_it(
    dealer: Hand, device: Device, terms: Callable[..., None]
) -> None:
    """Harm: the dealer who keyed a card for an accomplice is the one who says that the reader is wrong."""
    terms(reader_settled_by="pit_boss")
    boss = Hand(dealer.table, floor.staff(Role.PIT_BOSS, "berta", "901"))
    betting(dealer)
    device.reads(9)
    dealer("card", rank=7)
    assert not [button for button in dealer.board.buttons if button.input["do"] == "settle_reader"]
    assert "a pit boss says who is right" in str(dealer.board.phrase.rule)
    assert "takes a pit boss" in refusal(dealer, "settle_reader", right="dealer").sentence
    page = floor.client(boss.by).post(
        reverse("pit:act", args=[dealer.table.pk, "reader-right"]), {"key": uuid.uuid4(), "seq": dealer.now.seq}
    )
    assert page.status_code == 302
    settled = LogEntry.objects.filter(book=dealer.table.book).latest("seq")
    assert (settled.kind, settled.by) == ("settled", boss.by.signature)
    event = event_of(next(log.entries(settled.book_id, settled.seq - 1, settled.seq)))
    assert "the pit boss looked" in text_of(event.description())
    assert device.says(2, 8)[0] == 200
    proved(dealer)
    terms()
    assert "did not let the pit_boss settle it" in fault(dealer.table).what


def test_while_the_reader_is_silent_the_keys_work_until_it_takes_over_again(dealer: Hand, device: Device) -> None:
    """Harm: a cable comes loose, and the dealer has to wait for a device or for a person who may switch it off."""
    betting(dealer)
    device.reads(9)
    ServiceAccount.objects.update(heard_at=timezone.now() - timedelta(minutes=1))
    dealer("card", rank=8)
    assert "is not heard" in refusal(dealer, "give_back_reader").sentence
    assert code(device.says(2, 8)) == (409, "taken_over")
    dealer("give_back_reader")
    device.reads(4)
    proved(dealer)


def test_a_house_shoe_and_facedown_cards_have_no_reader(olga: Staff) -> None:
    """Harm: a card that lies facedown is told before its time."""
    hidden = floor.table("Regent 1", game="regent", options={})
    device = Device(hidden, olga, name="Reader 3")
    assert code(device.says(0)) == (422, "cards_hidden")


def test_a_forged_card_in_a_readers_name_is_found(dealer: Hand, device: Device) -> None:
    """Harm: a writer of entries deals in the name of a device: a card that it never read, a card that it read twice, or
    a card after the dealer took over."""
    betting(dealer)
    device.reads(9)

    def forgery(number: int, key: uuid.UUID) -> str:
        with transaction.atomic():
            forged = Played(actions=(Card(8, 2),), read=number)
            log.append(log.lock(dealer.table.book_id), Draft.of(forged, "program Reader 1", round=1, key=key))
            sentence = fault(dealer.table).what
            transaction.set_rollback(True)
        return sentence

    third = key_of("Reader 1", device.session, 3)
    assert "message 1 of a card reader, and 2 was due" in forgery(1, third)
    assert "message 3 of a card reader, and 2 was due" in forgery(3, third)
    assert "under the key of another" in forgery(2, uuid.uuid4())
    dealer("take_over_reader")
    assert code(device.says(2, 8)) == (409, "taken_over")
    assert forgery(2, key_of("Reader 1", device.session, 2))


def test_a_six_seat_round_takes_a_third_of_the_inputs(dealer: Hand, device: Device) -> None:
    """Harm: a reader saves the dealer no work. The round takes 27 inputs with keys, 22 with the same bets. Each paid
    seat keeps an entry of its own."""

    def inputs_of(bets: list[dict[str, Any]]) -> int:
        count = 0
        for bet in bets:
            dealer(bet["do"], **{name: value for name, value in bet.items() if name != "do"})
            count += 1
        dealer("close_bets")
        device.reads(10, 9, 8, 7, 6, 5, 7)
        device.reads(9)
        dealer("choose", seat=2, choice="fold")
        device.reads(10, 7, 5, 6, 7)
        before = len(entries(dealer))
        dealer("paid_all")
        assert [kind for kind, _ in entries(dealer)[before:]] == ["round paid"] * 4
        return count + 3

    amounts = (30, 70, 20, 50, 100, 100)
    bets = [{"do": "bet", "seat": seat, "amount_cents": cents * 100} for seat, cents in enumerate(amounts, 1)]
    same = [{"seat": bet["seat"], "amount_cents": bet["amount_cents"]} for bet in bets]
    assert inputs_of(bets) == 9 <= 27 / 3
    assert inputs_of([{"do": "bets", "bets": same}]) == 4 <= 22 / 3
    proved(dealer)


def test_the_dealers_screen_says_how_the_reader_stands(dealer: Hand, device: Device) -> None:
    """Harm: the dealer waits for a card that nobody names."""
    betting(dealer)
    client = floor.client(dealer.by)
    screen = reverse("dealer:screen", args=[dealer.table.pk])
    page = client.get(screen)
    assert page.status_code == 200
    assert "The reader names the cards." in page.content.decode()
    assert "Take over" in page.content.decode()
    ServiceAccount.objects.update(heard_at=timezone.now() - timedelta(minutes=1))
    line = client.get(reverse("dealer:reader", args=[dealer.table.pk]))
    assert "The reader is not heard: key the cards." in line.content.decode()
    assert device.says(1, 9)[0] == 200
    dealer("card", rank=7)
    page = client.get(screen)
    assert "The reader read 9, you keyed 7: look." in page.content.decode()
    assert "You are right: you key the cards" in page.content.decode()
