"""Random floors: whatever happens at two tables and one cage, in whatever order, every chip and coin is accounted for.

The machine plays a floor through the functions that the floor itself uses, and keeps books of its own beside it, by
plain addition. It also knows what no log does: which seat was paid wrongly, and so what a count will really find.
"""

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from ledger import cage
from ledger.models import HOUSE, Account, Assignment, Book, Discrepancy, LogEntry, Slip, SlipSignature, Transfer
from ledger.proof.chips import CASH_PLACES, CHIP_PLACES, MAY_BE_NEGATIVE
from tables import dealing, inputs, standing
from tables.audit import proofs, watch
from tables.day import figures
from tables.dealing import Answer
from tables.games.cards import RANKS, shoe
from tables.games.felt import AskBet, Payout
from tables.inputs import (
    BeginSlip,
    ChangeChips,
    Input,
    ProposeCorrection,
    SellChips,
    SignCorrection,
    SignIn,
    SignSlip,
    TakeBack,
    VoidSlip,
)
from tables.log import paper
from tables.log.fold import Standing
from tables.log.series import SLIPS, Chips, Stage, kind_of, total
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.floor import Hand

PEOPLE = {
    Role.DEALER: ("dan", "dot", "dee"),
    Role.PIT_BOSS: ("pam", "pat", "pip"),
    Role.CASHIER: ("cas", "cat"),
    Role.CAGE_MANAGER: ("cam",),
    Role.SECURITY: ("sal", "sid", "sue", "sly"),
    Role.COUNTER: ("con", "cyd", "cal", "cob", "cub"),
    Role.OPERATOR: ("ora",),
}
WHITE, RED = 100, 500
AMOUNTS = st.sampled_from((WHITE, 20_000, 20_000, 500_000, 500_000, "all", "more"))
"""What is sold or asked for: a chip, some, much, everything that is there, and more than that."""
DAY = timedelta(days=1)
KEPT = ("retire_shoe", "take_back", "cut_card_out")
"""Buttons that would make of most floors the shuffling of a shoe."""
ERRORS = st.sampled_from((-20_001 // WHITE * WHITE, -WHITE, 0, 0, WHITE, 30_000))
"""By how much both who count are wrong."""
VOIDABLE = [name for name, series in SLIPS.items() if series.is_voidable]
RACK_COUNTS = st.sampled_from(("rack", "rack", "opener", "closer"))
CHANCE = st.integers(0, 2**32)
WHICH = st.sampled_from((0, 0, 0, 1))
"""The first table is open when a floor begins, the second one closed."""


class Died(Exception):
    """The server is killed before it commits."""


@dataclass
class Mispay:
    """What only the test knows: a seat was handed something else than was due."""

    round: int
    seat: int
    handed_cents: int
    is_counted: bool = False


@dataclass
class Known:
    """A table as the test reckons it."""

    table: Table
    dealer: Hand
    opened_cents: int = 0
    rounds: dict[int, dict[int, Payout]] = field(default_factory=dict)
    reckoned: Counter[str] = field(default_factory=Counter)
    """What the house won since the table opened, and by what: rounds, counts, corrections."""
    earlier_cents: int = 0
    """What it won in all the times that it was open before."""
    boxes_cents: int = 0
    """What was counted in its boxes beyond the cash that was dropped."""
    mispays: list[Mispay] = field(default_factory=list)
    proposed: dict[str, Mispay] = field(default_factory=dict)
    is_overdrawn: bool = False
    """Whether a round was won that the rack could not pay: no dealer is stopped by that, the watch tells of it."""

    @property
    def now(self) -> Standing:
        return standing.of(self.table)

    def astray_cents(self) -> int:
        """What the rack really holds beyond what the ledger says."""
        return sum(self._paid(one) - one.handed_cents for one in self.mispays if not one.is_counted)

    def _paid(self, one: Mispay) -> int:
        return self.rounds[one.round][one.seat].net_cents


@dataclass
class House:
    """What every floor begins with: one table that is dealt, one that is closed."""

    staff: Mapping[str, Staff]
    hands: tuple[Hand, ...]


@pytest.fixture
def house(db: None) -> House:
    people = {name: floor.staff(role, name) for role, names in PEOPLE.items() for name in names}
    tables = tuple(floor.table(name, options={"decks": 6}, seats=3) for name in ("Rocket 1", "Rocket 2"))
    hands = tuple(Hand(table, people[name]) for table, name in zip(tables, PEOPLE[Role.DEALER], strict=False))
    floor.counted(Hand(tables[0], people["pip"]), "opener")
    dealing.sign_in(tables[0], people["dan"])
    hands[0].ready_shoe()
    return House(people, hands)


class Floor(RuleBasedStateMachine):
    """Two tables and a cage."""

    house: ClassVar[House]
    done: ClassVar[Counter[str]] = Counter()
    """What happened on all floors together, and what was refused."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = transaction.atomic()
        self.undo.__enter__()
        self.known = [Known(hand.table, hand, hand.now.opening_rack_cents) for hand in self.house.hands]
        self.holds: defaultdict[str, int] = defaultdict(int, self.by_account())
        self.dies = False

    def teardown(self) -> None:
        """At the end of every floor, every log proves what the floor says."""
        try:
            for book in Book.objects.all():
                assert proofs.verify(book).fault is None
            assert watch.recount() == sum(self.held(at, "rack") < 0 for at in self.known)
            assert watch.reconcile() == watch.prove_sums() == 0
            self._report()
        finally:
            transaction.set_rollback(True)
            self.undo.__exit__(None, None, None)

    def _report(self) -> None:
        """The house's report of the whole time says the same as the test reckoned step by step."""
        now = timezone.now()
        lines = {line.name: line for line in figures.between(now - DAY, now + DAY).lines}
        for at in self.known:
            won = at.earlier_cents + sum(at.reckoned.values()) + at.boxes_cents
            assert lines[at.table.name].win_cents == won
            assert lines[at.table.name].rounds == len(at.rounds)

    # --- entering, dying, being refused ---

    def enter(self, at: Known, entered: Input, by: Staff, seq: int | None = None) -> Answer | None:
        """Enter something; None when it is refused. A refusal and a server that dies leave nothing behind; and what
        is sent again under its key happened once."""
        key, before = uuid.uuid4(), rows()
        if self.dies:
            self.dies = False
            self.done["died"] += 1
            with suppress(Died, Refused):
                self._die(at, entered, by, key, seq)
            assert rows() == before
        try:
            answer = dealing.record(at.table, entered, by=by, key=key, expected_seq=seq)
        except Refused as refused:
            self.done[refused.code] += 1
            assert rows() == before
            return None
        after = rows()
        again = dealing.record(at.table, entered, by=by, key=key, expected_seq=seq)
        assert (again.entry, again.again) == (answer.entry, True)
        assert rows() == after
        return answer

    def _die(self, at: Known, entered: Input, by: Staff, key: uuid.UUID, seq: int | None) -> None:
        with transaction.atomic():
            dealing.record(at.table, entered, by=by, key=key, expected_seq=seq)
            raise Died

    def moved(self, at: Known, source: str, target: str, cents: int) -> None:
        """The test's own books: so much went from one place to another."""
        self.holds[self._place(at, source)] -= cents
        self.holds[self._place(at, target)] += cents

    def _place(self, at: Known, place: str) -> str:
        return place if place in ("cage", "bank", "cash", "vault") else f"{at.table.name} {place}"

    def held(self, at: Known, place: str) -> int:
        return self.holds[self._place(at, place)]

    # --- dealing ---

    @rule(which=WHICH, chance=CHANCE, inputs_=st.integers(1, 25))
    def deal(self, which: int, chance: int, inputs_: int) -> None:
        """So many inputs at a table, whatever is due there: it may stop in mid-round."""
        at, draw = self.known[which], random.Random(chance)
        for _ in range(inputs_):
            if at.now.is_open:
                self._deal_on(at, draw)

    @rule(which=WHICH, chance=CHANCE, error=st.sampled_from((0, -1_000, 500, 3_000)))
    def deal_a_round(self, which: int, chance: int, error: int) -> None:
        """A round to its end. Where the dealer's hand errs, the log knows nothing of it."""
        at, draw = self.known[which], random.Random(chance)
        settled = self.done["settled"]
        for _ in range(60):
            if at.now.is_open and (self.done["settled"] == settled or at.now.round_open):
                self._deal_on(at, draw)
        current = at.now.round
        if self.done["settled"] == settled or current is None:
            return
        paid = [one for one in at.rounds[current.number].values() if one.net_cents + error >= -one.staked_cents]
        if error and paid:
            one = draw.choice(paid)
            at.mispays.append(Mispay(current.number, one.seat, one.net_cents + error))
            self.done["mispaid"] += 1

    def _deal_on(self, at: Known, draw: random.Random) -> None:
        board, hand = at.dealer.board, at.dealer
        if board.due == "dealer":
            self.enter(at, SignIn(), hand.by)
        elif board.due == "check":
            self._input(at, {"do": "check_decks", "counts": shoe(6)})
        elif bets := [one for one in board.prompts if isinstance(one, AskBet) and not one.placed_cents]:
            if len(bets) > 1 or board.due != "bets":
                seat = draw.choice(bets).seat
                self._input(at, {"do": "bet", "seat": seat, "amount_cents": draw.choice((1_000, 2_000, 11_000))})
            else:
                self._input(at, {"do": "close_bets"})
        elif board.card_keys and draw.random() < 0.8:
            self._input(at, {"do": "card", "rank": _a_card(at.now, draw)})
        elif pressed := [one for one in board.buttons if one.input["do"] not in KEPT]:
            self._input(at, draw.choice(pressed).input)

    def _input(self, at: Known, said: dict[str, Any]) -> None:
        self._play(at, inputs.read(said), at.dealer.by)

    def _play(self, at: Known, entered: Input, by: Staff) -> None:
        if self.enter(at, entered, by, at.now.seq):
            self.done[str(entered.__class__.__name__)] += 1
            self._settle(at)

    def _settle(self, at: Known) -> None:
        """A round that is over pays; one whose last card was taken back pays nothing any more."""
        current = at.now.round
        if current is None:
            return
        paid = current.game.settle(current.state) if current.over else ()
        before, after = at.rounds.pop(current.number, {}), {one.seat: one for one in paid}
        won = sum(one.net_cents for one in before.values()) - sum(one.net_cents for one in after.values())
        if after:
            at.rounds[current.number] = after
            self.done["settled"] += not before
        else:
            at.mispays = [one for one in at.mispays if one.round != current.number]
        self.moved(at, "players", "rack", won)
        at.reckoned["rounds"] += won
        at.is_overdrawn |= self.held(at, "rack") < 0

    @rule(which=WHICH)
    def take_back(self, which: int) -> None:
        """The pit takes the latest key back, perhaps the one that settled the round."""
        at = self.known[which]
        current = at.now.round
        if current and any(one.round == current.number for one in [*at.mispays, *at.proposed.values()]):
            return
        self._play(at, TakeBack(), self.house.staff["pam"])

    @rule(which=WHICH, signed=st.booleans())
    def propose_correction(self, which: int, signed: bool) -> None:
        """A mispay is found: what was handed over is said."""
        at = self.known[which]
        for one in [mispay for mispay in at.mispays if mispay not in at.proposed.values()][:1]:
            said = ProposeCorrection(one.round, one.seat, one.handed_cents, "seen on the camera")
            if answer := self.enter(at, said, self.house.staff["pam"], at.now.seq):
                entry = LogEntry.objects.get(book=at.table.book_id, seq=answer.entry)
                at.proposed[entry.content["correction"]["slip"]] = one
        if signed:
            self.sign_correction(which)

    @rule(which=WHICH)
    def sign_correction(self, which: int) -> None:
        """The second signature: what is due changes hands, and what the mispay left in the rack is told from it."""
        at = self.known[which]
        for name, one in list(at.proposed.items())[:1]:
            if self.enter(at, SignCorrection(name), self.house.staff["pat"], at.now.seq):
                del at.proposed[name]
                at.mispays.remove(one)
                back = one.handed_cents - at.rounds[one.round][one.seat].net_cents
                self.moved(at, "players", "rack", back)
                if not one.is_counted:
                    self.moved(at, "rack", "over_short", back)
                at.reckoned["corrections"] += back if one.is_counted else 0
                self.done["corrected after a count" if one.is_counted else "corrected"] += 1

    # --- cash ---

    @rule(which=WHICH, amount=AMOUNTS)
    def sell(self, which: int, amount: int | str) -> None:
        at = self.known[which]
        cents = self._amount(amount, self.held(at, "rack"))
        if self.enter(at, SellChips(cents), at.dealer.by, at.now.seq):
            self.moved(at, "rack", "players", cents)
            self.moved(at, "cash", "drop_box", cents)
            self.done["sold"] += 1

    @rule(which=WHICH, up=st.booleans())
    def change(self, which: int, up: bool) -> None:
        at = self.known[which]
        self.enter(at, ChangeChips(RED, up), at.dealer.by, at.now.seq)

    def _amount(self, amount: int | str, there: int) -> int:
        return {"all": there, "more": there + WHITE}.get(str(amount), amount if isinstance(amount, int) else 0)

    # --- slips ---

    @rule(which=WHICH, series=st.sampled_from(("fill", "credit")), amount=AMOUNTS, steps=st.integers(0, 4))
    def ask(self, which: int, series: str, amount: int | str, steps: int) -> None:
        """A fill or a credit is asked for, and signed so far."""
        at = self.known[which]
        there = self.holds["cage"] if series == "fill" else self.held(at, "rack")
        cents = self._amount(amount, there)
        if self.enter(at, BeginSlip(series, ((WHITE, cents // WHITE),)), self.house.staff["pip"]):
            name = at.now.slips[-1].name
            for _ in range(steps):
                self._sign(at, name, 0)

    @rule(which=WHICH)
    def remove_box(self, which: int) -> None:
        """A box is taken away. What lay in that of a table which was never open would belong to no report."""
        at = self.known[which]
        if at.now.opened_seq:
            self.enter(at, BeginSlip("drop", (), "box"), self.house.staff["sue"])

    @rule(which=WHICH, series=RACK_COUNTS, error=ERRORS)
    def count_rack(self, which: int, series: str, error: int) -> None:
        """A rack is counted, alike by two, perhaps wrongly: the table opens or closes with it, or is dealt on."""
        at = self.known[which]
        found = max(0, self.held(at, "rack") + at.astray_cents() + error)
        chips = ((WHITE, found // WHITE),)
        if self.enter(at, BeginSlip(series, chips), self.house.staff["dee"]):
            self._count_again(at, chips)

    @rule(which=WHICH, series=RACK_COUNTS)
    def count_rack_unlike(self, which: int, series: str) -> None:
        """Two do not count the same: nothing comes of it."""
        at = self.known[which]
        if self.enter(at, BeginSlip(series, ((WHITE, 1),)), self.house.staff["dee"]):
            slip = at.now.slips[-1]
            answer = self.enter(at, SignSlip(slip.name, "recounted", ((WHITE, 2),)), self.house.staff["pip"])
            assert answer is not None
            assert slip.name not in {one.name for one in at.now.slips}
            self.done["counted unlike"] += 1

    def _count_again(self, at: Known, chips: Chips) -> None:
        slip = at.now.slips[-1]
        answer = self.enter(at, SignSlip(slip.name, "recounted", chips), self.house.staff["pip"])
        assert answer is not None, "what was begun can be finished"
        expected, found = self.held(at, "rack"), total(chips)
        self.moved(at, "over_short", "rack", found - expected)
        self.done[slip.series.name] += 1
        self.done["over" if found > expected else "short"] += found != expected
        assert Discrepancy.objects.filter(key=f"count:{at.table.book_id}:{answer.entry}").exists() == (
            found != expected
        )
        for one in at.mispays:
            one.is_counted = True
        if slip.series.name == "opener":
            at.earlier_cents += sum(at.reckoned.values())
            at.reckoned, at.opened_cents = Counter(), found
        else:
            at.reckoned["counts"] += found - expected
        if slip.series.name == "closer":
            self._closes(at, found)

    @rule(which=WHICH, pick=st.integers(0, 5), steps=st.integers(1, 5), error=ERRORS)
    def sign(self, which: int, pick: int, steps: int, error: int) -> None:
        """The next signatures on a slip in progress, by whoever is to give them."""
        at = self.known[which]
        for slip in at.now.slips[pick % max(1, len(at.now.slips)) :][:1]:
            for _ in range(steps):
                self._sign(at, slip.name, error)

    def _sign(self, at: Known, name: str, error: int) -> None:
        slip = next((one for one in at.now.slips if one.name == name), None)
        if slip is None or slip.due is None:
            return
        due, chips = slip.due, ()
        if due.name.startswith(("counted", "recounted")):
            chips = paper.as_chips(((WHITE, max(0, slip.expected_cents + error) // WHITE),))
        if self.enter(at, SignSlip(slip.name, due.name, chips), self._signer(at, slip, due)):
            self.done[f"{slip.series.name} {kind_of(due.name)}"] += 1
            self._follow(at, slip, due.name, chips)

    def _signer(self, at: Known, slip: paper.Slip, due: Stage) -> Staff:
        """Somebody of the right role who did not sign yet; the carriers of boxes are not those of chips."""
        signed = {one.username for one in slip.signed}
        if due.here and at.now.dealer:
            return self.house.staff[at.now.dealer.username]
        names = [name for role in sorted(due.by, reverse=True) for name in PEOPLE.get(Role(role), ())]
        boxes = {"sue", "sly"}
        of_a_box = slip.series.name == "drop"
        fit = [name for name in names if name not in signed and (of_a_box or name not in boxes)]
        return self.house.staff[(sorted(fit, key=lambda name: name not in boxes) if of_a_box else fit)[0]]

    def _follow(self, at: Known, slip: paper.Slip, stage: str, chips: Chips) -> None:
        """What a signature moves, by FLOOR's words."""
        cents = total(slip.chips)
        match slip.series.name, kind_of(stage):
            case "fill", "carried":
                self.moved(at, "cage", "transit", cents)
            case "fill", "confirmed":
                self.moved(at, "transit", "rack", cents)
            case "credit", "carried":
                self.moved(at, "rack", "transit", cents)
            case "credit", "received":
                self.moved(at, "transit", "cage", cents)
            case (("fill" | "credit"), "voided"):
                self._go_back(at, slip, cents)
            case "drop", "witnessed":
                self.moved(at, "drop_box", "boxes", self.held(at, "drop_box"))
            case "drop", "recounted" if chips in slip.counts:
                self.moved(at, "cash_over_short", "boxes", total(chips) - slip.expected_cents)
                self.moved(at, "boxes", "bank", total(chips))
                at.boxes_cents += total(chips) - slip.expected_cents
                self.done["box counted"] += 1

    def _go_back(self, at: Known, slip: paper.Slip, cents: int) -> None:
        start, end = ("cage", "rack") if slip.series.name == "fill" else ("rack", "cage")
        if {"confirmed": "fill", "received": "credit"}.get(slip.signed[-2].stage) == slip.series.name:
            self.moved(at, end, start, cents)
        elif slip.moves_on or "carried" in slip.stages:
            self.moved(at, "transit", start, cents)

    @rule(which=WHICH, pick=st.integers(0, 20), chance=CHANCE)
    def ask_to_void(self, which: int, pick: int, chance: int) -> None:
        """A slip is to be void: one in progress, or one that was complete."""
        at = self.known[which]
        mine = Slip.objects.filter(book=at.table.book_id, series__in=VOIDABLE).order_by("pk")
        if names := [f"{one.series}/{one.year}/{one.number}" for one in mine]:
            name = names[-1 - pick % len(names)]
            self.enter(at, VoidSlip(name, "by mistake"), self.house.staff["cat"])

    # --- what is not allowed, and the server's death ---

    @rule()
    def the_server_dies_next(self) -> None:
        self.dies = True

    @rule(which=WHICH, pick=st.integers(0, 5), who=st.sampled_from(sorted(sum(PEOPLE.values(), ()))))
    @precondition(lambda self: any(known.now.slips for known in self.known))
    def sign_what_is_not_theirs(self, which: int, pick: int, who: str) -> None:
        """Nobody signs twice, and nobody for another's role."""
        at, by = self.known[which], self.house.staff[who]
        for slip in at.now.slips[pick : pick + 1]:
            due = slip.due
            assert due is not None
            if by.role not in due.by or who in {one.username for one in slip.signed}:
                assert self.enter(at, SignSlip(slip.name, due.name, slip.chips), by) is None

    # --- what holds after every step ---

    @invariant()
    def everything_adds_up(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        found = self.by_account()
        assert +found == +Counter(self.holds), "every chip and coin is where the test says"
        assert -found == -Counter(self.holds)
        for name, cents in found.items():
            assert cents >= 0 or name.split()[-1] in MAY_BE_NEGATIVE or name in self._overdrawn(), "nothing is below 0"
        sums: Counter[str] = Counter()
        for name, cents in found.items():
            sums[name.split()[-1]] += cents
        assert sum(sums[place] for place in CHIP_PLACES) == 0
        assert sum(sums[place] for place in CASH_PLACES) == 0
        assert sums["layout"] == 0
        for at in self.known:
            if at.now.is_open:
                won = self.win(at, at.now.opened_seq, found[f"{at.table.name} rack"])
                assert won == sum(at.reckoned.values()), "the win is what rounds, counts and corrections say"

    def _overdrawn(self) -> set[str]:
        for at in self.known:
            at.is_overdrawn &= self.held(at, "rack") < 0
        return {f"{at.table.name} rack" for at in self.known if at.is_overdrawn}

    def _closes(self, at: Known, found: int) -> None:
        """The formula over the whole time that the table was open."""
        opened = LogEntry.objects.filter(book=at.table.book_id, subject="table", kind="opened").latest("seq")
        assert opened.content["rack_cents"] == at.opened_cents
        closed = LogEntry.objects.filter(book=at.table.book_id, subject="table", kind="closed").latest("seq")
        assert closed.content["rack_cents"] == found
        assert self.win(at, opened.seq, found) == sum(at.reckoned.values())

    def win(self, at: Known, since: int, closer: int) -> int:
        """closer + credits + drop - opener - fills, from the transfers alone."""
        net: Counter[tuple[str, str]] = Counter()
        for one in Transfer.objects.filter(book=at.table.book_id, seq__gt=since):
            net[one.source_place, one.target_place] += one.amount_cents
            net[one.target_place, one.source_place] -= one.amount_cents
        credits_less_fills, drop = net["rack", "transit"], net["cash", "drop_box"]
        return closer + credits_less_fills + drop - at.opened_cents

    def by_account(self) -> Counter[str]:
        """What every account holds by the ledger."""
        net = cage.net_effect(cage.all_books())
        found: Counter[str] = Counter()
        for account in Account.objects.select_related("book"):
            name = account.place if account.book.name == HOUSE else f"{account.book.name} {account.place}"
            found[name] += net.get(account.pk, 0)
        return found


def rows() -> tuple[int, ...]:
    """What is in the books."""
    return tuple(model.objects.count() for model in (LogEntry, Transfer, Slip, SlipSignature, Discrepancy, Assignment))


def _a_card(now: Standing, draw: random.Random) -> int:
    """One that is still in the shoe."""
    current = now.round
    assert current is not None
    whole, gone = shoe(current.rules.decks), current.game.gone(current.state)
    return draw.choice([rank for rank in RANKS if whole[rank - 1] > gone[rank - 1]])


@pytest.fixture
def machine(house: House) -> type[Floor]:
    Floor.house, Floor.done = house, Counter()
    return Floor


SEVERAL = settings(
    max_examples=12,
    stateful_step_count=30,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_whatever_happens_every_chip_is_accounted_for(machine: type[Floor]) -> None:
    """Harm: chips or cash that appear, vanish or count twice after some order of events that nobody thought of."""
    run_state_machine_as_test(machine, settings=SEVERAL)


def test_a_day_by_hand(machine: type[Floor]) -> None:
    """Harm: a machine that is refused everything, and proves nothing."""
    day = machine()
    try:
        day.deal_a_round(0, 1, 500)
        day.propose_correction(0, signed=False)
        day.the_server_dies_next()
        day.sign_correction(0)
        day.deal_a_round(0, 2, 500)
        day.count_rack(0, "rack", -WHITE)
        day.propose_correction(0, signed=True)
        day.deal_a_round(0, 3, 0)
        day.take_back(0)
        day.everything_adds_up()
        day.sell(0, 20_000)
        day.change(0, up=True)
        for series in VOIDABLE:
            day.ask(0, series, 20_000, steps=2)
            day.ask_to_void(0, 0, 0)
            day.sign(0, 0, 1, 0)
            day.ask(0, series, 20_000, steps=4)
            day.ask_to_void(0, 0, 0)
            day.sign(0, 0, 1, 0)
            day.everything_adds_up()
        day.remove_box(0)
        day.sign(0, 0, 3, -WHITE)
        day.deal_a_round(0, 4, 0)
        day.count_rack_unlike(0, "rack")
        day.count_rack(0, "closer", 30_000)
        day.count_rack(1, "opener", 0)
        day.everything_adds_up()
    finally:
        day.teardown()
    happened = {"corrected", "corrected after a count", "TakeBack", "settled", "mispaid", "sold", "died", "over"}
    happened |= {"fill confirmed", "fill voided", "credit received", "credit voided", "box counted", "counted unlike"}
    happened |= {"opener", "closer", "rack", "short"}
    assert happened <= set(+machine.done), happened - set(machine.done)
