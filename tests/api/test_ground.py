"""What all operations have in common: refusals in one form, pages by cursor, keys of writes, nothing told too soon."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger import alerts
from ledger.models import LogEntry
from tables.approvals import proposals
from tables.models import KeptAnswer, LimitPlan, Staff
from tables.roles import Role
from tables.setup import policies
from tables.setup.dual_control import ProposalDraft
from tests import floor
from tests.api.conftest import Floor, note_case, problem
from tests.floor import CHIPS
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def send(by: Staff | Client, path: str, key: uuid.UUID | None = None, **body: Any) -> Any:
    """Send a write from the signatory's own terminal, or as an API client."""
    headers = {"Idempotency-Key": str(key or uuid.uuid4())}
    client = by if isinstance(by, Client) else floor.client(by)
    return client.post(f"/api/{path}", json.dumps(body), content_type="application/json", headers=headers)


# --- Refusals ----------------------------------------------------------------------------------------------------


def test_the_framework_refuses_in_the_same_form(house: Floor) -> None:
    """Harm: a client has a form for the house's refusals and none for the framework's."""
    caller = house.as_(house.boss.by)
    problem(caller.get("nowhere/"), 404, "not_found")
    problem(caller.get("tables/", accept="text/html"), 406, "not_acceptable")
    for method in ("put", "patch", "delete", "options"):
        answer = getattr(caller.client, method)("/api/tables/")
        problem(answer, 405, "method_not_allowed")
        assert "GET" in answer["Allow"]
    answer = house.as_(None).get("tables/")
    problem(answer, 401, "not_authenticated")
    assert answer["WWW-Authenticate"] == "Session, Bearer"


def test_what_is_asked_wrongly_is_named(house: Floor) -> None:
    """Harm: a filter that is spelled wrongly filters nothing, and the list is taken for the filtered one."""
    caller = house.as_(house.boss.by)
    assert "sate" in problem(caller.get("alerts/?sate=open"), 400, "bad_input")["detail"]
    assert problem(caller.get("alerts/?limit=0"), 400, "bad_input")["detail"].startswith("Limit: ")
    problem(caller.get("alerts/?text=a%00b"), 400, "bad_input")


def test_who_owes_a_new_password_is_told_so_and_not_led_to_a_page(house: Floor) -> None:
    """Harm: a program follows a redirect to a form, and takes the page for an answer."""
    caller = house.as_(house.boss.by)
    session = caller.client.session
    session["owes"] = "password"  # pragma: allowlist secret
    session.save()
    problem(caller.get("tables/"), 403, "password_due")


def test_whoever_asks_too_often_waits_and_a_dealer_does_not(house: Floor, settings: Any) -> None:
    """Harm: one program with a bug takes the processes that every table needs; or a limit makes a dealer wait."""
    settings.API_REQUESTS_A_MINUTE = 3
    caller = house.as_(house.boss.by)
    assert [caller.get("tables/").status_code for _ in range(3)] == [200] * 3
    refused = caller.get("tables/")
    problem(refused, 429, "throttled")
    assert refused["Retry-After"] == "60"
    dealer = house.as_(house.dealer.by)
    assert {dealer.get("tables/").status_code for _ in range(5)} == {200}


def test_a_pin_that_is_guessed_over_the_api_locks_the_badge_out_as_on_the_screens(
    house: Floor, terms: Callable[..., None]
) -> None:
    """Harm: a program guesses four-digit PINs at full speed through the API, where the screens would have locked the
    badge."""
    terms(lockout_failures=3)
    floor.staff(Role.PIT_BOSS, "bruno", "202")
    program = floor.client(house.dealer.by)
    ask: dict[str, Any] = {"table": house.table.pk, "series": "fill", "chips": [[10_000, 1]], "badge": "202"}
    guesses = [send(program, "slips/", **ask, pin=pin).json()["code"] for pin in ("9001", "9002", "9003", "9004")]
    assert guesses == ["wrong_credentials"] * 3 + ["locked_out"]
    problem(send(program, "slips/", **ask, pin=floor.PIN), 429, "locked_out")  # a correct PIN is no longer checked
    assert not LogEntry.objects.filter(book=house.table.book, subject="slip", kind="fill requested").exists()


# --- Pages -------------------------------------------------------------------------------------------------------


def ids(page: Any) -> list[int]:
    return [line["id"] for line in page.json()["items"]]


