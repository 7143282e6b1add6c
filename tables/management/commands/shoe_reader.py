"""``manage.py shoe_reader --simulate``: a card reader of a shoe, as a client over HTTP. Its token comes from the
environment or a file, never by the command line, which others on the machine may see."""

from __future__ import annotations

import json
import os
import random
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
from django.core.management.base import BaseCommand, CommandError

from tables.alerts import outbound
from tables.games.cards import PACKS

TOKEN: Final = "CASINO_READER_TOKEN"  # noqa: S105 -- the name of a variable
HEADER: Final = "Casino-Acknowledged"
POLL_SECONDS: Final = 0.3
IDLE_SECONDS: Final = 2.0
"""Seconds between polls at an idle table, shorter than the time after which a reader is offline."""
LONGEST_WAIT_SECONDS: Final = 5.0
TIMEOUT_SECONDS: Final = 10.0
DRAWS: Final = 0.6
"""Probability that a simulated player takes a card."""

State = dict[str, Any]


class RefusedMessage(Exception):
    """A refused message: the code, the number that is due and the minimum wait in seconds."""

    def __init__(self, status: int, body: State, retry_after: str = "") -> None:
        super().__init__(body.get("detail", f"status {status}"))
        self.status, self.code, self.due = status, str(body.get("code", "")), body.get("due")
        self.retry_after = float(retry_after) if retry_after.isdecimal() else 0.0


@dataclass(slots=True)
class MessageQueue:
    """The connection to the site. A message that is lost is sent again under its number."""

    url: str
    token: str
    sleep: Callable[[float], None] = time.sleep
    retries: int = 0
    """Number of repeated messages."""
    acknowledged: str = ""
    """The receipt in the last answer. Sent again, it reveals entries that a restored database lacks."""
    client: httpx.Client = field(default_factory=lambda: outbound.client(TIMEOUT_SECONDS))

    def ask(self, body: State | None = None) -> State:
        """Send until there is an answer. Raises RefusedMessage for a refusal that a repetition cannot change."""
        wait = POLL_SECONDS
        while True:
            least = 0.0
            try:
                return self._once(body)
            except RefusedMessage as refusal:
                if refusal.status != 429 and refusal.status < 500:
                    raise
                least = refusal.retry_after
            except (OSError, httpx.HTTPError, json.JSONDecodeError):
                pass  # the house starts again, or the cable is out
            self.retries += 1
            self.sleep(max(least, wait * random.uniform(0.7, 1.3)))  # noqa: S311 -- spreads many readers
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)

    def _once(self, body: State | None) -> State:
        headers = {"Authorization": f"Bearer {self.token}"}
        headers |= {HEADER: self.acknowledged} if self.acknowledged else {}
        answer = self.client.request("GET" if body is None else "POST", self.url, json=body, headers=headers)
        if answer.is_success:
            state: State = answer.json()
            self.acknowledged = answer.headers.get(HEADER) or self.acknowledged
            return state
        problem = answer.json() if answer.text.startswith("{") else {}
        raise RefusedMessage(answer.status_code, problem, answer.headers.get("Retry-After") or "")


@dataclass(slots=True)
class SimulatedShoe:
    """Cards as they leave a simulated shoe: whole decks anew after each shuffle."""

    chance: random.Random
    shuffle: int = -1
    cards: list[int | str] = field(default_factory=list)

    def next(self, state: State) -> int | str:
        """The card that leaves it now."""
        if state["shuffle"] != self.shuffle or not self.cards:
            pack = PACKS[state["pack"]]
            cards = [pack.spell(card) for card, count in enumerate(pack.shoes[state["decks"]], 1) for _ in range(count)]
            self.chance.shuffle(cards)
            self.shuffle, self.cards = state["shuffle"], cards[state["burned"] :]
        return self.cards.pop()


