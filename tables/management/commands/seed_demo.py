"""Seed a demo pit and print its logins: staff of every role, chips, and open tables.

The tables are of Rocket, of two games with a pot, of three on standard cards, and a non-tracked roulette table. The
logins are public, so the command works in a demo only. A second run adds what is missing and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import uuid4

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from ledger import cage
from ledger.models import LogEntry
from ledger.proof.chips import money
from tables.approvals import proposals
from tables.cage import cage_desk, chip_series, denominations
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, SignSlip
from tables.games.catalog import GAMES
from tables.log.terms import Settings, made_rules
from tables.models import Denomination, ShoeSource, Staff, Table, Terminal
from tables.models.staff import PIN
from tables.roles import Role
from tables.setup import policies, table_settings
from tables.setup.dual_control import ProposalDraft
from tables.staff import secret_changes, staffing, terminals
from tables.state import table_state

PASSWORD: Final = "rocket-to-the-moon"  # noqa: S105 -- a demo's logins are no secret


class Login(NamedTuple):
    """A staff member of the demo, with badge and PIN to sign in."""

    role: Role
    username: str
    name: str
    badge: str | None = None
    pin: str | None = None


OPERATOR: Final = Login(Role.OPERATOR, "omar", "Omar Okafor", "701", "938239")
SECOND: Final = Login(Role.OPERATOR, "olive", "Olive Osei", "702", "604306")
PIT_BOSS: Final = Login(Role.PIT_BOSS, "bella", "Bella Brandt", "201", "739137")
STAFF: Final = (
    Login(Role.DEALER, "dora", "Dora Dean", "101", "135731"),
    Login(Role.DEALER, "dan", "Dan Duarte", "102", "246842"),
    Login(Role.DEALER, "dina", "Dina Doyle", "103", "918273"),
    Login(Role.DEALER, "drew", "Drew Diaz", "104", "364758"),
    Login(Role.DEALER, "della", "Della Dunn", "105", "572916"),
    PIT_BOSS,
    Login(Role.PIT_BOSS, "boris", "Boris Blom", "202", "826428"),
    Login(Role.CASHIER, "cara", "Cara Conti", "301", "593795"),
    Login(Role.SECURITY, "sam", "Sam Silva", "401", "681586"),
    Login(Role.SECURITY, "sue", "Sue Sato", "402", "917419"),
    Login(Role.SECURITY, "sol", "Sol Stone", "403", "374873"),
    Login(Role.COUNTER, "cole", "Cole Chen", "501", "274972"),
    Login(Role.COUNTER, "cleo", "Cleo Cruz", "502", "418614"),
    Login(Role.COUNTER, "cyra", "Cyra Chase", "503", "751957"),
    Login(Role.CAGE_MANAGER, "carla", "Carla Costa", "801", "629426"),
    OPERATOR,
    SECOND,
    Login(Role.AUDITOR, "ada", "Ada Abel", "601", "362763"),
    Login(Role.SURVEILLANCE, "vera", "Vera Voss", "901", "508317"),
)
FILL: Final = (
    ("requested", "bella"),
    ("issued", "cara"),
    ("carried", "sam"),
    ("received", "dan"),
    ("confirmed", "boris"),
)
"""The signatories of a table's first fill."""

CHIPS: Final = (
    (50, "pink", "#e5a0bb"),
    (100, "white", "#f4f1e8"),
    (500, "red", "#c0392b"),
    (2_500, "green", "#1e8449"),
    (10_000, "black", "#17202a"),
    (50_000, "purple", "#6c3483"),
    (100_000, "orange", "#d35400"),
)

