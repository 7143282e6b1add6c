"""Descriptions of a table: the next step as a sentence, the results of seats, and chips by colour."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ledger.proof import chips
from ledger.proof.chips import Denomination, money
from tables.board import payments
from tables.floor import permissions, restored_tables
from tables.floor.command_context import CommandContext
from tables.games.cards import PAIRS
from tables.games.game import Kind
from tables.games.protocol import Payout, Phrase, Prompt, Settled
from tables.log.game_kinds import kind_of
from tables.log.settlement import collectable_cents
from tables.log.state import Restored, Round
from tables.roles import Role


@dataclass(frozen=True, slots=True)
class Chips:
    """A number of chips of one colour."""

    count: int
    colour: str
    value_cents: int


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """Result of a seat, and the dealer's action for it."""

    seat: int
    outcome: str
    card: int | None
    net_cents: int
    why: str
    do: str = ""
    """The dealer's action in a word or two: "take the bet", "pay 45"."""
    hands: str = ""
    """The dealer's action with the chips: "take the bet, give back 40: 1 green 3 red"."""
    take: tuple[Chips, ...] = ()
    """Chips at the seat that go into the rack; none if the whole bet does."""
    give_back: tuple[Chips, ...] = ()
    """The change for them, from the rack."""
    pay: tuple[Chips, ...] = ()
    """Chips for the seat's winnings, from the rack."""
    wagers: tuple[WagerLine, ...] = ()
    """Each wager, in games whose wagers have separate spots."""

    @property
    def give_back_cents(self) -> int:
        return sum(pile.count * pile.value_cents for pile in self.give_back)


@dataclass(frozen=True, slots=True)
class WagerLine:
    """Result of one wager."""

    title: str
    outcome: str
    net_cents: int
    why: str
    commission: str
    """The commission to be marked, or withheld from the winnings, as text; "" for none."""


@dataclass(frozen=True, slots=True)
class PaymentLine:
    """Chips that go from one place to another now, in words and in chips."""

    says: str
    each_cents: int
    each: tuple[Chips, ...]


@dataclass(frozen=True)
class Hands:
    """The dealer's handling of chips at a seat."""

    staked_cents: int
    lost_cents: int
    won_cents: int
    takings: tuple[chips.Taking | None, ...]
    """For each lost bet; None if the table's denominations give no change for it."""
    pay: chips.Cut

    @property
    def _whole(self) -> tuple[chips.Taking, ...]:
        """All of them, or none if one cannot be expressed in chips."""
        ways = tuple(taking for taking in self.takings if taking)
        return ways if len(ways) == len(self.takings) else ()

    @property
    def take(self) -> chips.Cut:
        return chips.together(taking.take for taking in self._whole)

    @property
    def give_back(self) -> chips.Cut:
        return chips.together(taking.give_back for taking in self._whole)

    @property
    def takes_all(self) -> bool:
        """Whether all chips at the seat go into the rack."""
        return chips.total(self.take) == self.staked_cents

    @property
    def do(self) -> str:
        words = [self._take] if self.lost_cents else []
        words += [f"pay {money(self.won_cents)}"] if self.won_cents else []
        return ", ".join(words) or f"return the {self._bet} of {money(self.staked_cents)}"

    @property
    def _take(self) -> str:
        if not self.takes_all:
            return f"take {money(chips.total(self.take) or self.lost_cents)}"
        return f"take the {self._bet}" if self.give_back else f"take the {self._bet} of {money(self.staked_cents)}"

    @property
    def _bet(self) -> str:
        return "bets" if len(self.takings) > 1 else "bet"

    @property
    def says(self) -> str:
        words = [f"{self._take}{_named(() if self.takes_all else self.take)}"] if self.lost_cents else []
        if self.give_back:
            words.append(f"give back {money(chips.total(self.give_back))}{_named(self.give_back)}")
        if self.won_cents:
            words.append(f"pay {money(self.won_cents)}{_named(self.pay)}")
        return ", ".join(words) or self.do


