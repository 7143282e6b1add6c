"""`python -m tests.cluster.dealing PLAN`: a process of dealers' screens that records every answer while parts of the
house die.

The screens work like the dealer's page (dealer/line.js): an unanswered input is kept with its key and sent again, after
ever longer pauses. The house's name has two addresses, and a screen tries the other one, as browsers do.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final, TextIO

from casino.embedded.servers import BASE_DIR
from tests.bench.screens import DRAWN, PATIENCE_SECONDS, REFUSED, Answer, Connection, Dealer, Tally

LINE_JS: Final = BASE_DIR / "dealer_ui/static/dealer_ui/dealer/line.js"
LOST: Final = (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError)
GONE: Final = (TimeoutError, ConnectionRefusedError)
"""After these a browser tries the name's other address. An address that was connected and cut off it tries again."""
STREAM_SECONDS: Final = 1.0
"""The pause before a browser opens a stream again (RETRY_MS of casino/web/streams.py)."""
PROXY: Final = "503: the proxy's own page"


def pauses() -> tuple[float, float]:
    """The dealer page's first and longest pause before it sends again, in seconds."""
    script = LINE_JS.read_text()
    first, longest = (int(re.findall(rf"const {name} = (\d+)", script)[0]) for name in ("PAUSE_MS", "LONGEST_PAUSE_MS"))
    return first / 1000, longest / 1000


@dataclass
class Screen(Dealer):
    """A dealer's screen, with two ways into the house."""

    houses: tuple[str, ...] = ()
    record: TextIO = field(default_factory=lambda: sys.stdout)
    losses: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._go_to(self.houses[0])
        self.first, self.longest = pauses()

    def _go_to(self, house: str) -> None:
        for connection in (self.connection, self.beside, self.stream):
            connection.close()
        self.connection, self.beside, self.stream = (Connection(self.port, self.cookies, "", house) for _ in range(3))

    def _try_other(self) -> None:
        self.houses = (*self.houses[1:], self.houses[0])
        self._go_to(self.houses[0])

    def note(self, **facts: Any) -> None:
        print(json.dumps({"t": monotonic(), "table": self.table} | facts), file=self.record, flush=True)

    async def follow(self) -> None:
        """Follow the stream, and open it again if it ends, as an EventSource does."""
        while True:
            with suppress(*LOST):
                await super().follow()
            await asyncio.sleep(STREAM_SECONDS)

    async def act(self, due: float) -> None:
        """Send one input until the table has answered it."""
        form, self.losses = self.next_form(), 0
        while not await self._send(form, due):
            self.losses += 1
            pause = min(self.first * 2 ** (self.losses - 1), self.longest)
            await asyncio.sleep(pause * (0.75 + random.random() / 2))
        with suppress(*LOST):
            await self.look()

    async def _send(self, form: dict[str, str], due: float) -> bool:
        """Send an input; whether it was answered, recorded or refused."""
        self.is_flying = True
        try:
            post = self.connection.ask("POST", f"{self.address}input", self.htmx("entry"), form)
            answer = await asyncio.wait_for(post, PATIENCE_SECONDS)
        except LOST as error:
            self.note(lost=type(error).__name__, key=form["key"])
            if isinstance(error, GONE):
                self._try_other()
            else:
                self._go_to(self.houses[0])
            return False
        finally:
            self.is_flying = False
        if answer.status >= 500 or not DRAWN.search(answer.body):
            self.note(lost=sentence(answer), key=form["key"])
            return False
        self.show(answer)
        refused = REFUSED.search(answer.body)
        self.note(key=form["key"], due=due, tries=self.losses + 1, **({"refused": refused[1]} if refused else {}))
        return True


def sentence(answer: Answer) -> str:
    """The sentence that the screen shows for an answer without a board."""
    if not answer.headers.get("content-type", "").startswith("text/plain"):
        return PROXY if "No server is available" in answer.body else f"{answer.status}: a page without a board"
    return f"{answer.status}: {answer.body}"[:200]


async def run(plan: dict[str, Any]) -> None:
    """Open the screens, and deal until the file `over` exists or every round is dealt."""
    over, apart = Path(plan["over"]), plan["seconds_apart"]
    with Path(plan["record"]).open("a") as record:
        screens = [
            Screen(
                plan["port"], place["table"], place["cookies"], place["forms"], Tally(),
                houses=tuple(plan["houses"][number % 2 :] + plan["houses"][: number % 2]), record=record,
            )
            for number, place in enumerate(plan["places"])
        ]  # fmt: skip
        for screen in screens:
            await screen.open()
        following = [asyncio.create_task(screen.follow()) for screen in screens]
        begun = monotonic()
        dealing = [
            asyncio.create_task(screen.deal(begun + number * apart / len(screens), apart, over.exists))
            for number, screen in enumerate(screens)
        ]
        await asyncio.wait(dealing)
        for task in (*following, *dealing):
            if task.done() and not task.cancelled() and (error := task.exception()):
                print(repr(error), file=sys.stderr)
            task.cancel()


if __name__ == "__main__":
    asyncio.run(run(json.loads(Path(sys.argv[1]).read_text())))
