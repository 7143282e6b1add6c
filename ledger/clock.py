"""The time of entries: the database's clock, compared with this host's clock before it dates or seals anything.

One clock dates all entries, whichever host writes them. Where host and database differ by more than
``settings.CLOCK_DRIFT``, one of them is wrong, the program cannot tell which, and an entry cannot be changed later. So
nothing is written until they agree.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from ledger.raw_rows import fetch_row

NOW: Final = "ledger_now()"
"""The database's clock, in SQL: a function that only its owner may replace."""
NONE: Final = timedelta(0)


class WrongClock(Exception):
    """Nothing was written because a clock is wrong. The message says for the user which clock, and how to correct
    it."""

    def __init__(self, code: str, sentence: str, *, alert: str, **facts: Any) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.facts = code, sentence, facts
        self.alert = alert
        """The message without figures that change every second, so that the alert is opened once."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of the database's clock, between two readings of this host's clock."""

    before: datetime
    database: datetime
    after: datetime

    @property
    def drift(self) -> timedelta:
        """By how much this host is ahead of the database; negative if it is behind.

        The database read its clock at some time between the two readings here. Drift is only the part outside of that
        interval, so a slow network or a wait for a lock is no drift.
        """
        return max(self.before - self.database, NONE) + min(self.after - self.database, NONE)

    @property
    def differs(self) -> bool:
        """Whether the drift is more than ``settings.CLOCK_DRIFT``."""
        return abs(self.drift) > settings.CLOCK_DRIFT

    @property
    def says(self) -> str:
        """The drift as text, without its sign."""
        return spelled(self.drift)

    def refuse_drift(self) -> None:
        """Raise WrongClock if the clocks differ."""
        if not self.differs:
            return
        # The alert names this host: with several hosts, the one whose clock differs is the suspect.
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
    """Read both clocks, the database's in one round trip."""
    before = host_now()
    (database,) = fetch_row(f"SELECT {NOW}")
    return Reading(before, database, host_now())


def agreed() -> datetime:
    """The database's time, if this host agrees with it. Raises WrongClock otherwise."""
    reading = read()
    reading.refuse_drift()
    return reading.database


def refuse_ahead(book: str, latest: datetime | None, moment: datetime) -> None:
    """Raise WrongClock if the last entry of a log is dated in the future by more than ``settings.CLOCK_DRIFT``.

    Timestamps never decrease in a log: every further entry would get that future time.
    """
    # A small lead is normal: the last entry may have been dated by another host before a failover of the database.
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
    """A time span in its largest whole unit: 3 days, 4 hours."""
    seconds = abs(span).total_seconds()
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if (count := int(seconds // length)) >= 1:
            return f"{count} {name}{'s' * (count > 1)}"
    return f"{seconds:.0f} seconds"