def _named(cut: chips.Cut) -> str:
    """The chips of an amount, as text; "" if no chips make it."""
    return f": {chips.say(cut)}" if cut else ""


def _piles(cut: chips.Cut) -> tuple[Chips, ...]:
    return tuple(Chips(count, chip.name, chip.value_cents) for chip, count in cut)


_WORDS: Final = {
    "closed": Phrase("The table is closed. A pit boss opens it.", "", "A closed table is not dealt."),
    "count": Phrase("Count the rack, and sign the slip.", "Counting.", "Nothing is dealt while the rack is counted."),
    "dealer": Phrase("Sign in to deal.", "", "A table is dealt by the dealer who is signed in there."),
    "locked": Phrase(
        "The rack is locked. A pit boss unlocks it.", "", "Nothing is dealt or paid while the rack is locked."
    ),
    "counted": Phrase(
        "Sell chips for cash; count the rack when the pit asks for it.",
        "",
        "No rounds are entered here: drop, slips and counts tell what the table won.",
    ),
    "load": Phrase("Load the shoe.", "New shoe.", "A shoe of the table's number of decks."),
    "check": Phrase(
        "Spread the decks in columns and count them.", "Checking the decks.", "Each card as often as its deck has it."
    ),
    "shuffle": Phrase("Shuffle the shoe.", "Shuffling.", "The shoe is shuffled when the cut card has come out."),
    "cut": Phrase("Place the cut card.", "Cutting.", "The last part of the shoe is never dealt."),
    "burn": Phrase("Burn the first cards.", "Burning.", "Burned cards are not shown."),
    "relief": Phrase("Burn one card.", "Burning one card.", "One card is burned when another dealer takes the table."),
    "retire": Phrase(
        "Retire this shoe.",
        "This shoe is retired.",
        "The table is set to another shoe now, or it is not known exactly what this one holds.",
    ),
}


