"""No state is left from which a table cannot be closed: random walks over every game and source of cards, each ended by
an evacuation, with mishaps on the way."""

import random
import uuid
from typing import Any

import msgspec
import pytest

from ledger import cage
from ledger.models import Account
from tables.audit import proofs
from tables.floor import player_pages, recorder
from tables.floor.inputs import AbandonTable, BeginSlip, EnterMishap, ForgiveCommission, SignSlip, VoidRound, VoidSlip
from tables.games.catalog import DEALT
from tables.games.protocol import AskBet, AskCard, AskChoice, AskShuffle
from tables.log.game_kinds import kind_of
from tables.log.irregularities import MISHAPS
from tables.models import ShoeSource, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.floor import CHIPS, Hand, crew, dealt, for_pot, player, signs
from tests.tables.chance import by_seed
from tests.tiers import sampled

pytestmark = pytest.mark.django_db

OPTIONS: dict[str, dict[str, Any]] = {"blackjack": {"decks": 6}, "rocket": {"decks": 1}}
FILL = ((CHIPS[0][0], 10),)
WAYS = sorted(
    (
        (name, source)
        for name, game in DEALT.items()
        for source in ShoeSource.values
        if source in ("keyed", "house") or game.kind == "banked"
    ),
    key=lambda way: way not in {("rocket", "keyed"), ("hawthorn", "house")},
)
"""Every game and source of cards. The first two: a game with a hand-dealt shoe, and a game with hidden hands."""


