"""The pit's pages about disputes, corrections and mispays: who sees them, what they say, what their forms do."""

import csv
import io
import re
import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ledger import log
from ledger.log import Draft
from ledger.models import Alert
from tables.disputes import cases, correction_records
from tables.floor import recorder
from tables.floor.inputs import CloseDispute, OpenDispute, ProposeCorrection, RuleDispute, SignCorrection
from tables.models import Staff
from tables.roles import Role
from tests import floor, load
from tests.floor import Hand, dealt
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture(autouse=True)
def _nobody_tried() -> None:
    cache.clear()


@pytest.fixture
@ready_made
def felt() -> Hand:
    """Seat 1 won 20 in round 1, seat 4 folded for 20 of its 50."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 9)
    dealer("choose", seat=4, choice="fold")
    dealer.cards(10)
    dealer.pay()
    return dealer


@pytest.fixture
def boss() -> Staff:
    return Staff.objects.get(username="bella")


@pytest.fixture
def second() -> Staff:
    return floor.staff(Role.PIT_BOSS, "bruno", "201")


def sends(who: Staff, path: str, **form: Any) -> tuple[int, str]:
    """Send a form; the status, and where it leads or what it says is wrong."""
    answer = floor.client(who).post(path, {"key": str(uuid.uuid4())} | form)
    if answer.status_code == 302:
        return 302, answer["Location"]
    said = re.search(r'id="refused"[^>]*>.*?<span>(.*?)</span>', answer.content.decode(), re.DOTALL)
    return answer.status_code, said[1] if said else ""


def page(who: Staff, path: str) -> str:
    answer = floor.client(who).get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def rows(who: Staff, name: str) -> list[dict[str, str]]:
    """A streamed list, read as the server would send it."""
    answer = floor.client(who).get(reverse(f"pit:{name}"))
    return list(csv.DictReader(io.StringIO(load.whole(answer).decode("utf-8-sig"))))


def enter(hand: Hand, by: Staff, entered: Any) -> None:
    recorder.record(hand.table, entered, by=by, key=uuid.uuid4(), expected_seq=None)


def at(name: str, hand: Hand, *args: int) -> str:
    return reverse(f"pit:{name}", args=[hand.table.pk, *args])


def test_a_dispute_from_its_form_to_its_close(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a step for which there is no form, so that it is kept on paper beside the system."""
    claim = {"claimant": "Player at seat 1", "claim": "Not <paid>", "seat": 1, "claim_cents": "20"}
    assert sends(boss, at("open-dispute", felt, 1), **claim) == (302, at("dispute", felt, 1))
    one = at("dispute", felt, 1)
    assert sends(boss, one, do="note", heard="Dealer", text="Forgot") == (302, one)
    assert sends(boss, one, do="rule", ruling="player", reason="The camera") == (302, one)
    proposal = {"seat": 1, "handed_cents": "0", "reason": "Passed over", "dispute": 1}
    status, slip = sends(boss, at("correct", felt, 1), **proposal)
    assert status == 302
    assert sends(boss, slip, badge="201", pin=floor.PIN) == (302, slip)
    assert sends(boss, one, do="close") == (302, one)
    text = page(boss, one)
    assert "Not &lt;paid&gt;" in text
    assert "Unchanged since the dispute was opened" in text
    assert text.count("correction/") == 1
    for path in (at("round", felt, 1), reverse("pit:disputes"), slip):
        assert "Passed over" in page(boss, path)


def test_a_dealer_opens_a_dispute_at_the_table_and_the_pit_hears_of_it(felt: Hand) -> None:
    """Harm: a player who is told to wait until somebody with another screen comes by."""
    path = reverse("dealer:dispute", args=[felt.table.pk])
    assert "Round 1 as the log has it" in page(felt.by, path)
    claim = {"claimant": "Seat 4", "claim": "I said hit", "seat": 4, "round": 1}
    assert sends(felt.by, path, **claim) == (302, reverse("dealer:screen", args=[felt.table.pk]))
    dispute = cases.listed(9)[0][0].dispute
    assert (dispute.round, dispute.seat, dispute.opened_by) == (1, 4, "101 Dora")
    assert Alert.objects.filter(message__contains="dispute 1 was opened by Dora").exists()
    assert floor.client(floor.staff(Role.DEALER, "dan", "102")).get(path).status_code == 403


def test_a_form_says_what_is_wrong_and_keeps_what_was_typed(felt: Hand, boss: Staff) -> None:
    """Harm: a pit boss with a player before them, who types it all again."""
    path, client = at("correct", felt, 1), floor.client(boss)
    for form, status, sentence in (
        ({"handed_cents": "x"}, 422, "Write an amount in plain digits"),
        ({"handed_cents": "20"}, 422, "Seat 1 got +20, which is what is due."),
        ({"handed_cents": "0", "seat": "one"}, 422, "Choose the seat from the list."),
        ({"handed_cents": "0", "key": "mine"}, 400, "This form was incomplete"),
    ):
        answer = client.post(path, {"key": str(uuid.uuid4()), "seat": "1", "reason": "x"} | form)
        text = answer.content.decode()
        assert (answer.status_code, sentence in text) == (status, True), sentence
        assert f'value="{form["handed_cents"]}"' in text
    assert correction_records.of() == []


