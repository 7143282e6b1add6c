"""The inbox of alerts: who sees which, where each leads, what stands together, what is found again."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dealer_ui.pit.alerts import links
from ledger import alerts
from ledger.models import Acknowledgement, Alert
from tables.alerts import alert_raising, inbox, rules_in_force
from tables.alerts.alert_types import ALERT_TYPES, Severity, sort_of
from tables.alerts.inbox import AlertFilter
from tables.alerts.rules import HEARERS
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def hands() -> tuple[Hand, Hand]:
    return dealt(options={"decks": 6})


def listed(who: Staff, **query: str) -> str:
    answer = floor.client(who).get(reverse("pit:alerts"), query)
    assert answer.status_code == 200
    return answer.content.decode()


def take(client: Client, **form: Any) -> str:
    return client.post(reverse("pit:acknowledge"), {"back": "alerts"} | form, follow=True).content.decode()


def raised(hand: Hand | None, kind: str, message: str, **evidence: Any) -> Alert:
    return alerts.raise_alert(hand.table.book if hand else None, kind, message, evidence)


def test_the_condition_in_the_database_says_the_same_as_the_rule(hands: tuple[Hand, Hand]) -> None:
    """Harm: somebody who is told of an alert, and does not find it; or who finds what was never theirs to see."""
    dealer, _ = hands
    raised(dealer, "negative", "By the rule for anything else")
    raised(None, "pin_reset", "By its own rule")
    raised(dealer, "large_bet", "By name", roles=["surveillance"], level=2)
    escalated = raised(dealer, "table_idle", "Escalated", roles=["pit_boss"], level=0)
    alerts.escalate(escalated, 1, 2, ["surveillance"])
    rules = rules_in_force.in_force()
    everything = list(alert_raising.with_steps(Alert.objects.order_by("pk")))
    for role in HEARERS:
        hears = [
            alert.pk
            for alert in everything
            if alert_raising.heard(alert, rules, alert.escalations.all()).is_heard_by(role)
        ]
        assert list(inbox.chosen(AlertFilter(hearer=role)).order_by("pk").values_list("pk", flat=True)) == hears


def test_each_sees_what_they_are_told_and_who_oversees_may_see_the_rest(hands: tuple[Hand, Hand]) -> None:
    """Harm: a pit boss reads what the surveillance is told of them; or an auditor cannot read it all."""
    dealer, boss = hands
    secret = raised(dealer, "large_bet", "For the surveillance alone", roles=["surveillance"], level=2)
    auditor, watcher = floor.staff(Role.AUDITOR, "aude"), floor.staff(Role.SURVEILLANCE, "vera", "801")
    assert "For the surveillance alone" not in listed(boss.by, hearer="")
    assert "For the surveillance alone" in listed(watcher)
    assert "For the surveillance alone" in listed(auditor)
    assert "For the surveillance alone" not in listed(auditor, hearer="pit_boss")
    with pytest.raises(Refused):
        inbox.acknowledge([secret.pk], "seen", by=boss.by)
    assert not Acknowledgement.objects.exists()


def test_an_alert_leads_to_where_it_happened(hands: tuple[Hand, Hand]) -> None:
    """Harm: an alert that names a round, and a pit boss who looks for it by hand."""
    dealer, boss = hands
    table = dealer.table.pk
    ways = {
        reverse("pit:discrepancies") + "#case-7": raised(dealer, "discrepancy", "a", discrepancy=7, entry=1),
        reverse("slips:slip", args=[table, "fill", 2026, 3]): raised(dealer, "fill", "b", slip="fill/2026/3"),
        reverse("slips:slip", args=[0, "keys", 2026, 3]): raised(None, "key_out", "c", slip="keys/2026/3"),
        reverse("pit:dispute", args=[table, 2]): raised(dealer, "opened", "d", dispute=2, round=1, seq=9),
        reverse("pit:round", args=[table, 1]) + "#entry-9": raised(dealer, "take_back", "e", round=1, seq=9),
        reverse("pit:log", args=[table]) + "?before=10#entry-9": raised(dealer, "locked", "f", seq=9),
        reverse("pit:table", args=[table]): raised(dealer, "negative", "g", place="rack"),
        reverse("pit:search") + "?table=house&entry=5": raised(None, "secret_reset", "h", of="dan", entry=5),
        reverse("pit:alert-channels"): raised(None, "not_delivered", "i", delivery=1),
        "": raised(None, "clocks_differ", "j"),
    }
    assert {links.address(alert, reads_house=True): alert for alert in ways.values()} == ways
    person = ways[reverse("pit:search") + "?table=house&entry=5"]
    assert links.address(person, reads_house=False) == reverse("pit:search") + "?person=dan"
    text = listed(boss.by)
    for address in (reverse("pit:dispute", args=[table, 2]), reverse("pit:round", args=[table, 1]) + "#entry-9"):
        assert f'href="{address}"' in text


def test_alike_alerts_are_a_line_and_taken_note_of_together(hands: tuple[Hand, Hand]) -> None:
    """Harm: three notes typed for one matter; or one note for two."""
    dealer, boss = hands
    elsewhere = floor.table("Rocket 2")
    first, second = (raised(dealer, "card_refused", f"A {rank} that cannot be") for rank in (4, 5))
    raised(Hand(elsewhere, boss.by), "card_refused", "At another table")
    raised(dealer, "discrepancy", "5 short", discrepancy=1)
    raised(dealer, "discrepancy", "7 short", discrepancy=2)
    text = listed(boss.by)
    lines = re.findall(r'name="alert" value="([\d ]+)" form="chosen"', text)
    assert f"{second.pk} {first.pk}" in lines
    assert len(lines) == 4, "each discrepancy is a matter of its own"
    answer = take(floor.client(boss.by), alert=f"{second.pk} {first.pk}", usual="Wrong key: keyed anew")
    assert "Acknowledged: 2 alerts" in answer
    assert {taken.note for taken in Acknowledgement.objects.all()} == {"Wrong key: keyed anew"}
    assert {taken.alert_id for taken in Acknowledgement.objects.all()} == {first.pk, second.pk}


def test_counters_count_lines_and_a_line_says_how_often_and_when_last(hands: tuple[Hand, Hand]) -> None:
    """Harm: "93 open alerts" above three lines, and a pit boss who looks for ninety others; or each screen of the floor
    reads thousands of rows, for a key that was pressed for hours."""
    dealer, boss = hands
    for seq in (5, 6, 7):
        evidence = {"cause": "shoe 1", "seq": seq}
        alerts.raise_event(dealer.table.book, "deck_check_failed", f"{seq} tens", evidence)
    raised(dealer, "card_refused", "A 4 that cannot be")
    raised(dealer, "card_refused", "A 5 that cannot be")
    text = " ".join(listed(boss.by).split())
    assert "2 open alerts" in text
    assert re.search(r"Again 2 times</b>, the last <time [^>]*>[\d:]+</time>: 7 tens", text)
    [row] = inbox.chosen(AlertFilter(kind="deck_check_failed"))
    assert (row.repeat_count, [repeat.says for repeat in row.newest_repeats]) == (2, ["7 tens"])  # type: ignore[attr-defined]
    floor_page = " ".join(floor.client(boss.by).get(reverse("pit:floor")).content.decode().split())
    assert re.search(r'id="strip-alerts".*?<b>2</b>', floor_page)


def test_what_came_long_before_is_another_line() -> None:
    """Harm: this morning's matter is signed away with tonight's."""
    late = Alert.objects.create(kind="negative", message="late", at="2026-11-22T20:00Z")
    late.refresh_from_db()
    before = Alert.objects.create(kind="negative", message="before", at=late.at - inbox.APART - timedelta(seconds=1))
    assert inbox.groups([late, before]) == [[late], [before]]


def test_filters_find_what_they_name_and_nonsense_finds_all(hands: tuple[Hand, Hand]) -> None:
    """Harm: an urgent alert that stands on page four."""
    dealer, boss = hands
    raised(dealer, "log_broken", "Urgent one")
    raised(dealer, "proposal_lapsed", "Only a notice")
    raised(None, "never_heard_of", "A kind that nobody named")
    assert re.findall(r"alert__open[^>]*>(Urgent|Only|A kind)", listed(boss.by, severity="urgent")) == ["Urgent"]
    assert re.findall(r"alert__open[^>]*>(Urgent|Only|A kind)", listed(boss.by, severity="attention")) == ["A kind"]
    assert re.findall(r"alert__open[^>]*>(Urgent|Only|A kind)", listed(boss.by, kind="log_broken")) == ["Urgent"]
    assert re.findall(r"alert__open[^>]*>(Urgent|Only|A kind)", listed(boss.by, text="NOTICE")) == ["Only"]
    at_table = listed(boss.by, table=str(dealer.table.pk))
    assert re.findall(r"alert__open[^>]*>(Urgent|Only|A kind)", at_table) == ["Only", "Urgent"]
    nonsense = listed(boss.by, severity="x", kind="x", day="x", before="x", state="x")
    assert re.findall(r"alert__open[^>]*>(Urgent|Only|A kind)", nonsense) == ["A kind", "Only", "Urgent"]


def test_what_was_acknowledged_is_found_by_whom_and_words(
    hands: tuple[Hand, Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a week later nobody can say who took note of an alert, and what it came to."""
    dealer, boss = hands
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    for number in range(3):
        alerts.acknowledge(raised(dealer, "negative", f"Less than nothing {number}"), olga.signature, "Counted again")
    alerts.acknowledge(raised(dealer, "negative", "Mine"), boss.by.signature, "A miscount")
    monkeypatch.setattr("dealer_ui.pit.alerts.inbox.HISTORY_PAGE", 2)
    page = listed(boss.by, state="acknowledged")
    assert re.findall(r"alert__open[^>]*>(Mine|Less than nothing \d)", page) == ["Mine", "Less than nothing 2"]
    assert "301 Olga" in page
    older = re.search(r'rel="next" href="\?(.*?)"', page)
    assert older is not None
    further = floor.client(boss.by).get(f"{reverse('pit:alerts')}?{older[1].replace('&amp;', '&')}").content.decode()
    assert re.findall(r"alert__open[^>]*>(Less than nothing \d)", further) == [
        "Less than nothing 1",
        "Less than nothing 0",
    ]
    mine = listed(boss.by, state="acknowledged", mine="on")
    assert re.findall(r"alert__open[^>]*>(Mine|Less)", mine) == ["Mine"]
    assert "Mine" in listed(boss.by, state="acknowledged", text="miscount")
    assert "Mine" not in listed(boss.by, state="acknowledged", day="2020-01-01")


