"""Four days of a house in which everything happens that its log has a word for, the same in every run.

They lie in the past, under clocks that stand (``tests.clock``), and chance is drawn from a seed: shoes, salts, tokens,
keys. ``missing`` names whatever the closed tables have and a log has not, so that nobody has to keep a list of it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from uuid import uuid4

import psycopg
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import connection
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone
from msgspec import structs

from casino.embedded.servers import SUPERUSER
from ledger import alerts, cage, discrepancies
from ledger import site_log as house_book
from ledger.models import HOUSE, Account, Alert, Book, Notice
from ledger.proof import seals
from ledger.proof.chips import MOVEMENTS
from tables import pepper
from tables.approvals import proposals
from tables.audit import (
    activity_checks,
    checkpoints,
    clock_correction,
    database_restore,
    day_seals,
    keys,
    sealed_note_checks,
    watch,
)
from tables.audit.clock_correction import CorrectionRequest
from tables.cage import cage_desk, denominations
from tables.disputes import corrections
from tables.edge.shoe_audit import ShoeAudit
from tables.floor import recorder
from tables.floor.inputs import (
    BeginSlip,
    CloseDispute,
    ConfirmRestored,
    DeclineCorrection,
    Input,
    NoteDispute,
    OpenDispute,
    ProposeCorrection,
    RuleDispute,
    SignCorrection,
    SignSlip,
    VoidSlip,
)
from tables.games.cards import RANK_SIGNS, shoe
from tables.games.catalog import GAMES
from tables.log.catalog import AT_TABLES, IN_THE_HOUSE
from tables.log.entries.pits import FloorPlanDrawn, PitSectionSet
from tables.management.commands.pepper import carry
from tables.models import Denomination, PracticeAnswer, ShoeSource, Staff, Table
from tables.refusals import Refused
from tables.reports import access_review, day_close, gaming_hours
from tables.reports.gaming_hours import Hours
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
from tables.setup import floor_plans, pay_tables, pit_assignments, pits, table_settings
from tables.setup.pit_assignments import AssignmentChange
from tables.staff import emergency, staffing, terminals
from tables.training import certificates
from tests import floor, load
from tests.carried import (
    alerting,
    card_readers,
    cash,
    chip_papers,
    custody,
    dated_proposals,
    house_terms,
    limit_plans,
    mishaps,
    outage,
    own_secrets,
    passkeys_on_slips,
    programs,
    reliefs,
    without_rounds,
)
from tests.carried.attested import terminals_sign
from tests.clock import Clock
from tests.floor import PIN, Hand, signs
from tests.settings import HOUSE as SERVERS
from tests.tables import bundles
from tests.tables.chance import Chance
from tests.tables.floor.test_pots import play_out
from tests.tables.floor.test_standard_cards import GAMES_ON_STANDARD_CARDS, OPTIONS, play_round
from tests.tables.floor.test_standard_cards import ready as standard_cards_ready

BEGINS: Final = datetime(2025, 3, 3, 10, tzinfo=UTC)
DAYS: Final = tuple((BEGINS + timedelta(days=number)).date() for number in range(4))
"""The gaming days that are sealed in the end."""
SEED: Final = "a house that never was"
TRIES: Final = 3
"""So many wrong secrets lock somebody out here."""
ONLY_BY_AN_UPGRADE: Final = {(True, "rows", "taken_over")}
"""What no house writes that was new with its release: a kept house gets it when it is upgraded."""
SINCE_THE_LATEST_KEPT_HOUSE: Final[frozenset[tuple[bool, str, str]]] = frozenset(
    (True, "slip", f"{series}_{step}")
    for series in ("bankout", "claim", "deposit", "destruction", "found", "imprestback")
    for step in ("void_asked", "voided")
) | {(True, "rotation", "line_up_set")}
"""What the log got a word for since a house was kept last. A day here makes it happen: the next house has it."""
POT_GAMES: Final = tuple(name for name, game in GAMES.items() if game.kind == "pot")
EACH_MOVE: Final = ("regent", "starboard")
"""So few of them move chips in every way that there is."""


# --- what is missing ---------------------------------------------------------------------------------------------


def missing(entries: Iterable[tuple[bool, str, str]], transfers: Iterable[str]) -> list[str]:
    """What the closed tables know and a log does not have.

    ``entries``: whether it is of the house's book, subject and kind of each entry; ``transfers``: the kind of each.
    """
    recorded = set(entries)
    due = {(True, *kind) for kind in IN_THE_HOUSE} | {(False, *kind) for kind in AT_TABLES}
    due -= ONLY_BY_AN_UPGRADE
    return named(due - recorded) + [f"a {kind}" for kind in sorted(MOVEMENTS.keys() - set(transfers))]


def named(kinds: Iterable[tuple[bool, str, str]]) -> list[str]:
    """Kinds of entries as a list says them."""
    place_words = {True: "in the house's book", False: "at a table"}
    return [f"{subject} {kind} {place_words[of_house]}" for of_house, subject, kind in sorted(kinds)]


def missing_here() -> list[str]:
    """The same, of the database that is connected."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT b.name = %s, e.subject, e.kind FROM ledger_logentry AS e JOIN ledger_book AS b"
            " ON b.id = e.book_id",
            [HOUSE],
        )
        entries = cursor.fetchall()
        cursor.execute("SELECT DISTINCT kind FROM ledger_transfer")
        return missing(entries, [kind for (kind,) in cursor.fetchall()])