TABLES: Final = {
    "Rocket 1": Settings(
        options={"decks": 6},
        unit_cents=100,
        min_cents=1_000,
        max_cents=10_000,
        denominations=(100, 500, 2_500, 10_000),
    ),
    "Rocket 2": Settings(
        options={"decks": 2, "start": "low_card"},
        source=ShoeSource.HOUSE.value,
        unit_cents=500,
        min_cents=5_000,
        max_cents=50_000,
        denominations=(500, 2_500, 10_000, 50_000),
    ),
    "Rocket 3": Settings(
        options={"decks": 8},
        unit_cents=500,
        min_cents=10_000,
        max_cents=500_000,
        cap_cents=1_500_000,
        denominations=(500, 2_500, 10_000, 50_000, 100_000),
    ),
    "Starboard 1": Settings(
        game="starboard",
        options={},
        seats=7,
        unit_cents=100,
        min_cents=2_000,
        max_cents=20_000,
        rake_permille=50,
        rake_cap_cents=300,
        denominations=(100, 500, 2_500),
    ),
    "Troll Guts 1": Settings(
        game="troll_guts",
        options={},
        source=ShoeSource.HOUSE.value,
        unit_cents=500,
        min_cents=10_000,
        max_cents=100_000,
        time_charge_cents=500,
        denominations=(500, 2_500, 10_000),
    ),
    "Baccarat 1": Settings(
        game="baccarat",
        options={},
        seats=7,
        unit_cents=50,
        bet_step_cents=500,
        min_cents=1_000,
        max_cents=50_000,
        denominations=(50, 100, 500, 2_500, 10_000, 50_000),
    ),
    "Blackjack 1": Settings(
        game="blackjack",
        options={"surrender": "late"},
        source=ShoeSource.HOUSE.value,
        unit_cents=50,
        bet_step_cents=500,
        min_cents=1_000,
        max_cents=50_000,
        denominations=(50, 100, 500, 2_500, 10_000, 50_000),
    ),
    "Three Card Poker 1": Settings(
        game="three_card_poker",
        options={},
        unit_cents=100,
        min_cents=1_000,
        max_cents=20_000,
        denominations=(100, 500, 2_500, 10_000),
    ),
    "Roulette 1": Settings(
        game="counted",
        options={
            "called": "Roulette",
            "wagers": [
                {"name": "Straight up", "pays": "35 to 1", "edge": "2.70 %"},
                {"name": "Split", "pays": "17 to 1", "edge": "2.70 %"},
                {"name": "Street", "pays": "11 to 1", "edge": "2.70 %"},
                {"name": "Corner", "pays": "8 to 1", "edge": "2.70 %"},
                {"name": "Dozen or column", "pays": "2 to 1", "edge": "2.70 %"},
                {"name": "Red or black, odd or even, high or low", "pays": "1 to 1", "edge": "2.70 %"},
            ],
            "hold_from_permille": 180,
            "hold_to_permille": 260,
        },
        seats=8,
        unit_cents=100,
        min_cents=500,
        max_cents=20_000,
        wager_limits={"Straight up": (500, 5_000), "Red or black, odd or even, high or low": (2_500, 20_000)},
        denominations=(100, 500, 2_500, 10_000),
    ),
}

SERIES_NAME: Final = "First series"
DELIVERED: Final = (
    (100_000, 1_000), (50_000, 1_600), (10_000, 4_500), (2_500, 6_000), (500, 10_000), (100, 50_000), (50, 20_000),
)  # fmt: skip
"""The whole stock of chips, as (value in cents, pieces)."""
WITHDRAWN: Final = (
    (100_000, 800), (50_000, 1_280), (10_000, 3_600), (2_500, 4_800), (500, 8_000), (100, 40_000), (50, 16_000),
)  # fmt: skip
"""The chips that the cage starts with, as (value in cents, pieces)."""
SOLD_CENTS: Final = 10_000_000
BETS_IN_A_RACK: Final = 60
"""The opening rack, as a number of bets of the table's maximum."""
MOST_PIECES: Final = 2_000
"""Of a kind, in a rack that opens."""
TERMINALS: Final = {
    "Demo terminal": "open it once in the dealer's browser, and badge and PIN work there.",
    "Demo pit desk": "open it once in the pit boss's browser, and slips are signed there.",
}


class Command(BaseCommand):
    """``manage.py seed_demo``"""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--address", default="http://127.0.0.1:8000/", help="where the demo will be open")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add what is missing, and print the logins. Raises CommandError outside a demo."""
        if settings.CASINO_ENV != "demo":
            raise CommandError("These logins are public: only a demo (CASINO_ENV=demo) is seeded with them.")
        if Staff.objects.exists() and not Staff.objects.filter(username=OPERATOR.username).exists():
            raise CommandError("This house has staff of its own: it is no demo, and is not seeded.")
        operator = seed_staff()
        seed_chips(operator)
        for name, terms in TABLES.items():
            if not Table.objects.filter(name=name).exists():
                open_table(name, terms, operator)
        if not policies.chose_dual_control(policies.changes()):
            policies.change({policies.DUAL_CONTROL: True}, by=operator)
        self.stdout.write(logins())
        for name, use in TERMINALS.items():
            path = terminals.link_for(seed_terminal(name, operator), by=operator)
            self.stdout.write(f"\nEnrolment link: {use}")
            self.stdout.write(f"{options['address'].rstrip('/')}{path}")


def seed_staff() -> Staff:
    """Add missing staff as a new site does, and return the first operator.

    The first operator alone issues the second one's code; two persons issue all others. Each sets their own password
    and PIN.
    """
    operator = Staff.objects.filter(username=OPERATOR.username).first()
    if operator is None:
        operator = Staff.objects.create_superuser(OPERATOR.username, PASSWORD, name=OPERATOR.name)
    if operator.badge is None:
        operator = staffing.change_staff(operator, {"badge": OPERATOR.badge}, by=operator)
    terminal = seed_terminal(next(iter(TERMINALS)), operator)
    if not operator.has(PIN):
        operator = secret_changes.first_secrets(
            operator, asks=operator, confirms=None, terminal=terminal, pin=OPERATOR.pin
        )
    second = _taken_on(SECOND, operator, None, terminal)
    for login in STAFF:
        _taken_on(login, operator, second, terminal)
    return operator