def test_a_page_neither_repeats_nor_leaves_out_what_was_written_meanwhile(house: Floor) -> None:
    """Harm: an alert that is raised while somebody pages pushes another one out of sight."""
    for number in range(5):
        alerts.raise_alert(house.table.book, "card_refused", f"Card {number}", {})
    caller = house.as_(house.auditor)
    page_1 = caller.get("alerts/?limit=2")
    alerts.raise_alert(house.table.book, "card_refused", "Meanwhile", {})
    page_2 = caller.get(f"alerts/?limit=2&cursor={page_1.json()['next']}")
    page_3 = caller.get(f"alerts/?limit=2&cursor={page_2.json()['next']}")
    listed = ids(page_1) + ids(page_2) + ids(page_3)
    assert listed == sorted(listed, reverse=True)
    assert len(set(listed)) == 5
    assert page_3.json()["next"] is None


def test_a_cursor_of_another_list_or_of_other_filters_is_refused(house: Floor) -> None:
    """Harm: a place in one list is taken for a place in another, and lines are skipped without a word."""
    for number in range(3):
        alerts.raise_alert(house.table.book, "card_refused", f"Card {number}", {})
    caller = house.as_(house.auditor)
    cursor = caller.get("alerts/?limit=1").json()["next"]
    problem(caller.get(f"slips/?cursor={cursor}"), 400, "bad_cursor")
    problem(caller.get(f"alerts/?state=all&cursor={cursor}"), 400, "bad_cursor")
    problem(caller.get(f"alerts/?cursor={cursor}x"), 400, "bad_cursor")
    problem(caller.get("tables/?cursor=1"), 400, "bad_cursor")


def test_a_cursor_that_a_client_stored_survives_an_upgrade(house: Floor) -> None:
    """Harm: each upgrade refuses the cursors that clients hold, and their imports begin again at the first page."""
    pk, caller = house.table.pk, house.as_(house.auditor)
    stored = {
        "tables/": (house.table.pk, 'list_tables {"retired":false}'),
        f"tables/{pk}/rounds/": (1, f"list_rounds {pk} {{}}"),
        "slips/": (9, 'list_slips {"series":"","state":"all"}'),
        "corrections/": ([2026, 1], 'list_corrections by number {"state":""}'),
        "proposals/": (7, 'list_proposals {"about":"","state":"waiting"}'),
    }
    for path, (place, name) in stored.items():
        cursor = signing.dumps(place, salt=f"tables.api.cursor {name}")
        with note_case(path):
            assert caller.get(f"{path}?cursor={cursor}").status_code == 200


def test_a_list_costs_no_query_a_line(house: Floor) -> None:
    """Harm: a floor of forty tables costs a program forty times what one costs."""
    paths = ("tables/", "slips/?state=waiting", "staff/on-duty/", "alerts/")
    caller = house.as_(house.auditor)

    def queries(path: str) -> int:
        caller.get(path)
        with CaptureQueriesContext(connection) as captured:
            assert caller.get(path).status_code == 200
        return len(captured)

    alerts.raise_alert(house.table.book, "card_refused", "At Rocket 1", {})
    before = {path: queries(path) for path in paths}
    for number in range(3, 6):
        table = floor.table(f"Rocket {number}")
        dealer = floor.staff(Role.DEALER, f"d{number}", f"60{number}")
        floor.Hand(table, house.boss.by)("open_table")
        floor.recorder.sign_in(table, dealer)
        floor.signs(table, floor.crew("requested"), floor.inputs.BeginSlip("fill", ((CHIPS[3][0], 1),)))
        alerts.raise_alert(table.book, "card_refused", f"At {table.name}", {})
    assert [path for path in paths if queries(path) > before[path] + 1] == []


def proposed_of_every_matter(house: Floor, number: int) -> None:
    """One proposal of each matter that waits for a second person, and one that stands and waits for a shoe."""
    omar = Staff.objects.filter(username="omar").first() or floor.staff(Role.OPERATOR, "omar", "302")
    table = floor.table(f"Table {number}")
    somebody = floor.staff(Role.PIT_BOSS, f"boss{number}")
    limit = {"max_cents": table.max_cents}
    for matter, about, before, after in (
        ("limits", table.name, limit, {"max_cents": 5_000}),
        ("staff", somebody.username, {"name": somebody.name}, {"name": "Another"}),
        ("pay_table", f"T{number} of rocket", {"version": 0}, {"game": "rocket", "name": f"T{number}"}),
        ("limit_plan", f"Plan {number}", {"version": 0}, {"version": 1}),
        ("chips", str(1_000_000 + number), {}, {"value_cents": 1_000_000 + number}),
        ("terms", f"part {number}", {"certificate_rounds": 1}, {"certificate_rounds": 2}),
        ("post", somebody.username, {"pits": []}, {"pits": ["A"]}),
        ("service_account", f"Display {number}", {}, {"purpose": "Shows"}),
        ("call_off", str(number), {}, {"called_off": number}),
    ):
        proposals.propose(ProposalDraft(matter, about, before, after), "", by=house.operator)
    shoe = {"seat_max_cents": 9_000, "takes": "shoe"}
    later = proposals.propose(ProposalDraft("pays", table.name, limit, shoe), "", by=house.operator)
    proposals.approve(later, by=omar)


