"""One successful call of each operation: the description is held against it, and its example is from here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.test import Client
from django.utils import timezone

from ledger import alerts
from tables.log.entries.pits import PitSectionSet
from tables.models import Staff
from tables.reports import gaming_hours
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
from tables.setup import pits, service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor
from tests.api.conftest import Floor


@dataclass
class Walk:
    """A house that is walked through, and what was sent and answered under the name of each operation."""

    house: Floor
    boss: Staff
    """Who signs by badge and PIN, too."""
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)

    def get(self, operation: str, by: Staff, path: str) -> Any:
        """Read something."""
        answer = floor.client(by).get(f"/api/{path}")
        return self._noted(operation, None, answer)

    def post(self, operation: str, by: Staff, path: str, client: Client | None = None, **body: Any) -> Any:
        """Write something."""
        body = {"key": str(uuid4()), **body}
        answer = (client or floor.client(by)).post(f"/api/{path}", json.dumps(body), content_type="application/json")
        return self._noted(operation, body, answer)

    def _noted(self, operation: str, body: dict[str, Any] | None, answer: Any) -> Any:
        assert answer.status_code < 300, (operation, answer.content)
        self.calls.setdefault(operation, {"body": body, "answer": answer.json()})
        return answer.json()


def walk(house: Floor) -> dict[str, dict[str, Any]]:
    """All of it."""
    steps = Walk(house, floor.staff(Role.PIT_BOSS, "bruno", "202"))
    tables(steps)
    slips(steps)
    disputes(steps)
    limits(steps)
    the_house(steps)
    figures(steps)
    card_reader(steps)
    pits_and_posts(steps)
    rotation(steps)
    return steps.calls


def tables(steps: Walk) -> None:
    """A round is dealt."""
    house = steps.house
    dealer, boss, pk = house.dealer.by, steps.boss, house.table.pk
    bet = {"do": "bet", "seat": 1, "amount_cents": 2_000}
    steps.post("enter", dealer, f"tables/{pk}/inputs/", expected_seq=house.dealer.now.seq, input=bet)
    house.dealer.bets()
    house.dealer.cards(8)
    steps.get("list_tables", boss, "tables/")
    steps.get("read_board", dealer, f"tables/{pk}/")
    house.dealer.cards(10, 8)
    house.dealer.pay()
    steps.get("read_round", boss, f"tables/{pk}/rounds/1/")
    steps.get("read_events", house.auditor, f"events/?limit=2&table={pk}&kinds=round.opened,round.settled")
    steps.get("list_rounds", boss, f"tables/{pk}/rounds/")
    steps.get("list_staff_on_duty", boss, "staff/on-duty/")


def slips(steps: Walk) -> None:
    """A fill is asked for, given out, and another one made void."""
    house = steps.house
    boss, pk, pin = steps.boss, house.table.pk, floor.PIN
    begin = {"table": pk, "series": "fill", "chips": [[10_000, 2]]}
    slip = steps.post("begin_slip", boss, "slips/", **begin, badge=boss.badge, pin=pin)
    cashier = floor.staff(Role.CASHIER, "carl", "404")
    address = f"slips/{slip['name']}/"
    steps.post("sign_slip", cashier, f"{address}signatures/", stage="issued", badge=cashier.badge, pin=pin)
    steps.get("list_slips", boss, "slips/")
    steps.get("read_slip", boss, address)
    credit = steps.post("begin_slip", boss, "slips/", **begin | {"series": "credit"}, badge=boss.badge, pin=pin)
    void = {"reason": "Asked for at the wrong table", "badge": cashier.badge, "pin": pin}
    steps.post("void_slip", boss, f"slips/{credit['name']}/void/", **void)
    manager = floor.staff(Role.CAGE_MANAGER, "mara", "707")
    steps.get("read_holdings", manager, "house/holdings/")


def disputes(steps: Walk) -> None:
    """A player disputes the round; it is ruled on, and a correction of another one signed."""
    house = steps.house
    boss, pk = steps.boss, house.table.pk
    claim = {"round": 1, "seat": 1, "claim": "Had not folded", "claimant": "The player at seat 1", "claim_cents": 2_000}
    steps.post("open_dispute", boss, f"tables/{pk}/disputes/", **claim)
    address = f"tables/{pk}/disputes/1/"
    steps.post("note_dispute", boss, f"{address}notes/", heard="Dora", text="He said nothing before the card")
    steps.get("list_disputes", boss, "disputes/")
    steps.post("rule_dispute", boss, f"{address}ruling/", ruling="player", reason="The recording shows it")
    steps.get("read_dispute", boss, address)
    handed = {"round": 1, "seat": 1, "handed_cents": 400, "reason": "Paid as a pair, and it was none"}
    paper = steps.post("propose_correction", boss, f"tables/{pk}/corrections/", **handed)
    second = floor.staff(Role.PIT_BOSS, "berta", "203")
    _, year, number = paper["slip"].split("/")
    mine = f"tables/{pk}/corrections/{year}/{number}/"
    steps.get("read_correction", boss, mine)
    refusal = {"reason": "He was paid right", "badge": second.badge, "pin": floor.PIN}
    steps.post("decline_correction", second, f"{mine}refusals/", **refusal)
    paper = steps.post("propose_correction", boss, f"tables/{pk}/corrections/", **handed)
    _, year, number = paper["slip"].split("/")
    mine = f"tables/{pk}/corrections/{year}/{number}/"
    steps.post("sign_correction", second, f"{mine}signatures/", badge=second.badge, pin=floor.PIN)
    steps.get("list_corrections", boss, "corrections/")
    steps.post("close_dispute", boss, f"{address}closing/", text="The player has his chips")


def limits(steps: Walk) -> None:
    """Limits are proposed, withdrawn, declined, approved, and changed by one person; a plan is set."""
    house = steps.house
    boss, operator, pk = steps.boss, house.operator, house.neighbour.pk
    settings = steps.get("read_settings", boss, f"tables/{pk}/settings/")
    ask = {"expected": settings["version"], "changes": {"max_cents": 20_000}, "comment": "A guest asks for more"}

    def proposed() -> str:
        proposal = steps.post("propose_settings", boss, f"tables/{pk}/proposals/", **ask)
        return f"proposals/{proposal['number']}/"

    steps.get("list_proposals", boss, "proposals/")
    address = proposed()
    steps.get("read_proposal", boss, address)
    steps.get("list_proposals", boss, "proposals/")
    steps.post("withdraw_proposal", boss, f"{address}withdrawal/", reason="He left")
    steps.post("decline_proposal", operator, f"{proposed()}refusal/", reason="Not tonight")
    steps.post("approve_proposal", operator, f"{proposed()}approval/")
    version = steps.get("read_settings", operator, f"tables/{pk}/settings/")["version"]
    lower = {"expected": version, "changes": {"max_cents": 15_000}}
    steps.post("change_settings", operator, f"tables/{pk}/settings/", **lower)
    nights = {"when": "hours", "weekdays": [4, 5], "starts": "20:00", "ends": "04:00", "zone": "Europe/Berlin"}
    plan = {"name": "Weekend nights", "scope": "house", "schedule": nights, "values": {"min_cents": 3_000}}
    steps.post("set_limit_plan", operator, "limit-plans/", expected_version=0, **plan)
    steps.post("propose_limit_plan", boss, "limit-plans/proposals/", expected_version=1, **plan, comment="Quieter")
    steps.get("list_limit_plans", boss, "limit-plans/")
    steps.get("read_limits", boss, f"tables/{pk}/limits/")


def rotation(steps: Walk) -> None:
    """The line-up of a string, its push, and the correction of the push."""
    house, boss = steps.house, steps.boss
    moment = timezone.now()
    change = LineUpChange(
        string="A",
        tables=(house.table.name,),
        dealers=(house.dealer.by.username, ""),
        turn_minutes=20,
        push_at=moment,
        ends=moment + timedelta(hours=8),
    )
    row = line_ups.set_line_up(change, by=boss, basis=Basis(0))
    steps.get("list_line_ups", boss, "rotation/")
    steps.post("push_string", boss, "rotation/pushes/", string="A", entry=row.seq, push_at=row.push_at.isoformat())
    row = line_ups.of_string("A").row
    seen = {"string": "A", "entry": row.seq, "push_at": row.push_at.isoformat()}
    steps.post("take_back_push", boss, "rotation/pushes/take-back/", **seen)


def pits_and_posts(steps: Walk) -> None:
    """A pit boss is given a pit, takes another one over, and gives it back."""
    house, boss = steps.house, steps.boss
    for pit, tables in (("Pit 1", (house.table.name,)), ("Pit 2", (floor.table("Rocket 9").name,))):
        pits.set_section(PitSectionSet(pit=pit, tables=tables), by=house.operator)
    steps.post("set_post", house.operator, "posts/", username=boss.username, pits=["Pit 1"])
    until = (timezone.now() + timedelta(hours=2)).isoformat()
    steps.post("take_over_pit", boss, "covers/", pit="Pit 2", until=until, reason="A colleague was called away")
    steps.get("list_posts", boss, "posts/")
    steps.post("give_back_pit", boss, "covers/ends/", pit="Pit 2")
    steps.post("set_post", house.operator, "posts/", username=boss.username)


def the_house(steps: Walk) -> None:
    """An alert is taken note of; the log is searched; a proof is asked for."""
    house = steps.house
    boss = steps.boss
    alerts.raise_alert(house.table.book, "card_refused", "Rocket 1: a 1 was keyed that the shoe cannot hold.", {})
    newest = steps.get("list_alerts", boss, "alerts/")["items"][0]
    steps.post("acknowledge_alerts", boss, "alerts/acknowledgements/", alerts=[newest["id"]], note="A wrong key")
    steps.get("search_log", house.auditor, "log/?subject=table")
    export = steps.post("start_export", house.auditor, "exports/", deed="keys")
    steps.get("read_export", house.auditor, f"exports/{export['id']}/")
    steps.get("list_exports", house.auditor, "exports/")


def figures(steps: Walk) -> None:
    """A day's figures are signed, and signed again."""
    house = steps.house
    boss, operator = steps.boss, house.operator
    steps.get("read_figures", boss, "figures/")
    yesterday = gaming_hours.day_of(timezone.now()) - timedelta(days=1)
    address = f"days/{yesterday}/"
    day = steps.post("sign_day", boss, f"{address}signatures/", badge=boss.badge, pin=floor.PIN)
    signature = {"badge": operator.badge, "pin": floor.PIN, "digest": day["digest"]}
    steps.post("sign_day", operator, f"{address}signatures/", **signature)
    steps.get("read_day", boss, address)
    steps.get("list_days", boss, "days/")