# --- chance ------------------------------------------------------------------------------------------------------


@contextmanager
def by_seed(folder: Path) -> Iterator[None]:
    """The operating system's chance comes from a seed, and the house keeps its keys in a folder of its own."""
    chance = random.Random(SEED)

    def make_key(path: Path) -> Ed25519PrivateKey:
        """As ``seals`` does it, but for where the key comes from: the library would not ask the seed."""
        key = Ed25519PrivateKey.from_private_bytes(chance.randbytes(32))
        plain = serialization.NoEncryption()
        path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
        path.chmod(0o600)
        return key

    keys = {
        "AUDIT_KEY_FILE": str(folder / "audit.pem"),
        "CHECKPOINT_KEY_FILE": str(folder / "checkpoint.pem"),
        "PEPPER_FILE": str(folder / "pepper"),
    }
    with (
        patch.object(os, "urandom", chance.randbytes),
        patch.object(random, "_urandom", chance.randbytes),
        patch.object(seals, "make_key", make_key),
        override_settings(**keys, LOCKOUT_FAILURES_EVERYWHERE=2 * TRIES),
    ):
        floor.hashed.cache_clear()  # its salt is of the seed here, and of nobody's elsewhere
        pepper.add_key()
        seals.make_key(folder / "audit.pem")
        yield
    floor.hashed.cache_clear()


# --- the days ----------------------------------------------------------------------------------------------------


