"""What a sealed day rests on, at tables where it is hard to tell, and what is not exported."""

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from ledger import seals
from tables import sealing, verifier
from tables.export import NotYet
from tests.floor import dealt, for_pot
from tests.tables.bundles import ONE, TWO, exported, step
from tests.tables.chance import RARE_CUT, SHORT, in_this_order, run_out

pytestmark = pytest.mark.django_db


def next_day(clock: pytest.MonkeyPatch) -> None:
    clock.setattr(timezone, "now", lambda: sealing.span(TWO)[0] + timedelta(hours=9))


@pytest.fixture
def key(tmp_path: Path, settings: Any) -> None:
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    seals.make_key(tmp_path / "audit.pem")


def test_discards_that_were_shuffled_in_mid_round_are_proved_a_day_later(
    key: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Harm prevented: an order that was committed to in the middle of a round, and that nobody can prove the day
    after because what was in play then is forgotten."""
    in_this_order(monkeypatch, SHORT)
    dealer, _ = dealt(source="house", options=RARE_CUT)
    run_out(dealer)
    dealer("choose", seat=2, choice="hit")
    dealer("shuffle")
    next_day(monkeypatch)
    sealing.seal_finished()
    while dealer.now.round_open:
        step(dealer, random.Random(1))
    dealer("retire_shoe")
    monkeypatch.setattr(timezone, "now", lambda: sealing.span(TWO)[1] + timedelta(hours=1))
    sealing.seal_finished()
    (tmp_path / "second.zip").write_bytes(exported(TWO, TWO))
    said: list[str] = []
    verifier.verify(tmp_path / "second.zip", say=said.append)
    assert any("openings of a house shoe's order" in line for line in said)


def test_a_game_that_hides_cards_is_not_exported_before_it_is_over(key: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm prevented: players' facedown cards in a file, while they are still betting on them."""
    dealer, _ = for_pot("troll_guts", seats={1: 10_000, 2: 10_000, 3: 10_000}, source="house")
    dealer("start_game")
    assert dealer.now.round is not None
    assert dealer.now.round.secret
    assert dealer.now.round_open
    next_day(monkeypatch)
    sealing.seal_finished()
    with pytest.raises(NotYet, match="A game that hides cards is going on at Troll Guts"):
        exported(ONE, ONE)
