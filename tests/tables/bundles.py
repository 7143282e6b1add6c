"""A house with two days behind it, the bundles of those days, and somebody who forges bundles."""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final, cast
from uuid import uuid4
from zipfile import ZipFile

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import override_settings
from django.utils import timezone

from ledger.proof import merkle, seals, spelling
from ledger.proof.spelling import canonical
from tables.audit import day_seals, export
from tables.audit.outside.bundle import KEYS, MANIFEST, ROOTS, Writer, book_part, leaves_part
from tables.cage import cage_desk
from tables.disputes import corrections
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, ProposeCorrection, SignCorrection, SignSlip, VoidSlip
from tables.games.cards import RANKS, shoe
from tables.games.protocol import AskBet
from tables.models import Staff
from tables.reports import gaming_hours
from tables.reports.gaming_hours import Calendar
from tables.roles import Role
from tables.setup import table_settings
from tests import ready
from tests.clock import travelling
from tests.floor import Hand, signs, staff, table

ONE = Calendar((gaming_hours.default(),)).day_of(timezone.now())
TWO = ONE + timedelta(days=1)

KEYED, OF_THE_HOUSE, POT = "Rocket 1", "Rocket 2", "Starboard"
BOOKS = [KEYED, OF_THE_HOUSE, POT, "house"]
"""In the order of the trees."""


@dataclass(frozen=True)
class Evidence:
    """What an auditor has in hand, and the key that only the house has."""

    first: Path
    second: Path
    both: Path
    key_file: Path

    @property
    def key(self) -> Ed25519PrivateKey:
        return seals.load_key(self.key_file)

    @property
    def public(self) -> str:
        return seals.public_of(self.key)


_shared: Final[list[ready.House]] = []


def shared_two_days(folder: Path) -> Evidence:
    """Two days in an empty database, dealt and exported once per process and shared by its modules."""
    if _shared:
        with travelling() as clock:  # the database takes no entry that is still to come
            clock.stand(gaming_hours.span(TWO)[1] + timedelta(hours=1))
            return cast(Evidence, ready.put_back(_shared[0]))
    evidence = two_days(folder)
    _shared.append(ready.keep(evidence))
    return evidence


def two_days(folder: Path) -> Evidence:
    """Two days at three tables, sealed and exported. A round and a house shoe are open over the end of the first."""
    evidence = Evidence(folder / "first.zip", folder / "second.zip", folder / "both.zip", folder / "audit.pem")
    seals.make_key(evidence.key_file)
    with override_settings(AUDIT_KEY_FILE=str(evidence.key_file)), travelling() as clock:
        hands, boss = _open()
        operator = staff(Role.OPERATOR, "olga")
        people = {
            "boss": boss.by,
            "second": staff(Role.PIT_BOSS, "bettina", "801"),
            "security": staff(Role.SECURITY, "silvia", "802"),
            "cashier": staff(Role.CASHIER, "cosima", "803"),
            "other_cashier": staff(Role.CASHIER, "claudio", "804"),
            "operator": operator,
        }
        for number, hand in enumerate(hands):
            play(hand, random.Random(number), 60)
        table_settings.change_table(hands[0].table, {"max_cents": 20_000}, by=operator)
        correction = _propose(hands[0], people["boss"])
        whole = credit(hands[1], people, STAGES)
        half = credit(hands[2], people, STAGES[:4])
        deposit = cage_desk.sign(BeginSlip("deposit", ((10_000, 2),)), by=people["cashier"], key=uuid4())
        cage_desk.sign(SignSlip(deposit, "approved"), by=people["second"], key=uuid4())
        withdrawal = cage_desk.sign(BeginSlip("withdrawal", ((10_000, 1),)), by=people["cashier"], key=uuid4())
        cage_desk.sell(30_000, by=people["cashier"], key=uuid4())
        count_cage(people)
        _until_a_round_is_open(hands[0])
        _until_a_round_is_open(hands[1])
        clock.pass_until(gaming_hours.span(TWO)[0] + timedelta(hours=9))
        day_seals.seal_finished()
        cage_desk.sign(SignSlip(withdrawal, "approved"), by=people["second"], key=uuid4())
        signs(hands[0].table, people["second"], SignCorrection(correction))
        signs(hands[1].table, people["other_cashier"], VoidSlip(whole, "it was another table's"))
        signs(hands[1].table, staff(Role.AUDITOR, "ada"), SignSlip(whole, "voided"))
        signs(hands[2].table, people["cashier"], SignSlip(half, "received"))
        cage_desk.redeem(10_000, by=people["cashier"], key=uuid4())
        count_cage(people)
        for number, hand in enumerate(hands):
            play(hand, random.Random(number), 40)
            _until_it_is_over(hand)
        hands[1]("retire_shoe")
        Hand(hands[0].table, boss.by)("close_table")
        clock.pass_until(gaming_hours.span(TWO)[1] + timedelta(hours=1))
        day_seals.seal_finished()
        for path, days in ((evidence.first, (ONE, ONE)), (evidence.second, (TWO, TWO)), (evidence.both, (ONE, TWO))):
            path.write_bytes(exported(*days))
    return evidence


