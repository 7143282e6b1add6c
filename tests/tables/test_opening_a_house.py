"""docs/opening-a-house.md, step by step: from an empty database to the first closed, sealed and exported day.

Nobody is signed in for anybody, and nothing is written but by the functions that the pages call.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from ledger import cage
from ledger.models import Account, Alert, Discrepancy
from ledger.proof import seals
from tables.audit import day_seals
from tables.audit.outside import verifier
from tables.cage import cage_desk, chip_series, denominations
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, SignSlip
from tables.log.slip_types import Chips
from tables.log.terms import Settings
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import day_close, gaming_hours, inventory
from tables.roles import Role
from tables.setup import policies, table_settings
from tables.staff import secret_changes, staffing, terminals
from tests.clock import Clock
from tests.floor import Hand, signs
from tests.tables.bundles import exported

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery staple"
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "opening-a-house.md"
STOCK: Chips = ((2_500, 400), (500, 1_000), (100, 1_000))
FLOAT: Chips = ((2_500, 40), (500, 100), (100, 200))
PEOPLE = (
    (Role.PIT_BOSS, "bella", "201"), (Role.PIT_BOSS, "boris", "202"), (Role.DEALER, "dora", "101"),
    (Role.CASHIER, "cara", "301"), (Role.CASHIER, "cleo", "302"), (Role.CAGE_MANAGER, "carla", "801"),
    (Role.SECURITY, "sam", "401"), (Role.SECURITY, "sue", "402"), (Role.SECURITY, "sol", "403"),
    (Role.COUNTER, "cole", "501"), (Role.COUNTER, "cyra", "502"), (Role.AUDITOR, "ada", "601"),
)  # fmt: skip


def person(name: str) -> Staff:
    return Staff.objects.get(username=name)


def pin_of(badge: str) -> str:
    return f"74{badge}6"


def house(by: str, entered: BeginSlip | SignSlip) -> str:
    return cage_desk.sign(entered, by=person(by), key=uuid4())


def at_table(hand: Hand, by: str, entered: BeginSlip | SignSlip) -> str:
    signs(hand.table, person(by), entered)
    slips = hand.now.slips
    return slips[-1].name if slips else ""


def people() -> None:
    """Steps 1 to 3: one command, and from there everybody makes their own password and PIN."""
    olga = Staff.objects.create_superuser("olga", PASSWORD, name="Olga Ott")
    tablet = terminals.add("Office", None, by=olga)
    olga = staffing.change_staff(olga, {"badge": "701"}, by=olga)
    olga = secret_changes.first_secrets(olga, asks=olga, confirms=None, terminal=tablet, pin=pin_of("701"))
    omar = staffing.add_staff(username="omar", name="Omar", role=Role.OPERATOR, badge="702", by=olga)
    omar = secret_changes.first_secrets(
        omar, asks=olga, confirms=None, terminal=tablet, password=PASSWORD, pin=pin_of("702")
    )
    for role, name, badge in PEOPLE:
        staff = staffing.add_staff(username=name, name=name.title(), role=role, badge=badge, by=olga)
        with pytest.raises(Refused):
            secret_changes.first_secrets(staff, asks=olga, confirms=olga, terminal=tablet, pin=pin_of(badge))
        secret_changes.first_secrets(
            staff, asks=olga, confirms=omar, terminal=tablet, password=PASSWORD, pin=pin_of(badge)
        )


def settings_and_chips() -> Table:
    """Steps 4 to 6: chips, a table; and from then on two people for settings."""
    olga = person("olga")
    for value, colour, face in ((100, "white", "#f4f1e8"), (500, "red", "#c0392b"), (2_500, "green", "#1e8449")):
        denominations.add_denomination(value_cents=value, colour=colour, face=face, by=olga)
    chip_series.add("First", "Chips & Co", 2026, [100, 500, 2_500], by=olga)
    table = table_settings.create_table(
        "Rocket 1",
        Settings(
            options={"decks": 1}, unit_cents=100, min_cents=1_000, max_cents=10_000, denominations=(100, 500, 2_500)
        ),
        by=olga,
    )
    policies.change({"two_people": True}, by=olga)
    return table


def chips_and_cash() -> None:
    """Steps 7 and 8: the delivery is counted by two against its note, and cash comes from the bank."""
    delivery = {"series": "First", "note_number": "N-1"}
    receipt = house("carla", BeginSlip("receipt", STOCK, facts=delivery, noted=STOCK))
    house("sam", SignSlip(receipt, "recounted", STOCK))
    withdrawal = house("cara", BeginSlip("withdrawal", STOCK))
    house("carla", SignSlip(withdrawal, "approved"))
    bank = house("cara", BeginSlip("bankin", ((10_000, 200),)))
    house("carla", SignSlip(bank, "approved"))
    house("cleo", SignSlip(bank, "received", facts={"receipt": "B-1"}))
    imprest = house("cara", BeginSlip("imprest", ((10_000, 100),)))
    house("carla", SignSlip(imprest, "issued"))


def a_day_at(table: Table) -> None:
    """Steps 9 to 11: a fill, the opener, rounds, the closer, the drop and its count."""
    hand, boss = Hand(table, person("dora")), Hand(table, person("bella"))
    fill = at_table(hand, "bella", BeginSlip("fill", FLOAT))
    for stage, name in (("issued", "cara"), ("carried", "sam"), ("received", "dora"), ("confirmed", "boris")):
        at_table(hand, name, SignSlip(fill, stage))
    opener = at_table(hand, "dora", BeginSlip("opener", FLOAT))
    at_table(hand, "bella", SignSlip(opener, "recounted", FLOAT))
    recorder.sign_in(table, person("dora"))
    hand.ready_shoe()
    hand("sell_chips", amount_cents=5_000)
    for _ in range(3):
        hand.bets(seat1=1_000, seat3=2_000)
        play_out(hand)
    boss("retire_shoe")
    rack = cage.balance(Account.objects.get(book_id=table.book_id, place="rack"))
    closing_chips = ((100, rack // 100),)
    closer = at_table(hand, "dora", BeginSlip("closer", closing_chips))
    at_table(hand, "bella", SignSlip(closer, "recounted", closing_chips))
    box = at_table(hand, "sue", BeginSlip("drop", box="R1-1"))
    at_table(hand, "sol", SignSlip(box, "witnessed"))
    at_table(hand, "cole", SignSlip(box, "counted", ((5_000, 1),)))
    at_table(hand, "cyra", SignSlip(box, "recounted", ((5_000, 1),)))


def play_out(hand: Hand) -> None:
    """Every seat stands where it may, every card is the first that fits."""
    from tests.tables.bundles import _until_it_is_over

    _until_it_is_over(hand)


def the_day_is_closed(clock: Clock) -> None:
    """Steps 12 and 13: cash is counted by two, unseen; two people close the day; the watch seals it."""
    day = gaming_hours.day_of(timezone.now())
    for series, place in (("cagecash", "bank"), ("vaultcash", "vault_cash")):
        cents = cage.balance(Account.objects.get(place=place))
        notes = ((10_000, cents // 10_000), (5_000, cents % 10_000 // 5_000))
        slip = house("cara", BeginSlip(series, notes))
        house("cleo", SignSlip(slip, "recounted", notes))
    clock.pass_until(gaming_hours.span(day).end + timedelta(hours=1))
    proposal = day_close.propose(day, by=person("bella"))
    day_close.close(day, by=person("omar"), digest=proposal.digest)
    day_seals.seal_finished()


@pytest.mark.slow("opens a site and closes its first day")
def test_a_house_opens_without_a_shell(clock: Clock, tmp_path: Path) -> None:
    """Harm: a house that cannot bring its first chip into the ledger, or whose operator signs as five people."""
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    clock.stand(timezone.now().replace(hour=12, minute=0, second=0, microsecond=0))
    day = gaming_hours.day_of(timezone.now())
    with override_settings(AUDIT_KEY_FILE=str(key_file)):
        people()
        table = settings_and_chips()
        chips_and_cash()
        a_day_at(table)
        the_day_is_closed(clock)
        assert Discrepancy.objects.count() == 0
        assert not Alert.objects.exclude(kind__in=("code_of_one", "terminal_root")).exists()
        stock = inventory.on(day)
        assert stock.agrees
        assert {line.value_cents: line.issued for line in stock.lines} == dict(STOCK)
        call_command("verify", verbosity=0)
        bundle = tmp_path / "day.zip"
        bundle.write_bytes(exported(day, day))
        lines: list[str] = []
        verifier.verify(bundle, say=lines.append)
        assert not [line for line in lines if "NOT" in line]


def test_the_guide_names_what_the_walk_does() -> None:
    """Harm: a guide that was right a year ago."""
    steps = re.findall(r"(?m)^\d+\. ", GUIDE.read_text())
    assert len(steps) == 14
    for word in ("createsuperuser", "Receipt", "Bank withdrawal", "Opener", "Drop box", "Cage cash count", "verify"):
        assert word in GUIDE.read_text()