@dataclass(frozen=True)
class GameDescriptions(ABC):
    """Describes a table's situation, with chips in the table's denominations."""

    scene: CommandContext
    denominations: tuple[Denomination, ...]

    @property
    def lying(self) -> Round | None:
        """The finished player-pool game whose cards are still on the table, until the deck is shuffled or the next game
        is dealt."""
        last, shoe = self.scene.standing.round, self.scene.standing.shoe
        if last is None or not last.lies_on or not last.plays or shoe is None or shoe.stage != "ready":
            return None
        return last if last.first_seq >= shoe.ready_seq else None

    def phrase(
        self,
        due: str,
        current: Round | None,
        prompts: Sequence[Prompt],
        to_pay: Sequence[Payout],
        waiting: Sequence[int],
    ) -> Phrase:
        if due == "restored":
            return self._say_restored()
        if waiting and not prompts:
            do = f"Waiting for {payments.seats(waiting).lower()}."
            return Phrase(do, "Choose, please.", "Each seat chooses on its own page.")
        if due == "reader":
            return self._say_reader()
        if due == "pay":
            line = self.line(to_pay[0])
            return Phrase(f"Seat {line.seat}: {line.hands}.", "Paying right to left.", line.why)
        if due == "check" and kind_of(self.scene.game).pack(self.scene.rules) is PAIRS:
            do = "Spread the decks in ten columns and count them."
            return Phrase(do, "Checking the decks.", "Rank r appears r times in each deck.")
        if due == "burn":
            if kind_of(self.scene.game).turns_burn(self.scene.rules):
                rule = "Burn as many cards as it counts, ten for a ten or a face."
                return Phrase("Turn the first card and name it.", "Burning.", rule)
            burn = self.scene.game.burned(self.scene.rules)
            return Phrase(f"Burn {burn} cards." if burn else "Nothing to burn.", "Burning.", _WORDS["burn"].rule)
        if due == "commission":
            return self._say_commission()
        if due == "seats":
            return self._say_between_games()
        if due == "shuffle":
            return self._say_shuffle()
        if due in _WORDS or current is None:
            return _WORDS[due]
        if due == "bets":
            phrase = current.game.say(current.state, prompts[-1], money)
            return Phrase("Take the bets, then close them.", "Place your bets.", phrase.rule)
        return current.game.say(current.state, prompts[0], current.priced)

    @abstractmethod
    def _say_shuffle(self) -> Phrase:
        """The instruction to shuffle the shoe."""

    @abstractmethod
    def line(self, payout: Payout) -> OutcomeLine:
        """Result line of a seat."""

    def _say_restored(self) -> Phrase:
        state = self.scene.standing.restored or Restored()
        do = restored_tables.sentence(self.scene.table.name, state)
        words = next((receipt.words for receipt in reversed(state.beyond) if receipt.words), ())
        rule = f"The last that was entered here: {'; '.join(words)}." if words else "Leave cards and chips as they lie."
        return Phrase(do, "One moment, please.", rule)

    def _say_reader(self) -> Phrase:
        reader = self.scene.standing.reader
        stop = reader.stop if reader else None
        if stop is None:
            raise ValueError("no card reader has stopped here")
        rule = "The pit knows of it. If a wrong card stands in the round, take it back and key the right one."
        if permissions.settles_readers() == Role.PIT_BOSS:
            rule = "The pit was called: a pit boss says who is right, on the table's page. Leave the cards as they lie."
        if stop.keyed:
            return Phrase(f"The reader read {stop.read}, you keyed {stop.keyed}: look.", "One moment, please.", rule)
        return Phrase(f"The reader read {stop.read}: {stop.says}", "One moment, please.", rule)

    def _say_commission(self) -> Phrase:
        seat, cents = min(self.scene.standing.marks.items())
        due = collectable_cents(cents, self.scene.table.unit_cents)
        do = f"Seat {seat} owes commission of {money(cents)}: {self._spoken(due) if due else 'nothing to collect'}."
        rule = "Marked commission is collected at the end of the shoe, rounded down to whole chips."
        return Phrase(do, "Commission, please.", rule)

    def _say_between_games(self) -> Phrase:
        rule = "Chips are bought between games." if self.scene.for_coins else "Every seat that is marked is dealt in."
        if self.lying is None:
            return Phrase("Seat the players, then deal the next game.", "Who plays?", rule)
        return Phrase(self._after_payments("deal the next game"), "Who plays?", self._how_it_ended or rule)

    def _after_payments(self, do: str) -> str:
        to_pay = self.lying is not None and self.lying.plays[-1].moved
        return f"Make the payments, then {do}." if to_pay else f"{do.capitalize()}."

    @property
    def _how_it_ended(self) -> str:
        """Why one seat has won the game that is over; several have won in several ways."""
        last = self.lying
        won = [payout for payout in last.settled if payout.outcome == "win"] if last else []
        return f"Seat {won[0].seat} wins: {self.scene.game.explain(won[0])}." if len(won) == 1 else ""

    def payments(self, current: Round | None) -> Iterable[PaymentLine]:
        latest = current.plays[-1].moved if current and current.plays else ()
        for paying in payments.together(latest):
            cents = paying.coins * (current.coin_cents if current else 0)
            yield PaymentLine(paying.from_to.format(money(cents)), cents, self.in_chips(cents))

    def _spoken(self, cents: int) -> str:
        cut = self._cut(cents)
        return chips.say(cut) if cut else money(cents)

    def in_chips(self, cents: int) -> tuple[Chips, ...]:
        """An amount as piles of chips, as they are drawn on the layout."""
        return _piles(self._cut(cents))

    def _cut(self, cents: int) -> chips.Cut:
        """An amount in chips; empty if the table's denominations cannot make it: the dealer is then shown the amount in
        money."""
        try:
            return chips.cut(cents, self.denominations)
        except ValueError:
            return ()