def test_proposals_cost_no_query_each(house: Floor) -> None:
    """Harm: a house with many proposals asks as often for each of them, on the connections of its dealers."""

    def queries() -> tuple[int, int]:
        caller = house.as_(house.operator)
        caller.get("proposals/?state=all&limit=200")
        with CaptureQueriesContext(connection) as captured:
            answer = caller.get("proposals/?state=all&limit=200")
        return len(answer.json()["items"]), len(captured)

    proposed_of_every_matter(house, 1)
    rows, before = queries()
    assert rows == 10
    for number in (2, 3):
        proposed_of_every_matter(house, number)
    assert queries() == (30, before)


def test_what_has_not_changed_is_not_sent_again(house: Floor) -> None:
    """Harm: a display that asks every second is sent the whole floor every second; or sees what is past."""
    caller = house.as_(house.boss.by)
    tag = caller.get("tables/")["ETag"]
    assert caller.get("tables/", if_none_match=tag).status_code == 304
    house.dealer("bet", seat=1, amount_cents=1_000)
    assert caller.get("tables/", if_none_match=tag).status_code == 200


# --- Keys --------------------------------------------------------------------------------------------------------


def test_a_write_is_answered_again_and_done_once_and_its_key_takes_no_other(house: Floor) -> None:
    """Harm: an answer lost on the way makes a program propose, or take note, twice; or it is told that it failed."""
    for number in range(2):
        alerts.raise_alert(house.table.book, "card_refused", f"Card {number}", {})
    newest, second = ids(house.as_(house.auditor).get("alerts/"))
    key, boss = uuid.uuid4(), house.boss.by
    answers = [
        send(boss, "alerts/acknowledgements/", key, alerts=[newest], note="A wrong key").json() for _ in range(2)
    ]
    assert answers == [{"acknowledged": [newest], "before": []}] * 2
    problem(send(boss, "alerts/acknowledgements/", key, alerts=[second], note="A wrong key"), 409, "key_reused")
    # Another's key is another key.
    assert send(house.operator, "alerts/acknowledgements/", key, alerts=[second], note="Seen").status_code == 200


def test_a_write_that_was_refused_may_be_sent_again_under_its_key(house: Floor) -> None:
    """Harm: what was refused for a moment stays refused for two days."""
    key, boss = uuid.uuid4(), house.boss.by
    problem(send(boss, "alerts/acknowledgements/", key, alerts=[7_777], note="A wrong key"), 422, "no_alert")
    assert not KeptAnswer.objects.exists()
    alerts.raise_alert(house.table.book, "card_refused", "A card", {})
    [alert] = ids(house.as_(house.auditor).get("alerts/"))
    assert send(boss, "alerts/acknowledgements/", key, alerts=[alert], note="A wrong key").status_code == 200


def test_a_write_without_a_key_or_with_two_is_refused(house: Floor) -> None:
    """Harm: a write that cannot be sent again safely."""
    client = floor.client(house.boss.by)
    body = {"alerts": [1], "note": "Seen"}
    address = "/api/alerts/acknowledgements/"
    problem(client.post(address, json.dumps(body), content_type="application/json"), 400, "bad_input")
    payload = json.dumps(body | {"key": str(uuid.uuid4())})
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    problem(client.post(address, payload, content_type="application/json", headers=headers), 400, "bad_input")


def test_two_who_change_the_same_settings_are_told(house: Floor) -> None:
    """Harm: who saves last undoes without a word what somebody else decided."""
    address = f"tables/{house.neighbour.pk}/settings/"
    version = house.as_(house.operator).get(address).json()["version"]
    changed = send(house.operator, address, expected=version, changes={"min_cents": 2_000})
    assert changed.json()["min_cents"] == 2_000
    refused = problem(
        send(house.operator, address, expected=version, changes={"max_cents": 5_000}), 409, "changed_meanwhile"
    )
    assert refused["version"] == changed.json()["version"]


