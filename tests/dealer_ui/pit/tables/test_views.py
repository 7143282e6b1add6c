"""The pit's pages: who may see and do what, what they say, and that they cost the same however long a table's past."""

import csv
import io
import json
import uuid
from hashlib import sha256
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dealer_ui.pit.floor import cards as pit_floor
from dealer_ui.templatetags import pit
from ledger import alerts
from ledger.models import Acknowledgement, LogEntry
from tables.audit import downloads, round_steps
from tables.audit.round_list import RoundFilter
from tables.floor import recorder, shoes
from tables.models import Staff, Verification
from tables.roles import Role
from tables.state import table_state
from tests import floor, load
from tests.floor import Hand, dealt, for_pot
from tests.intruder import at_work
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

BACKEND = "django.contrib.auth.backends.ModelBackend"


def browser(user: Staff) -> Client:
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client


@pytest.fixture
@ready_made
def hands() -> tuple[Hand, Hand]:
    """A dealer and a pit boss at a table with two rounds behind it, the second corrected, and a third going on."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    dealer.bets(seat2=1_000)
    dealer.cards(9, 3)
    dealer.reopens()
    dealer.cards(8)
    dealer("choose", seat=2, choice="fold")
    dealer.bets(seat3=3_000)
    dealer.cards(6, 9)
    return dealer, boss


def text(who: Staff, name: str, *args: Any, query: str = "", status: int = 200) -> str:
    response = browser(who).get(reverse(f"pit:{name}", args=args) + query)
    assert response.status_code == status, response.content[:500]
    return " ".join(response.content.decode().split())


def download(who: Staff, name: str, *args: Any, query: str = "") -> tuple[Any, str]:
    """A streamed answer, read to its end."""
    response = browser(who).get(reverse(f"pit:{name}", args=args) + query)
    assert response.status_code == 200
    return response, load.whole(response).decode("utf-8-sig")


def table_of(who: Staff, name: str, *args: Any, query: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(download(who, name, *args, query=query)[1])))


# --- The floor ------------------------------------------------------------------------------------------------


def test_an_auditor_is_offered_nothing_to_do(hands: tuple[Hand, Hand]) -> None:
    alerts.raise_alert(hands[0].table.book, "negative", "Less than nothing")
    auditor = floor.staff(Role.AUDITOR, "aude")
    page = text(auditor, "floor")
    assert "Less than nothing" in page
    assert "/do/" not in page
    assert "/acknowledge" not in page
    sheet = text(auditor, "more", hands[0].table.pk)
    assert "/do/" not in sheet
    assert "/slips/begin/" not in sheet
    assert "/do/take-back/" in text(hands[1].by, "more", hands[0].table.pk)


def test_the_floor_says_what_is_going_on_at_each_table(hands: tuple[Hand, Hand]) -> None:
    _, boss = hands
    closed, waiting = floor.table("Rocket 2"), Hand(floor.table("Rocket 3"), boss.by)
    waiting("open_table")
    page = text(boss.by, "floor")
    for words in ("Seat 3 decides", "Closed", "Needs a dealer", closed.name, "Dora", "10–100"):
        assert words in page, words
    # Since the opening 16 and 8 were won and 50 paid; what should lie in the rack is for nobody who may count it.
    assert "−26" in page
    assert "8,974" not in page
    assert "<b>2</b> of 3" in page


def test_the_floor_says_each_step_of_a_shoe() -> None:
    made = floor.table()
    boss, dealer = Hand(made, floor.staff(Role.PIT_BOSS, "bella")), Hand(made, floor.staff(Role.DEALER, "dora", "101"))
    boss("open_table")
    recorder.sign_in(made, dealer.by)

    def state() -> str:
        return pit_floor.seen(boss.by)[0].state

    for words, do, facts in (
        ("Shoe to be loaded", "load_shoe", {}),
        ("Decks to be checked", "check_decks", {"counts": tuple(range(1, 11))}),
        ("Shoe to be shuffled", "shuffle_shoe", {}),
        ("Cut card to be placed", "place_cut_card", {}),
        ("Cards to be burned", "burn", {}),
        ("Bets are open", "bet", {"seat": 1, "amount_cents": 1_000}),
    ):
        assert state() == words
        dealer(do, **facts)
    dealer("bet", seat=2, amount_cents=1_000)
    dealer("close_bets")
    assert state() == "Card for seat 1"
    dealer.cards(5, 6)
    assert state() == "Card for dealer"
    dealer("cut_card_out")
    assert "Alert: Cut card out early" in text(boss.by, "floor")
    dealer.cards(3)
    assert state() == "Paying seat 2"


def test_the_floor_costs_the_same_queries_for_one_table_and_for_five(hands: tuple[Hand, Hand]) -> None:
    _, boss = hands
    client, url = browser(boss.by), reverse("pit:floor")
    client.get(url)  # a session is written once, and not again for a minute

    def cost() -> int:
        table_state.cache.clear()
        with CaptureQueriesContext(connection) as captured:
            assert client.get(url).status_code == 200
        return len(captured)

    one = cost()
    for number in range(2, 6):
        more = Hand(floor.table(f"Rocket {number}"), boss.by)
        more("open_table")
        alerts.raise_alert(more.table.book, "negative", f"Less than nothing at {number}")
    # The latest alert of each table is one query, and there is one already: a settled round was taken back.
    assert cost() == one


def test_rounds_today_begin_at_midnight_of_the_house(hands: tuple[Hand, Hand], settings: Any) -> None:
    settings.TIME_ZONE = "Pacific/Kiritimati"
    with timezone.override("Pacific/Kiritimati"):
        assert "<b>3</b>" in text(hands[1].by, "floor")


def test_acknowledging_takes_a_name_and_a_word(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    alert = alerts.raise_alert(dealer.table.book, "negative", "Less than nothing")
    client, url, line = browser(boss.by), reverse("pit:acknowledge"), {"alert": alert.pk}
    assert "Say in a few words" in client.post(url, line | {"note": "  "}, follow=True).content.decode()
    assert not Acknowledgement.objects.exists()
    answer = client.post(url, line | {"note": "recounted"}, follow=True).content.decode()
    assert "Acknowledged: Less than nothing" in answer
    again = client.post(url, line | {"note": "me too", "back": "alerts"}, follow=True).content.decode()
    assert "Somebody else acknowledged this before you: Less than nothing" in again
    assert (Acknowledgement.objects.get().by, Acknowledgement.objects.get().note) == ("bella Bella", "recounted")
    assert "Less than nothing" not in text(boss.by, "floor")
    assert "recounted" in client.get(reverse("pit:alerts"), {"state": "acknowledged"}).content.decode()
    nobodys = client.post(url, {"alert": 999, "note": "x"}, follow=True).content.decode()
    assert "none was chosen that you hear of" in nobodys


def test_a_message_from_the_log_is_text_and_never_markup(hands: tuple[Hand, Hand]) -> None:
    alerts.raise_alert(hands[0].table.book, "negative", "<script>alert(1)</script>")
    for name in ("floor", "alerts"):
        page = text(hands[1].by, name)
        assert "<script>alert(1)" not in page
        assert "&lt;script&gt;" in page


# --- One table ------------------------------------------------------------------------------------------------


def test_a_table_shows_its_rounds_newest_first(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    page = text(boss.by, "table", dealer.table.pk)
    links = [page.index(reverse("pit:round", args=[dealer.table.pk, number])) for number in (3, 2, 1)]
    assert links == sorted(links)
    assert "1 taken back" in page
    assert "+16" not in page  # the house's net of round 1 is 16 won less 50 paid
    assert "−34" in page
    assert "the log was not proved yet" in page.lower()
    Verification.objects.create(book=dealer.table.book, through_seq=7, head_hash=bytes(32), rounds=1, transfers=1)
    assert "proved through entry 7" in text(boss.by, "table", dealer.table.pk)
    older = text(boss.by, "rounds", dealer.table.pk, query="?through=2")
    assert ("/rounds/3/" in older, "/rounds/2/" in older) == (False, True)


def test_nonsense_in_the_query_asks_for_nothing(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    huge = "9" * 40
    for query in (
        f"?through={huge}&seat={huge}&day=0001-01-01",
        "?through=-1&day=9999-12-31",
        "?through=x&day=2026-99-99&seat=-1&outcome=%27;--&corrected=maybe",
    ):
        for name in ("table", "rounds"):
            text(boss.by, name, dealer.table.pk, query=query)
    text(boss.by, "round", dealer.table.pk, 1, query=f"?step={huge}")
    text(boss.by, "log", dealer.table.pk, query=f"?before={huge}&subject=nothing")


def test_rounds_are_found_by_day_seat_and_outcome(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    pk = dealer.table.pk
    today = timezone.localdate()
    assert "/rounds/3/" in text(boss.by, "rounds", pk, query=f"?day={today}")
    assert "up to that day" in text(boss.by, "rounds", pk, query="?day=2001-01-01")
    folded = text(boss.by, "rounds", pk, query="?outcome=fold")
    assert "/rounds/2/" in folded
    assert "/rounds/1/" not in folded
    assert "No round like that" in text(boss.by, "rounds", pk, query="?outcome=death_card")
    assert "/rounds/2/" in text(boss.by, "rounds", pk, query="?corrected=on")


def test_a_tables_page_costs_the_same_after_many_rounds(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    client, url = browser(boss.by), reverse("pit:table", args=[dealer.table.pk])

    def cost() -> int:
        client.get(url)
        with CaptureQueriesContext(connection) as captured:
            client.get(url)
        return len(captured)

    before = cost()
    dealer("choose", seat=3, choice="fold")
    for _ in range(3):
        dealer.bets(seat1=1_000)
        dealer.cards(9, 3)
        dealer.pay()
    assert cost() == before


def test_no_page_counts_or_skips_through_history(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    client, pk = browser(boss.by), dealer.table.pk
    with CaptureQueriesContext(connection) as captured:
        for name, args in (("floor", []), ("table", [pk]), ("log", [pk]), ("round", [pk, 1])):
            client.get(reverse(f"pit:{name}", args=args))
    about_history = [
        one["sql"] for one in captured if "ledger_logentry" in one["sql"] or "ledger_transfer" in one["sql"]
    ]
    assert about_history
    for sql in about_history:
        assert "OFFSET" not in sql
        # Void rounds are counted by an index that has no row for any other; pieces of a rack since its last count.
        assert "COUNT(" not in sql.upper() or "void.kind = 'voided'" in sql or "AS s (book, low, high)" in sql


def test_the_log_shows_words_and_short_hashes_and_whole_ones_on_demand(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    page = text(boss.by, "log", dealer.table.pk)
    entry = LogEntry.objects.get(book_id=dealer.table.book_id, seq=dealer.now.seq)
    digest = bytes(entry.hash).hex()
    assert f'<code title="{digest}">{digest[:10]}</code>' in page
    assert "Takes back entry" in page
    assert "Dora takes the table" in text(boss.by, "log", dealer.table.pk, query="?subject=dealer")


# --- One round ------------------------------------------------------------------------------------------------


def test_a_round_is_proved_as_it_is_shown(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    page = text(boss.by, "round", dealer.table.pk, 1)
    assert "Verified just now" in page
    assert "the 6 transfers follow from them" in page
    assert "pair of 8s: loses 8/10 of the bet" in page
    assert "python manage.py replay rocket-1-round-1.json" in page


def test_options_of_a_round_are_shown_in_words() -> None:
    """Harm: an auditor reads ('pair_plus',) or True where an option is meant."""
    options = (("pair_plus", "tie"), (), True, False, "dealer_pair", None)
    assert [pit.words(value) for value in options] == ["pair plus, tie", "none", "yes", "no", "dealer pair", ""]


@pytest.mark.django_db(transaction=True)
def test_a_round_that_was_tampered_with_says_so_and_still_opens(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    told = round_steps.story(dealer.table, 1)
    assert told is not None
    with at_work() as intruder:
        intruder("UPDATE ledger_transfer SET amount_cents = 1 WHERE seq = %s AND leg = 1", told.steps[-2].entry.seq)
        page = text(boss.by, "round", dealer.table.pk, 1)
        assert "This round does not hold" in page
        assert "Verified just now" not in page
    with at_work() as intruder:
        seq = told.steps[4].entry.seq
        intruder("UPDATE ledger_logentry SET body = '{' WHERE seq = %s", seq)
        assert "does not hold" in text(boss.by, "round", dealer.table.pk, 1)
        for query in ("", "?outcome=pair", "?seat=1", "?corrected=on", f"?day={timezone.localdate()}"):
            assert "/rounds/1/" in text(boss.by, "table", dealer.table.pk, query=query) or query == "?corrected=on"
        assert "does not replay" in text(boss.by, "table", dealer.table.pk)
        text(boss.by, "log", dealer.table.pk)


def test_a_step_shows_who_entered_it_and_how_it_is_chained(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    told = round_steps.story(dealer.table, 2)
    assert told is not None
    at = next(at for at, step in enumerate(told.steps, 1) if step.corrected_by)
    entry = told.steps[at - 1].entry
    page = text(boss.by, "round", dealer.table.pk, 2, query=f"?playback&step={at}")
    assert "<s>Dealer: 3</s>" in page
    assert f"Taken back by entry {told.steps[at - 1].corrected_by}" in page
    assert entry.hash.hex() in page
    assert entry.prev_hash is not None
    assert entry.prev_hash.hex() in page
    assert "101 Dora" in page
    assert "<html" not in page


def test_the_record_of_a_round_replays_from_the_command_line(
    hands: tuple[Hand, Hand], tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    dealer, boss = hands
    response = browser(boss.by).get(reverse("pit:record", args=[dealer.table.pk, 1]))
    assert response["Content-Disposition"] == 'attachment; filename="rocket-1-round-1.json"'
    path = tmp_path / "rocket-1-round-1.json"
    path.write_bytes(response.content)
    call_command("replay", str(path))
    assert json.loads(capsys.readouterr().out)["house_net"] == 1_600 - 5_000


def test_what_is_not_there_is_not_found(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    for number in (0, 4, 10**9):
        for name in ("round", "record", "steps-csv"):
            text(boss.by, name, dealer.table.pk, number, status=404)
    for name in ("table", "rounds", "log"):
        text(boss.by, name, 999, status=404)
    text(boss.by, "act", dealer.table.pk, "rob", status=404)
    text(boss.by, "act", 999, "take-back", status=404)


# --- Lists as files -------------------------------------------------------------------------------------------


def test_rounds_are_exported_whole_a_page_at_a_time(hands: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "ROUNDS_AT_ONCE", 2)
    dealer, boss = hands
    response, _ = download(boss.by, "rounds-csv", dealer.table.pk)
    assert response["Content-Disposition"] == 'attachment; filename="rocket-1-rounds.csv"'
    rows = table_of(boss.by, "rounds-csv", dealer.table.pk)
    assert [row["round"] for row in rows] == ["3", "2", "1"]
    assert (rows[2]["house_net_cents"], rows[2]["outcomes"]) == ("-3400", "1:pair 4:dealer_pair")
    assert (rows[0]["house_net_cents"], rows[0]["ended"]) == ("", "")
    only = table_of(boss.by, "rounds-csv", dealer.table.pk, query="?outcome=fold")
    assert [row["round"] for row in only] == ["2"]


def test_the_log_is_exported_so_that_anyone_can_check_its_hashes(
    hands: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "ENTRIES_AT_ONCE", 10)
    dealer, boss = hands
    rows = table_of(boss.by, "log-csv", dealer.table.pk)
    assert [int(row["entry"]) for row in rows] == list(range(dealer.now.seq, 0, -1))
    for row in rows:
        previous = bytes.fromhex(row["previous_hash"])
        assert sha256(previous + row["line"].encode()).hexdigest() == row["hash"]


def test_a_round_is_exported_with_its_transfers(hands: tuple[Hand, Hand]) -> None:
    rows = table_of(hands[1].by, "steps-csv", hands[0].table.pk, 1)
    assert [row["says"] for row in rows][:2] == ["Seat 1 bets 20", "Seat 4 bets 50"]
    assert [(row["from"], row["to"], row["amount_cents"]) for row in rows if row["transfer"] == "loss"] == [
        ("layout 1", "rack", "1600")
    ]


def test_alerts_are_exported_with_who_took_note(hands: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "ENTRIES_AT_ONCE", 1)
    dealer, boss = hands
    first = alerts.raise_alert(dealer.table.book, "negative", "=HYPERLINK(1)")
    alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    alerts.acknowledge(first, boss.by.signature, "+1")
    rows = table_of(boss.by, "alerts-csv")
    assert [row["message"] for row in rows[:2]] == ["The chips do not add up", "'=HYPERLINK(1)"]
    assert "which settled it" in rows[2]["message"]
    assert (rows[1]["acknowledged_by"], rows[1]["note"]) == ("bella Bella", "'+1")


# --- Running the floor ----------------------------------------------------------------------------------------


def form(hand: Hand, **changed: Any) -> dict[str, Any]:
    return {"key": str(uuid.uuid4()), "seq": hand.now.seq} | changed


def do(hand: Hand, deed: str, data: dict[str, Any], status: int = 302) -> str:
    response = browser(hand.by).post(reverse("pit:act", args=[hand.table.pk, deed]), data)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def test_the_pit_takes_back_a_settled_round_and_further_than_the_dealer_may(hands: tuple[Hand, Hand]) -> None:
    dealer, boss = hands
    dealer("choose", seat=3, choice="fold")
    assert "its transfers are reversed" in text(boss.by, "act", dealer.table.pk, "take-back")
    do(boss, "take-back", form(dealer))
    assert dealer.now.round_open
    assert "“Dealer: 9”" in text(boss.by, "act", dealer.table.pk, "take-back")
    do(boss, "take-back", form(dealer))
    do(boss, "take-back", form(dealer))
    assert dealer.now.round is not None
    assert len(dealer.now.round.plays) == 2
    corrections = LogEntry.objects.filter(book_id=dealer.table.book_id, kind="take_back").order_by("seq")
    assert [correction.by for correction in corrections][-3:] == ["bella Bella"] * 3


def test_the_pit_retires_a_shoe_only_between_rounds(hands: tuple[Hand, Hand]) -> None:
    """Harm: a shoe leaves the table in mid-round, or the pit has no page to retire it."""
    dealer, boss = hands
    before = dealer.now.seq
    assert "Finish the round first" in do(boss, "retire-shoe", form(dealer), 409)
    assert dealer.now.seq == before
    dealer("choose", seat=3, choice="fold")
    do(boss, "retire-shoe", form(dealer))
    assert dealer.now.shoe is None


def test_a_form_acts_once_and_only_on_the_state_that_it_shows(hands: tuple[Hand, Hand]) -> None:
    """Harm: a second press, or a page from before the last card, takes back an input that the pit boss never saw."""
    dealer, boss = hands
    sent = form(dealer)
    for _ in range(2):
        do(boss, "take-back", sent)
    after = dealer.now.seq
    assert after == sent["seq"] + 1
    stale = form(dealer, seq=sent["seq"])
    page = do(boss, "take-back", stale, 409)
    assert "has moved on since this screen was drawn" in page
    assert f'name="seq" value="{after}"' in page
    assert stale["key"] not in page
    for broken in ({}, form(dealer, key="x"), form(dealer, seq="x"), form(dealer, seq="1.5")):
        assert "This form was incomplete" in do(boss, "take-back", broken, 400)
    assert dealer.now.seq == after


# --- games for a pot ---------------------------------------------------------------------------------------------


def test_a_game_for_a_pot_is_shown_in_money_with_its_pot_and_rake() -> None:
    """Harm: the pit reads coins for money, or sees a dealer's hand where there is none."""
    dealer, boss = for_pot("starboard", seats={1: 1_000, 2: 1_000}, rake_permille=400, unit_cents=100)
    address = f"/pit/tables/{dealer.table.pk}/"
    client = Client()
    client.force_login(boss.by, backend=BACKEND)

    def page(under: str = "") -> str:
        response = client.get(address + under)
        assert response.status_code == 200
        return response.content.decode()

    assert "Pot <b>0</b>" in page()
    dealer("start_game")
    dealer.cards(4, 7, 9)
    assert "Pot <b>3</b>" in page()
    while not dealer.now.round.over:
        dealer("choose", seat=dealer.now.round.state.prompts[0].seat, choice="lock")
    assert "split" in page()
    told = page("rounds/1/")
    assert "The game starts at seats 1, 2" in told
    assert "Verified just now" in told
    assert "rake" in told
    assert "Pot" in page("rounds/1/?step=1&playback=")
    _, _, pages = downloads.ROUNDS.file(downloads.TableQuery(dealer.table, "", 1, RoundFilter(seat=1)))
    [[row]] = pages
    assert row[6:8] == [300, 100], "three coins were paid, one of them to the house"


def test_the_floor_has_words_for_whatever_a_table_waits_for() -> None:
    """Harm: one table waits for something that is rare, and nobody sees the floor while it does."""
    assert (
        shoes.SENTENCES.keys() | {"closed", "count", "locked", "dealer", "reader", "bets", "seats"}
        <= pit_floor.STATES.keys()
    )