class House:
    """The people of the house, and its clock."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.olga, self.omar = person(Role.OPERATOR, "olga", "301"), person(Role.OPERATOR, "omar", "302")
        self.boss, self.second = person(Role.PIT_BOSS, "bella", "201"), person(Role.PIT_BOSS, "bettina", "202")
        self.cashier, self.teller = person(Role.CASHIER, "cosima", "401"), person(Role.CASHIER, "claudio", "402")
        self.guards = person(Role.SECURITY, "silvia", "501"), person(Role.SECURITY, "stefan", "502")
        self.runner = person(Role.SECURITY, "simon", "503")
        self.counters = person(Role.COUNTER, "carl", "601"), person(Role.COUNTER, "cora", "602")
        self.dora, self.dan = person(Role.DEALER, "dora", "101"), person(Role.DEALER, "dan", "102")
        self.ada = person(Role.AUDITOR, "ada", "701")
        self.carla, self.vera = person(Role.CAGE_MANAGER, "carla", "403"), person(Role.SURVEILLANCE, "vera", "801")
        self.people = {
            "boss": self.boss, "second": self.second, "security": self.runner, "cashier": self.cashier,
            "other_cashier": self.teller, "operator": self.ada,
        }  # fmt: skip

    def later(self, **span: float) -> None:
        """Time passes, for everybody."""
        self.clock.stand(timezone.now() + timedelta(**span))


def person(role: Role, username: str, badge: str) -> Staff:
    return floor.staff(role, username, badge)


def play(clock: Clock, games: Collection[str] = POT_GAMES) -> None:
    """All four days, and the night after them, with these games for a pot. Raises AssertionError where something is not
    as it was meant."""
    clock.stand(BEGINS)
    cage.open_house()
    house = House(clock)
    _first_day(house, games)
    _second_day(house)
    _third_day(house)
    _fourth_day(house)
    house_book.flush_queue()  # what the watch found last waits at the book's door until somebody writes there


def _first_day(house: House, games: Collection[str]) -> None:
    """The house is set up, deals every game from both kinds of shoe, closes, and is counted."""
    house_terms.lay_down(TRIES, by=house.olga)
    _staff(house)
    _set_up(house)
    keys.publish()
    rocket = floor.table("Rocket 1")
    _doors(house, rocket)
    _rocket(house, rocket)
    house.later(minutes=5)
    for number, (source, seed) in enumerate(((ShoeSource.KEYED, 3), (ShoeSource.HOUSE, 7)), 2):
        _whatever(house, f"Rocket {number}", source, seed)
    for name in games:
        for source in (ShoeSource.KEYED, ShoeSource.HOUSE):
            _pot_game(house, name, source)
    for name, source in zip(GAMES_ON_STANDARD_CARDS, cycle(ShoeSource), strict=False):
        _standard_cards(house, name, source)
    _marked_commission(house)
    _paid_otherwise_later(house)
    _pits(house)
    _rotation(house)
    mishaps.go_wrong(house)
    reliefs.burn_and_lock(house)
    programs.at_work(house.olga, card_readers.read(house))
    without_rounds.play(house)
    _cage(house)
    cash.emergency(house, rocket)
    for table in Table.objects.order_by("pk"):
        _box(house, table)
    cash.play(house)
    custody.play(house)
    chip_papers.first_day(house)
    _watch()
    _nightfall(house)


def _second_day(house: House) -> None:
    """What came to light overnight is put right; at the end of the day not everything is done."""
    _proved_and_closed(house, 0)
    keys.rotate()
    _auditor_looks(house)
    chip_papers.second_day(house)
    outage.papers(house)
    rocket, of_the_house = _opened(house, "Rocket 1", house.dora), _opened(house, "Rocket 3", house.dan)
    house_terms.two_people(house.olga, house.omar, house.later)
    dated_proposals.approved_for_later(rocket.table, house.olga, house.omar, house.later)
    limit_plans.for_an_hour(rocket.table, house.olga, house.later)
    limit_plans.in_an_emergency(rocket.table, house.boss, house.later)
    of_the_house("sell_chips", amount_cents=20_000)
    _looked_into(house)
    _dispute(house, rocket)
    _corrections(house, rocket)
    _voids(house, rocket, of_the_house)
    for seed, hand in enumerate((rocket, of_the_house)):
        bundles.play(hand, random.Random(seed), 40)
        _until(hand, lambda hand=hand: hand.now.round_open and not hand.board.pay)
    bundles.credit(of_the_house, house.people, bundles.STAGES[:4])
    cage_desk.sign(BeginSlip("withdrawal", ((10_000, 1),)), by=house.cashier, key=uuid4())
    _proposed(house, rocket)
    alerting.happens(house, rocket.table)
    programs.feed(house.olga, rocket.table)
    _watch()
    _nightfall(house)


def _third_day(house: House) -> None:
    """What was open over the end of the day is finished; then the clocks are wrong for a while."""
    day_seals.seal_finished()
    rocket, of_the_house = _hand_at("Rocket 1", house.dora), _hand_at("Rocket 3", house.dan)
    year = BEGINS.year
    cage_desk.sign(SignSlip(f"withdrawal/{year}/1", "approved"), by=house.second, key=uuid4())
    signs(of_the_house.table, house.cashier, SignSlip(of_the_house.now.slips[-1].name, "received"))
    [waiting] = corrections.waiting(rocket.table.book_id, rocket.now.seq)
    signs(rocket.table, house.second, SignCorrection(waiting.slip))
    for hand in (rocket, of_the_house):
        _until(hand, lambda hand=hand: not hand.now.round_open)
        hand("retire_shoe")
    rocket.table.refresh_from_db()
    assert rocket.table.options["decks"] == 8, "two people approved it for the next shoe"
    of_the_house("sign_out")
    _wrong_clock(house, rocket)
    for hand in (rocket, of_the_house):
        Hand(hand.table, house.boss)("close_table")
        _box(house, hand.table, wrong_cents=10_000 if hand is rocket else -10_000)
    _watch()
    _nightfall(house)


def _fourth_day(house: House) -> None:
    """A key is lost, a database was put back, nobody comes for thirty hours; then the last day is sealed too."""
    day_seals.seal_finished()
    Path(sealed_note_checks.key_file()).unlink()
    keys.replace_lost("The host's disk is broken, and the key with it")
    _put_back(house, "The database was put back from last night's copy")
    _day_closed(house, 2)
    terminals_sign(house.olga, house.cashier, house.second)
    passkeys_on_slips.sign(house)
    house.later(hours=30)
    assert activity_checks.confirm(house.olga, "Closed for the carnival", keys.signing_key())
    assert [row.day for row in day_seals.seal_finished()] == [DAYS[-1]]
    pepper.add_key()
    assert carry() > 10
    checkpoints.begin("house.example/books")
    assert checkpoints.grow() is not None
    _watch()


def _put_back(house: House, reason: str) -> None:
    """Two people stand for it; every table waits, and a pit boss confirms each."""
    sealed_note_checks.accept_restored(reason, (house.boss, house.olga))
    database_restore.declare(reason, house.olga)
    for table in Table.objects.in_use():
        confirmed = ConfirmRestored("The rack is locked away, no hands are out")
        recorder.record(table, confirmed, by=house.boss, key=uuid4(), expected_seq=None)


def _nightfall(house: House) -> None:
    """The gaming day is over, and the watch went on through the night."""
    today = gaming_hours.day_of(timezone.now())
    house.clock.pass_until(gaming_hours.span(today).end + timedelta(hours=3))


def _watch() -> None:
    """The watch does what is due, and finds nothing that does not hold."""
    before = Alert.objects.filter(kind="log_broken").count()
    assert watch.watch()
    assert Alert.objects.filter(kind="log_broken").count() == before, Alert.objects.filter(kind="log_broken").last()
    assert not watch.reconcile()


# --- away from the tables ----------------------------------------------------------------------------------------


def _pits(house: House) -> None:
    """Two sections of a pit; a table is moved from one to the other, and the empty one ends."""
    section_a = PitSectionSet(pit="Pit 1", section="A", tables=("Rocket 1", "Rocket 2"), first=("Rocket 2",))
    section_b = PitSectionSet(pit="Pit 1", section="B", tables=("Rocket 3",))
    for section in (section_a, section_b, structs.replace(section_b, tables=())):
        pits.set_section(section, by=house.olga)
    _posts(house, PitSectionSet(pit="Pit 2", tables=("Rocket 3",)))
    pits.set_section(structs.replace(section_a, tables=("Rocket 1", "Rocket 2", "Rocket 3")), by=house.olga)
    floor_plans.draw(
        FloorPlanDrawn(pit="Pit 1", spots={"Rocket 1": (2, 1), "Rocket 3": (6, 4)}), basis_seq=0, by=house.olga
    )


def _posts(house: House, section: PitSectionSet) -> None:
    """A pit boss is given a pit, takes over another one and gives it back; then runs the whole floor again."""
    pits.set_section(section, by=house.olga)
    pit_assignments.set_post(AssignmentChange(house.second.username, ("Pit 1",)), by=house.olga)
    pit_assignments.take_over(
        section.pit, timezone.now() + timedelta(hours=2), "A colleague was called away", by=house.second
    )
    pit_assignments.give_back(section.pit, by=house.second)
    pit_assignments.set_post(AssignmentChange(house.second.username), by=house.olga)
    pits.set_section(structs.replace(section, tables=()), by=house.olga)


def _rotation(house: House) -> None:
    """The line-up of a string is set, pushed and ended."""
    moment = timezone.now()
    change = LineUpChange(
        string="A",
        tables=("Rocket 1", "Rocket 2"),
        dealers=("", "", ""),
        turn_minutes=20,
        push_at=moment,
        ends=moment + timedelta(hours=8),
    )
    line_ups.set_line_up(change, by=house.second, basis=Basis(0))
    line_ups.push("A", by=house.second, basis=line_ups.of_string("A").basis)
    line_ups.end("A", by=house.second, basis=line_ups.of_string("A").basis)


def _staff(house: House) -> None:
    """Somebody is taken on, promoted and certified; operators print codes, and come in with them."""
    tess = own_secrets.happen(house)
    staffing.change_staff(tess, {"name": "Tess Tester"}, by=house.omar)
    practice = certificates.start(tess)
    for number, question in enumerate(certificates.session(practice).questions, 1):
        PracticeAnswer.objects.create(practice=practice, number=number, answer=question.right)
    certificates.certify(practice, by=house.boss)
    half, other_half = emergency.make(house.olga), emergency.make(house.omar)
    assert emergency.use(half, other_half, address="192.0.2.1") == house.olga
    emergency.make(house.omar)
    access_review.sign(access_review.digest_of(access_review.review()), "the first quarter", by=house.ada)


def _set_up(house: House) -> None:
    """Chips, and hours from the third day on that cut the second short."""
    chip = denominations.add_denomination(value_cents=100_000, colour="orange", face="#e67e22", by=house.olga)
    denominations.change_denomination(Denomination.objects.get(pk=chip.pk), {"face": "#d35400"}, by=house.olga)
    turns = (("Early", time(8)), ("Late", time(20)))
    gaming_hours.set_hours(Hours(DAYS[2], "Europe/Berlin", time(8), turns), by=house.olga)


def _doors(house: House, table: Table) -> None:
    """Terminals come and go; people sign in, are locked out, and are let in again; the book is busy meanwhile."""
    terminal = terminals.add("Tablet", None, by=house.olga)
    tablet = Client()
    tablet.post(terminals.link_for(terminal, by=house.olga))
    spare, _ = terminals.enrol("Spare", table, by=house.omar)
    terminals.bind(spare, None, by=house.omar)
    terminals.revoke(spare, by=house.omar)
    _by_badge(tablet, PIN, 302)
    tablet.post("/sign-out/")
    for _ in range(TRIES):
        _by_badge(tablet, "9999", 403)
    _by_badge(tablet, PIN, 429)
    staffing.lift_lock_out(house.dora, by=house.olga)
    terminals.lift_lock_out(terminal, by=house.olga)
    for number in range(2 * TRIES + 2):
        stranger = Client(REMOTE_ADDR=f"203.0.113.{number}")
        stranger.post("/sign-in/?way=name", {"username": "bella", "password": "wrong"})
    with _busy():
        _by_badge(tablet, PIN, 302)
        assert Notice.objects.filter(seq=None).exists()
    assert house_book.flush_queue()
    tablet.post("/sign-out/")


def _by_badge(tablet: Client, pin: str, status: int) -> None:
    answer = tablet.post("/sign-in/", {"badge": "101", "pin": pin})
    assert answer.status_code == status, answer.content[-500:]


@contextmanager
def _busy() -> Iterator[None]:
    """Somebody holds the house's book."""
    url = SERVERS.database_url(SUPERUSER, connection.settings_dict["NAME"])
    with psycopg.connect(url) as holder:
        holder.execute("SELECT id FROM ledger_book WHERE name = %s FOR UPDATE", [HOUSE])
        yield
        holder.rollback()


