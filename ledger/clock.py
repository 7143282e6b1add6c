"""The house's clock: the database's, held against this host's before anything is written or sealed by it.

One clock dates every entry, whichever host writes it. Where host and database differ by more than a few seconds one of
them is wrong, nobody here can tell which, and an entry cannot be taken back: so nothing is written until they agree.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.utils import timezone

NOW: Final = "ledger_now()"
"""The database's clock, in SQL: a function that only the owner may replace."""
NONE: Final = timedelta(0)


class WrongClock(Exception):
    """Nothing was written. The message is for whoever waits: what is wrong with the clocks, and what to do."""

    def __init__(self, code: str, sentence: str, *, alert: str, **facts: Any) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.facts = code, sentence, facts
        self.alert = alert
        """The same without figures that change from second to second, so that the alert is opened once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The database's clock, between two looks at this host's."""

    before: datetime
    database: datetime
    after: datetime

    @property
    def drift(self) -> timedelta:
        """How far this host is ahead. The database looked at its clock between the two looks, however long that took:
        a slow network or a wait for a lock is no drift."""
        return max(self.before - self.database, NONE) + min(self.after - self.database, NONE)

    @property
    def differs(self) -> bool:
        """Whether the two are further apart than the house puts up with."""
        return abs(self.drift) > settings.CLOCK_DRIFT

    @property
    def says(self) -> str:
        """How far apart they are, in words."""
        return spelled(self.drift)

    def refuse_drift(self) -> None:
        """Raises WrongClock where the clocks differ."""
        if not self.differs:
            return
        host, ahead = socket.gethostname(), self.drift > NONE
        raise WrongClock(
            "clocks_differ",
            f"The clocks of this server and of the database differ by {self.says}. Nothing is"
            " written: set the clock that is wrong (NTP), then do the same again.",
            alert=f"The clock of {host} is {'ahead of' if ahead else 'behind'} the database's: {host} writes nothing."
            " Set the clock that is wrong (NTP); `manage.py clock status` shows both.",
            host=host,
            drift_seconds=self.drift.total_seconds(),
        )


def host_now() -> datetime:
    return timezone.now()


def read() -> Reading:
    """Look at both clocks, in one round trip."""
    before = host_now()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {NOW}")
        (database,) = cursor.fetchone()
    return Reading(before, database, host_now())


def agreed() -> datetime:
    """The time, where host and database agree on it. Raises WrongClock."""
    reading = read()
    reading.refuse_drift()
    return reading.database


def refuse_ahead(book: str, latest: datetime | None, moment: datetime) -> None:
    """No entry is earlier than the one before it: a book whose last one lies in the future would pin all that follows
    to that moment. Raises WrongClock."""
    if latest is None or latest <= moment + settings.CLOCK_DRIFT:
        return
    raise WrongClock(
        "book_ahead",
        f"The last entry of {book} is dated {spelled(latest - moment)} ahead, by a clock that was wrong. Nothing is"
        " written there: the pit's alert says how the book is mended.",
        alert=f"The last entry of {book} is of {latest:%Y-%m-%d %H:%M} UTC, which is still to come: nothing is written"
        f" there. If the clocks are right now, mend it: `manage.py clock mend {book!r}`.",
        book=book,
        latest=latest.isoformat(),
    )


def spelled(span: timedelta) -> str:
    """A span in its largest whole unit: 3 days, 4 hours."""
    seconds = abs(span).total_seconds()
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if (count := int(seconds // length)) >= 1:
            return f"{count} {name}{'s' * (count > 1)}"
    return f"{seconds:.0f} seconds"