def test_notes_that_were_used_come_before_those_that_are_usual(hands: tuple[Hand, Hand]) -> None:
    """Harm: a list of phrases that nobody on this floor says."""
    dealer, boss = hands
    for number in range(2):
        alerts.acknowledge(raised(dealer, "negative", f"{number}"), boss.by.signature, "The float was moved")
    alerts.acknowledge(raised(dealer, "negative", "Once"), boss.by.signature, "Said once")
    assert inbox.usual_notes(["negative"]) == {"negative": ["The float was moved", *sort_of("negative").notes]}


def test_a_longer_inbox_costs_no_more_queries(hands: tuple[Hand, Hand]) -> None:
    """Harm: a night with many alerts, and a page that asks once more for each of them."""
    dealer, boss = hands
    client = floor.client(boss.by)

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse("pit:alerts"))
        return len(captured)

    raised(dealer, "negative", "First")
    cost()
    few = cost()
    for number in range(12):
        raised(dealer if number % 2 else None, ["negative", "log_broken", "opened"][number % 3], f"More {number}")
    assert cost() == few


def test_every_kind_that_is_raised_by_name_says_how_pressing_it_is() -> None:
    """Harm: a new kind of alert that stands among the others as if it were any of them."""
    sources = "\n".join(path.read_text() for room in ("ledger", "tables") for path in Path(room).rglob("*.py"))
    named = set(re.findall(r'raise_(?:alert|event|lasting)\([^"]*?, "(\w+)"', sources))
    assert len(named) > 20
    assert named - set(ALERT_TYPES) == set()
    assert {sort.severity for sort in ALERT_TYPES.values()} == set(Severity)