@dataclass(slots=True)
class Reader:
    """One reader at its table.

    ``faults`` is (misread, duplicate, skip), each as one in this number of cards, 0 for never.
    """

    line: MessageQueue
    shoe: SimulatedShoe
    faults: tuple[int, int, int] = (0, 0, 0)
    tell: Callable[[str], None] = print
    session: str = ""
    number: int = 0
    read: int = 0
    """Cards that left the shoe."""
    named: list[int | str] = field(default_factory=list)
    """Cards that counted."""

    def start(self) -> State:
        """Begin a session: messages are counted from 1."""
        self.session, self.number = str(uuid4()), 0
        while True:
            try:
                return self.line.ask({"session": self.session, "number": 0})
            except RefusedMessage as refusal:
                if refusal.code != "reader_stopped":
                    raise
            self.line.sleep(POLL_SECONDS)  # until the dealer has said who was right

    def name(self, card: int | str) -> None:
        """Send a card under the next number until it is accepted; skip it while the dealer keys the cards."""
        misread, duplicate, skip = (bool(every) and self.read % every == 0 for every in self.faults)
        said = 1 if misread and card != 1 else card
        number = self.number + (2 if skip else 1)
        try:
            self._send(number, said)
            if duplicate:
                self.tell(f"again {number}: {self._send(number, said)['again']}")
        except RefusedMessage as refusal:
            self._refused(refusal, said)

    def _send(self, number: int, card: int | str) -> State:
        state = self.line.ask({"session": self.session, "number": number, "card": card})
        if number > self.number:
            self.number = number
            self.named.append(card)
            self.tell(f"{number}: {card}")
        return state

    def _refused(self, refusal: RefusedMessage, card: int | str) -> None:
        self.tell(f"{refusal.code}: {refusal}")
        if refusal.code == "other_session":
            self.start()
        elif refusal.code == "reader_gap" and refusal.due:
            self.number = int(refusal.due) - 1
            self._send(self.number + 1, card)
        elif refusal.due:
            self.number = int(refusal.due) - 1
        else:
            raise CommandError(str(refusal))

    def work(self, most: int = 0) -> None:
        """Name each card as it leaves the shoe: one that is due, or that a player takes."""
        decided: Iterator[bool] | None = None
        place_asked, wait = "", POLL_SECONDS
        self.start()
        while not most or len(self.named) < most:
            state = self.line.ask()
            if state["state"] == "none":
                self.start()
                continue
            place = f"{state['due']} {state['may_draw']}"
            if state["may_draw"] and place != place_asked:
                place_asked = place
                decided = iter([self.shoe.chance.random() < DRAWS])
            if state["card_due"] or (state["may_draw"] and decided is not None and next(decided, False)):
                self.read += 1
                self.name(self.shoe.next(state))
                wait = POLL_SECONDS
            else:
                self.line.sleep(wait)
                wait = POLL_SECONDS if state["may_draw"] else min(1.1 * wait, IDLE_SECONDS)


class Command(BaseCommand):
    """A card reader of one table."""

    help = f"A simulated card reader of a table's shoe, over HTTP. Its token: {TOKEN}, or --token-file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--simulate", action="store_true", required=True, help="there is no other reader here")
        parser.add_argument("--url", required=True, help="address of the site: http://127.0.0.1:8000")
        parser.add_argument("--table", type=int, required=True, help="the table's number, as in its address")
        parser.add_argument("--token-file", type=Path, help="a file that has the token and nothing else")
        parser.add_argument("--seed", type=int, default=0, help="of the simulated shuffle")
        parser.add_argument("--cards", type=int, default=0, help="stop after this number of cards; 0: never")
        parser.add_argument("--misread", type=int, default=0, metavar="N", help="every N-th card is read as another")
        parser.add_argument("--duplicate", type=int, default=0, metavar="N", help="every N-th message is sent twice")
        parser.add_argument("--skip", type=int, default=0, metavar="N", help="every N-th message leaves a number out")

    def handle(self, *args: Any, url: str, table: int, token_file: Path | None, **options: Any) -> None:
        """Until it is stopped."""
        try:
            token = token_file.read_text().strip() if token_file else os.environ.get(TOKEN, "")
        except OSError:
            # Without its name: it may be the token itself, given in the wrong place.
            raise CommandError("The file of --token-file cannot be read.") from None
        if not token:
            raise CommandError(f"Set {TOKEN}, or name a file by --token-file: an operator makes the token.")
        line = MessageQueue(f"{url.rstrip('/')}/api/tables/{table}/reader/", token)
        faults = (options["misread"], options["duplicate"], options["skip"])
        reader = Reader(line, SimulatedShoe(random.Random(options["seed"])), faults, tell=self._tell)  # noqa: S311
        try:
            reader.work(options["cards"])
        except RefusedMessage as refusal:
            raise CommandError(str(refusal)) from None
        except KeyboardInterrupt:
            self._tell(f"{len(reader.named)} cards")

    def _tell(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