def test_a_plan_that_takes_two_people_is_proposed_and_done_by_the_second(house: Floor) -> None:
    """Harm: a program raises or takes off over the API what takes two people in the admin; or has no way to ask; or
    what it sends again after a lost answer is proposed twice."""
    floor.staff(Role.OPERATOR, "omar", "302")
    low = {"name": "Low", "scope": "house", "schedule": {"when": "always"}, "values": {"max_cents": 5_000}}
    facts = {"takes": "shoe", "keeps_seated": True}
    assert send(house.operator, "limit-plans/", expected_version=0, **low, **facts).json()["takes"] == "shoe"
    policies.change({"two_people": True, "two_people_limit_cents": 6_000}, by=house.operator)
    read_again()
    ending = low | {"expected_version": 1, "values": {}, "retired": True}
    key = uuid.uuid4()
    answers = [send(house.operator, "limit-plans/", key, **ending, comment="The season is over") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]
    proposal = answers[0].json()
    assert answers[1].json() == proposal
    assert answers[0]["Location"] == f"/api/proposals/{proposal['number']}/"
    assert proposal["matter"] == "limit_plan"
    assert (proposal["before"]["keeps_seated"], proposal["after"]["retired"]) == (True, True)
    assert not LimitPlan.objects.versions("Low").first().retired  # type: ignore[union-attr]
    problem(send(house.operator, f"proposals/{proposal['number']}/approval/"), 403, "not_permitted")
    omar = Staff.objects.get(username="omar")
    assert send(omar, f"proposals/{proposal['number']}/approval/").json()["outcome"] == "approved"
    assert LimitPlan.objects.versions("Low").first().retired  # type: ignore[union-attr]


def test_options_and_penetration_are_set_over_the_api_as_in_the_administration(house: Floor) -> None:
    """Harm: limits have an operation and the rules of a table have none; or one person changes what a table pays."""
    floor.staff(Role.OPERATOR, "omar", "302")
    address, operator = f"tables/{house.neighbour.pk}/settings/", house.operator

    def change(**body: Any) -> Any:
        version = house.as_(operator).get(address).json()["version"]
        return send(operator, address, expected=version, **body)

    before = house.as_(operator).get(address).json()["options"]
    changed = change(changes={"options": {"decks": 6}, "seats": 5}).json()
    assert changed["options"] == before | {"decks": 6}
    assert changed["seats"] == 5
    problem(change(changes={"options": {"decks": "six"}}), 422, "bad_settings")
    problem(change(changes={"options": {"colour": "red"}}), 422, "bad_settings")
    problem(change(changes={"source": "sleeve"}), 422, "bad_settings")
    shoe = change(changes={"options": {"decks": 8}}, takes="shoe", comment="From the next shoe on")
    assert (shoe.status_code, shoe.json()["after"]["takes"]) == (202, "shoe")
    version = house.as_(operator).get(address).json()["version"]
    proposal = {"expected": version, "changes": {"options": {"decks": 4}}, "comment": "Fewer"}
    problem(send(house.boss.by, f"tables/{house.neighbour.pk}/proposals/", **proposal), 403, "not_permitted")
    policies.change({"two_people": True}, by=operator)
    read_again()
    answer = change(changes={"max_cents": 900_000}, comment="A guest asks for more")
    assert (answer.status_code, answer.json()["matter"]) == (202, "limits")


# --- Nothing too soon --------------------------------------------------------------------------------------------


def test_a_count_in_progress_tells_nobody_what_is_due(house: Floor) -> None:
    """Harm: whoever counts second reads over the API what the first one counted, and what should be there."""
    clerk = floor.staff(Role.DEALER, "cleo", "109")
    chips = ((CHIPS[0][0], 8_999),)
    floor.signs(house.table, clerk, floor.inputs.BeginSlip("closer", chips))
    for viewer in (house.boss.by, house.dealer.by, house.auditor):
        page = floor.client(viewer).get("/api/slips/?state=waiting").json()
        [slip] = [line for line in page["items"] if line["series"] == "closer"]
        assert (slip["chips"], slip["total_cents"]) == ([], 0)
        assert (slip["expected_cents"], slip["variance_cents"]) == (None, None)
        assert "8999" not in json.dumps(page)
    figures = house.as_(house.boss.by).get("figures/").json()
    assert figures["unseen"] == ["Rocket 1"] or "Rocket 1" not in [
        line["name"] for line in figures["parts"][0]["tables"]
    ]


def test_whoever_may_count_the_cage_is_not_told_what_lies_there(house: Floor) -> None:
    """Harm: a blind count is written off the screen of a program."""
    cashier = floor.crew("issued")
    holdings = floor.client(cashier).get("/api/house/holdings/").json()
    assert holdings["cage"] is None
    assert floor.client(house.auditor).get("/api/house/holdings/").json()["cage"] is not None


def test_an_alert_says_how_often_its_condition_was_found_and_what_last(house: Floor) -> None:
    """Harm: ninety wrong counts are one alert, and an API client reads of one wrong count."""
    for seq, says in ((5, "59 tens"), (6, "58 tens")):
        alerts.raise_event(house.table.book, "deck_check_failed", says, {"cause": "shoe 1", "seq": seq})
    [alert] = house.as_(house.boss.by).get("alerts/").json()["items"]
    assert (alert["message"], alert["repeats"], alert["last_message"]) == ("59 tens", 1, "58 tens")
    assert alert["last_at"] > alert["at"]