def count_cage(people: dict[str, Staff]) -> None:
    """The cage is counted twice, with other chips than the transfers say."""
    slip = cage_desk.sign(BeginSlip("cage", ((10_000, 50),)), by=people["cashier"], key=uuid4())
    cage_desk.sign(SignSlip(slip, "recounted", ((10_000, 50),)), by=people["other_cashier"], key=uuid4())


STAGES = (
    ("requested", "boss"), ("issued", "dealer"), ("confirmed", "second"), ("carried", "security"),
    ("received", "cashier"),
)  # fmt: skip


def credit(hand: Hand, people: dict[str, Staff], stages: Sequence[tuple[str, str]]) -> str:
    """Chips go from a rack to the cage, as far as it is signed; returns the slip."""
    signs(hand.table, people["boss"], BeginSlip("credit", ((10_000, 3),)))
    slip = hand.now.slips[-1].name
    for stage, signer in stages[1:]:
        signs(hand.table, (people | {"dealer": hand.by})[signer], SignSlip(slip, stage))
    return slip


def _propose(hand: Hand, boss: Staff) -> str:
    """A seat of the latest round that was paid got 10 less than was due."""
    _until_it_is_over(hand)
    current = hand.now.round
    assert current is not None
    paid = current.settled[0]
    entered = ProposeCorrection(current.number, paid.seat, paid.net_cents - 1_000, "Seat was paid too little")
    signs(hand.table, boss, entered)
    return str(corrections.waiting(hand.table.book_id, hand.now.seq)[0].slip)


def exported(first_day: date, last_day: date) -> bytes:
    """A bundle's bytes."""
    file = BytesIO()
    export.export(first_day, last_day, file)
    return file.getvalue()


def _open() -> tuple[list[Hand], Hand]:
    boss = staff(Role.PIT_BOSS, "bella")
    chosen: dict[str, dict[str, Any]] = {
        KEYED: {},
        OF_THE_HOUSE: {"source": "house"},
        POT: {"game": "starboard", "min_cents": 100, "max_cents": 100_000, "options": {}, "rake_permille": 50},
    }
    hands = []
    for number, (name, settings) in enumerate(chosen.items()):
        felt = table(name, **settings)
        hand = Hand(felt, staff(Role.DEALER, f"dealer{number}", f"10{number}"))
        Hand(felt, boss)("open_table")
        recorder.sign_in(felt, hand.by)
        hand.ready_shoe()
        hands.append(hand)
    for seat in (1, 3, 5):
        hands[2]("buy_in", seat=seat, amount_cents=20_000)
    return hands, Hand(hands[0].table, boss)


def play(hand: Hand, chance: random.Random, steps: int) -> None:
    """Whatever is due, so many times."""
    for _ in range(steps):
        step(hand, chance)


