"""The log searched: what is found, by whom, page after page; and what of a game that goes on is found by nobody."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from ledger import alerts, log, site_log
from ledger.models import Book
from tables.refusals import Refused
from tables.reports import entry_list, gaming_hours, log_search
from tables.reports.log_search import Hit, LogQuery, PagePosition, search
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt, for_pot
from tests.load import whole as text_of
from tests.ready import ready_made

pytestmark = pytest.mark.django_db

Wants = dict[str, Any]


@pytest.fixture
@ready_made
def hands() -> tuple[Hand, Hand]:
    """Two rounds, one key of which was taken back."""
    dealer, boss = dealt(options={"decks": 6})
    for _ in range(2):
        dealer.bets(seat1=3_000)
        dealer.cards(8, 3)
        dealer.pay()
    dealer.bets(seat1=2_000)
    dealer.cards(9)
    dealer("take_back")
    return dealer, boss


def hits_of(*, whole: bool = True, **wants: Any) -> list[Hit]:
    return list(search(LogQuery(**wants), whole=whole).hits)


def lately() -> Wants:
    return {"since": timezone.now() - timedelta(hours=20), "with_rounds": True}


def every_entry(book: int) -> list[int]:
    return [entry.seq for entry in log.entries(book)]


def test_each_thing_that_is_named_narrows_what_is_found(hands: tuple[Hand, Hand]) -> None:
    """Harm: an entry that is there is not found, or another one is shown for it."""
    dealer, boss = hands
    pk, book = dealer.table.pk, dealer.table.book_id
    assert sorted(hit.entry.seq for hit in hits_of(table=pk)) == every_entry(book)[-50:]
    assert {hit.entry.subject for hit in hits_of(subject="slip")} == {"slip"}
    assert [hit.entry.kind for hit in hits_of(subject="round", kind="take_back", **lately())] == ["take_back"]
    assert {hit.entry.round for hit in hits_of(table=pk, round=2)} == {2}
    assert [hit.entry.seq for hit in hits_of(table=pk, entry=3)] == [3]
    assert {hit.entry.by for hit in hits_of(person="dora", **lately())} == {"101 Dora"}
    assert {hit.entry.by for hit in hits_of(person="101", **lately())} == {"101 Dora"}
    assert {hit.entry.by for hit in hits_of(person=boss.by.username)} == {boss.by.signature}
    assert [hit.entry.kind for hit in hits_of(text="takes back ENTRY", **lately())] == ["take_back"]
    at_the_seat = hits_of(seat=1, since=timezone.now() - timedelta(hours=20))
    assert {hit.entry.round for hit in at_the_seat} == {1, 2, 3}
    assert all("seat 1" in hit.says.casefold() for hit in at_the_seat)
    assert hits_of(seat=10, since=timezone.now() - timedelta(hours=20)) == []
    assert hits_of(until=timezone.now() - timedelta(days=1)) == []


def test_an_amount_is_found_where_it_moved_and_where_it_is_said(hands: tuple[Hand, Hand]) -> None:
    """Harm: 30 is looked for, and 300 is found; or 3, and every card that is a 3."""
    hits = hits_of(cents=3_000, subject="round", **lately())
    assert {hit.entry.round for hit in hits} == {1, 2}
    assert any(hit.entry.legs for hit in hits)
    assert any("bets 30" in hit.says for hit in hits)
    assert hits_of(cents=800, subject="round", **lately()) == []
    assert hits_of(cents=300, subject="round", **lately()) == []


def test_a_number_that_is_no_amount_is_not_found_as_one(hands: tuple[Hand, Hand]) -> None:
    """Harm: who looks for 1.00 reads every entry about shoe 1 and seat 1, and misses the one about the money."""
    dealer, _ = hands
    shoes = hits_of(table=dealer.table.pk, subject="shoe")
    assert shoes
    assert all("Shoe 1" in hit.says for hit in shoes)
    assert hits_of(table=dealer.table.pk, subject="shoe", cents=100) == []


def test_a_seat_and_an_amount_are_found_in_a_stored_text(hands: tuple[Hand, Hand]) -> None:
    """Harm: the alert about a large bet is not found by its seat or its amount, which only its message has."""
    dealer, _ = hands
    alerts.raise_alert(Book.objects.get(pk=dealer.table.book_id), "large_bet", "Large bet at Rocket 1: seat 4 bets 77")
    site_log.flush_queue()
    assert [hit.entry.subject for hit in hits_of(cents=7_700, **lately())] == ["alert"]
    assert [hit.entry.subject for hit in hits_of(seat=4, **lately())] == ["alert"]


def test_pages_join_without_gap_or_overlap(hands: tuple[Hand, Hand]) -> None:
    """Harm: an entry that stands between two pages, on neither."""
    Hand(floor.table("Rocket 2", options={"decks": 6}), hands[1].by)("open_table")
    places, before = [], None
    while True:
        page = search(LogQuery(), before=before, whole=True, count=7)
        places += [(hit.entry.book_id, hit.entry.seq) for hit in page.hits]
        if page.older is None:
            break
        before = PagePosition.read(str(page.older))
        assert before == page.older
    assert len(places) == len(set(places))
    assert set(places) == {(book.pk, seq) for book in Book.objects.all() for seq in every_entry(book.pk)}


def test_words_are_looked_for_so_far_and_the_page_says_how_far(
    hands: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a search that reads ten years of words in one request; or one that stopped and looks complete."""
    monkeypatch.setattr(log_search, "MOST_LOOKED_AT", 4)
    monkeypatch.setattr(log_search, "AT_ONCE", 4)
    query = LogQuery(text="no such words", table=hands[0].table.pk)
    page = search(query, whole=True)
    assert (page.hits, page.looked_at) == ([], 4)
    assert page.older is not None
    assert search(query, before=page.older, whole=True).looked_at == 4


