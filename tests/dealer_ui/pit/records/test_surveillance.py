"""The surveillance's bookmarks and deep links: who sees them, where they lead, and who never waits for them."""

from datetime import timedelta
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone

from ledger import alerts, findings, site_log
from ledger.models import HOUSE, Book, Bookmark, LogEntry, Notice
from tables.alerts import bookmarks
from tables.audit import row_comparison
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import table_settings
from tests import floor
from tests.database import as_owner
from tests.floor import Hand, dealt
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def felt() -> Hand:
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    return dealer


@pytest.fixture
def vera() -> Staff:
    return floor.staff(Role.SURVEILLANCE, "vera", "801")


def page(who: Staff, path: str) -> str:
    answer = floor.client(who).get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_moment_is_marked_from_its_round_and_found_again(felt: Hand, vera: Staff) -> None:
    """Harm: a dispute a week later, and hours of tape."""
    table_settings.change_table(felt.table, {"cameras": "C-12"}, by=floor.staff(Role.OPERATOR, "olga", "301"))
    path = reverse("pit:round", args=[felt.table.pk, 1])
    step = LogEntry.objects.filter(book=felt.table.book, round=1).order_by("seq")[2]
    shown = page(vera, f"{path}?step=3")
    assert "Bookmark this moment" in shown
    assert 'value="C-12"' in shown
    form = {"round": "1", "moment": step.at.isoformat(), "note": "Seat 4 moves a chip", "camera": "C-12"}
    answer = floor.client(vera).post(reverse("pit:bookmark", args=[felt.table.pk]), form)
    assert answer["Location"].startswith(path)
    row = Bookmark.objects.get()
    assert (row.round, row.moment, row.note, row.camera) == (1, step.at, "Seat 4 moves a chip", "C-12")
    listed = page(vera, reverse("pit:bookmarks"))
    assert "Seat 4 moves a chip" in listed
    found = page(vera, f"{path}?t={quote(step.at.isoformat())}")
    assert f'id="entry-{step.seq}"' in found
    assert 'data-step="3" data-last' in found


def test_only_surveillance_and_auditors_see_a_bookmark(felt: Hand, vera: Staff) -> None:
    """Harm: a person under surveillance reads what was observed, on the page of a round or in the log."""
    bookmarks.mark(felt.table, timezone.now() - timedelta(seconds=5), "Palms a chip", by=vera, round=1)
    entry = LogEntry.objects.get(book__name=HOUSE, subject="bookmark")
    assert set(entry.content) == {"number", "at", "by", "bookmark_sha256"}
    assert "Palms" not in str(entry.content)
    for role in (Role.PIT_BOSS, Role.OPERATOR):
        round_page = page(floor.staff(role, f"x.{role}"), reverse("pit:round", args=[felt.table.pk, 1]))
        assert "Palms" not in round_page
        assert "Bookmark this moment" not in round_page
    assert "Palms a chip" in page(floor.staff(Role.AUDITOR, "aude"), "/pit/bookmarks/")
    with pytest.raises(Refused, match="Only the surveillance"):
        bookmarks.mark(felt.table, timezone.now(), "x", by=floor.staff(Role.AUDITOR, "ada"))


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_a_bookmark_and_its_row_is_held_against_the_log(
    felt: Hand, vera: Staff, superuser_connection: psycopg.Connection
) -> None:
    """Harm: a bookmark that stops the house's book; or one that somebody rewrites when the case comes to court."""
    with superuser_connection.transaction():
        superuser_connection.execute("SELECT 1 FROM ledger_book WHERE name = 'house' FOR NO KEY UPDATE")
        bookmarks.mark(felt.table, timezone.now() - timedelta(seconds=5), "Palms a chip", by=vera)
    assert Notice.objects.filter(subject="bookmark").count() == 1
    site_log.flush_queue()
    assert list(findings.wrong(findings.BOOKMARKS, 0, 9)) == []
    with as_owner(), connection.cursor() as cursor:
        cursor.execute("UPDATE ledger_bookmark SET note = 'Scratches his hand'")
    with transaction.atomic():
        assert any(fault.startswith("bookmark ") for fault in row_comparison.compare().faults)


def test_a_bookmark_that_says_nothing_is_refused(felt: Hand, vera: Staff) -> None:
    """Harm: a list of moments of which nobody knows what they were for."""
    now = timezone.now()
    for note, camera, sentence in (
        ("", "", "what is to be seen"),
        ("x" * 501, "", "what is to be seen"),
        ("x", "C" * 81, "camera"),
    ):
        with pytest.raises(Refused, match=sentence):
            bookmarks.mark(felt.table, now, note, camera=camera, by=vera)
    with pytest.raises(Refused, match="still to come"):
        bookmarks.mark(felt.table, now + timedelta(hours=1), "x", by=vera)


def test_a_moment_leads_to_the_round_and_entry_nearest_to_it(felt: Hand, vera: Staff) -> None:
    """Harm: a camera's time, and nobody who can say which round that was."""
    entry = LogEntry.objects.filter(book=felt.table.book, round=1).order_by("seq")[3]
    path = reverse("pit:moment", args=[felt.table.pk])
    client = floor.client(vera)
    asked = (entry.at + timedelta(microseconds=1)).isoformat().replace("+00:00", "Z")
    answer = client.get(path, {"t": asked})
    assert answer["Location"] == f"{reverse('pit:round', args=[felt.table.pk, 1])}?t={quote(asked)}#entry-{entry.seq}"
    first = LogEntry.objects.filter(book=felt.table.book).order_by("seq")[0]
    answer = client.get(path, {"t": (first.at - timedelta(hours=1)).isoformat()})
    assert answer["Location"].endswith(f"#entry-{first.seq}")
    for nonsense in ("", "yesterday", "9999-99-99T00:00:00Z", "0001-01-01T00:00:00Z"):
        assert client.get(path, {"t": nonsense}).status_code == 404


def test_alerts_are_shown_to_those_who_hear_of_them_with_their_level_in_a_word(felt: Hand, vera: Staff) -> None:
    """Harm: what was to be told to the surveillance alone stands on the pit's wall; or a level that is a colour."""
    book = Book.objects.get(pk=felt.table.book_id)
    told = {"cause": "seat 1", "level": 2, "roles": ["surveillance"]}
    alert, _ = alerts.raise_for(book, "corrections_streak", "4 take-backs of Dora", told, once=False)
    boss, auditor = Staff.objects.get(username="bella"), floor.staff(Role.AUDITOR, "aude")
    assert "4 take-backs of Dora" not in page(boss, "/pit/")
    for who in (vera, auditor):
        shown = page(who, "/pit/")
        assert "4 take-backs of Dora" in shown
        assert "Surveillance</p>" in shown
        assert "severity--attention" in shown
    alerts.escalate(alert, 1, 2, ["pit_boss"])
    assert "Escalated" in page(boss, "/pit/")
