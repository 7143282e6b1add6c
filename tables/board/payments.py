"""The payments of a game for a pot, as the dealer makes them: in words and in chips, like ones together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from tables.games.protocol import Payment


@dataclass(frozen=True, slots=True)
class Paying:
    """Equal payments that are made together: from whom, to whom, and how much each (coins)."""

    kind: str
    coins: int
    payers: tuple[int, ...]
    """Seats; empty if the pot pays."""
    payees: tuple[int, ...]
    """Seats; empty if the pot or the casino is paid."""

    @property
    def from_to(self) -> str:
        """Payers and payees as a sentence with a place for the amount: ``"Seats 1, 2 and 4 pay {} each into the
        pot."``."""
        if self.kind == "rake":
            return "The house rakes {}."
        if self.kind == "win_pot":
            gets = "take {} each" if len(self.payees) > 1 else "takes {}"
            return f"{seats(self.payees)} {gets} from the pot."
        pays = "pay {}" if len(self.payers) > 1 else "pays {}"
        each = " each" if len(self.payers) > 1 or len(self.payees) > 1 else ""
        to = "into the pot" if self.kind == "pay_pot" else f"to {seats(self.payees).lower()}"
        return f"{seats(self.payers)} {pays}{each} {to}."


def together(payments: Iterable[Payment]) -> Sequence[Paying]:
    """Payments in the order in which they are made; those that follow each other and are alike, as one."""
    by_pairs = [_by_one_payer(kind, coins, list(group)) for (kind, coins, _), group in groupby(payments, _by_payer)]
    return [_merged(list(group)) for _, group in groupby(by_pairs, _by_payees)]


def seats(numbers: Sequence[int]) -> str:
    """Seats in words: "Seats 1, 2 and 4"."""
    if len(numbers) == 1:
        return f"Seat {numbers[0]}"
    return f"Seats {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _by_payer(payment: Payment) -> tuple[str, int, int]:
    return payment.kind, payment.coins, payment.payer


def _by_payees(paying: Paying) -> tuple[str, int, tuple[int, ...]]:
    return paying.kind, paying.coins, paying.payees


def _by_one_payer(kind: str, coins: int, alike: list[Payment]) -> Paying:
    payer, payees = alike[0].payer, tuple(payment.payee for payment in alike if payment.payee)
    return Paying(kind, coins, (payer,) if payer else (), payees)


def _merged(alike: list[Paying]) -> Paying:
    first = alike[0]
    return Paying(first.kind, first.coins, tuple(payer for paying in alike for payer in paying.payers), first.payees)
