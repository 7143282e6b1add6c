"""The dealer's views: who reaches which table, and what becomes of forms that no screen would send."""

import json
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger.models import LogEntry, Notice
from tables.approvals import proposals
from tables.audit import proofs
from tables.board.table_view import board
from tables.floor import recorder
from tables.models import Staff, Table
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
from tables.state import table_state
from tests import floor
from tests.floor import Hand

pytestmark = pytest.mark.django_db

SCRIPT = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def hand() -> Hand:
    """Dora, who deals at Rocket 1; it is ready for bets."""
    return floor.dealt()[0]


def signed_in(staff: Staff) -> Client:
    return floor.client(staff)


@pytest.fixture
def dora(hand: Hand) -> Client:
    return signed_in(hand.by)


def form(hand: Hand, **fields: Any) -> dict[str, Any]:
    """A form as the screen sends it."""
    if "input" in fields and not isinstance(fields["input"], str):
        fields["input"] = json.dumps(fields["input"])
    return {"key": str(uuid.uuid4()), "seq": table_state.of(hand.table).seq} | fields


def bet(hand: Hand, amount: str = "20", **fields: Any) -> dict[str, Any]:
    return form(hand, seat="1", amount=amount, **fields)


def enter(client: Client, hand: Hand, fields: dict[str, Any], **extra: Any) -> HttpResponse:
    return client.post(f"/tables/{hand.table.pk}/input", fields, **(SCRIPT | extra))  # type: ignore[return-value]


def text(response: Any) -> str:
    return response.content.decode()


# --- What an action asks of the database -----------------------------------------------------------------------


def statements(client: Client, hand: Hand, fields: dict[str, Any]) -> list[str]:
    """What one action sends to the database, but for where its transaction begins and ends."""
    with CaptureQueriesContext(connection) as asked:
        assert "data-refused" not in text(enter(client, hand, fields))
    sent = [query["sql"] for query in asked.captured_queries]
    return [sql for sql in sent if not re.fullmatch(r"(BEGIN|COMMIT|SAVEPOINT|RELEASE)[^;]*", sql)]


@pytest.mark.django_db(transaction=True)
def test_a_refusal_at_the_screen_is_noted_with_its_table(dora: Client, hand: Hand) -> None:
    """Harm: the morning's list says that a bet was over the limit, and not at which table."""
    assert enter(dora, hand, bet(hand, "99999")).status_code == 422
    assert "over the maximum" in Notice.objects.get().content["says"]
    assert Notice.objects.get().content["table"] == hand.table.name


