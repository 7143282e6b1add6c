"""A table without rounds beside a dealt one, sealed, exported and forged: an outsider tells the two apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tables.audit.outside.bundle import book_part
from tables.floor import recorder
from tables.games.protocol import Limits, Opening
from tables.log import non_tracked
from tables.log.entries.rounds import Pinned, Played
from tables.log.event import AuditFailure
from tables.log.state import TableState
from tables.log.terms import Settings
from tables.roles import Role
from tests import floor
from tests.floor import Hand, staff
from tests.tables import bundles
from tests.tables.audit.sealed_days import SealedDays, refusal, verified
from tests.tables.bundles import ONE, Forger
from tests.tables.wheel import ROULETTE, wheel

WHEEL, DEALT = "Roulette 1", "Rocket 1"


def both_tables() -> None:
    """Both tables are opened, sell chips, are counted and closed."""
    boss = staff(Role.PIT_BOSS, "bella")
    for table, dealer in ((wheel(WHEEL), "dora"), (floor.table(DEALT), "dan")):
        Hand(table, boss)("open_table")
        by = staff(Role.DEALER, dealer)
        recorder.sign_in(table, by)
        Hand(table, by)("sell_chips", amount_cents=60_000)
        floor.counted(Hand(table, boss), "rack", over_cents=-5_000)
        Hand(table, by)("sell_chips", amount_cents=10_000)
        floor.counted(Hand(table, boss), "closer", over_cents=25_000)


def told_as_shortage(forger: Forger) -> None:
    """The closer's win is signed as chips that were found."""
    for kind in ("closer_counted", "closer_recounted"):
        rewrite_slip(forger, WHEEL, kind, lambda slip: slip.pop("tells_win"))


def told_as_loss(forger: Forger) -> None:
    """Chips that went missing at a dealt table are signed as what players won."""
    for kind in ("rack_counted", "rack_recounted"):
        rewrite_slip(forger, DEALT, kind, lambda slip: slip.update(tells_win=True))


def brought_back(forger: Forger) -> None:
    """A sale says that players had lost chips before, which were in the rack all the time."""
    seq = forger.find(WHEEL, "chips", "buy_in")
    forger.rewrite(WHEEL, seq, lambda body: body["content"].update(came_back_cents=30_000))


def brought_back_where_dealt(forger: Forger) -> None:
    """The same where every round is known."""
    seq = forger.find(DEALT, "chips", "buy_in")
    forger.rewrite(DEALT, seq, lambda body: body["content"].update(came_back_cents=30_000))


def uncounted(forger: Forger) -> None:
    """The table closes, and nobody counted its rack the second time."""
    bodies = forger.bodies(WHEEL)
    seq = forger.find(WHEEL, "slip", "closer_recounted")
    remaining = [body for body in bodies if body["seq"] != seq]
    for number, body in enumerate(remaining, remaining[0]["seq"]):
        body["seq"] = number
    forger.chain(WHEEL, remaining)
    name = book_part(bundles.BOOKS.index(WHEEL) + 1, "transfers")
    moved = [row for row in forger.documents(name) if row[1] != seq]
    forger.replace_part(name, [[row[0], row[1] - (row[1] > seq), *row[2:]] for row in moved])


def rewrite_slip(forger: Forger, book: str, kind: str, change: Callable[[dict[str, Any]], Any]) -> None:
    def rewritten(body: dict[str, Any]) -> None:
        change(body["content"]["now"])
        for slip in body["content"]["open"]:
            change(slip)

    forger.rewrite(book, forger.find(book, "slip", kind), rewritten)


@pytest.mark.django_db
@pytest.mark.slow("seals and exports days")
def test_a_forged_win_and_a_skipped_count_are_found_by_an_outsider(
    days: SealedDays, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: whoever writes the log anew, and seals it with the house's own key, hides a shortage in a win, or a win as
    found chips, and no auditor can tell."""
    monkeypatch.setattr(bundles, "BOOKS", [DEALT, WHEEL, "house"])
    both_tables()
    days.end(ONE)
    path = days.bundle(ONE)
    assert any(line.startswith(f"holds  {WHEEL}") for line in verified(path, key=days.public))
    for forgery, sentence in (
        (told_as_shortage, "its count tells no win"),
        (told_as_loss, "its count tells a win, and rounds do"),
        (brought_back, "30000 came back to a rack"),
        (brought_back_where_dealt, "chips came back unseen"),
        (uncounted, "the table is closed without a closer"),
    ):
        forger = Forger(path)
        forgery(forger)
        forger.seal(days.key)
        assert sentence in refusal(forger.write(days.folder / "forged.zip")).what, forgery.__name__


# --- by themselves ----------------------------------------------------------------------------------------------


def settings(game: str, **options: Any) -> Settings:
    return Settings(game=game, options=options, unit_cents=100, min_cents=100, max_cents=10_000, denominations=(100,))


def test_no_round_is_entered_where_none_are_dealt() -> None:
    """Harm: a round of another game is smuggled into a table whose win nobody can replay."""
    pinned = Pinned("rocket", {"decks": 1}, Opening((1,), Limits(100, 10_000)), 1)
    with pytest.raises(AuditFailure, match="where none are dealt"):
        non_tracked.refuse(Played(actions=(), opening=pinned), settings("counted", **ROULETTE), 0)


def test_an_open_table_is_not_set_to_another_way_of_winning() -> None:
    """Harm: a shortage of the evening becomes the win of another game overnight."""
    before, after = settings("rocket"), settings("counted", **ROULETTE)
    non_tracked.refuse_change(TableState(), before, after)
    for old, new in ((before, after), (after, before)):
        with pytest.raises(AuditFailure, match="win is known in another way"):
            non_tracked.refuse_change(TableState(is_open=True), old, new)
