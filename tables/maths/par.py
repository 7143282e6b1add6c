"""The PAR sheet of Rocket: what an operator or a regulator has to know of one bet, from one solution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, expm1, inf, log, sqrt
from statistics import NormalDist
from typing import Any, Final

from tables.games.cards import RANKS, Composition
from tables.games.rocket import Rocket
from tables.maths.rocket_value import DEALER_RANKS, LAST, SeatDecision, Solution, solve
from tables.maths.situation import Situation, Strategy, Unknowable, fresh

Z95: Final = NormalDist().inv_cdf(0.975)
ROUNDS: Final = tuple(10**power for power in range(3, 9))
"""Numbers of rounds for which the sheet states the confidence interval of the hold."""
RISKS: Final = (0.05, 0.01, 0.001)


@dataclass(frozen=True)
class FirstDecision:
    """A first decision: one card each."""

    player: int
    dealer: int
    chance: float
    choice: SeatDecision
    folds: bool


@dataclass(frozen=True)
class Later:
    """All decisions with a given number of cards at which a fold has a given cost."""

    cards: int
    cost: int
    """In tenths of the bet."""
    chance: float
    folds: float
    """The share of them that are folds."""


@dataclass(frozen=True)
class Ruin:
    """Probability that the casino loses a bankroll, in bets, if it deals single bets forever."""

    bankroll: float
    least: float
    most: float


@dataclass(frozen=True)
class ParSheet:
    """The numbers of one bet. Results are the casino's, as fractions of the bet, unless stated otherwise."""

    solution: Solution

    @property
    def house_edge(self) -> float:
        """Mean win of the casino on a bet, as a fraction of it."""
        return self.solution.house_edge

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the result of one bet, in bets."""
        return self.solution.standard_deviation

    @property
    def n0(self) -> float | None:
        """Rounds after which the expected win is one standard deviation; None if the house edge is 0."""
        return None if abs(self.house_edge) < 1e-12 else self.solution.variance / self.house_edge**2

    @property
    def rounds_to_95(self) -> float | None:
        """Rounds after which the hold has the right sign with 95 % confidence on both sides; None if the house edge is
        0."""
        return None if self.n0 is None else Z95**2 * self.n0

    def hold(self, rounds: int) -> tuple[float, float]:
        """The 95 % confidence interval of the hold over a number of independent equal bets."""
        spread = Z95 * self.standard_deviation / sqrt(rounds)
        return self.house_edge - spread, self.house_edge + spread

    @property
    def exposure(self) -> tuple[float, float]:
        """Largest loss of the casino to one bet in a round, as a multiple of the bet, and its probability."""
        most = max(self.solution.distribution)
        return max(most, 0) / 10, self.solution.distribution[most] if most > 0 else 0.0

    def first(self) -> Iterator[FirstDecision]:
        """The chart: every first decision that can be, the seat's card first."""
        reached = self.solution.reached(1)
        for row, player in enumerate(RANKS):
            for column, dealer in enumerate(DEALER_RANKS):
                if (chance := float(reached[row, column])) > 0:
                    choice = self.solution.choice([player], [dealer])
                    yield FirstDecision(player, dealer, chance, choice, bool(self.solution.folds[1][row, column]))

    def later(self) -> Iterator[Later]:
        """The decisions after the first, by number of cards and cost."""
        for cards in range(2, LAST + 1):
            for cost in RANKS:
                chance, fold_chance = self.solution.at_cost(cards, cost)
                if chance > 0:
                    yield Later(cards, cost, chance, fold_chance / chance)

    def ruin(self, bankroll: float) -> Ruin:
        """Lundberg's bounds: exp(-a(b + m)) and exp(-ab), with m the most that one round can cost.

        For several seats at a time, b is the bankroll divided by their number: that bounds it from above however their
        results go together, for the exponential is convex.
        """
        if not 0 < bankroll < inf:
            raise Unknowable(f"a bankroll of {bankroll:g} bets cannot be ruined: it is a number above 0")
        rate = self.adjustment
        if rate is None:
            return Ruin(bankroll, 0.0, 0.0)
        return Ruin(bankroll, exp(-rate * (bankroll + self.exposure[0])), exp(-rate * bankroll))

    def bankroll(self, risk: float) -> float | None:
        """A bankroll in bets that is lost with at most this probability; ``None``: no bankroll is enough."""
        rate = self.adjustment
        if rate is None:
            return 0.0
        return -log(risk) / rate if rate else None

    @property
    def adjustment(self) -> float | None:
        """Lundberg's coefficient a: the positive root of E exp(-a X) = 1, with X the casino's win of a bet.

        0 if the house edge is not positive, since ruin is then certain; None if the casino never loses a bet.
        """
        results = [(net / 10, chance) for net, chance in self.solution.distribution.items()]
        if max(net for net, _ in results) <= 0:
            return None
        if self.house_edge <= 1e-12:
            return 0.0

        def above(rate: float) -> bool:
            return sum(chance * expm1(rate * net) for net, chance in results) > 0

        low, high = 0.0, 1.0
        while not above(high):
            low, high = high, 2 * high
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (low, middle) if above(middle) else (middle, high)
        return high

    def together(self, seats: int) -> tuple[float, float]:
        """Covariance of two seats with one bet each, and the standard deviation of the total win of all seats.

        Raises Unknowable.
        """
        from tables.maths.seat_covariance import covariance

        if seats not in Rocket.seat_counts:
            raise Unknowable(f"Rocket is not dealt to {seats} seats: it has 1 to {Rocket.seat_counts[-1]}")
        between = covariance(self.solution) if seats > 1 else 0.0
        return between, sqrt(seats * self.solution.variance + seats * (seats - 1) * between)

    def facts(self, bankroll: float | None = None, seats: int | None = None) -> dict[str, Any]:
        """The sheet for programs, at full precision."""
        situation, solution = self.solution.situation, self.solution
        most, chance = self.exposure
        facts: dict[str, Any] = {
            "game": "rocket",
            "decks": situation.decks,
            "burn": situation.burn,
            "composition": list(situation.unseen),
            "cards_left": situation.left,
            "strategy": solution.strategy.name,
            "house_edge": self.house_edge,
            "standard_deviation": self.standard_deviation,
            "variance": solution.variance,
            "n0": self.n0,
            "rounds_to_95_percent": self.rounds_to_95,
            "hold_95_percent": [
                {"rounds": rounds, "low": low, "high": high} for rounds in ROUNDS for low, high in [self.hold(rounds)]
            ],
            "outcomes": [
                {"outcome": outcome, "rank": rank, "net_tenths": net(outcome, rank), "probability": chance}
                for (outcome, rank), chance in solution.outcomes.items()
            ],
            "distribution": [
                {"net_tenths": tenths, "probability": chance} for tenths, chance in solution.distribution.items()
            ],
            "first_decisions": [
                {
                    "player": cell.player,
                    "dealer": cell.dealer,
                    "probability": cell.chance,
                    "decision": "fold" if cell.folds else "hit",
                    "best": cell.choice.best,
                    "hit_tenths": cell.choice.hit,
                    "fold_tenths": cell.choice.fold,
                    "mistake_tenths": cell.choice.mistake,
                }
                for cell in self.first()
            ],
            "later_decisions": [
                {"cards": later.cards, "cost_tenths": later.cost, "probability": later.chance, "folds": later.folds}
                for later in self.later()
            ],
            "exposure": {"bets": most, "probability": chance},
            "bankrolls": [{"risk_of_ruin": risk, "bets": self.bankroll(risk)} for risk in RISKS],
        }
        if bankroll is not None:
            ruin = self.ruin(bankroll)
            facts["ruin"] = {"bankroll_bets": ruin.bankroll, "least": ruin.least, "most": ruin.most}
        if seats is not None:
            covariance, deviation = self.together(seats)
            facts["table"] = {"seats": seats, "covariance": covariance, "standard_deviation": deviation}
        return facts