def _cage(house: House) -> None:
    """Chips for cash and back, chips to the vault and out of it, and two counts: one over, one short."""
    year = BEGINS.year
    cage_desk.sell(30_000, chips=((10_000, 2), (2_500, 4)), by=house.cashier, key=uuid4())
    cage_desk.redeem(10_000, chips=((10_000, 1),), by=house.teller, key=uuid4())
    cage_desk.sign(BeginSlip("deposit", ((10_000, 2),)), by=house.cashier, key=uuid4())
    cage_desk.sign(SignSlip(f"deposit/{year}/1", "approved"), by=house.second, key=uuid4())
    for off in (500, -500):
        cents = cage.balance(Account.objects.get(place="cage")) + off
        chips = ((100, cents // 100),)
        slip = cage_desk.sign(BeginSlip("cage", chips), by=house.cashier, key=uuid4())
        cage_desk.sign(SignSlip(slip, "recounted", chips), by=house.teller, key=uuid4())


def _proved_and_closed(house: House, number: int) -> None:
    day_seals.seal_finished()
    _day_closed(house, number)


def _day_closed(house: House, number: int) -> None:
    """Two people sign a day's figures, once its cash is counted."""
    cash.counted(house)
    assert not day_close.open_matters(DAYS[number]), day_close.open_matters(DAYS[number])
    proposed = day_close.propose(DAYS[number], by=house.boss)
    day_close.close(DAYS[number], by=house.olga, digest=proposed.digest)


def _looked_into(house: House) -> None:
    """An alert is acknowledged; of what was counted off, one is looked into, and explained."""
    alerts.acknowledge(Alert.objects.order_by("pk")[0], house.boss.signature, "seen")
    discrepancy = discrepancies.open_ones()[0]
    discrepancies.assign(discrepancy, house.olga.username, house.olga.name, by=house.boss.signature)
    discrepancies.close(discrepancy, "A chip lay under the tray", username="olga", by=house.olga.signature)


def _auditor_looks(house: House) -> None:
    """The audited shoes are listed, one is looked at, and one is taken along."""
    audited = ShoeAudit.objects.order_by("pk").first()
    assert audited is not None, "no shoe of the first day was audited"
    browser, shoe_address = floor.client(house.ada), [audited.table.pk, audited.begun_seq]
    assert browser.get(reverse("pit:shoes"), {"day": DAYS[0].isoformat()}).status_code == 200
    assert browser.get(reverse("pit:shoe", args=shoe_address)).status_code == 200
    load.whole(browser.get(reverse("pit:shoe-csv", args=shoe_address)))


# --- Rocket ------------------------------------------------------------------------------------------------------


def _rocket(house: House, table: Table) -> None:
    """A table of real cards, with what can go wrong there; it is closed in the end."""
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    table_settings.change_table(table, {"max_cents": 20_000}, by=house.olga)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer("load_shoe")
    _refused("decks_not_whole", lambda: dealer("check_decks", counts=[*shoe(1)[:9], 9]))
    dealer.ready_shoe()
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 9)
    dealer("choose", seat=4, choice="fold")
    dealer.cards(10)
    dealer.pay()
    dealer("take_back")
    dealer.pay()
    dealer("bet", seat=1, amount_cents=1_000)
    dealer("bet", seat=2, amount_cents=1_000)
    dealer("take_back")
    dealer("close_bets")
    dealer.cards(1)
    _refused("impossible_card", lambda: dealer.cards(1))
    _until(dealer, lambda: not dealer.now.round_open)
    dealer("undo_sale", sale=dealer("sell_chips", amount_cents=50_000).entry)
    dealer("sell_chips", amount_cents=30_000)
    dealer("change_chips", amount_cents=10_000, up=True)
    floor.relieve(table, house.dan)
    relief = Hand(table, house.dan)
    relief.bets(seat3=10_000)
    _until(relief, lambda: not relief.now.round_open)
    relief("cut_card_out")
    relief("take_back")
    relief("cut_card_out")
    relief("sign_out")
    recorder.sign_in(table, house.dora)
    house.later(minutes=20)
    floor.counted(boss, "rack", 500)
    floor.counted(boss, "rack", -500)
    _fill(house, dealer)
    bundles.credit(dealer, house.people, bundles.STAGES)
    dealer.ready_shoe()
    bundles.play(dealer, random.Random(1), 60)
    _until(dealer, lambda: not dealer.now.round_open)
    _reversed(dealer)
    dealer("retire_shoe")
    boss("close_table")


def _reversed(dealer: Hand) -> None:
    """The card that settled a round was keyed wrongly: its payouts are reversed, and others made."""
    _shoe_ready(dealer)
    dealer.bets(seat5=1_000)
    chance = random.Random(5)
    while not (dealer.now.round is not None and dealer.now.round.over):
        bundles.step(dealer, chance)
    dealer.reopens()
    _until(dealer, lambda: not dealer.now.round_open)


def _shoe_ready(dealer: Hand) -> None:
    if dealer.board.due != "bets":
        dealer.ready_shoe()


def _whatever(house: House, name: str, source: ShoeSource, seed: int) -> None:
    """A table at which anything happens that may: reliefs, take-backs, limits, shuffles, closings."""
    table = floor.table(name, source=source, options={"decks": 2})
    boss = Hand(table, house.boss)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer = Hand(table, house.dora)
    dealer.ready_shoe()
    chance = Chance(dealer, boss, house.olga, house.dan, random.Random(seed))
    for _ in range(10):
        house.later(minutes=2)
        for _ in range(12):
            chance.step()
    if dealer.now.dealer is None:
        if dealer.board.due == "closed":
            boss("open_table")
        recorder.sign_in(table, dealer.by)
    _until(dealer, lambda: not dealer.now.round_open)
    if dealer.now.shoe is not None:
        dealer("retire_shoe")
    table_settings.change_table(table, {"min_cents": 1_000}, by=house.olga)
    boss("close_table")


def _opened(house: House, name: str, person: Staff) -> Hand:
    """A table of the day before is opened again, and its shoe is ready."""
    hand = _hand_at(name, person)
    Hand(hand.table, house.boss)("open_table")
    recorder.sign_in(hand.table, person)
    hand.ready_shoe()
    return hand


def _hand_at(name: str, person: Staff) -> Hand:
    return Hand(Table.objects.get(name=name), person)


def _until(hand: Hand, is_over: Callable[[], bool]) -> None:
    """The dealer does whatever is due, until then."""
    chance = random.Random(1)
    while not is_over():
        bundles.step(hand, chance)


def _refused(code: str, call: Callable[[], Any]) -> None:
    """What is asked is refused, and the log says so."""
    try:
        call()
    except Refused as refused:
        outcome = refused.code
    else:
        outcome = "nothing"
    assert outcome == code, outcome


# --- slips -------------------------------------------------------------------------------------------------------


def _fill(house: House, dealer: Hand) -> str:
    """Chips come from the cage to a table where somebody deals."""
    signs(dealer.table, house.boss, BeginSlip("fill", ((10_000, 3),)))
    slip = dealer.now.slips[-1].name
    steps = {"issued": house.cashier, "carried": house.runner, "received": dealer.by, "confirmed": house.second}
    for stage, signer in steps.items():
        signs(dealer.table, signer, SignSlip(slip, stage))
    return slip


def _voids(house: House, rocket: Hand, of_the_house: Hand) -> None:
    """A fill and a credit come to nothing after all."""
    slips = (rocket, _fill(house, rocket)), (of_the_house, bundles.credit(of_the_house, house.people, bundles.STAGES))
    for hand, slip in slips:
        signs(hand.table, house.teller, VoidSlip(slip, "It was another table's"))
        signs(hand.table, house.ada, SignSlip(slip, "voided"))


def _box(house: House, table: Table, wrong_cents: int = 0) -> None:
    """The drop box is carried away and counted by two, who agree."""
    cents = cage.balance(Account.objects.get(book_id=table.book_id, place="drop_box")) + wrong_cents
    cash = ((100, cents // 100),) if cents > 0 else ()
    signs(table, house.guards[0], BeginSlip("drop", (), f"B{table.pk}"))
    slip = next(slip.name for slip in Hand(table, house.boss).now.slips if slip.series.name == "drop")
    signs(table, house.guards[1], SignSlip(slip, "witnessed"))
    for stage, signer in zip(("counted", "recounted"), house.counters, strict=True):
        signs(table, signer, SignSlip(slip, stage, cash))


# --- disputes and corrections ------------------------------------------------------------------------------------


def _enter(hand: Hand, by: Staff, entered: Input) -> None:
    recorder.record(hand.table, entered, by=by, key=uuid4(), expected_seq=None)


def _waiting(hand: Hand) -> str:
    """The correction that waits for its second signature."""
    [correction] = corrections.waiting(hand.table.book_id, hand.now.seq)
    return str(correction.slip)


def _dispute(house: House, hand: Hand) -> None:
    """Seat 1 says the day after that it was not paid, is believed, and is paid."""
    _enter(hand, hand.by, OpenDispute(1, "Not paid", "Player at seat 1", seat=1, claim_cents=2_000))
    _enter(hand, house.boss, NoteDispute(1, "Player at seat 1", "Says the stack was left untouched"))
    _enter(hand, house.second, RuleDispute(1, "player", "The camera shows no payment"))
    _enter(hand, house.boss, ProposeCorrection(1, 1, 0, "Seat 1 was passed over", dispute=1))
    _enter(hand, house.second, SignCorrection(_waiting(hand)))
    _enter(hand, house.boss, CloseDispute(1))


def _corrections(house: House, hand: Hand) -> None:
    """A seat lost too little and pays the rest; another correction is not signed."""
    _enter(hand, house.boss, ProposeCorrection(1, 4, 1_000, "Seat 4 was paid, and had folded"))
    _enter(hand, house.second, SignCorrection(_waiting(hand)))
    _enter(hand, house.boss, ProposeCorrection(2, 1, 500, "Seat 1 was paid too much"))
    _enter(hand, house.second, DeclineCorrection(_waiting(hand), "The camera shows that it was right"))


def _proposed(house: House, hand: Hand) -> None:
    """A correction of the first day waits over the end of the second."""
    _enter(hand, house.boss, ProposeCorrection(2, 1, 300, "Seat 1 got 3 too much"))


# --- games on standard cards -------------------------------------------------------------------------------------


def _standard_cards(house: House, name: str, source: ShoeSource) -> None:
    """Four rounds at a table of their own, each game from another source of cards, the last by a pay table of its own;
    then the dealer goes."""
    chance, limits = random.Random(f"{name} {source}"), {"tie": [500, 5_000]} if name == "baccarat" else {}
    table = floor.table(
        f"{GAMES[name].title} 1", game=name, source=source, options=OPTIONS[name], seats=3, wager_limits=limits
    )
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    for pays_otherwise in (False, False, False, True):
        if pays_otherwise:
            _pay_otherwise(house, table)
        standard_cards_ready(dealer)
        play_round(dealer, chance)
    if source == ShoeSource.BATCHES and dealer.board.due == "bets":
        dealer("shuffle_shoe")
    dealer("retire_shoe")
    boss("close_table")


def _paid_otherwise_later(house: House) -> None:
    """A blackjack of 15 is paid 20, rounded down from 22.50; and where no hole card is dealt, a late surrender returns
    half of the bet although the dealer then makes a blackjack. Releases after 0.9.0 pay the second otherwise."""
    options = {"hole": "none", "surrender": "late", "rounding": "down", "decks": 2}
    table = floor.table("Blackjack 2", game="blackjack", options=options, unit_cents=500, seats=3)
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer.ready_shoe()
    for seat_1, seat_2, upcard, last in ("AK", "T6", "9", ""), ("T9", "T6", "T", "A"):
        dealer("bet", seat=1, amount_cents=1_500, wager="main")
        dealer("bet", seat=2, amount_cents=1_000, wager="main")
        dealer("close_bets")
        dealer.cards(seat_1[0], seat_2[0], upcard, seat_1[1], seat_2[1])
        if last:
            dealer("choose", seat=1, choice="stand")
        dealer("choose", seat=2, choice="surrender")
        dealer.cards(*last)
        dealer.pay()
    dealer("retire_shoe")
    boss("close_table")


def _marked_commission(house: House) -> None:
    """Two seats win on the banker: one pays its commission when the table closes, the other has left. A machine read
    the decks."""
    table = floor.table("Baccarat 2", game="baccarat", options={}, seats=3, marks_commission=True)
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer("load_shoe")
    dealer("read_decks", cards=list(RANK_SIGNS * 32))
    dealer.ready_shoe()
    for seat in (1, 3):
        dealer("bet", seat=seat, amount_cents=2_000, wager="banker")
    dealer("close_bets")
    dealer.cards("2", "K", "5", "9")
    dealer.pay()
    dealer("collect_commission", seat=1)
    boss("forgive_commission", seat=3, reason="The player has left.")
    dealer("retire_shoe")
    boss("close_table")


def _pay_otherwise(house: House, table: Table) -> None:
    """Make a second version of a pay table and set the table to it; by two people where it favours the player."""
    paid = GAMES[table.game].pay_form.wagers
    for bound in ("least", "most"):
        lines = {wager.name: {line.name: getattr(line, bound).spelled for line in wager.lines} for wager in paid}
        row = pay_tables.make(table.game, "Sides of the house", lines, by=house.olga)
    options = table_settings.settings_of(table).options
    changes = {"options": {**options, "pays": pay_tables.option_of(row)}}
    if draft := table_settings.draft_of_change(table, changes):
        proposals.approve(proposals.propose(draft, "For a promotion", by=house.olga), by=house.omar)
    else:
        table_settings.change_table(table, changes, by=house.olga)


# --- games for a pot ---------------------------------------------------------------------------------------------


def _pot_game(house: House, name: str, source: ShoeSource) -> None:
    """Games of a kind at a table of their own, two from real cards or one from a house shoe; then all go."""
    game, chance = GAMES[name], random.Random(f"{name} {source}")
    chosen: Mapping[str, Any] = {"rake_permille": 100, "rake_cap_cents": 300, "time_charge_cents": 200}
    options = {"settlement": "cutchfeld", "five_card_catch": True} if name == "pairs" else {}
    table = floor.table(
        f"{game.title} {1 if source == ShoeSource.KEYED else 2}", game=name, source=source, options=options, seats=8,
        min_cents=100, max_cents=100_000, **(chosen if game.coins else {}),
    )  # fmt: skip
    boss, dealer = Hand(table, house.boss), Hand(table, house.dora)
    boss("open_table")
    recorder.sign_in(table, house.dora)
    dealer.ready_shoe()
    seat_count = game.seat_counts[-1]
    if game.coins:
        for seat in range(1, seat_count + 1):
            cents = chance.choice([300, 1_000, 5_000])
            dealer("buy_in", seat=seat, amount_cents=cents, chips=seat == 1)
    players = {seat: floor.player(dealer, seat) for seat in _able(dealer)} if source == ShoeSource.HOUSE else {}
    for _ in range(2 if source == ShoeSource.KEYED else 1):
        if len(playing := _able(dealer)) in game.seat_counts:
            dealer("start_game", seats=playing)
            for _ in play_out(dealer, chance, players):
                pass
            dealer.ready_shoe()
    if game.coins:
        house.later(minutes=40)
        dealer("time_charge")
        for seat in list(dealer.now.stacks):
            dealer("cash_out", seat=seat)
    boss("close_table")


def _able(hand: Hand) -> list[int]:
    """The seats that can play."""
    game = GAMES[hand.table.game]
    return sorted(hand.now.stacks) if game.coins else list(range(1, game.seat_counts[-1] + 1))


# --- wrong clocks ------------------------------------------------------------------------------------------------


def _wrong_clock(house: House, rocket: Hand) -> None:
    """For a while the clocks are three days ahead: the table's book and the house's are given their true times."""
    right = timezone.now()
    house.clock.stand(right + timedelta(days=3, minutes=5))
    rocket.ready_shoe()
    bundles.play(rocket, random.Random(9), 20)
    cage_desk.sell(5_000, by=house.cashier, key=uuid4())
    house.clock.stand(right + timedelta(minutes=30))
    for book in (rocket.table.book, Book.objects.get(name=HOUSE)):
        clock_correction.mend(
            book, CorrectionRequest(), by=(house.olga, house.boss), reason="NTP was off; the cameras have the time"
        )
    _until(rocket, lambda: not rocket.now.round_open)
    rocket("retire_shoe")