class Walk:
    """Somebody enters whatever a table asks for, and now and then something goes wrong."""

    def __init__(self, name: str, source: str) -> None:
        self.chance = random.Random(f"{name} {source}")
        game = DEALT[name]
        if game.kind == "pot":
            seats = dict.fromkeys(range(1, min(game.seat_counts[-1], 4) + 1), 3_000) if game.coins else {}
            self.dealer, self.boss = for_pot(name, seats=seats, source=source)
        else:
            options = OPTIONS.get(name, {})
            marks = kind_of(game).takes_commission(msgspec.convert(options, game.rules_type))
            settings = {"marks_commission": True} if marks else {}
            self.dealer, self.boss = dealt(name="Table 1", game=name, source=source, options=options, **settings)
        self.others = (floor.staff(Role.CASHIER, "carmen"), floor.staff(Role.AUDITOR, "aude"))

    def step(self) -> None:
        """One input, or one that is refused."""
        try:
            if self.chance.random() < 0.12:
                self._goes_wrong()
            elif self.chance.random() < 0.06:
                self._paper()
            elif self.dealer.now.round_open and not self.dealer.board.pay:
                self._answers()
            else:
                self._between()
        except Refused:
            pass

    def _answers(self) -> None:
        current, draw, hand = self.dealer.now.round, self.chance, self.dealer
        assert current is not None
        prompts = current.game.prompts(current.state)
        ask = draw.choice(prompts)
        if isinstance(prompts[0], AskBet):
            bets = [prompt for prompt in prompts if isinstance(prompt, AskBet)]
            if draw.random() < 0.5:
                self._bets(draw.choice(bets))
            else:
                hand("close_bets")
        elif hand.board.due == "deal":
            hand("deal")
        elif isinstance(ask, AskCard):
            card = draw.choice(ask.may_come)
            names = hand.board.card_names
            hand("card", rank=card) if not current.game.spots else hand("standard_card", card=str(names[card - 1]))
        elif isinstance(ask, AskShuffle):
            hand("shuffle")
        elif isinstance(ask, AskChoice):
            self._chooses(ask)

    def _chooses(self, ask: AskChoice) -> None:
        choice = self.chance.choice(ask.choices)
        if player_pages.possible(self.dealer.table) and ask.seat:
            player(self.dealer, ask.seat).chooses(choice)
            return
        spelled = msgspec.to_builtins(choice)
        fields = {key: spelled[key] for key in ("card", "cards", "target", "count") if key in spelled}
        self.dealer("choose", seat=ask.seat, choice=choice.name, **fields)

    def _bets(self, ask: AskBet) -> None:
        self.dealer("bet", seat=ask.seat, amount_cents=self.chance.choice([0, 1_000, 2_000]), wager=ask.wager)

    def _between(self) -> None:
        board = self.dealer.board
        if board.due == "seats":
            self.dealer("start_game")
        elif board.due == "bets":
            self._bets(self.chance.choice([ask for ask in board.prompts if isinstance(ask, AskBet)]))
        elif board.due == "pay":
            assert board.pay is not None
            self.dealer("paid", seat=board.pay.seat)
        elif board.due == "dealer":
            recorder.sign_in(self.dealer.table, self.dealer.by)
        elif board.due == "burn" and board.turns_burn:
            self.dealer("burn", turned=1)
        elif presses := [button for button in board.buttons if button.primary]:
            self.dealer(**presses[0].input)

    def _goes_wrong(self) -> None:
        which = self.chance.choice([*MISHAPS.values()])
        acts = [act for act in which.acts if act in ("set_aside", "burn")]
        act = self.chance.choice(acts) if acts else ""
        if self.chance.random() < 0.25:
            self.enters(self.boss, VoidRound("misdeal", "by chance", unknown=self.chance.random() < 0.3))
        else:
            shoe = self.dealer.now.shoe
            seen = shoe is not None and act == "set_aside" and self.chance.random() < 0.7
            left = [card for card, gone in enumerate(self._gone(), 1) if not gone] if seen and shoe else []
            card = str(shoe.pack.spell(self.chance.choice(left))) if left and shoe else ""
            self.enters(self.dealer, EnterMishap(which.name, act=act, card=card))

    def _gone(self) -> tuple[int, ...]:
        current = self.dealer.now.round
        if current is not None and self.dealer.now.round_open:
            return tuple(current.game.gone(current.state))
        return self.dealer.now.gone

    def _paper(self) -> None:
        """A fill is asked for or goes on; or the rack is counted once, and then not again."""
        table, slips = self.dealer.table, self.dealer.now.slips
        fills = [slip for slip in slips if slip.series.name == "fill"]
        if fills and fills[0].due is not None:
            stage = fills[0].due.name
            signs(table, self.dealer.by if stage == "received" else crew(stage), SignSlip(fills[0].name, stage))
        elif self.chance.random() < 0.3:
            signs(table, crew("received"), BeginSlip("rack", self.rack))
        else:
            signs(table, self.boss.by, BeginSlip("fill", FILL))

    @property
    def rack(self) -> tuple[tuple[int, int], ...]:
        cents = cage.balance(Account.objects.get(book_id=self.dealer.table.book_id, place="rack"))
        return ((100, cents // 100), *(((1, cents % 100),) if cents % 100 else ()))

    @staticmethod
    def enters(hand: Hand, entered: Any) -> None:
        recorder.record(hand.table, entered, by=hand.by, key=uuid.uuid4(), expected_seq=hand.now.seq)

    def leave_and_close(self) -> None:
        """Everybody leaves; whoever comes back finishes the papers, settles what is owed, and counts the closer."""
        if not self.dealer.now.is_open:
            return
        self.enters(self.boss, AbandonTable("evacuation", "the alarm rang"))
        now = self.dealer.now
        assert not now.round_open
        assert (now.dealer, now.shoe) == (None, None)
        self._finish_papers()
        for seat in self.dealer.now.marks:
            self.enters(self.boss, ForgiveCommission(seat, "they left"))
        for seat in self.dealer.now.stacks:
            self.boss("cash_out", seat=seat)
        signs(self.dealer.table, crew("received"), BeginSlip("closer", self.rack))
        slip = self.dealer.now.slips[-1]
        signs(self.dealer.table, self.boss.by, SignSlip(slip.name, "recounted", self.rack))
        assert not self.dealer.now.is_open

    def _finish_papers(self) -> None:
        slips = self.dealer.now.slips
        for slip in (slip for slip in slips if slip.series.name == "fill"):
            signs(self.dealer.table, self.others[0], VoidSlip(slip.name, "everybody left"))
            signs(self.dealer.table, self.others[1], SignSlip(slip.name, "voided"))
        for slip in (slip for slip in slips if slip.series.name == "rack"):
            signs(self.dealer.table, self.boss.by, SignSlip(slip.name, "recounted", self.rack))

    def open_again(self) -> None:
        self.boss("open_table")
        recorder.sign_in(self.dealer.table, Staff.objects.get(pk=self.dealer.by.pk))
        if self.dealer.now.stacks or DEALT[self.dealer.table.game].kind != "pot":
            return
        if kind_of(DEALT[self.dealer.table.game]).for_coins:
            for seat in (1, 2, 3):
                self.dealer("buy_in", seat=seat, amount_cents=2_000)


def everything() -> dict[str, int]:
    """What every place of the house holds by the ledger."""
    net = cage.net_effect(cage.all_books())
    return {str(account.pk): net.get(account.pk, 0) for account in Account.objects.all()}


@pytest.mark.parametrize(
    ("name", "source"),
    sampled(WAYS, "walks a table by chance for hundreds of inputs", test=2),
    ids=[f"{name}-{source}" for name, source in WAYS],
)
def test_a_table_closes_after_an_evacuation_in_any_state(
    name: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: an evacuation, a fire or a power failure leaves a table that can never be closed; or loses a chip."""
    by_seed(monkeypatch, f"{name} {source}")
    walk = Walk(name, source)
    for _ in range(4):
        for _ in range(walk.chance.randint(0, 30)):
            walk.step()
        walk.leave_and_close()
        balances = everything()
        assert sum(balances.values()) == 0
        lying = Account.objects.filter(book_id=walk.dealer.table.book_id, place__in=("layout", "seat", "transit"))
        assert not any(balances[str(account.pk)] for account in lying)
        walk.open_again()
    table_state.cache.clear()
    report = proofs.verify(walk.dealer.table.book, with_note=False)
    assert report.fault is None, str(report.fault)
