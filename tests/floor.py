"""A floor for tests: a house with one table, its staff, and a hand that deals there through dealing.record()."""

import secrets
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from ledger import cage, log
from ledger.log import Draft
from ledger.models import Account
from ledger.site_log import append, difference
from tables import pepper
from tables.board.table_view import Board, board
from tables.floor import inputs, recorder
from tables.floor.command_context import AtSeat
from tables.floor.recorder import Receipt
from tables.games.catalog import GAMES
from tables.games.protocol import AskChoice, Choice
from tables.log.entries.carried_rows import TableAdded
from tables.log.entries.chips import DenominationAdded
from tables.log.entries.settings import TableSet
from tables.log.entries.staff import StaffAdded
from tables.log.entries.terminals import TerminalEnrolled
from tables.log.state import TableState
from tables.models import Denomination, SeatPage, Staff, Table, Terminal
from tables.roles import Role
from tables.setup.table_settings import settings_of
from tables.staff import secret_changes, staffing, terminals
from tables.state import table_state
from tests.ready import ready_made
from tests.software_terminal import where_demanded

CHIPS = ((100, "white", "#f4f1e8"), (500, "red", "#c0392b"), (2_500, "green", "#1e8449"), (10_000, "black", "#17202a"))
SETS_UP = "test"
"""Who wrote the entries of a house that a test begins with."""
PASSWORD = "a password of some length"
PIN = "1234"
OWN_PIN = "258025"
"""One that the house takes."""


def staff(role: Role, username: str, badge: str | None = None) -> Staff:
    """Somebody of a role, with a password, and a PIN if they have a badge."""
    somebody = Staff(username=username, name=username.title(), role=role, badge=badge)
    somebody.password = pepper.seal(hashed(PASSWORD), somebody.owner_of("password"))
    somebody.pin = pepper.seal(hashed(PIN), somebody.owner_of("pin")) if badge else ""
    somebody.password_made_at = timezone.now()
    somebody.pin_made_at = timezone.now() if badge else None
    with transaction.atomic():
        somebody.save()
        facts: dict[str, Any] = {"name": somebody.name, "role": Role(role).value, "badge": badge}
        append(StaffAdded(username=username, **facts, secrets=somebody.digests), SETS_UP)
    return somebody


def taken_on(
    role: Role, username: str, badge: str | None, *, by: Staff, second: Staff, pin: str | None = None
) -> Staff:
    """Somebody new, as the house takes people on: two people give the codes, and the owner makes what they open."""
    somebody = staffing.add_staff(username=username, name=username.title(), role=role.value, badge=badge, by=by)
    return secret_changes.first_secrets(
        somebody, asks=by, confirms=second, terminal=None, password=PASSWORD, pin=pin or (OWN_PIN if badge else None)
    )


def client(somebody: Staff, **options: Any) -> Client:
    """A browser on a terminal for any table, with somebody's session."""
    browser = Client(**options)
    browser.cookies["terminal"] = terminal_cookie(somebody)
    browser.force_login(somebody, backend="django.contrib.auth.backends.ModelBackend")
    return browser


def terminal_cookie(by: Staff, table: Table | None = None, name: str = "") -> str:
    """What the browser of a new terminal holds."""
    token = secrets.token_urlsafe(16)
    name = name or f"Device {Terminal.objects.count() + 1}"
    with transaction.atomic():
        terminal = Terminal(name=name, table=table, token_digest=sha256(token.encode()).hexdigest(), enrolled_by=by)
        terminal.save()
        append(TerminalEnrolled(**terminals._whole(terminal)), SETS_UP)
    response = HttpResponse()
    terminals.remember(response, token)
    return next(iter(response.cookies.values())).value  # its name depends on TLS


def cookies_of(somebody: Staff, url: str) -> list[dict[str, Any]]:
    """The session of somebody who has signed in on a terminal, for a real browser."""
    cookies = client(somebody).cookies
    names = (settings.SESSION_COOKIE_NAME, "terminal")
    return [{"name": name, "value": cookies[name].value, "url": url} for name in names]


@cache
def hashed(secret: str) -> str:
    """Argon2 is slow on purpose: once for all tests."""
    return make_password(secret)


