"""One successful call of each operation: the description is held against it, and its example is from here."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.test import Client

from tables.models import Staff
from tests import floor
from tests.api.conftest import Floor


@dataclass
class Walk:
    """A house that is walked through, and what was sent and answered under the name of each operation."""

    house: Floor
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
    steps = Walk(house)
    tables(steps)
    return steps.calls


def tables(steps: Walk) -> None:
    """A round is dealt."""
    house = steps.house
    dealer, boss, pk = house.dealer.by, house.boss.by, house.table.pk
    bet = {"do": "bet", "seat": 1, "amount_cents": 2_000}
    steps.post("enter", dealer, f"tables/{pk}/inputs/", expected_seq=house.dealer.now.seq, input=bet)
    house.dealer.bets()
    house.dealer.cards(8)
    steps.get("list_tables", boss, "tables/")
    steps.get("read_board", dealer, f"tables/{pk}/")
    house.dealer.cards(10, 8)
    steps.get("read_round", boss, f"tables/{pk}/rounds/1/")
    steps.get("read_events", house.auditor, f"events/?limit=2&table={pk}&kinds=round.opened,round.settled")