def test_a_shoe_that_ends_at_the_screen_brings_what_waited_for_it(
    dora: Client, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: what two people approved for the next shoe waits for the worker, and the shoe is shuffled without it."""
    tables: list[str] = []
    monkeypatch.setattr(proposals, "with_the_shoe", lambda table: bool(tables.append(table)))
    hand.bets(seat1=1_000)
    hand("cut_card_out")
    hand.cards(5, 3)
    [pays] = [button for button in board(hand.table, hand.by, hand.now).buttons if button.primary]
    assert enter(dora, hand, form(hand, input=pays.input)).status_code == 200
    assert tables == [hand.table.name]


def test_an_action_asks_the_database_a_few_questions_and_always_as_many(hand: Hand, dora: Client) -> None:
    """Harm: a thousand dealers keep the web busy with reading again what it has just read or written. Who comes
    (session, terminal and person), the lock with the table and its chips, the entry."""
    enter(dora, hand, form(hand, seat="6", amount="20"))  # the first one finds out whose session and which book it is
    counts = [len(statements(dora, hand, form(hand, seat=str(seat), amount="20"))) for seat in range(1, 5)]
    assert set(counts) == {3}
    statements(dora, hand, form(hand, input={"do": "close_bets"}))
    counts = [len(statements(dora, hand, form(hand, input={"do": "card", "rank": rank}))) for rank in (5, 6, 7, 8)]
    assert set(counts) == {3}


def test_an_answer_shows_what_was_entered_and_what_another_screen_entered_after_is_told(
    hand: Hand, dora: Client
) -> None:
    """Harm: the board is drawn from what was read before the input, or is said to be newer than what it shows."""
    answer = text(enter(dora, hand, bet(hand)))
    assert f'data-seq="{table_state.of(hand.table).seq}"' in answer
    hand("bet", seat=2, amount_cents=3_000)
    again = text(dora.get(f"/tables/{hand.table.pk}/board", **SCRIPT))
    assert f'data-seq="{table_state.of(hand.table).seq}"' in again
    assert f'data-seq="{table_state.of(hand.table).seq}"' not in answer


# --- Who reaches what ------------------------------------------------------------------------------------------


def addresses(pk: int) -> list[tuple[str, str]]:
    return [
        ("get", f"/tables/{pk}/"),
        ("get", f"/tables/{pk}/board"),
        ("post", f"/tables/{pk}/input"),
        ("post", f"/tables/{pk}/leave"),
    ]


def test_a_dealer_reaches_nothing_but_their_own_table(dora: Client, hand: Hand) -> None:
    other = floor.table("Rocket 2")
    floor.Hand(other, Staff.objects.get(username="bella"))("open_table")
    recorder.sign_in(other, floor.staff(Role.DEALER, "rosa"))
    before = LogEntry.objects.count()
    for method, address in addresses(other.pk):
        response = getattr(dora, method)(address, form(Hand(other, hand.by), input={"do": "close_bets"}))
        assert response.status_code == 403, address
        assert "Rosa deals at Rocket 2 now." in text(response)
    assert LogEntry.objects.count() == before
    assert dora.get(f"/tables/{hand.table.pk}/").status_code == 200


def test_a_table_that_is_not_there_is_not_found(dora: Client, hand: Hand) -> None:
    assert dora.get("/tables/999999/").status_code == 404
    assert dora.post("/tables/999999/input", bet(hand), **SCRIPT).status_code == 404  # type: ignore[arg-type]


def test_who_is_not_signed_in_is_asked_to(hand: Hand) -> None:
    client = Client()
    page = client.get(f"/tables/{hand.table.pk}/")
    assert page.status_code == 302
    assert page["Location"] == f"/sign-in/?next=/tables/{hand.table.pk}/"
    fragment = client.get(f"/tables/{hand.table.pk}/board", **SCRIPT)  # type: ignore[arg-type]
    assert fragment.status_code == 401
    assert "You are signed out." in text(fragment)
    assert "<html" not in text(fragment)
    assert enter(client, hand, bet(hand)).status_code == 401
    assert client.post(f"/tables/{hand.table.pk}/input", bet(hand)).status_code == 401


def test_who_is_deactivated_is_signed_out(dora: Client, hand: Hand) -> None:
    """Harm: a dealer who was dismissed deals on from the screen that is still open."""
    Staff.objects.filter(pk=hand.by.pk).update(is_active=False)
    assert enter(dora, hand, bet(hand)).status_code == 401


def test_a_board_that_is_gone_says_why_and_takes_nothing(dora: Client, hand: Hand) -> None:
    """Harm: a screen that was left open enters cards at a table that is another's by now, or goes on asking for bets at
    a table that was closed."""
    address, drawn = f"/tables/{hand.table.pk}/board", bet(hand)
    floor.relieve(hand.table, floor.staff(Role.DEALER, "rosa"))
    start = hand.now.seq
    for answer in (dora.get(address, **SCRIPT), enter(dora, hand, drawn)):
        assert 'data-gone="not_your_table"' in text(answer)
    assert hand.now.seq == start
    Hand(hand.table, Staff.objects.get(username="bella"))("close_table")
    assert 'data-gone="table_closed"' in text(dora.get(address, **SCRIPT))


def test_forms_of_other_sites_are_refused(hand: Hand) -> None:
    """Harm: a page of another site deals, or acts for the pit, in a signed-in browser."""
    client = floor.client(hand.by, enforce_csrf_checks=True)
    start = hand.now.seq
    assert enter(client, hand, bet(hand)).status_code == 403
    assert hand.now.seq == start


# --- Taking a table --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("badge", "agrees"), [("101", "dora"), ("201", "petra")])
def test_who_leaves_or_a_pit_boss_agrees_to_a_relief_in_mid_round(hand: Hand, badge: str, agrees: str) -> None:
    """Harm: a relief who comes by the list of tables cannot take over in mid-round; or the log does not name who deals,
    who dealt and who agreed."""
    floor.staff(Role.PIT_BOSS, "petra", "201")
    hand.bets(seat1=1_000)
    rosa = signed_in(floor.staff(Role.DEALER, "rosa"))
    address = f"/tables/{hand.table.pk}/take"
    asked = rosa.post(address)
    assert asked.status_code == 200
    assert "Relieve Dora at Rocket 1?" in text(asked)
    assert 'value="101"' in text(asked)
    assert who_deals(hand) == "dora"
    answer = rosa.post(address, {"relieves": "dora", "badge": badge, "pin": floor.PIN})
    assert answer["Location"] == f"/tables/{hand.table.pk}/"
    assert who_deals(hand) == "rosa"
    entry = LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")
    content = entry.content
    assert (content["relieves"], content["confirmed_by"]) == ("dora", agrees)
    assert proofs.verify(hand.table.book).fault is None
    assert hand.now.round_open


def test_nobody_else_gives_a_table_away(hand: Hand) -> None:
    """Harm: any dealer takes another's table in mid-round without an approval; or a wrong PIN shows who may approve."""
    rosa = signed_in(floor.staff(Role.DEALER, "rosa", "102"))
    floor.staff(Role.DEALER, "mia", "103")
    floor.staff(Role.CASHIER, "carmen", "301")
    hand.bets(seat1=1_000)
    wrong, others = (("101", "9999"), ("301", "9999"), ("999", floor.PIN)), ("102", "103", "301")
    for badge, pin in [*wrong, *((badge, floor.PIN) for badge in others)]:
        answer = rosa.post(f"/tables/{hand.table.pk}/take", {"relieves": "dora", "badge": badge, "pin": pin})
        assert answer.status_code == 403, badge
        assert ("Badge number or PIN is wrong." in text(answer)) is ((badge, pin) in wrong), badge
    assert who_deals(hand) == "dora"


def test_a_browser_that_is_no_terminal_deals_nothing(hand: Hand, settings: Any) -> None:
    """Harm: with a name and a password any browser in the world takes a table, and deals it."""
    phone = Client()
    phone.force_login(hand.by, backend="django.contrib.auth.backends.ModelBackend")
    refused = [
        phone.get(f"/tables/{hand.table.pk}/"),
        enter(phone, hand, bet(hand)),
        phone.post(f"/tables/{hand.table.pk}/leave"),
        phone.post(f"/api/tables/{hand.table.pk}/inputs/", api_bet(hand), content_type="application/json"),
    ]
    assert [answer.status_code for answer in refused] == [403] * 4
    phone.post("/sign-out/")
    assert who_deals(hand) == "dora"
    rosa = floor.staff(Role.DEALER, "rosa", "102")
    phone.force_login(rosa, backend="django.contrib.auth.backends.ModelBackend")
    taken = phone.post(f"/tables/{hand.table.pk}/take", {"relieves": "dora", "badge": "101", "pin": floor.PIN})
    assert "tables are dealt from terminals" in text(taken)
    assert who_deals(hand) == "dora"
    settings.DEALING_WITHOUT_TERMINAL = True
    phone.force_login(hand.by, backend="django.contrib.auth.backends.ModelBackend")
    assert enter(phone, hand, bet(hand)).status_code == 200


def test_a_terminal_for_one_table_deals_no_other_however_one_signed_in(hand: Hand) -> None:
    """Harm: the tablet that is screwed to Rocket 2 deals Rocket 1, for who is tapped in there."""
    other = floor.table("Rocket 2")
    Hand(other, Staff.objects.get(username="bella"))("open_table")
    bound = Client()
    bound.cookies["terminal"] = floor.terminal_cookie(hand.by, other)
    let_in = bound.post("/sign-in/", {"badge": "101", "pin": floor.PIN})
    assert let_in.status_code == 409
    assert "You deal at Rocket 1, and this terminal is for Rocket 2: tap out there" in text(let_in)
    by_name = {"username": "dora", "password": floor.PASSWORD}
    assert bound.post("/sign-in/?way=name", by_name).status_code == 302
    page = bound.get(f"/tables/{hand.table.pk}/")
    assert (page.status_code, "This terminal is for Rocket 2" in text(page)) == (403, True)
    assert enter(bound, hand, bet(hand)).status_code == 403
    assert (
        bound.post(f"/api/tables/{hand.table.pk}/inputs/", api_bet(hand), content_type="application/json").status_code
        == 409
    )
    listed = text(bound.get("/tables/"))
    assert ("Rocket 1</b>" in listed, "Rocket 2</b>" in listed) == (False, True)
    assert not hand.now.round_open
    assert LogEntry.objects.filter(book_id=hand.table.book_id, subject="round").count() == 0


def who_deals(hand: Hand) -> str | None:
    dealer = table_state.of(hand.table).dealer
    return dealer.username if dealer else None


def api_bet(hand: Hand) -> str:
    made = {"do": "bet", "seat": 1, "amount_cents": 1_000}
    return json.dumps({"key": str(uuid.uuid4()), "expected_seq": table_state.of(hand.table).seq, "input": made})


def test_it_asks_again_when_another_dealer_came_in_between(hand: Hand) -> None:
    """Harm: Rosa means to relieve Dora, and taps out Mia who has just done so."""
    rosa = signed_in(floor.staff(Role.DEALER, "rosa"))
    floor.relieve(hand.table, floor.staff(Role.DEALER, "mia"))
    asked = rosa.post(f"/tables/{hand.table.pk}/take", {"relieves": "dora"})
    assert "Relieve Mia at Rocket 1?" in text(asked)


def test_a_closed_table_is_not_offered(hand: Hand) -> None:
    closed = floor.table("Rocket 2")
    rosa = signed_in(floor.staff(Role.DEALER, "rosa"))
    page = text(rosa.get("/tables/"))
    assert f'action="/tables/{hand.table.pk}/take"' in page
    assert f'action="/tables/{closed.pk}/take"' not in page
    refused = rosa.post(f"/tables/{closed.pk}/take")
    assert refused.status_code == 409
    assert "Rocket 2 is closed: a pit boss has to open it." in text(refused)


# --- Inputs ----------------------------------------------------------------------------------------------------


def test_a_form_is_entered_once_and_its_key_is_for_no_other(dora: Client, hand: Hand) -> None:
    fields = bet(hand)
    start = hand.now.seq
    assert [enter(dora, hand, fields).status_code for _ in range(2)] == [200, 200]
    response = enter(dora, hand, fields | {"amount": "30"})
    assert response.status_code == 409
    assert "This key was used for another input" in text(response)
    assert hand.now.seq == start + 1


def test_each_rendering_has_a_key_of_its_own(dora: Client, hand: Hand) -> None:
    pages = [dora.get(f"/tables/{hand.table.pk}/").context["screen"].key for _ in range(2)]
    assert pages[0] != pages[1]


def test_a_form_drawn_before_the_latest_entry_is_refused_with_the_board_as_it_is(dora: Client, hand: Hand) -> None:
    fields = bet(hand)
    hand("bet", seat=2, amount_cents=3_000)
    response = enter(dora, hand, fields)
    assert response.status_code == 409
    assert "The table has moved on" in text(response)
    assert f'data-seq="{hand.now.seq}"' in text(response)
    assert 'data-refused="stale_sequence"' in text(response)


BAD: dict[str, dict[str, Any]] = {
    "nothing": {},
    "no key": {"key": "", "seat": "1", "amount": "20"},
    "a bad key": {"key": "8", "seat": "1", "amount": "20"},
    "no sequence number": {"seq": "", "seat": "1", "amount": "20"},
    "a negative sequence number": {"seq": "-1", "seat": "1", "amount": "20"},
    "a huge sequence number": {"seq": "9" * 30, "seat": "1", "amount": "20"},
    "figures of another script": {"seq": "٣", "seat": "1", "amount": "20"},
    "no seat": {"amount": "20"},
    "a seat that is none": {"seat": "x", "amount": "20"},
    "a seat beyond reason": {"seat": "9" * 40, "amount": "20"},
    "seat 0": {"seat": "0", "amount": "20"},
    "no amount": {"seat": "1", "amount": ""},
    "5": {"seat": "1", "amount": "5"},
    "a number of 400 figures": {"seat": "1", "amount": "1" * 400},
    "no JSON": {"input": "{"},
    "no input": {"input": "[]"},
    "an unknown input": {"input": {"do": "dance"}},
    "a card before the bets": {"input": {"do": "card", "rank": 5}},
    "closing the table": {"input": {"do": "close_table"}},
    "signing in again": {"input": {"do": "sign_in"}},
    "counts that are none": {f"count{rank}": "x" for rank in range(1, 11)},
    "counts that are not asked": {f"count{rank}": "1" for rank in range(1, 11)},
}


def test_a_forged_form_is_refused_with_a_sentence(dora: Client, hand: Hand) -> None:
    start = hand.now.seq
    for name, fields in BAD.items():
        for way in (SCRIPT, {}):
            response = dora.post(f"/tables/{hand.table.pk}/input", form(hand, **fields), **way)  # type: ignore[arg-type]
            assert 400 <= response.status_code < 500, name
            assert response.context["refused"].sentence.endswith((".", "!", "?")), name
            assert 'id="refused"' in text(response), name
    assert hand.now.seq == start


def test_a_key_that_is_no_step_has_its_reason(dora: Client, hand: Hand) -> None:
    """Harm: Enter or Backspace does nothing, and the dealer presses on until it does."""

    def screen() -> Any:
        return dora.get(f"/tables/{hand.table.pk}/").context["screen"]

    assert screen().why_no_step == "No bet yet."
    assert screen().why_no_step_back == "Nothing can be taken back now."
    hand.bets(seat1=1_000)
    assert screen().why_no_step == "A card is due: press its key."
    hand.cards(8, 9)
    assert screen().why_no_step == "Seat 1 decides: its card's key takes one, F fold for 8."
    hand.cards(8)
    assert screen().why_no_step_back == "Round 1 is settled: U asks to reopen it."


def test_names_are_never_markup(dora: Client, hand: Hand) -> None:
    Table.objects.filter(pk=hand.table.pk).update(name="<b>Rocket</b>")
    response = enter(dora, hand, bet(hand, "<script>alert(1)</script>"))
    assert "<b>Rocket</b>" not in text(response)
    assert "<script>alert" not in text(response)


def test_the_page_carries_no_style_or_script_of_its_own(dora: Client, hand: Hand) -> None:
    page = text(dora.get(f"/tables/{hand.table.pk}/"))
    assert " style=" not in page
    assert " onclick=" not in page
    assert "<style" not in page
    assert all("src=" in tag for tag in page.split("<script")[1:])


def test_a_board_costs_few_queries(dora: Client, hand: Hand, django_assert_max_num_queries: Any) -> None:
    hand.bets(seat1=2_000)
    table_state.cache.clear()
    with django_assert_max_num_queries(10):
        dora.get(f"/tables/{hand.table.pk}/board", **SCRIPT)  # type: ignore[arg-type]


# --- The next push -----------------------------------------------------------------------------------------------


@pytest.fixture
def in_string(hand: Hand) -> Hand:
    """Dora's table in string A, where Dan relieves her in a quarter of an hour."""
    floor.staff(Role.DEALER, "dan", "102")
    moment = timezone.now()
    change = LineUpChange(
        string="A", tables=(hand.table.name,), dealers=(hand.by.username, "dan"), turn_minutes=20,
        push_at=moment + timedelta(minutes=15), ends=moment + timedelta(hours=8),
    )  # fmt: skip
    line_ups.set_line_up(change, by=floor.staff(Role.PIT_BOSS, "bert", "209"), basis=Basis(0))
    return hand


def line_of(page: str) -> str:
    """The line about the next push, as it is read."""
    line = re.search(r'<p class="topline__push"[^>]*>(.*?)</p>', page)
    assert line is not None
    return line.group(1)


def test_the_dealer_reads_the_next_push_quietly(in_string: Hand, dora: Client) -> None:
    """Harm: a dealer does not know when the relief comes and where to go then, or a countdown hurries the hand."""
    clock = f"{timezone.localtime(line_ups.of_string('A').line_up.push_at):%H:%M}"
    line = f"Next push {clock}, relieved by Dan · then break"
    page = text(dora.get(f"/tables/{in_string.table.pk}/"))
    assert line_of(page) == line
    assert 'role="timer"' not in page
    assert line_of(text(dora.get(f"/tables/{in_string.table.pk}/board", **SCRIPT))) == line  # type: ignore[arg-type]
    assert line_of(text(dora.get(f"/tables/{in_string.table.pk}/next-push", **SCRIPT))) == line  # type: ignore[arg-type]


def test_a_dealer_in_a_string_enters_at_the_same_cost(in_string: Hand, dora: Client) -> None:
    """Harm: each input of a dealer in a string reads the line-ups, and the floor gets slower with the rotation."""
    enter(dora, in_string, form(in_string, seat="6", amount="20"))
    counts = [len(statements(dora, in_string, form(in_string, seat=str(seat), amount="20"))) for seat in range(1, 5)]
    assert set(counts) == {3}
    answer = text(enter(dora, in_string, form(in_string, seat="5", amount="20")))
    assert line_of(answer) == ""
    assert "data-keeps" in answer


def test_the_next_push_costs_few_queries_and_shows_no_other_table(
    in_string: Hand, dora: Client, django_assert_max_num_queries: Any
) -> None:
    """Harm: the screens of a thousand dealers read the line-ups of all strings each minute."""
    address = f"/tables/{in_string.table.pk}/next-push"
    dora.get(address)
    with django_assert_max_num_queries(7):
        dora.get(address, **SCRIPT)  # type: ignore[arg-type]
    with django_assert_max_num_queries(13):
        dora.get(f"/tables/{in_string.table.pk}/board", **SCRIPT)  # type: ignore[arg-type]
    assert floor.client(Staff.objects.get(username="dan")).get(address).status_code == 404


# --- Games for a pot -------------------------------------------------------------------------------------------


@pytest.fixture
def pot(db: None) -> tuple[Hand, Client]:
    """Dora deals Starboard; seats 1 and 2 have chips."""
    hand = floor.for_pot("starboard", seats={1: 5_000, 2: 5_000})[0]
    return hand, signed_in(hand.by)


def test_chips_are_bought_brought_and_cashed_by_one_form(pot: tuple[Hand, Client]) -> None:
    """Harm: what is typed for a seat's chips is taken for a bet, or for another seat's."""
    hand, dora = pot
    for fields in ({"seat": "3", "amount": "12"}, {"seat": "4", "amount": "1,000", "chips": "1"}):
        assert enter(dora, hand, form(hand, do="buy_in", **fields)).status_code == 200
    assert enter(dora, hand, form(hand, do="buy_in", seat="1", amount="7", off="1")).status_code == 200
    assert hand.now.stacks == {2: 5_000, 3: 1_200, 4: 100_000}


def test_the_seats_that_are_marked_are_dealt_in(pot: tuple[Hand, Client]) -> None:
    """Harm: a player who sits out pays an ante."""
    hand, dora = pot
    hand("buy_in", seat=6, amount_cents=5_000)
    assert enter(dora, hand, form(hand, deal="1", plays=["6", "1"])).status_code == 200
    assert hand.now.round is not None
    assert hand.now.round.opening.seats == (1, 6)


def test_a_wrong_form_between_games_is_refused_with_a_sentence(pot: tuple[Hand, Client]) -> None:
    """Harm: a wrong form gets the server's own error page, or moves chips by mistake."""
    hand, dora = pot
    before = hand.now.seq
    for fields, sentence in (
        ({"do": "buy_in", "seat": "1", "amount": "x"}, "no amount"),
        ({"do": "buy_in", "seat": "1", "amount": "9" * 40}, "plays with"),
        ({"do": "buy_in", "amount": "5"}, "Choose a seat first"),
        ({"do": "buy_in", "seat": "9" * 30, "amount": "5"}, "A seat is a number"),
        ({"deal": "1"}, "choose who plays"),
        ({"deal": "1", "plays": ["1", "x"]}, "A seat is a number"),
        ({"deal": "1", "plays": ["1", "5"]}, "Seat 5 has no chips"),
        ({"seat": "1", "amount": "20"}, "Start the next game first"),
    ):
        answer = enter(dora, hand, form(hand, **fields))
        assert answer.status_code in (400, 409, 422), fields
        assert sentence in text(answer), fields
    assert hand.now.seq == before