def _taken_on(login: Login, operator: Staff, second: Staff | None, terminal: Terminal) -> Staff:
    staff = Staff.objects.filter(username=login.username).first()
    if staff is not None:
        return staff
    facts = {"name": login.name, "role": login.role.value, "badge": login.badge}
    hire(login.username, facts, operator)
    staff = Staff.objects.get(username=login.username)
    return secret_changes.first_secrets(
        staff, asks=operator, confirms=second, terminal=terminal, password=PASSWORD, pin=login.pin
    )


def seed_chips(operator: Staff) -> None:
    """Add missing denominations and the site's whole stock of chips, of which players have bought some."""
    for value, colour, face in CHIPS:
        if not Denomination.objects.filter(value_cents=value).exists():
            denominations.add_denomination(value_cents=value, colour=colour, face=face, by=operator)
    if LogEntry.objects.filter(book=cage.open_house(), subject="chips", kind__in=["issued", "sold"]).exists():
        return
    with transaction.atomic():
        chip_series.add(SERIES_NAME, "Demo Chips", timezone.localdate().year, [chip[0] for chip in CHIPS], by=operator)
        delivery = {"series": SERIES_NAME, "note_number": "D-1"}
        received = _of_the_house("carla", BeginSlip("receipt", DELIVERED, facts=delivery, noted=DELIVERED))
        _of_the_house("sam", SignSlip(received, "recounted", DELIVERED))
        withdrawn = _of_the_house("cara", BeginSlip("withdrawal", WITHDRAWN))
        _of_the_house("carla", SignSlip(withdrawn, "approved"))
        cage_desk.sell(SOLD_CENTS, by=Staff.objects.get(username="cara"), key=uuid4())


def _of_the_house(username: str, signature: BeginSlip | SignSlip) -> str:
    return cage_desk.sign(signature, by=Staff.objects.get(username=username), key=uuid4())


def open_table(name: str, terms: Settings, operator: Staff) -> None:
    """A new table with a full rack, counted and opened. All or nothing: a second run finds no table half set up."""
    with transaction.atomic():
        draft = table_settings.draft_of_new(name, terms)
        by_two(draft, lambda: table_settings.create_table(name, terms, by=operator), operator)
        table = Table.objects.select_related("book").get(name=name)
        chips = rack_of(terms)
        slip = _begin(table, FILL[0][1], BeginSlip("fill", chips))
        for stage, username in FILL[1:]:
            _sign(table, username, SignSlip(slip, stage))
        opener = _begin(table, "dan", BeginSlip("opener", chips))
        _sign(table, PIT_BOSS.username, SignSlip(opener, "recounted", chips))


def by_two(draft: ProposalDraft | None, alone: Callable[[], object], operator: Staff) -> None:
    """Change a setting; under dual control the second operator approves it."""
    if draft is None:
        alone()
    else:
        proposal = proposals.propose(draft, "For the demo", by=operator)
        proposals.approve(proposal, by=Staff.objects.get(username=SECOND.username))


def hire(username: str, facts: dict[str, Any], operator: Staff) -> None:
    """Add a staff member."""
    by_two(
        staffing.draft(username, facts), partial(staffing.add_staff, username=username, by=operator, **facts), operator
    )


def rack_of(terms: Settings) -> tuple[tuple[int, int], ...]:
    """The chips of a full rack, as (value, count): as much in each kind as in any other, as near as the chips allow."""
    kind_cents = BETS_IN_A_RACK * terms.max_cents // len(terms.denominations)
    return tuple((value, min(kind_cents // value, MOST_PIECES)) for value in sorted(terms.denominations, reverse=True))


def _begin(table: Table, username: str, slip: BeginSlip) -> str:
    _sign(table, username, slip)
    return table_state.of(table).slips[-1].name


def _sign(table: Table, username: str, signature: BeginSlip | SignSlip) -> None:
    recorder.record(table, signature, by=Staff.objects.get(username=username), key=uuid4(), expected_seq=None)


def seed_terminal(name: str, operator: Staff) -> Terminal:
    """A terminal that a printed link is for."""
    return Terminal.objects.filter(name=name).first() or terminals.add(name, None, by=operator)


def logins() -> str:
    """The logins and the tables, as two tables in plain text."""
    people = [("Role", "Name", "User name", "Password", "Badge", "PIN")]
    people += [
        (login.role.label, login.name, login.username, PASSWORD, login.badge or "", login.pin or "") for login in STAFF
    ]
    felt = [("Table", "Game", "Bets or buy-in", "Cards")]
    for name, terms in TABLES.items():
        limits = f"{money(terms.min_cents)} to {money(terms.max_cents)}"
        shoe = "house shoe" if terms.source == ShoeSource.HOUSE else "real cards"
        game = GAMES[terms.game]
        decks = game.decks(made_rules(game, terms.options, terms.unit_cents))
        cards = f"{decks} deck{'s' * (decks > 1)}, {shoe}" if decks else "by its counts"
        felt.append((name, game.called(terms.options), limits, cards))
    return f"{columns(people)}\n\n{columns(felt)}"


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows under each other, each column as wide as it has to be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