def step(hand: Hand, chance: random.Random) -> None:
    """One input that the dealer could press now."""
    board = hand.board
    asks = [ask for ask in board.prompts if isinstance(ask, AskBet) and not ask.placed_cents]
    if board.due == "bets" and asks and chance.random() < 0.5:
        hand("bet", seat=asks[0].seat, amount_cents=chance.choice([1_000, 2_000, 5_000]))
    elif board.card_keys:
        current = hand.now.round
        assert current is not None
        dealt = current.game.gone(current.state)
        ranks_left = [rank for rank in RANKS if dealt[rank - 1] < shoe(1)[rank - 1]]
        hand("card", rank=chance.choice(ranks_left))
    else:
        stay = (
            "retire_shoe", "take_back", "cash_out", "sign_out", "issue_seat_page", "time_charge", "cut_card_out",
            "give_back_reader",
        )  # fmt: skip
        pressed = [button.input for button in board.buttons if button.input["do"] not in stay]
        hand(**chance.choice(pressed)) if pressed else hand("bet", seat=asks[0].seat, amount_cents=1_000)


def _until_a_round_is_open(hand: Hand) -> None:
    chance = random.Random(1)
    while not (hand.now.round_open and not hand.board.pay):
        step(hand, chance)


def _until_it_is_over(hand: Hand) -> None:
    chance = random.Random(2)
    while hand.now.round_open:
        step(hand, chance)


# --- forging ---------------------------------------------------------------------------------------------------

Change = Callable[[dict[str, Any]], None]

HEADING = ("book", "seq", "at", "subject", "kind", "round", "by", "key")


def document_of(line: bytes) -> dict[str, Any]:
    """What a line of a bundle's entries says, by its names."""
    heading, body = spelling.split(line)
    columns: dict[str, Any] = json.loads(body) if heading is None else dict(zip(HEADING, heading, strict=True))
    parts = spelling.read(columns["subject"], body)
    return columns | {"content": parts.content, "moves": parts.moves}


def line_of(document: dict[str, Any]) -> bytes:
    """And back."""
    body = spelling.spell(document["subject"], document["content"], document["moves"])
    return canonical([document[name] for name in HEADING]) + b" " + body