def test_a_signature_needs_the_pin_of_somebody_else(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a screen that was left open signs for whoever passes by."""
    enter(felt, boss, ProposeCorrection(1, 1, 0, "Passed over"))
    slip = at("correction", felt, *map(int, correction_records.of()[0].correction.slip.split("/")[1:]))
    assert "both are digits" in sends(boss, slip)[1]
    assert sends(boss, slip, badge="201", pin="9999")[0] in (401, 403, 422)
    assert sends(boss, slip, badge="101", pin=floor.PIN)[0] == 403
    assert correction_records.of()[0].state == "proposed"
    assert sends(boss, slip, badge="201", pin=floor.PIN, do="decline", reason="No")[0] == 302
    assert correction_records.of()[0].state == "declined"


def test_who_only_looks_sees_no_form(felt: Hand, boss: Staff) -> None:
    """Harm: an auditor who rules."""
    auditor = floor.staff(Role.AUDITOR, "ada")
    enter(felt, boss, OpenDispute(1, "x", "y"))
    assert "<form" not in page(auditor, at("dispute", felt, 1)).split("<main", 1)[1]
    assert "Open a dispute" not in page(auditor, at("round", felt, 1))
    assert sends(auditor, at("dispute", felt, 1), do="note", heard="x", text="y")[0] == 403


def test_the_lists_have_everything_and_open_ones_first(felt: Hand, boss: Staff, second: Staff) -> None:
    """Harm: a dispute that is in no list, or one that a spreadsheet runs as a formula."""
    enter(felt, boss, OpenDispute(1, "=1+1", "Seat 1", seat=1, claim_cents=50_000))
    enter(felt, boss, RuleDispute(1, "stands", "x"))
    enter(felt, boss, CloseDispute(1))
    enter(felt, boss, OpenDispute(1, "another", "Seat 4"))
    enter(felt, boss, ProposeCorrection(1, 1, 0, "Passed over"))
    enter(felt, second, SignCorrection(correction_records.of()[0].correction.slip))
    listed = rows(boss, "disputes-csv")
    assert [(one["dispute"], one["claim"], one["state"], one["reportable"]) for one in listed] == [
        ("2", "another", "opened", "no"),
        ("1", "'=1+1", "closed", "yes"),
    ]
    (made,) = rows(boss, "corrections-csv")
    assert (made["difference_cents"], made["booked_as_over_cents"], made["ended_by"]) == ("2000", "2000", "201 Bruno")
    text = page(boss, reverse("pit:disputes"))
    assert text.index("another") < text.index("=1+1")


def test_the_finder_names_the_round(felt: Hand, boss: Staff) -> None:
    """Harm: an amount that nobody can type, or a page that says nothing."""
    path = at("mispays", felt)
    assert "Say by how much" in page(boss, path)
    assert "Seat 1 was paid twice." in page(boss, f"{path}?variance=%E2%88%9220")
    assert "Seat 1 was not paid." in page(boss, f"{path}?variance=20")
    assert "No single mistake" in page(boss, f"{path}?variance=0.37")
    assert "Write an amount" in page(boss, f"{path}?variance=twenty")
    assert "0 rounds" in page(boss, f"{path}?variance=20&since=999999&through=1")


def test_an_entry_that_no_table_wrote_closes_no_page(felt: Hand, boss: Staff) -> None:
    """Harm: one forged line, and nobody sees the disputes of the floor."""
    enter(felt, boss, OpenDispute(1, "An honest claim", "Seat 1"))
    forgeries: list[dict[str, Any]] = [{}, {"dispute": 7, "open": 3}, {"dispute": {"number": 1}, "open": [{}]}]
    for subject in ("dispute", "correction"):
        for content in forgeries:
            with transaction.atomic():
                log.append(log.lock(felt.table.book_id), Draft(subject, "opened", "x", content))
    assert "An honest claim" in page(boss, reverse("pit:disputes"))
    assert "An honest claim" in page(boss, at("round", felt, 1))


def test_disputes_cost_a_round_page_the_same_queries(felt: Hand, boss: Staff) -> None:
    """Harm: a page that asks once more for each claim."""

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as asked:
            page(boss, path)
        return len(asked)

    paths = (at("round", felt, 1), reverse("pit:disputes"))
    enter(felt, boss, OpenDispute(1, "x", "y"))
    before = [queries(path) for path in paths]
    for _ in range(3):
        enter(felt, boss, OpenDispute(1, "x", "y"))
    assert [queries(path) for path in paths] == before
    assert len(cases.cases()) == 4


def test_who_rules_and_who_audits_sees_what_each_ruling_is_worth(felt: Hand, boss: Staff) -> None:
    """Harm: a ruling without its price; or a number about the shoe for somebody who has no business with it."""
    enter(felt, boss, OpenDispute(1, "Not paid", "Player at seat 4", seat=4, claim_cents=500))
    path = at("dispute", felt, 1)
    said = page(boss, path)
    assert "What each ruling is worth" in said
    for words in ("Back to before entry", "For the player, by what is at stake", "The round is void"):
        assert words in said
    assert "−20</b>" in said, "seat 4 folded for the 4: as it stands"
    assert "−15</b>" in said, "and with 5 more"
    moments = re.findall(r"\?before=(\d+)", said)
    assert f"Back to before entry {moments[0]}, and on" in page(boss, f"{path}?before={moments[0]}")
    assert "What each ruling is worth" in page(floor.staff(Role.AUDITOR, "ada"), path)
    assert "What each ruling is worth" not in page(floor.staff(Role.OPERATOR, "otto"), path)
    assert floor.client(felt.by).get(path).status_code == 403


def test_what_a_ruling_is_worth_is_told_of_games_on_standard_cards(db: None) -> None:
    """Harm: a ruling at half of the house's tables without its price, or without what the price takes for granted."""
    cache.clear()
    dealer, _ = dealt(name="Table 1", game="casino_war", options={"decks": 2, "spread": []}, seats=3)
    dealer.bets(seat1=2_000, seat3=1_000)
    dealer.cards("9", "4", "9")
    dealer("choose", seat=1, choice="war")
    enter(dealer, boss := Staff.objects.get(username="bella"), OpenDispute(1, "I gave up", "Seat 1", seat=1))
    shown = page(boss, at("dispute", dealer, 1))
    assert "A seat that ties goes to war." in shown
    assert "Play goes on" in shown
    assert "−10</b>" in shown, "seat 3 has lost"
    assert "−100 %" in shown, "what was put up before the cards, without the raise"


@pytest.mark.parametrize(
    ("handed_cents", "is_counted", "sentence"),
    [
        (0, False, "+20 over"),
        (4_000, False, "−20 short"),
        (4_000, True, "nothing: a count of the rack had taken it over already"),
        (2_000, True, "nothing: what was handed over is what the ledger says, so the rack was right"),
    ],
)
def test_a_slip_says_what_was_booked_for_the_rack_and_why(
    felt: Hand, boss: Staff, second: Staff, handed_cents: int, is_counted: bool, sentence: str
) -> None:
    """Harm: a signed and printed slip that names a count which nobody ever made."""
    enter(felt, boss, OpenDispute(1, "A double", "Seat 1", seat=1, claim_cents=3_000))
    enter(felt, boss, RuleDispute(1, "player", "The camera"))
    if is_counted:
        floor.counted(Hand(felt.table, boss), "rack", over_cents=2_000 - handed_cents)
    enter(felt, boss, ProposeCorrection(1, 1, handed_cents, "A double", due_cents=5_000, dispute=1))
    slip = correction_records.of()[0].correction.slip
    enter(felt, second, SignCorrection(slip))
    text = page(boss, at("correction", felt, *map(int, slip.split("/")[1:])))
    booked = re.search(r"Booked for the rack</dt><dd>(.*?)</dd>", text)
    assert booked is not None
    assert booked[1] == sentence


@pytest.mark.parametrize(
    ("ruling", "asked", "handed", "due"),
    [
        ("player", "", "20", "25"),
        ("player", "&handed=otherwise", "15", ""),
        ("house", "", "20", "15"),
        ("house", "&handed=otherwise", "25", ""),
        ("void", "", "20", "0"),
    ],
)
def test_a_correction_begins_with_the_seat_and_amounts_of_its_ruling(
    felt: Hand, boss: Staff, ruling: str, asked: str, handed: str, due: str
) -> None:
    """Harm: the chips of a ruling about seat 1 are paid to the seat that somebody remembers."""
    enter(felt, boss, OpenDispute(1, "5 more", "Seat 1", seat=1, claim_cents=500))
    enter(felt, boss, RuleDispute(1, ruling, "The camera"))
    assert f"{at('correct', felt, 1)}?dispute=1" in page(boss, at("dispute", felt, 1))
    text = page(boss, f"{at('correct', felt, 1)}?dispute=1{asked}")
    assert re.findall(r'name="seat" value="(\d)" required checked', text) == ["1"]
    assert re.search(r'name="handed_cents".*?value="(.*?)"', text)[1] == handed  # type: ignore[index]
    assert re.search(r'name="due_cents".*?value="(.*?)"', text)[1] == due  # type: ignore[index]
    assert "Dispute 1: " in re.search(r"<option[^>]*selected>(.*?)</option>", text)[1]  # type: ignore[index]


def test_a_round_opens_with_what_can_be_done_about_it(felt: Hand, boss: Staff) -> None:
    """Harm: a player waits while somebody scrolls past a hundred transfers for the button of a dispute."""
    text = page(boss, at("round", felt, 1)).split("<main", 1)[1]
    places = [
        text.index(words)
        for words in (
            "Open a dispute",
            "Correct a payment",
            "Verified just now",
            ">Results<",
            "playback__now",
            ">Transfers<",
        )
    ]
    assert places == sorted(places)
    assert "<details" in text[: text.index(">Transfers<")][-120:], "folded, and counted"