def net(outcome: str, rank: int) -> int:
    """Net win of the seat by an outcome, in tenths of its bet."""
    return -rank if outcome in ("fold", "pair") else rank


def sheet(decks: int, composition: Composition | None, strategy: Strategy, burn: int) -> ParSheet:
    """The sheet of a shoe of which these cards are unseen (by default all of them). Raises Unknowable."""
    situation = fresh(decks, burn) if composition is None else Situation(decks, composition, burn)
    return ParSheet(solve(situation, strategy))


# --- for readers ------------------------------------------------------------------------------------------------


def lines(sheet: ParSheet, bankroll: float | None = None, seats: int | None = None) -> Iterator[str]:
    """The sheet as text, part by part."""
    for part in (_heading, _worth, _chart, _later, _outcomes, _hold):
        yield from part(sheet)
        yield ""
    yield from _bankrolls(sheet, bankroll)
    if seats is not None:
        between, deviation = sheet.together(seats)
        yield ""
        yield f"{seats} seats with equal bets: standard deviation {deviation:.6f} bets a round"
        yield f"Covariance of two seats {between:.6f}, correlation {between / sheet.solution.variance:.6f}"


def _heading(sheet: ParSheet) -> Iterator[str]:
    situation, solution = sheet.solution.situation, sheet.solution
    yield f"Rocket, PAR sheet of one bet. Strategy: {solution.strategy.name}"
    yield f"Shoe: {situation.decks} {'deck' if situation.decks == 1 else 'decks'}, burn {situation.burn}"
    counts = ", ".join(f"{rank}: {count}" for rank, count in zip(RANKS, situation.unseen, strict=True))
    yield f"Unseen cards by rank: {counts}"
    yield f"Unseen: {sum(situation.unseen)}; to be dealt before the shoe is out: {situation.left}"


