"""A house with one table of six seats, chips in its rack, and a way to deal: what every test of the ledger needs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import transaction

from ledger import cage, log
from ledger.log import Draft
from ledger.models import Book
from ledger.proof.chain import Head
from ledger.proof.moves import Chart, Move
from ledger.recount import recount
from tests import intruder

FLOAT_CENTS = 1_000_000
INSERT_ENTRY = """
    INSERT INTO ledger_logentry (book_id, seq, at, subject, kind, round, by, key, legs, body, hash)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
"""A sealed entry's row, by whoever does not write through the ledger."""


@dataclass
class Felt:
    """One table, and shorthand for what happens at it."""

    book: Book
    chart: Chart

    def write(self, *moves: Move, **draft: Any) -> Head:
        """One entry in a transaction of its own."""
        content = {"note": "a round", **draft.pop("content", {})}
        with transaction.atomic():
            head = log.lock(self.book.pk)
            return cage.post(head, Draft("round", "play", "101 Ann", content, **draft), moves)

    def fill(self, amount: int) -> Head:
        """Chips from the cage to the rack."""
        out_move = self.chart.move("fill_out", "cage", "transit", amount)
        return self.write(out_move, self.chart.move("fill", "transit", "rack", amount))

    def credit(self, amount: int) -> Head:
        """And back."""
        out_move = self.chart.move("credit_out", "rack", "transit", amount)
        return self.write(out_move, self.chart.move("credit", "transit", "cage", amount))

    def round(self, seat: int = 1, bet: int = 2000, lost: int = 1600) -> Head:
        """A round of one bet, of which a part is lost: three transfers."""
        layout = ("layout", seat)
        return self.write(
            self.chart.move("stake", "players", layout, bet),
            self.chart.move("loss", layout, "rack", lost),
            self.chart.move("return", layout, "players", bet - lost),
        )

    def win(self, bet: int = 2000) -> Head:
        layout = ("layout", 2)
        return self.write(
            self.chart.move("stake", "players", layout, bet),
            self.chart.move("win", "rack", "players", bet),
            self.chart.move("return", layout, "players", bet),
        )


def lay_felt(name: str = "Table 1") -> Felt:
    """The house open, 10,000 issued and filled to the table, and a player with 500 in chips."""
    house = cage.open_house()
    book = cage.open_table_book(name, seats=6)
    vault, chart = cage.chart(house.pk), cage.chart(book.pk)
    with transaction.atomic():
        head = log.lock(house.pk)
        issued = [
            vault.move("issue", "issue", "vault", FLOAT_CENTS),
            vault.move("withdraw", "vault", "cage", FLOAT_CENTS),
        ]
        cage.post(head, Draft("chips", "issued", "7 Eve", {}), issued)
    felt = Felt(book, chart)
    felt.fill(FLOAT_CENTS)
    felt.write(chart.move("buy_in", "rack", "players", 50_000))
    return felt


@pytest.fixture
def felt(db: None) -> Felt:
    """A table as the application's role sees it; rolled back after the test."""
    return lay_felt()


@pytest.fixture
def open_felt(transactional_db: None) -> Felt:
    """A table whose rows are committed, for other connections to see."""
    return lay_felt()


Tamper = intruder.Intruder


@pytest.fixture
def dealt_felt(open_felt: Felt) -> Felt:
    """A table with twelve entries, recounted after the eighth."""
    for _ in range(6):
        open_felt.round()
    recount(open_felt.book.pk, "test")
    for _ in range(4):
        open_felt.win()
    return open_felt


@pytest.fixture
def tamper(dealt_felt: Felt) -> Iterator[Tamper]:
    """Somebody who owns the server, at the table that was dealt."""
    with intruder.at_work() as tampering:
        yield tampering