def card_reader(steps: Walk) -> None:
    """A device names a card of the next round."""
    house, pk = steps.house, steps.house.table.pk
    access = Access(
        purpose="Names the cards of Rocket 1",
        scopes=("enter:cards",),
        tables=(house.table.name,),
        expires=timezone.now() + timedelta(days=30),
    )
    operator = Staff.objects.filter(role=Role.OPERATOR).first() or floor.staff(Role.OPERATOR, "olga")
    account = service_accounts.set_account("Reader 1", access, by=operator)
    token = service_tokens.make(account, by=operator)
    device = Client(headers={"Authorization": f"Bearer {token}"})
    session = "3b1f2a44-7d0e-4c0b-8f6e-52c9a1d0b7e3"
    path = f"/api/tables/{pk}/reader/"
    while house.dealer.board.due == "pay":
        house.dealer("paid", seat=house.dealer.board.pay.seat)  # type: ignore[union-attr]
    house.dealer("bet", seat=1, amount_cents=2_000)
    house.dealer("close_bets")
    for number, card in ((0, None), (1, 9)):
        body = {"session": session, "number": number} | ({} if card is None else {"card": card})
        answer = device.post(path, json.dumps(body), content_type="application/json")
        if card:
            steps._noted("name_card", body, answer)
    steps._noted("read_reader", None, device.get(path))