def test_inputs_of_rounds_are_not_searched_without_an_end(hands: tuple[Hand, Hand]) -> None:
    """Harm: a word is looked for in every card that was ever dealt, and the house stands still meanwhile."""
    with pytest.raises(Refused) as refused:
        search(LogQuery(text="bets", with_rounds=True), whole=True)
    assert refused.value.code == "too_wide"
    assert "from when to when" in refused.value.sentence
    assert hits_of(text="bets", table=hands[0].table.pk, round=1)


def test_the_houses_own_book_is_for_those_who_may_read_it(hands: tuple[Hand, Hand]) -> None:
    """Harm: whoever runs the floor reads who was taken on and who was locked out."""
    assert hits_of(subject="staff")
    assert hits_of(in_house=True)
    assert hits_of(subject="staff", whole=False) == []
    assert hits_of(in_house=True, whole=False) == []
    assert {hit.table.name for hit in hits_of(whole=False) if hit.table} == {"Rocket 1"}


def test_of_a_game_that_goes_on_only_what_everyone_saw_is_found() -> None:
    """Harm: whoever searches the log for a card learns which seat holds it."""
    dealer, _ = for_pot("regent", seats=dict.fromkeys(range(1, 5), 5_000), source="house")
    dealer("start_game", seats=[1, 2, 3, 4])
    current = dealer.now.round
    assert current is not None
    assert current.secret
    assert not current.over
    told_of = {hit.entry.seq: hit.says for hit in hits_of(table=dealer.table.pk, round=current.number)}
    page = {entry.seq: sentence for entry, sentence in log_page(dealer.table.book_id)}
    assert told_of
    assert told_of == {seq: sentence for seq, sentence in page.items() if seq in told_of}


def log_page(book: int) -> list[tuple[Any, str]]:
    entries = entry_list.entries(book)
    return list(zip(entries, entry_list.in_words(book, entries), strict=True))


def test_a_search_asks_as_often_for_many_tables_as_for_one(hands: tuple[Hand, Hand]) -> None:
    """Harm: a search that gets slower with each table."""
    search(LogQuery(), whole=True)
    with CaptureQueriesContext(connection) as queries:
        search(LogQuery(), whole=True)
    for number in range(2, 6):
        Hand(floor.table(f"Rocket {number}", options={"decks": 6}), hands[1].by)("open_table")
    search(LogQuery(), whole=True)
    with CaptureQueriesContext(connection) as captured:
        search(LogQuery(), whole=True)
    assert len(captured) <= len(queries) <= 16


def test_nonsense_is_no_place() -> None:
    """Harm: an address that somebody changed by hand fails the server."""
    for text in ("", "x~y~z", "2026-11-22T10:00:00~1~2", "0001-01-01T00:00:00+00:00~1~2", "~~"):
        assert PagePosition.read(text) is None, text


# --- The page ----------------------------------------------------------------------------------------------------


def page_of(hand: Hand, status: int = 200, **query: Any) -> str:
    answer = floor.client(hand.by).get(reverse("pit:search"), query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def test_the_page_finds_and_links_to_the_entry_and_its_round(hands: tuple[Hand, Hand]) -> None:
    """Harm: what was found cannot be followed to where it happened."""
    dealer, boss = hands
    page = page_of(boss, text="takes back", rounds="on", since=f"{gaming_hours.day_of(timezone.now())}")
    assert f"/pit/tables/{dealer.table.pk}/rounds/3/" in page
    assert f"?table={dealer.table.pk}&amp;entry=" in page
    assert 'value="house"' not in page
    auditor = Hand(dealer.table, floor.staff(Role.AUDITOR, "ada"))
    assert "Dora works here now" in page_of(auditor, table="house", person="", subject="staff")


REFUSALS: list[tuple[Wants, str]] = [
    ({"amount": "a lot"}, "plain digits"),
    ({"since": "soon"}, "Write a time as"),
    ({"person": "x" * 101}, "at most 100"),
    ({"text": "bets", "rounds": "on"}, "from when to when"),
]


def test_what_cannot_be_searched_is_refused_in_words(hands: tuple[Hand, Hand]) -> None:
    """Harm: an empty list, of which nobody knows that the question was not understood."""
    for query, sentence in REFUSALS:
        assert sentence in page_of(hands[1], 422, **query)
    answer = floor.client(hands[1].by).get(reverse("pit:search-csv"), query)
    assert (answer.status_code, sentence in answer.content.decode()) == (422, True)


def test_what_is_found_is_a_file_too(hands: tuple[Hand, Hand]) -> None:
    """Harm: an auditor copies pages by hand."""
    client = floor.client(hands[1].by)
    rows = text_of(client.get(reverse("pit:search-csv"), {"subject": "slip"})).decode().splitlines()
    assert len(rows) == 1 + len(hits_of(subject="slip", whole=False))
    assert text_of(client.get(reverse("pit:search-csv"), {"subject": "slip", "as": "xlsx"})).startswith(b"PK")