class HouseDescriptions(GameDescriptions):
    """House-banked games: chips are taken and paid seat by seat."""

    def _say_shuffle(self) -> Phrase:
        return _WORDS["shuffle"]

    @cached_property
    def _titles(self) -> Mapping[str, str]:
        """Titles of the table's wagers."""
        if not self.scene.game.spots:
            return {}
        return {wager.name: wager.title for wager in kind_of(self.scene.game).wagers(self.scene.rules)}

    def line(self, payout: Payout) -> OutcomeLine:
        hands = self._hands(payout)
        clauses = [hands.says]
        if commission := self._commission(sum(wager.commission_cents for wager in payout.wagers)):
            clauses.append(commission)
        return OutcomeLine(
            seat=payout.seat,
            outcome=payout.outcome,
            card=payout.card,
            net_cents=payout.net_cents,
            why=self.scene.game.explain(payout),
            do=hands.do,
            hands="; ".join(clauses),
            take=() if hands.takes_all else _piles(hands.take),
            give_back=_piles(hands.give_back),
            pay=_piles(hands.pay),
            wagers=tuple(self._wager(wager) for wager in payout.wagers),
        )

    def _hands(self, payout: Payout) -> Hands:
        """Each bet has its own stack, and so has each later addition to it."""
        bets = [(wager.net_cents, [cents for _, cents in wager.put_up]) for wager in payout.wagers]
        bets = bets or [(payout.net_cents, [payout.staked_cents])]
        return Hands(
            staked_cents=payout.staked_cents,
            lost_cents=-sum(net for net, _ in bets if net < 0),
            won_cents=sum(net for net, _ in bets if net > 0),
            takings=tuple(self._taking(-net, stacks) for net, stacks in bets if net < 0),
            pay=chips.together(self._cut(net) for net, _ in bets if net > 0),
        )

    def _taking(self, lost_cents: int, stacks_cents: Sequence[int]) -> chips.Taking | None:
        """How to take a lost amount from stacks of chips; None if the table's denominations give no change for it."""
        stack = chips.together(self._cut(cents) for cents in stacks_cents)
        try:
            return chips.fewest_touches(stack, lost_cents, self.denominations)
        except ValueError:
            return None

    def _wager(self, wager: Settled) -> WagerLine:
        title = self._titles.get(wager.bet, wager.bet.replace("_", " "))
        return WagerLine(
            title=title + (f" {wager.hand}" if wager.hand and wager.hand > 1 else ""),
            outcome=wager.outcome,
            net_cents=wager.net_cents,
            why=self.scene.game.explain(wager),
            commission=self._commission(wager.commission_cents),
        )

    def _commission(self, cents: int) -> str:
        """The commission withheld from winnings, or marked at the seat, as text."""
        if not cents:
            return ""
        current = self.scene.standing.round
        is_marked = current is not None and current.marks is not None
        return f"mark {money(cents)} commission" if is_marked else f"{money(cents)} commission kept"


class PotDescriptions(GameDescriptions):
    """Player-pool games: chips move payment by payment, and cards remain until the deck is shuffled."""

    def _say_shuffle(self) -> Phrase:
        rule = self._how_it_ended or "This game is dealt from a shuffled deck."
        return Phrase(self._after_payments("shuffle the deck"), "Shuffling.", rule)

    def line(self, payout: Payout) -> OutcomeLine:
        return OutcomeLine(payout.seat, payout.outcome, payout.card, payout.net_cents, self.scene.game.explain(payout))


class NonTrackedDescriptions(GameDescriptions):
    """Non-tracked tables: no payments are entered."""

    def _say_shuffle(self) -> Phrase:
        return _WORDS["counted"]

    def line(self, payout: Payout) -> OutcomeLine:
        return OutcomeLine(payout.seat, payout.outcome, payout.card, payout.net_cents, self.scene.game.explain(payout))


_TELLINGS: Final[dict[Kind, type[GameDescriptions]]] = {
    "banked": HouseDescriptions,
    "pot": PotDescriptions,
    "counted": NonTrackedDescriptions,
}


def telling(scene: CommandContext, denominations: tuple[Denomination, ...]) -> GameDescriptions:
    """The descriptions of a table's situation, by the kind of its game."""
    return _TELLINGS[scene.game.kind](scene, denominations)