def _worth(sheet: ParSheet) -> Iterator[str]:
    most, chance = sheet.exposure
    yield f"House edge              {percent(sheet.house_edge)} of the bet"
    yield f"Standard deviation      {sheet.standard_deviation:.6f} bets (variance {sheet.solution.variance:.6f})"
    yield f"N0                      {rounds(sheet.n0)}"
    yield f"Rounds to 95 %          {rounds(sheet.rounds_to_95)} (until the hold has the sign of the edge)"
    yield f"Exposure                {most:.1f} of the bet in a round, with probability {percent(chance)}"


def _chart(sheet: ParSheet) -> Iterator[str]:
    cells = {(cell.player, cell.dealer): cell for cell in sheet.first()}
    yield "First decision: the seat's card down, the dealer's across. F fold, H hit, - cannot be."
    yield "     " + "".join(f"{dealer:>4}" for dealer in DEALER_RANKS)
    for player in RANKS:
        row = (cells.get((player, dealer)) for dealer in DEALER_RANKS)
        yield f"{player:>5}" + "".join(f"{letter(cell):>4}" for cell in row)


def _later(sheet: ParSheet) -> Iterator[str]:
    folds = {(later.cards, later.cost): later.folds for later in sheet.later()}
    costs = sorted({cost for _, cost in folds})
    yield "Later decisions: cards on each side down, cost of a fold in tenths across. How many of them are folds."
    yield "     " + "".join(f"{cost:>8}" for cost in costs)
    for cards in sorted({cards for cards, _ in folds}):
        row = (folds.get((cards, cost)) for cost in costs)
        yield f"{cards:>5}" + "".join(f"{'-' if part is None else percent(part, 1):>8}" for part in row)


def _outcomes(sheet: ParSheet) -> Iterator[str]:
    yield f"{'Outcome':<14}{'Rank':>5}{'Seat wins':>11}{'Probability':>15}{'To the edge':>15}"
    for (outcome, rank), chance in sheet.solution.outcomes.items():
        win = net(outcome, rank) / 10
        name = outcome.replace("_", " ")
        yield f"{name:<14}{rank:>5}{win:>+11.1f}{percent(chance, 6):>15}{percent(-win * chance, 6):>15}"


def _hold(sheet: ParSheet) -> Iterator[str]:
    yield "Hold with 95 % confidence, for equal bets whose results do not hang together"
    for count in ROUNDS:
        low, high = sheet.hold(count)
        yield f"{count:>13,} bets   {percent(low):>11} to {percent(high):>11}"


def _bankrolls(sheet: ParSheet, bankroll: float | None) -> Iterator[str]:
    if bankroll is not None:
        ruin = sheet.ruin(bankroll)
        yield f"Risk of ruin with {bankroll:,g} bets: between {ruin.least:.3g} and {ruin.most:.3g}"
    for risk in RISKS:
        bets = sheet.bankroll(risk)
        answer = "no bankroll is enough" if bets is None else f"{bets:,.0f} bets are enough"
        yield f"Risk of ruin of at most {percent(risk, 1)}: {answer}"
    yield "For several seats at a time, divide the bankroll by their number."


def letter(cell: FirstDecision | None) -> str:
    """Letter of a first decision in the chart: F fold, H hit; - if the two cards cannot occur."""
    if cell is None:
        return "-"
    return "F" if cell.folds else "H"


def rounds(count: float | None) -> str:
    """A number of rounds, which need not be whole."""
    return "never: the edge is nil" if count is None else f"{count:,.0f} rounds"


def percent(part: float, digits: int = 4) -> str:
    """A part of the bet, or a probability, in percent."""
    return f"{100 * part:.{digits}f} %"