def table(name: str = "Rocket 1", **settings: Any) -> Table:
    """A table of one deck, 10 to 100, six seats; closed, and without a shoe."""
    cage.open_house()
    seats = settings.pop("seats", 6)
    chosen = {
        "source": "keyed",
        "unit_cents": 100,
        "min_cents": 1_000,
        "max_cents": 10_000,
        "options": {"decks": 1},
    } | settings
    pot = GAMES[str(chosen.get("game", "rocket"))].kind == "pot"
    append(TableAdded(name=name), SETS_UP)
    book = cage.open_table_book(name, seats, pot=pot, wagers=GAMES[str(chosen.get("game", "rocket"))].spots)
    felt = Table.objects.create(name=name, seats=seats, book=book, **chosen)
    for value, colour, face in CHIPS:
        chip, is_new = Denomination.objects.get_or_create(value_cents=value, defaults={"colour": colour, "face": face})
        felt.denominations.add(chip)
        if is_new:
            append(DenominationAdded(value_cents=value, colour=colour, face=face), SETS_UP)
    _bring_chips(felt)
    return felt


FLOAT_CENTS = 1_000_000
POCKET_CENTS = 100_000
CAGE_CENTS = 5_000_000


def _bring_chips(table: Table) -> None:
    """60,000 into the cage, of which a fill brings 9,000 into the rack and players buy 1,000 at the cage."""
    house = cage.open_house()
    vault = cage.chart(house.pk)
    with transaction.atomic():
        amount = FLOAT_CENTS + CAGE_CENTS
        issued = [vault.move("issue", "issue", "vault", amount), vault.move("withdraw", "vault", "cage", amount)]
        head = cage.post(log.lock(house.pk), Draft("chips", "issued", "test", {}), issued)
        sold = [vault.move("sale", "cage", "players", POCKET_CENTS)]
        sold.append(vault.move("cash_in", "cash", "bank", POCKET_CENTS))
        cage.post(head, Draft("chips", "sold", "test", {}), sold)
        settings = TableSet(**difference({}, asdict(settings_of(table)))._asdict())
        log.append(log.lock(table.book_id), Draft.of(settings, "test"))
    fill(table, ((CHIPS[0][0], (FLOAT_CENTS - POCKET_CENTS) // CHIPS[0][0]),))


CREW = {
    "requested": (Role.PIT_BOSS, "paul"),
    "issued": (Role.CASHIER, "cara"),
    "carried": (Role.SECURITY, "sam"),
    "received": (Role.DEALER, "clerk"),
    "confirmed": (Role.PIT_BOSS, "pia"),
}
"""Who signs a fill in tests."""


def crew(stage: str) -> Staff:
    """Who signs this step of a fill."""
    role, name = CREW[stage]
    return Staff.objects.filter(username=name).first() or staff(role, name)


def fill(table: Table, chips: tuple[tuple[int, int], ...]) -> str:
    """A fill from the cage, signed by five people."""
    signs(table, crew("requested"), inputs.BeginSlip("fill", chips))
    slip = table_state.of(table).slips[-1].name
    for stage in list(CREW)[1:]:
        signs(table, crew(stage), inputs.SignSlip(slip, stage))
    return slip


@dataclass
class Hand:
    """Somebody at a table who enters things there, always on the newest sequence number."""

    table: Table
    by: Staff

    def __call__(self, do: str, **facts: Any) -> Receipt:
        if do in ("open_table", "close_table"):
            return counted(self, "opener" if do == "open_table" else "closer")
        return self.enters(inputs.read({"do": do} | facts))

    def enters(self, entered: inputs.Input) -> Receipt:
        """Record an input, also one that no screen sends."""
        seq = table_state.of(self.table).seq
        return recorder.record(self.table, entered, by=self.by, key=uuid.uuid4(), expected_seq=seq)

    def reopens(self) -> Receipt:
        """Reopen the settled round, approved by the pit boss."""
        return self.enters(inputs.ReopenRound("bella"))

    @property
    def board(self) -> Board:
        return board(self.table, self.by)

    @property
    def now(self) -> TableState:
        return table_state.of(self.table)

    def bets(self, **bets_cents: int) -> None:
        """``hand.bets(seat1=2000, seat4=5000)``, then no more bets."""
        for seat, cents in bets_cents.items():
            self("bet", seat=int(seat.removeprefix("seat")), amount_cents=cents)
        self("close_bets")

    def cards(self, *ranks: int | str) -> None:
        """Key cards one after the other; one for a seat that is to decide means that it hit."""
        for rank in ranks:
            self("standard_card", card=rank) if isinstance(rank, str) else self("card", rank=rank)

    def ready_shoe(self) -> None:
        """Load, check, shuffle, cut and burn until bets are open."""
        while (due := self.board.due) not in ("bets", "seats"):
            step = {"load": "load_shoe", "shuffle": "shuffle_shoe", "cut": "place_cut_card", "burn": "burn"}
            if due == "check":
                self("check_decks", counts=self.board.deck_columns)
            elif due == "burn" and self.board.turns_burn:
                self("burn", turned=1)
            else:
                self(step[due])

    def pay(self) -> None:
        """Walk along the seats that are to be paid."""
        while line := self.board.pay:
            self("paid", seat=line.seat)


def counted(hand: Hand, series: str, over_cents: int = 0) -> Receipt:
    """A dealer counts the rack, and the one whose hand it is counts the same; the table opens or closes with it."""
    rack = cage.balance(Account.objects.get(book_id=hand.table.book_id, place="rack"))
    chips = ((CHIPS[0][0], (rack + over_cents) // CHIPS[0][0]),)
    clerk = crew("received")
    if not table_state.of(hand.table).slips:
        signs(hand.table, clerk, inputs.BeginSlip(series, chips))
    slip = table_state.of(hand.table).slips[-1]
    return signs(hand.table, hand.by, inputs.SignSlip(slip.name, "recounted", chips))


def signs(table: Table, by: Staff, entered: inputs.SlipInput) -> Receipt:
    """Somebody signs a slip, whose PIN was right."""
    key = uuid.uuid4()
    attested = where_demanded(table.book.name, by, entered, key)
    return recorder.record(table, entered, by=by, key=key, expected_seq=None, attested=attested)


def relieve(table: Table, relief: Staff) -> Receipt:
    """A dealer takes a table from the one who deals there, who has agreed."""
    dealer = table_state.of(table).dealer
    assert dealer is not None
    leaves = Staff.objects.get(username=dealer.username)
    return recorder.relieve(table, relief, dealer.username, confirmed_by=leaves)


@dataclass
class Player:
    """Somebody who chooses on the page of a seat."""

    table: Table
    by: AtSeat
    token: str

    def __call__(self, choice: str, *, seq: int | None = None, key: uuid.UUID | None = None, **named: Any) -> Receipt:
        entered = inputs.read({"do": "choose", "seat": self.by.seat, "choice": choice} | named)
        expected = table_state.of(self.table).seq if seq is None else seq
        return recorder.record(self.table, entered, by=self.by, key=key or uuid.uuid4(), expected_seq=expected)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What this seat may choose now."""
        current = table_state.of(self.table).round
        asks = current.game.prompts(current.state) if current else ()
        return next((ask.choices for ask in asks if isinstance(ask, AskChoice) and ask.seat == self.by.seat), ())

    def chooses(self, choice: Choice) -> Receipt:
        """One of these."""
        fields = msgspec.to_builtins(choice)
        return self(
            choice.name, **{name: fields[name] for name in ("card", "cards", "target", "count") if name in fields}
        )


def player(hand: Hand, seat: int) -> Player:
    """The seat gets a page, which its player opens."""
    key, table_standing = uuid.uuid4(), hand.now
    token = recorder.give_seat_page(hand.table, seat, by=hand.by, key=key, expected_seq=table_standing.seq)
    return Player(hand.table, AtSeat(seat, SeatPage.objects.get(table=hand.table, seat=seat).pk), token)


def for_pot(game: str, *, seats: dict[int, int], **settings: Any) -> tuple[Hand, Hand]:
    """A table with a pot, its deck ready and chips (cents) at its seats: the dealer's hand and the pit boss's. A coin
    is worth 1."""
    chosen = {"min_cents": 100, "max_cents": 100_000, "options": {}, "seats": 8} | settings
    make = _for_pot if chosen.get("source") == "house" else ready_made(_for_pot)
    return make(seats, name=GAMES[game].title, game=game, **chosen)


def _for_pot(coins: dict[int, int], **settings: Any) -> tuple[Hand, Hand]:
    dealer, boss = dealt(**settings)
    for seat, cents in coins.items():
        dealer("buy_in", seat=seat, amount_cents=cents)
    return dealer, boss


def dealt(**settings: Any) -> tuple[Hand, Hand]:
    """A table with its shoe ready for bets: the dealer's hand and the pit boss's."""
    make = _dealt if settings.get("source") == "house" else ready_made(_dealt)  # a house shoe's order is by chance
    return make(**settings)


def _dealt(**settings: Any) -> tuple[Hand, Hand]:
    dealer, boss = _opened(**settings)
    dealer.ready_shoe()
    return dealer, boss


@ready_made
def _opened(**settings: Any) -> tuple[Hand, Hand]:
    dealer = _opened_by(staff(Role.DEALER, "dora", "101"), **settings)
    return dealer, Hand(dealer.table, Staff.objects.get(username="bella"))


def dealt_by(somebody: Staff, **settings: Any) -> Hand:
    """The same, with a dealer who is here already."""
    hand = _opened_by(somebody, **settings)
    hand.ready_shoe()
    return hand


def _opened_by(somebody: Staff, **settings: Any) -> Hand:
    felt = table(**settings)
    Hand(felt, staff(Role.PIT_BOSS, "bella"))("open_table")
    recorder.sign_in(felt, somebody)
    return Hand(felt, somebody)
