"""Whatever is done with a house's chips, in whatever order: none comes from nowhere and none is lost."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.models import Book, Transfer
from ledger.proof import seals
from ledger.proof.chips import CHIP_PLACES
from tables.audit import day_seals, proofs
from tables.audit.outside import verifier
from tables.audit.row_comparison import compare
from tables.cage import cage_desk, chip_series, chip_stock
from tables.floor.inputs import BeginSlip, SignSlip, SlipInput
from tables.models import Denomination, Staff, Table
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.clock import travelling
from tests.floor import signs
from tests.pace import percent
from tests.tables.bundles import exported
from tests.tables.cage.test_cage_desk import place_sums, someone

RED, WHITE = 500, 100
DEEDS = ("receipt", "withdrawal", "fill", "destruction", "found", "claim", "counterfeit", "forgery", "deposit")
CREW = {
    "recounted": (Role.SECURITY, "sue"), "approved": (Role.CAGE_MANAGER, "carla"),
    "issued": (Role.CASHIER, "carmen"), "carried": (Role.SECURITY, "sue"), "confirmed": (Role.PIT_BOSS, "pia"),
    "destroyed": (Role.SECURITY, "sue"), "witnessed": (Role.AUDITOR, "ada"), "sealed": (Role.SECURITY, "sue"),
    "handed": (Role.CASHIER, "carmen"),
}  # fmt: skip
FIRST = {
    "withdrawal": (Role.CASHIER, "carmen"), "deposit": (Role.CASHIER, "carmen"), "fill": (Role.PIT_BOSS, "paul"),
    "found": (Role.SECURITY, "sue"), "claim": (Role.CASHIER, "carmen"), "forgery": (Role.PIT_BOSS, "paul"),
}  # fmt: skip
MOVED = {"issue", "destroy", "found", "claimed", "counterfeit", "fill", "withdraw", "deposit"}
DEED = st.tuples(st.sampled_from(DEEDS), st.integers(0, 2**16))


class Floor:
    """A house with one table, and the pieces as whoever looks on counts them."""

    def __init__(self) -> None:
        self.table: Table = floor.table()
        values = list(Denomination.objects.values_list("value_cents", flat=True))
        chip_series.add("Alpha", "Chips & Co", 2026, values, by=someone(Role.OPERATOR, "olga"))
        self.dealer = someone(Role.DEALER, "dora")
        self.pieces: Counter[int] = Counter()
        self.began = place_sums()
        self.notes = 0

    def do(self, deed: str, seed: int) -> None:
        """One paper from its first signature to its last. Refused: nothing has changed."""
        chance, before = Random(seed), place_sums()
        entered = self._begun(deed, chance)
        slip = ""
        try:
            slip = self._sign(*FIRST.get(deed, (Role.CAGE_MANAGER, "carla")), entered)
            self._finish(slip, entered)
        except Refused:
            assert slip or place_sums() == before
        else:
            self._count(deed, entered)

    def _begun(self, deed: str, chance: Random) -> BeginSlip:
        counts = (1, 7, 40, 0, 3_000)[: 3 if deed == "claim" else 5]
        chips = tuple((value, count) for value in (RED, WHITE) if (count := chance.choice(counts)))
        happened = {"place": "Table 1", "moment": timezone.now().isoformat()}
        seizure = happened | {"taken_from": "nobody", "envelope": "E 1"} | chance.choice(({}, {"paid": "yes"}))
        self.notes += 1
        match deed:
            case "receipt":
                noted = chance.choice((chips, ((RED, 5),)))
                return BeginSlip(deed, chips, facts={"series": "Alpha", "note_number": str(self.notes)}, noted=noted)
            case "destruction":
                return BeginSlip(deed, chips, facts={"series": "Alpha", "reason": "Worn"})
            case "found":
                return BeginSlip(deed, chips, facts=happened)
            case "claim":
                return BeginSlip(deed, chips, facts={"slip": f"found/{timezone.localdate().year}/1", "claimed_by": "A"})
            case "counterfeit" | "forgery":
                return BeginSlip(deed, chips, facts=seizure)
        return BeginSlip(deed, chips)

    def _finish(self, slip: str, entered: BeginSlip) -> None:
        while stage := self._due(slip):
            role, name = (Role.DEALER, "dora") if stage == "received" and "fill" in slip else _signer(slip, stage)
            chips = entered.chips if stage == "recounted" else ()
            facts = {"handed_to": "The police", "report": "1"} if stage == "handed" else {}
            self._sign(role, name, SignSlip(slip, stage, chips, facts))

    def _due(self, slip: str) -> str:
        book = Book.objects.get(name="house").pk
        waiting = [*cage_desk.in_progress(book), *table_state.of(self.table).slips]
        due = next((waits.due for waits in waiting if waits.name == slip), None)
        return due.name if due else ""

    def _sign(self, role: Role, name: str, entered: SlipInput) -> str:
        by: Staff = someone(role, name)
        series = entered.series if isinstance(entered, BeginSlip) else entered.slip.partition("/")[0]
        if series not in ("fill", "forgery"):
            return cage_desk.sign(entered, by=by, key=uuid4())
        signs(self.table, by, entered)
        slips = table_state.of(self.table).slips
        return entered.slip if isinstance(entered, SignSlip) else slips[-1].name

    def _count(self, deed: str, entered: BeginSlip) -> None:
        if deed == "receipt":
            self.pieces.update(dict(entered.chips))
        if deed == "destruction":
            self.pieces.subtract(dict(entered.chips))

    def hold_together(self) -> None:
        """Every place together is nothing; the series has what came less what was destroyed; every proof holds."""
        places = place_sums()
        assert sum(places.get(place, 0) for place in CHIP_PLACES) == 0
        assert {value: count for value, count in self.pieces.items() if count} == dict(chip_stock.of("Alpha").left)
        worth_cents = sum(value * count for value, count in self.pieces.items())
        assert self.began["issue"] - places["issue"] == worth_cents
        assert min(places["vault"], places["cage"], places["rack"], places["players"]) >= 0
        for book in Book.objects.filter(head_seq__gt=0):
            assert proofs.verify(book).fault is None
        assert compare().faults == []


def _signer(slip: str, stage: str) -> tuple[Role, str]:
    if stage == "received":
        return Role.CASHIER, "carmen"
    if stage == "witnessed" and slip.startswith("claim"):
        return Role.SECURITY, "sue"
    return CREW[stage]


@pytest.mark.slow("moves chips by chance for days")
@pytest.mark.django_db
@settings(max_examples=percent(4))
@given(deeds=st.lists(DEED, min_size=4, max_size=14))
def test_no_chip_comes_from_nowhere(deeds: list[tuple[str, int]], isolated: None) -> None:
    """Harm: in some order of papers a chip is there twice, or nowhere."""
    with transaction.atomic():
        house = Floor()
        for deed, seed in deeds:
            house.do(deed, seed)
        house.hold_together()
        transaction.set_rollback(True)


@pytest.fixture
def isolated(db: None) -> None:
    """A database of its own for every example: each takes back what it did."""


@pytest.mark.slow("moves chips by chance for days")
@pytest.mark.django_db
def test_whoever_has_only_the_bundle_says_the_same(tmp_path: Path) -> None:
    """Harm: a paper that the house proves and nobody else can."""
    key = tmp_path / "audit.pem"
    seals.make_key(key)
    with override_settings(AUDIT_KEY_FILE=str(key)), travelling() as clock:
        house, today = Floor(), gaming_hours.day_of(timezone.now())
        chance = Random(4)
        for deed in (*DEEDS, *(chance.choice(DEEDS) for _ in range(20))):
            house.do(deed, chance.randrange(2**16))
        house.hold_together()
        assert set(Transfer.objects.values_list("kind", flat=True)) >= MOVED
        clock.pass_until(gaming_hours.span(today).end + timedelta(hours=1))
        assert day_seals.seal_finished()
        path = tmp_path / "day.zip"
        path.write_bytes(exported(today, today))
    lines: list[str] = []
    verifier.verify(path, key=seals.public_of(seals.load_key(key)), say=lines.append)
    assert any(line.startswith("holds  house") for line in lines)
