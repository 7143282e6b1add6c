"""Random floors: whatever happens at two tables and one cage, in whatever order, every chip and coin is accounted for.

The machine plays a floor through the functions that the floor itself uses, and keeps books of its own beside it, by
plain addition. It also knows what no log does: which seat was paid wrongly, and so what a count will really find.
"""

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
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
from tables.audit import proofs, watch
from tables.floor import inputs, recorder
from tables.floor.inputs import (
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
from tables.floor.recorder import Receipt
from tables.games.cards import RANKS, shoe
from tables.games.protocol import AskBet, Payout
from tables.log import slip_workflow
from tables.log.slip_types import SLIPS, Chips, Stage, kind_of, total
from tables.log.state import TableState
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import figures
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.floor import Hand
from tests.pace import percent

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
NUMBERS = st.sampled_from((0, 0, 0, 1))
"""The first table is open when a floor begins, the second one closed."""


@dataclass
class Mispay:
    """What only the test knows: a seat was handed something else than was due."""

    round: int
    seat: int
    handed_cents: int
    is_counted: bool = False


@dataclass
class Reckoning:
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
    def standing(self) -> TableState:
        return table_state.of(self.table)

    def astray_cents(self) -> int:
        """What the rack really holds beyond what the ledger says."""
        return sum(self._paid(mispay) - mispay.handed_cents for mispay in self.mispays if not mispay.is_counted)

    def _paid(self, mispay: Mispay) -> int:
        return self.rounds[mispay.round][mispay.seat].net_cents


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
    recorder.sign_in(tables[0], people["dan"])
    hands[0].ready_shoe()
    return House(people, hands)


class Floor(RuleBasedStateMachine):
    """Two tables and a cage."""

    house: ClassVar[House]
    tally: ClassVar[Counter[str]] = Counter()
    """What happened on all floors together, and what was refused."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = transaction.atomic()
        self.undo.__enter__()
        self.tables = [Reckoning(hand.table, hand, hand.now.opening_rack_cents) for hand in self.house.hands]
        self.holds: defaultdict[str, int] = defaultdict(int, self.by_account())

    def teardown(self) -> None:
        """At the end of every floor, every log proves what the floor says."""
        try:
            for book in Book.objects.all():
                assert proofs.verify(book).fault is None
            assert watch.recount() == sum(self.held_cents(reckoning, "rack") < 0 for reckoning in self.tables)
            assert watch.reconcile() == watch.prove_sums() == 0
            self._report()
        finally:
            transaction.set_rollback(True)
            self.undo.__exit__(None, None, None)

    def _report(self) -> None:
        """The house's report of the whole time says the same as the test reckoned step by step."""
        moment = timezone.now()
        lines = {line.name: line for line in figures.between(moment - DAY, moment + DAY).lines}
        for reckoning in self.tables:
            won = reckoning.earlier_cents + sum(reckoning.reckoned.values()) + reckoning.boxes_cents
            assert lines[reckoning.table.name].win_cents == won
            assert lines[reckoning.table.name].rounds == len(reckoning.rounds)

    # --- entering, being refused ---

    def enter(self, reckoning: Reckoning, entered: Input, by: Staff, seq: int | None = None) -> Receipt | None:
        """Record an input. Return None if it is refused, which leaves no row behind."""
        before = rows()
        try:
            return recorder.record(reckoning.table, entered, by=by, key=uuid.uuid4(), expected_seq=seq)
        except Refused as refused:
            self.tally[refused.code] += 1
            assert rows() == before
            return None

    def moved(self, reckoning: Reckoning, source: str, target: str, cents: int) -> None:
        """The test's own books: so much went from one place to another."""
        self.holds[self._place(reckoning, source)] -= cents
        self.holds[self._place(reckoning, target)] += cents

    def _place(self, reckoning: Reckoning, place: str) -> str:
        return place if place in ("cage", "bank", "cash", "vault") else f"{reckoning.table.name} {place}"

    def held_cents(self, reckoning: Reckoning, place: str) -> int:
        return self.holds[self._place(reckoning, place)]

    # --- dealing ---

    @rule(number=NUMBERS, chance=CHANCE, inputs_=st.integers(1, 25))
    def deal(self, number: int, chance: int, inputs_: int) -> None:
        """So many inputs at a table, whatever is due there: it may stop in mid-round."""
        reckoning, draw = self.tables[number], random.Random(chance)
        for _ in range(inputs_):
            if reckoning.standing.is_open:
                self._deal_on(reckoning, draw)

    @rule(number=NUMBERS, chance=CHANCE, error=st.sampled_from((0, -1_000, 500, 3_000)))
    def deal_a_round(self, number: int, chance: int, error: int) -> None:
        """A round to its end. Where the dealer's hand errs, the log knows nothing of it."""
        reckoning, draw = self.tables[number], random.Random(chance)
        settled = self.tally["settled"]
        for _ in range(60):
            if reckoning.standing.is_open and (self.tally["settled"] == settled or reckoning.standing.round_open):
                self._deal_on(reckoning, draw)
        current = reckoning.standing.round
        if self.tally["settled"] == settled or current is None:
            return
        paid = [
            payout
            for payout in reckoning.rounds[current.number].values()
            if payout.net_cents + error >= -payout.staked_cents
        ]
        if error and paid:
            payout = draw.choice(paid)
            reckoning.mispays.append(Mispay(current.number, payout.seat, payout.net_cents + error))
            self.tally["mispaid"] += 1

    def _deal_on(self, reckoning: Reckoning, draw: random.Random) -> None:
        board, hand = reckoning.dealer.board, reckoning.dealer
        if board.due == "dealer":
            self.enter(reckoning, SignIn(), hand.by)
        elif board.due == "check":
            self._input(reckoning, {"do": "check_decks", "counts": shoe(6)})
        elif bets := [ask for ask in board.prompts if isinstance(ask, AskBet) and not ask.placed_cents]:
            if len(bets) > 1 or board.due != "bets":
                seat = draw.choice(bets).seat
                self._input(reckoning, {"do": "bet", "seat": seat, "amount_cents": draw.choice((1_000, 2_000, 11_000))})
            else:
                self._input(reckoning, {"do": "close_bets"})
        elif board.card_keys and draw.random() < 0.8:
            self._input(reckoning, {"do": "card", "rank": _a_card(reckoning.standing, draw)})
        elif pressed := [button for button in board.buttons if button.input["do"] not in KEPT]:
            self._input(reckoning, draw.choice(pressed).input)

    def _input(self, reckoning: Reckoning, fields: dict[str, Any]) -> None:
        self._play(reckoning, inputs.read(fields), reckoning.dealer.by)

    def _play(self, reckoning: Reckoning, entered: Input, by: Staff) -> None:
        if self.enter(reckoning, entered, by, reckoning.standing.seq):
            self.tally[str(entered.__class__.__name__)] += 1
            self._settle(reckoning)

    def _settle(self, reckoning: Reckoning) -> None:
        """A round that is over pays; one whose last card was taken back pays nothing any more."""
        current = reckoning.standing.round
        if current is None:
            return
        paid = current.game.settle(current.state) if current.over else ()
        before, after = reckoning.rounds.pop(current.number, {}), {payout.seat: payout for payout in paid}
        won = sum(payout.net_cents for payout in before.values()) - sum(payout.net_cents for payout in after.values())
        if after:
            reckoning.rounds[current.number] = after
            self.tally["settled"] += not before
        else:
            reckoning.mispays = [mispay for mispay in reckoning.mispays if mispay.round != current.number]
        self.moved(reckoning, "players", "rack", won)
        reckoning.reckoned["rounds"] += won
        reckoning.is_overdrawn |= self.held_cents(reckoning, "rack") < 0

    @rule(number=NUMBERS)
    def take_back(self, number: int) -> None:
        """The pit takes the latest key back, perhaps the one that settled the round."""
        reckoning = self.tables[number]
        current = reckoning.standing.round
        if current and any(
            mispay.round == current.number for mispay in [*reckoning.mispays, *reckoning.proposed.values()]
        ):
            return
        self._play(reckoning, TakeBack(), self.house.staff["pam"])

    @rule(number=NUMBERS, signed=st.booleans())
    def propose_correction(self, number: int, signed: bool) -> None:
        """A mispay is found: what was handed over is said."""
        reckoning = self.tables[number]
        for mispay in [mispay for mispay in reckoning.mispays if mispay not in reckoning.proposed.values()][:1]:
            proposal = ProposeCorrection(mispay.round, mispay.seat, mispay.handed_cents, "seen on the camera")
            if answer := self.enter(reckoning, proposal, self.house.staff["pam"], reckoning.standing.seq):
                entry = LogEntry.objects.get(book=reckoning.table.book_id, seq=answer.entry)
                reckoning.proposed[entry.content["correction"]["slip"]] = mispay
        if signed:
            self.sign_correction(number)

    @rule(number=NUMBERS)
    def sign_correction(self, number: int) -> None:
        """The second signature: what is due changes hands, and what the mispay left in the rack is told from it."""
        reckoning = self.tables[number]
        for name, mispay in list(reckoning.proposed.items())[:1]:
            if self.enter(reckoning, SignCorrection(name), self.house.staff["pat"], reckoning.standing.seq):
                del reckoning.proposed[name]
                reckoning.mispays.remove(mispay)
                back = mispay.handed_cents - reckoning.rounds[mispay.round][mispay.seat].net_cents
                self.moved(reckoning, "players", "rack", back)
                if not mispay.is_counted:
                    self.moved(reckoning, "rack", "over_short", back)
                reckoning.reckoned["corrections"] += back if mispay.is_counted else 0
                self.tally["corrected after a count" if mispay.is_counted else "corrected"] += 1

    # --- cash ---

    @rule(number=NUMBERS, amount=AMOUNTS)
    def sell(self, number: int, amount: int | str) -> None:
        reckoning = self.tables[number]
        cents = self._amount(amount, self.held_cents(reckoning, "rack"))
        if self.enter(reckoning, SellChips(cents), reckoning.dealer.by, reckoning.standing.seq):
            self.moved(reckoning, "rack", "players", cents)
            self.moved(reckoning, "cash", "drop_box", cents)
            self.tally["sold"] += 1

    @rule(number=NUMBERS, up=st.booleans())
    def change(self, number: int, up: bool) -> None:
        reckoning = self.tables[number]
        self.enter(reckoning, ChangeChips(RED, up), reckoning.dealer.by, reckoning.standing.seq)

    def _amount(self, amount: int | str, stock_cents: int) -> int:
        return {"all": stock_cents, "more": stock_cents + WHITE}.get(
            str(amount), amount if isinstance(amount, int) else 0
        )

    # --- slips ---

    @rule(number=NUMBERS, series=st.sampled_from(("fill", "credit")), amount=AMOUNTS, steps=st.integers(0, 4))
    def ask(self, number: int, series: str, amount: int | str, steps: int) -> None:
        """A fill or a credit is asked for, and signed so far."""
        reckoning = self.tables[number]
        stock_cents = self.holds["cage"] if series == "fill" else self.held_cents(reckoning, "rack")
        cents = self._amount(amount, stock_cents)
        if self.enter(reckoning, BeginSlip(series, ((WHITE, cents // WHITE),)), self.house.staff["pip"]):
            name = reckoning.standing.slips[-1].name
            for _ in range(steps):
                self._sign(reckoning, name, 0)

    @rule(number=NUMBERS)
    def remove_box(self, number: int) -> None:
        """A box is taken away. What lay in that of a table which was never open would belong to no report."""
        reckoning = self.tables[number]
        if reckoning.standing.opened_seq:
            self.enter(reckoning, BeginSlip("drop", (), "box"), self.house.staff["sue"])

    @rule(number=NUMBERS, series=RACK_COUNTS, error=ERRORS)
    def count_rack(self, number: int, series: str, error: int) -> None:
        """A rack is counted, alike by two, perhaps wrongly: the table opens or closes with it, or is dealt on."""
        reckoning = self.tables[number]
        counted_cents = max(0, self.held_cents(reckoning, "rack") + reckoning.astray_cents() + error)
        chips = ((WHITE, counted_cents // WHITE),)
        if self.enter(reckoning, BeginSlip(series, chips), self.house.staff["dee"]):
            self._count_again(reckoning, chips)

    def _count_again(self, reckoning: Reckoning, chips: Chips) -> None:
        slip = reckoning.standing.slips[-1]
        answer = self.enter(reckoning, SignSlip(slip.name, "recounted", chips), self.house.staff["pip"])
        assert answer is not None, "what was begun can be finished"
        expected, counted_cents = self.held_cents(reckoning, "rack"), total(chips)
        self.moved(reckoning, "over_short", "rack", counted_cents - expected)
        self.tally[slip.series.name] += 1
        self.tally["over" if counted_cents > expected else "short"] += counted_cents != expected
        assert Discrepancy.objects.filter(key=f"count:{reckoning.table.book_id}:{answer.entry}").exists() == (
            counted_cents != expected
        )
        for mispay in reckoning.mispays:
            mispay.is_counted = True
        if slip.series.name == "opener":
            reckoning.earlier_cents += sum(reckoning.reckoned.values())
            reckoning.reckoned, reckoning.opened_cents = Counter(), counted_cents
        else:
            reckoning.reckoned["counts"] += counted_cents - expected
        if slip.series.name == "closer":
            self._closes(reckoning, counted_cents)

    @rule(number=NUMBERS, pick=st.integers(0, 5), steps=st.integers(1, 5), error=ERRORS)
    def sign(self, number: int, pick: int, steps: int, error: int) -> None:
        """The next signatures on a slip in progress, by whoever is to give them."""
        reckoning = self.tables[number]
        for slip in reckoning.standing.slips[pick % max(1, len(reckoning.standing.slips)) :][:1]:
            for _ in range(steps):
                self._sign(reckoning, slip.name, error)

    def _sign(self, reckoning: Reckoning, name: str, error: int) -> None:
        slip = next((slip for slip in reckoning.standing.slips if slip.name == name), None)
        if slip is None or slip.due is None:
            return
        due, chips = slip.due, ()
        if due.name.startswith(("counted", "recounted")):
            chips = slip_workflow.as_chips(((WHITE, max(0, slip.expected_cents + error) // WHITE),))
        if self.enter(reckoning, SignSlip(slip.name, due.name, chips), self._signer(reckoning, slip, due)):
            self.tally[f"{slip.series.name} {kind_of(due.name)}"] += 1
            self._follow(reckoning, slip, due.name, chips)

    def _signer(self, reckoning: Reckoning, slip: slip_workflow.Slip, due: Stage) -> Staff:
        """Somebody of the right role who did not sign yet; the carriers of boxes are not those of chips."""
        signed = {signature.username for signature in slip.signed}
        if due.at_table_only and reckoning.standing.dealer:
            return self.house.staff[reckoning.standing.dealer.username]
        names = [name for role in sorted(due.roles, reverse=True) for name in PEOPLE.get(Role(role), ())]
        boxes = {"sue", "sly"}
        of_a_box = slip.series.name == "drop"
        fit = [name for name in names if name not in signed and (of_a_box or name not in boxes)]
        return self.house.staff[(sorted(fit, key=lambda name: name not in boxes) if of_a_box else fit)[0]]

    def _follow(self, reckoning: Reckoning, slip: slip_workflow.Slip, stage: str, chips: Chips) -> None:
        """What a signature moves, by FLOOR's words."""
        cents = total(slip.chips)
        match slip.series.name, kind_of(stage):
            case "fill", "carried":
                self.moved(reckoning, "cage", "transit", cents)
            case "fill", "confirmed":
                self.moved(reckoning, "transit", "rack", cents)
            case "credit", "carried":
                self.moved(reckoning, "rack", "transit", cents)
            case "credit", "received":
                self.moved(reckoning, "transit", "cage", cents)
            case (("fill" | "credit"), "voided"):
                self._go_back(reckoning, slip, cents)
            case "drop", "witnessed":
                self.moved(reckoning, "drop_box", "boxes", self.held_cents(reckoning, "drop_box"))
            case "drop", "recounted" if chips in slip.counts:
                self.moved(reckoning, "cash_over_short", "boxes", total(chips) - slip.expected_cents)
                self.moved(reckoning, "boxes", "bank", total(chips))
                reckoning.boxes_cents += total(chips) - slip.expected_cents
                self.tally["box counted"] += 1

    def _go_back(self, reckoning: Reckoning, slip: slip_workflow.Slip, cents: int) -> None:
        start, end = ("cage", "rack") if slip.series.name == "fill" else ("rack", "cage")
        if {"confirmed": "fill", "received": "credit"}.get(slip.signed[-2].stage) == slip.series.name:
            self.moved(reckoning, end, start, cents)
        elif slip.moves_on or "carried" in slip.stages:
            self.moved(reckoning, "transit", start, cents)

    @rule(number=NUMBERS, pick=st.integers(0, 20), chance=CHANCE)
    def ask_to_void(self, number: int, pick: int, chance: int) -> None:
        """A slip is to be void: one in progress, or one that was complete."""
        reckoning = self.tables[number]
        mine = Slip.objects.filter(book=reckoning.table.book_id, series__in=VOIDABLE).order_by("pk")
        if names := [f"{slip.series}/{slip.year}/{slip.number}" for slip in mine]:
            name = names[-1 - pick % len(names)]
            self.enter(reckoning, VoidSlip(name, "by mistake"), self.house.staff["cat"])

    # --- what is not allowed ---

    @rule(number=NUMBERS, pick=st.integers(0, 5), username=st.sampled_from(sorted(sum(PEOPLE.values(), ()))))
    @precondition(lambda self: any(reckoning.standing.slips for reckoning in self.tables))
    def sign_what_is_not_theirs(self, number: int, pick: int, username: str) -> None:
        """No person signs twice except a requester who confirms, and none without a role of the step."""
        reckoning, by = self.tables[number], self.house.staff[username]
        for slip in reckoning.standing.slips[pick : pick + 1]:
            due = slip.due
            assert due is not None
            theirs = [signature.stage for signature in slip.signed if signature.username == username]
            if by.role not in due.roles or theirs not in ([], [due.also_by]):
                assert self.enter(reckoning, SignSlip(slip.name, due.name, slip.chips), by) is None

    # --- what holds after every step ---

    @invariant()
    def everything_adds_up(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        ledger = self.by_account()
        assert +ledger == +Counter(self.holds), "every chip and coin is where the test says"
        assert -ledger == -Counter(self.holds)
        for name, cents in ledger.items():
            assert cents >= 0 or name.split()[-1] in MAY_BE_NEGATIVE or name in self._overdrawn(), "nothing is below 0"
        sums: Counter[str] = Counter()
        for name, cents in ledger.items():
            sums[name.split()[-1]] += cents
        assert sum(sums[place] for place in CHIP_PLACES) == 0
        assert sum(sums[place] for place in CASH_PLACES) == 0
        assert sums["layout"] == 0
        for reckoning in self.tables:
            if reckoning.standing.is_open:
                won = self.win(reckoning, reckoning.standing.opened_seq, ledger[f"{reckoning.table.name} rack"])
                assert won == sum(reckoning.reckoned.values()), "the win is what rounds, counts and corrections say"

    def _overdrawn(self) -> set[str]:
        for reckoning in self.tables:
            reckoning.is_overdrawn &= self.held_cents(reckoning, "rack") < 0
        return {f"{reckoning.table.name} rack" for reckoning in self.tables if reckoning.is_overdrawn}

    def _closes(self, reckoning: Reckoning, closer_cents: int) -> None:
        """The formula over the whole time that the table was open."""
        opened = LogEntry.objects.filter(book=reckoning.table.book_id, subject="table", kind="opened").latest("seq")
        assert opened.content["rack_cents"] == reckoning.opened_cents
        closed = LogEntry.objects.filter(book=reckoning.table.book_id, subject="table", kind="closed").latest("seq")
        assert closed.content["rack_cents"] == closer_cents
        assert self.win(reckoning, opened.seq, closer_cents) == sum(reckoning.reckoned.values())

    def win(self, reckoning: Reckoning, since: int, closer: int) -> int:
        """closer + credits + drop - opener - fills, from the transfers alone."""
        net: Counter[tuple[str, str]] = Counter()
        for transfer in Transfer.objects.filter(book=reckoning.table.book_id, seq__gt=since):
            net[transfer.source_place, transfer.target_place] += transfer.amount_cents
            net[transfer.target_place, transfer.source_place] -= transfer.amount_cents
        credits_less_fills, drop = net["rack", "transit"], net["cash", "drop_box"]
        return closer + credits_less_fills + drop - reckoning.opened_cents

    def by_account(self) -> Counter[str]:
        """What every account holds by the ledger."""
        net = cage.net_effect(cage.all_books())
        balances: Counter[str] = Counter()
        for account in Account.objects.select_related("book"):
            name = account.place if account.book.name == HOUSE else f"{account.book.name} {account.place}"
            balances[name] += net.get(account.pk, 0)
        return balances


def rows() -> tuple[int, ...]:
    """What is in the books."""
    return tuple(model.objects.count() for model in (LogEntry, Transfer, Slip, SlipSignature, Discrepancy, Assignment))


def _a_card(standing: TableState, draw: random.Random) -> int:
    """One that is still in the shoe."""
    current = standing.round
    assert current is not None
    whole, dealt = shoe(current.rules.decks), current.game.gone(current.state)
    return draw.choice([rank for rank in RANKS if whole[rank - 1] > dealt[rank - 1]])


@pytest.fixture
def machine(house: House) -> type[Floor]:
    Floor.house, Floor.tally = house, Counter()
    return Floor


SEVERAL = settings(
    max_examples=percent(12),
    stateful_step_count=30,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.trial(
    "drives two tables and a cage at random", covered_by="tests/ledger/test_floors.py::test_a_day_by_hand"
)
def test_whatever_happens_every_chip_is_accounted_for(machine: type[Floor]) -> None:
    """Harm: chips or cash that appear, vanish or count twice after some order of events that nobody thought of."""
    run_state_machine_as_test(machine, settings=SEVERAL)


@pytest.mark.slow("drives two tables and a cage for a day")
def test_a_day_by_hand(machine: type[Floor]) -> None:
    """Harm: a machine that is refused everything, and proves nothing."""
    day = machine()
    try:
        day.deal_a_round(0, 1, 500)
        day.propose_correction(0, signed=False)
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
        day.count_rack(0, "closer", 30_000)
        day.count_rack(1, "opener", 0)
        day.everything_adds_up()
    finally:
        day.teardown()
    happened = {"corrected", "corrected after a count", "TakeBack", "settled", "mispaid", "sold", "over"}
    happened |= {"fill confirmed", "fill voided", "credit received", "credit voided", "box counted"}
    happened |= {"opener", "closer", "rack", "short"}
    assert happened <= set(+machine.tally), happened - set(machine.tally)
