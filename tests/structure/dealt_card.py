"""Deals one card at a dealer's screen and records the product's functions on its way: run by `card.py`, under pytest.

No test: its name keeps it out of every run of the tests.
"""

import json
import os
import sys
import uuid
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import CodeType, FrameType
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.db import connection

from tests import floor
from tests.floor import Hand
from tests.structure.card import MIDDLEWARE, RESULT, VIEW, Call
from tests.structure.sources import PRODUCT, ROOT, package_of


class Recorder:
    """The first call of each function of the product, in each part of the path."""

    def __init__(self) -> None:
        self.calls: dict[Call, None] = {}
        self.part = MIDDLEWARE
        self.is_over = False

    def start(self) -> None:
        sys.setprofile(self._profile)

    def stop(self) -> None:
        sys.setprofile(None)
        self.is_over = True

    def _profile(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (path := _product_path(frame.f_code)) and not frame.f_code.co_name.startswith("<"):
            function = f"{path}:{frame.f_code.co_firstlineno} {frame.f_code.co_qualname}"
            self.calls.setdefault(Call(self.part, package_of(path), function))


def _product_path(code: CodeType) -> str | None:
    """Path of the file relative to the repository, or None where it is not the product's."""
    if not code.co_filename.startswith(f"{ROOT}/"):
        return None
    path = code.co_filename.removeprefix(f"{ROOT}/")
    return path if PurePosixPath(path).parts[0] in PRODUCT else None


def _mark_the_view(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Django takes the view that a request resolves to through this method, after all middleware but process_view."""
    real = BaseHandler.make_view_atomic

    def marked(handler: BaseHandler, view: Callable[..., Any]) -> Callable[..., Any]:
        atomic = real(handler, view)

        def entered(*arguments: Any, **named: Any) -> Any:
            recorder.part = VIEW
            return atomic(*arguments, **named)

        return entered

    monkeypatch.setattr(BaseHandler, "make_view_atomic", marked)


def _stop_at_the_commit(recorder: Recorder, hand: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop before the commit of the transaction in which the table's log has grown; go on after any other."""
    real, seq = connection.commit, hand.now.seq

    def commit() -> None:
        sys.setprofile(None)
        if hand.now.seq > seq:
            recorder.stop()
        real()
        if not recorder.is_over:
            recorder.start()

    monkeypatch.setattr(connection, "commit", commit)


def _card(hand: Hand, rank: int) -> dict[str, object]:
    """The form that a dealer's screen posts for a card."""
    return {"key": str(uuid.uuid4()), "seq": hand.now.seq, "input": json.dumps({"do": "card", "rank": rank})}


@pytest.mark.django_db(transaction=True)
def test_path_of_a_dealt_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Record the second card of a round with two players. Nothing is settled by it."""
    hand, _ = floor.dealt()
    hand.bets(seat1=2_000, seat4=5_000)
    dealer, url = floor.client(hand.by), f"/tables/{hand.table.pk}/input"
    first = dealer.post(url, _card(hand, 5), headers={"hx-request": "true"})
    assert first.status_code == 200, first.content.decode()
    recorder, form = Recorder(), _card(hand, 8)
    _mark_the_view(recorder, monkeypatch)
    _stop_at_the_commit(recorder, hand, monkeypatch)
    recorder.start()
    second = dealer.post(url, form, headers={"hx-request": "true"})
    sys.setprofile(None)
    assert second.status_code == 200, second.content.decode()
    assert recorder.is_over, "No transaction with a new log entry was committed."
    Path(os.environ[RESULT]).write_text(json.dumps(list(recorder.calls)))