@dataclass
class Forger:
    """Takes a bundle apart, changes it, makes hashes and seals anew as far as asked, and puts it together."""

    path: Path
    parts: dict[str, list[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with ZipFile(self.path) as bundle:
            self.manifest = json.loads(bundle.read(MANIFEST))
            self.parts = {name: bundle.read(name).split(b"\n")[:-1] for name in bundle.namelist() if name != MANIFEST}

    def write(self, path: Path) -> Path:
        """The bundle with a manifest that fits."""
        with path.open("wb") as file:
            writer = Writer(file)
            writer.format = self.manifest["format"]
            for name, lines in self.parts.items():
                writer.part(name, lines)
            writer.close(self.manifest["from"], self.manifest["to"])
        return path

    # --- parts

    def part(self, book: str, name: str) -> list[bytes]:
        return self.parts[book_part(BOOKS.index(book) + 1, name)]

    def documents(self, name: str) -> list[Any]:
        return [json.loads(line) for line in self.parts[name]]

    def replace_part(self, name: str, documents: Iterable[Any]) -> None:
        self.parts[name] = [canonical(document) for document in documents]

    def leaf(self, day: str, book: str) -> dict[str, Any]:
        leaf_document: dict[str, Any] = json.loads(self.parts[leaves_part(day)][BOOKS.index(book)])
        return leaf_document

    def bodies(self, book: str) -> list[dict[str, Any]]:
        return [document_of(line[65:]) for line in self.part(book, "entries")]

    def find(self, book: str, subject: str, kind: str, **content: Any) -> int:
        """The number of the first entry of a kind whose content has these."""
        return int(next(
            body["seq"] for body in self.bodies(book)
            if (body["subject"], body["kind"]) == (subject, kind)
            and all(body["content"].get(name) is not None if value is ... else body["content"].get(name) == value
                    for name, value in content.items())
        ))  # fmt: skip

    def moving(self, book: str, kind: str) -> int:
        """The number of the first entry that makes such a transfer."""
        return int(next(body["seq"] for body in self.bodies(book) if any(move[0] == kind for move in body["moves"])))

    # --- changes

    def rewrite(self, book: str, seq: int, change: Change) -> None:
        """Change an entry's document, and hash it and everything after it anew."""
        bodies = self.bodies(book)
        change(next(body for body in bodies if body["seq"] == seq))
        self.chain(book, bodies)

    def chain(self, book: str, bodies: list[dict[str, Any]]) -> None:
        """Hash entries anew, from the head that the day begins with."""
        opening = self.opening(book)
        previous, lines = bytes.fromhex(opening["head"]) if opening else b"", []
        for body in bodies:
            line = line_of(body)
            previous = sha256(previous + line).digest()
            lines.append(previous.hex().encode() + b" " + line)
        self.parts[book_part(BOOKS.index(book) + 1, "entries")] = lines

    def opening(self, book: str) -> dict[str, Any] | None:
        day = (date.fromisoformat(self.manifest["from"]) - timedelta(days=1)).isoformat()
        return self.leaf(day, book) if leaves_part(day) in self.parts else None

    def move(self, book: str, seq: int, leg: int, change: Callable[[list[Any]], None]) -> None:
        """Change a transfer as the ledger has it: [id, seq, leg, kind, from, place, to, place, amount, reverses]."""
        name = book_part(BOOKS.index(book) + 1, "transfers")
        rows = self.documents(name)
        change(next(row for row in rows if row[1:3] == [seq, leg]))
        self.replace_part(name, rows)

    def drop_move(self, book: str, seq: int, leg: int) -> None:
        name = book_part(BOOKS.index(book) + 1, "transfers")
        self.replace_part(name, [row for row in self.documents(name) if row[1:3] != [seq, leg]])

    # --- seals

    def sign_day(self, number: int, key: Ed25519PrivateKey, change: Change) -> None:
        """Change one day's document and sign it anew."""
        lines = self.documents(ROOTS)
        document = lines[number - 1]["document"]
        change(document)
        lines[number - 1]["signature"] = seals.sign(key, document).hex()
        self.replace_part(ROOTS, lines)

    def seal(self, key: Ed25519PrivateKey) -> None:
        """Seal the bundle's one day anew, over what its entries are now; and every day of the chain with this key."""
        day = self.manifest["to"]
        leaves = [self.leaf(day, book) for book in BOOKS]
        for leaf in leaves:
            entries = self.part(leaf["book"], "entries")
            hashes = [bytes.fromhex(line[:64].decode()) for line in entries]
            leaf["last"] = leaf["first"] + len(hashes) - 1
            leaf["head"], leaf["root"] = hashes[-1].hex(), merkle.root(hashes).hex()
        self.replace_part(leaves_part(day), leaves)
        self.sign_all(key, {day: {"root": merkle.root(self.parts[leaves_part(day)]).hex()}})

    def sign_all(self, key: Ed25519PrivateKey, changes: dict[str, dict[str, Any]]) -> None:
        """Chain and sign all days anew with a key."""
        previous, lines = None, []
        for line in self.documents(ROOTS):
            document = line["document"] | {"previous": previous, "key": seals.public_of(key)}
            document |= changes.get(document["day"], {})
            lines.append({"document": document, "signature": seals.sign(key, document).hex()})
            previous = seals.hash_of(document)
        self.replace_part(ROOTS, lines)
        self.replace_part(KEYS, [{"key": seals.public_of(key)}])


@contextmanager
def kept_for_a_module(blocker: Any) -> Iterator[None]:
    """The database for a fixture that many tests share: everything that was written is undone afterwards."""
    from django.db import transaction

    with blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)
